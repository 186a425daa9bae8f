// Check of the exercise pack_copy: every start on both sides, every size around a pack's, what lies
// before and after, every kind of grid; then how many requests it takes, and more than 2^32 bytes.
#include "pack_copy.cuh"

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <course/check.cuh>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace pack_copy_check {

using Launch = course::LaunchShape;
using Bytes = std::vector<unsigned char>;

/// Where the arrays begin: bytes past a multiple of 16.
struct Starts {
  std::size_t from, to;
};

constexpr std::size_t kAfter = 48;       // bytes after the destination that are watched
constexpr unsigned char kAround = 0xA5;  // what they hold, and those before it

/// Ok if the destination, with what is around it, holds the bytes of x and what it held.
course::Verdict copied(const Bytes& all, std::size_t start, const Bytes& x) {
  const auto first = all.begin() + static_cast<std::ptrdiff_t>(start);
  const auto end = first + static_cast<std::ptrdiff_t>(x.size());
  const auto changed = [](unsigned char byte) { return byte != kAround; };
  if (std::any_of(all.begin(), first, changed)) return {false, "a byte before to[0] was written"};
  const auto wrong = std::find_if(end, all.end(), changed);
  if (wrong != all.end()) {
    return {false, "to[" + std::to_string(wrong - first) + "] was written, but n is " +
                       std::to_string(x.size())};
  }
  return course::same(Bytes(first, end), x, "to",
                      [&](std::size_t i) { return course::elements_text("from", x, i, i + 1); });
}

/// The memory before the source was never written, and its allocation ends with it: the CPU device
/// reports reads of it. The destination has watched bytes on both sides; or, as `is_bare`, nothing
/// after it and memory that was never written before it: a read of these is reported, too.
void check_launch(std::size_t n, Starts starts, Launch launch, bool is_bare = false) {
  const Bytes x = course::position_values<unsigned char>(n, static_cast<std::uint32_t>(n + 1));
  const course::Placed<unsigned char> source(x, starts.from);
  const unsigned char* const from = source.data();
  if (is_bare) {
    course::Placed<unsigned char> bare(Bytes(n, kAround), starts.to);
    unsigned char* const to = bare.data();
    course::launch(pack_copy, {launch.grid, launch.block}, from, n, to);
    REQUIRE(copied(bare.download(), 0, x));
    REQUIRE(bare.intact("to"));
    return;
  }
  course::DeviceBuffer<unsigned char> target(starts.to + n + kAfter);
  target.fill_bytes(kAround);
  unsigned char* const to = target.data() + starts.to;
  course::launch(pack_copy, {launch.grid, launch.block}, from, n, to);
  REQUIRE(copied(target.download(), starts.to, x));
}

std::string describe(std::size_t n, Starts starts, Launch launch) {
  return "n = " + std::to_string(n) + " bytes; " + course::launch_text("pack_copy", launch) +
         "; from % 16 = " + std::to_string(starts.from) +
         ", to % 16 = " + std::to_string(starts.to) +
         (starts.from == starts.to ? "" : ": never both at a multiple of 16");
}

/// The last bytes of 16 for each of more than 2^32 threads.
void check_end() {
  constexpr std::size_t kAll = 16 * course::kHugeItems, kThere = 16 * course::kLastItems;
  const Bytes x = course::position_values<unsigned char>(kThere);
  const auto source = course::DeviceBuffer<unsigned char>::from(x);
  auto target = course::DeviceBuffer<unsigned char>::zeros(kThere);
  INFO(describe(kAll, {0, 0}, course::kHugeGrid));
  course::at_end_of_huge_grid([&](Launch grid, std::size_t items) {
    const std::size_t n = 16 * items;
    const unsigned char* const from = source.data() - (n - kThere);
    unsigned char* const to = target.data() - (n - kThere);
    const auto c = course::count([&] {
      course::launch(pack_copy, {grid.grid, grid.block}, from, n, to);
    });
    REQUIRE(course::same(target.download(), x, "(to + " + std::to_string(kAll - kThere) + ")"));
    REQUIRE(course::at_most(c->global_store_lanes, course::kLastItems,
                            "stores by the threads of the last two blocks",
                            "one for each 16 bytes"));
  });
}

/// The bytes of either end go alone, with a request of their own; and the packs need not begin with
/// a warp, nor end with one.
constexpr std::uint64_t kEnds = 4;
constexpr const char* kNoAtomics = "plain loads and stores will do";

// Promise: to[i] = from[i] for i < n, from any address to any address.
// Promise: no byte before or after the n bytes is read or written, on either side (UNINITIALISED
// MEMORY and OUT OF BOUNDS where nothing was written around them, else watched bytes).
TEST_CASE("pack_copy: every start on both sides") {
  const std::vector<std::size_t> sizes = {100, 16, 1, 31, 15, 64, 17, 33, 2, 48, 9};
  std::size_t turn = 0;  // another size each time
  for (std::size_t from = 0; from < 16; ++from) {
    for (std::size_t to = 0; to < 16; ++to) {
      const std::size_t n = sizes[turn++ % sizes.size()];
      INFO(describe(n, {from, to}, {2, 32}));
      check_launch(n, {from, to}, {2, 32}, turn % 3 == 0);
    }
  }
}

// Promise: the bytes of both ends are copied, however many there are.
TEST_CASE("pack_copy: every size around a pack's, equally misaligned") {
  for (std::size_t start = 0; start < 16; ++start) {
    for (std::size_t n = 0; n < 36; n += start % 4 == 1 ? 1 : 5) {
      course::in_launch({1, 32}, [&](Launch launch) {
        INFO(describe(n, {start, start}, launch));
        for (const bool is_bare : {false, true}) check_launch(n, {start, start}, launch, is_bare);
      });
    }
  }
}

// Promise: n is any number, 0 included.
// Promise: the kernel is right for every one-dimensional grid of blocks of whole warps.
TEST_CASE("pack_copy: every size and grid") {
  const std::vector<Starts> starts = {{0, 0}, {1, 1}, {15, 15}, {8, 8}, {0, 8}, {3, 7}, {12, 0}};
  std::size_t turn = 0;  // other starts and another grid each time
  for (const std::size_t n : course::all_sizes()) {
    const std::vector<Launch> launches = course::launch_shapes(n);
    for (int repeat = 0; repeat < 5; ++repeat) {
      const Starts s = starts[turn % starts.size()];
      course::in_launch(launches[turn++ % launches.size()], [&](Launch launch) {
        INFO(describe(n, s, launch));
        check_launch(n, s, launch);
      });
    }
  }
}

// Promise: if from and to are equally misaligned, all bytes but fewer than 32 at the two ends are
// copied 16 at a time, the lanes of a warp side by side (requests, sectors).
// Promise: one request takes all bytes of an end, once for the whole grid.
// Promise: the threads share the work (the busiest warp).
// Promise: plain loads and stores, no atomics (the next test case wants the same).
TEST_CASE("pack_copy: 16 bytes at a time where both sides are equally misaligned") {
  course::skip_without_counters();
  struct Case {
    std::size_t n;
    Launch launch;
  };
  for (const std::size_t start : {0u, 1u, 5u, 8u, 15u}) {
    for (const auto [n, launch] :
         {Case{32'768, {4, 128}}, Case{32'768, {1, 1024}}, Case{32'768, {16, 128}},
          Case{1000, {2, 96}}, Case{300, {2, 96}}, Case{32, {2, 96}}}) {
      const std::uint64_t wide = (n + 511) / 512;  // requests of 32 x 16 bytes
      INFO(describe(n, {start, start}, launch));
      const auto c = course::count([&] { check_launch(n, {start, start}, launch); });
      constexpr const char* kWidth =
          "one request of a warp moves 32 x 16 bytes, and one is enough for all bytes of an end";
      REQUIRE(course::at_most(c->global_loads, wide + kEnds, "loads of the whole grid", kWidth));
      REQUIRE(course::at_most(c->global_stores, wide + kEnds, "stores of the whole grid", kWidth));
      REQUIRE(course::none(c->global_atomics, "atomics of the whole grid", kNoAtomics));
      const std::uint64_t packs = (n - (16 - start) % 16) / 16, alone = n - 16 * packs;
      // Fewer than 32 bytes may go alone: 16 more than have to, where these are fewer than 16.
      const std::uint64_t most = packs + alone + (alone < 16 ? 15 : 0);
      const std::string whole = std::to_string(packs) + " of 16 bytes, and at most " +
                                std::to_string(most - packs) + " of one byte at the two ends";
      REQUIRE(course::at_most(c->global_load_lanes, most, "loads by threads", whole));
      REQUIRE(course::at_most(c->global_store_lanes, most, "stores by threads", whole));
      // 512 bytes from a multiple of 16 on lie in up to 17 sectors.
      constexpr const char* kGaps = "are the lanes of a warp side by side?";
      const std::uint64_t sectors = wide * 17 + kEnds;
      REQUIRE(course::at_most(c->global_load_sectors, sectors,
                              "sectors of the loads of the whole grid", kGaps));
      REQUIRE(course::at_most(c->global_store_sectors, sectors,
                              "sectors of the stores of the whole grid", kGaps));
      const std::uint64_t turns = wide * 32 / (launch.grid * launch.block) + 1;
      REQUIRE(course::work_is_shared(*c, 2 * turns + 2 * kEnds));
    }
  }
}

// Promise: if from and to are not equally misaligned, any width will do, the lanes of a warp side
// by side.
TEST_CASE("pack_copy: the lanes share the work where the sides are not equally misaligned") {
  course::skip_without_counters();
  constexpr std::size_t n = 4096;
  for (const Starts starts : {Starts{0, 1}, Starts{13, 6}, Starts{8, 0}}) {
    INFO(describe(n, starts, {4, 128}));
    const auto c = course::count([&] { check_launch(n, starts, {4, 128}); });
    constexpr const char* kShare = "one request of a warp moves 32 bytes or more";
    // Loads of a wider kind, put together from two, are welcome: hence twice as many.
    REQUIRE(
        course::at_most(c->global_loads, 2 * n / 32 + kEnds, "loads of the whole grid", kShare));
    REQUIRE(course::at_most(c->global_stores, n / 32 + kEnds, "stores of the whole grid", kShare));
    REQUIRE(course::none(c->global_atomics, "atomics of the whole grid", kNoAtomics));
    // 32 bytes side by side lie in up to 2 sectors. A word of 4 that is put together from single
    // bytes takes 4 loads of 5 sectors for 128 bytes.
    constexpr const char* kGaps = "are the lanes of a warp side by side?";
    REQUIRE(course::at_most(c->global_load_sectors, 6 * n / 32,
                            "sectors of the loads of the whole grid", kGaps));
    REQUIRE(course::at_most(c->global_store_sectors, 2 * n / 32 + kEnds,
                            "sectors of the stores of the whole grid", kGaps));
    REQUIRE(course::work_is_shared(*c, 3 * n / (4 * 128) + 2 * kEnds));
  }
}

// Promise: a grid may have more than 2^32 threads, and n may be more than 2^32 (the CPU device runs the
// last two blocks of a grid that has a thread for each 16 bytes).
TEST_CASE("pack_copy: more than 2^32 bytes") {
  if (course::kCpuDevice) return check_end();
  constexpr std::size_t n = (std::size_t{1} << 32) + 77;
  constexpr Starts kStarts{3, 3};
  course::skip_without_memory(2 * n);
  course::DeviceBuffer<unsigned char> from(kStarts.from + n);
  course::DeviceBuffer<unsigned char> to(kStarts.to + n);
  from.fill_bytes(7);
  to.fill_bytes(0);
  const Bytes end = course::position_values<unsigned char>(4096);
  const auto offset = kStarts.from + n - end.size();
  CUDA_CHECK(cudaMemcpy(from.data() + offset, end.data(), end.size(), cudaMemcpyHostToDevice));
  INFO(describe(n, kStarts, {1024, 256}));
  course::launch(pack_copy, {1024, 256}, from.data() + kStarts.from, n, to.data() + kStarts.to);
  Bytes found(end.size());
  CUDA_CHECK(cudaMemcpy(found.data(), to.data() + offset, end.size(), cudaMemcpyDeviceToHost));
  REQUIRE(course::same(found, end, "to (its last 4096 bytes)"));
  CUDA_CHECK(cudaMemcpy(found.data(), to.data() + kStarts.to, end.size(), cudaMemcpyDeviceToHost));
  REQUIRE(course::same(found, Bytes(end.size(), 7), "to (its first 4096 bytes)"));
}

}  // namespace pack_copy_check
