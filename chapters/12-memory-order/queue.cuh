// How do many producers hand values to many consumers, through a buffer of fixed size?
// Rungs: queue_locked, queue_tickets, queue_tickets_warp.
// The first half of the blocks pushes the n values x[0..n-1], the other half pops n values. All
// blocks must be resident: a consumer waits for its producer.
#pragma once

#include <course/buffer.cuh>
#include <course/collectives.cuh>
#include <cstddef>
#include <cuda/atomic>

#include "grid.cuh"
#include "locks.cuh"

/// A slot of a ring buffer. `turn` says whose it is: in round r of the ring, 2 r when a producer
/// may write, 2 r + 1 when a consumer may read.
struct Slot {
  unsigned turn = 0;
  unsigned value = 0;
};

/// head and tail count pops and pushes; element k is in slot k % capacity. Zeros before.
struct QueueWords {
  unsigned head = 0, tail = 0;
};

// Question: a ring buffer that only one thread may touch at a time?
// Changes:  one lock for the whole queue. Who would find it full, or empty, only looks: a thread that
//           took the lock in vain, again and again, would keep away those that it waits for.
// Cost:     two hand-overs of the lock per value; more if others changed the queue after the look.
__global__ void queue_locked(const unsigned* d_x, std::size_t n, Slot* d_slots, unsigned capacity,
                             QueueWords* d_queue, LockWords* d_lock, unsigned* d_popped) {
  constexpr auto relaxed = cuda::std::memory_order_relaxed;
  const bool produces = blockIdx.x < gridDim.x / 2;
  const unsigned waits_at = produces ? capacity : 0;  // it waits while the queue has so many values
  const DeviceWord head(d_queue->head), tail(d_queue->tail);
  const std::size_t stride = std::size_t{gridDim.x / 2} * blockDim.x;
  const unsigned block = produces ? blockIdx.x : blockIdx.x - gridDim.x / 2;
  for (std::size_t i = std::size_t{block} * blockDim.x + threadIdx.x; i < n; i += stride) {
    for (bool done = false; !done;) {
      while (tail.load(relaxed) - head.load(relaxed) == waits_at) __nanosleep(100);
      const unsigned ticket = TestAndTestAndSet::lock(d_lock);
      const unsigned pushed = tail.load(relaxed), popped = head.load(relaxed);
      done = pushed - popped != waits_at;  // now no other thread can change it
      if (done && produces) {
        d_slots[pushed % capacity].value = d_x[i];
        tail.store(pushed + 1, relaxed);
      } else if (done) {
        d_popped[i] = d_slots[popped % capacity].value;
        head.store(popped + 1, relaxed);
      }
      TestAndTestAndSet::unlock(d_lock, ticket);
    }
  }
}

/// Waits until the slot of element k is in the state that this thread needs.
__device__ inline void wait_for_turn(Slot& slot, unsigned turn) {
  while (DeviceWord(slot.turn).load(cuda::std::memory_order_acquire) != turn) __nanosleep(32);
}

/// Stores a value as element k. There are fewer than 2^32 elements: after them the turns would not begin again at 0.
__device__ inline void push_at(Slot* slots, unsigned capacity, unsigned k, unsigned value) {
  Slot& slot = slots[k % capacity];
  const unsigned turn = 2 * (k / capacity);
  wait_for_turn(slot, turn);
  slot.value = value;
  DeviceWord(slot.turn).store(turn + 1, cuda::std::memory_order_release);
}

/// Loads element k, and gives its slot to the producer of the next round.
__device__ inline unsigned pop_at(Slot* slots, unsigned capacity, unsigned k) {
  Slot& slot = slots[k % capacity];
  const unsigned turn = 2 * (k / capacity) + 1;
  wait_for_turn(slot, turn);
  const unsigned value = slot.value;
  DeviceWord(slot.turn).store(turn + 1, cuda::std::memory_order_release);
  return value;
}

// Question: without a lock?
// Changes:  a ticket from atomicAdd names the element; producer and consumer of one slot hand it to
//           each other by its turn, a release store and an acquire load.
// Cost:     one atomic on a shared counter per value, and one hand-over per slot.
__global__ void queue_tickets(const unsigned* d_x, std::size_t n, Slot* d_slots, unsigned capacity,
                              QueueWords* d_queue, unsigned* d_popped) {
  const bool produces = blockIdx.x < gridDim.x / 2;
  const std::size_t stride = std::size_t{gridDim.x / 2} * blockDim.x;
  const unsigned block = produces ? blockIdx.x : blockIdx.x - gridDim.x / 2;
  for (std::size_t i = std::size_t{block} * blockDim.x + threadIdx.x; i < n; i += stride) {
    if (produces) {
      push_at(d_slots, capacity, atomicAdd(&d_queue->tail, 1u), d_x[i]);
    } else {
      d_popped[i] = pop_at(d_slots, capacity, atomicAdd(&d_queue->head, 1u));
    }
  }
}

/// The tickets of all active lanes from one atomic, in the order of the lanes.
__device__ inline unsigned warp_tickets(unsigned* counter, unsigned active) {
  const unsigned lane = threadIdx.x % course::kWarpSize;
  const int leader = __ffs(static_cast<int>(active)) - 1;
  unsigned first = 0;
  if (lane == static_cast<unsigned>(leader)) {
    first = atomicAdd(counter, static_cast<unsigned>(__popc(active)));
  }
  first = __shfl_sync(active, first, leader);
  return first + static_cast<unsigned>(__popc(active & ((1u << lane) - 1)));
}

// Question: and with one atomic per warp?
// Changes:  a lane takes the tickets of its whole warp (chapter 09), whose slots are neighbours.
// Cost:     one atomic per 32 values; the slots are handed over in coalesced accesses.
__global__ void queue_tickets_warp(const unsigned* d_x, std::size_t n, Slot* d_slots,
                                   unsigned capacity, QueueWords* d_queue, unsigned* d_popped) {
  const bool produces = blockIdx.x < gridDim.x / 2;
  const std::size_t stride = std::size_t{gridDim.x / 2} * blockDim.x;
  const unsigned block = produces ? blockIdx.x : blockIdx.x - gridDim.x / 2;
  const std::size_t first = std::size_t{block} * blockDim.x + threadIdx.x;
  for (std::size_t i = first; i - threadIdx.x % course::kWarpSize < n; i += stride) {
    const unsigned active = __ballot_sync(course::kAllLanes, i < n);
    if (i < n) {
      const unsigned k = warp_tickets(produces ? &d_queue->tail : &d_queue->head, active);
      if (produces) {
        push_at(d_slots, capacity, k, d_x[i]);
      } else {
        d_popped[i] = pop_at(d_slots, capacity, k);
      }
    }
    __syncwarp();  // all lanes vote again
  }
}

/// What every queue works in.
struct QueueMemory {
  unsigned capacity;  // a power of two
  course::DeviceBuffer<Slot> slots{capacity};
  course::DeviceBuffer<QueueWords> words{1};
  course::DeviceBuffer<LockWords> lock{1};

  /// Empties the queue. The turn of slot k begins at 0 for all of them.
  void reset() {
    slots.fill_bytes(0);
    words.fill_bytes(0);
    lock.fill_bytes(0);
  }
};
