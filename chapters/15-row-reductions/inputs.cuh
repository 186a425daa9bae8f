// Data for the ladder and the self-checks: numbers in no order, whose sums are exact.
#pragma once

#include <course/data.cuh>
#include <cstddef>
#include <vector>

/// n numbers k/8 with k from -31 to 31, in no order: exact in every type down to bfloat16's 8 bits, and so are float sums
/// of up to 2^18 of them in any order. Longer arrays repeat themselves every kPeriod elements.
constexpr std::size_t kPeriod = std::size_t{1} << 20;
template <class T>
std::vector<T> balanced_values(std::size_t n) {
  std::vector<T> x(n);
  for (std::size_t i = 0; i < n; ++i) {
    const int k = static_cast<int>((course::mixed(i % kPeriod) >> 40) % 63) - 31;
    x[i] = static_cast<T>(static_cast<float>(k) / 8);
  }
  return x;
}

/// Rows of floats in whose sums plain additions lose digits: 1/3, 1/5, ..., with 50,000 before them and -50,000 after.
inline std::vector<float> sums_that_lose(std::size_t n, std::size_t width) {
  std::vector<float> x(n);
  for (std::size_t i = 0; i < n; ++i) {
    const std::size_t c = i % width;
    x[i] = 1.0f / static_cast<float>(3 + 2 * (course::mixed(i) % 64));
    if (c == 0) x[i] = 50'000;
    if (c + 1 == width) x[i] = -50'000;
  }
  return x;
}
