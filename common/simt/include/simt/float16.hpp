// Floating-point numbers of 16 bits in software: conversions with one exact rounding.
//
// half.hpp and bfloat16.hpp give CUDA's names to it. A compiler's own _Float16 would not do: clang
// 14 has none, and the checker must see each load and store of one as an access of 2 bytes.
#pragma once

#include "simt/intrinsics.hpp"

namespace simt {

/// A binary format of 16 bits: sign, exponent, mantissa.
template <int mantissa>
struct Float16 {
  static constexpr int kMantissaBits = mantissa;
  static constexpr int kExponentBits = 15 - mantissa;
  static constexpr int kBias = (1 << (kExponentBits - 1)) - 1;
  static constexpr int kMinExponent = 1 - kBias;  // of a normal number
  static constexpr unsigned kInfinity = ((1u << kExponentBits) - 1) << mantissa;
  static constexpr unsigned kNaN = 0x7FFF;  // what every operation returns as NaN
  static constexpr unsigned kOne = unsigned(kBias) << mantissa;
};
using Half = Float16<10>;
using Bfloat16 = Float16<7>;

SIMT_PURE bool rounds_away(bool negative, Rounding rounding, bool odd, unsigned long long rest,
                           unsigned long long half) {
  switch (rounding) {
    case Rounding::zero:
      return false;
    case Rounding::up:
      return rest != 0 && !negative;
    case Rounding::down:
      return rest != 0 && negative;
    case Rounding::nearest:
      break;
  }
  return rest > half || (rest == half && odd);
}

/// The format's number for +-significand * 2^exponent. This is the only place that rounds.
template <class Format>
SIMT_PURE unsigned short pack(bool negative, unsigned long long significand, int exponent,
                              Rounding rounding) {
  const unsigned sign = negative ? 0x8000 : 0;
  if (significand == 0) return (unsigned short)(sign);
  // Two bits fewer leave room to shift; the lowest bit remembers what was lost ("sticky").
  while (significand >> 62 != 0) {
    significand = significand >> 1 | (significand & 1);
    ++exponent;
  }
  int top = 63 - __builtin_clzll(significand) + exponent;  // 2^top <= value < 2^(top + 1)
  if (top < Format::kMinExponent)
    top = Format::kMinExponent;                        // subnormal numbers share one exponent
  int shift = top - Format::kMantissaBits - exponent;  // bits below the last one kept
  unsigned kept;
  bool away = false;
  if (shift <= 0) {
    kept = unsigned(significand << -shift);
  } else {
    if (shift > 63) shift = 63;  // all of it is less than half of the last bit
    const unsigned long long half = 1ull << (shift - 1);
    const unsigned long long rest = significand & (2 * half - 1);
    kept = unsigned(significand >> shift);
    away = rounds_away(negative, rounding, (kept & 1) != 0, rest, half);
  }
  const bool overflow = top > Format::kBias;
  // The leading bit of `kept` adds one to the exponent, and so does a carry out of the mantissa.
  const unsigned bits =
      overflow ? Format::kInfinity
               : (unsigned(top + Format::kBias - 1) << Format::kMantissaBits) + kept + away;
  if (overflow && !rounds_away(negative, rounding, true, 1, 1)) {
    return (unsigned short)(sign | (Format::kInfinity - 1));
  }
  return (unsigned short)(sign | bits);
}

template <class Format>
SIMT_PURE unsigned short from_float(float x, Rounding rounding) {
  const unsigned bits = __float_as_uint(x);
  const int exponent = int(bits >> 23 & 0xFF);
  const unsigned mantissa = bits & 0x7FFFFF;
  const bool negative = bits >> 31 != 0;
  if (exponent == 0xFF) {
    return (unsigned short)(mantissa != 0 ? Format::kNaN : Format::kInfinity | negative << 15);
  }
  const unsigned significand = exponent == 0 ? mantissa : mantissa | 1u << 23;
  return pack<Format>(negative, significand, (exponent == 0 ? 1 : exponent) - 127 - 23, rounding);
}

template <class Format>
SIMT_PURE unsigned short from_double(double x, Rounding rounding) {
  const unsigned long long bits = (unsigned long long)(__double_as_longlong(x));
  const int exponent = int(bits >> 52 & 0x7FF);
  const unsigned long long mantissa = bits & ((1ull << 52) - 1);
  const bool negative = bits >> 63 != 0;
  if (exponent == 0x7FF) {
    return (unsigned short)(mantissa != 0 ? Format::kNaN : Format::kInfinity | negative << 15);
  }
  const unsigned long long significand = exponent == 0 ? mantissa : mantissa | 1ull << 52;
  return pack<Format>(negative, significand, (exponent == 0 ? 1 : exponent) - 1023 - 52, rounding);
}

template <class Format>
SIMT_PURE unsigned short from_integer(long long x, Rounding rounding) {
  const unsigned long long bits = (unsigned long long)(x);
  return pack<Format>(x < 0, x < 0 ? 0 - bits : bits, 0, rounding);
}
template <class Format>
SIMT_PURE unsigned short from_integer(unsigned long long x, Rounding rounding) {
  return pack<Format>(false, x, 0, rounding);
}

/// Exact. A NaN of half loses its sign and payload, as it does on a GPU.
SIMT_PURE float to_float(Half, unsigned short bits) {
  const unsigned sign = unsigned(bits & 0x8000) << 16, exponent = bits >> 10 & 31;
  const unsigned mantissa = bits & 0x3FF;
  if (exponent == 31) {
    return mantissa != 0 ? __uint_as_float(0x7FFFFFFF) : __uint_as_float(sign | 0x7F800000);
  }
  if (exponent == 0) {
    const float magnitude = float(mantissa) * 0x1p-24f;
    return sign != 0 ? -magnitude : magnitude;
  }
  return __uint_as_float(sign | (exponent + 127 - 15) << 23 | mantissa << 13);
}
SIMT_PURE float to_float(Bfloat16, unsigned short bits) {
  return __uint_as_float(unsigned(bits) << 16);
}

/// a * b + c, rounded to odd: an inexact result has its last bit set. Rounding that to a format of
/// at most 51 bits is as good as rounding the exact result; rounding to nearest twice would not be.
/// a * b must be exact in double, which it is for factors of 16 bits.
SIMT_PURE double fma_to_odd(double a, double b, double c) {
  const double product = a * b;
  const double sum = product + c;
  if (__builtin_isinf(sum) || sum != sum) return sum;
  const double c_part = sum - product;
  const double error = (product - (sum - c_part)) + (c - c_part);  // exact (Knuth's two-sum)
  unsigned long long bits = (unsigned long long)(__double_as_longlong(sum));
  if (error == 0 || (bits & 1) != 0) return sum;
  // The exact result lies between `sum` and its odd neighbour on the side of the error.
  const bool grows = (error > 0) == (sum > 0);
  bits += grows ? 1 : -1;
  return __longlong_as_double((long long)(bits));
}

}  // namespace simt
