// Every rung of this chapter is right at every awkward size, and the functions that are made from
// atomicCAS lose nothing.
#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <course/check.cuh>
#include <cstddef>
#include <limits>
#include <vector>

#include "inputs.cuh"
#include "rungs.cuh"
#include "testing.cuh"

// ---- the missing ones --------------------------------------------------------------------------

namespace atomic_functions_selfcheck {

struct MaxByCas {
  static constexpr const char* kName = "atomic_max";
  template <class T>
  static __device__ T atomic(T* address, T value) {
    return atomic_max(address, value);
  }
  template <class T>
  static T next(T old, T value) {  // in other words than larger()
    if (std::isnan(value)) return old;
    if (std::isnan(old) || value > old) return value;
    return value == old && !std::signbit(value) ? value : old;
  }
};
struct MultiplyByCas {
  static constexpr const char* kName = "atomic_multiply";
  template <class T>
  static __device__ T atomic(T* address, T value) {
    return atomic_multiply(address, value);
  }
  template <class T>
  static T next(T old, T value) {
    return old * value;
  }
};
struct AddByCas {
  static constexpr const char* kName = "atomic_add_by_cas";
  static __device__ double atomic(double* address, double value) {
    return atomic_add_by_cas(address, value);
  }
  static double next(double old, double value) { return old + value; }
};
/// A type and an operation that CUDA lacks: 16 bits, halved.
struct HalveByCas {
  static constexpr const char* kName = "atomic_update of 16 bits";
  static __device__ unsigned short atomic(unsigned short* address, unsigned short value) {
    return atomic_update(
        address, [=](unsigned short old) { return static_cast<unsigned short>(old / 2 + value); });
  }
  static unsigned short next(unsigned short old, unsigned short value) {
    return static_cast<unsigned short>(old / 2 + value);
  }
};

}  // namespace atomic_functions_selfcheck

using namespace atomic_functions_selfcheck;

TEST_CASE("atomic_max decides for -0, NaN and infinity as it says") {
  const float nan = std::numeric_limits<float>::quiet_NaN(),
              infinity = std::numeric_limits<float>::infinity();
  check_one<MaxByCas>(-2.0f, -1.0f, -1.0f);
  check_one<MaxByCas>(-1.0f, -2.0f, -1.0f);
  check_one<MaxByCas>(-0.0f, 0.0f, 0.0f);
  check_one<MaxByCas>(0.0f, -0.0f, 0.0f);
  check_one<MaxByCas>(-0.0f, -0.0f, -0.0f);
  check_one<MaxByCas>(-5.0f, -0.0f, -0.0f);
  check_one<MaxByCas>(nan, -infinity, -infinity);
  check_one<MaxByCas>(-infinity, nan, -infinity);
  check_one<MaxByCas>(-nan, 1.0f, 1.0f);
  check_one<MaxByCas>(1.0f, infinity, infinity);
  check_one<MaxByCas>(1e-45f, 0.0f, 1e-45f);
  check_one<MaxByCas>(-2.0, -1.0, -1.0);
  check_one<MaxByCas>(-0.0, 0.0, 0.0);
  check_one<MaxByCas>(double{nan}, -1e300, -1e300);

  std::vector<double> values(kMany);
  for (std::size_t i = 0; i < kMany; ++i) {
    const double special[] = {-0.0, 0.0, double{nan}, -double{infinity}};
    values[i] = i % 3 == 0 ? special[i / 3 % 4] : static_cast<double>(i * 577 % kMany) - 700.0;
  }
  check_many<MaxByCas>(values, -double{infinity});
  check_many<MaxByCas>(std::vector<float>(values.begin(), values.end()), -nan);
}

TEST_CASE("the functions made from atomicCAS lose nothing, and return what was there") {
  check_one<MultiplyByCas>(3.0f, -0.5f, -1.5f);
  check_one<MultiplyByCas>(3.0, 1e-310, 3e-310);
  check_many<MultiplyByCas>(factors(kMany), 3.0f);
  check_many<AddByCas>(mixed<double>(kMany), 0.5);
  check_many<HalveByCas>(mixed<unsigned short>(kMany), static_cast<unsigned short>(77));
}

TEST_CASE("the rungs made from atomicCAS are right at every size") {
  for (const std::size_t n : course::all_sizes()) {
    // At one address a GPU's time grows with the square of n.
    const std::size_t addresses = n <= 1025 ? 1 : 4096;
    INFO("n = " << n << ", " << addresses << " addresses");
    auto y = course::DeviceBuffer<double>::from(std::vector<double>(addresses, 0.0));
    for (const AddRung<double>& rung : double_rungs()) {
      y.fill_bytes(0);
      rung.launch(n, addresses, y.data());
      REQUIRE(course::same(y.download(), counts_of<double>(n, addresses), rung.name));
    }

    const std::vector<float> x = factors(n);
    std::vector<float> expected(addresses, 3.0f);
    for (std::size_t i = 0; i < n; ++i) expected[i % addresses] *= x[i];
    const auto d_x = course::DeviceBuffer<float>::from(x);
    for (const ProductRung& rung : product_rungs()) {
      auto products = course::DeviceBuffer<float>::from(std::vector<float>(addresses, 3.0f));
      rung.launch(d_x.data(), n, addresses, products.data());
      REQUIRE(course::same(products.download(), expected, rung.name));
    }

    if (n == 0) continue;
    const std::vector<float> values = negative_values(n);
    const auto d_values =
        course::DeviceBuffer<double>::from(std::vector<double>(values.begin(), values.end()));
    for (const DoubleMaxRung& rung : double_max_rungs()) {
      course::GuardedBuffer<double> max(1);
      max.fill_bytes(0xFF);
      rung.launch(d_values.data(), n, max.data());
      REQUIRE(course::same(max.download().front(), max_reference(values), rung.name));
      REQUIRE(max.intact("max"));
    }
  }
}

// ---- the maximum of n floats -------------------------------------------------------------------

namespace atomic_functions_selfcheck {

/// All rungs on the same n floats, which begin `offset` floats past an address that is a multiple
/// of 16.
void check_maximum(const std::vector<float>& x, std::size_t offset) {
  const std::size_t n = x.size();
  std::vector<float> padded(offset, 1e30f);  // found by a kernel that reads before its array
  padded.insert(padded.end(), x.begin(), x.end());
  padded.insert(padded.end(), 4, 1e30f);  // or past its end
  const auto d_x = course::DeviceBuffer<float>::from(padded);
  for (const MaxRung& rung : max_rungs()) {
    course::GuardedBuffer<unsigned> word(1);
    rung.launch(d_x.data() + offset, n, word.data());
    const float found = rung.value(word.download().front());
    REQUIRE((n == 0 ? course::Verdict{std::isnan(found), rung.name + ": not NaN"}
                    : course::same(found, max_reference(x), rung.name)));
    REQUIRE(word.intact(rung.name));
  }
}

}  // namespace atomic_functions_selfcheck

TEST_CASE("the maximum of small integers") {  // a picture of the lesson shows this run
  const std::vector<float> x{3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8, 9, 7, 9, 3,
                             2, 3, 8, 4, 6, 2, 6, 4, 3, 3, 8, 3, 2, 7, 9, 5};
  const auto d_x = course::DeviceBuffer<float>::from(x);
  course::GuardedBuffer<unsigned> word(1);
  const MaxRung rung = course::rung_named(max_rungs(), "max_cas");
  rung.launch(d_x.data(), x.size(), word.data());
  REQUIRE(course::same(rung.value(word.download().front()), 9.0f, "max"));
}

TEST_CASE("every rung finds the maximum at every size") {
  for (const std::size_t n : course::all_sizes()) {
    for (const bool below_zero : {false, true}) {
      INFO("n = " << n << (below_zero ? ", all below zero" : ""));
      check_maximum(below_zero ? negative_values(n) : signed_values(n), 0);
    }
  }
}

TEST_CASE("every rung finds the maximum at every index, wherever the array begins") {
  for (const std::size_t n : {1, 2, 3, 4, 5, 7, 17, 40, 1025}) {
    for (const std::size_t offset : {0, 1, 2, 3}) {
      for (const std::size_t place : {std::size_t{0}, n / 2, n - 1}) {
        INFO("n = " << n << ", begins " << offset << " floats late, maximum at " << place);
        std::vector<float> x(n, -3.0f);
        x[place] = -2.5f;
        check_maximum(x, offset);
      }
    }
  }
}

TEST_CASE("the maximum of numbers that rise or fall all the way") {
  std::vector<float> x(1025);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i) - 600.0f;
  check_maximum(x, 0);
  std::reverse(x.begin(), x.end());
  check_maximum(x, 0);
}

// ---- messages, orders, contention --------------------------------------------------------------

TEST_CASE("messages arrive with a fence on both sides, and with release and acquire") {
  for (const std::size_t n : {0, 1, 31, 33, 257, 600}) {
    std::vector<int> expected(n);
    for (std::size_t i = 0; i < n; ++i) expected[i] = message_number(i);
    for (const MessageRung& rung : message_rungs()) {
      if (!rung.because.empty()) continue;
      INFO(rung.name << ", n = " << n);
      auto message = course::DeviceBuffer<int>::zeros(n),
           flag = course::DeviceBuffer<int>::zeros(n);
      course::GuardedBuffer<int> received(n);
      received.fill_bytes(0);
      rung.launch(n, message.data(), flag.data(), received.data());
      REQUIRE(course::same(received.download(), expected, "received"));
      REQUIRE(received.intact("received"));
    }
  }
}

namespace atomic_functions_selfcheck {

/// n additions of 1, from 0.
template <class T>
void check_additions(const AddRung<T>& rung, std::size_t n, std::size_t addresses) {
  if (rung.one_address && addresses > 1) return;
  if (rung.fences && course::kCpuDevice && n > 300) return;
  INFO(rung.name << ", n = " << n << ", " << addresses << " addresses");
  course::GuardedBuffer<T> y(addresses);
  y.fill_bytes(0);
  rung.launch(n, addresses, y.data());
  REQUIRE(course::same(y.download(), counts_of<T>(n, addresses), "y"));
  REQUIRE(y.intact("y"));
}

}  // namespace atomic_functions_selfcheck

TEST_CASE("cuda::atomic_ref counts like atomicAdd, in every scope and order") {
  for (const std::size_t n : course::all_sizes()) {
    for (const std::size_t addresses : {1, 64, 2048}) {
      for (const AddRung<unsigned>& rung : order_rungs()) check_additions(rung, n, addresses);
    }
  }
}

TEST_CASE("the contention rungs add to the addresses that they name") {
  for (const std::size_t n : course::all_sizes()) {
    for (const std::size_t addresses : {1, 2, 32, 4096}) {
      for (const auto& rung : contention_rungs<float>("float")) check_additions(rung, n, addresses);
      for (const auto& rung : contention_rungs<int>("int")) check_additions(rung, n, addresses);
    }
  }
}

TEST_CASE("count_and_see finds the last arrival at each counter, count_arrivals only counts") {
  for (const std::size_t n : course::all_sizes()) {
    for (const std::size_t doors : {1, 16, 512}) {
      INFO("n = " << n << ", " << doors << " doors");
      for (const ArrivalRung& rung : arrival_rungs()) {
        INFO(rung.name);
        course::GuardedBuffer<unsigned> count(doors), last(doors);
        count.fill_bytes(0);
        last.fill_bytes(0xFF);
        rung.launch(n, doors, count.data(), last.data());
        REQUIRE(course::same(count.download(), counts_of<unsigned>(n, doors), "count"));
        REQUIRE(count.intact("count"));
        REQUIRE(last.intact("last"));
        const std::vector<unsigned> found = last.download();
        for (std::size_t d = 0; d < doors; ++d) {
          INFO("door " << d);
          const bool is_known = rung.finds_last && n >= doors;
          REQUIRE((is_known ? found[d] < n && found[d] % doors == d : found[d] == kUintMax));
        }
      }
    }
  }
}
