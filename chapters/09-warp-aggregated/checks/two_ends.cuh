// For the check of tile_partition: kinds of numbers with their pivots, and what the two ends of the
// output must hold.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <course/cases.cuh>
#include <course/verdict.cuh>
#include <cstddef>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

namespace two_ends {

using E = course::Element;
constexpr float kPivot = 100'000.0f, kInfinity = std::numeric_limits<float>::infinity();

struct Kind : course::DataKind<float> {
  float pivot = kPivot;
};

/// A number that tells where it comes from.
inline float number(E e, bool low) {
  return static_cast<float>(e.i % 90'000) + (low ? 0.0f : kPivot);
}

const Kind kMixed{{"in no order", [](E e) { return number(e, e.random % 3 != 0); }}};
const Kind kAllLow{{"all below the pivot", [](E e) { return number(e, true); }}};
const Kind kAllHigh{{"none below the pivot", [](E e) { return number(e, false); }}};
const Kind kByWarp{
    {"32 below the pivot, 32 not, and so on", [](E e) { return number(e, e.i / 32 % 2 == 0); }}};
/// One of the numbers that compare in their own way.
inline float special(E e) {
  const float numbers[] = {kPivot, -0.0f, std::nanf(""), kInfinity, 0.0f, -kInfinity, 99'999.99f};
  return numbers[e.random % 7];
}
const Kind kKinds[] = {
    kMixed,
    kAllLow,
    kAllHigh,
    {{"the first one alone is below the pivot", [](E e) { return number(e, e.i == 0); }}},
    {{"the last one alone is below the pivot", [](E e) { return number(e, e.i + 1 == e.n); }}},
    kByWarp,
    {{"zeros, infinities, NaN, and the pivot itself", special}},
    {{"zeros, infinities and NaN; the pivot is 0", special}, 0.0f},
    {{"zeros, infinities and NaN; the pivot is infinity", special}, kInfinity},
    {{"zeros, infinities and NaN; the pivot is NaN", special}, std::nanf("")}};

inline std::vector<unsigned> sorted_bits(const float* begin, std::size_t n) {
  std::vector<unsigned> bits(n);
  if (n > 0) std::memcpy(bits.data(), begin, n * sizeof(float));
  std::sort(bits.begin(), bits.end());
  return bits;
}

inline std::string text_of(unsigned bits) {
  const auto x = std::bit_cast<float>(bits);
  return std::isnan(x) ? "NaN" : std::signbit(x) && x == 0 ? "-0" : course::number_text(x);
}

/// The same numbers, each as often, down to the bits.
inline course::Verdict same_bits(const std::vector<unsigned>& found,
                                 const std::vector<unsigned>& expected, const std::string& name) {
  for (std::size_t k = 0; k < expected.size(); ++k) {
    if (found[k] == expected[k]) continue;
    const bool missing =
        std::ranges::count(found, expected[k]) < std::ranges::count(expected, expected[k]);
    return {false, name + ": expected " + std::to_string(expected.size()) +
                       " numbers in any order; " +
                       (missing ? text_of(expected[k]) + " is missing"
                                : text_of(found[k]) + " is there, and does not belong there")};
  }
  return {};
}

constexpr float kFree = -12345.0f;  // in every place of `out` before the launch

/// Ok if `count` places from `from` on hold what they held before; out[0] is place `first`.
inline course::Verdict untouched(const std::vector<float>& out, std::size_t from, std::size_t count,
                                 std::size_t first, const char* why) {
  for (std::size_t k = from; k < from + count; ++k) {
    if (out[k] == kFree) continue;
    return {false, "out[" + std::to_string(first + k) + "], " + why + ", was written: found " +
                       course::number_text(out[k])};
  }
  return {};
}

}  // namespace two_ends
