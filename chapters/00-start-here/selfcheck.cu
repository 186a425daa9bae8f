// Every rung of this chapter is right at every awkward size, and shares the work as it says.
#include <catch2/catch_test_macros.hpp>
#include <course/check.cuh>
#include <cstddef>
#include <vector>

#include "add_one.cuh"

namespace {

using Launcher = void (*)(const float*, std::size_t, float*, cudaStream_t);

struct Rung {
  const char* name;
  Launcher launch;
};
constexpr Rung kRungs[] = {{"add_one_one_thread", add_one_one_thread},
                           {"add_one_one_block", add_one_one_block},
                           {"add_one_grid", add_one_grid}};

course::Counters counted(Launcher launch, std::size_t n) {
  const auto d_x = course::DeviceBuffer<float>::from(course::position_values<float>(n));
  course::DeviceBuffer<float> d_y(n);
  return *course::count([&] { launch(d_x.data(), n, d_y.data(), nullptr); });
}

}  // namespace

TEST_CASE("every rung adds one to each element") {
  for (const Rung& rung : kRungs) {
    for (const std::size_t n : course::all_sizes()) {
      INFO(rung.name << ", n = " << n);
      const std::vector<float> x = course::position_values<float>(n);
      const auto d_x = course::DeviceBuffer<float>::from(x);
      course::GuardedBuffer<float> y(n);
      rung.launch(d_x.data(), n, y.data(), nullptr);
      REQUIRE(course::same(y.download(), add_one_reference(x), "y"));
      REQUIRE(y.intact("y"));
      REQUIRE(course::same(d_x.download(), x, "x"));
    }
  }
}

TEST_CASE("a warp loads 32 elements with one instruction, one thread needs 32") {
  course::skip_without_counters();
  constexpr std::size_t kN = 4096;
  REQUIRE(counted(add_one_one_thread, kN).global_loads == kN);
  REQUIRE(counted(add_one_one_block, kN).global_loads == kN / 32);
  REQUIRE(counted(add_one_grid, kN).global_loads == kN / 32);
}

TEST_CASE("the grid has a thread for each element") {
  course::skip_without_counters();
  REQUIRE(counted(add_one_one_thread, 1025).threads == 1);
  REQUIRE(counted(add_one_one_block, 1025).threads == kBlockSize);
  REQUIRE(counted(add_one_grid, 1025).blocks == 5);
  REQUIRE(counted(add_one_grid, 1024).blocks == 4);
}
