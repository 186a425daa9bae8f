// Rows of a shape in guarded memory, which the self-checks give to launches.
#pragma once

#include <catch2/catch_test_macros.hpp>
#include <course/check.cuh>
#include <cstddef>
#include <string>
#include <vector>

#include "teams.cuh"

/// Rows x columns.
struct Shape {
  std::size_t rows, width,
      offset;  // offset: elements before the first row, past a multiple of 64 bytes
};

template <class T>
constexpr double kRoundoff = course::kFloatRoundoff;
template <>
constexpr double kRoundoff<__half> = course::kHalfRoundoff;
template <>
constexpr double kRoundoff<__nv_bfloat16> = course::kBfloat16Roundoff;

/// Rows x width results of a launch.
template <class Result, class T, class Launch>
std::vector<Result> run(const std::vector<T>& x, const Shape& shape, std::size_t results,
                        Launch launch) {
  const course::Placed<T> d_x(x, shape.offset);
  course::GuardedBuffer<Result> y(results);
  launch(Rows<T, Result>{d_x.data(), y.data(), shape.rows, shape.width});
  const std::vector<Result> found = y.download();
  REQUIRE(y.intact("y"));
  return found;
}

inline std::string text(const std::string& name, const Shape& shape) {
  return name + ", " + std::to_string(shape.rows) + " rows of " + std::to_string(shape.width) +
         ", " + std::to_string(shape.offset) + " elements past a multiple of 64 bytes";
}
