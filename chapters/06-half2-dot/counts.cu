// What the lesson counts: loads, sectors, barriers and atomics.
#include <catch2/catch_test_macros.hpp>
#include <course/check.cuh>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "rungs.cuh"

namespace {

constexpr std::size_t kN = 8192;

using Launch = std::function<void(const __half* d_a, const __half* d_b, float* d_y)>;

/// What a launch on two arrays of kN halves does.
course::Counters counted(const Launch& launch) {
  const auto d_a = course::DeviceBuffer<__half>::from(to_halves(balanced_numbers(kN, 1), 0.125f));
  const auto d_b = course::DeviceBuffer<__half>::from(to_halves(balanced_numbers(kN, 2), 0.125f));
  auto y = course::DeviceBuffer<float>::zeros(1);
  return *course::count([&] { launch(d_a.data(), d_b.data(), y.data()); });
}

}  // namespace

TEST_CASE("a half2 halves the loads; its sectors are the same") {
  course::skip_without_counters();
  for (const DotRung& rung : kDotRungs) {
    INFO(rung.name << ", n = " << kN);
    const course::Counters c = counted([&](const __half* d_a, const __half* d_b, float* d_y) {
      rung.launch(d_a, d_b, kN, rung.blocks(kN), d_y);
    });
    CHECK(course::same(c.global_loads, 2 * kN / (32 * rung.width), "loads"));
    CHECK(course::same(c.global_load_sectors, 2 * kN / 16, "sectors"));
    // An unrolled tree of 128 threads, or block_reduce.
    CHECK(course::same(c.barriers, (rung.in_half ? 8 : 2) * c.blocks, "barriers"));
    if (rung.width == 2) CHECK(course::same(c.bank_conflicts(), 0, "bank conflicts"));
  }
}

TEST_CASE("dot_pack: an eighth of the loads, one atomic per block, one launch") {
  course::skip_without_counters();
  Workspace workspace;
  const course::Counters c = counted([&](const __half* d_a, const __half* d_b, float* d_y) {
    launch_dot_pack(d_a, d_b, kN, d_y, workspace);
  });
  INFO("dot_pack, n = " << kN);
  const std::uint64_t finish = 1 + c.blocks;  // the last block loads the partial sums
  CHECK(course::at_most(c.global_loads, 2 * kN / 256 + finish, "loads"));
  CHECK(course::same(c.global_atomics, c.blocks, "atomics, one ticket per block"));
  CHECK(course::same(c.launches, 1, "launches"));
}
