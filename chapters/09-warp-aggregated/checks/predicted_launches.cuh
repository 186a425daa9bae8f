// The launches whose atomics predict_atomics asks for: what each makes, derived from its input.
// The check compares with these numbers where nothing is counted; counts.cu proves that the CPU
// device counts the same.
#pragma once

#include <algorithm>
#include <course/check.cuh>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include "predicted.cuh"

namespace prediction_checks {

constexpr std::size_t kNumbers = 256, kLanes = 32;

/// x[i] of the filters: 40 numbers of 96 are kept.
inline int number(std::size_t i) { return i % 96 < 40 ? 1 : -1; }
/// keys[i] of places_keyed.
inline int key(std::size_t i) { return static_cast<int>(i / 20); }

/// Memory of a launch: 256 numbers, 256 keys, outputs that are long enough, counters that are 0.
struct Memory {
  course::DeviceBuffer<int> x{kNumbers}, keys{kNumbers}, out{kNumbers}, rest{kNumbers};
  course::DeviceBuffer<Count> counts = course::DeviceBuffer<Count>::zeros(kNumbers);
  course::DeviceBuffer<Count> places{kNumbers};
};

inline Memory memory() {
  Memory memory;
  std::vector<int> x(kNumbers), keys(kNumbers);
  for (std::size_t i = 0; i < kNumbers; ++i) {
    x[i] = number(i);
    keys[i] = key(i);
  }
  memory.x.upload(x);
  memory.keys.upload(keys);
  return memory;
}

/// What a launch makes on global memory: requests of warps, and atomics of lanes.
struct Counts {
  std::uint64_t requests = 0, atomics = 0;
  friend bool operator==(const Counts&, const Counts&) = default;
};

/// How many of the 32 numbers from 32 * group on are kept. A warp takes such a group at a time.
inline std::size_t kept_of(std::size_t group) {
  std::size_t kept = 0;
  for (std::size_t i = 0; i < kLanes; ++i) kept += number(group * kLanes + i) > 0 ? 1 : 0;
  return kept;
}

/// The sum of what each of the eight groups makes.
template <class PerGroup>
Counts over_groups(PerGroup per_group) {
  Counts sum;
  for (std::size_t group = 0; group < kNumbers / kLanes; ++group) {
    const Counts counts = per_group(group);
    sum.requests += counts.requests;
    sum.atomics += counts.atomics;
  }
  return sum;
}

inline Counts one_of_each_kept() {
  return over_groups([](std::size_t group) {
    return Counts{kept_of(group) > 0 ? 1u : 0u, kept_of(group)};
  });
}

inline Counts one_of_each_group_with_kept() {
  return over_groups([](std::size_t group) {
    const std::uint64_t one = kept_of(group) > 0 ? 1 : 0;
    return Counts{one, one};
  });
}

inline Counts one_of_each_side() {
  return over_groups([](std::size_t group) {
    const std::uint64_t sides = (kept_of(group) > 0 ? 1 : 0) + (kept_of(group) < kLanes ? 1 : 0);
    return Counts{sides, sides};
  });
}

inline Counts one_of_each_key() {
  return over_groups([](std::size_t group) {
    std::set<int> keys;
    for (std::size_t i = 0; i < kLanes; ++i) keys.insert(key(group * kLanes + i));
    return Counts{1, keys.size()};  // the leaders of all groups add in the same instruction
  });
}

using Run = std::function<void(Memory& memory)>;

/// A launch, what it makes, and where to look if that was predicted wrongly.
struct Launch {
  std::string text;
  Counts (*expected)();
  Run run;
  std::string look;
};

// The kernels' types are written out: an answer may have another function of a kernel's name.

inline Run filter(void (*kernel)(const int*, std::size_t, int*, Count*), unsigned grid,
                  unsigned block) {
  return [=](Memory& m) {
    course::launch(kernel, {grid, block}, m.x.data(), kNumbers, m.out.data(), m.counts.data());
  };
}

inline Run count(void (*kernel)(const int*, std::size_t, Count*)) {
  return [=](Memory& m) { course::launch(kernel, {1, 64}, m.x.data(), kNumbers, m.counts.data()); };
}

inline Run split(void (*kernel)(const int*, std::size_t, int*, int*, Count*)) {
  return [=](Memory& m) {
    course::launch(kernel, {2, 128}, m.x.data(), kNumbers, m.out.data(), m.rest.data(),
                   m.counts.data());
  };
}

inline Run find_places(void (*kernel)(const int*, std::size_t, Count*, Count*)) {
  return [=](Memory& m) {
    course::launch(kernel, {2, 128}, m.keys.data(), kNumbers, m.counts.data(), m.places.data());
  };
}

inline const std::vector<Launch> kLaunches = {
    {"filter_plain<<<2, 128>>>", one_of_each_kept, filter(filter_plain, 2, 128),
     "Which lanes of the warp with x[32] to x[63] pass the if? And of the one with x[64] to x[95]?"},
    {"filter_agg_inc<<<2, 128>>>", one_of_each_group_with_kept, filter(filter_agg_inc, 2, 128),
     "Which lane adds in the warp with x[32] to x[63]? Does the one with x[64] to x[95] add at all?"},
    {"filter_by_vote<<<2, 128>>>",
     [] {
       return Counts{kNumbers / kLanes, kNumbers / kLanes};
     },
     filter(filter_by_vote, 2, 128),
     "What are the votes of the warp with x[64] to x[95], and what does its lane 0 do with them?"},
    {"filter_in_turns<<<1, 64>>>", one_of_each_group_with_kept, filter(filter_in_turns, 1, 64),
     "Warp 0 takes x[0] to x[31], then x[64] to x[95], and so on: in which turns does it keep any?"},
    {"count_in_turns<<<1, 64>>>",
     [] {
       return Counts{2, 2};
     },
     count(count_in_turns),
     "Is the atomicAdd inside of the loop? How many lanes of a warp reach it?"},
    {"split_in_two<<<2, 128>>>", one_of_each_side, split(split_in_two),
     "Into how many groups does the if split x[0] to x[31]? And x[32] to x[63]? Each elects a leader."},
    {"places_keyed<<<2, 128>>>", one_of_each_key, find_places(places_keyed),
     "Which keys have the lanes of the warp with keys[32] to keys[63]? All leaders of a warp reach "
     "the atomicAdd together."},
};

/// What the CPU device counts, as long as lanes that come together stay together (seed 0); on a GPU
/// what the input says.
inline Counts counts_of(const Launch& launch) {
  Memory m = memory();
  Counts counts = launch.expected();
  course::with_seed(0, [&] {
    if (const auto counted = course::count([&] { launch.run(m); })) {
      counts = {counted->global_atomics, counted->global_atomic_lanes};
    }
  });
  return counts;
}

}  // namespace prediction_checks
