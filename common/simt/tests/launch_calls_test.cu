// cudaLaunchKernel() and its relatives: kernels by their address, arguments by pointers to them.
#include <cuda_runtime.h>

#include <catch2/catch_test_macros.hpp>
#include <cstddef>
#include <string>
#include <vector>

#include "testing.hpp"

using namespace simt_test;
using simt::ReportKind;

namespace {

struct Weights {
  char tag;
  double scale, offset;
};

__global__ void weigh(const float* x, float* y, const Weights w, short shift, unsigned n) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  cudaGridDependencySynchronize();  // for the launch that may begin early
  if (i >= n) return;
  y[i] = static_cast<float>(w.scale * static_cast<double>(x[i]) + w.offset) + shift;
}

template <class T, int factor = 2>
__global__ void multiply(T* x) {
  x[threadIdx.x] *= factor;
}

template <class... Values>
__global__ void sum_all(double* out, Values... values) {
  *out = (0.0 + ... + static_cast<double>(values));
}

__global__ void overloaded(int* out) { *out = 1; }
__global__ void overloaded(float* out) { *out = 2; }

__global__ void nothing() {}

__global__ void __launch_bounds__(64) fill_shared(int* out, int count) {
  extern __shared__ int s_values[];
  for (int i = 0; i < count; ++i) s_values[i] = i;
  out[0] = s_values[count - 1];
}

__global__ void write_one(int* values, int index) { values[index] = 1; }

__global__ void apply(int (*function)(int), int a[], int* out) { *out = function(a[0]); }
__device__ int twice(int x) { return 2 * x; }

int host_function(int x) { return x; }

}  // namespace

TEST_CASE("a kernel is launched by its address") {
  const Array<float> x(std::vector<float>(100, 3.0f));
  const Array<float> y(100);
  CHECK(first_complaint([&] {
          float *from = x.data(), *to = y.data();
          Weights w{'a', 10, 0.5};
          short shift = 4;
          unsigned n = 100;
          void* args[] = {&from, &to, &w, &shift, &n};
          if (cudaLaunchKernel((void*)weigh, dim3(2), dim3(64), args, 0, 0) != cudaSuccess)
            return false;
          w = {'b', 0, 0};  // they are copied when the launch is queued
          n = 0;
          return y.values() == std::vector<float>(100, 34.5f);
        }) == "");
}

TEST_CASE("templates, packs and overloads have addresses, too") {
  const Array<int> ints(std::vector<int>(8, 2));
  const Array<double> doubles(std::vector<double>(8, 2));
  Array<int> one(1);
  Array<float> two(1);
  Array<double> sum(1);
  const Outcome outcome = observe([&] {
    int* i = ints.data();
    void* int_args[] = {&i};
    CHECK(cudaLaunchKernel((const void*)multiply<int>, 1, 8, int_args, 0, nullptr) == cudaSuccess);
    double* d = doubles.data();
    void* double_args[] = {&d};
    const auto kernel = &multiply<double, 5>;
    CHECK(cudaLaunchKernel(kernel, 1, 8, double_args) == cudaSuccess);
    int* first = one.data();
    void* first_args[] = {&first};
    CHECK(cudaLaunchKernel(static_cast<void (*)(int*)>(overloaded), 1, 1, first_args) ==
          cudaSuccess);
    float* second = two.data();
    void* second_args[] = {&second};
    CHECK(cudaLaunchKernel(static_cast<void (*)(float*)>(overloaded), 1, 1, second_args) ==
          cudaSuccess);
    double* out = sum.data();
    char a = 1;
    float b = 2.5f;
    long long c = 1LL << 40;
    void* sum_args[] = {&out, &a, &b, &c};
    CHECK(cudaLaunchKernel((void*)sum_all<char, float, long long>, 1, 1, sum_args) == cudaSuccess);
    CHECK(cudaLaunchKernel(nothing, 1, 1, nullptr) == cudaSuccess);
  });
  INFO(outcome.text());
  CHECK(outcome.clean());
  CHECK(ints.values() == std::vector<int>(8, 4));
  CHECK(doubles.values() == std::vector<double>(8, 10));
  CHECK(one.front() == 1);
  CHECK(two.front() == 2);
  CHECK(sum.front() == 3.5 + static_cast<double>(1LL << 40));
}

TEST_CASE("pointers to functions and arrays are parameters, too") {
  const Array<int> in(std::vector<int>{21});
  Array<int> out(1);
  const Outcome outcome = observe([&] {
    int (*function)(int) = twice;
    int *from = in.data(), *to = out.data();
    void* args[] = {&function, &from, &to};
    CHECK(cudaLaunchKernel((void*)apply, 1, 1, args, 0, 0) == cudaSuccess);
  });
  INFO(outcome.text());
  CHECK(outcome.clean());
  CHECK(out.front() == 42);
}

TEST_CASE("shared memory, streams and errors of such a launch") {
  Array<int> out(1);
  const Outcome outcome = observe([&] {
    int* to = out.data();
    int count = 16;
    void* args[] = {&to, &count};
    DeviceStream stream(0);
    CHECK(cudaLaunchKernel((void*)fill_shared, 1, 1, args, 16 * sizeof(int), stream.handle) ==
          cudaSuccess);
    CHECK(cudaStreamSynchronize(stream.handle) == cudaSuccess);
    CHECK(out.front() == 15);
    const auto fails = [&](cudaError_t returned, cudaError_t expected) {
      return returned == expected && cudaGetLastError() == expected;
    };
    const auto refused = [&](dim3 grid, dim3 block, std::size_t shared, cudaError_t expected) {
      CHECK(fails(cudaLaunchKernel((void*)fill_shared, grid, block, args, shared, 0), expected));
      return simt::refused_launch();
    };
    constexpr cudaError_t kConfiguration = cudaErrorInvalidConfiguration;
    CHECK(simt::refused_launch().empty());  // the launch above
    CHECK(refused(0, 1, 0, kConfiguration) == "the grid has 0 blocks");
    CHECK(refused(1, 1025, 0, kConfiguration) ==
          "the block has 1025 threads, and 1024 is the most");
    CHECK(refused(1, dim3(32, 33), 0, kConfiguration) ==
          "the block has 1056 threads, and 1024 is the most");
    CHECK(refused(1, dim3(1, 0), 0, kConfiguration) == "the block has 0 threads along y");
    CHECK(refused(dim3(1, 1, 65'536), 1, 0, kConfiguration) ==
          "the grid has 65536 blocks along z, and 65535 is the most");
    CHECK(refused(1, 1, 1 << 20, cudaErrorInvalidValue)
              .starts_with("the launch asks for 1048576 bytes of dynamic shared memory, and "));
    CHECK(
        fails(cudaLaunchKernel((void*)nullptr, 1, 1, args, 0, 0), cudaErrorInvalidDeviceFunction));
    int variable = 0;
    CHECK(fails(cudaLaunchKernel(&variable, 1, 1, args, 0, 0), cudaErrorInvalidDeviceFunction));
    CHECK(fails(cudaLaunchKernel((void*)fill_shared, 1, 1, nullptr, 0, 0), cudaErrorInvalidValue));
    static_cast<void>(host_function(1));
  });
  INFO(outcome.text());
  CHECK(outcome.clean());
}

TEST_CASE("messages name the kernel and its parameters") {
  const Array<int> four(4);
  const simt::Report report = only_report([&] {
    int* values = four.data();
    int index = 4;
    void* args[] = {&values, &index};
    cudaLaunchKernel((void*)write_one, 1, 1, args, 0, 0);
  });
  CHECK(report.kind == ReportKind::out_of_bounds);
  CHECK(lacks(report, {"in kernel write_one", "values[4], just past the end of values (4 elements)",
                       "launch_calls_test.cu:"}) == "");
}

TEST_CASE("cudaLaunchKernelEx converts its arguments and reads the attributes") {
  const Array<float> x(std::vector<float>(8, 1.0f));
  const Array<float> y(8);
  const Outcome outcome = observe([&] {
    cudaLaunchConfig_t config = {};
    config.gridDim = 1;
    config.blockDim = 8;
    cudaLaunchAttribute attributes[1];
    attributes[0].id = cudaLaunchAttributeProgrammaticStreamSerialization;
    attributes[0].val.programmaticStreamSerializationAllowed = 1;
    config.attrs = attributes;
    config.numAttrs = 1;
    CHECK(cudaLaunchKernelEx(&config, weigh, x.data(), y.data(), Weights{'a', 2, 1}, 3, 8) ==
          cudaSuccess);
    CHECK(y.values() == std::vector<float>(8, 6.0f));
    attributes[0].id = cudaLaunchAttributeClusterDimension;
    attributes[0].val.clusterDim.x = attributes[0].val.clusterDim.y =
        attributes[0].val.clusterDim.z = 1;
    CHECK(cudaLaunchKernelEx(&config, nothing) == cudaSuccess);
    attributes[0].val.clusterDim.x = 2;
    config.gridDim = dim3(3);
    CHECK(cudaLaunchKernelEx(&config, nothing) == cudaErrorInvalidClusterSize);
    CHECK(cudaGetLastError() == cudaErrorInvalidClusterSize);
  });
  INFO(outcome.text());
  CHECK(outcome.clean());
}
