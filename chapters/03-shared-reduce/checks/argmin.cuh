// What the check of two_pass_argmin compares: data, the right answer, and where a search leaves its
// own.
#pragma once

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <climits>
#include <course/check.cuh>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace argmin {

/// Some kinds are used by name: their indices.
enum Kind { mixed, many_ties, all_equal, all_largest, rising, falling, late_tie, extreme };
inline const course::DataKind<int> kKinds[] = {
    {"numbers of both signs",
     [](course::Element e) { return e.random * 1000 + static_cast<int>(e.i % 1000) - 500'000; }},
    {"ten different values, each many times", [](course::Element e) { return e.random % 10 + 3; }},
    {"all the same", [](course::Element) { return 7; }},
    {"all INT_MAX", [](course::Element) { return INT_MAX; }},
    {"the smallest comes first", [](course::Element e) { return static_cast<int>(e.i) - 40; }},
    {"the smallest comes last", [](course::Element e) { return 40 - static_cast<int>(e.i); }},
    {"the smallest at a third of the indices, but not among the first",
     [](course::Element e) { return e.i >= e.n / 2 && e.random % 3 == 0 ? -1 : e.random; }},
    {"INT_MIN, INT_MAX and numbers between", [](course::Element e) {
       return e.random % 50 == 0 ? INT_MIN : e.random % 2 == 0 ? INT_MAX : e.random;
     }}};

struct Minimum {
  int value;
  std::size_t index;
};

inline Minimum reference(const std::vector<int>& x) {
  const auto first = std::min_element(x.begin(), x.end());  // the first of several
  if (first == x.end()) return {INT_MAX, ~std::size_t{0}};
  return {*first, static_cast<std::size_t>(first - x.begin())};
}

/// Device memory for a search with this many blocks; all of it holds anything.
struct Places {
  explicit Places(unsigned blocks) : part_values(blocks), part_indices(blocks), value(1), index(1) {
    // On the CPU device fresh memory may not be read before it was written, so leave it alone
    // there.
    if (course::kCpuDevice) return;
    part_values.fill_bytes(0x80);  // a very small number, at an index that is none
    part_indices.fill_bytes(0);
    value.fill_bytes(0x80);
    index.fill_bytes(0);
  }
  course::GuardedBuffer<int> part_values;
  course::GuardedBuffer<std::size_t> part_indices;
  course::GuardedBuffer<int> value;
  course::GuardedBuffer<std::size_t> index;
};

inline void check_places(const Places& places, Minimum expected) {
  REQUIRE(course::same(places.value.download().front(), expected.value, "value"));
  REQUIRE(course::same(places.index.download().front(), expected.index, "index"));
  REQUIRE(places.part_values.intact("part_values"));
  REQUIRE(places.part_indices.intact("part_indices"));
  REQUIRE(places.value.intact("value"));
  REQUIRE(places.index.intact("index"));
}

inline course::Verdict does_not_wait(bool waited) {
  if (!waited) return {};
  return {false,
          "two_pass_argmin returned after a kernel had run: it waits for it, and should leave that "
          "to its caller"};
}

/// Candidates for the second pass alone; those at the largest index are none.
struct Example {
  std::string text;
  std::vector<int> values;
  std::vector<std::size_t> indices;
  std::size_t expected;
};

inline std::vector<Example> far_candidates() {
  constexpr std::size_t kFar = std::size_t{1} << 32, kNone = ~std::size_t{0};
  std::vector<Example> examples = {
      {"one candidate", {-4}, {2 * kFar + 9}, 2 * kFar + 9},
      {"the smaller index of two, below 2^32", {-4, -4}, {kFar + 1, 5}, 5},
      {"the smaller index of two, from 2^31 on", {-4, -4}, {5, kFar / 2}, 5},
      {"no candidate", {INT_MAX, INT_MAX}, {kNone, kNone}, kNone},
      {"INT_MAX at a large index", {INT_MAX, INT_MAX}, {kNone, kFar + 3}, kFar + 3}};
  Example many{"100 equal ones, each at a smaller index", {}, {}, kFar};
  for (std::size_t b = 100; b-- > 0;) {
    many.values.push_back(-9);
    many.indices.push_back(kFar + b * (kFar - 1));
  }
  examples.push_back(many);
  return examples;
}

/// Requires that the threads of both launches share the work.
inline void check_costs(const course::Counters& c, std::size_t n, course::LaunchShape launch) {
  REQUIRE(course::at_most(c.global_atomic_lanes + c.shared_atomic_lanes, 0, "atomics",
                          "every block has a place of its own"));
  // A candidate is compared more than once; its element may be read again for that.
  const std::uint64_t parts = 3 * (2 * ((launch.grid + 31) / 32) + 2);
  REQUIRE(course::at_most(c.global_loads, 3 * n / 32 + parts, "loads by the warps of both launches",
                          "a warp reads 32 neighbours with one load"));
  const std::uint64_t rounds = (n + launch.grid * launch.block - 1) / (launch.grid * launch.block);
  REQUIRE(course::work_is_shared(c, std::max<std::uint64_t>(3 * rounds + 2, 3 * 2 + 2)));
  const std::uint64_t depth = 10, warps = launch.block / 32;
  REQUIRE(course::at_most(c.barriers, (launch.grid + 1) * (depth + 2), "barriers of both launches",
                          "each level of a tree needs one"));
  REQUIRE(course::at_most(c.shared_loads, (launch.grid + 1) * (12 * warps + 12 * depth),
                          "loads of shared memory by the warps of both launches",
                          "in a tree each level reads half of what the level before read"));
}

}  // namespace argmin
