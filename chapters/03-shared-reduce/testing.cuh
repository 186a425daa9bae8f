// What several self-checks of this chapter share.
#pragma once

#include <course/data.cuh>
#include <cstddef>
#include <vector>

/// Floats whose sum is rounded at almost every addition, and differently in every order.
template <class T>
std::vector<T> rounding_values(std::size_t n) {
  std::vector<T> x = course::position_values<T>(n);
  for (T& value : x) value = T(1) / (value + T(0.1));
  return x;
}
