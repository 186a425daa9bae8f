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

/// Takes the lock *word if no thread has it: true if the calling thread now has it, false if
/// another one has. Does not wait.
/// - As for lock(): what earlier holders did is seen.
__device__ bool try_lock(unsigned* word) {
  const cuda::atomic_ref<unsigned, cuda::thread_scope_device> state(*word);
  // acquire: what I read from now on comes after what the holder before me wrote.
  return state.exchange(1, cuda::std::memory_order_acquire) == 0;
}

/// Returns when the calling thread has the lock *word. No two threads of the grid have it at the
/// same time, be they in one warp or in different blocks.
/// - The holder sees, with ordinary loads, all that earlier holders wrote before they called
///   unlock().
/// - Lanes of one warp may call it together: each of them gets the lock, one after the other.
/// - Only *word is changed: the words beside it are other locks.
__device__ void lock(unsigned* word) {
  while (!try_lock(word)) __nanosleep(64);
}

/// Gives the lock back. The calling thread has it. What it did with ordinary loads and stores
/// while it had the lock happens before what the next holder does.
/// - When no thread has the lock, *word is 0.
__device__ void unlock(unsigned* word) {
  const cuda::atomic_ref<unsigned, cuda::thread_scope_device> state(*word);
  // release: whoever finds this 0 sees what I wrote.
  state.store(0, cuda::std::memory_order_release);
}
