// Check of the exercise last_block_max: many launches in a row, with other grids and other arrays,
// and nobody sets anything between them. The CPU device looks for the fences.
#include "last_block_max.cuh"

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <climits>
#include <course/check.cuh>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace {

using Launch = course::LaunchShape;

enum class Kind { mixed, negative, rising, falling, smallest };
constexpr Kind kKinds[] = {Kind::mixed, Kind::negative, Kind::rising, Kind::falling,
                           Kind::smallest};

std::string to_string(Kind kind) {
  switch (kind) {
    case Kind::mixed:
      return "numbers of both signs";
    case Kind::negative:
      return "all below zero";
    case Kind::rising:
      return "the largest comes last";
    case Kind::falling:
      return "the largest comes first";
    case Kind::smallest:
      return "all INT_MIN";
  }
  return "";
}

std::vector<int> make_values(Kind kind, std::size_t n) {
  const std::vector<int> random = course::position_values<int>(n);
  std::vector<int> x(n);
  for (std::size_t i = 0; i < n; ++i) {
    const int position = static_cast<int>(i);
    switch (kind) {
      case Kind::mixed:
        x[i] = random[i] * 1000 + position % 1000 - 500'000;
        break;
      case Kind::negative:
        x[i] = -2'000'000 - random[i];
        break;
      case Kind::rising:
        x[i] = position - 4'000'000;
        break;
      case Kind::falling:
        x[i] = -3'000'000 - position;
        break;
      case Kind::smallest:
        x[i] = INT_MIN;
        break;
    }
  }
  return x;
}

/// What one launch leaves to the next.
struct Memory {
  explicit Memory(unsigned blocks)
      : parts(blocks), ticket(course::DeviceBuffer<unsigned>::zeros(1)), y(1) {}
  course::GuardedBuffer<int> parts;
  course::DeviceBuffer<unsigned> ticket;
  course::GuardedBuffer<int> y;
};

std::string describe(std::size_t n, Launch launch, const std::string& text) {
  return "n = " + std::to_string(n) + ": " + text + "; last_block_max<<<" +
         std::to_string(launch.grid) + ", " + std::to_string(launch.block) + ">>>";
}

/// One launch; the ticket and *y are left to it as they are.
void check_launch(const std::vector<int>& values, Launch launch, Memory& memory) {
  // Reports call memory by the launch's arguments: these have the learner's names.
  const auto x = course::DeviceBuffer<int>::from(values);
  int* const parts = memory.parts.data();
  unsigned* const ticket = memory.ticket.data();
  int* const y = memory.y.data();
  last_block_max<<<launch.grid, launch.block>>>(x.data(), values.size(), parts, ticket, y);
  CUDA_CHECK_LAUNCH();
  const int expected = values.empty() ? INT_MIN : *std::max_element(values.begin(), values.end());
  REQUIRE(course::same(memory.y.download().front(), expected, "y"));
  REQUIRE(course::same(memory.ticket.front(), 0u, "ticket after the launch"));
  REQUIRE(memory.parts.intact("parts"));
  REQUIRE(memory.y.intact("y"));
}

course::Verdict at_most(std::uint64_t found, std::uint64_t most, const std::string& what,
                        const std::string& hint) {
  if (found <= most) return {};
  return {false, what + ": expected at most " + std::to_string(most) + ", found " +
                     std::to_string(found) + "; " + hint};
}

}  // namespace

TEST_CASE("last_block_max: one launch at every size") {
  constexpr Launch kLaunches[] = {{1, 32}, {3, 64}, {8, 64}, {2, 1024}, {5, 128}, {40, 32}};
  std::size_t turn = 0;  // another launch each time
  for (const std::size_t n : course::kSizes) {
    for (const Kind kind : kKinds) {
      const Launch launch = kLaunches[turn++ % std::size(kLaunches)];
      INFO(describe(n, launch, to_string(kind)));
      Memory memory(launch.grid);
      check_launch(make_values(kind, n), launch, memory);
    }
  }
}

TEST_CASE("last_block_max: launches in a row, each with another grid, and nothing is set between") {
  constexpr int kRepeats = course::kCpuDevice ? 1 : 50;
  Memory memory(200);
  for (int repeat = 0; repeat < kRepeats; ++repeat) {
    // The maxima fall: what an earlier launch left in *y, or in parts, is larger than what is
    // right.
    const struct {
      Kind kind;
      std::size_t n;
      Launch launch;
    } launches[] = {
        {Kind::mixed, 5000, {200, 32}},   {Kind::negative, 1025, {7, 64}},
        {Kind::negative, 33, {1, 32}},    {Kind::falling, 1023, {16, 64}},
        {Kind::falling, 257, {40, 64}},   {Kind::rising, 1025, {9, 128}},
        {Kind::smallest, 257, {3, 1024}}, {Kind::smallest, 0, {5, 32}},
        {Kind::smallest, 0, {1, 256}},    {Kind::rising, 255, {2, 32}},
    };
    std::string before = "the first launch";
    for (const auto& [kind, n, launch] : launches) {
      INFO(describe(n, launch, to_string(kind)) << "; " << before);
      check_launch(make_values(kind, n), launch, memory);
      before = "after a launch of " + std::to_string(launch.grid) + " blocks";
    }
  }
}

TEST_CASE("last_block_max: more blocks than threads: every part counts") {
  for (const Launch launch : {Launch{33, 32}, Launch{70, 32}, Launch{100, 64}}) {
    const std::size_t n = std::size_t{launch.grid} * launch.block;
    Memory memory(launch.grid);
    for (unsigned b = 0; b < launch.grid; b += b < 2 ? 1 : 31) {
      std::vector<int> x(n, -7);
      x[b * launch.block + b % launch.block] = static_cast<int>(b);
      INFO(describe(n, launch, "the largest belongs to block " + std::to_string(b)));
      check_launch(x, launch, memory);
    }
    INFO(describe(n, launch, to_string(Kind::rising)));
    check_launch(make_values(Kind::rising, n), launch, memory);
  }
}

TEST_CASE("last_block_max: a large array") {
  constexpr int kRepeats = course::kCpuDevice ? 1 : 50;  // a missing barrier may not show at once
  const std::size_t n = course::kBigSize;
  Memory memory(course::kCpuDevice ? 12 : 1000);
  for (int repeat = 0; repeat < kRepeats; ++repeat) {
    for (const Kind kind : {Kind::mixed, Kind::rising, Kind::falling}) {
      const Launch launch{static_cast<unsigned>(memory.parts.size()), 256};
      INFO(describe(n, launch, to_string(kind)));
      check_launch(make_values(kind, n), launch, memory);
    }
  }
}

TEST_CASE("last_block_max: indices need 64 bits") {
  constexpr std::size_t n = (std::size_t{1} << 31) + 300;
  course::skip_without_memory(n * sizeof(int));
  course::DeviceBuffer<int> x(n);
  x.fill_bytes(0xFF);  // -1
  const int largest = 5;
  CUDA_CHECK(cudaMemcpy(x.data() + n - 1, &largest, sizeof largest, cudaMemcpyHostToDevice));
  Memory memory(1056);
  INFO("n = 2^31 + 300: the largest comes last; last_block_max<<<1056, 256>>>");
  last_block_max<<<1056, 256>>>(x.data(), n, memory.parts.data(), memory.ticket.data(),
                                memory.y.data());
  CUDA_CHECK_LAUNCH();
  REQUIRE(course::same(memory.y.download().front(), largest, "y"));
}

TEST_CASE("last_block_max: one atomic a block, and the threads share the work") {
  course::skip_without_counters();
  const std::size_t n = 4096;
  Memory memory(32);
  for (const Launch launch : {Launch{32, 128}, Launch{8, 64}, Launch{1, 256}, Launch{2, 1024}}) {
    INFO(describe(n, launch, to_string(Kind::mixed)));
    const std::vector<int> x = make_values(Kind::mixed, n);
    const auto c = course::count([&] { check_launch(x, launch, memory); });
    REQUIRE(course::same(c->launches, 1, "launches"));
    REQUIRE(at_most(c->global_atomic_lanes, launch.grid + 1, "atomics on global memory",
                    "only the ticket is drawn with one, by one thread of each block"));
    // A number may be compared more than once, and be read again for that.
    REQUIRE(at_most(c->global_loads, 3 * (n + launch.grid) / 32 + 8,
                    "loads by the warps of the whole grid",
                    "32 neighbours are read with one load, and only the last block reads parts"));
    const std::uint64_t rounds = n / (launch.grid * launch.block);
    REQUIRE(course::work_is_shared(*c, 3 * rounds + 3 + 3));  // x; one part; part, y and ticket
  }
}
