// Check of the exercise two_pass_argmin: ties everywhere, the smallest value at every index, more
// blocks than threads, blocks without elements, and no elements at all.
#include "two_pass_argmin.cuh"

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <climits>
#include <course/check.cuh>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

namespace two_pass_argmin_check {

using Launch = course::LaunchShape;

constexpr Launch kLaunches[] = {{1, 32},  {3, 64},  {8, 128}, {2, 1024},
                                {5, 256}, {40, 32}, {1, 512}};

// ---- data, and the right answer -----------------------------------------------------------------

/// Some kinds are used by name: their indices.
enum Kind { mixed, many_ties, all_equal, all_largest, rising, falling, late_tie, extreme };
const course::DataKind<int> kKinds[] = {
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

Minimum reference(const std::vector<int>& x) {
  const auto first = std::min_element(x.begin(), x.end());  // the first of several
  if (first == x.end()) return {INT_MAX, ~std::size_t{0}};
  return {*first, static_cast<std::size_t>(first - x.begin())};
}

// ---- a search -----------------------------------------------------------------------------------

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
std::string elements_in_question(const std::vector<int>& x, Minimum expected, std::size_t found) {
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
void check_places(const Places& places, Minimum expected, const std::vector<int>& x = {}) {
  const std::size_t index = places.index.download().front();
  const std::string elements = elements_in_question(x, expected, index);
  REQUIRE(course::same(places.value.download().front(), expected.value, "value", elements));
  REQUIRE(course::same(index, expected.index, "index", elements));
  REQUIRE(places.part_values.intact("part_values"));
  REQUIRE(places.part_indices.intact("part_indices"));
  REQUIRE(places.value.intact("value"));
  REQUIRE(places.index.intact("index"));
}

void search(const course::DeviceBuffer<int>& x, Launch launch, Places& places,
            cudaStream_t stream = nullptr) {
  two_pass_argmin(x.data(), x.size(), launch.grid, launch.block, places.part_values.data(),
                  places.part_indices.data(), places.value.data(), places.index.data(), stream);
}

void check_search(const std::vector<int>& x, Launch launch, Places& places) {
  search(course::DeviceBuffer<int>::from(x), launch, places);
  CUDA_CHECK(cudaDeviceSynchronize());
  check_places(places, reference(x), x);
}

void check_search(const std::vector<int>& x, Launch launch) {
  Places places(launch.grid);
  check_search(x, launch, places);
}

std::string case_text(std::size_t n, const std::string& text, Launch launch) {
  return course::case_text(n, text, "argmin_of_blocks", launch);
}

void check_kind(unsigned kind, std::size_t n, Launch launch) {
  INFO(case_text(n, kKinds[kind].text, launch));
  check_search(kKinds[kind].values(n), launch);
}

/// Ok if both kernels were still in the stream when two_pass_argmin returned.
course::Verdict both_in_the_stream(int found) {
  if (found == 2) return {};
  return {false, "kernels in `stream` when two_pass_argmin returned: expected 2, found " +
                     std::to_string(found) +
                     "\nDoes it wait for a kernel, which it should leave to its caller? Or does a "
                     "launch not name the stream?"};
}

// ---- the second pass alone ----------------------------------------------------------------------

/// Candidates for the second pass alone; those at the largest index are none.
struct Example {
  std::string text;
  std::vector<int> values;
  std::vector<std::size_t> indices;
  std::size_t expected;
};

std::vector<Example> far_candidates() {
  constexpr std::size_t kFar = std::size_t{1} << 32, kNone = ~std::size_t{0};
  std::vector<Example> examples = {
      {"one candidate", {-4}, {2 * kFar + 9}, 2 * kFar + 9},
      {"the smaller index of two, below 2^32", {-4, -4}, {kFar + 1, 5}, 5},
      {"the smaller index of two, from 2^31 on", {-4, -4}, {5, kFar / 2}, 5},
      {"the second of two, at an index from 2^31 on", {5, 3}, {0, kFar / 2 + 7}, kFar / 2 + 7},
      {"the second of two, at an index from 2^32 + 2^31 on",
       {5, 3},
       {0, kFar * 3 / 2},
       kFar * 3 / 2},
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

/// The second pass alone.
void check_second_pass(const std::vector<int>& values, const std::vector<std::size_t>& indices,
                       unsigned block_size, Places& places) {
  const auto part_values = course::DeviceBuffer<int>::from(values);
  const auto part_indices = course::DeviceBuffer<std::size_t>::from(indices);
  course::launch(argmin_of_parts, {1, block_size}, part_values.data(), part_indices.data(),
                 static_cast<unsigned>(values.size()), places.value.data(), places.index.data());
}

// ---- what a search may cost ---------------------------------------------------------------------

/// Ok if the kernels load every element themselves; four neighbours may be one load.
course::Verdict loads_all(const course::Counters& c, std::size_t n) {
  if (c.global_load_lanes >= n / 4) return {};
  return {false, "loads by the threads of both launches: expected at least " +
                     std::to_string(n / 4) + ", found " + std::to_string(c.global_load_lanes) +
                     "; the kernels search x, not the host"};
}

/// Requires two launches whose threads share the work.
void check_costs(const course::Counters& c, std::size_t n, Launch launch) {
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

// Promise: *d_value is the smallest of x[0..n-1].
// Promise: block_size is a power of two from 32 to 1024.
// Promise: d_part_values, d_part_indices and the two outputs are not initialised (UNINITIALISED
// MEMORY), and the parts have `blocks` elements each (OUT OF BOUNDS).
TEST_CASE("two_pass_argmin: value and first index at every size") {
  std::size_t turn = 0;  // another launch each time
  for (const std::size_t n : course::kSizes) {
    for (unsigned kind = 0; kind < std::size(kKinds); ++kind) {
      course::in_launch(kLaunches[turn++ % std::size(kLaunches)],
                        [&](Launch launch) { check_kind(kind, n, launch); });
    }
  }
}

// Promise: n may be 0: then *d_value is INT_MAX, and *d_index is kNowhere.
TEST_CASE("two_pass_argmin: no elements") {
  for (const Launch launch : kLaunches) {
    INFO(case_text(0, "nothing", launch));
    check_search({}, launch);
  }
}

// Promise: *d_index is the smallest index that has the smallest value.
TEST_CASE("two_pass_argmin: two equal ones, at all kinds of indices") {
  const std::size_t n = 300;
  const Launch launch{2, 64};  // rounds of 128 elements
  // The same thread; the halves of the tree, either way round; different blocks, either way round.
  const std::pair<std::size_t, std::size_t> places[] = {
      {3, 131}, {131, 259}, {5, 37},  {40, 136},  {36, 132}, {64, 128},
      {63, 64}, {127, 128}, {1, 299}, {100, 170}, {190, 140}};
  for (const auto& [a, b] : places) {
    std::vector<int> x(n, 1000);
    x[a] = x[b] = -3;
    INFO(case_text(n, "the smallest is at " + std::to_string(a) + " and " + std::to_string(b),
                   launch));
    check_search(x, launch);
  }
}

// Promise: every element counts, also one that differs from INT_MAX by 1.
TEST_CASE("two_pass_argmin: the smallest at every index") {
  const Launch launch{3, 32};
  for (std::size_t place = 0; place < 200; place += place < 100 ? 1 : 13) {
    std::vector<int> x(200, INT_MAX);
    x[place] = INT_MAX - 1;
    INFO(case_text(x.size(), "all INT_MAX, one less at " + std::to_string(place), launch));
    check_search(x, launch);
  }
}

// Promise: `blocks` is any number from 1 on, and may be larger than block_size.
TEST_CASE("two_pass_argmin: more blocks than a block has threads") {
  for (const Launch launch : {Launch{33, 32}, Launch{70, 64}, Launch{1030, 32}}) {
    const std::size_t n = std::size_t{launch.grid} * launch.block;
    for (const Kind kind : {falling, many_ties, late_tie}) {
      if (launch.grid > 1000 && kind != falling) continue;  // takes long
      check_kind(kind, n, launch);
    }
    if (launch.grid < 1000) check_kind(all_largest, 40, launch);
  }
}

// Promise: what an earlier search left in the memory does not matter.
TEST_CASE("two_pass_argmin: many elements per thread, and one search after another") {
  constexpr int kRepeats = course::kCpuDevice ? 1 : 20;  // a missing barrier may not show at once
  const std::size_t n = course::kBigSize;
  Places places(7);
  for (int repeat = 0; repeat < kRepeats; ++repeat) {
    for (const Kind kind : {mixed, falling, many_ties, extreme}) {
      INFO(case_text(n, kKinds[kind].text, {7, 128}) << ", in memory that the search before used");
      check_search(kKinds[kind].values(n), {7, 128}, places);
    }
    for (const std::size_t few : {31, 0}) {
      INFO(case_text(few, kKinds[all_equal].text, {7, 32}) << ", after a search in a larger array");
      check_search(kKinds[all_equal].values(few), {7, 32}, places);
    }
  }
}

// Promise: both kernels run in `stream`.
// Promise: two_pass_argmin returns without waiting for the kernels.
TEST_CASE("two_pass_argmin: in a stream of its own, without waiting for it") {
  cudaStream_t stream = nullptr;
  CUDA_CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  Places places(5);
  const std::vector<int> values = kKinds[mixed].values(1025);
  INFO(case_text(1025, kKinds[mixed].text, {5, 64}) << ", in a stream that waits for no other");
  const auto d_x = course::DeviceBuffer<int>::from(values);
  CUDA_CHECK(cudaDeviceSynchronize());  // the stream does not wait for the copy
  search(d_x, {5, 64}, places, stream);
  CUDA_CHECK(cudaStreamSynchronize(stream));
  check_places(places, reference(values), values);
  search(d_x, {5, 64}, places, stream);
  // On the CPU device each query lets one kernel run. A GPU may be done by now.
  int left = course::kCpuDevice ? 0 : 2;
  while (course::kCpuDevice && cudaStreamQuery(stream) == cudaErrorNotReady) ++left;
  CUDA_CHECK(cudaStreamSynchronize(stream));
  CUDA_CHECK(cudaStreamDestroy(stream));
  REQUIRE(both_in_the_stream(left));
}

// Promise: argmin_of_parts runs alone, with indices beyond 2^32 and without dynamic shared memory
// (OUT OF BOUNDS).
TEST_CASE("two_pass_argmin: the second pass alone, with indices that need more than 32 bits") {
  for (const auto& [text, values, indices, expected] : far_candidates()) {
    for (const unsigned block_size : {32u, 128u}) {
      INFO("argmin_of_parts<<<1, " << block_size << ">>>, parts = " << values.size() << ": "
                                   << text);
      Places places(1);
      check_second_pass(values, indices, block_size, places);
      REQUIRE(course::same(places.value.download().front(), *std::ranges::min_element(values),
                           "value"));
      REQUIRE(course::same(places.index.download().front(), expected, "index"));
    }
  }
}

/// The candidates of the last two blocks of a first pass through more than 2^32 elements.
void check_end() {
  const std::vector<int> values = kKinds[falling].values(course::kLastItems);
  const course::Placed<int> x(values, 1);
  Places places(2);
  INFO(course::case_text(course::kHugeItems, kKinds[falling].text, "argmin_of_blocks",
                         course::kHugeGrid));
  course::at_end_of_huge_grid([&](Launch grid, std::size_t items) {
    const std::size_t before = items - values.size();  // that are not in memory
    course::launch(argmin_of_blocks, {grid.grid, grid.block}, x.data() - before, items,
                   places.part_values.data() - (grid.grid - 2),
                   places.part_indices.data() - (grid.grid - 2));
    const std::vector<int> found = places.part_values.download();
    const std::size_t best = found[0] < found[1] ? 0 : 1;
    REQUIRE(course::same(found[best], values.back(), "part_values, the best of the last two"));
    REQUIRE(course::same(places.part_indices.download()[best], items - 1,
                         "part_indices, that of the best of the last two"));
  });
}

// Promise: n may be more than 2^32 (the CPU device runs the last two blocks of a first pass that has a thread
// for each element).
TEST_CASE("two_pass_argmin: an index may need more than 32 bits") {
  if (course::kCpuDevice) return check_end();
  constexpr std::size_t n = (std::size_t{1} << 32) + 300, place = n - 7;
  course::skip_without_memory(n * sizeof(int));
  auto x = course::DeviceBuffer<int>::zeros(n);
  const int smallest = -5;
  CUDA_CHECK(cudaMemcpy(x.data() + place, &smallest, sizeof smallest, cudaMemcpyHostToDevice));
  const Launch launch{1056, 256};
  Places places(launch.grid);
  INFO(case_text(n, "the smallest is at " + std::to_string(place), launch));
  search(x, launch, places);
  check_places(places, {smallest, place});
}

// Promise: it launches two kernels, the first with `blocks` blocks, the second with one, both with
// block_size threads per block, also where n is 0.
// Promise: no atomics.
// Promise: all threads share the work: neighbouring threads load neighbours of x, and a block
// finds its candidate by a tree (loads, sectors, the busiest warp, barriers; the kernels search,
// not the host).
TEST_CASE("two_pass_argmin: two kernels, no atomics, and the threads share the work") {
  course::skip_without_counters();
  for (const std::size_t n : {4096, 100, 0}) {
    for (const Launch launch : {Launch{8, 128}, Launch{3, 32}, Launch{32, 128}}) {
      INFO(case_text(n, kKinds[many_ties].text, launch));
      const auto c = course::count([&] { check_search(kKinds[many_ties].values(n), launch); });
      check_costs(*c, n, launch);
    }
  }
}

// Promise: all threads of the second pass share its work.
TEST_CASE("two_pass_argmin: the threads of the second pass share the parts") {
  course::skip_without_counters();
  const unsigned parts = 1024, block_size = 128;
  INFO("argmin_of_parts<<<1, " << block_size << ">>>, parts = " << parts);
  Places places(1);
  const auto c = course::count([&] {
    check_second_pass(kKinds[mixed].values(parts), course::position_values<std::size_t>(parts),
                      block_size, places);
  });
  REQUIRE(course::work_is_shared(*c, 3 * 2 * parts / block_size + 2));
}

}  // namespace two_pass_argmin_check
