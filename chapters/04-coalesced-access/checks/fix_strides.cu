// Check of the exercise fix_strides: right numbers at every size, under every kind of grid and from
// starts that suit pairs but nothing wider; then the sectors that the whole grid touches, and the
// requests that it takes; then more than 2^32 frames.
#include "fix_strides.cuh"

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <course/check.cuh>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace fix_strides_check {

using Launch = course::LaunchShape;

/// Where the arrays begin: frames, and floats, past a multiple of 32 bytes.
struct Starts {
  std::size_t frames, mono;
};

/// Ok if the elements before mono[0] are the NaN that they were.
course::Verdict untouched(const std::vector<float>& before) {
  for (const float value : before) {
    if (value == value) return {false, "an element before mono[0] was written"};
  }
  return {};
}

/// Launches the kernel on these frames. The memory before them was never written: the CPU device reports
/// reads of it.
void check_frames(const std::vector<float>& x, Launch launch, Starts starts) {
  const std::size_t n = x.size() / 2;
  std::vector<float> expected(n);
  for (std::size_t i = 0; i < n; ++i) expected[i] = 0.5f * (x[2 * i] + x[2 * i + 1]);
  const course::Placed<float> recording(x, 2 * starts.frames);
  course::GuardedBuffer<float> output(starts.mono + n);
  output.fill_bytes(course::GuardedBuffer<float>::kPoison);
  const float* const frames = recording.data();
  float* const mono = output.data() + starts.mono;
  course::launch(mix_down, {launch.grid, launch.block}, frames, n, mono);
  const std::vector<float> all = output.download();
  const auto first = all.begin() + static_cast<std::ptrdiff_t>(starts.mono);
  REQUIRE(course::same(std::vector<float>(first, all.end()), expected, "mono", [&](std::size_t i) {
    return course::elements_text("frames", x, 2 * i, 2 * i + 2);
  }));
  REQUIRE(untouched(std::vector<float>(all.begin(), first)));
  REQUIRE(output.intact("mono"));
}

void check_launch(std::size_t n, Launch launch, Starts starts, std::uint32_t seed) {
  check_frames(course::position_values<float>(2 * n, seed), launch, starts);
}

std::string describe(std::size_t n, Launch launch, Starts starts) {
  return "n = " + std::to_string(n) + " frames; " + course::launch_text("mix_down", launch) +
         (starts.frames == 0 ? "" : "; frames begins at a multiple of 8 bytes, but not of 16") +
         (starts.mono == 0 ? "" : "; mono begins at a multiple of 4 bytes, but not of 8");
}

/// Ok if the sectors are no more than there are in `bytes` bytes, and `slack` for a ragged end.
/// `twice` says how an access may be made of two.
course::Verdict once_each(const std::string& what, const char* array, std::uint64_t sectors,
                          std::uint64_t bytes, std::uint64_t slack, const char* twice) {
  const std::uint64_t fewest = (bytes + 31) / 32;
  if (sectors <= fewest + slack) return {};
  const bool each_twice = sectors == 2 * fewest;
  return {false, what + " of the whole grid touch " + std::to_string(sectors) + " sectors, but " +
                     array + " is in " + std::to_string(fewest) + ".\n" +
                     (each_twice ? twice
                                 : "Which addresses do the 32 lanes of a warp use in one access? "
                                   "Is each element accessed once?")};
}

/// The last frames of more than 2^32. Neither array begins where two frames or numbers could be one access.
void check_end() {
  const std::size_t n = course::kLastItems;
  const std::vector<float> x = course::position_values<float>(2 * n);
  std::vector<float> expected(n);
  for (std::size_t i = 0; i < n; ++i) expected[i] = 0.5f * (x[2 * i] + x[2 * i + 1]);
  const course::Placed<float> recording(x, 2);
  course::Placed<float> output(std::vector<float>(n, -1.0f), 1);
  INFO(describe(course::kHugeItems, course::kHugeGrid, {1, 1}));
  course::at_end_of_huge_grid([&](Launch grid, std::size_t items) {
    const std::size_t before = items - n;
    const float* const frames = recording.data() - 2 * before;
    float* const mono = output.data() - before;
    const auto c = course::count([&] {
      course::launch(mix_down, {grid.grid, grid.block}, frames, items, mono);
    });
    REQUIRE(course::same(output.download(), expected, "(mono + 4294967264)"));
    REQUIRE(course::at_most(c->global_store_lanes, course::kLastItems,
                            "stores by the threads of the last two blocks",
                            "each number is stored once"));
  });
}

/// Checks the first and the last numbers of an array that the host has no copy of.
void check_many(std::size_t n) {
  course::skip_without_memory(12 * n);
  course::DeviceBuffer<float> frames(2 * n);
  course::DeviceBuffer<float> mono(n);
  frames.fill_bytes(0);
  mono.fill_bytes(course::GuardedBuffer<float>::kPoison);
  constexpr std::size_t kEnd = 4096;  // the last frames, the only ones that are not 0
  const std::vector<float> end = course::position_values<float>(2 * kEnd);
  CUDA_CHECK(cudaMemcpy(frames.data() + 2 * (n - kEnd), end.data(), end.size() * sizeof(float),
                        cudaMemcpyHostToDevice));
  INFO(describe(n, {1024, 256}, {0, 0}));
  course::launch(mix_down, {1024, 256}, frames.data(), n, mono.data());
  std::vector<float> expected(kEnd);
  for (std::size_t i = 0; i < kEnd; ++i) expected[i] = 0.5f * (end[2 * i] + end[2 * i + 1]);
  std::vector<float> found(kEnd);
  CUDA_CHECK(cudaMemcpy(found.data(), mono.data() + (n - kEnd), kEnd * sizeof(float),
                        cudaMemcpyDeviceToHost));
  REQUIRE(course::same(found, expected, "mono (its last 4096 numbers)"));
  CUDA_CHECK(cudaMemcpy(found.data(), mono.data(), kEnd * sizeof(float), cudaMemcpyDeviceToHost));
  REQUIRE(course::same(found, std::vector<float>(kEnd, 0.0f), "mono (its first 4096 numbers)"));
}

// Promise: mono[i] is the mean of the two samples of frame i, for every n, 0 included.
// Promise: frames begins at a multiple of 8 bytes, not always at one of 16, and mono at a multiple
// of 4 (MISALIGNED ACCESS).
// Promise: nothing outside of the two arrays is read or written (UNINITIALISED MEMORY, OUT OF
// BOUNDS, and elements before mono[0] that are compared).
TEST_CASE("fix_strides: mono is right at every size") {
  std::size_t turn = 0;  // another grid each time
  for (const std::size_t n : course::all_sizes()) {
    const std::vector<Launch> launches = course::launch_shapes(n);
    for (const Starts starts : {Starts{0, 0}, Starts{1, 0}, Starts{0, 1}, Starts{1, 1}}) {
      for (int repeat = 0; repeat < 2; ++repeat) {
        course::in_launch(launches[turn++ % launches.size()], [&](Launch launch) {
          INFO(describe(n, launch, starts));
          check_launch(n, launch, starts, static_cast<std::uint32_t>(turn));
        });
      }
    }
  }
}

// Promise: the mean is half of the sum of two floats, whatever they are.
TEST_CASE("fix_strides: negative, large, infinite and very small numbers") {
  constexpr float large = INFINITY, least = 0x1p-149f;
  const std::vector<float> x = {-1.0f,  -2.0f,  -1.5f, 0.5f,   1e8f,  1.0f,  large, 1.0f,
                                -large, -large, 2e38f, -2e38f, 3.0f,  -3.0f, large, large,
                                0.0f,   0.0f,   3e38f, 3e38f,  least, least, least, -3 * least};
  INFO(describe(x.size() / 2, {1, 32}, {0, 0}));
  check_frames(x, {1, 32}, {0, 0});
}

// Promise: the kernel is right for every one-dimensional grid of blocks of whole warps.
TEST_CASE("fix_strides: mono is right for every grid") {
  for (const Launch launch : course::launch_shapes(1025)) {
    INFO(describe(1025, launch, {0, 0}));
    check_launch(1025, launch, {0, 0}, 7);
  }
}

// Promise: no sector is requested twice, but at the end. Where an array begins within a sector, each request
// touches one more.
// Promise: the threads of the grid share the work: a store of a warp writes 32 numbers, and fewer
// only at the end of mono (stores, and the busiest warp).
// Promise: plain loads and stores, no atomics.
TEST_CASE("fix_strides: no sector is touched twice") {
  course::skip_without_counters();
  struct Case {
    std::size_t n;
    Launch launch;
    std::uint64_t slack;  // sectors that a tail on its own may touch once more
    Starts starts;
  };
  for (const Case& c : {Case{4096, {4, 128}, 0, {0, 0}}, Case{4096, {32, 128}, 0, {0, 0}},
                        Case{4096, {1, 1024}, 0, {0, 0}}, Case{4096, {7, 96}, 0, {0, 0}},
                        Case{2016, {3, 96}, 0, {0, 0}}, Case{64, {9, 32}, 0, {0, 0}},
                        Case{1023, {4, 64}, 2, {0, 0}}, Case{4096, {4, 128}, 2, {1, 1}},
                        Case{64, {1, 64}, 2, {1, 1}}}) {
    INFO(describe(c.n, c.launch, c.starts));
    const auto counters = course::count([&] { check_launch(c.n, c.launch, c.starts, 3); });
    const std::uint64_t warps = (c.n + 31) / 32;
    // From within a sector on, each request touches one more.
    const std::uint64_t more = c.starts.frames == 0 ? 0 : warps;
    REQUIRE(once_each("the loads", "frames", counters->global_load_sectors, 8 * c.n,
                      c.slack + 2 * more,
                      "Each is loaded twice, by two accesses such as p[i].x and p[i].y: can one "
                      "load both?"));
    REQUIRE(once_each("the stores", "mono", counters->global_store_sectors, 4 * c.n, c.slack + more,
                      "Each is stored twice: is a number stored before it is complete?"));
    constexpr const char* kLanes = "do all 32 lanes of a warp take part in each?";
    // Samples that are loaded one by one, side by side, and meet by a shuffle take twice as many.
    REQUIRE(
        course::at_most(counters->global_loads, 2 * warps + 2, "loads of the whole grid", kLanes));
    REQUIRE(course::at_most(counters->global_stores, warps + (c.n % 32 == 0 ? 0 : 2),
                            "stores of the whole grid", kLanes));
    REQUIRE(course::none(counters->global_atomics + counters->shared_atomics,
                         "atomics of the whole grid", "plain loads and stores will do"));
    const std::size_t threads = std::size_t{c.launch.grid} * c.launch.block;
    const std::uint64_t turns = (c.n + threads - 1) / threads;
    // 2 loads and a store in each turn, and an end. A thread may load four frames before it stores any.
    REQUIRE(course::work_is_shared(*counters, 3 * std::max<std::uint64_t>(turns, 4) + 3));
  }
}

// Promise: a grid may have more than 2^32 threads, and n may be more than 2^32 (the CPU device runs the
// last two blocks of a grid that has a thread for each frame).
TEST_CASE("fix_strides: more than 2^32 frames") {
  if (course::kCpuDevice) return check_end();
  for (const unsigned bits : {31u, 32u}) check_many((std::size_t{1} << bits) + 77);
}

}  // namespace fix_strides_check
