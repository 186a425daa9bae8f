// Arrays of halves to multiply: made from small whole numbers, so that what must come out is known.
#pragma once

#include <cuda_fp16.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

/// Whole numbers from -7 to 7: what an array holds before it is scaled and turned into halves.
using SmallNumbers = std::vector<signed char>;

/// Number i of a sequence without a pattern; another sequence for each seed.
inline unsigned spread(std::uint64_t i, std::uint64_t seed) {
  const std::uint64_t mixed = (i + 1 + (seed << 40)) * 0x9E37'79B9'7F4A'7C15u;
  return static_cast<unsigned>((mixed ^ mixed >> 29) * 0xBF58'476D'1CE4'E5B9u >> 40);
}

/// n numbers from -7 to 7.
///
/// Divided by 8 they are exact halves, and their products, multiples of 1/64, are exact, too.
/// Positive and negative ones balance: in whatever order the rungs of this chapter add, partial
/// sums stay far below 2^18 = 2^24 / 64, also of 2^28 products. So float sums are exact, and one
/// lost product shows.
inline SmallNumbers balanced_numbers(std::size_t n, std::uint64_t seed) {
  SmallNumbers x(n);
  for (std::size_t i = 0; i < n; ++i) {
    x[i] = static_cast<signed char>(static_cast<int>(spread(i, seed) % 15) - 7);
  }
  return x;
}

/// n numbers as the article draws them: 0 to 3 in the low half of each half2, 0 or 1 in the high
/// one. (It seeds its generator with the time of day; here they are the same in every run.)
inline SmallNumbers article_numbers(std::size_t n, std::uint64_t seed) {
  SmallNumbers x(n);
  for (std::size_t i = 0; i < n; ++i) {
    x[i] = static_cast<signed char>(spread(i, seed) % (i % 2 == 0 ? 4 : 2));
  }
  return x;
}

/// x[i] * unit, as halves. `unit` is a power of two.
inline std::vector<__half> to_halves(const SmallNumbers& x, float unit) {
  std::array<__half, 15> table;
  for (int k = -7; k <= 7; ++k) {
    table[static_cast<std::size_t>(k + 7)] = __float2half_rn(static_cast<float>(k) * unit);
  }
  std::vector<__half> halves(x.size());
  for (std::size_t i = 0; i < x.size(); ++i) halves[i] = table[static_cast<std::size_t>(x[i] + 7)];
  return halves;
}

/// a[0] * b[0] + ... + a[n-1] * b[n-1], exactly.
inline long long exact_dot(const SmallNumbers& a, const SmallNumbers& b) {
  long long sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}
