// What the lesson says of bits and single lanes: which sums are the same in every run, what each lane
// holds after a shuffle, and where half stagnates.
#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <course/check.cuh>
#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "rungs.cuh"

TEST_CASE("sum_pack_loads gives the same bits in every run, an atomic finish need not") {
  if (course::has_run_before()) return;  // it chooses its schedules itself: once is enough
  std::vector<float> x(6'000);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = 1.0f / static_cast<float>(i + 1);
  const auto d_x = course::DeviceBuffer<float>::from(x);
  using SmallBlocks = Tuning<2, 32, course::CacheHint::none>;  // many of them
  SumMemory<float> memory;
  std::set<float> by_last_block, by_atomics;
  for (std::uint64_t seed = 0; seed < 4; ++seed) {
    course::with_seed(seed, [&] {
      course::GuardedBuffer<float> y(1);
      launch_pack_loads<SmallBlocks>(d_x.data(), x.size(), y.data(), course::Sum{},
                                     memory.workspace);
      by_last_block.insert(y.download().front());
      course::Placed<float> z({0.0f}, 0);
      course::rung_named(sum_rungs<float>(), "sum_shuffle_down")
          .launch(d_x.data(), x.size(), z.data(), memory);
      by_atomics.insert(z.download().front());
    });
  }
  INFO("n = " << x.size() << ", 4 schedules");
  REQUIRE(course::same(by_last_block.size(), 1, "different sums of sum_pack_loads"));
  REQUIRE(course::close(*by_last_block.begin(), sum_reference(x), course::sum_tolerance(x), "y"));
  if (course::kCpuDevice) {  // a GPU's order cannot be chosen
    REQUIRE(course::at_least(by_atomics.size(), 2, "different sums of sum_shuffle_down"));
  }
}

TEST_CASE("sum_fixed_point gives the same bits for any grid and order, a float sum need not") {
  if (course::has_run_before()) return;  // it chooses its schedules itself: once is enough
  std::vector<float> x(6'000);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = 1.0f / static_cast<float>(1 + i * i % 97);
  const auto d_x = course::DeviceBuffer<float>::from(x);
  using Small = Tuning<2, 32, course::CacheHint::none>;
  using Large = Tuning<4, 256, course::CacheHint::none>;
  TwoCells<unsigned long long> cells;
  Workspace<float> workspace;
  course::Placed<float> y({0.0f}, 0);
  std::set<double> fixed;
  std::set<float> floats;
  for (std::uint64_t seed = 0; seed < 4; ++seed) {
    course::with_seed(seed, [&] {
      fixed.insert(fixed_point_sum(launch_fixed_point<Small>(d_x.data(), x.size(), cells)));
      fixed.insert(fixed_point_sum(launch_fixed_point<Large>(d_x.data(), x.size(), cells)));
      launch_pack_loads<Small>(d_x.data(), x.size(), y.data(), course::Sum{}, workspace);
      floats.insert(y.download().front());
      launch_pack_loads<Large>(d_x.data(), x.size(), y.data(), course::Sum{}, workspace);
      floats.insert(y.download().front());
    });
  }
  INFO("n = " << x.size() << ", 2 grids, 4 schedules");
  REQUIRE(course::same(fixed.size(), 1, "different sums of sum_fixed_point"));
  // One for each grid.
  REQUIRE(course::same(floats.size(), 2, "different sums of sum_pack_loads, in float"));
  const double bound = 0x1p-33 * static_cast<double>(x.size());  // half a unit per element
  REQUIRE(course::close(*fixed.begin(), sum_reference(x), bound, "the sum"));
}

TEST_CASE("warp_sum_down leaves the sum in lane 0 alone, warp_sum_xor in all lanes") {
  const std::vector<float> x = course::position_values<float>(1024);
  const auto d_x = course::DeviceBuffer<float>::from(x);
  course::GuardedBuffer<float> down(x.size()), all(x.size());
  course::launch(lane_sums_down, {blocks_for(x.size()), kBlockSize}, d_x.data(), x.size(),
                 down.data());
  course::launch(lane_sums_xor, {blocks_for(x.size()), kBlockSize}, d_x.data(), x.size(),
                 all.data());
  std::vector<float> expected_down = x, expected_all(x.size());
  std::size_t right = 0;  // of the lanes other than 0
  for (std::size_t first = 0; first < x.size(); first += 32) {
    float* const lanes = expected_down.data() + first;
    for (std::size_t distance = 16; distance > 0; distance /= 2) {
      for (std::size_t l = 0; l < 32; ++l) {  // upwards: lane l + distance still has its old value
        lanes[l] += l + distance < 32 ? lanes[l + distance] : lanes[l];
      }
    }
    float sum = 0.0f;
    for (std::size_t l = 0; l < 32; ++l) sum += x[first + l];
    REQUIRE(course::same(lanes[0], sum, "lane 0 of each warp has the sum"));
    for (std::size_t l = 0; l < 32; ++l) {
      expected_all[first + l] = sum;
      right += l > 0 && lanes[l] == sum ? 1 : 0;
    }
  }
  REQUIRE(course::same(down.download(), expected_down, "what the lanes hold after shfl_down"));
  REQUIRE(course::same(all.download(), expected_all, "what the lanes hold after shfl_xor"));
  INFO("n = " << x.size());
  REQUIRE(course::at_most(right, x.size() / 20 - 1,
                          "of " + std::to_string(x.size() - x.size() / 32) +
                              " other lanes have the sum after shfl_down, by chance"));
}

TEST_CASE("half stagnates at 2048, and overflows at 65504; float does neither") {
  course::Placed<float> y({0.0f}, 0);
  for (const ComputeTypeRung& rung : kComputeTypeRungs) {
    INFO(rung.name << ", " << rung.count << " times " << rung.value);
    const auto d_x = course::DeviceBuffer<__half>::from(rung.values());
    rung.launch(d_x.data(), rung.count, y.data());
    REQUIRE(course::same(y.download().front(), static_cast<float>(rung.sum), "y"));
    REQUIRE((rung.sum == rung.right()) == rung.because.empty());
    rung.launch(d_x.data(), 0, y.data());
    REQUIRE(course::same(y.download().front(), 0.0f, "y of no element"));
    SumMemory<float> memory;
    sum_pack_loads(d_x.data(), rung.count, y.data(), memory.workspace);
    REQUIRE(course::same(y.download().front(), static_cast<float>(rung.right()),
                         "y of sum_pack_loads"));
  }
  const auto large = course::DeviceBuffer<__half>::from(kComputeTypeRungs.back().values());
  add_in_half(large.data(), large.size(), y.data());
  REQUIRE(std::isinf(y.download().front()));  // 65536 is above the largest half, 65504
}
