// Every rung of this chapter is right at every awkward size, and shares the work as it says; and
// what the lesson says about launches that go wrong is so.
#include <catch2/catch_test_macros.hpp>
#include <course/check.cuh>
#include <cstddef>
#include <vector>

#include "rungs.cuh"

namespace {

/// What is counted when a rung adds one to n elements.
course::Counters counted(const AddOneRung& rung, std::size_t n) {
  const auto d_x = course::DeviceBuffer<float>::from(course::position_values<float>(n));
  course::DeviceBuffer<float> d_y(n);
  return *course::count([&] { rung.launch(d_x.data(), n, d_y.data()); });
}

constexpr unsigned kRefusedBlock = 2048;  // no device has blocks of this size

/// CUDA 13 on a GPU calls an impossible launch an invalid value, older ones an invalid
/// configuration.
bool is_refusal(cudaError_t code) {
  return code == cudaErrorInvalidConfiguration || code == cudaErrorInvalidValue;
}

}  // namespace

TEST_CASE("every rung adds one to each element") {
  for (const AddOneRung& rung : add_one_rungs()) {
    for (const std::size_t n : course::all_sizes()) {
      INFO(rung.name << ", n = " << n);
      const std::vector<float> x = course::position_values<float>(n);
      const auto d_x = course::DeviceBuffer<float>::from(x);
      course::GuardedBuffer<float> y(n);
      rung.launch(d_x.data(), n, y.data());
      REQUIRE(course::same(y.download(), add_one_reference(x), "y"));
      REQUIRE(y.intact("y"));
      REQUIRE(course::same(d_x.download(), x, "x"));
    }
  }
}

TEST_CASE("one is added to 100 small integers") {  // a picture of the lesson shows this run
  std::vector<float> x(100);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i % 10);
  const auto d_x = course::DeviceBuffer<float>::from(x);
  course::GuardedBuffer<float> y(x.size());
  launch_add_one_grid(d_x.data(), x.size(), y.data());
  REQUIRE(course::same(y.download(), add_one_reference(x), "y"));
}

TEST_CASE("a warp loads 32 elements with one instruction, one thread needs 32") {
  course::skip_without_counters();
  constexpr std::size_t kN = 4096;
  for (const AddOneRung& rung : add_one_rungs()) {
    INFO(rung.name);
    REQUIRE(counted(rung, kN).global_loads == (rung.threads == 1 ? kN : kN / 32));
  }
}

TEST_CASE("the grid has a thread for each element") {
  course::skip_without_counters();
  for (const AddOneRung& rung : add_one_rungs()) {
    for (const std::size_t n : {1024, 1025}) {
      INFO(rung.name << ", n = " << n);
      const course::Counters c = counted(rung, n);
      REQUIRE(c.blocks == rung.blocks(n));
      REQUIRE(c.threads == c.blocks * rung.threads);
    }
  }
  const AddOneRung grid = add_one_rungs().back();
  REQUIRE(grid.blocks(1025) == 5);
  REQUIRE(grid.blocks(1024) == 4);
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
    REQUIRE(cudaGetLastError() == cudaSuccess);  // reading an error clears it
  }
}

TEST_CASE("an error that no call has read is reported after another launch") {
  course::skip_under_sanitizer();
  const std::vector<float> x = course::position_values<float>(33);
  const auto d_x = course::DeviceBuffer<float>::from(x);
  course::DeviceBuffer<float> d_y(x.size());
  add_one_grid<<<1, kRefusedBlock>>>(d_x.data(), x.size(), d_y.data());
  REQUIRE_THROWS_AS(launch_add_one_grid(d_x.data(), x.size(), d_y.data()), course::CudaError);
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

TEST_CASE("add_one_grid adds one to each of more than 2^32 elements") {
  constexpr std::size_t kN = (std::size_t{1} << 32) + 1000;
  course::skip_without_memory(2 * kN * sizeof(float));
  auto d_x = course::DeviceBuffer<float>::zeros(kN);
  course::DeviceBuffer<float> d_y(kN);
  d_y.fill_bytes(0xFF);
  launch_add_one_grid(d_x.data(), kN, d_y.data());
  for (const std::size_t first :
       {std::size_t{0}, kN / 2, (std::size_t{1} << 32) - 500, kN - 1000}) {
    INFO("y[" << first << "] and the 999 elements after it");
    std::vector<float> y(1000);
    CUDA_CHECK(cudaMemcpy(y.data(), d_y.data() + first, 4000, cudaMemcpyDeviceToHost));
    REQUIRE(course::same(y, std::vector<float>(1000, 1.0f), "y"));
  }
}
