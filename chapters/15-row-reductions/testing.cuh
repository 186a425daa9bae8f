// Comparisons of rows that the ladder and the self-checks share.
#pragma once

#include <cmath>
#include <course/verdict.cuh>
#include <cstddef>
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
  for (std::size_t i = 0; i < found.size(); ++i) {
    const auto y = static_cast<double>(static_cast<float>(found[i]));
    const double right = expected[i % expected.size()];
    const double tolerance = relative * std::fabs(right) + absolute;
    // Texts are made for what may be wrong alone: there are 2^26 results.
    const bool is_near = std::isfinite(right) && std::fabs(y - right) <= tolerance;
    if (is_near || y == right || (std::isnan(y) && std::isnan(right))) continue;
    const course::Verdict verdict =
        course::close(y, right, tolerance, "y[" + std::to_string(i) + "]");
    if (!verdict) return verdict;
  }
  return {};
}
