// What is said of threads that wait for others which never come.
#pragma once

#include <string>

#include "kernel/findings.hpp"

namespace simt {

/// For the host's stack, as all of these: threads wait in different barriers, or have returned.
Report barrier_finding(const Block& block);
/// They loop around a barrier without end.
Report endless_barriers_finding(const Block& block);
/// The running thread names lanes, but not itself.
Report foreign_mask_finding(const WarpCall& call, const Thread& t);
/// What to remark on a call of warp w whose mask names lanes that take no part in it.
std::string absent_lanes_text(const Block& block, unsigned w, const Lanes& lanes,
                              const WarpCall& call);
/// A thread of the block reads a lane that takes no part in its shuffle.
/// Of a lane that has asked for the value of one that takes no part: a remark, or a finding.
std::string absent_lane_text(const Block& block, const Thread& t, const Lanes& lanes);
Report absent_lane_finding(const Block& block, const Thread& t, const Lanes& lanes);
/// All threads of a block wait for the grid, but thread 0 has returned.
Report headless_block_finding(const Block& block);
/// Every thread waits and nothing can wake one.
Report deadlock_finding();

}  // namespace simt
