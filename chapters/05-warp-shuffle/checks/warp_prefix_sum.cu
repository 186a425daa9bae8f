// Check of the exercise warp_prefix_sum: full and partial groups, every kind of grid, sums that
// wrap around, and what the kernel may use.
#include "warp_prefix_sum.cuh"

#include <catch2/catch_test_macros.hpp>
#include <course/check.cuh>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "checks/parts_beyond_2_to_31.cuh"

namespace warp_prefix_sum_check {

using Launch = course::LaunchShape;
const std::vector<std::size_t> kSizesFrom1(course::kSizes.begin() + 1, course::kSizes.end());
constexpr unsigned kUnwritten = 0xFFFF'FFFF;  // what an output holds before the launch

using Kind = course::DataKind<unsigned>;
const Kind kRandom{"1 to 1000, in no order",
                   [](course::Element e) { return static_cast<unsigned>(e.random); }};
const Kind kHuge{"so large that sums wrap around",
                 [](course::Element e) { return 0xf000'0000u + static_cast<unsigned>(e.random); }};
const Kind kKinds[] = {
    kRandom,
    {"all are 1", [](course::Element) { return 1u; }},
    {"the first of each group is 100, others are 0",
     [](course::Element e) { return e.i % 32 == 0 ? 100u : 0u; }},
    {"the last of each full group is 100, others are 0",
     [](course::Element e) { return e.i % 32 == 31 ? 100u : 0u; }},
    {"all are 0", [](course::Element) { return 0u; }},
    kHuge,
};

struct Sums {
  std::vector<unsigned> offsets, totals;
};

Sums reference(const std::vector<unsigned>& counts) {
  Sums sums{std::vector<unsigned>(counts.size()),
            std::vector<unsigned>((counts.size() + 31) / 32, 0)};
  for (std::size_t i = 0; i < counts.size(); ++i) {
    sums.offsets[i] = sums.totals[i / 32];
    sums.totals[i / 32] += counts[i];
  }
  return sums;
}

void check_launch(const std::vector<unsigned>& counts, Launch launch) {
  const auto d_counts = course::DeviceBuffer<unsigned>::from(counts);
  const Sums expected = reference(counts);
  course::GuardedBuffer<unsigned> offsets(counts.size()), totals(expected.totals.size());
  course::launch(warp_prefix_sum, {launch.grid, launch.block}, d_counts.data(), counts.size(),
                 offsets.data(), totals.data());
  REQUIRE(course::same(offsets.download(), expected.offsets, "offsets", [&](std::size_t i) {
    return i % 32 == 0 ? "no count: it is the first of its group"
                       : course::elements_text("counts", counts, i / 32 * 32, i);
  }));
  const std::vector<unsigned> found = totals.download();
  REQUIRE(course::same(found, expected.totals, "totals", [&](std::size_t g) {
    return course::elements_text("counts", counts, 32 * g, 32 * g + 32) +
           (found[g] == kUnwritten ? "; nothing was stored there" : "");
  }));
  REQUIRE(offsets.intact("offsets"));
  REQUIRE(totals.intact("totals"));
}

std::string describe(std::size_t n, Launch launch, const Kind& kind) {
  return course::case_text(n, kind.text, "warp_prefix_sum", launch);
}

void check_end() {
  const std::vector<unsigned> counts = kRandom.values(course::kLastItems);
  const Sums expected = reference(counts);
  const auto d_counts = course::DeviceBuffer<unsigned>::from(counts);
  course::GuardedBuffer<unsigned> offsets(counts.size()), totals(2);
  INFO(describe(course::kHugeItems, course::kHugeGrid, kRandom));
  course::at_end_of_huge_grid([&](Launch grid, std::size_t items) {
    const std::size_t before = items - counts.size();  // that are not in memory
    const unsigned* const all = d_counts.data() - before;
    unsigned* const all_offsets = offsets.data() - before;
    unsigned* const all_totals = totals.data() - before / 32;
    const auto c = course::count([&] {
      course::launch(warp_prefix_sum, {grid.grid, grid.block}, all, items, all_offsets, all_totals);
    });
    REQUIRE(course::same(offsets.download(), expected.offsets, "(offsets + 4294967264)"));
    REQUIRE(course::same(totals.download(), expected.totals, "(totals + 134217727)"));
    REQUIRE(course::at_most(c->global_load_lanes, course::kLastItems,
                            "loads by the threads of the last two blocks",
                            "each element is loaded once"));
  });
}

// Promise: offsets[i] is the sum of the counts in the group of i that come before i, 0 for the
// first.
// Promise: totals[g] is the sum of all counts of group g.
TEST_CASE("warp_prefix_sum: one full warp") {
  for (const Kind& kind : kKinds) {
    INFO(describe(32, {1, 32}, kind));
    check_launch(kind.values(32), {1, 32});
  }
}

// Promise: the groups of a block are independent of each other.
TEST_CASE("warp_prefix_sum: several warps in a block") {
  for (const unsigned block : {64u, 96u, 1024u}) {
    INFO(describe(block, {1, block}, kRandom));
    check_launch(kRandom.values(block), {1, block});
  }
}

// Promise: the last group may be shorter, with 1 to 31 elements, and has a total as well.
// Promise: every lane that the mask of a warp function names calls that function (WRONG MASK or
// DEADLOCK, or values of absent lanes that differ with each schedule).
TEST_CASE("warp_prefix_sum: groups that are cut short") {
  for (std::size_t n = 1; n < 70; n += n < 34 ? 3 : 9) {
    INFO(describe(n, {1, 96}, kRandom));
    check_launch(kRandom.values(n), {1, 96});
  }
}

// Promise: all offsets and all totals are written, for every n.
TEST_CASE("warp_prefix_sum: every size, every kind of data") {
  for (const auto& [n, launch, kind] : course::cases_of(kSizesFrom1, kKinds)) {
    course::in_launch(launch, [n = n, kind = kind](Launch tried) {
      INFO(describe(n, tried, kind));
      check_launch(kind.values(n), tried);
    });
  }
}

// Promise: the kernel is right for every one-dimensional grid of blocks of whole warps.
TEST_CASE("warp_prefix_sum: every grid") {
  for (const std::size_t n : {300u, 1025u}) {
    const std::vector<unsigned> counts = kRandom.values(n);
    for (const Launch launch : course::launch_shapes(n)) {
      INFO(describe(n, launch, kRandom));
      check_launch(counts, launch);
    }
  }
}

// Promise: n may be 0.
TEST_CASE("warp_prefix_sum: nothing to do") {
  const auto counts = course::DeviceBuffer<unsigned>::zeros(1);
  course::GuardedBuffer<unsigned> offsets(0, 4), totals(0, 4);
  INFO("n = 0; warp_prefix_sum<<<2, 64>>>");
  course::launch(warp_prefix_sum, {2, 64}, counts.data(), 0, offsets.data(), totals.data());
  REQUIRE(offsets.intact("offsets"));
  REQUIRE(totals.intact("totals"));
}

// Promise: sums are modulo 2^32.
// Promise: a grid may have fewer threads than there are elements.
TEST_CASE("warp_prefix_sum: many groups") {
  const std::size_t n = course::kBigSize;
  for (const Launch launch : {Launch{9, 96}, Launch{2, 1024}}) {
    INFO(describe(n, launch, kHuge));
    check_launch(kHuge.values(n), launch);
  }
}

// Promise: n may be more than 2^31, and so may the number of threads (the CPU device runs the last two
// blocks of a grid that has a thread for each of more than 2^32 elements).
TEST_CASE("warp_prefix_sum: more than 2^31 elements") {
  if (course::kCpuDevice) return check_end();
  course::skip_without_memory(2 * part_checks::kBeyond2To31 * sizeof(unsigned) +
                              part_checks::kBeyond2To31 / 8);
  auto d_counts = course::DeviceBuffer<unsigned>::zeros(part_checks::kBeyond2To31);
  course::GuardedBuffer<unsigned> offsets(part_checks::kBeyond2To31),
      totals(part_checks::kBeyond2To31 / 32 + 1);
  for (const std::size_t first : part_checks::kParts) {
    part_checks::write_part(d_counts.data() + first, kRandom.values(part_checks::part_size(first)));
  }
  INFO(describe(part_checks::kBeyond2To31, {4096, 256}, kRandom));
  course::launch(warp_prefix_sum, {4096, 256}, d_counts.data(), part_checks::kBeyond2To31,
                 offsets.data(), totals.data());
  for (const std::size_t first : part_checks::kParts) {
    const Sums expected = reference(kRandom.values(part_checks::part_size(first)));
    INFO("offsets[" << first << "], totals[" << first / 32 << "] and those after them");
    REQUIRE(course::same(part_checks::read_part(offsets.data() + first, expected.offsets.size()),
                         expected.offsets, "offsets, this part"));
    REQUIRE(course::same(part_checks::read_part(totals.data() + first / 32, 3), expected.totals,
                         "totals, this part"));
  }
}

// Promise: the sums are right in every order of the lanes.
TEST_CASE("warp_prefix_sum: the lanes of a warp go in step") {
  for (const std::size_t n : {33u, 257u}) {
    INFO(describe(n, {2, 96}, kRandom));
    course::count([&] { check_launch(kRandom.values(n), {2, 96}); });
  }
}

// Promise: the kernel uses no shared memory, no atomics and no barrier.
// Promise: it loads every element once: a warp reads a group with one load.
TEST_CASE("warp_prefix_sum: one load per group, and nothing but registers") {
  course::skip_without_counters();
  constexpr std::size_t kN = 4096 + 21;  // the last group is short, and is one load as well
  const auto d_counts = course::DeviceBuffer<unsigned>::from(kRandom.values(kN));
  course::GuardedBuffer<unsigned> offsets(kN), totals(kN / 32 + 1);
  const auto counters = course::count([&] {
    course::launch(warp_prefix_sum, {8, 128}, d_counts.data(), kN, offsets.data(), totals.data());
  });
  INFO(describe(kN, {8, 128}, kRandom));
  REQUIRE(course::same(counters->global_loads, kN / 32 + 1, "loads",
                       "a warp reads a group with one load, and its lanes exchange sums"));
  REQUIRE(course::same(counters->global_load_lanes, kN, "loads by threads",
                       "each element is loaded once, and lanes past the end load nothing"));
  // Five groups for a warp at most: as many loads, and twice as many stores.
  REQUIRE(course::work_is_shared(*counters, 24));
  REQUIRE(course::none(counters->shared_loads + counters->shared_stores, "uses of shared memory",
                       "shuffles move values from register to register"));
  REQUIRE(course::none(counters->global_atomics + counters->shared_atomics, "atomics",
                       "each lane knows its index, and the last one the total"));
  REQUIRE(course::none(counters->barriers, "barriers of the block", "a warp waits for no other"));
}

}  // namespace warp_prefix_sum_check
