// Check of the exercise block_max: blocks of every kind of size, the largest number in every place,
// NaN and infinities, blocks without elements, and what a tree may cost.
#include "block_max.cuh"

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <course/check.cuh>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <set>
#include <string>
#include <vector>

namespace {

using Launch = course::LaunchShape;

constexpr float kInfinity = std::numeric_limits<float>::infinity();
const float kNan = std::numeric_limits<float>::quiet_NaN();

/// One thread, one warp, a full block; powers of two, their neighbours, and numbers far from them.
constexpr unsigned kBlockSizes[] = {1,  2,  3,   5,   6,   7,   9,   31,  32,  33,  63,   65,
                                    96, 97, 100, 127, 129, 192, 255, 257, 384, 640, 1000, 1024};

enum class Kind { mixed, negative, some_nan, nan_first, infinite, both_infinities, all_nan };
constexpr Kind kKinds[] = {Kind::mixed,    Kind::negative,        Kind::some_nan, Kind::nan_first,
                           Kind::infinite, Kind::both_infinities, Kind::all_nan};

std::string to_string(Kind kind) {
  switch (kind) {
    case Kind::mixed:
      return "numbers of both signs";
    case Kind::negative:
      return "all below zero";
    case Kind::some_nan:
      return "every third is NaN";
    case Kind::nan_first:
      return "NaN comes first in every block, numbers behind it";
    case Kind::infinite:
      return "mostly -infinity, and numbers far below zero";
    case Kind::both_infinities:
      return "infinities of both signs, NaN, and numbers";
    case Kind::all_nan:
      return "all are NaN, of both signs";
  }
  return "";
}

std::vector<float> make_values(Kind kind, std::size_t n, unsigned block) {
  const std::vector<int> random = course::position_values<int>(n);
  std::vector<float> x(n);
  for (std::size_t i = 0; i < n; ++i) {
    const auto r = static_cast<float>(random[i]);
    switch (kind) {
      case Kind::mixed:
        x[i] = r - 900.0f;
        break;
      case Kind::negative:
        x[i] = -1e-3f * r;
        break;
      case Kind::some_nan:
        x[i] = i % 3 == 1 ? kNan : r - 900.0f;
        break;
      case Kind::nan_first:
        x[i] = i % block < (block + 1) / 2 ? kNan : -r;
        break;
      case Kind::infinite:
        x[i] = random[i] % 7 == 0 ? -3e38f - r * 1e32f : -kInfinity;
        break;
      case Kind::both_infinities:
        x[i] = random[i] % 9 == 0 ? kInfinity : random[i] % 3 == 0 ? kNan : i % 2 ? r : -kInfinity;
        break;
      case Kind::all_nan:
        x[i] = i % 2 == 0 ? kNan : -kNan;
        break;
    }
  }
  return x;
}

std::vector<float> reference(const std::vector<float>& x, Launch launch) {
  std::vector<float> maxima(launch.grid, -kInfinity);
  for (std::size_t i = 0; i < x.size(); ++i) {
    float& largest = maxima[i / launch.block % launch.grid];
    if (x[i] > largest) largest = x[i];  // false for NaN
  }
  return maxima;
}

/// Launches the kernel, and checks every block's maximum.
void check_launch(const course::DeviceBuffer<float>& values, const std::vector<float>& expected,
                  std::size_t n, Launch launch) {
  course::GuardedBuffer<float> maxima(launch.grid);
  const float* const x = values.data();
  block_max<<<launch.grid, launch.block, launch.block * sizeof(float)>>>(x, n, maxima.data());
  CUDA_CHECK_LAUNCH();
  REQUIRE(course::same(maxima.download(), expected, "maxima"));
  REQUIRE(maxima.intact("maxima"));
}

void check_launch(const std::vector<float>& x, Launch launch) {
  check_launch(course::DeviceBuffer<float>::from(x), reference(x, launch), x.size(), launch);
}

std::string describe(std::size_t n, Launch launch, const std::string& text) {
  const std::string grid = std::to_string(launch.grid), block = std::to_string(launch.block);
  return "n = " + std::to_string(n) + ": " + text + "; block_max<<<" + grid + ", " + block + ", " +
         std::to_string(launch.block * sizeof(float)) + ">>>";
}

/// ceil(log2(threads))
std::uint64_t levels(unsigned threads) {
  std::uint64_t result = 0;
  while ((1u << result) < threads) ++result;
  return result;
}

course::Verdict at_most(std::uint64_t found, std::uint64_t most, const std::string& what,
                        const std::string& hint) {
  if (found <= most) return {};
  return {false, what + ": expected at most " + std::to_string(most) + ", found " +
                     std::to_string(found) + "; " + hint};
}

}  // namespace

TEST_CASE("block_max: every size of a block, one element a thread") {
  for (const unsigned block : kBlockSizes) {
    const Launch launch{2, block};
    for (const Kind kind : kKinds) {
      if (block > 200 && kind != Kind::mixed && kind != Kind::both_infinities) continue;
      const std::size_t n = 2 * std::size_t{block};
      INFO(describe(n, launch, to_string(kind)));
      check_launch(make_values(kind, n, block), launch);
    }
  }
}

TEST_CASE("block_max: the largest number in every place of a small block") {
  for (const unsigned block : {1u, 2u, 3u, 5u, 6u, 7u, 9u, 11u, 13u, 21u, 31u, 33u, 37u}) {
    const Launch launch{block, block};  // in block b it stands in place b
    const std::size_t n = std::size_t{block} * block;
    std::vector<float> x = make_values(Kind::negative, n, block);
    for (unsigned b = 0; b < block; ++b) x[b * (block + 1)] = static_cast<float>(b);
    INFO(describe(n, launch, "the largest of block b is number b of its elements"));
    check_launch(x, launch);
  }
}

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
    INFO(describe(n, launch, "one number above all others, in a different place of every block"));
    check_launch(x, launch);
  }
}

TEST_CASE("block_max: more or fewer elements than threads, and none") {
  std::size_t turn = 0;  // another size each time
  for (const std::size_t n : course::kSizes) {
    for (const unsigned grid : {1u, 3u, 8u}) {
      const Launch launch{grid, kBlockSizes[turn++ * 5 % std::size(kBlockSizes)]};
      const Kind kind = kKinds[turn % std::size(kKinds)];
      INFO(describe(n, launch, to_string(kind)));
      check_launch(make_values(kind, n, launch.block), launch);
    }
  }
}

TEST_CASE("block_max: a thread takes many elements, and the last blocks none") {
  const std::size_t n = course::kBigSize;
  for (const Launch launch : {Launch{1, 96}, Launch{3, 100}, Launch{7, 257}}) {
    for (const Kind kind : {Kind::mixed, Kind::some_nan}) {
      INFO(describe(n, launch, to_string(kind)));
      check_launch(make_values(kind, n, launch.block), launch);
    }
  }
  for (const Launch launch : {Launch{40, 33}, Launch{1000, 3}, Launch{5, 1000}}) {
    INFO(describe(257, launch, to_string(Kind::negative)));
    check_launch(make_values(Kind::negative, 257, launch.block), launch);
  }
}

TEST_CASE("block_max: an array that does not begin at a multiple of 16 bytes") {
  const std::vector<float> all = make_values(Kind::mixed, 1025, 7);
  const auto d_all = course::DeviceBuffer<float>::from(all);
  for (const std::size_t begin : {1, 2, 3}) {
    const std::vector<float> x(all.begin() + static_cast<std::ptrdiff_t>(begin), all.end());
    const Launch launch{5, 100};
    INFO(describe(x.size(), launch, to_string(Kind::mixed)) << ", from element " << begin);
    course::GuardedBuffer<float> maxima(launch.grid);
    const float* const shifted = d_all.data() + begin;
    block_max<<<launch.grid, launch.block, launch.block * sizeof(float)>>>(shifted, x.size(),
                                                                           maxima.data());
    CUDA_CHECK_LAUNCH();
    REQUIRE(course::same(maxima.download(), reference(x, launch), "maxima"));
  }
}

TEST_CASE("block_max: the maximum of the maxima is that of the array") {
  constexpr int kRepeats = course::kCpuDevice ? 1 : 50;  // a missing barrier may not show at once
  const std::size_t n = course::kBigSize;
  const std::vector<float> x = make_values(Kind::negative, n, 96);
  const auto d_x = course::DeviceBuffer<float>::from(x);
  for (int repeat = 0; repeat < kRepeats; ++repeat) {
    const Launch first{13, 224}, second{1, 7};
    INFO(describe(n, first, to_string(Kind::negative)) << ", then one block of 7 on the maxima");
    course::GuardedBuffer<float> maxima(first.grid), y(1);
    block_max<<<first.grid, first.block, first.block * sizeof(float)>>>(d_x.data(), n,
                                                                        maxima.data());
    CUDA_CHECK_LAUNCH();
    block_max<<<second.grid, second.block, second.block * sizeof(float)>>>(maxima.data(),
                                                                           first.grid, y.data());
    CUDA_CHECK_LAUNCH();
    REQUIRE(course::same(y.download().front(), *std::max_element(x.begin(), x.end()), "y"));
  }
}

TEST_CASE("block_max: indices need 64 bits") {
  constexpr std::size_t n = (std::size_t{1} << 31) + 300;
  course::skip_without_memory(n * sizeof(float));
  auto x = course::DeviceBuffer<float>::zeros(n);
  const float largest = 5.0f;
  CUDA_CHECK(cudaMemcpy(x.data() + n - 1, &largest, sizeof largest, cudaMemcpyHostToDevice));
  const Launch launch{1000, 96};
  std::vector<float> expected(launch.grid, 0.0f);
  expected[(n - 1) / launch.block % launch.grid] = largest;
  INFO(describe(n, launch, "the largest comes last"));
  check_launch(x, expected, n, launch);
}

TEST_CASE("block_max: the lanes of a warp go in step, and no level is too many") {
  course::skip_without_counters();
  for (const unsigned block : {1u, 7u, 33u, 96u, 257u, 1000u, 1024u}) {
    const Launch launch{2, block};
    constexpr std::uint64_t kRounds = 3;  // elements of a thread
    const std::size_t n = kRounds * launch.grid * block;
    INFO(describe(n, launch, to_string(Kind::mixed)));
    const std::vector<float> x = make_values(Kind::mixed, n, block);
    const auto c = course::count([&] { check_launch(x, launch); });
    const std::uint64_t depth = levels(block), warps = (block + 31) / 32;
    REQUIRE(at_most(c->barriers, launch.grid * (depth + 2), "barriers of the whole grid",
                    "each level of a tree needs one"));
    // Every order of the levels may be right: neighbours first keeps all warps busy for five.
    REQUIRE(at_most(c->shared_loads, launch.grid * (15 * warps + 6 * depth + 4),
                    "loads of shared memory by the warps of the whole grid",
                    "in a tree a thread reads two numbers a level, and ever fewer threads do"));
    // An element may be compared more than once, and be read again for that.
    REQUIRE(at_most(c->global_loads, 3 * kRounds * launch.grid * warps,
                    "loads of x by the warps of the grid",
                    "a warp reads 32 neighbours with one load"));
    REQUIRE(course::work_is_shared(*c, 3 * kRounds + 1));
    REQUIRE(at_most(c->global_atomic_lanes + c->shared_atomic_lanes, 0, "atomics",
                    "every block has a place of its own"));
  }
}
