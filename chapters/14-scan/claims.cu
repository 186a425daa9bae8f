// What the lesson says: which scans of floats have the same bits in every run, and how exact they are.
#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <course/check.cuh>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <set>
#include <utility>
#include <vector>

#include "testing.cuh"

using namespace scan_testing;

namespace scan_testing {

/// The bits of an output, which are compared where -0 is not 0.
inline std::vector<std::uint32_t> bits_of(const course::DeviceBuffer<float>& out) {
  const std::vector<float> sums = out.download();
  std::vector<std::uint32_t> bits(sums.size());
  std::memcpy(bits.data(), sums.data(), out.bytes());
  return bits;
}

}  // namespace scan_testing

TEST_CASE(
    "a look-back to the nearest prefix gives other last bits in another run, the others do not") {
  course::skip_without_checker();  // a GPU's order cannot be chosen
  static bool done = false;        // it chooses its schedules itself: once is enough
  if (std::exchange(done, true)) return;
  const std::vector<float> x = rounded_input(6'000);
  const auto d_x = course::DeviceBuffer<float>::from(x);
  for (const ScanRung& rung : small_rungs()) {
    std::set<std::vector<std::uint32_t>> seen;
    for (std::uint64_t seed = 0; seed < 8; ++seed) {
      course::with_seed(seed, [&] {
        course::DeviceBuffer<float> out(x.size());
        ScanMemory memory;
        rung.launch(d_x.data(), x.size(), out.data(), memory);
        seen.insert(bits_of(out));
      });
    }
    INFO(rung.name << ", n = " << x.size());
    constexpr const char* kOutputs = "different outputs under 8 schedules";
    if (rung.same_bits) REQUIRE(course::same(seen.size(), 1, kOutputs));
    if (!rung.same_bits) REQUIRE(course::at_least(seen.size(), 2, kOutputs));
  }
}

TEST_CASE("sums of segments have the same bits in every run") {
  course::skip_without_checker();  // a GPU's order cannot be chosen
  static bool done = false;        // it chooses its schedules itself: once is enough
  if (std::exchange(done, true)) return;
  const std::vector<float> x = rounded_input(6'000);
  const auto d_x = course::DeviceBuffer<float>::from(x);
  // Several segments in a tile, and several tiles in a segment.
  for (const std::size_t length : {70u, 2'500u}) {
    std::vector<unsigned> keys(x.size());
    for (std::size_t i = 0; i < x.size(); ++i) keys[i] = static_cast<unsigned>(i / length);
    const auto d_keys = course::DeviceBuffer<unsigned>::from(keys);
    std::set<std::vector<std::uint32_t>> seen;
    for (std::uint64_t seed = 0; seed < 8; ++seed) {
      course::with_seed(seed, [&] {
        course::DeviceBuffer<float> out(x.size());
        course::LookBackMemory<float> memory;
        launch_scan_segments_shaped<SegmentsInGroups<1>, SmallShape>(
            d_x.data(), x.size(), ByKey<unsigned>{d_keys.data()}, out.data(), memory);
        seen.insert(bits_of(out));
      });
    }
    INFO("segments of " << length << ", n = " << x.size());
    REQUIRE(course::same(seen.size(), 1, "different outputs under 8 schedules"));
  }
}

TEST_CASE("every scan of rounded sums stays within the bound of a sum") {
  const std::vector<float> x = rounded_input(course::kCpuDevice ? 2'500 : 1'000'007);
  const std::vector<double> expected = scan_reference(x);
  const double tolerance = course::sum_tolerance(x);
  const auto d_x = course::DeviceBuffer<float>::from(x);
  for (const ScanRung& rung : small_rungs()) {
    INFO(rung.name << ", n = " << x.size());
    course::DeviceBuffer<float> out(x.size());
    ScanMemory memory;
    rung.launch(d_x.data(), x.size(), out.data(), memory);
    const std::vector<float> sums = out.download();
    double worst = 0;
    for (std::size_t i = 0; i < x.size(); ++i) {
      worst = std::max(worst, std::abs(static_cast<double>(sums[i]) - expected[i]));
    }
    INFO("the largest error is " << worst << ", and may be " << tolerance);
    REQUIRE(worst <= tolerance);
  }
}
