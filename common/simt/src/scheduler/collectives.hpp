// Barriers and warp-wide operations: who waits for whom. Device code calls them through
// simt/runtime.hpp.
#pragma once

#include "base/inlining.hpp"
#include "checker/rules.hpp"
#include "kernel/engine.hpp"
#include "scheduler/repetition.hpp"
#include "scheduler/schedule.hpp"
#include "simt/runtime.hpp"

namespace simt {

/// No lane of the warp can run: lets a parked group or an __activemask() group go.
void wake_stalled_warp(Block& block, unsigned warp);
/// The running thread waits; when it was the last of its warp that ran, others of the warp may go on. Inline, with the switch to
/// the next thread: each function in between has a frame that has to come into the cache, and a return that the processor
/// guesses wrong after a switch.
SIMT_HOT void wait_for_others() {
  Thread& t = *engine.current;
  Warp& warp = t.block->warp_of(t);
  if (--warp.runnable == 0 && (engine.lockstep || warp.waiting != 0)) {
    wake_stalled_warp(*t.block, t.warp);
  }
  switch_away();
}

/// Completes the operation that `leader` waits in, for which every lane of its mask waits in an operation, if all wait in this one.
bool complete_if_same(Block& block, unsigned warp, const WarpCall& leader);
/// Completes the operation that `leader` waits in if every lane of its mask has come. Inline: 31 lanes of a warp find here that
/// others are missing, and need no frame for the results.
SIMT_HOT bool try_complete(Block& block, unsigned w, const WarpCall& leader) {
  const Warp& warp = block.warps[w];
  const unsigned present = leader.mask & warp.alive;
  return (warp.waiting & present) == present && complete_if_same(block, w, leader);
}
/// The mask of the call does not name the running thread: ends the launch.
[[noreturn]] SIMT_RARE void refuse_foreign_mask(const WarpCall& call, const Thread& t);

/// What warp_call() does. Inline where the call is made: what a caller has stored is not read again.
SIMT_HOT void wait_for_lanes(WarpCall& call) {
  Thread& t = *engine.current;
  Block& block = *t.block;
  Warp& warp = block.warp_of(t);
  if ((call.mask >> t.lane & 1u) == 0) refuse_foreign_mask(call, t);
  if (access_is_open) checker_settle_access();
  note_change();
  t.last_collective = call.orders_memory ? nullptr : call.name;
  t.call = &call;
  const Waiting waiting{call.name, call.caller, static_cast<char**>(__builtin_frame_address(0))};
  t.waiting = &waiting;
  t.state = State::in_warp_call;
  warp.waiting |= 1u << t.lane;
  try_complete(block, t.warp, call);
  wait_for_others();
}

/// A thread returned: barriers and warp calls may be complete without it.
void complete_after_exit(Block& block, unsigned warp);

}  // namespace simt
