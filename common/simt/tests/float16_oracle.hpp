// What a 16-bit floating-point operation must return, found in another way than the code under
// test: by comparing the exact result with a table of every number of the format.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdio>
#include <limits>
#include <string>
#include <vector>

namespace oracle {

enum class Mode { nearest, zero, up, down };
constexpr Mode kModes[] = {Mode::nearest, Mode::zero, Mode::up, Mode::down};

inline int sign_of(double x) { return (x > 0) - (x < 0); }

/// The sign of a + b + c, exactly: the sum is split into three doubles that do not overlap.
inline int sign_of_sum(double a, double b, double c) {
  struct Two {
    double sum, error;
  };
  const auto two_sum = [](double x, double y) {
    const double sum = x + y, y_part = sum - x;
    return Two{sum, (x - (sum - y_part)) + (y - y_part)};
  };
  const Two first = two_sum(a, b);
  const Two low = two_sum(first.error, c);
  const Two high = two_sum(first.sum, low.sum);
  for (const double part : {high.sum, high.error, low.error}) {
    if (part != 0) return sign_of(part);
  }
  return 0;
}

/// One format, by the width of its mantissa: 10 for half, 7 for bfloat16.
class Format {
 public:
  explicit Format(int mantissa_bits) {
    const int exponent_bits = 15 - mantissa_bits;
    mantissa_mask_ = (1u << mantissa_bits) - 1;
    infinity_ = ((1u << exponent_bits) - 1) << mantissa_bits;
    const int bias = (1 << (exponent_bits - 1)) - 1;
    for (unsigned bits = 0; bits <= infinity_; ++bits) {
      const int exponent = int(bits >> mantissa_bits);
      const double fraction = std::ldexp(double(bits & mantissa_mask_), -mantissa_bits);
      magnitude_.push_back(exponent == 0 ? std::ldexp(fraction, 1 - bias)
                                         : std::ldexp(1 + fraction, exponent - bias));
    }
  }

  unsigned infinity() const { return infinity_; }
  unsigned mantissa_mask() const { return mantissa_mask_; }
  /// The value of the number with these bits, without its sign; for infinity, the first power of
  /// two that is too large.
  double magnitude(unsigned bits) const { return magnitude_[bits & 0x7FFF]; }
  double value(unsigned bits) const {
    if (is_nan(bits)) return std::numeric_limits<double>::quiet_NaN();
    const double size =
        (bits & 0x7FFF) == infinity_ ? std::numeric_limits<double>::infinity() : magnitude(bits);
    return bits & 0x8000 ? -size : size;
  }
  bool is_nan(unsigned bits) const { return (bits & 0x7FFF) > infinity_; }

  /// Rounds an exact, finite result that is known only by comparison: compare(m) is the sign of
  /// (its magnitude - m).
  template <class Compare>
  unsigned round_by(bool negative, Mode mode, Compare compare) const {
    unsigned below = 0, above = infinity_;  // the exact result lies in [below, above)
    while (above - below > 1) {
      const unsigned middle = (below + above) / 2;
      (compare(magnitude_[middle]) >= 0 ? below : above) = middle;
    }
    bool away = false;
    if (compare(magnitude_[below]) != 0) {
      const int side = compare((magnitude_[below] + magnitude_[above]) / 2);
      if (mode == Mode::nearest) away = side > 0 || (side == 0 && below % 2 == 1);
      if (mode == Mode::up) away = !negative;
      if (mode == Mode::down) away = negative;
    }
    return (away ? above : below) | (negative ? 0x8000u : 0u);
  }

  /// Rounds x, which may be infinite.
  unsigned round(double x, Mode mode) const {
    const bool negative = std::signbit(x);
    if (std::isinf(x)) return infinity_ | (negative ? 0x8000u : 0u);
    return round_by(negative, mode, [=](double m) { return sign_of(std::fabs(x) - m); });
  }
  unsigned round(long double x, Mode mode) const {
    return round_by(x < 0, mode, [=](double m) {
      const long double size = std::fabs(x);
      return int(size > m) - int(size < m);
    });
  }

  /// a + b for finite numbers of the format or exact products of two.
  unsigned sum(double a, double b) const {
    const int sign = sign_of_sum(a, b, 0);
    if (sign == 0) return std::signbit(a) && std::signbit(b) ? 0x8000 : 0;
    return round_by(sign < 0, Mode::nearest,
                    [=](double m) { return sign * sign_of_sum(a, b, -sign * m); });
  }
  /// a / b for finite numbers of the format, b not 0. m * b has few enough bits to be exact.
  unsigned quotient(double a, double b) const {
    const bool negative = std::signbit(a) != std::signbit(b);
    return round_by(negative, Mode::nearest,
                    [=](double m) { return sign_of(std::fabs(a) - m * std::fabs(b)); });
  }

  /// What an operation on numbers with these bits returns: a + b, a - b, a * b, a / b, a * b + c.
  unsigned result(int operation, unsigned a_bits, unsigned b_bits, unsigned c_bits) const {
    const double a = value(a_bits), b = value(b_bits), c = value(c_bits);
    const double results[] = {a + b, a - b, a * b, a / b, a * b + c};
    const double in_double = results[operation];
    // Infinities, NaN and division by zero are double's.
    if (std::isnan(in_double)) return 0x7FFF;
    if (std::isinf(in_double)) return round(in_double, Mode::nearest);
    switch (operation) {
      case 0:
        return sum(a, b);
      case 1:
        return sum(a, -b);
      case 2:
        return round(a * b, Mode::nearest);  // exact in double
      case 3:
        return std::isinf(b) ? round(in_double, Mode::nearest) : quotient(a, b);
      default:
        return sum(a * b, c);
    }
  }

 private:
  std::vector<double> magnitude_;
  unsigned infinity_ = 0;
  unsigned mantissa_mask_ = 0;
};

/// A fixed sequence of 31-bit numbers that look random.
class Random {
 public:
  unsigned next() {
    state_ = state_ * 6364136223846793005ull + 1442695040888963407ull;
    return unsigned(state_ >> 33);
  }

 private:
  unsigned long long state_ = 1;
};

/// Numbers of the format (all below 40, then every stride-th), the middle between each and the
/// next, the floats next to both, and a few far outside; of both signs.
inline std::vector<float> boundary_floats(const Format& format, unsigned stride) {
  std::vector<float> inputs = {0.0f,   std::numeric_limits<float>::infinity(),
                               1e-45f, std::numeric_limits<float>::max(),
                               1e-30f, 1e30f};
  for (unsigned bits = 0; bits < format.infinity(); bits += bits < 40 ? 1 : stride) {
    const float number = float(format.magnitude(bits));
    const float middle = float((format.magnitude(bits) + format.magnitude(bits + 1)) / 2);
    for (const float x : {number, middle}) {
      inputs.push_back(x);
      inputs.push_back(std::nextafterf(x, 0.0f));
      inputs.push_back(std::nextafterf(x, std::numeric_limits<float>::infinity()));
    }
  }
  const std::size_t positive = inputs.size();
  for (std::size_t i = 0; i < positive; ++i) inputs.push_back(-inputs[i]);
  return inputs;
}

/// Operands for the operations: all triples of `special`, random ones, and triples of similar size,
/// where results cancel, tie, or come out subnormal.
struct Operands {
  std::vector<unsigned short> a, b, c;
  void add(unsigned x, unsigned y, unsigned z) {
    a.push_back((unsigned short)(x));
    b.push_back((unsigned short)(y));
    c.push_back((unsigned short)(z));
  }
};
inline Operands operands(const Format& format, const std::vector<unsigned>& special, int count) {
  Operands all;
  for (const unsigned x : special) {
    for (const unsigned y : special) {
      for (const unsigned z : special) all.add(x, y, z);
    }
  }
  // Bits of the sign, the last two of the exponent, and the mantissa.
  const unsigned free = 0x8000 | (format.mantissa_mask() * 8 + 7);
  const unsigned about_one = unsigned(format.round(0.5, Mode::nearest));
  Random random;
  for (int i = 0; i < count; ++i) {
    all.add(random.next() & 0xFFFF, random.next() & 0xFFFF, random.next() & 0xFFFF);
    const unsigned size = random.next() & 0x7FFF & ~free;
    all.add(size | (random.next() & free), (about_one & ~free) | (random.next() & free),
            size | (random.next() & free));
  }
  return all;
}

/// How two lists of 16-bit numbers differ, "" if they do not. Two NaNs are equal.
inline std::string differences(const Format& format, const std::vector<unsigned short>& found,
                               const std::vector<unsigned short>& expected) {
  if (found.size() != expected.size()) return "the sizes differ";
  std::size_t wrong = 0;
  char first[80] = "";
  for (std::size_t i = 0; i < found.size(); ++i) {
    if (found[i] == expected[i]) continue;
    if (format.is_nan(found[i]) && format.is_nan(expected[i])) continue;
    if (wrong++ > 0) continue;
    std::snprintf(first, sizeof first, "first [%zu]: expected 0x%04X, found 0x%04X", i, expected[i],
                  found[i]);
  }
  return wrong == 0 ? "" : std::to_string(wrong) + " differ, " + first;
}

}  // namespace oracle
