// What the lesson says of sums, which bits they have, how far rounding takes them, where they stagnate;
// and of maxima, at every place and from every number to every other one.
#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <course/check.cuh>
#include <cstddef>
#include <cstdint>
#include <set>
#include <variant>
#include <vector>

#include "testing.cuh"

namespace fast_add_testing {

std::vector<std::uint64_t> table_bits(const Scatter<__half>& launch,
                                      const std::vector<__half>& values,
                                      const std::vector<int>& index, std::size_t targets) {
  const auto d_values = course::DeviceBuffer<__half>::from(values);
  const auto d_index = course::DeviceBuffer<int>::from(index);
  auto table = course::DeviceBuffer<__half>::zeros(targets);
  launch(d_values.data(), d_index.data(), values.size(), table.data(), targets, nullptr);
  std::vector<std::uint64_t> bits;
  for (const __half& x : table.download()) bits.push_back(bits_of(x));
  return bits;
}

}  // namespace fast_add_testing

using namespace fast_add_testing;

TEST_CASE("atomics give other bits in another order, sum_sorted the same ones") {
  course::skip_without_checker();        // a GPU's order cannot be chosen
  if (course::has_run_before()) return;  // it chooses its schedules itself: once is enough
  std::vector<__half> values = gradients(2000);
  std::vector<int> index = random_index(2000, 8);
  std::set<std::vector<std::uint64_t>> fast, sorted_bits;
  std::vector<__half> sorted_values = values;
  std::vector<int> sorted_index = index;
  sort_by_target(sorted_values, sorted_index);
  for (std::uint64_t seed = 0; seed < 6; ++seed) {
    course::with_seed(seed, [&] {
      fast.insert(table_bits(launch_scatter_fast<__half>, values, index, 8));
      sorted_bits.insert(table_bits(launch_sum_sorted, sorted_values, sorted_index, 8));
    });
  }
  INFO("n = 2000 into 8 targets, 6 schedules");
  REQUIRE(course::at_least(fast.size(), 2, "different tables of scatter_fast"));
  REQUIRE(course::same(sorted_bits.size(), 1, "different tables of sum_sorted"));
}

namespace fast_add_testing {

/// Adds the updates to a table of zeros.
template <class Table>
void check_bounds(const Scatter<Table>& launch, const std::vector<__half>& values,
                  const std::vector<int>& index, const std::vector<double>& expected,
                  const std::vector<double>& bounds) {
  const auto d_values = course::DeviceBuffer<__half>::from(values);
  const auto d_index = course::DeviceBuffer<int>::from(index);
  auto table = course::DeviceBuffer<Table>::zeros(expected.size());
  launch(d_values.data(), d_index.data(), values.size(), table.data(), table.size(), nullptr);
  REQUIRE(within(table.download(), expected, bounds));
}

}  // namespace fast_add_testing

TEST_CASE("sums of halves that are rounded stay within their bounds") {
  constexpr std::size_t n = 4096, kTargets = 32;  // about 128 updates a target
  const std::vector<__half> values = gradients(n);
  const std::vector<int> index = random_index(n, kTargets);
  std::vector<__half> sorted_values = values;
  std::vector<int> sorted_index = index;
  sort_by_target(sorted_values, sorted_index);
  const std::vector<double> expected = scatter_reference(values, index, kTargets);
  for (const ScatterRung& rung : right_rungs(scatter_rungs(), true)) {
    INFO(rung.name);
    const std::vector<double> bounds = rounding_bounds(values, index, expected, rung.sums);
    const auto check = [&](const auto& launch) {
      check_bounds(launch, rung.sorted ? sorted_values : values, rung.sorted ? sorted_index : index,
                   expected, bounds);
    };
    std::visit(check, rung.launch);
  }
  std::vector<__half> source;  // the value in each of eight columns
  for (const __half& value : values) source.insert(source.end(), 8, value);
  const std::vector<double> once = rounding_bounds(values, index, expected, Sums::in_float_once);
  std::vector<double> expected_rows, bounds_rows;
  for (std::size_t t = 0; t < kTargets; ++t) {
    expected_rows.insert(expected_rows.end(), 8, expected[t]);
    bounds_rows.insert(bounds_rows.end(), 8, once[t]);
  }
  const auto d_source = course::DeviceBuffer<__half>::from(source);
  const auto d_index = course::DeviceBuffer<int>::from(index);
  auto table = course::DeviceBuffer<__half>::zeros(8 * kTargets);
  const AddRows<__half> sorted_rows = launch_rows_sorted();
  sorted_rows({d_source.data(), d_index.data(), n, 8}, table.data(), kTargets, nullptr);
  REQUIRE(within(table.download(), expected_rows, bounds_rows));
}

TEST_CASE("a half that gets ones stagnates at 2048, a float does not") {
  constexpr std::size_t kTargets = 2, n = kTargets * 4096;
  std::vector<int> index(n);
  for (std::size_t i = 0; i < n; ++i) index[i] = static_cast<int>(i % kTargets);
  const auto d_values = course::DeviceBuffer<__half>::from(std::vector<__half>(n, __half(1.0f)));
  const auto d_index = course::DeviceBuffer<int>::from(index);
  auto halves = course::DeviceBuffer<__half>::zeros(kTargets);
  launch_scatter_fast(d_values.data(), d_index.data(), n, halves.data(), kTargets, nullptr);
  REQUIRE(course::same(halves.download(), std::vector<__half>(kTargets, __half(2048.0f)), "table"));
  auto floats = course::DeviceBuffer<float>::zeros(kTargets);
  launch_scatter_float(d_values.data(), d_index.data(), n, floats.data(), kTargets, nullptr);
  REQUIRE(course::same(floats.download(), std::vector<float>(kTargets, 4096.0f), "table"));
}

// ---- maxima -------------------------------------------------------------------------------------

namespace fast_add_testing {

/// One thread raises once.
template <class T>
__global__ void raise_once(T* base, std::size_t index, std::size_t length, T value) {
  fast_atomic_max(base, index, length, value);
}

/// In every place of short arrays, from every number to every other one, beside all of them.
template <class T>
void check_every_maximum() {
  std::vector<T> numbers = neighbours<T>();
  numbers.push_back(number<T>(std::nanf("")));
  for (std::size_t length = 1; length <= 3; ++length) {
    for (const std::size_t offset : {0u, 1u}) {
      for (std::size_t index = 0; index < length; ++index) {
        for (const T& beside : numbers) {
          if (length != 2 && !std::isnan(static_cast<float>(beside))) continue;
          for (const T& old : numbers) {
            for (const T& value : numbers) {
              INFO(length << " elements, base is element " << offset
                          << "; one thread raises element " << index << " from "
                          << course::number_text(old) << " to " << course::number_text(value)
                          << "; the others hold " << course::number_text(beside));
              std::vector<T> expected(length, beside);
              expected[index] = old;
              course::Placed<T> table(expected, offset);
              const auto a = static_cast<float>(old), b = static_cast<float>(value);
              // 0.0 is larger than -0.0; a number, than a NaN.
              const bool raises = b > a || (a == b && std::signbit(a)) || std::isnan(a);
              if (raises && !std::isnan(b)) expected[index] = value;
              course::launch(raise_once<T>, {1, 1}, table.data(), index, length, value);
              const std::vector<T> found = table.download();
              for (std::size_t t = 0; t < length; ++t) {
                INFO("element " << t << " is " << course::number_text(found[t]));
                if (std::isnan(static_cast<float>(expected[t]))) {
                  REQUIRE(std::isnan(static_cast<float>(found[t])));
                } else {
                  REQUIRE(bits_of(found[t]) == bits_of(expected[t]));
                }
              }
              REQUIRE(table.intact("table"));
            }
          }
        }
      }
    }
  }
}

/// The table begins with NaN.
template <class T, class Launch>
void check_maxima(const Launch& launch, std::size_t n, std::size_t targets, std::size_t offset) {
  const std::vector<__half> halves = gradients(n);
  const std::vector<T> values(halves.begin(), halves.end());
  const std::vector<int> index = random_index(n, targets);
  const auto d_values = course::DeviceBuffer<T>::from(values);
  const auto d_index = course::DeviceBuffer<int>::from(index);
  course::Placed<T> table(std::vector<T>(targets, number<T>(std::nanf(""))), offset);
  launch(d_values.data(), d_index.data(), n, table.data(), targets, nullptr);
  REQUIRE(same_or_nan(table.download(), max_reference(values, index, targets)));
  REQUIRE(table.intact("table"));
}

}  // namespace fast_add_testing

TEST_CASE("fast_atomic_max raises at every place, and changes no other element") {
  check_every_maximum<__half>();
  check_every_maximum<__nv_bfloat16>();
}

TEST_CASE("every scatter of maxima finds the largest value of every element") {
  for (const ScatterRung& rung : right_rungs(max_rungs())) {
    for (const std::size_t n : course::all_sizes()) {
      for (const std::size_t targets : {1u, 2u, 37u, 1000u}) {
        INFO(rung.name << ": n = " << n << " into " << targets << " targets");
        check_maxima<__half>(std::get<Scatter<__half>>(rung.launch), n, targets, (n + targets) % 2);
      }
    }
  }
}

TEST_CASE("maxima of bfloat16") {
  for (const std::size_t n : course::all_sizes()) {
    INFO("n = " << n);
    check_maxima<__nv_bfloat16>(launch_scatter_max_cas<__nv_bfloat16>, n, 37, n % 2);
    check_maxima<__nv_bfloat16>(launch_scatter_max_fast<__nv_bfloat16>, n, 37, n % 2);
    check_maxima<__nv_bfloat16>(launch_scatter_max_looking<__nv_bfloat16>, n, 37, n % 2);
  }
}
