// What the lesson counts: barriers, atomics, and uses of memory.
#include <catch2/catch_test_macros.hpp>
#include <course/check.cuh>
#include <cstddef>
#include <string>
#include <vector>

#include "rungs.cuh"

namespace {

constexpr std::size_t kN = 4096, kBlocks = kN / kBlockSize, kWarps = kN / 32;

course::Counters counters_of(const std::string& name) {
  const SumRung<float> rung = course::rung_named(sum_rungs<float>(), name);
  const auto d_x = course::DeviceBuffer<float>::from(course::position_values<float>(kN));
  auto y = course::DeviceBuffer<float>::zeros(1);
  SumMemory<float> memory;
  return *course::count([&] { rung.launch(d_x.data(), kN, y.data(), memory); });
}

}  // namespace

TEST_CASE("a tree whose tail is one warp: four barriers of the block, and five of a warp") {
  course::skip_without_counters();
  INFO("sum_syncwarp_tree, n = " << kN);
  const course::Counters tree = counters_of("sum_syncwarp_tree");
  CHECK(course::same(tree.barriers, 4 * kBlocks, "barriers"));
  CHECK(course::same(tree.warp_barriers, 5 * kBlocks, "warp barriers"));
  CHECK(course::same(tree.global_atomics, kBlocks, "atomics"));
  CHECK(course::same(tree.bank_conflicts(), 0, "bank conflicts"));
}

TEST_CASE("shuffles: no shared memory, no barriers, one atomic per warp") {
  course::skip_without_counters();
  for (const char* const name : {"sum_shuffle_down", "sum_shuffle_xor", "sum_cooperative_groups"}) {
    INFO(name << ", n = " << kN);
    const course::Counters shuffle = counters_of(name);
    CHECK(course::same(shuffle.shared_loads + shuffle.shared_stores, 0, "use of shared memory"));
    CHECK(course::same(shuffle.barriers + shuffle.warp_barriers, 0, "barriers"));
    CHECK(course::same(shuffle.global_atomics, kWarps, "atomics"));
  }
}

TEST_CASE("two warp reductions: one barrier and one atomic per block") {
  course::skip_without_counters();
  INFO("sum_two_warp_reduces, n = " << kN);
  const course::Counters block = counters_of("sum_two_warp_reduces");
  CHECK(course::same(block.barriers, kBlocks, "barriers"));
  CHECK(course::same(block.global_atomics, kBlocks, "atomics"));
  CHECK(course::same(block.shared_stores, kWarps, "stores to shared memory"));
}

TEST_CASE("packs: a quarter of the loads for the same sectors") {
  course::skip_without_counters();
  INFO("n = " << kN);
  CHECK(course::same(counters_of("sum_grid_stride").global_loads, kWarps, "loads"));
  const course::Counters pack = counters_of("sum_pack");
  CHECK(course::same(pack.global_loads, kWarps / 4, "loads of sum_pack"));
  CHECK(course::same(pack.global_load_sectors, 4 * kN / 32, "sectors of sum_pack"));
}

TEST_CASE("sum_fixed_point: one launch, one atomic per block, the loads of sum_two_cells") {
  course::skip_without_counters();
  const auto d_x = course::DeviceBuffer<float>::from(course::position_values<float>(kN));
  TwoCells<unsigned long long> cells;
  INFO("sum_fixed_point, n = " << kN);
  const auto c = course::count([&] { launch_sum_fixed_point(d_x.data(), kN, cells); });
  CHECK(course::same(c->launches, 1, "launches"));
  CHECK(course::same(c->global_atomics, c->blocks, "atomics"));
  CHECK(course::same(c->global_load_sectors, 4 * kN / 32, "sectors"));
}

TEST_CASE("the last block finishes in one launch, a second kernel without atomics") {
  course::skip_without_counters();
  INFO("n = " << kN);
  const course::Counters top = counters_of("sum_pack_loads");
  CHECK(course::same(top.launches, 1, "launches of sum_pack_loads"));
  CHECK(course::same(top.global_atomics, top.blocks, "its atomics, one ticket per block"));
  CHECK(course::at_most(top.global_load_sectors, 4 * kN / 32 + 2 * top.blocks, "its sectors"));
  const course::Counters two = counters_of("sum_second_kernel");
  CHECK(course::same(two.launches, 2, "launches of sum_second_kernel"));
  CHECK(course::same(two.global_atomics, 0, "its atomics"));
  for (const FloorRung& rung : kFloorRungs) {  // neither loads nor atomics are left
    INFO(rung.name);
    const course::Counters least = *course::count(rung.launch);
    CHECK(course::same(least.launches, 1, "launches"));
    CHECK(course::none(least.global_loads + least.global_stores + least.global_atomics,
                       "accesses to global memory"));
  }
}
