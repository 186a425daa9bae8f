// Data for the ladder and the self-checks: values and indices in no order, rows that sum exactly.
#pragma once

#include <course/data.cuh>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace cluster_checks {

using course::mixed, course::random_index;

/// n numbers below `bins`, each as likely as any other.
inline std::vector<std::uint16_t> even_values(std::size_t n, unsigned bins) {
  std::vector<std::uint16_t> values(n);
  for (std::size_t i = 0; i < n; ++i) {
    values[i] = static_cast<std::uint16_t>((mixed(i) >> 40) % bins);
  }
  return values;
}

/// The same, but every other one is the number 5.
inline std::vector<std::uint16_t> crowded_values(std::size_t n, unsigned bins) {
  std::vector<std::uint16_t> values = even_values(n, bins);
  for (std::size_t i = 0; i < n; ++i) {
    if ((mixed(i) & 1) != 0) values[i] = static_cast<std::uint16_t>(5 % bins);
  }
  return values;
}

/// +1 or -1 at random: sums of up to 256 of them are exact in every type down to bfloat16, and a sum of 65,536
/// strays 256 from 0, which is exact in half.
template <class T>
std::vector<T> coin_flips(std::size_t n) {
  std::vector<T> values(n);
  for (std::size_t i = 0; i < n; ++i) {
    values[i] = static_cast<T>((mixed(i / 64) >> i % 64 & 1) != 0 ? 1.0f : -1.0f);
  }
  return values;
}

/// Zeros and ones, so that sums of up to 2^24 ones are exact in float.
inline std::vector<float> zeros_and_ones(std::size_t n) {
  std::vector<float> values(n);
  const std::size_t every = n > (std::size_t{1} << 25) ? 64 : 2;  // one of so many is 1
  for (std::size_t i = 0; i < n; ++i) values[i] = mixed(i / 64) % every == i % every ? 1.0f : 0.0f;
  return values;
}

}  // namespace cluster_checks
