// Check of the exercise block_max: blocks of every kind of size, the largest number at every index,
// NaN and infinities, blocks without elements, and what a tree may cost.
#include "block_max.cuh"

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <course/check.cuh>
#include <course/verdict.cuh>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <limits>
#include <set>
#include <string>
#include <vector>

namespace block_max_check {

using Launch = course::LaunchShape;

// ---- data, and the right maxima -----------------------------------------------------------------

constexpr float kInfinity = std::numeric_limits<float>::infinity();
const float kNan = std::numeric_limits<float>::quiet_NaN();

/// Some kinds are used by name: their indices.
enum Kind {
  mixed,
  negative,
  some_nan,
  nan_first,
  infinite,
  lowest,
  both_infinities,
  all_nan,
  kKinds
};

course::DataKind<float> data(unsigned kind, unsigned block) {
  using E = course::Element;
  const course::DataKind<float> kinds[kKinds] = {
      {"numbers of both signs", [](E e) { return e.random - 900.0f; }},
      {"all below zero", [](E e) { return -1e-3f * e.random; }},
      {"every third is NaN",
       [](E e) { return e.i % 3 == 1 ? course::any_nan(e.i / 3) : e.random - 900.0f; }},
      {"NaN comes first in every block, numbers after it",
       [block](E e) {
         return e.i % block < (block + 1) / 2 ? course::any_nan(e.i) : -1.0f * e.random;
       }},
      {"mostly -infinity, and numbers far below zero",
       [](E e) { return e.random % 7 == 0 ? -3e38f - e.random * 1e32f : -kInfinity; }},
      {"the lowest float, -infinity and NaN",
       [](E e) {
         return e.random % 5 == 0 ? std::numeric_limits<float>::lowest()
                : e.i % 2 == 0    ? -kInfinity
                                  : course::any_nan(e.i);
       }},
      {"infinities of both signs, NaN, and numbers",
       [](E e) {
         if (e.random % 9 == 0) return kInfinity;
         if (e.random % 3 == 0) return course::any_nan(e.i);
         return e.i % 2 ? 1.0f * e.random : -kInfinity;
       }},
      {"all are NaN, of both signs", [](E e) { return course::any_nan(e.i); }}};
  return kinds[kind];
}

std::vector<float> reference(const std::vector<float>& x, Launch launch) {
  std::vector<float> maxima(launch.grid, -kInfinity);
  for (std::size_t i = 0; i < x.size(); ++i) {
    float& largest = maxima[i / launch.block % launch.grid];
    if (x[i] > largest) largest = x[i];  // false for NaN
  }
  return maxima;
}

/// What block b's maximum is computed from: "x[417] = 3, the largest of its 12 elements".
std::string largest_element(const std::vector<float>& x, std::size_t b, Launch launch) {
  std::size_t count = 0, numbers = 0, where = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    if (i / launch.block % launch.grid != b) continue;
    ++count;
    if (std::isnan(x[i])) continue;
    if (numbers++ == 0 || x[i] > x[where]) where = i;
  }
  if (count == 0) return "no element at all";
  const std::string all = count == 1 ? "its only element" : std::to_string(count) + " elements";
  if (numbers == 0) return all + ", NaN" + (count == 1 ? "" : " all of them");
  const std::string largest = course::elements_text("x", x, where, where + 1);
  return largest + (count == 1 ? ", " : ", the largest of ") + all;
}

// ---- launches -----------------------------------------------------------------------------------

/// One thread, one warp, a full block; powers of two, their neighbours, and numbers far from them.
constexpr unsigned kBlockSizes[] = {1,  2,  3,   5,   6,   7,   9,   31,  32,  33,  63,   65,
                                    96, 97, 100, 127, 129, 192, 255, 257, 384, 640, 1000, 1024};

std::string case_text(std::size_t n, const std::string& text, Launch launch) {
  return course::case_text(n, text, "block_max", launch, launch.block * sizeof(float));
}

/// Launches the kernel on d_x[0..n-1], and checks every block's maximum.
template <class Inputs = const char*>
void check_launch(const float* x, std::size_t n, const std::vector<float>& expected, Launch launch,
                  Inputs inputs = "") {
  course::GuardedBuffer<float> maxima(launch.grid);
  course::launch(block_max, {launch.grid, launch.block, launch.block * sizeof(float)}, x, n,
                 maxima.data());
  REQUIRE(course::same(maxima.download(), expected, "maxima", inputs));
  REQUIRE(maxima.intact("maxima"));
}

/// The array begins `offset` floats past a multiple of 64 bytes.
void check_launch(const std::vector<float>& values, Launch launch, std::size_t offset = 0) {
  const course::Placed<float> x(values, offset);
  check_launch(x.data(), x.size(), reference(values, launch), launch,
               [&](std::size_t b) { return largest_element(values, b, launch); });
}

/// The same with a case's text around it.
void check_kind(unsigned kind, std::size_t n, Launch launch) {
  const course::DataKind<float> values = data(kind, launch.block);
  INFO(case_text(n, values.text, launch));
  check_launch(values.values(n), launch);
}

const course::DataKind<float> kRising{"each larger than the one before",
                                      [](course::Element e) { return 1.0f * e.i; }};

/// The last two blocks of a grid that has one thread for each of more than 2^32 elements.
void check_end() {
  const std::vector<float> values = kRising.values(course::kLastItems);
  const auto x = course::DeviceBuffer<float>::from(values);
  course::GuardedBuffer<float> maxima(2);
  INFO(case_text(course::kHugeItems, kRising.text, course::kHugeGrid));
  course::at_end_of_huge_grid([&](Launch grid, std::size_t items) {
    const float* const first = x.data() - (items - course::kLastItems);
    float* const first_maximum = maxima.data() - (grid.grid - 2);
    course::launch(block_max, {grid.grid, grid.block, grid.block * sizeof(float)}, first, items,
                   first_maximum);
    REQUIRE(course::same(maxima.download(), {values[31], values[63]}, "(maxima + 134217727)"));
  });
}

/// ceil(log2(threads))
std::uint64_t levels(unsigned threads) {
  std::uint64_t result = 0;
  while ((1u << result) < threads) ++result;
  return result;
}

// Promise: blockDim.x is any number from 1 to 1024.
// Promise: blockDim.x floats of dynamic shared memory are enough (OUT OF BOUNDS in every test case).
// Promise: NaN is never the largest (every third one, the first ones of every block, and those
// among infinities).
// Promise: a block whose elements are all NaN writes -INFINITY.
TEST_CASE("block_max: every size of a block, one element per thread") {
  for (const unsigned block : kBlockSizes) {
    const Launch launch{2, block};
    for (unsigned kind = 0; kind < kKinds; ++kind) {
      if (block > 200 && kind != mixed && kind != both_infinities) continue;
      check_kind(kind, 2 * std::size_t{block}, launch);
    }
  }
}

// Promise: blockDim.x is any number from 1 to 1024, every one of them (other ones under each schedule).
TEST_CASE("block_max: blocks of every number of threads") {
  for (unsigned block = 1 + course::seed() % 4; block <= 1024; block += 4) {
    check_kind(mixed, block, {1, block});
  }
}

// Promise: every element of a small block counts, whatever the size of the block.
TEST_CASE("block_max: the largest number in every place of a small block") {
  for (const unsigned block : {1u, 2u, 3u, 5u, 6u, 7u, 9u, 11u, 13u, 21u, 31u, 33u, 37u}) {
    const Launch launch{block, block};  // in block b it has the index b
    const std::size_t n = std::size_t{block} * block;
    std::vector<float> x = data(negative, block).values(n);
    for (unsigned b = 0; b < block; ++b) x[b * (block + 1)] = static_cast<float>(b);
    INFO(case_text(n, "the largest of block b is number b of its elements", launch));
    check_launch(x, launch);
  }
}

// Promise: every element of a large block counts, also where the size is no power of two.
TEST_CASE("block_max: the largest number in the awkward places of a large block") {
  for (const unsigned block : {96u, 100u, 127u, 129u, 321u, 600u, 1024u}) {
    std::set<unsigned> awkward = {0, 1, 2, block / 2 - 1, block / 2, block / 2 + 1, block - 1};
    for (unsigned odd = block; odd > 1; odd = (odd + 1) / 2) awkward.insert((odd + 1) / 2 - 1);
    for (unsigned power = 32; power < block; power *= 2) awkward.insert(power);
    const std::vector<unsigned> places(awkward.begin(), awkward.end());
    const Launch launch{static_cast<unsigned>(places.size()), block};
    const std::size_t n = std::size_t{launch.grid} * block;
    std::vector<float> x(n, -5.0f);
    for (unsigned b = 0; b < launch.grid; ++b) {
      x[b * block + places[b]] = static_cast<float>(1 + places[b]);
    }
    INFO(case_text(n, "one number above all others, at a different index of every block", launch));
    check_launch(x, launch);
  }
}

// Promise: n may be 0, and a block without elements writes -INFINITY.
TEST_CASE("block_max: more or fewer elements than threads, and none") {
  std::size_t turn = 0;  // another size each time
  for (const std::size_t n : course::kSizes) {
    for (const unsigned grid : {1u, 3u, 8u}) {
      const Launch launch{grid, kBlockSizes[turn++ * 5 % std::size(kBlockSizes)]};
      check_kind(turn % kKinds, n, launch);
    }
  }
}

// Promise: maxima[b] is the largest of the elements that belong to block b in a grid-stride loop
// (another block has a larger one in all kinds of data).
TEST_CASE("block_max: a thread takes many elements, and the last blocks none") {
  const std::size_t n = course::kBigSize;
  for (const Launch launch : {Launch{1, 96}, Launch{3, 100}, Launch{7, 257}}) {
    check_kind(mixed, n, launch);
    check_kind(some_nan, n, launch);
  }
  for (const Launch launch : {Launch{40, 33}, Launch{1000, 3}, Launch{5, 1000}}) {
    check_kind(negative, 257, launch);
  }
}

// Promise: x is any array of floats (nothing is said of where it begins).
TEST_CASE("block_max: an array that does not begin at a multiple of 16 bytes") {
  const Launch launch{5, 100};
  for (const std::size_t begin : {1, 2, 3}) {
    const course::DataKind<float> values = data(mixed, 7);
    INFO(case_text(1025 - begin, values.text, launch) << ", from element " << begin);
    check_launch(values.values(1025 - begin), launch, begin);
  }
}

// Promise: maxima are right in every run: no thread reads what another one may still write (DATA
// RACE in every test case).
TEST_CASE("block_max: the maximum of the maxima is that of the array") {
  constexpr int kRepeats = course::kCpuDevice ? 1 : 50;  // a missing barrier may not show at once
  const std::size_t n = course::kBigSize;
  const course::DataKind<float> kind = data(negative, 96);
  const std::vector<float> values = kind.values(n);
  const auto d_x = course::DeviceBuffer<float>::from(values);
  const Launch first{13, 224}, second{1, 7};
  INFO(case_text(n, kind.text, first) << ", then one block of 7 on the maxima");
  for (int repeat = 0; repeat < kRepeats; ++repeat) {
    course::GuardedBuffer<float> maxima(first.grid);
    course::launch(block_max, {first.grid, first.block, first.block * sizeof(float)}, d_x.data(), n,
                   maxima.data());
    check_launch(maxima.data(), first.grid, {*std::max_element(values.begin(), values.end())},
                 second);
  }
}

// Promise: gridDim.x is any number.
TEST_CASE("block_max: more than 65,535 blocks") { check_kind(mixed, 65'700, {65'600, 1}); }

// Promise: a grid may have more than 2^32 threads, and n may be more than 2^32 (the CPU device runs the
// last two blocks, which have the last elements).
TEST_CASE("block_max: more than 2^32 threads, and more than 2^32 elements") {
  if (course::kCpuDevice) return check_end();
  constexpr std::size_t n = (std::size_t{1} << 32) + 300;
  course::skip_without_memory(n * sizeof(float));
  {  // A stride in 32 bits would be 1024: the first blocks would take all elements.
    const Launch launch{(1u << 22) + 1, 1024};
    INFO(case_text(5000, kRising.text, launch));
    check_launch(kRising.values(5000), launch);
  }
  auto x = course::DeviceBuffer<float>::zeros(n);
  const float largest = 5.0f;
  CUDA_CHECK(cudaMemcpy(x.data() + n - 1, &largest, sizeof largest, cudaMemcpyHostToDevice));
  const Launch launch{1000, 96};
  std::vector<float> expected(launch.grid, 0.0f);
  expected[(n - 1) / launch.block % launch.grid] = largest;
  INFO(case_text(n, "the largest comes last", launch));
  check_launch(x.data(), n, expected, launch);
}

// Promise: it is a tree: at most ceil(log2(blockDim.x)) + 2 barriers per block, no atomics, and no
// thread reads all of the shared memory.
// Promise: each thread loads its own elements (lanes that load).
TEST_CASE("block_max: the lanes of a warp go in step, and no level is too many") {
  course::skip_without_counters();
  for (const unsigned block : {1u, 7u, 33u, 96u, 257u, 1000u, 1024u}) {
    const Launch launch{2, block};
    constexpr std::uint64_t kRounds = 3;  // elements of a thread
    const std::size_t n = kRounds * launch.grid * block;
    const course::DataKind<float> values = data(mixed, block);
    INFO(case_text(n, values.text, launch));
    const auto c = course::count([&] { check_launch(values.values(n), launch); });
    const std::uint64_t depth = levels(block), warps = (block + 31) / 32;
    REQUIRE(course::at_most((c->barriers + launch.grid - 1) / launch.grid, depth + 2,
                            "barriers of a block", "each level of a tree needs one"));
    // Every order of the levels may be right: neighbours first keeps all warps busy for five.
    REQUIRE(course::at_most(
        c->shared_loads, launch.grid * (15 * warps + 6 * depth + 4),
        "loads of shared memory by the warps of the whole grid",
        "in a tree, a thread reads two numbers per level, and ever fewer threads do"));
    // An element may be compared more than once, and be read again for that.
    REQUIRE(course::at_most(c->global_loads, 4 * kRounds * launch.grid * warps,
                            "loads of x by the warps of the grid",
                            "a warp reads 32 neighbours with one load"));
    REQUIRE(course::work_is_shared(*c, 4 * kRounds + 1));
    if (block == 1024) {
      REQUIRE(course::at_least(c->global_load_lanes, 20 * c->global_loads, "lanes that load x",
                               "each thread loads its own elements"));
    }
    REQUIRE(course::none(c->global_atomic_lanes + c->shared_atomic_lanes, "atomics",
                         "each block writes its own element of maxima"));
  }
}

}  // namespace block_max_check
