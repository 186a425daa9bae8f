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

/// What a message says of a wrong answer: which element is the first of the smallest, and what stands
/// at the index that was found.
inline std::string elements_in_question(const std::vector<int>& x, Minimum expected,
                                        std::size_t found) {
  if (x.empty()) return "";
  std::string text = "The first of the smallest is " +
                     course::elements_text("x", x, expected.index, expected.index + 1);
  if (found < x.size() && found != expected.index) {
    text += "; " + course::elements_text("x", x, found, found + 1);
  }
  if (found == ~std::size_t{0}) text += "; the index that was found is kNowhere";
  return text + ".";
}

/// `x` is empty if it is too large to be kept on the host.
inline void check_places(const Places& places, Minimum expected, const std::vector<int>& x = {}) {
  const std::size_t index = places.index.download().front();
  const std::string elements = elements_in_question(x, expected, index);
  REQUIRE(course::same(places.value.download().front(), expected.value, "value", elements));
  REQUIRE(course::same(index, expected.index, "index", elements));
  REQUIRE(places.part_values.intact("part_values"));
  REQUIRE(places.part_indices.intact("part_indices"));
  REQUIRE(places.value.intact("value"));
  REQUIRE(places.index.intact("index"));
}

/// Ok if both kernels were still in the stream when two_pass_argmin returned.
inline course::Verdict both_in_the_stream(int found) {
  if (found == 2) return {};
  return {false, "kernels in `stream` when two_pass_argmin returned: expected 2, found " +
                     std::to_string(found) +
                     "\nDoes it wait for a kernel, which it should leave to its caller? Or does a "
                     "launch not name the stream?"};
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

/// Ok if the kernels load every element themselves; four neighbours may be one load.
inline course::Verdict loads_all(const course::Counters& c, std::size_t n) {
  if (c.global_load_lanes >= n / 4) return {};
  return {false, "loads by the threads of both launches: expected at least " +
                     std::to_string(n / 4) + ", found " + std::to_string(c.global_load_lanes) +
                     "; the kernels search x, not the host"};
}

/// Requires two launches whose threads share the work.
inline void check_costs(const course::Counters& c, std::size_t n, course::LaunchShape launch) {
  REQUIRE(course::same(c.launches, 2, "launches"));
  REQUIRE(course::same(c.blocks, launch.grid + 1, "blocks of both launches"));
  REQUIRE(course::same(c.threads, (launch.grid + 1) * launch.block, "threads of both launches"));
  REQUIRE(course::none(c.global_atomic_lanes + c.shared_atomic_lanes, "atomics",
                       "each block writes its own candidate"));
  REQUIRE(loads_all(c, n));
  // A candidate is compared more than once; its element may be read again for that. A block may have one
  // stretch of x, which ends within a warp.
  const std::uint64_t parts =
      3 * (2 * ((launch.grid + 31) / 32) + 2 + std::min<std::uint64_t>(n, launch.grid));
  REQUIRE(course::at_most(c.global_loads, 3 * n / 32 + parts, "loads by the warps of both launches",
                          "a warp reads 32 neighbours with one load"));
  REQUIRE(course::at_most(c.global_load_sectors, 3 * n / 8 + 16 * parts,
                          "sectors of the loads of both launches",
                          "neighbouring threads load neighbours: 32 of them are in 4 sectors"));
  const std::uint64_t rounds = (n + launch.grid * launch.block - 1) / (launch.grid * launch.block);
  REQUIRE(course::work_is_shared(c, std::max<std::uint64_t>(3 * rounds + 2, 3 * 2 + 2)));
  const std::uint64_t depth = 10, warps = launch.block / 32;
  // A tree for the value, and then one for the index.
  REQUIRE(course::at_most(c.barriers, (launch.grid + 1) * 2 * (depth + 2),
                          "barriers of both launches", "each level of a tree needs one"));
  REQUIRE(course::at_most(c.shared_loads, (launch.grid + 1) * (12 * warps + 12 * depth),
                          "loads of shared memory by the warps of both launches",
                          "in a tree each level reads half of what the level before read"));
}

}  // namespace argmin
