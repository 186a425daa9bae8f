// How much shared memory a block may have: variables and dynamic memory together, as on a GPU.
#include <cuda_runtime.h>

#include <catch2/catch_test_macros.hpp>
#include <cstddef>

#include "testing.hpp"

using namespace simt_test;

namespace {

__global__ void both_kinds_of_shared(int* x) {
  __shared__ int variables[256];
  extern __shared__ int dynamic[];
  dynamic[threadIdx.x] = static_cast<int>(threadIdx.x);
  variables[threadIdx.x] = dynamic[threadIdx.x];
  if (blockIdx.x == 0) x[threadIdx.x] = variables[threadIdx.x];
}

__global__ void add_without_atomic(int* x) { *x += 1; }

Outcome launched(std::size_t dynamic) {
  return observe([dynamic] {
    auto x = Array<int>::zeros(64);
    both_kinds_of_shared<<<2, 64, dynamic>>>(x.data());
    cudaDeviceSynchronize();
  });
}

constexpr std::size_t kAll = 48 * 1024, kVariables = 1024;
constexpr int kLarge = 100 * 1024;

}  // namespace

TEST_CASE("__shared__ variables count in what a launch may have without an opt-in") {
  CHECK(launched(kAll - kVariables).clean());
  const Outcome outcome = launched(kAll - kVariables + 4);
  CHECK(outcome.error == cudaErrorInvalidValue);
  CHECK(lacks(outcome.text(),
              {"KERNEL STOPPED in both_kinds_of_shared: a block has 48132 bytes of dynamic shared",
               "at least 1024 of __shared__ variables, and a GPU refuses a launch with more than",
               "49152 of both without cudaFuncSetAttribute", "shared_memory_test.cu:"}) == "");
}

TEST_CASE("an opt-in to more shared memory counts for variables, too") {
  cudaFuncSetAttribute(both_kinds_of_shared, cudaFuncAttributeMaxDynamicSharedMemorySize, kLarge);
  CHECK(launched(kLarge).clean());
  cudaFuncSetAttribute(both_kinds_of_shared, cudaFuncAttributeMaxDynamicSharedMemorySize, 0);
}

TEST_CASE("a kernel that was stopped for its shared memory leaves the checker as it was") {
  CHECK(launched(kAll).error == cudaErrorInvalidValue);
  const Outcome outcome = observe([] {
    auto x = Array<int>::zeros(1);
    add_without_atomic<<<2, 64>>>(x.data());
    cudaDeviceSynchronize();
  });
  CHECK(lacks(outcome.text(), {"DATA RACE in kernel add_without_atomic"}) == "");
}
