// What host code does: what it has not given back, when its work ran, and a call that fails.
#include <cuda_runtime.h>

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <stdexcept>
#include <string>
#include <vector>

#include "simt/testing.hpp"

namespace {

constexpr int kCount = 64;
constexpr std::size_t kBytes = kCount * sizeof(int);

__global__ void set_index(int* values) { values[threadIdx.x] = static_cast<int>(threadIdx.x); }

using Kind = simt::Work::Kind;

std::vector<Kind> kinds(const std::vector<simt::Work>& log) {
  std::vector<Kind> result;
  for (const simt::Work& work : log) result.push_back(work.kind);
  return result;
}

/// What is held now and was not before.
std::vector<simt::Holding> new_holdings(const std::vector<simt::Holding>& before) {
  std::vector<simt::Holding> list = simt::holdings();
  list.erase(std::remove_if(list.begin(), list.end(),
                            [&](const simt::Holding& holding) {
                              return std::any_of(before.begin(), before.end(), [&](const auto& b) {
                                return b.handle == holding.handle;
                              });
                            }),
             list.end());
  return list;
}

bool is_at(const std::string& line, int expected) {
  return line == "common/simt/tests/host_code_test.cu:" + std::to_string(expected);
}

}  // namespace

// ---- what is held -------------------------------------------------------------------------------

TEST_CASE("what is not given back is held, with the line that made it") {
  const auto before = simt::holdings();
  int *device = nullptr, *managed = nullptr, *pinned = nullptr, *in_stream = nullptr;
  cudaStream_t stream = nullptr;
  cudaEvent_t event = nullptr;
  const int first = __LINE__ + 1;
  REQUIRE(cudaMalloc(&device, kBytes) == cudaSuccess);
  REQUIRE(cudaMallocManaged(&managed, kBytes) == cudaSuccess);
  REQUIRE(cudaMallocHost(&pinned, kBytes) == cudaSuccess);
  REQUIRE(cudaStreamCreate(&stream) == cudaSuccess);
  REQUIRE(cudaEventCreate(&event) == cudaSuccess);
  REQUIRE(cudaMallocAsync(&in_stream, 2 * kBytes, stream) == cudaSuccess);
  using HoldingKind = simt::Holding::Kind;
  struct Row {
    const void* handle;
    HoldingKind kind;
    std::size_t bytes;
    int line;
  };
  const Row rows[] = {
      {device, HoldingKind::device_memory, kBytes, first},
      {managed, HoldingKind::managed_memory, kBytes, first + 1},
      {pinned, HoldingKind::pinned_memory, kBytes, first + 2},
      {stream, HoldingKind::stream, 0, first + 3},
      {event, HoldingKind::event, 0, first + 4},
      {in_stream, HoldingKind::device_memory, 2 * kBytes, first + 5},
  };
  const auto held = new_holdings(before);
  CHECK(held.size() == std::size(rows));
  const void* const in_order[] = {device, managed, pinned, in_stream, stream, event};
  for (std::size_t i = 0; i < held.size(); ++i) CHECK(held[i].handle == in_order[i]);
  for (const Row& row : rows) {
    INFO("line " << row.line);
    const auto it = std::find_if(held.begin(), held.end(),
                                 [&](const auto& h) { return h.handle == row.handle; });
    REQUIRE(it != held.end());
    CHECK(it->kind == row.kind);
    CHECK(it->bytes == row.bytes);
    CHECK(is_at(it->line(), row.line));
  }
  REQUIRE(cudaFreeAsync(in_stream, stream) == cudaSuccess);  // the stream has not run yet
  REQUIRE(cudaStreamDestroy(stream) == cudaSuccess);
  REQUIRE(cudaEventDestroy(event) == cudaSuccess);
  REQUIRE(cudaFreeHost(pinned) == cudaSuccess);
  REQUIRE(cudaFree(managed) == cudaSuccess);
  REQUIRE(cudaFree(device) == cudaSuccess);
  CHECK(new_holdings(before).empty());
}

TEST_CASE("memory that a stream gives back is held no more, whether or not the host waited") {
  const auto before = simt::holdings();
  int* memory = nullptr;
  REQUIRE(cudaMallocAsync(&memory, kBytes, nullptr) == cudaSuccess);
  REQUIRE(cudaFreeAsync(memory, nullptr) == cudaSuccess);
  CHECK(new_holdings(before).empty());
}

// ---- when work ran ------------------------------------------------------------------------------

TEST_CASE("the log has kernels, copies, memsets and allocations, in the order in which they ran") {
  const simt::WorkLog log;
  std::vector<int> host(kCount);
  int* device = nullptr;
  REQUIRE(cudaMalloc(&device, kBytes) == cudaSuccess);
  REQUIRE(cudaMemset(device, 0, kBytes) == cudaSuccess);
  REQUIRE(cudaMemcpy(device, host.data(), kBytes, cudaMemcpyHostToDevice) == cudaSuccess);
  set_index<<<1, kCount>>>(device);
  CHECK(kinds(log.work()).back() == Kind::kernel);  // it waits
  REQUIRE(cudaMemcpyAsync(host.data(), device, kBytes, cudaMemcpyDeviceToHost) == cudaSuccess);
  REQUIRE(cudaFree(device) == cudaSuccess);
  const auto work = log.work();
  REQUIRE(kinds(work) == std::vector{Kind::allocation, Kind::memset, Kind::copy, Kind::kernel,
                                     Kind::copy, Kind::release});
  for (std::size_t i = 0; i < work.size(); ++i) {
    CHECK(work[i].begin <= work[i].end);
    if (i > 0) CHECK(work[i - 1].end <= work[i].begin);
  }
}

TEST_CASE("a launch takes its time when the host waits for it, and not before") {
  int* device = nullptr;
  REQUIRE(cudaMalloc(&device, kBytes) == cudaSuccess);
  const simt::WorkLog log;
  set_index<<<1, kCount>>>(device);
  const auto launched = std::chrono::steady_clock::now();
  REQUIRE(cudaDeviceSynchronize() == cudaSuccess);
  const auto waited = std::chrono::steady_clock::now();
  REQUIRE(log.work().size() == 1);
  CHECK(log.work()[0].begin >= launched);
  CHECK(log.work()[0].end <= waited);
  REQUIRE(cudaFree(device) == cudaSuccess);
}

TEST_CASE("a log has what ran since it was made, also inside of another one") {
  int* device = nullptr;
  const simt::WorkLog outer;
  REQUIRE(cudaMalloc(&device, kBytes) == cudaSuccess);
  set_index<<<1, kCount>>>(device);
  {
    const simt::WorkLog inner;
    REQUIRE(cudaFree(device) == cudaSuccess);
    CHECK(kinds(inner.work()) == std::vector{Kind::release});
  }
  CHECK(kinds(outer.work()) == std::vector{Kind::allocation, Kind::kernel, Kind::release});
}

// ---- a call that fails --------------------------------------------------------------------------

TEST_CASE("the call with the number fails, does nothing, and the others succeed") {
  int *first = nullptr, *second = nullptr;
  const simt::FailingCall failing(2, cudaErrorUnknown);
  CHECK(cudaMalloc(&first, kBytes) == cudaSuccess);
  CHECK(failing.line().empty());
  const int line = __LINE__ + 1;
  CHECK(cudaMalloc(&second, kBytes) == cudaErrorUnknown);
  CHECK(second == nullptr);
  CHECK(is_at(failing.line(), line));
  CHECK(cudaGetLastError() == cudaErrorUnknown);
  CHECK(cudaMalloc(&second, kBytes) == cudaSuccess);
  CHECK(cudaFree(first) == cudaSuccess);
  CHECK(cudaFree(second) == cudaSuccess);
  CHECK(cudaGetLastError() == cudaSuccess);
}

TEST_CASE("a launch that fails does not run, and leaves its error") {
  const std::vector<int> zeros(kCount);
  int* device = nullptr;
  REQUIRE(cudaMalloc(&device, kBytes) == cudaSuccess);
  REQUIRE(cudaMemcpy(device, zeros.data(), kBytes, cudaMemcpyHostToDevice) == cudaSuccess);
  const int line = __LINE__ + 3;
  {
    const simt::FailingCall failing(1, cudaErrorLaunchOutOfResources);
    set_index<<<1, kCount>>>(device);
    CHECK(is_at(failing.line(), line));
    CHECK(cudaGetLastError() == cudaErrorLaunchOutOfResources);
  }
  CHECK(cudaDeviceSynchronize() == cudaSuccess);
  std::vector<int> after(kCount, 7);
  REQUIRE(cudaMemcpy(after.data(), device, kBytes, cudaMemcpyDeviceToHost) == cudaSuccess);
  CHECK(after == zeros);
  REQUIRE(cudaFree(device) == cudaSuccess);
}

TEST_CASE("calls that give something back are not numbered, nor those that need no device") {
  int *device = nullptr, *pinned = nullptr;
  cudaStream_t stream = nullptr;
  cudaEvent_t event = nullptr;
  REQUIRE(cudaMalloc(&device, kBytes) == cudaSuccess);
  REQUIRE(cudaMallocHost(&pinned, kBytes) == cudaSuccess);
  REQUIRE(cudaStreamCreate(&stream) == cudaSuccess);
  REQUIRE(cudaEventCreate(&event) == cudaSuccess);
  const simt::FailingCall failing(1, cudaErrorUnknown);
  int number = 0;
  CHECK(cudaGetDeviceCount(&number) == cudaSuccess);
  CHECK(cudaGetDevice(&number) == cudaSuccess);
  CHECK(cudaSetDevice(0) == cudaSuccess);
  CHECK(cudaFreeAsync(device, stream) == cudaSuccess);
  CHECK(cudaFree(nullptr) == cudaSuccess);
  CHECK(cudaFreeHost(pinned) == cudaSuccess);
  CHECK(cudaEventDestroy(event) == cudaSuccess);
  CHECK(cudaStreamDestroy(stream) == cudaSuccess);
  CHECK(cudaGetLastError() == cudaSuccess);
  CHECK(failing.line().empty());
  CHECK(cudaDeviceSynchronize() == cudaErrorUnknown);
}

TEST_CASE("what was planned ends with its FailingCall, and there is one at a time") {
  {
    const simt::FailingCall failing(1, cudaErrorUnknown);
    CHECK_THROWS_AS(simt::FailingCall(1, cudaErrorUnknown), std::logic_error);
  }
  CHECK(cudaDeviceSynchronize() == cudaSuccess);
}
