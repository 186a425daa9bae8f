// CUDA's mathematical functions that the C library does not have, against values computed with 1400
// bits.
#include <cuda_runtime.h>

#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <course/buffer.cuh>
#include <course/device.cuh>
#include <limits>
#include <vector>

#include "results.cuh"
#include "testing.hpp"

namespace math_test {

using course::DeviceBuffer;
using simt_test::results_of;

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

/// The index of the first result that is not the expected number or a neighbour of it; -1: none.
template <class T>
int first_wrong(const std::vector<T>& results, const std::vector<double>& expected) {
  for (std::size_t i = 0; i < results.size(); ++i) {
    const T e = static_cast<T>(expected[i]), r = results[i];
    const bool both_nan = std::isnan(e) && std::isnan(r);
    const bool near = std::nextafter(e, r) == r && std::signbit(e) == std::signbit(r);
    if (!both_nan && !near) return static_cast<int>(i);
  }
  return -1;
}

// clang-format off
template <class T>
__global__ void special(T* r) {
  *r++ = sinpi(T(0.25)); *r++ = sinpi(T(7.5)); *r++ = sinpi(T(-3)); *r++ = sinpi(T(1048576.5));
  *r++ = cospi(T(0.25)); *r++ = cospi(T(1)); *r++ = cospi(T(0.5)); *r++ = cospi(T(-2.25));
  *r++ = rcbrt(T(8)); *r++ = rcbrt(T(-0.375));
  *r++ = erfinv(T(0.5)); *r++ = erfinv(T(-0.9375)); *r++ = erfinv(T(1)); *r++ = erfinv(T(1.5));
  *r++ = erfcinv(T(0.3125)); *r++ = erfcinv(T(1.75)); *r++ = erfcinv(T(0)); *r++ = erfcinv(T(0x1p-100));
  *r++ = erfcx(T(-3)); *r++ = erfcx(T(0.5)); *r++ = erfcx(T(30)); *r++ = erfcx(T(100663296)); *r++ = erfcx(T(-40));
  *r++ = normcdf(T(-8)); *r++ = normcdf(T(0)); *r++ = normcdf(T(2.5));
  *r++ = normcdfinv(T(0x1p-100)); *r++ = normcdfinv(T(0.25)); *r++ = normcdfinv(T(0)); *r++ = normcdfinv(T(2));
  *r++ = cyl_bessel_i0(T(0)); *r++ = cyl_bessel_i0(T(2)); *r++ = cyl_bessel_i0(T(-60)); *r++ = cyl_bessel_i0(T(5000));
  *r++ = cyl_bessel_i1(T(0.5)); *r++ = cyl_bessel_i1(T(-2)); *r++ = cyl_bessel_i1(T(60));
}
const std::vector<double> kSpecial = {
  0.7071067811865476, -1.0, -0.0, 1.0,
  0.7071067811865476, -1.0, 0.0, 0.7071067811865476,
  0.5, -1.3867225487012693,
  0.4769362762044699, -1.3171503349861307, kInf, kNaN,
  0.7141708976081284, -0.8134198475976185, kInf, 8.163048919217452,
  16205.988853999586, 0.6156903441929259, 0.01879588886141675, 5.6047199522232634e-09, kInf,
  6.220960574271784e-16, 0.5, 0.9937903346742238,
  -11.484540434973038, -0.6744897501960817, -kInf, kNaN,
  1.0, 2.2795853023360673, 5.894077055609801e+24, kInf,
  0.2578943053908963, -1.590636854637329, 5.844751588390468e+24
};
// clang-format on

TEST_CASE("special functions are right to the last bit or the one before", "[math]") {
  CHECK(first_wrong(results_of(special<double>, kSpecial.size()), kSpecial) == -1);
  CHECK(first_wrong(results_of(special<float>, kSpecial.size()), kSpecial) == -1);
}

TEST_CASE("special functions work in host code", "[math]") {
  CHECK(normcdf(0.0) == 0.5);
  CHECK(rsqrtf(4.0f) == 0.5f);
  CHECK(sinpif(0.5f) == 1.0f);
}

// ---- lengths of vectors ---------------------------------------------------------------------------

__global__ void lengths(double* r) {
  const double v[4] = {1, -4, 8, 0};
  *r++ = norm3d(1.0, -4.0, 8.0);
  *r++ = rnorm3d(1.0, -4.0, 8.0);
  *r++ = norm4d(2.0, 4.0, 5.0, 6.0);
  *r++ = rnorm4d(2.0, 4.0, 5.0, 6.0);
  *r++ = rhypot(3.0, 4.0);
  *r++ = norm(4, v);
  *r++ = rnorm(4, v);
  *r++ = norm3d(3e200, 4e200, 0.0);
  *r++ = norm3d(kInf, kNaN, 0.0);
  *r++ = norm3df(1.0f, -4.0f, 8.0f);
  *r++ = rnorm3df(0.0f, 0.0f, 4.0f);
  *r++ = norm4df(2.0f, 4.0f, 5.0f, 6.0f);
  *r++ = rnorm4df(0.0f, 0.0f, 4.0f, 0.0f);
  *r++ = rhypotf(0.0f, 4.0f);
  double s, c;
  sincospi(0.25, &s, &c);
  *r++ = s;
  *r++ = c;
  float fs, fc;
  sincospif(0.5f, &fs, &fc);
  *r++ = fs;
  *r++ = fc;
  sincos(0.0f, &fs, &fc);
  *r++ = fc;
  *r++ = fdivide(1.0, 4.0);
}

TEST_CASE("lengths of vectors", "[math]") {
  const std::vector<double> expected = {
      9,    1 / 9.0, 9,    1 / 9.0, 0.2,  9,    1 / 9.0,        5e200,
      kInf, 9,       0.25, 9,       0.25, 0.25, std::sqrt(0.5), std::sqrt(0.5),
      1,    0,       1,    0.25};
  CHECK(first_wrong(results_of(lengths, expected.size()), expected) == -1);
}

__global__ void length_of(const float* v, float* r) { *r = normf(4, v); }

TEST_CASE("norm reads the kernel's memory: the checker sees it", "[math]") {
  const auto work = [] {
    const simt_test::Array<float> v(4), r(1);
    length_of<<<1, 1>>>(v.data(), r.data());
  };
  CHECK(simt_test::only_report(work).kind == simt::ReportKind::uninitialised);
}

}  // namespace math_test
