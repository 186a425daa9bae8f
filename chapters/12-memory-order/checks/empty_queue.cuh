// For the check of ring_queue: a queue in device memory.
#pragma once

#include <course/error.cuh>
#include <course/guarded.cuh>
#include <vector>

/// A queue in device memory, empty, whose next position is `start`. Slot is the answer's.
template <class Slot>
struct EmptyQueue {
  EmptyQueue(unsigned slot_count, unsigned start)
      : slots(slot_count), counters(2), capacity(slot_count) {
    std::vector<Slot> fresh(capacity);
    for (unsigned k = 0; k < capacity; ++k) fresh[(start + k) % capacity] = {start + k, 0};
    CUDA_CHECK(
        cudaMemcpy(slots.data(), fresh.data(), capacity * sizeof(Slot), cudaMemcpyHostToDevice));
    set_counters(start, start);
  }
  /// tail > head, and no slot written: producers have taken positions, and have not come further.
  void set_counters(unsigned head, unsigned tail) {
    const unsigned both[2] = {head, tail};
    CUDA_CHECK(cudaMemcpy(counters.data(), both, sizeof both, cudaMemcpyHostToDevice));
  }
  course::GuardedBuffer<Slot> slots;
  course::GuardedBuffer<unsigned> counters;
  unsigned capacity;
};
