// Exercise spin_lock: a lock that every thread of a grid may take.
//
// Without a lock, two threads that change a record of several numbers destroy it. The lock is one
// word in global memory: 0 while no thread has it.
//
// Try it: ./course check spin_lock
#pragma once

#include <course/error.cuh>
#include <course/exercise.cuh>
#include <cuda/atomic>

NOT_STARTED  // delete this line when you begin

/// Takes the lock *word if no thread has it: true if the calling thread now has it, false if
/// another one has. Does not wait.
/// - As for lock(): what earlier holders did is seen.
__device__ bool try_lock(unsigned* word) {
  // TODO(you): take the lock if it is free.
  (void)word;  // delete this
  return true;
}

/// Returns when the calling thread has the lock *word. No two threads of the grid have it at the
/// same time, be they in one warp or in different blocks.
/// - The holder sees, with ordinary loads, all that earlier holders wrote before they called
///   unlock().
/// - Lanes of one warp may call it together: each of them gets the lock, one after the other.
/// - Only *word is changed: the words beside it are other locks.
__device__ void lock(unsigned* word) {
  // TODO(you): wait for the lock.
  (void)word;  // delete this
}

/// Gives the lock back. The calling thread has it. What it did with ordinary loads and stores
/// while it had the lock happens before what the next holder does.
/// - When no thread has the lock, *word is 0.
__device__ void unlock(unsigned* word) {
  // TODO(you): give the lock back.
  (void)word;  // delete this
}
