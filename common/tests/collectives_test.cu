// Reductions and prefix sums of warps and blocks: every type, operation and block size, and calls
// in a row. The CPU device's checker finds the races.
#include <course/check.cuh>
#include <course/collectives.cuh>

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <type_traits>
#include <vector>

namespace collectives {  // nvcc launches no kernel of an unnamed namespace next to a TEST_CASE

/// Thread t of each block takes x[block * blockDim.x + t], and writes there what it got.
template <class T, class Operation>
__global__ void warp_functions(const T* d_x, T* d_reduced, T* d_inclusive, T* d_exclusive) {
  const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  d_reduced[i] = course::warp_reduce(d_x[i], Operation{});
  d_inclusive[i] = course::warp_inclusive_scan(d_x[i], Operation{});
  d_exclusive[i] = course::warp_exclusive_scan(d_x[i], Operation{});
}

template <class T, class Operation>
__global__ void block_functions(const T* d_x, T* d_reduced, T* d_before, T* d_total) {
  const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  d_reduced[i] = course::block_reduce(d_x[i], Operation{});
  const auto [before, total] = course::block_exclusive_scan(d_x[i], Operation{});
  d_before[i] = before;
  d_total[i] = total;
}

/// Each call twice without a barrier in between, with different values, and both in a loop.
__global__ void in_a_row(const int* d_x, unsigned rounds, int* d_y) {
  const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  int y = 0;
  for (unsigned round = 0; round < rounds; ++round) {
    const int factor = static_cast<int>(round) + 1;
    const int sum = course::block_reduce(factor * d_x[i], course::Sum{});
    const int maximum = course::block_reduce(d_x[i] - factor, course::Max{});
    const auto first = course::block_exclusive_scan(d_x[i], course::Sum{});
    const auto second = course::block_exclusive_scan(factor, course::Sum{});
    y += sum + 3 * maximum + 5 * first.before + 7 * first.total + 11 * second.before;
  }
  d_y[i] = y;
}

/// Shared memory that is written before a call can be read after it.
__global__ void reverse_around_a_call(const int* d_x, int* d_y) {
  __shared__ int s_x[1024];
  s_x[threadIdx.x] = d_x[threadIdx.x];
  const int sum = course::block_reduce(1, course::Sum{});
  d_y[threadIdx.x] = s_x[blockDim.x - 1 - threadIdx.x] + sum;
}

/// An identity of the caller's: a logical or on a type that has no such operation.
struct Or {
  __device__ unsigned operator()(unsigned a, unsigned b) const { return a | b; }
};
__global__ void own_operation(unsigned* d_y) {
  const unsigned bit = 1u << (threadIdx.x % 32);
  d_y[threadIdx.x] = course::block_reduce(threadIdx.x < 5 ? bit : 0u, Or{}, 0u) |
                     course::block_exclusive_scan(bit, Or{}, 0u).before << 16;
}

/// n values whose sums are exact in any order, and which differ in sign where T has one.
template <class T>
std::vector<T> values(std::size_t n) {
  std::vector<T> x = course::position_values<T>(n);
  if (std::is_signed_v<T>) {
    for (std::size_t i = 0; i < n; i += 3) x[i] = -x[i];
  }
  return x;
}

template <class T>
struct Expected {
  std::vector<T> reduced, inclusive, exclusive;
};

/// What threads get if `group` of them work together.
template <class T, class Operation>
Expected<T> expected(const std::vector<T>& x, std::size_t group) {
  const Operation op;
  Expected<T> result{std::vector<T>(x.size()), std::vector<T>(x.size()), std::vector<T>(x.size())};
  for (std::size_t first = 0; first < x.size(); first += group) {
    T total = Operation::template identity<T>();
    for (std::size_t i = first; i < first + group; ++i) {
      result.exclusive[i] = total;
      total = op(total, x[i]);
      result.inclusive[i] = total;
    }
    for (std::size_t i = first; i < first + group; ++i) result.reduced[i] = total;
  }
  return result;
}

template <class T, class Operation>
void check_operation(const std::string& what) {
  for (const unsigned block : {32u, 64u, 96u, 256u, 992u, 1024u}) {
    INFO(what << ", <<<2, " << block << ">>>");
    const std::size_t n = 2 * std::size_t{block};
    const std::vector<T> x = values<T>(n);
    const auto d_x = course::DeviceBuffer<T>::from(x);
    course::GuardedBuffer<T> a(n), b(n), c(n);
    warp_functions<T, Operation><<<2, block>>>(d_x.data(), a.data(), b.data(), c.data());
    CUDA_CHECK_LAUNCH();
    const Expected<T> of_warp = expected<T, Operation>(x, 32);
    REQUIRE(course::same(a.download(), of_warp.reduced, "warp_reduce"));
    REQUIRE(course::same(b.download(), of_warp.inclusive, "warp_inclusive_scan"));
    REQUIRE(course::same(c.download(), of_warp.exclusive, "warp_exclusive_scan"));
    block_functions<T, Operation><<<2, block>>>(d_x.data(), a.data(), b.data(), c.data());
    CUDA_CHECK_LAUNCH();
    const Expected<T> of_block = expected<T, Operation>(x, block);
    REQUIRE(course::same(a.download(), of_block.reduced, "block_reduce"));
    REQUIRE(course::same(b.download(), of_block.exclusive, "block_exclusive_scan, before"));
    REQUIRE(course::same(c.download(), of_block.reduced, "block_exclusive_scan, total"));
  }
}

template <class T>
void check_type(const std::string& type) {
  check_operation<T, course::Sum>("Sum of " + type);
  check_operation<T, course::Min>("Min of " + type);
  check_operation<T, course::Max>("Max of " + type);
}

}  // namespace collectives

using namespace collectives;

TEST_CASE("float: warps and blocks, every operation") { check_type<float>("float"); }
TEST_CASE("double: warps and blocks, every operation") { check_type<double>("double"); }
TEST_CASE("int: warps and blocks, every operation") { check_type<int>("int"); }
TEST_CASE("unsigned: warps and blocks, every operation") { check_type<unsigned>("unsigned"); }
TEST_CASE("long long: warps and blocks, every operation") { check_type<long long>("long long"); }

TEST_CASE("integers are combined in all of their bits") {
  const std::vector<long long> x(32, (1ll << 40) + 1);
  const auto d_x = course::DeviceBuffer<long long>::from(x);
  course::GuardedBuffer<long long> a(32), b(32), c(32);
  warp_functions<long long, course::Sum><<<1, 32>>>(d_x.data(), a.data(), b.data(), c.data());
  CUDA_CHECK_LAUNCH();
  REQUIRE(course::same(a.download(), std::vector<long long>(32, 32 * x[0]), "warp_reduce"));
}

TEST_CASE("the threads of a warp get the same bits of a rounded sum") {
  std::vector<float> x(32);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = 1.0f / static_cast<float>(3 * i + 1);
  const auto d_x = course::DeviceBuffer<float>::from(x);
  course::GuardedBuffer<float> a(32), b(32), c(32);
  warp_functions<float, course::Sum><<<1, 32>>>(d_x.data(), a.data(), b.data(), c.data());
  CUDA_CHECK_LAUNCH();
  const std::vector<float> sums = a.download();
  REQUIRE(course::same(sums, std::vector<float>(32, sums[0]), "warp_reduce"));
  double exact = 0;
  for (const float value : x) exact += value;
  REQUIRE(course::close(sums[0], exact, course::sum_tolerance(x), "warp_reduce"));
}

TEST_CASE("a NaN reaches every thread through Min and Max, wherever it is") {
  for (const std::size_t place : {0u, 1u, 31u, 32u, 95u}) {
    INFO("x[" << place << "] is NaN");
    std::vector<float> x = values<float>(96);
    x[place] = std::numeric_limits<float>::quiet_NaN();
    const auto d_x = course::DeviceBuffer<float>::from(x);
    for (const bool minimum : {true, false}) {
      course::GuardedBuffer<float> a(96), b(96), c(96);
      const auto kernel =
          minimum ? block_functions<float, course::Min> : block_functions<float, course::Max>;
      kernel<<<1, 96>>>(d_x.data(), a.data(), b.data(), c.data());
      CUDA_CHECK_LAUNCH();
      const std::vector<float> reduced = a.download(), before = b.download();
      for (std::size_t i = 0; i < 96; ++i) {
        REQUIRE(std::isnan(reduced[i]));
        REQUIRE(std::isnan(before[i]) == (i > place));
      }
    }
  }
}

TEST_CASE("identities") {
  REQUIRE(course::Sum::identity<double>() == 0.0);
  REQUIRE(course::Min::identity<float>() == std::numeric_limits<float>::infinity());
  REQUIRE(course::Max::identity<double>() == -std::numeric_limits<double>::infinity());
  REQUIRE(course::Min::identity<unsigned>() == 0xffff'ffffu);
  REQUIRE(course::Max::identity<int>() == std::numeric_limits<int>::min());
  REQUIRE(course::Max::identity<unsigned>() == 0u);
  STATIC_REQUIRE(std::is_same_v<course::ComputeType<__half>, float>);
  STATIC_REQUIRE(std::is_same_v<course::ComputeType<__nv_bfloat16>, float>);
  STATIC_REQUIRE(std::is_same_v<course::ComputeType<double>, double>);
}

TEST_CASE("calls in a row do not disturb each other") {
  for (const unsigned block : {32u, 96u, 256u, 1024u}) {
    INFO("<<<3, " << block << ">>>");
    constexpr unsigned kRounds = 3;
    const std::vector<int> x = values<int>(3 * std::size_t{block});
    const auto d_x = course::DeviceBuffer<int>::from(x);
    course::GuardedBuffer<int> y(x.size());
    in_a_row<<<3, block>>>(d_x.data(), kRounds, y.data());
    CUDA_CHECK_LAUNCH();
    std::vector<int> expected_y(x.size(), 0);
    for (std::size_t first = 0; first < x.size(); first += block) {
      int sum = 0, maximum = x[first];
      for (std::size_t i = first; i < first + block; ++i) {
        sum += x[i];
        maximum = std::max(maximum, x[i]);
      }
      int before = 0;
      for (std::size_t i = first; i < first + block; ++i) {
        for (int factor = 1; factor <= static_cast<int>(kRounds); ++factor) {
          expected_y[i] += factor * sum + 3 * (maximum - factor) + 5 * before + 7 * sum +
                           11 * factor * static_cast<int>(i - first);
        }
        before += x[i];
      }
    }
    REQUIRE(course::same(y.download(), expected_y, "y"));
    REQUIRE(y.intact("y"));
  }
}

TEST_CASE("a block's call orders the shared memory around it") {
  const std::vector<int> x = values<int>(96);
  const auto d_x = course::DeviceBuffer<int>::from(x);
  course::GuardedBuffer<int> y(96);
  reverse_around_a_call<<<1, 96>>>(d_x.data(), y.data());
  CUDA_CHECK_LAUNCH();
  std::vector<int> reversed(x.rbegin(), x.rend());
  for (int& value : reversed) value += 96;
  REQUIRE(course::same(y.download(), reversed, "y"));
}

TEST_CASE("an operation of the caller's, with its identity") {
  course::GuardedBuffer<unsigned> y(64);
  own_operation<<<1, 64>>>(y.data());
  CUDA_CHECK_LAUNCH();
  std::vector<unsigned> expected_y(64);
  for (std::size_t i = 0; i < 64; ++i) {
    const unsigned before = i < 32 ? (1u << i) - 1 : 0xffff'ffffu;
    expected_y[i] = 31u | before << 16;
  }
  REQUIRE(course::same(y.download(), expected_y, "y"));
}

TEST_CASE("a block's reduction costs two barriers and no bank conflict") {
  course::skip_without_counters();
  const std::vector<float> x = values<float>(2048);
  const auto d_x = course::DeviceBuffer<float>::from(x);
  course::GuardedBuffer<float> a(2048), b(2048), c(2048);
  const auto counters = course::count([&] {
    block_functions<float, course::Sum><<<2, 1024>>>(d_x.data(), a.data(), b.data(), c.data());
    CUDA_CHECK_LAUNCH();
  });
  REQUIRE(course::same(counters->barriers, 2 * (2 + 2), "barriers"));
  REQUIRE(course::same(counters->bank_conflicts(), 0, "bank conflicts"));
}
