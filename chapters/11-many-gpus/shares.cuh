// Which elements of an array belong to which device?
// Each gets a piece in one go; pieces differ by one element at most.
#pragma once

#include <algorithm>
#include <cstddef>

/// The elements [begin, begin + size) of an array.
struct Share {
  std::size_t begin = 0, size = 0;
};

/// The share of `part` (0, ..., parts - 1) in n elements. Every element is in exactly one share,
/// and the first n % parts shares have one element more than the others. With n < parts the last
/// ones are empty. n / parts * part is never larger than n, so nothing overflows.
constexpr Share share_of(std::size_t n, int part, int parts) {
  const auto p = static_cast<std::size_t>(part), count = static_cast<std::size_t>(parts);
  const std::size_t each = n / count, longer = n % count;
  return {each * p + std::min(p, longer), each + (p < longer ? 1 : 0)};
}
