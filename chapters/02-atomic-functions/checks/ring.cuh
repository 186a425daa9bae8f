// Events for the check of ring_slot, and what it asks of a kernel's counters.
#pragma once

#include <algorithm>
#include <course/check.cuh>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace ring {

/// The events of one launch, in no order: every event is another number.
inline std::vector<unsigned> make_events(unsigned first, std::size_t n) {
  std::vector<unsigned> events(n);
  for (std::size_t i = 0; i < n; ++i) events[i] = first + static_cast<unsigned>(i);
  for (std::size_t i = 1; i < n; ++i) std::swap(events[i], events[i * 7919 % (i + 1)]);
  return events;
}

/// A ring buffer in device memory, of which the elements from `first` on exist. (nvcc 13.0 never
/// finishes with a REQUIRE in a member function, so the functions that check are free ones.)
struct Recorder {
  Recorder(unsigned capacity, unsigned start) : Recorder(capacity, start, 0, capacity) {}
  Recorder(unsigned slots, unsigned start, unsigned first, unsigned capacity)
      : ring(slots), next(1), overwritten(1), first(first), capacity(capacity) {
    ring.fill_bytes(0xFF);  // kNothing
    overwritten.fill_bytes(0);
    CUDA_CHECK(cudaMemcpy(next.data(), &start, sizeof start, cudaMemcpyHostToDevice));
  }
  /// "capacity 100", and which elements of a huge ring a test has memory for.
  std::string text() const {
    const std::string all = "capacity " + std::to_string(capacity);
    if (first == 0) return all;
    return all + " (memory is there for ring[" + std::to_string(first) + "] to ring[" +
           std::to_string(first + ring.size() - 1) + "], which is enough)";
  }
  course::GuardedBuffer<unsigned> ring, next, overwritten;
  unsigned first, capacity;
  unsigned next_event = 1000;  // the number of the next event
};

/// What a launch did to the elements ring[first], ring[first + 1], ... that exist.
struct Change {
  std::vector<unsigned> before, after;
  unsigned first, start, capacity;  // start: the slot of the launch's first event
  std::string name(std::size_t i) const { return "ring[" + std::to_string(first + i) + "]"; }
  /// How many slots before[i] comes after the launch's first event.
  std::size_t turn(std::size_t i) const {
    return static_cast<std::size_t>((std::uint64_t{first} + i + capacity - start) % capacity);
  }
};

constexpr unsigned kNothing = 0xFFFF'FFFF;  // the exercise calls it kEmpty

inline std::string held(unsigned event) {
  return event == kNothing ? "nothing" : std::to_string(event);
}

/// Ok if the launch's events, and no other, are in the slots that are theirs: each no more often
/// than it came.
inline course::Verdict holds_events(const Change& change, const std::vector<unsigned>& events) {
  std::map<unsigned, std::size_t> left;
  for (const unsigned event : events) ++left[event];
  for (std::size_t i = 0; i < change.after.size(); ++i) {
    const unsigned found = change.after[i];
    if (change.turn(i) >= events.size()) {  // no event came that far
      if (found == change.before[i]) continue;
      return {false, change.name(i) + ": expected " + held(change.before[i]) +
                         ", which was there before, found " + held(found) +
                         ": no event of this launch belongs there"};
    }
    const auto event = left.find(found);
    const std::string wrong = change.name(i) + " held " + held(change.before[i]) +
                              " before, and holds " + held(found) + " after the launch: ";
    if (event == left.end()) return {false, wrong + "no event of this launch"};
    if (event->second-- == 0) return {false, wrong + "that event is in another slot, too"};
  }
  return {};
}

/// How many events a launch of n events loses: of its own, and of those that were there before.
inline std::uint64_t losses(const Change& change, std::uint64_t n) {
  std::uint64_t lost = n - std::min<std::uint64_t>(n, change.capacity);
  for (std::size_t i = 0; i < change.before.size(); ++i) {
    if (change.turn(i) < n && change.before[i] != kNothing) ++lost;
  }
  return lost;
}

/// Ok if the n events were read 32 at a time, and their slots taken by many lanes at once. A thread
/// may read once before each atomic, as a compare-and-swap loop may do in every round.
inline course::Verdict shared_by_lanes(const course::Counters& counters, std::uint64_t n) {
  const course::Verdict loads =
      course::at_most(counters.global_loads, n / 4 + counters.global_atomics, "loads of all warps",
                      "a warp reads 32 events with one load if its lanes share the work");
  if (!loads.ok) return loads;
  if (2 * counters.global_atomic_lanes < 3 * counters.global_atomics) {
    return {false, "atomics: " + std::to_string(counters.global_atomic_lanes) + " single ones in " +
                       std::to_string(counters.global_atomics) +
                       " requests of warps, so one lane makes them while 31 wait; let each lane "
                       "take a slot for its own event"};
  }
  return {};
}

/// What the busiest warp may load and store: what one turn of a loop needs, and eight times its
/// share. (One that looks before every compare-and-swap may be five times as busy, by bad luck.)
inline std::uint64_t most_of_one_warp(const course::Counters& counters) {
  return 8 + 8 * (counters.global_loads + counters.global_stores) / counters.warps;
}

}  // namespace ring
