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

NOT_STARTED  // delete this line when you begin

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
  // TODO(you): append the value.
  (void)queue, (void)value;  // delete this
  return true;
}

/// Takes the oldest value: true, and *value is it. If no value is at the next position: false, and
/// nothing has changed.
/// - Any thread of the grid may call it at any time; each value is taken once.
/// - If one thread pushes and one thread pops, values come in the order in which they were pushed.
__device__ bool try_pop(const Queue& queue, unsigned* value) {
  // TODO(you): take the oldest value.
  (void)queue, (void)value;  // delete this
  return true;
}
