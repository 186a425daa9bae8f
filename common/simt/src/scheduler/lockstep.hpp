// Lockstep: the lanes of a warp take every instruction together, diverge and meet again, as counters
// and traces need it. This module alone turns it on and off.
#pragma once

#include <cstdint>

#include "base/inlining.hpp"
#include "kernel/engine.hpp"

namespace simt {

/// From here on launches run in lockstep, until as many calls of end_lockstep() have followed.
void begin_lockstep();
void end_lockstep();

/// A launch that is traced runs in lockstep until the trace has all that it wants.
void lockstep_start_launch(bool is_traced);
void lockstep_end_launch();

/// The running lane waits until its warp takes the instruction `what` together.
void park(const Parked& what);
/// The same for an access to memory; `shared`: of the block.
SIMT_RARE void park_for(bool shared, std::uintptr_t address, std::size_t size, AccessKind kind,
                        const char* name, std::uint32_t depth, const void* caller);
/// No lane of the warp can run: lets a group of parked ones take their instruction. False if there
/// is none.
bool release_parked_group(Block& block, unsigned warp);
/// Called when engine.steps_left has run out: a thread loops without end, or runs in lockstep.
void enter_slowly(const void* caller);

/// Every basic block is slow in lockstep, so progress is noted here, too.
void note_progress_in_lockstep();

// ---- how deep in its calls a lane is ------------------------------------------------------------

// Which of two diverged groups goes first follows from the bytes of stack that the kernel uses and,
// in one function, from what they are about to do. Counts and traces of diverged warps hang on
// these numbers. (They are what the runtime's own frames took when it was first measured.)
constexpr std::uint32_t kDepthOfJump = 64, kDepthOfFence = 80, kDepthOfAtomic = 304,
                        kDepthOfVolatile = 336, kDepthOfAccess = 656;

/// For the function that the kernel has called, whose frame this is.
SIMT_HOT std::uint32_t depth_of(const char* frame, std::uint32_t of_what) {
  return static_cast<std::uint32_t>(engine.current->fiber.top() - frame) + of_what;
}
/// The same for a function which this becomes a part of.
SIMT_HOT std::uint32_t depth_here(std::uint32_t of_what) {
  return depth_of(static_cast<const char*>(__builtin_frame_address(0)), of_what);
}

}  // namespace simt
