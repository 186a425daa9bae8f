// Lets main() see what course::count() and course::find_races() have seen, which programs of a lesson show, and whether a test
// case has asked for the seed.
#pragma once

#include <course/device.cuh>

#include <cstdint>
#include <functional>

namespace course::detail {

/// The launches of one call of course::count() or course::find_races().
struct Observation {
  std::uint64_t launches = 0, blocks = 0, threads = 0;
  const Findings* findings = nullptr;  // of find_races(); null of count()
};

/// Called after each of these calls from here on. A GPU observes nothing.
using Observer = std::function<void(const Observation&)>;
void set_observer(Observer observer);

/// How often course::seed() has been called in this process: a test case that calls it tries other cases under each schedule.
std::uint64_t times_seed_was_told();

}  // namespace course::detail
