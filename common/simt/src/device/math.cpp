// The mathematical functions of simt/math.hpp, in long double: rounded once, they are right to the last
// bit or the one before.
#include "simt/math.hpp"

#include <cmath>
#include <limits>

namespace {

using Real = long double;

constexpr Real kPi = 3.14159265358979323846264338327950288L;
constexpr Real kSqrtPi = 1.77245385090551602729816748334114518L;
constexpr Real kSqrt2 = 1.41421356237309504880168872420969808L;
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

/// x = half_turns / 2 + rest, with |rest| at most a quarter; both are exact.
struct Angle {
  int quadrant;
  Real rest;
};
Angle reduce(double x) {
  const double turn = std::fmod(x, 2.0);
  const double half_turns = std::nearbyint(2 * turn);
  return {static_cast<int>(half_turns) & 3, static_cast<Real>(turn) - half_turns / 2};
}

Real sine_of_pi(double x) {
  const Angle a = reduce(x);
  const Real s = std::sin(kPi * a.rest), c = std::cos(kPi * a.rest);
  if (a.quadrant % 2 == 0 && a.rest == 0) return std::copysign(Real(0), static_cast<Real>(x));
  return a.quadrant == 0 ? s : a.quadrant == 1 ? c : a.quadrant == 2 ? -s : -c;
}

Real cosine_of_pi(double x) {
  const Angle a = reduce(x);
  const Real s = std::sin(kPi * a.rest), c = std::cos(kPi * a.rest);
  if (a.quadrant % 2 == 1 && a.rest == 0) return 0;
  return a.quadrant == 0 ? c : a.quadrant == 1 ? -s : a.quadrant == 2 ? -c : s;
}

/// exp(x * x) * erfc(x) for x > 0 so large that erfc(x) has no digits left: the first terms of a series
/// in 1 / (2 x^2).
Real erfcx_of_large(Real x) {
  const Real q = 1 / (2 * x * x);
  return (1 - q * (1 - 3 * q * (1 - 5 * q * (1 - 7 * q * (1 - 9 * q))))) / (x * kSqrtPi);
}

Real erfcx_of(Real x) { return x > 60 ? erfcx_of_large(x) : std::exp(x * x) * std::erfc(x); }

/// The y > 0 with erfc(y) = q, for 0 < q <= 1, by Halley's iteration from a rough start.
Real inverse_of_erfc(Real q) {
  const Real l = std::sqrt(-2 * std::log(q / 2));
  Real y = (l - (2.30753L + 0.27061L * l) / (1 + l * (0.99229L + 0.04481L * l))) / kSqrt2;
  for (int i = 0; i < 6; ++i) {
    // (erfc(y) - q) / erfc'(y), by way of erfcx, which does not underflow
    const Real step = kSqrtPi / 2 * (q * std::exp(y * y) - erfcx_of(y));
    y -= step / (1 + y * step);
  }
  return y;
}

/// The same for small p: erf(y) = p, where 1 - p would lose digits.
Real inverse_of_erf(Real p) {
  Real y = p * kSqrtPi / 2;
  for (int i = 0; i < 8; ++i) {
    const Real step = kSqrtPi / 2 * (std::erf(y) - p) * std::exp(y * y);
    y -= step / (1 + y * step);
  }
  return y;
}

/// Modified Bessel function of the first kind of order 0 or 1: a series of positive terms.
Real bessel_i(int order, Real x) {
  const Real quarter = x * x / 4;
  Real term = order == 0 ? 1 : x / 2, sum = term;
  for (int k = 1; term > sum * std::numeric_limits<Real>::epsilon() / 4; ++k) {
    term *= quarter / (static_cast<Real>(k) * (k + order));
    sum += term;
  }
  return sum;
}

Real length(Real x, Real y, Real z, Real w) {
  if (std::isinf(x) || std::isinf(y) || std::isinf(z) || std::isinf(w)) {
    return std::numeric_limits<Real>::infinity();
  }
  return std::sqrt(x * x + y * y + z * z + w * w);
}

}  // namespace

double sinpi(double x) noexcept { return static_cast<double>(sine_of_pi(x)); }
double cospi(double x) noexcept { return static_cast<double>(cosine_of_pi(x)); }
float sinpif(float x) noexcept { return static_cast<float>(sine_of_pi(x)); }
float cospif(float x) noexcept { return static_cast<float>(cosine_of_pi(x)); }

double rcbrt(double x) { return static_cast<double>(1 / std::cbrt(static_cast<Real>(x))); }

double erfinv(double x) {
  if (!(std::abs(x) <= 1)) return kNaN;
  if (std::abs(x) == 1) return std::copysign(std::numeric_limits<double>::infinity(), x);
  const Real p = std::abs(static_cast<Real>(x));
  const Real y = p < 0.5L ? inverse_of_erf(p) : inverse_of_erfc(1 - p);
  return std::copysign(static_cast<double>(y), x);
}

double erfcinv(double x) {
  if (!(x >= 0 && x <= 2)) return kNaN;
  if (x == 0 || x == 2) return std::copysign(std::numeric_limits<double>::infinity(), 1 - x);
  const Real q = x;
  if (q > 0.5L && q < 1.5L) {
    const Real y = inverse_of_erf(std::abs(1 - q));
    return static_cast<double>(q > 1 ? -y : y);
  }
  return static_cast<double>(q < 1 ? inverse_of_erfc(q) : -inverse_of_erfc(2 - q));
}

double erfcx(double x) {
  const Real y = x;
  return static_cast<double>(x < 0 ? 2 * std::exp(y * y) - erfcx_of(-y) : erfcx_of(y));
}

double normcdf(double x) {
  return static_cast<double>(std::erfc(-static_cast<Real>(x) / kSqrt2) / 2);
}

double normcdfinv(double x) {
  if (!(x >= 0 && x <= 1)) return kNaN;
  if (x == 0 || x == 1) return std::copysign(std::numeric_limits<double>::infinity(), x - 0.5);
  const Real q = 2 * static_cast<Real>(x);
  if (q > 0.5L && q < 1.5L) {
    const Real y = kSqrt2 * inverse_of_erf(std::abs(1 - q));
    return static_cast<double>(q < 1 ? -y : y);
  }
  return static_cast<double>(kSqrt2 * (q < 1 ? -inverse_of_erfc(q) : inverse_of_erfc(2 - q)));
}

// Beyond these both are infinite in double.
double cyl_bessel_i0(double x) {
  if (std::isnan(x)) return x;
  return static_cast<double>(bessel_i(0, std::fmin(std::abs(x), 1000)));
}
double cyl_bessel_i1(double x) {
  if (std::isnan(x) || x == 0) return x;
  return std::copysign(static_cast<double>(bessel_i(1, std::fmin(std::abs(x), 1000))), x);
}

double rhypot(double x, double y) { return static_cast<double>(1 / length(x, y, 0, 0)); }
double norm3d(double x, double y, double z) { return static_cast<double>(length(x, y, z, 0)); }
double rnorm3d(double x, double y, double z) { return static_cast<double>(1 / length(x, y, z, 0)); }
double norm4d(double x, double y, double z, double w) {
  return static_cast<double>(length(x, y, z, w));
}
double rnorm4d(double x, double y, double z, double w) {
  return static_cast<double>(1 / length(x, y, z, w));
}
