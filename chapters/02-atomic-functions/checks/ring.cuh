// Events for the check of ring_slot, and what it asks of a kernel's counters.
#pragma once

#include <course/check.cuh>
#include <cstddef>
#include <cstdint>
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

/// Ok if the n events were read 32 at a time, and their places taken by many lanes at once. Before
/// each atomic a thread may look once: a compare-and-swap loop may begin every turn so.
inline course::Verdict shared_by_lanes(const course::Counters& counters, std::uint64_t n) {
  const std::uint64_t most = n / 4 + counters.global_atomics;
  if (counters.global_loads > most) {
    return {false, "loads: expected at most " + std::to_string(most) +
                       " for the whole grid, found " + std::to_string(counters.global_loads) +
                       "; a warp reads 32 events with one load if its lanes share the work"};
  }
  if (2 * counters.global_atomic_lanes < 3 * counters.global_atomics) {
    return {false, "atomics: " + std::to_string(counters.global_atomic_lanes) + " single ones in " +
                       std::to_string(counters.global_atomics) +
                       " requests of warps, so one lane makes them while 31 wait; let each lane "
                       "take a place for its own event"};
  }
  return {};
}

/// What the busiest warp may load and store: what one turn of a loop needs, and eight times its
/// share. (One that looks before every compare-and-swap may be five times as busy, by bad luck.)
inline std::uint64_t most_of_one_warp(const course::Counters& counters) {
  return 16 + 8 * (counters.global_loads + counters.global_stores) / counters.warps;
}

}  // namespace ring
