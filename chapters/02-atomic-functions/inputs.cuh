// Numbers to work on: made on the host, the same on every machine, and different at every index.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

/// n different whole numbers from -2^23 to 2^23 - 1, without order, the maximum at any index. (They
/// repeat from n = 2^24 on.)
inline std::vector<float> signed_values(std::size_t n) {
  std::vector<float> x(n);
  for (std::size_t i = 0; i < n; ++i) {
    const std::uint32_t mixed = static_cast<std::uint32_t>(i + 1) * 2'654'435'769u >> 8;
    x[i] = static_cast<float>(mixed) - 8'388'608.0f;
  }
  return x;
}

/// The same, all below zero.
inline std::vector<float> negative_values(std::size_t n) {
  std::vector<float> x = signed_values(n);
  for (float& value : x) value -= 8'388'608.0f;
  return x;
}

/// n factors, 1, -1, 2 or 0.5: products of some hundred are exact in float, in any order.
inline std::vector<float> factors(std::size_t n) {
  constexpr float kFactors[] = {2.0f, 0.5f, -1.0f, 1.0f, 1.0f, 2.0f, 0.5f, 1.0f, -1.0f, 1.0f, 1.0f};
  std::vector<float> x(n);
  for (std::size_t i = 0; i < n; ++i) x[i] = kFactors[i * 7 % 11];
  return x;
}

/// How many of the indices 0 to n-1 fall on each address, if i falls on i % addresses.
template <class T>
std::vector<T> counts_of(std::size_t n, std::size_t addresses) {
  std::vector<T> counts(addresses);
  for (std::size_t a = 0; a < addresses; ++a) {
    counts[a] = static_cast<T>((n + addresses - 1 - a) / addresses);
  }
  return counts;
}
