// Check of the exercise fix_blelloch: blocks of every size, shares that are full, short and empty, sums that
// wrap around, and whether the threads share the work.
#include "fix_blelloch.cuh"

#include <catch2/catch_test_macros.hpp>
#include <course/check.cuh>
#include <cstddef>
#include <string>
#include <vector>

namespace fix_blelloch_check {

using Launch = course::LaunchShape;
using Kind = course::DataKind<unsigned>;

const Kind kRandom{"1 to 1000, in no order",
                   [](course::Element e) { return static_cast<unsigned>(e.random); }};
const Kind kHuge{"so large that sums wrap around",
                 [](course::Element e) { return 0xf000'0000u + static_cast<unsigned>(e.random); }};
const Kind kKinds[] = {
    kRandom,
    {"all are 1", [](course::Element) { return 1u; }},
    {"the first is 100, others are 0", [](course::Element e) { return e.i == 0 ? 100u : 0u; }},
    {"the last is 100, others are 0", [](course::Element e) { return e.i + 1 == e.n ? 100u : 0u; }},
    kHuge,
};

struct Sums {
  std::vector<unsigned> out, totals;
};

Sums reference(const std::vector<unsigned>& x, Launch launch) {
  Sums sums{std::vector<unsigned>(x.size()), std::vector<unsigned>(launch.grid, 0)};
  for (std::size_t i = 0; i < x.size(); ++i) {
    unsigned& total = sums.totals[i / (2 * std::size_t{launch.block})];
    sums.out[i] = total;
    total += x[i];
  }
  return sums;
}

std::string describe(std::size_t n, Launch launch, const Kind& kind) {
  return course::case_text(n, kind.text, "scan_shares", launch);
}

/// The smallest grid that has a share for each of n elements; at least one block.
Launch smallest(std::size_t n, unsigned block) {
  const std::size_t share = 2 * std::size_t{block};
  return {n == 0 ? 1 : static_cast<unsigned>((n + share - 1) / share), block};
}

void check_launch(const Kind& kind, std::size_t n, Launch launch, bool in_place = false) {
  INFO(describe(n, launch, kind) << (in_place ? "; out is x" : ""));
  const std::vector<unsigned> x = kind.values(n);
  const Sums expected = reference(x, launch);
  course::Placed<unsigned> d_x(x, 1);
  course::GuardedBuffer<unsigned> out(n), totals(launch.grid);
  unsigned* const d_out = in_place ? d_x.data() : out.data();
  course::launch(scan_shares, {launch.grid, launch.block}, d_x.data(), n, d_out, totals.data());
  const std::size_t share = 2 * std::size_t{launch.block};
  REQUIRE(course::same(
      in_place ? d_x.download() : out.download(), expected.out, "out", [&](std::size_t i) {
        return i % share == 0 ? "no element: it is the first of its share"
                              : course::elements_text("x", x, i / share * share, i);
      }));
  REQUIRE(course::same(totals.download(), expected.totals, "totals", [&](std::size_t b) {
    return b * share >= n ? "no element: the share is empty"
                          : course::elements_text("x", x, b * share, (b + 1) * share);
  }));
  REQUIRE(out.intact("out"));
  REQUIRE(totals.intact("totals"));
  REQUIRE(d_x.intact("x"));
}

/// The last two shares of more than 2^32 elements. Those before have no memory.
void check_end() {
  const unsigned block = course::kHugeGrid.block;
  const Launch two{2, block};
  INFO(describe(2 * course::kHugeItems - block, course::kHugeGrid, kRandom));
  const std::vector<unsigned> x = kRandom.values(3 * block);  // the last share is a half one
  const Sums expected = reference(x, two);
  const auto d_x = course::DeviceBuffer<unsigned>::from(x);
  course::GuardedBuffer<unsigned> out(x.size()), totals(2);
  course::at_end_of_grid(course::kHugeGrid, [&](Launch grid) {
    const std::size_t items = std::size_t{grid.grid} * 2 * block - block;
    const std::size_t before = items - x.size();
    course::launch(scan_shares, {grid.grid, grid.block}, d_x.data() - before, items,
                   out.data() - before, totals.data() - (grid.grid - 2));
    REQUIRE(course::same(out.download(), expected.out, "out, of the last two shares"));
    REQUIRE(course::same(totals.download(), expected.totals, "totals, of the last two shares"));
  });
}

// Promise: out[i] is the sum of those elements that come before x[i] in its share, 0 for the first of a share.
// Promise: totals[b] is the sum of all elements of share b.
TEST_CASE("fix_blelloch: one full share of a warp") {
  for (const Kind& kind : kKinds) check_launch(kind, 64, {1, 32});
}

// Promise: what a thread reads of another is ordered by a barrier (DATA RACE).
TEST_CASE("fix_blelloch: blocks of several warps") {
  for (const unsigned block : {64u, 128u, 256u, 1024u})
    check_launch(kRandom, 2 * block, {1, block});
}

// Promise: a block has 1 to 1024 threads, and need not have a power of two of them.
TEST_CASE("fix_blelloch: blocks of any number of threads") {
  std::size_t turn = 0;
  for (const unsigned block : {1u, 2u, 3u, 5u, 31u, 33u, 65u, 96u, 100u, 513u, 1000u, 1023u}) {
    check_launch(kKinds[turn++ % std::size(kKinds)], 2 * block, {1, block});
  }
  check_launch(kRandom, 1000, smallest(1000, 96));
  check_launch(kRandom, 100, smallest(100, 7));
}

// Promise: a block has 1 to 1024 threads: any number (a quarter of them under each schedule).
TEST_CASE("fix_blelloch: blocks of every number of threads") {
  for (unsigned block = 1 + course::seed() % 4; block <= 1024; block += 4)
    check_launch(kRandom, 2 * block, {1, block});
}

// Promise: sums are any numbers of 32 bits.
TEST_CASE("fix_blelloch: all sums of a share are the same number, of many kinds") {
  for (const unsigned sum : {1u, ~0u, ~0u - 1, 0x7fff'ffffu, 0x8000'0000u, 0x4000'0000u, 0xffffu}) {
    const Kind kind{"the first is " + std::to_string(sum) + ", others are 0",
                    [sum](course::Element e) { return e.i == 0 ? sum : 0u; }};
    check_launch(kind, 256, {1, 128});
  }
}

// Promise: the last shares may be shorter, or empty; an empty one has the total 0.
// Promise: n may be 0.
TEST_CASE("fix_blelloch: every size, with empty shares") {
  std::size_t turn = 0;
  for (const std::size_t n : course::kSizes) {
    for (const unsigned block : {32u, 48u}) {
      Launch launch = smallest(n, block);
      if (turn % 2 == 0) launch.grid += 3;  // more shares than there are elements
      check_launch(kKinds[turn++ % std::size(kKinds)], n, launch);
    }
  }
  check_launch(kHuge, 1500, {2, 1024});
}

// Promise: out may be x.
TEST_CASE("fix_blelloch: the results replace the elements") {
  for (const unsigned block : {32u, 100u, 256u})
    check_launch(kRandom, 700, smallest(700, block), true);
}

// Promise: sums are modulo 2^32.
TEST_CASE("fix_blelloch: many shares") {
  const std::size_t n = course::kBigSize;
  for (const unsigned block : {256u, 1000u}) check_launch(kHuge, n, smallest(n, block));
}

// Promise: n may be more than 2^32 (the CPU device runs the first blocks of a grid that has a share for
// each of them: n is then 32 in 32 bits).
TEST_CASE("fix_blelloch: the first of more than 2^32 elements") {
  if (!course::kCpuDevice) SKIP("a GPU runs all blocks, and has all elements in another test case");
  const unsigned block = course::kHugeGrid.block, shares = 64;
  const std::vector<unsigned> x = kRandom.values(course::kFrontItems);
  const Sums expected = reference({x.begin(), x.begin() + 2 * block * shares}, {shares, block});
  const auto d_x = course::DeviceBuffer<unsigned>::from(x);
  course::DeviceBuffer<unsigned> out(x.size());
  course::GuardedBuffer<unsigned> totals(shares);
  course::at_front_of_huge_grid([&](Launch grid, std::size_t items) {
    INFO(describe(items, grid, kRandom));
    course::launch(scan_shares, {grid.grid, grid.block}, d_x.data(), items, out.data(),
                   totals.data());
    std::vector<unsigned> found = out.download();
    found.resize(expected.out.size());
    REQUIRE(course::same(found, expected.out, "out, of the first shares"));
    REQUIRE(course::same(totals.download(), expected.totals, "totals, of the first shares"));
  });
}

// Promise: n may be more than 2^32 (the CPU device runs the last two blocks of a grid that has a share for
// each of them).
TEST_CASE("fix_blelloch: more than 2^32 elements") {
  if (course::kCpuDevice) return check_end();
  constexpr std::size_t n = (std::size_t{1} << 32) + 1000;
  course::skip_without_memory(n * sizeof(unsigned));
  INFO("n = 2^32 + 1000: all are 0, but for the last 1000, which are 1; out is x");
  auto x = course::DeviceBuffer<unsigned>::zeros(n);
  const std::vector<unsigned> ones(1000, 1);
  CUDA_CHECK(cudaMemcpy(x.data() + n - 1000, ones.data(), 4000, cudaMemcpyHostToDevice));
  const Launch launch = smallest(n, 1024);
  course::GuardedBuffer<unsigned> totals(launch.grid);
  course::launch(scan_shares, {launch.grid, launch.block}, x.data(), n, x.data(), totals.data());
  std::vector<unsigned> found(1000), expected(1000);
  for (unsigned i = 0; i < 1000; ++i) expected[i] = i;
  CUDA_CHECK(cudaMemcpy(found.data(), x.data() + n - 1000, 4000, cudaMemcpyDeviceToHost));
  REQUIRE(course::same(found, expected, "the last 1000 of out"));
  REQUIRE(course::same(totals.download().back(), 1000, "the last of totals"));
}

// Promise: the sums are right in every order of the lanes.
TEST_CASE("fix_blelloch: the lanes of a warp go in step") {
  course::count([] {
    for (const unsigned block : {32u, 96u, 100u}) check_launch(kRandom, 300, smallest(300, block));
  });
}

// Promise: the threads of a block share the work (the busiest warp, of global and of shared memory).
// Promise: each element is read once from global memory, and each result is written once.
TEST_CASE("fix_blelloch: the threads share the work") {
  course::skip_without_counters();
  for (const unsigned block : {1024u, 768u}) {
    const std::size_t n = 4 * std::size_t{block};
    const auto c = course::count([&] { check_launch(kRandom, n, {2, block}); });
    INFO(describe(n, {2, block}, kRandom));
    REQUIRE(course::same(c->global_load_lanes, n, "loads by threads", "each element is read once"));
    REQUIRE(course::same(c->global_store_lanes, n + 2, "stores by threads",
                         "each result is written once, and a total for each block"));
    REQUIRE(course::work_is_shared(*c, 16));
    // A tree over 2048 elements, up and down, takes 80 to 120; one thread alone takes thousands.
    REQUIRE(course::shared_work_is_shared(*c, 300));
  }
}

// Promise: each element is read once, also where the last share is short.
TEST_CASE("fix_blelloch: the threads of small blocks share short shares") {
  course::skip_without_counters();
  for (const unsigned block : {128u, 64u}) {
    const std::size_t n = 3 * std::size_t{block} + 5;
    const auto c = course::count([&] { check_launch(kRandom, n, {3, block}); });
    INFO(describe(n, {3, block}, kRandom));
    REQUIRE(course::same(c->global_load_lanes, n, "loads by threads", "each element is read once"));
    // A tree over 256 elements takes 60 to 80; one thread alone takes hundreds.
    REQUIRE(course::shared_work_is_shared(*c, 110));
  }
}

}  // namespace fix_blelloch_check
