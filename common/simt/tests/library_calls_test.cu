// Functions of the C library that get pointers: what they store and read there is seen.
#include <cuda_runtime.h>

#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <cstring>

#include "testing.hpp"

using simt::ReportKind;
using namespace simt_test;

namespace {

enum class Function { sincos, sincosf, frexp, frexpf, modf, modff, remquo, remquof, std_frexp };

constexpr Function kAll[] = {Function::sincos, Function::sincosf, Function::frexp,
                             Function::frexpf, Function::modf,    Function::modff,
                             Function::remquo, Function::remquof, Function::std_frexp};

/// Stores by the function at x, or right after it, as numbers of its own type.
template <class T>
__device__ T* at(void* x, unsigned i) {
  return static_cast<T*>(x) + i;
}

__device__ void call(Function function, void* x, unsigned i) {
  float f = 0;
  double d = 0;
  switch (function) {
    case Function::sincos:
      return sincos(0.5, at<double>(x, i), &d);
    case Function::sincosf:
      return sincosf(0.5f, &f, at<float>(x, i));
    case Function::frexp:
      return static_cast<void>(frexp(6.0, at<int>(x, i)));
    case Function::frexpf:
      return static_cast<void>(frexpf(6.0f, at<int>(x, i)));
    case Function::modf:
      return static_cast<void>(modf(2.5, at<double>(x, i)));
    case Function::modff:
      return static_cast<void>(modff(2.5f, at<float>(x, i)));
    case Function::remquo:
      return static_cast<void>(remquo(7.0, 2.0, at<int>(x, i)));
    case Function::remquof:
      return static_cast<void>(remquof(7.0f, 2.0f, at<int>(x, i)));
    case Function::std_frexp:
      return static_cast<void>(std::frexp(float(i + 1), at<int>(x, i)));
  }
}

__global__ void each_stores_its_own(Function function, void* x) { call(function, x, threadIdx.x); }
__global__ void both_blocks_store(Function function, int* x) {
  if (blockIdx.x == 0) call(function, x, 0);
  if (blockIdx.x == 1) x[0] = 12345;
}
__global__ void read_all(const int* x, int* y) { y[threadIdx.x] = x[threadIdx.x]; }

__global__ void compare(const int* x, const int* y, unsigned n, int* result) {
  if (threadIdx.x == 0) *result = memcmp(x, y, n * sizeof(int));
}
__global__ void compare_beside_a_write(int* x, int* result) {
  if (blockIdx.x == 0 && threadIdx.x == 0) x[1] = 7;
  if (blockIdx.x == 1 && threadIdx.x == 0) *result = std::memcmp(x, x + 2, 2 * sizeof(int));
}

/// The same values as on the host.
__global__ void values(float* f, double* d, int* n) {
  sincosf(0.5f, &f[0], &f[1]);
  f[2] = frexpf(6.0f, &n[0]);
  f[3] = modff(-2.5f, &f[4]);
  f[5] = remquof(7.0f, 2.0f, &n[1]);
  sincos(0.5, &d[0], &d[1]);
  d[2] = frexp(-6.0, &n[2]);
  d[3] = modf(2.25, &d[4]);
  d[5] = remquo(-7.0, 2.0, &n[3]);
}

}  // namespace

TEST_CASE("what a function of the library stores through a pointer is written") {
  for (const Function function : kAll) {
    INFO("function " << static_cast<int>(function));
    CHECK(observe([=] {
            Array<int> x(64), y(32);
            each_stores_its_own<<<1, 32>>>(function, x.data());
            read_all<<<1, 32>>>(x.data(), y.data());
          }).clean());
  }
}

// std::frexp(float) is a line of the header that calls frexpf(): the line that has called it is named.
TEST_CASE("a store by a function of the library has bounds, and may race") {
  for (const Function function : kAll) {
    INFO("function " << static_cast<int>(function));
    CHECK(lacks(only_report([=] {
                  Array<int> x(16);
                  each_stores_its_own<<<1, 32>>>(function, x.data());
                  cudaDeviceSynchronize();
                }),
                {"OUT OF BOUNDS", "write of", "at common/simt/tests/library_calls_test.cu:"}) ==
          "");
    CHECK(first_miss(ReportKind::race, [=] {
            Array<int> x(64);
            both_blocks_store<<<2, 1>>>(function, x.data());
            cudaDeviceSynchronize();
          }) == "");
  }
}

TEST_CASE("memcmp reads") {
  const Array<int> x(std::vector<int>{1, 2, 3, 4}), y(std::vector<int>{1, 2, 3, 5});
  auto result = Array<int>::zeros(1);
  CHECK(observe([&] { compare<<<1, 32>>>(x.data(), y.data(), 4, result.data()); }).clean());
  CHECK(result.front() < 0);
  CHECK(lacks(only_report([&] { compare<<<1, 32>>>(x.data(), y.data(), 5, result.data()); }),
              {"OUT OF BOUNDS", "read of"}) == "");
  const Array<int> unwritten(4);
  CHECK(lacks(only_report([&] { compare<<<1, 1>>>(x.data(), unwritten.data(), 4, result.data()); }),
              {"UNINITIALISED MEMORY"}) == "");
  CHECK(first_miss(ReportKind::race, [] {
          auto written = Array<int>::zeros(4);
          auto found = Array<int>::zeros(1);
          compare_beside_a_write<<<2, 32>>>(written.data(), found.data());
          cudaDeviceSynchronize();
        }) == "");
}

TEST_CASE("functions of the library have the library's values") {
  Array<float> f(6);
  Array<double> d(6);
  Array<int> n(4);
  values<<<1, 1>>>(f.data(), d.data(), n.data());
  const float half = 0.5f;
  CHECK(f.values() == std::vector<float>{std::sin(half), std::cos(half), 0.75f, -0.5f, -2, -1});
  CHECK(d.values() == std::vector<double>{std::sin(0.5), std::cos(0.5), -0.75, 0.25, 2, 1});
  CHECK(n.values() == std::vector<int>{3, 4, 3, -4});
}

TEST_CASE("host code may call them, too, and not on memory of the device") {
  int exponent = 0;
  CHECK(std::frexp(6.0, &exponent) == 0.75);
  CHECK(exponent == 3);
  const Outcome outcome = observe([] {
    const Array<int> x(1);
    static_cast<void>(frexpf(6.0f, x.data()));
  });
  CHECK(outcome.found(ReportKind::host_access));
}
