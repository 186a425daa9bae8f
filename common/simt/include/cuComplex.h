// CUDA's complex numbers: float2 and double2 as real and imaginary part.
#pragma once

#include <cmath>

#include "simt/platform.hpp"
#include "simt/vector_types.hpp"

using cuFloatComplex = float2;
using cuDoubleComplex = double2;
using cuComplex = cuFloatComplex;

#define SIMT_COMPLEX(Complex, T, suffix)                                                 \
  inline Complex make_##Complex(T real, T imaginary) { return {real, imaginary}; }       \
  inline T cuCreal##suffix(Complex a) { return a.x; }                                    \
  inline T cuCimag##suffix(Complex a) { return a.y; }                                    \
  inline Complex cuConj##suffix(Complex a) { return {a.x, -a.y}; }                       \
  inline Complex cuCadd##suffix(Complex a, Complex b) { return {a.x + b.x, a.y + b.y}; } \
  inline Complex cuCsub##suffix(Complex a, Complex b) { return {a.x - b.x, a.y - b.y}; } \
  inline Complex cuCmul##suffix(Complex a, Complex b) {                                  \
    return {a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x};                               \
  }                                                                                      \
  inline Complex cuCfma##suffix(Complex a, Complex b, Complex c) {                       \
    return {a.x * b.x + c.x - a.y * b.y, a.x * b.y + c.y + a.y * b.x};                   \
  }                                                                                      \
  inline T cuCabs##suffix(Complex a) { return std::hypot(a.x, a.y); }                    \
  /* Scaled by the size of b, so that its square neither overflows nor vanishes. */      \
  inline Complex cuCdiv##suffix(Complex a, Complex b) {                                  \
    const T scale = 1 / (std::fabs(b.x) + std::fabs(b.y));                               \
    const Complex p = {a.x * scale, a.y * scale}, q = {b.x * scale, b.y * scale};        \
    const T norm = 1 / (q.x * q.x + q.y * q.y);                                          \
    return {(p.x * q.x + p.y * q.y) * norm, (p.y * q.x - p.x * q.y) * norm};             \
  }

SIMT_COMPLEX(cuFloatComplex, float, f)
SIMT_COMPLEX(cuDoubleComplex, double, )
#undef SIMT_COMPLEX

inline cuComplex make_cuComplex(float real, float imaginary) { return {real, imaginary}; }
inline cuDoubleComplex cuComplexFloatToDouble(cuFloatComplex a) { return {a.x, a.y}; }
inline cuFloatComplex cuComplexDoubleToFloat(cuDoubleComplex a) {
  return {static_cast<float>(a.x), static_cast<float>(a.y)};
}
