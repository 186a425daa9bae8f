// Comparisons of rows that the ladder and the self-checks share.
#pragma once

#include <cmath>
#include <course/verdict.cuh>
#include <cstddef>
#include <cstring>
#include <string>
#include <vector>

/// Ok if each element is as expected, to `relative` of it and `absolute`: a NaN where a NaN is expected, and the same
/// infinity. `expected` may be the first part of what repeats itself to the end of `found`.
template <class T>
course::Verdict near(const std::vector<T>& found, const std::vector<double>& expected,
                     double relative, double absolute) {
  if (found.empty() && expected.empty()) return {};
  if (expected.empty() || found.size() % expected.size() != 0) {
    return course::same(found.size(), expected.size(), "results");
  }
  const std::size_t period = expected.size();
  for (std::size_t first = 0; first < found.size(); first += period) {
    // A repetition with the bits of the first part is as near as it is: there are 2^26 results.
    if (first > 0 && memcmp(&found[first], found.data(), period * sizeof(T)) == 0) continue;
    for (std::size_t i = 0; i < period; ++i) {
      const auto y = static_cast<double>(static_cast<float>(found[first + i]));
      const double tolerance = relative * std::fabs(expected[i]) + absolute;
      // Texts are made for what may be wrong alone.
      const bool is_near = std::isfinite(expected[i]) && std::fabs(y - expected[i]) <= tolerance;
      if (is_near || y == expected[i] || (std::isnan(y) && std::isnan(expected[i]))) continue;
      const course::Verdict verdict =
          course::close(y, expected[i], tolerance, "y[" + std::to_string(first + i) + "]");
      if (!verdict) return verdict;
    }
  }
  return {};
}
