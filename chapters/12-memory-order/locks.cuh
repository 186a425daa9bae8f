// What does a lock cost on a GPU, and what does it cost to do without?
// Rungs: add_locked_lanes and add_locked_warps, each with TestAndSet, TestAndTestAndSet and
// TicketLock; add_packed.
// Thread i adds x[i] to account i % accounts: the account's count and sum change together.
#pragma once

#include <course/collectives.cuh>
#include <cstddef>
#include <cuda/atomic>

#include "grid.cuh"

/// A lock's memory, zeros before its first use.
struct LockWords {
  unsigned word = 0;     // 1: taken; of a ticket lock: the next ticket
  unsigned serving = 0;  // of a ticket lock: whose turn it is
};

/// What a lock protects here.
struct alignas(8) Account {
  unsigned count = 0, sum = 0;
};

using DeviceWord = cuda::atomic_ref<unsigned, cuda::thread_scope_device>;

// Question: how does a thread take a lock?
// Changes:  exchange the word for 1 until it was 0. The acquire keeps the critical section after
//           the exchange, the release keeps it before the store.
// Cost:     every try of every thread that waits is an atomic on one address.
struct TestAndSet {
  static __device__ unsigned lock(LockWords* lock) {
    while (DeviceWord(lock->word).exchange(1, cuda::std::memory_order_acquire) != 0) {
    }
    return 0;
  }
  static __device__ void unlock(LockWords* lock, unsigned) {
    DeviceWord(lock->word).store(0, cuda::std::memory_order_release);
  }
};

// Question: and if those who wait only look?
// Changes:  a load, and a pause that doubles, until the word is 0; then the exchange.
// Cost:     fewer atomics; a lock that is free may stay free until a sleeper looks.
struct TestAndTestAndSet {
  static __device__ unsigned lock(LockWords* lock) {
    const DeviceWord word(lock->word);
    unsigned pause = 32;  // nanoseconds, about
    while (word.exchange(1, cuda::std::memory_order_acquire) != 0) {
      while (word.load(cuda::std::memory_order_relaxed) != 0) {
        __nanosleep(pause);
        if (pause < 1024) pause *= 2;
      }
    }
    return 0;
  }
  static __device__ void unlock(LockWords* lock, unsigned) {
    DeviceWord(lock->word).store(0, cuda::std::memory_order_release);
  }
};

// Question: who is next?
// Changes:  one atomic per thread: it returns a ticket, and tickets are served in order.
// Cost:     all that wait load one word, and the next one must notice before anything goes on.
struct TicketLock {
  static __device__ unsigned lock(LockWords* lock) {
    const unsigned ticket = DeviceWord(lock->word).fetch_add(1, cuda::std::memory_order_relaxed);
    const DeviceWord serving(lock->serving);
    while (serving.load(cuda::std::memory_order_acquire) != ticket) {
      __nanosleep(32);
    }
    return ticket;
  }
  static __device__ void unlock(LockWords* lock, unsigned ticket) {
    DeviceWord(lock->serving).store(ticket + 1, cuda::std::memory_order_release);
  }
};

// Question: what does it cost if every lane takes the lock for itself?
// Changes:  the critical section is ordinary code: the lock alone makes it right.
// Cost:     one hand-over of the lock per element.
template <class Lock>
__global__ void add_locked_lanes(const unsigned* d_x, std::size_t n, unsigned accounts,
                                 LockWords* d_locks, Account* d_accounts) {
  const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const auto mine = static_cast<unsigned>(i % accounts);
  const unsigned ticket = Lock::lock(&d_locks[mine]);
  d_accounts[mine].count += 1;
  d_accounts[mine].sum += d_x[i];
  Lock::unlock(&d_locks[mine], ticket);
}

// Question: and if a warp takes it once, for all of its lanes?
// Changes:  the lanes sum first; lane 0 takes the lock. One account only.
// Cost:     one hand-over per warp: 32 times fewer.
template <class Lock>
__global__ void add_locked_warps(const unsigned* d_x, std::size_t n, LockWords* d_lock,
                                 Account* d_account) {
  const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  unsigned count = i < n ? 1 : 0, sum = i < n ? d_x[i] : 0;
  for (unsigned distance = 16; distance > 0; distance /= 2) {
    count += __shfl_down_sync(course::kAllLanes, count, distance);
    sum += __shfl_down_sync(course::kAllLanes, sum, distance);
  }
  if (threadIdx.x % course::kWarpSize != 0 || count == 0) return;
  const unsigned ticket = Lock::lock(d_lock);
  d_account->count += count;
  d_account->sum += sum;
  Lock::unlock(d_lock, ticket);
}

// Question: is a lock needed at all?
// Changes:  count and sum are the two halves of one 64-bit word: one atomicAdd changes both. (The
//           low half is the count, and must not overflow into the sum.)
// Cost:     one RED per element.
__global__ void add_packed(const unsigned* d_x, std::size_t n, unsigned accounts,
                           Account* d_accounts) {
  const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i >= n) return;
  auto* const words = reinterpret_cast<unsigned long long*>(d_accounts);
  atomicAdd(&words[i % accounts], static_cast<unsigned long long>(d_x[i]) << 32 | 1);
}
