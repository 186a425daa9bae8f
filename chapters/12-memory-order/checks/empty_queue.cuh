// For the check of ring_queue: a queue in device memory, and what one thread gets from it.
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
  /// Every slot is written; `tail` has to follow.
  void fill() {
    std::vector<Slot> full = slots.download();
    for (Slot& slot : full) slot = {slot.sequence + 1, slot.sequence};
    CUDA_CHECK(
        cudaMemcpy(slots.data(), full.data(), capacity * sizeof(Slot), cudaMemcpyHostToDevice));
  }
  course::GuardedBuffer<Slot> slots;
  course::GuardedBuffer<unsigned> counters;
  unsigned capacity;
};

constexpr unsigned kNothing = 0xFFFF'FFFF;

/// What fill_and_empty() writes: values popped, 1 for a push, and kNothing where a call returned false.
inline std::vector<unsigned> results_of(unsigned capacity, unsigned rounds) {
  std::vector<unsigned> expected;
  unsigned next = 100;
  for (unsigned round = 0; round < rounds; ++round) {
    const unsigned pushes = round % 2 == 0 ? capacity : (capacity + 1) / 2;
    expected.insert(expected.end(), pushes, 1);
    if (round % 2 == 0) expected.push_back(kNothing);  // full
    for (unsigned k = 0; k < pushes; ++k) expected.push_back(next++);
    expected.push_back(kNothing);  // empty
  }
  return expected;
}
