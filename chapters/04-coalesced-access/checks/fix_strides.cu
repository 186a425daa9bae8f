// Check of the exercise fix_strides: right numbers at every size, under every kind of grid and from
// a start that suits pairs but nothing wider; then the sectors that the whole grid asks for.
#include "fix_strides.cuh"

#include <catch2/catch_test_macros.hpp>
#include <course/check.cuh>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace {

using Launch = course::LaunchShape;

/// Launches the kernel on n frames, of which the first is frame `start` of an allocation.
void check_launch(std::size_t n, Launch launch, std::size_t start, std::uint32_t seed) {
  const std::vector<float> all = course::position_values<float>(2 * (start + n), seed);
  std::vector<float> expected(n);
  for (std::size_t i = 0; i < n; ++i) {
    expected[i] = 0.5f * (all[2 * (start + i)] + all[2 * (start + i) + 1]);
  }
  const auto recording = course::DeviceBuffer<float>::from(all);
  course::GuardedBuffer<float> output(n);
  const float* const frames = all.empty() ? nullptr : recording.data() + 2 * start;
  float* const mono = output.data();
  mix_down<<<launch.grid, launch.block>>>(frames, n, mono);
  CUDA_CHECK_LAUNCH();
  REQUIRE(course::same(output.download(), expected, "mono"));
  REQUIRE(output.intact("mono"));
}

std::string describe(std::size_t n, Launch launch, std::size_t start) {
  return "n = " + std::to_string(n) + " frames; mix_down<<<" + std::to_string(launch.grid) + ", " +
         std::to_string(launch.block) + ">>>" +
         (start == 0 ? "" : "; frames begins at a multiple of 8 bytes, but not of 16");
}

/// Ok if the sectors are no more than there are in `bytes` bytes, and `slack` for a ragged end.
course::Verdict once_each(const char* what, std::uint64_t sectors, std::uint64_t bytes,
                          std::uint64_t slack) {
  const std::uint64_t fewest = (bytes + 31) / 32;
  if (sectors <= fewest + slack) return {};
  return {false, std::string(what) + ": the array lies in " + std::to_string(fewest) +
                     " sectors, and the warps' requests touch " + std::to_string(sectors) +
                     "; which addresses do the 32 lanes of a warp use in one access?"};
}

}  // namespace

TEST_CASE("fix_strides: mono is right at every size") {
  std::size_t turn = 0;  // another grid each time
  for (const std::size_t n : course::all_sizes()) {
    const std::vector<Launch> launches = course::launch_shapes(n);
    for (const std::size_t start : {0u, 1u}) {
      for (int repeat = 0; repeat < 3; ++repeat) {
        const Launch launch = launches[turn++ % launches.size()];
        INFO(describe(n, launch, start));
        check_launch(n, launch, start, static_cast<std::uint32_t>(turn));
      }
    }
  }
}

TEST_CASE("fix_strides: mono is right for every grid") {
  for (const Launch launch : course::launch_shapes(1025)) {
    INFO(describe(1025, launch, 0));
    check_launch(1025, launch, 0, 7);
  }
}

TEST_CASE("fix_strides: no sector is asked for twice") {
  course::skip_without_counters();
  struct Case {
    std::size_t n;
    Launch launch;
    std::uint64_t slack;  // sectors that a tail on its own may touch once more
  };
  for (const Case& c : {Case{4096, {4, 128}, 0}, Case{4096, {32, 128}, 0}, Case{4096, {1, 1024}, 0},
                        Case{2016, {3, 96}, 0}, Case{64, {9, 32}, 0}, Case{1023, {4, 64}, 2}}) {
    INFO(describe(c.n, c.launch, 0));
    const auto counters = course::count([&] { check_launch(c.n, c.launch, 0, 3); });
    REQUIRE(once_each("loads of frames", counters->global_load_sectors, 8 * c.n, c.slack));
    REQUIRE(once_each("stores to mono", counters->global_store_sectors, 4 * c.n, c.slack));
  }
}
