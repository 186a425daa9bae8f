// CUDA's mathematical functions that the C library does not have. They are computed with more bits
// than the result has, so they are at least as accurate as a GPU's; src/device/math.cpp.
#pragma once

#include <math.h>

#include "simt/platform.hpp"
//
#include "simt/vector_types.hpp"

// Newer C libraries declare these, too.
extern "C" {
double sinpi(double x) noexcept;
double cospi(double x) noexcept;
float sinpif(float x) noexcept;
float cospif(float x) noexcept;
}

double rcbrt(double x);
double erfinv(double x);
double erfcinv(double x);
double erfcx(double x);
double normcdf(double x);
double normcdfinv(double x);
double cyl_bessel_i0(double x);
double cyl_bessel_i1(double x);
double rhypot(double x, double y);
double norm3d(double x, double y, double z);
double rnorm3d(double x, double y, double z);
double norm4d(double x, double y, double z, double w);
double rnorm4d(double x, double y, double z, double w);

// In float, under the name with an f, and for most of them as an overload of the one without.
#define SIMT_FLOAT_NAME(name) \
  SIMT_PURE float name##f(float x) { return static_cast<float>(name(static_cast<double>(x))); }
#define SIMT_FLOAT_FUNCTION(name) \
  SIMT_FLOAT_NAME(name)           \
  SIMT_PURE float name(float x) { return name##f(x); }
SIMT_FLOAT_FUNCTION(rcbrt)
SIMT_FLOAT_FUNCTION(erfinv)
SIMT_FLOAT_FUNCTION(erfcinv)
SIMT_FLOAT_FUNCTION(erfcx)
SIMT_FLOAT_FUNCTION(normcdf)
SIMT_FLOAT_FUNCTION(normcdfinv)
SIMT_FLOAT_FUNCTION(cyl_bessel_i0)
SIMT_FLOAT_FUNCTION(cyl_bessel_i1)
#undef SIMT_FLOAT_FUNCTION
#undef SIMT_FLOAT_NAME

SIMT_PURE float rhypotf(float x, float y) { return static_cast<float>(rhypot(x, y)); }
SIMT_PURE float norm3df(float x, float y, float z) { return static_cast<float>(norm3d(x, y, z)); }
SIMT_PURE float rnorm3df(float x, float y, float z) { return static_cast<float>(rnorm3d(x, y, z)); }
SIMT_PURE float norm4df(float x, float y, float z, float w) {
  return static_cast<float>(norm4d(x, y, z, w));
}
SIMT_PURE float rnorm4df(float x, float y, float z, float w) {
  return static_cast<float>(rnorm4d(x, y, z, w));
}
SIMT_PURE float sinpi(float x) { return sinpif(x); }
SIMT_PURE float cospi(float x) { return cospif(x); }

// The C library's functions under CUDA's names for float.
SIMT_PURE float j0(float x) { return j0f(x); }
SIMT_PURE float j1(float x) { return j1f(x); }
SIMT_PURE float jn(int n, float x) { return jnf(n, x); }
SIMT_PURE float y0(float x) { return y0f(x); }
SIMT_PURE float y1(float x) { return y1f(x); }
SIMT_PURE float yn(int n, float x) { return ynf(n, x); }
SIMT_PURE float exp10(float x) { return exp10f(x); }
SIMT_PURE double fdivide(double x, double y) { return x / y; }

// These write, or read, what the kernel points to: accesses of the kernel, at its line.
SIMT_TRANSPARENT void sincospi(double x, double* sine, double* cosine) {
  *sine = sinpi(x);
  *cosine = cospi(x);
}
SIMT_TRANSPARENT void sincospif(float x, float* sine, float* cosine) {
  *sine = sinpif(x);
  *cosine = cospif(x);
}
SIMT_TRANSPARENT void sincospi(float x, float* sine, float* cosine) { sincospif(x, sine, cosine); }
SIMT_TRANSPARENT void sincos(float x, float* sine, float* cosine) {
  *sine = __builtin_sinf(x);
  *cosine = __builtin_cosf(x);
}

namespace simt {
/// The sum of squares of the vector p of dim elements; infinite if one of them is.
template <class T>
SIMT_TRANSPARENT long double squares(int dim, const T* p) {
  long double sum = 0;
  bool is_infinite = false;
  for (int i = 0; i < dim; ++i) {
    const long double x = p[i];
    is_infinite = is_infinite || __builtin_isinf(x);
    sum += x * x;
  }
  return is_infinite ? __builtin_infl() : sum;
}
}  // namespace simt

SIMT_TRANSPARENT double norm(int dim, const double* p) {
  return static_cast<double>(__builtin_sqrtl(simt::squares(dim, p)));
}
SIMT_TRANSPARENT double rnorm(int dim, const double* p) {
  return static_cast<double>(1 / __builtin_sqrtl(simt::squares(dim, p)));
}
SIMT_TRANSPARENT float normf(int dim, const float* p) {
  return static_cast<float>(__builtin_sqrtl(simt::squares(dim, p)));
}
SIMT_TRANSPARENT float rnormf(int dim, const float* p) {
  return static_cast<float>(1 / __builtin_sqrtl(simt::squares(dim, p)));
}
