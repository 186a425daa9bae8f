// Exercise ring_queue: a bounded queue for many producers and many consumers, without a lock.
//
// The queue's counters run on and on: the element at position p is in slot p % capacity. A slot's
// sequence number says whose turn it is:
//     p              the producer of position p may write
//     p + 1          the value of position p is there, and its consumer may read
//     p + capacity   it was read, and the producer of the next round may write
//
// Try it: ./course check ring_queue
#pragma once

#include <course/error.cuh>
#include <course/exercise.cuh>
#include <cuda/atomic>

struct Slot {
  unsigned sequence;  // before: the slot's first position
  unsigned value;
};

struct Queue {
  Slot* slots;
  unsigned capacity;  // a power of two, 2 or more
  unsigned* head;     // the position of the next pop
  unsigned* tail;     // the position of the next push
};

using Word = cuda::atomic_ref<unsigned, cuda::thread_scope_device>;

/// Appends a value: true. If the slot of the next position has not been read: false, and nothing has
/// changed.
/// - Any thread of the grid may call it at any time; each position is used once.
/// - The value is ordinary memory: the consumer sees it, and what the producer wrote before.
/// - Counters and sequence numbers may wrap from 2^32 - 1 to 0.
__device__ bool try_push(const Queue& queue, unsigned value) {
  const Word tail(*queue.tail);
  unsigned position = tail.load(cuda::std::memory_order_relaxed);
  for (;;) {
    Slot& slot = queue.slots[position % queue.capacity];
    const Word sequence(slot.sequence);
    const auto ahead = static_cast<int>(sequence.load(cuda::std::memory_order_acquire) - position);
    if (ahead < 0) return false;  // the value of the round before is still there
    if (ahead > 0) {
      position = tail.load(cuda::std::memory_order_relaxed);  // others have pushed meanwhile
    } else if (tail.compare_exchange_weak(position, position + 1,
                                          cuda::std::memory_order_relaxed)) {
      slot.value = value;
      sequence.store(position + 1, cuda::std::memory_order_release);
      return true;
    }
  }
}

/// Takes the oldest value: true, and *value is it. If no value is at the next position: false, and
/// nothing has changed.
/// - Any thread of the grid may call it at any time; each value is taken once.
/// - If one thread pushes and one thread pops, values come in the order in which they were pushed.
__device__ bool try_pop(const Queue& queue, unsigned* value) {
  const Word head(*queue.head);
  unsigned position = head.load(cuda::std::memory_order_relaxed);
  for (;;) {
    Slot& slot = queue.slots[position % queue.capacity];
    const Word sequence(slot.sequence);
    const auto ahead =
        static_cast<int>(sequence.load(cuda::std::memory_order_acquire) - (position + 1));
    if (ahead < 0) return false;  // nothing has been written there yet
    if (ahead > 0) {
      position = head.load(cuda::std::memory_order_relaxed);  // others have popped meanwhile
    } else if (head.compare_exchange_weak(position, position + 1,
                                          cuda::std::memory_order_relaxed)) {
      *value = slot.value;
      sequence.store(position + queue.capacity, cuda::std::memory_order_release);
      return true;
    }
  }
}
