// Barriers and warp-wide operations: who waits for whom. Device code calls them through
// simt/runtime.hpp.
#pragma once

#include "kernel/engine.hpp"

namespace simt {

/// The running thread waits; when it was the last of its warp that ran, others of the warp may go on.
void wait_for_others();
/// No lane of the warp can run: lets a parked group or an __activemask() group go.
void wake_stalled_warp(Block& block, unsigned warp);
/// A thread returned: barriers and warp calls may be complete without it.
void complete_after_exit(Block& block, unsigned warp);

}  // namespace simt
