// Exercise publish: one block hands an array to others.
//
// A pipeline of blocks works on round after round: a block waits for the rounds of its predecessor,
// reads what that one has written, and writes its own part, all in one launch. The arrays are
// ordinary memory; a flag per block says which round is there.
//
// Try it: ./course check publish
#pragma once

#include <course/error.cuh>
#include <course/exercise.cuh>
#include <cstddef>
#include <cuda/atomic>

NOT_STARTED  // delete this line when you begin

/// Called by all threads of one block, after each of them has written its part of the data with
/// ordinary stores. When all of them have returned, *flag is `round`.
/// - One block publishes on a flag. Its rounds grow, but not always by one; *flag is 0 before.
/// - Right for every one-dimensional block.
__device__ void publish(unsigned* flag, unsigned round) {
  // TODO(you): publish the round.
  (void)flag, (void)round;  // delete this
}

/// Called by all threads of another block. Returns when *flag is `round` or larger: the publishing
/// block may be some rounds ahead.
/// - Afterwards every thread of the calling block sees, with ordinary loads, all that the threads of
///   the other block wrote before they published that round.
/// - Several blocks may wait for the same flag.
/// - Right for every one-dimensional block.
__device__ void wait_for(unsigned* flag, unsigned round) {
  // TODO(you): wait for the round.
  (void)flag, (void)round;  // delete this
}
