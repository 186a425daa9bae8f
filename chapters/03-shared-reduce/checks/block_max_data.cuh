// Data for the check of block_max.
#pragma once

#include <course/cases.cuh>
#include <limits>

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

}  // namespace block_max_data
