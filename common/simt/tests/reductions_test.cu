// Reductions of several 16-bit numbers in one request: where they may go, and what the checker sees
// of them. What they compute is in common/tests/device_test.cu, which runs on a GPU as well.
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <catch2/catch_test_macros.hpp>
#include <course/check.cuh>
#include <simt/reductions.hpp>
#include <string>

using course::DeviceBuffer;

namespace {

enum class Operation { add, minimum, maximum };

template <class Pair, int n>
__device__ void reduce(Operation operation, Pair* p, const Pair (&v)[n]) {
  if (operation == Operation::add) simt::reduce_add(p, v);
  if (operation == Operation::minimum) simt::reduce_min(p, v);
  if (operation == Operation::maximum) simt::reduce_max(p, v);
}

__global__ void reduce_everywhere(Operation operation, __half2* x, std::size_t first) {
  const __half2 one(__half(1), __half(1));
  const __half2 v[4] = {one, one, one, one};
  reduce(operation, x + first, v);
}

__global__ void reduce_in_shared(Operation operation, __half2* y) {
  __shared__ __half2 s_x[1];
  s_x[0] = __half2(__half(0), __half(0));
  const __half2 v[1] = {__half2(__half(1), __half(1))};
  reduce(operation, s_x, v);
  *y = s_x[0];
}

/// Block 0 reduces four numbers; block 1 takes a look at the last one, or brings a number to it.
__global__ void reduce_and_look(Operation operation, __half2* x, bool atomically, __half* y) {
  const __half2 one(__half(1), __half(1));
  const __half2 v[2] = {one, one};
  if (blockIdx.x == 0) {
    reduce(operation, x, v);
  } else if (atomically) {
    atomicAdd(&x[1].y, __half(1));
  } else {
    *y = x[1].y;
  }
}

constexpr Operation kOperations[] = {Operation::add, Operation::minimum, Operation::maximum};

bool has(const course::Findings& findings, const std::string& text) {
  return !findings.texts.empty() && findings.texts.front().find(text) != std::string::npos;
}

}  // namespace

TEST_CASE("several numbers are one request: aligned to all of their bytes, inside the array") {
  for (const Operation operation : kOperations) {
    auto x = DeviceBuffer<__half2>::zeros(10);
    const auto run = [&](std::size_t first) {
      return course::find_races([&] {
        reduce_everywhere<<<1, 1>>>(operation, x.data(), first);
        CUDA_CHECK(cudaDeviceSynchronize());
      });
    };
    CHECK(run(4).texts.empty());
    CHECK(has(run(2), "MISALIGNED"));
    const course::Findings outside = run(8);
    CHECK(has(outside, "OUT OF BOUNDS"));
    CHECK(has(outside, "16 bytes"));
    CHECK(has(outside, "reductions_test.cu"));
  }
}

TEST_CASE("a reduction of several numbers in shared memory stops the kernel") {
  auto y = DeviceBuffer<__half2>::zeros(1);
  for (const Operation operation : kOperations) {
    const course::Findings findings = course::find_races([&] {
      reduce_in_shared<<<1, 1>>>(operation, y.data());
      CUDA_CHECK(cudaDeviceSynchronize());
    });
    CHECK(has(findings, "works on global memory only, and this is shared memory"));
    CHECK(has(findings, "reductions_test.cu"));
  }
}

TEST_CASE("a plain read of a number beside a reduction is a race, another atomic is none") {
  auto y = DeviceBuffer<__half>::zeros(1);
  for (const Operation operation : kOperations) {
    auto x = DeviceBuffer<__half2>::zeros(2);
    CHECK(course::expect_race(
        [&] { reduce_and_look<<<2, 1>>>(operation, x.data(), false, y.data()); }));
    const course::Findings findings =
        course::find_races([&] { reduce_and_look<<<2, 1>>>(operation, x.data(), true, y.data()); });
    CHECK(findings.races == 0);
    CHECK(findings.others == 0);
  }
}
