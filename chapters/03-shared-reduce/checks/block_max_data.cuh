// Data for the check of block_max.
#pragma once

#include <cmath>
#include <course/cases.cuh>
#include <course/verdict.cuh>
#include <cstddef>
#include <limits>
#include <string>
#include <vector>

namespace block_max_data {

constexpr float kInfinity = std::numeric_limits<float>::infinity();
inline const float kNan = std::numeric_limits<float>::quiet_NaN();

/// Some kinds are used by name: their indices.
enum Kind { mixed, negative, some_nan, nan_first, infinite, both_infinities, all_nan, kKinds };

inline course::DataKind<float> data(unsigned kind, unsigned block) {
  using E = course::Element;
  const course::DataKind<float> kinds[kKinds] = {
      {"numbers of both signs", [](E e) { return e.random - 900.0f; }},
      {"all below zero", [](E e) { return -1e-3f * e.random; }},
      {"every third is NaN", [](E e) { return e.i % 3 == 1 ? kNan : e.random - 900.0f; }},
      {"NaN comes first in every block, numbers after it",
       [block](E e) { return e.i % block < (block + 1) / 2 ? kNan : -1.0f * e.random; }},
      {"mostly -infinity, and numbers far below zero",
       [](E e) { return e.random % 7 == 0 ? -3e38f - e.random * 1e32f : -kInfinity; }},
      {"infinities of both signs, NaN, and numbers",
       [](E e) {
         if (e.random % 9 == 0) return kInfinity;
         if (e.random % 3 == 0) return kNan;
         return e.i % 2 ? 1.0f * e.random : -kInfinity;
       }},
      {"all are NaN, of both signs", [](E e) { return e.i % 2 == 0 ? kNan : -kNan; }}};
  return kinds[kind];
}

inline std::vector<float> reference(const std::vector<float>& x, course::LaunchShape launch) {
  std::vector<float> maxima(launch.grid, -kInfinity);
  for (std::size_t i = 0; i < x.size(); ++i) {
    float& largest = maxima[i / launch.block % launch.grid];
    if (x[i] > largest) largest = x[i];  // false for NaN
  }
  return maxima;
}

/// What block b's maximum is computed from: "x[417] = 3, the largest of its 12 elements".
inline std::string largest_element(const std::vector<float>& x, std::size_t b,
                                   course::LaunchShape launch) {
  std::size_t count = 0, numbers = 0, where = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    if (i / launch.block % launch.grid != b) continue;
    ++count;
    if (std::isnan(x[i])) continue;
    if (numbers++ == 0 || x[i] > x[where]) where = i;
  }
  if (count == 0) return "no element at all";
  const std::string all = count == 1 ? "its only element" : std::to_string(count) + " elements";
  if (numbers == 0) return all + ", NaN" + (count == 1 ? "" : " all of them");
  const std::string largest = course::elements_text("x", x, where, where + 1);
  return largest + (count == 1 ? ", " : ", the largest of ") + all;
}

}  // namespace block_max_data
