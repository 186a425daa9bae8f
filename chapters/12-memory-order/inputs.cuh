// Values to work on: made on the host, the same on every machine.
#pragma once

#include <cstddef>
#include <vector>

#include "hash_table.cuh"

/// n pairs with different keys, without order. Pair i has the value i.
inline std::vector<ull> distinct_pairs(std::size_t n) {
  std::vector<ull> pairs(n);
  for (std::size_t i = 0; i < n; ++i) {
    const auto k = static_cast<unsigned>(i);
    pairs[i] = pair_of(k * 2'654'435'769u + 12'345u, k);  // an odd factor: no key comes twice
  }
  return pairs;
}

/// The number of slots for n pairs at a load factor, in percent.
inline unsigned capacity_for(std::size_t n, unsigned percent) {
  return static_cast<unsigned>((n * 100 + percent - 1) / percent);
}
