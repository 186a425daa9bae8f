// The times of launches on a GPU: for a learner, who compares the longest one with the solution's.
#pragma once

#include <cstdint>
#include <optional>

namespace course {

/// From now on course::launch() records when each launch begins and ends.
void begin_launch_times();

/// Waits for all of them; returns the longest time in nanoseconds, without those of a graph that is captured. None if nothing was launched.
std::optional<std::uint64_t> end_launch_times();

}  // namespace course
