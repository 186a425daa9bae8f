// What the check of atomic_max_float gives to many threads, and which answers some order of them
// explains. Floats are handled as their bits.
#pragma once

#include <course/check.cuh>
#include <cstddef>
#include <string>
#include <vector>

#include "chain.cuh"
#include "checks/float_bits.cuh"

namespace float_max {

using float_bits::kNumbers;
using float_bits::of;

constexpr unsigned kTheNan = 0x7FFF'FFFF;  // that the exercise returns
constexpr unsigned kMinusInfinity = 0xFF80'0000;
/// What cells hold at first.
inline const std::vector<unsigned> kStarts = {kMinusInfinity, 0x8000'0000, 0xC47A'0000,
                                              0x4640'0000};

/// What the exercise promises, in other words than the solution's.
inline unsigned maximum(unsigned old, unsigned value) {
  if (float_bits::is_nan(value)) return kTheNan;
  return float_bits::position(value) > float_bits::position(old) ? value : old;
}

inline const std::vector<unsigned> kNans = {kTheNan, 0x7FC0'0000, 0xFFC0'0000, 0x7FC0'0123,
                                            0xFFFF'FFFF};

inline float rising(course::Element e) { return 0.5f * static_cast<float>(e.i) - 300.0f; }
inline float random(course::Element e) { return static_cast<float>(e.i * 7919 % 10'009) - 5000.0f; }

inline const course::DataKind<unsigned> kRising{"each larger than the one before",
                                                [](course::Element e) { return of(rising(e)); }};
inline const course::DataKind<unsigned> kMixed{"both signs, in no order",
                                               [](course::Element e) { return of(random(e)); }};
inline const course::DataKind<unsigned> kNegative{
    "all below zero", [](course::Element e) { return of(random(e) - 6000.0f); }};
inline const course::DataKind<unsigned> kKinds[] = {
    kRising,
    {"each smaller than the one before", [](course::Element e) { return of(-rising(e)); }},
    kMixed,
    kNegative,
    {"-0 and 0", [](course::Element e) { return of(e.i % 3 == 1 ? 0.0f : -0.0f); }},
    {"all the same", [](course::Element) { return of(-12.5f); }},
    {"infinities, subnormals, zeros",
     [](course::Element e) { return kNumbers[e.i * 7 % kNumbers.size()]; }},
    {"numbers and a few NaN",
     [](course::Element e) { return e.i % 97 == 50 ? kNans[e.i % kNans.size()] : of(random(e)); }},
    {"the last one is NaN",
     [](course::Element e) { return e.i + 1 == e.n ? 0xFFC0'0000 : of(random(e)); }}};

/// Ok if some order of the threads explains what they found, and what is left.
inline course::Verdict explained(const std::vector<unsigned>& values,
                                 const std::vector<unsigned>& found, unsigned first,
                                 unsigned last) {
  unsigned expected = first;
  for (const unsigned value : values) expected = maximum(expected, value);
  if (last != expected) return float_bits::same("the cell", last, expected);
  std::vector<unsigned> left(found.size());
  for (std::size_t i = 0; i < found.size(); ++i) {
    left[i] = maximum(found[i], values[i]);
    if (float_bits::is_nan(found[i]) && found[i] != kTheNan) {
      return float_bits::same("returned[" + std::to_string(i) + "]", found[i], kTheNan);
    }
  }
  return one_chain(found, left, first, last, float_bits::text);
}

}  // namespace float_max
