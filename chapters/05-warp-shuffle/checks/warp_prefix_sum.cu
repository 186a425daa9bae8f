// Check of the exercise warp_prefix_sum: full and partial groups, every kind of grid, sums that
// wrap around, and what the kernel may use.
#include "warp_prefix_sum.cuh"

#include <catch2/catch_test_macros.hpp>
#include <course/check.cuh>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace {

using Launch = course::LaunchShape;

enum class Kind { random, ones, first_only, last_only, zeroes, huge };
constexpr Kind kKinds[] = {Kind::random,    Kind::ones,   Kind::first_only,
                           Kind::last_only, Kind::zeroes, Kind::huge};

std::string to_string(Kind kind) {
  switch (kind) {
    case Kind::random:
      return "1 to 1000, in no order";
    case Kind::ones:
      return "all are 1";
    case Kind::first_only:
      return "the first of each group is 100, others are 0";
    case Kind::last_only:
      return "the last of each full group is 100, others are 0";
    case Kind::zeroes:
      return "all are 0";
    case Kind::huge:
      return "so large that sums wrap around";
  }
  return "";
}

std::vector<unsigned> make_counts(Kind kind, std::size_t n) {
  const std::vector<unsigned> random = course::position_values<unsigned>(n);
  std::vector<unsigned> counts(n);
  for (std::size_t i = 0; i < n; ++i) {
    switch (kind) {
      case Kind::random:
        counts[i] = random[i];
        break;
      case Kind::ones:
        counts[i] = 1;
        break;
      case Kind::first_only:
        counts[i] = i % 32 == 0 ? 100 : 0;
        break;
      case Kind::last_only:
        counts[i] = i % 32 == 31 ? 100 : 0;
        break;
      case Kind::zeroes:
        counts[i] = 0;
        break;
      case Kind::huge:
        counts[i] = 0xf000'0000u + random[i];
        break;
    }
  }
  return counts;
}

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
  warp_prefix_sum<<<launch.grid, launch.block>>>(d_counts.data(), counts.size(), offsets.data(),
                                                 totals.data());
  CUDA_CHECK_LAUNCH();
  REQUIRE(course::same(offsets.download(), expected.offsets, "offsets"));
  REQUIRE(course::same(totals.download(), expected.totals, "totals"));
  REQUIRE(offsets.intact("offsets"));
  REQUIRE(totals.intact("totals"));
}

std::string describe(std::size_t n, Launch launch, Kind kind) {
  return "n = " + std::to_string(n) + ": " + to_string(kind) + "; warp_prefix_sum<<<" +
         std::to_string(launch.grid) + ", " + std::to_string(launch.block) + ">>>";
}

/// Ok if there is nothing of it.
course::Verdict none(std::uint64_t found, const std::string& what, const std::string& hint) {
  if (found == 0) return {};
  return {false, what + ": expected none, found " + std::to_string(found) + "; " + hint};
}

}  // namespace

TEST_CASE("warp_prefix_sum: one full warp") {
  for (const Kind kind : kKinds) {
    INFO(describe(32, {1, 32}, kind));
    check_launch(make_counts(kind, 32), {1, 32});
  }
}

TEST_CASE("warp_prefix_sum: several warps in a block") {
  for (const unsigned block : {64u, 96u, 1024u}) {
    INFO(describe(block, {1, block}, Kind::random));
    check_launch(make_counts(Kind::random, block), {1, block});
  }
}

TEST_CASE("warp_prefix_sum: groups that are cut short") {
  for (std::size_t n = 1; n < 70; n += n < 34 ? 3 : 9) {
    INFO(describe(n, {1, 96}, Kind::random));
    check_launch(make_counts(Kind::random, n), {1, 96});
  }
}

TEST_CASE("warp_prefix_sum: every size, every kind of data") {
  std::size_t turn = 0;  // another grid each time
  for (const std::size_t n : course::kSizes) {
    if (n == 0) continue;
    const std::vector<Launch> launches = course::launch_shapes(n);
    for (const Kind kind : kKinds) {
      const Launch launch = launches[turn++ % launches.size()];
      INFO(describe(n, launch, kind));
      check_launch(make_counts(kind, n), launch);
    }
  }
}

TEST_CASE("warp_prefix_sum: every grid") {
  for (const std::size_t n : {300u, 1025u}) {
    const std::vector<unsigned> counts = make_counts(Kind::random, n);
    for (const Launch launch : course::launch_shapes(n)) {
      INFO(describe(n, launch, Kind::random));
      check_launch(counts, launch);
    }
  }
}

TEST_CASE("warp_prefix_sum: nothing to do") {
  const auto counts = course::DeviceBuffer<unsigned>::zeros(1);
  course::GuardedBuffer<unsigned> offsets(0, 4), totals(0, 4);
  INFO("n = 0; warp_prefix_sum<<<2, 64>>>");
  warp_prefix_sum<<<2, 64>>>(counts.data(), 0, offsets.data(), totals.data());
  CUDA_CHECK_LAUNCH();
  REQUIRE(offsets.intact("offsets"));
  REQUIRE(totals.intact("totals"));
}

TEST_CASE("warp_prefix_sum: many groups") {
  const std::size_t n = course::kBigSize;
  for (const Launch launch : {Launch{9, 96}, Launch{2, 1024}}) {
    INFO(describe(n, launch, Kind::huge));
    check_launch(make_counts(Kind::huge, n), launch);
  }
}

TEST_CASE("warp_prefix_sum: more than 2^31 elements") {
  constexpr std::size_t k2To31 = std::size_t{1} << 31, kN = k2To31 + 77;
  course::skip_without_memory(2 * kN * sizeof(unsigned) + kN / 8);
  course::DeviceBuffer<unsigned> d_counts(kN);
  course::GuardedBuffer<unsigned> offsets(kN), totals(kN / 32 + 1);
  d_counts.fill_bytes(0);
  // Three groups each: the first ones, the last ones below 2^31, and those from there to the end.
  const auto part = [](std::size_t first) {
    return make_counts(Kind::random, first == k2To31 ? 77 : 96);
  };
  for (const std::size_t first : {std::size_t{0}, k2To31 - 96, k2To31}) {
    const std::vector<unsigned> counts = part(first);
    CUDA_CHECK(cudaMemcpy(d_counts.data() + first, counts.data(), counts.size() * sizeof(unsigned),
                          cudaMemcpyHostToDevice));
  }
  INFO(describe(kN, {4096, 256}, Kind::random));
  warp_prefix_sum<<<4096, 256>>>(d_counts.data(), kN, offsets.data(), totals.data());
  CUDA_CHECK_LAUNCH();
  for (const std::size_t first : {std::size_t{0}, k2To31 - 96, k2To31}) {
    const Sums expected = reference(part(first));
    Sums found{std::vector<unsigned>(expected.offsets.size()), std::vector<unsigned>(3)};
    CUDA_CHECK(cudaMemcpy(found.offsets.data(), offsets.data() + first,
                          found.offsets.size() * sizeof(unsigned), cudaMemcpyDeviceToHost));
    CUDA_CHECK(cudaMemcpy(found.totals.data(), totals.data() + first / 32,
                          found.totals.size() * sizeof(unsigned), cudaMemcpyDeviceToHost));
    INFO("offsets[" << first << "], totals[" << first / 32 << "] and those behind them");
    REQUIRE(course::same(found.offsets, expected.offsets, "offsets, this part"));
    REQUIRE(course::same(found.totals, expected.totals, "totals, this part"));
  }
}

TEST_CASE("warp_prefix_sum: the lanes of a warp go in step") {
  for (const std::size_t n : {33u, 257u}) {
    INFO(describe(n, {2, 96}, Kind::random));
    course::count([&] { check_launch(make_counts(Kind::random, n), {2, 96}); });
  }
}

TEST_CASE("warp_prefix_sum: one load a group, and nothing but registers") {
  course::skip_without_counters();
  constexpr std::size_t kN = 4096 + 21;  // the last group is short, and is one load as well
  const auto d_counts = course::DeviceBuffer<unsigned>::from(make_counts(Kind::random, kN));
  course::GuardedBuffer<unsigned> offsets(kN), totals(kN / 32 + 1);
  const auto counters = course::count([&] {
    warp_prefix_sum<<<8, 128>>>(d_counts.data(), kN, offsets.data(), totals.data());
    CUDA_CHECK_LAUNCH();
  });
  INFO(describe(kN, {8, 128}, Kind::random));
  REQUIRE(course::same(counters->global_loads, kN / 32 + 1, "loads",
                       "a warp reads a group with one load, and its lanes exchange sums"));
  // Five groups for a warp at most: as many loads, and twice as many stores.
  REQUIRE(course::work_is_shared(*counters, 24));
  REQUIRE(none(counters->shared_loads + counters->shared_stores, "uses of shared memory",
               "shuffles move values from register to register"));
  REQUIRE(none(counters->global_atomics + counters->shared_atomics, "atomics",
               "each lane knows its place, and the last one the total"));
  REQUIRE(none(counters->barriers, "barriers of the block", "a warp waits for nobody else"));
}
