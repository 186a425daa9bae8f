// Barriers and warp-wide operations: who waits for whom. Device code calls them through
// simt/runtime.hpp.
#pragma once

#include "base/inlining.hpp"
#include "kernel/engine.hpp"
#include "scheduler/schedule.hpp"

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
/// A thread returned: barriers and warp calls may be complete without it.
void complete_after_exit(Block& block, unsigned warp);

}  // namespace simt
