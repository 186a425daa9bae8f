// Data for the ladder and the self-check, and how far an answer may be from the reference.
#pragma once

#include <cuda_fp16.h>

#include <algorithm>
#include <cmath>
#include <course/data.cuh>
#include <course/ladder.cuh>
#include <course/verdict.cuh>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <numeric>
#include <string>
#include <vector>

using course::mixed;

/// n numbers from 0 to targets - 1, in no order. Several are equal, and some are missing.
inline std::vector<int> random_index(std::size_t n, std::size_t targets, std::uint64_t seed = 1) {
  std::vector<int> index(n);
  for (std::size_t i = 0; i < n; ++i) {
    index[i] = static_cast<int>((mixed(seed << 40 | i) >> 32) * targets >> 32);
  }
  return index;
}

/// +1 or -1 at random. Sums of them are whole numbers, which are exact in half from -2048 to 2048.
/// If the order does not depend on the signs, a sum of 65,536 of them is about 256 away from 0, and
/// 2048 away once in 10^15 sums: so sums are exact, and a lost update shows. Sums of up to 2048 of
/// them are exact in every order.
template <class T>
std::vector<T> coin_flips(std::size_t n) {
  const T sides[] = {static_cast<T>(-1.0f), static_cast<T>(1.0f)};
  std::vector<T> values(n);
  std::uint64_t coins = 0;  // 64 of them
  for (std::size_t i = 0; i < n; ++i) {
    if (i % 64 == 0) coins = mixed(~i);
    values[i] = sides[coins >> i % 64 & 1];
  }
  return values;
}

/// The updates in the order of their targets, those of one target in their old order.
inline void sort_by_target(std::vector<__half>& values, std::vector<int>& index) {
  std::vector<std::size_t> order(index.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return index[a] < index[b]; });
  std::vector<__half> sorted_values;
  std::vector<int> sorted_index;
  for (const std::size_t i : order) {
    sorted_values.push_back(values[i]);
    sorted_index.push_back(index[i]);
  }
  values = sorted_values;
  index = sorted_index;
}

/// Halves from -1 to 1 with all of their bits in use: every sum of them is rounded.
inline std::vector<__half> gradients(std::size_t n) {
  std::vector<__half> values(n);
  for (std::size_t i = 0; i < n; ++i) {
    values[i] = __half(static_cast<float>(static_cast<int>(mixed(i) >> 52) - 2048) / 2048);
  }
  return values;
}

/// How a rung adds the updates of an element up.
enum class Sums {
  in_half,        // every addition is rounded to half
  in_blocks,      // in float within a block; the sums of the blocks in half
  in_float,       // the table has floats
  in_float_once,  // in float, and rounded to half at the end
};

/// For each target, how far a sum of its updates may be from the exact one if each addition rounds
/// by at most `roundoff`: k / (1 - k) * sum |x| with k = (updates + 1) * roundoff. In any order,
/// and with partial sums that are rounded once more. Infinite where k >= 1: then nothing is known.
inline std::vector<double> rounding_bounds(const std::vector<__half>& values,
                                           const std::vector<int>& index, std::size_t targets,
                                           double roundoff) {
  std::vector<double> magnitude(targets, 0.0), updates(targets, 0.0);
  for (std::size_t i = 0; i < values.size(); ++i) {
    const auto t = static_cast<std::size_t>(index[i]);
    magnitude[t] += std::fabs(static_cast<double>(static_cast<float>(values[i])));
    updates[t] += 1;
  }
  for (std::size_t t = 0; t < targets; ++t) {
    const double k = (updates[t] + 1) * roundoff;
    magnitude[t] = k < 1 ? k / (1 - k) * magnitude[t] : HUGE_VAL;
  }
  return magnitude;
}

/// The same for what a rung does; `expected` are the exact sums.
inline std::vector<double> rounding_bounds(const std::vector<__half>& values,
                                           const std::vector<int>& index,
                                           const std::vector<double>& expected, Sums sums) {
  const bool floats = sums == Sums::in_float || sums == Sums::in_float_once;
  std::vector<double> bounds = rounding_bounds(
      values, index, expected.size(), floats ? course::kFloatRoundoff : course::kHalfRoundoff);
  if (sums == Sums::in_float_once) {
    for (std::size_t t = 0; t < expected.size(); ++t) {
      bounds[t] += 1.01 * course::kHalfRoundoff * std::fabs(expected[t]);
    }
  }
  return bounds;
}

/// Ok if every element is within its bound; NaN never is.
template <class T>
course::Verdict within(const std::vector<T>& found, const std::vector<double>& expected,
                       const std::vector<double>& bounds) {
  for (std::size_t t = 0; t < expected.size(); ++t) {
    const double value = static_cast<double>(static_cast<float>(found[t]));
    if (std::fabs(value - expected[t]) <= bounds[t]) continue;
    return {false, "table[" + std::to_string(t) + "]: expected " +
                       course::number_text(expected[t]) + " +- " + course::number_text(bounds[t]) +
                       ", found " + course::number_text(value)};
  }
  return {};
}

/// Ok if every element is the expected number, or a NaN where a NaN is expected.
template <class T>
course::Verdict same_or_nan(const std::vector<T>& found, const std::vector<double>& expected) {
  for (std::size_t t = 0; t < expected.size(); ++t) {
    const double value = static_cast<double>(static_cast<float>(found[t]));
    if (value == expected[t] || (std::isnan(value) && std::isnan(expected[t]))) continue;
    return {false, "table[" + std::to_string(t) + "]: expected " +
                       course::number_text(expected[t]) + ", found " + course::number_text(value)};
  }
  return {};
}

/// The largest and the mean distance from the reference.
template <class T>
course::Errors errors_of(const std::vector<T>& found, const std::vector<double>& expected) {
  course::Errors errors;
  for (std::size_t t = 0; t < expected.size(); ++t) {
    const double error = std::fabs(static_cast<double>(static_cast<float>(found[t])) - expected[t]);
    if (!(error <= errors.max)) errors.max = error;  // a NaN, too
    errors.mean += error / static_cast<double>(expected.size());
  }
  return errors;
}

/// The reference, rounded to the table's type.
template <class T>
std::vector<T> rounded(const std::vector<double>& exact) {
  std::vector<T> table;
  for (const double x : exact) table.push_back(static_cast<T>(static_cast<float>(x)));
  return table;
}

/// The bits of a number: they tell -0.0 from +0.0.
template <class T>
std::uint64_t bits_of(const T& x) {
  std::uint64_t bits = 0;
  std::memcpy(&bits, &x, sizeof x);
  return bits;
}
