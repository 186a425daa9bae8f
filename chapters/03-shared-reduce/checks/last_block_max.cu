// Check of the exercise last_block_max: many launches in a row, with other grids and other arrays,
// and nothing is set between them. The CPU device looks for the fences.
#include "last_block_max.cuh"

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <climits>
#include <course/check.cuh>
#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>
#include <vector>

namespace last_block_max_check {

static_assert(
    std::is_same_v<decltype(last_block_max), void(const int*, std::size_t, int*, unsigned*, int*)>,
    "last_block_max has to keep its parameters: n is a std::size_t, and may be more than 2^32");

using Launch = course::LaunchShape;

/// Some kinds are used by name: their indices.
enum Kind { mixed, negative, rising, falling, smallest };
const course::DataKind<int> kKinds[] = {
    {"numbers of both signs",
     [](course::Element e) { return e.random * 1000 + static_cast<int>(e.i % 1000) - 500'000; }},
    {"all below zero", [](course::Element e) { return -2'000'000 - e.random; }},
    {"the largest comes last", [](course::Element e) { return static_cast<int>(e.i) - 4'000'000; }},
    {"the largest comes first",
     [](course::Element e) { return -3'000'000 - static_cast<int>(e.i); }},
    {"all INT_MIN", [](course::Element) { return INT_MIN; }}};

/// What one launch leaves to the next.
struct Memory {
  explicit Memory(unsigned blocks)
      : parts(blocks), ticket(course::DeviceBuffer<unsigned>::zeros(1)), y(1) {}
  course::GuardedBuffer<int> parts;
  course::DeviceBuffer<unsigned> ticket;
  course::GuardedBuffer<int> y;
};

std::string case_text(std::size_t n, const std::string& text, Launch launch) {
  return course::case_text(n, text, "last_block_max", launch);
}

/// What a message says of a wrong maximum: "The largest is x[33] = 7, of block 1."
std::string largest_of(const std::vector<int>& x, std::size_t place, Launch launch) {
  if (x.empty()) return "";
  return "The largest is " + course::elements_text("x", x, place, place + 1) + ", of block " +
         std::to_string(place / launch.block % launch.grid) + " in a grid-stride loop.";
}

/// One launch; the ticket and *y are left to it as they are.
void check_launch(const std::vector<int>& values, Launch launch, Memory& memory) {
  // Reports call memory by the launch's arguments: these have the learner's names.
  const auto x = course::DeviceBuffer<int>::from(values);
  int* const parts = memory.parts.data();
  unsigned* const ticket = memory.ticket.data();
  int* const y = memory.y.data();
  course::launch(last_block_max, {launch.grid, launch.block}, x.data(), values.size(), parts,
                 ticket, y);
  const auto place = std::max_element(values.begin(), values.end());
  const int expected = values.empty() ? INT_MIN : *place;
  REQUIRE(
      course::same(memory.y.download().front(), expected, "y",
                   largest_of(values, static_cast<std::size_t>(place - values.begin()), launch)));
  REQUIRE(course::same(memory.ticket.front(), 0u, "ticket after the launch"));
  REQUIRE(memory.parts.intact("parts"));
  REQUIRE(memory.y.intact("y"));
}

void check_kind(const course::DataKind<int>& kind, std::size_t n, Launch launch, Memory& memory,
                const std::string& before = "") {
  INFO(case_text(n, kind.text, launch) << before);
  check_launch(kind.values(n), launch, memory);
}

// Promise: *y is the largest of x[0..n-1], or INT_MIN if n == 0.
// Promise: the kernel is right for every one-dimensional grid, of one block, too, and for blocks
// of 32 to 1024 threads.
// Promise: no block waits for another one (ENDLESS LOOP in every test case, where the waiting
// block comes first).
// Promise: each launch leaves *ticket at 0 (every test case reads it after the launch).
TEST_CASE("last_block_max: one launch at every size") {
  constexpr Launch kLaunches[] = {{1, 32}, {3, 64}, {8, 64}, {2, 1024}, {5, 128}, {40, 32}};
  std::size_t turn = 0;  // another launch each time
  for (const std::size_t n : course::kSizes) {
    for (const course::DataKind<int>& kind : kKinds) {
      course::in_launch(kLaunches[turn++ % std::size(kLaunches)], [&](Launch launch) {
        Memory memory(launch.grid);
        check_kind(kind, n, launch, memory);
      });
    }
  }
}

// Promise: parts and *y are not initialised (UNINITIALISED MEMORY in every test case), and no host
// code resets the ticket.
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
        {mixed, 5000, {200, 32}},   {negative, 1025, {7, 64}}, {negative, 33, {1, 32}},
        {falling, 1023, {16, 64}},  {falling, 257, {40, 64}},  {rising, 1025, {9, 128}},
        {smallest, 257, {3, 1024}}, {smallest, 0, {5, 32}},    {smallest, 0, {1, 256}},
        {rising, 255, {2, 32}},
    };
    std::string before = "; the first launch";
    for (const auto& [kind, n, launch] : launches) {
      check_kind(kKinds[kind], n, launch, memory, before);
      before = "; after a launch of " + std::to_string(launch.grid) + " blocks";
    }
  }
}

// Promise: each block stores a part, and all parts count, also where there are more of them than
// threads.
TEST_CASE("last_block_max: more blocks than threads: every part counts") {
  for (const Launch launch : {Launch{33, 32}, Launch{70, 32}, Launch{100, 64}}) {
    const std::size_t n = std::size_t{launch.grid} * launch.block;
    Memory memory(launch.grid);
    for (unsigned b = 0; b < launch.grid; b += b < 2 ? 1 : 31) {
      std::vector<int> x(n, -7);
      x[b * launch.block + b % launch.block] = static_cast<int>(b);
      INFO(case_text(n, "the largest belongs to block " + std::to_string(b), launch));
      check_launch(x, launch, memory);
    }
    check_kind(kKinds[rising], n, launch, memory);
  }
}

// Promise: parts are ordered before the ticket, and the ticket before the reads of parts (DATA
// RACE in every test case with several blocks; wrong maxima where the parts are volatile).
TEST_CASE("last_block_max: a large array") {
  constexpr int kRepeats = course::kCpuDevice ? 1 : 50;  // a missing barrier may not show at once
  const std::size_t n = course::kBigSize;
  Memory memory(course::kCpuDevice ? 12 : 1000);
  for (int repeat = 0; repeat < kRepeats; ++repeat) {
    for (const Kind kind : {mixed, rising, falling}) {
      const Launch launch{static_cast<unsigned>(memory.parts.size()), 256};
      check_kind(kKinds[kind], n, launch, memory);
    }
  }
}

/// The parts of the last two blocks of more than 2^32 elements; no block of these is the last one to finish.
void check_end() {
  const std::vector<int> values = kKinds[rising].values(course::kLastItems);
  const course::Placed<int> x(values, 1);
  Memory memory(2);
  INFO(case_text(course::kHugeItems, kKinds[rising].text, course::kHugeGrid));
  course::at_end_of_huge_grid([&](Launch grid, std::size_t items) {
    CUDA_CHECK(cudaMemset(memory.ticket.data(), 0, sizeof(unsigned)));
    const std::size_t before = items - values.size();  // that are not in memory
    course::launch(last_block_max, {grid.grid, grid.block}, x.data() - before, items,
                   memory.parts.data() - (grid.grid - 2), memory.ticket.data(), memory.y.data());
    const std::vector<int> parts = memory.parts.download();
    const bool none_written = parts[0] == -1 && parts[1] == -1;
    REQUIRE(course::same(std::max(parts[0], parts[1]), values.back(),
                         "parts, the larger one of the last two blocks",
                         none_written ? "Both hold the -1 that they held before the launch" : ""));
  });
}

// Promise: n may be more than 2^32 (the CPU device runs the last two blocks of a grid that has a thread for
// each element).
TEST_CASE("last_block_max: more than 2^32 elements") {
  if (course::kCpuDevice) return check_end();
  constexpr std::size_t n = (std::size_t{1} << 32) + 300;
  course::skip_without_memory(n * sizeof(int));
  course::DeviceBuffer<int> x(n);
  x.fill_bytes(0xFF);  // -1
  const int largest = 5;
  CUDA_CHECK(cudaMemcpy(x.data() + n - 1, &largest, sizeof largest, cudaMemcpyHostToDevice));
  Memory memory(1056);
  INFO("n = 2^32 + 300: the largest comes last; last_block_max<<<1056, 256>>>");
  course::launch(last_block_max, {1056, 256}, x.data(), n, memory.parts.data(),
                 memory.ticket.data(), memory.y.data());
  REQUIRE(course::same(memory.y.download().front(), largest, "y"));
}

// Promise: one atomic per block on global memory, and at most one more in the whole launch.
// Promise: all threads share the work of loading x, and all threads of the last block that of
// loading parts (the busiest warp; where n is 0, all loads are those of parts).
TEST_CASE("last_block_max: one atomic per block, and the threads share the work") {
  course::skip_without_counters();
  Memory memory(256);
  const struct {
    std::size_t n;
    Launch launch;
  } cases[] = {{4096, {32, 128}},
               {4096, {8, 64}},
               {4096, {1, 256}},
               {4096, {2, 1024}},
               {0, {256, 128}}};  // of the last one, all loads are those of parts
  for (const auto& [n, launch] : cases) {
    INFO(case_text(n, kKinds[mixed].text, launch));
    const auto c = course::count([&] { check_launch(kKinds[mixed].values(n), launch, memory); });
    REQUIRE(course::same(c->launches, 1, "launches"));
    REQUIRE(course::at_most(c->global_atomic_lanes, launch.grid + 1, "atomics on global memory",
                            "only the ticket is drawn with one, by one thread of each block"));
    // A number may be compared more than once, and be read again for that.
    REQUIRE(course::at_most(
        c->global_loads, 3 * (n + launch.grid) / 32 + 8, "loads by the warps of the whole grid",
        "32 neighbours are read with one load, and only the last block reads parts"));
    const std::uint64_t rounds = n / (launch.grid * launch.block);
    const std::uint64_t parts = (launch.grid + launch.block - 1) / launch.block;  // of a thread
    const std::uint64_t most = 3 * rounds + 3 * parts + 3;  // and part, y and ticket
    const course::Verdict is_shared =
        n > 0 ? course::work_is_shared(*c, most)
              : course::at_most(c->busiest_warp_requests, most,
                                "loads and stores of global memory by the busiest warp",
                                "with n = 0 nothing but parts is loaded, and the threads of the "
                                "last block share that");
    REQUIRE(is_shared);
  }
}

}  // namespace last_block_max_check
