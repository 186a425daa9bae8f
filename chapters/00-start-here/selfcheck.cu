// Every rung of this chapter is right at every awkward size, and shares the work as it says; and
// what the lesson says about launches that go wrong is so.
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

constexpr unsigned kRefusedBlock = 2048;  // no device has blocks of this size

/// CUDA 13 on a GPU calls an impossible launch an invalid value, older ones an invalid
/// configuration.
bool is_refusal(cudaError_t code) {
  return code == cudaErrorInvalidConfiguration || code == cudaErrorInvalidValue;
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

TEST_CASE("a launch that CUDA refuses changes nothing, and leaves an error") {
  course::skip_under_sanitizer();
  constexpr std::size_t kN = 4096;
  const auto d_x = course::DeviceBuffer<float>::from(course::position_values<float>(kN));
  auto d_y = course::DeviceBuffer<float>::zeros(kN);
  for (const unsigned blocks : {0u, 2u}) {
    INFO("<<<" << blocks << ", " << kRefusedBlock << ">>>");
    add_one_grid<<<blocks, kRefusedBlock>>>(d_x.data(), kN, d_y.data());
    const std::vector<float> y = d_y.download();  // succeeds: the launch's error is not its own
    REQUIRE(course::same(y, std::vector<float>(kN, 0.0f), "y"));
    REQUIRE(is_refusal(cudaGetLastError()));
    REQUIRE(cudaGetLastError() == cudaSuccess);  // whoever reads an error clears it
  }
}

TEST_CASE("an error that nobody read is reported behind another launch") {
  course::skip_under_sanitizer();
  const std::vector<float> x = course::position_values<float>(33);
  const auto d_x = course::DeviceBuffer<float>::from(x);
  course::DeviceBuffer<float> d_y(x.size());
  add_one_grid<<<1, kRefusedBlock>>>(d_x.data(), x.size(), d_y.data());
  REQUIRE_THROWS_AS(add_one_grid(d_x.data(), x.size(), d_y.data(), nullptr), course::CudaError);
  REQUIRE(course::same(d_y.download(), add_one_reference(x), "y"));  // the innocent launch ran
}

TEST_CASE("what goes wrong in a kernel shows at the next call that waits") {
  course::skip_without_checker();  // on a GPU no test could run after this one
  const auto d_x = course::DeviceBuffer<float>::from(course::position_values<float>(32));
  course::DeviceBuffer<float> d_y(31);
  cudaError_t launched = cudaErrorUnknown, waited = cudaSuccess;
  const course::Findings findings = course::find_races([&] {
    add_one_grid<<<1, 32>>>(d_x.data(), 32, d_y.data());
    launched = cudaGetLastError();
    waited = cudaDeviceSynchronize();
  });
  REQUIRE(launched == cudaSuccess);
  REQUIRE(waited == cudaErrorIllegalAddress);
  REQUIRE(findings.others == 1);
}
