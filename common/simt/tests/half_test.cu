// __half and __half2: every conversion bit by bit, and arithmetic against exact results.
#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <course/buffer.cuh>
#include <cstring>
#include <string>
#include <type_traits>
#include <vector>

#include "float16_checks.cuh"
#include "results.cuh"

namespace half_test {

using course::DeviceBuffer;
using oracle::kModes;
using oracle::Mode;

/// half, for float16_checks.cuh.
struct Half {
  using Type = __half;
  static constexpr int kMantissaBits = 10;
  __host__ __device__ static Type of_bits(unsigned short bits) { return __ushort_as_half(bits); }
  __host__ __device__ static unsigned short bits_of(Type x) { return __half_as_ushort(x); }
  __device__ static float widen(Type x) { return __half2float(x); }
  __device__ static Type narrow(float x) { return __float2half(x); }
  __device__ static Type nearest(float x) { return __float2half_rn(x); }
  __device__ static Type zero(float x) { return __float2half_rz(x); }
  __device__ static Type up(float x) { return __float2half_ru(x); }
  __device__ static Type down(float x) { return __float2half_rd(x); }
};
constexpr auto format = float16_checks::format<Half>;
constexpr auto differences = float16_checks::differences<Half>;

// ---- conversions ------------------------------------------------------------------------------

TEST_CASE("all 65536 halves become float and half again", "[half]") {
  const float16_checks::RoundTrip trip = float16_checks::round_trip<Half>();
  CHECK(trip.wrong_floats == 0);
  CHECK(trip.wrong_narrow == 0);
  int wrong_on_host = 0;
  for (unsigned bits = 0; bits < 65536; ++bits) {
    const float on_host = __half2float(__ushort_as_half(static_cast<unsigned short>(bits)));
    wrong_on_host += std::memcmp(&on_host, &trip.floats[bits], sizeof on_host) != 0;
  }
  CHECK(wrong_on_host == 0);
}

TEST_CASE("float to half in each rounding mode in a kernel", "[half]") {
  std::vector<float> inputs = oracle::boundary_floats(format(), 13);
  oracle::Random random;
  for (int i = 0; i < 4000; ++i) {
    const unsigned bits = random.next() << 1;
    float x;
    std::memcpy(&x, &bits, sizeof x);
    inputs.push_back(x);
  }
  CHECK(float16_checks::wrong_roundings<Half>(inputs) == "");
}

TEST_CASE("float to half in each rounding mode in host code", "[half]") {
  std::vector<unsigned short> found, expected;
  for (const float x : oracle::boundary_floats(format(), 7)) {
    if (std::isnan(x)) continue;
    found.push_back(__half_as_ushort(__float2half_rn(x)));
    found.push_back(__half_as_ushort(__float2half_rz(x)));
    found.push_back(__half_as_ushort(__float2half_ru(x)));
    found.push_back(__half_as_ushort(__float2half_rd(x)));
    for (const Mode mode : kModes) {
      expected.push_back(static_cast<unsigned short>(format().round(static_cast<double>(x), mode)));
    }
  }
  CHECK(differences(found, expected) == "");
}

TEST_CASE("double to half rounds once", "[half]") {
  std::vector<unsigned short> found, expected;
  for (unsigned bits = 0; bits < format().infinity(); bits += 3) {
    const double middle = (format().magnitude(bits) + format().magnitude(bits + 1)) / 2;
    // float would round the neighbours of the middle to the middle itself, and then to even.
    for (const double x : {middle, std::nextafter(middle, 0.0), std::nextafter(middle, 1e9)}) {
      for (const double input : {x, -x}) {
        found.push_back(__half_as_ushort(__double2half(input)));
        expected.push_back(static_cast<unsigned short>(format().round(input, Mode::nearest)));
      }
    }
  }
  found.push_back(__half_as_ushort(__double2half(5e-324)));
  expected.push_back(0);
  found.push_back(__half_as_ushort(__double2half(-1e308)));
  expected.push_back(0xFC00);
  CHECK(differences(found, expected) == "");
}

TEST_CASE("integers to half in each rounding mode", "[half]") {
  std::vector<long long> inputs = {
      0,     1,     -1,    2047,  2048,  2049,   2051,   -2049,           65503,
      65504, 65519, 65520, 65535, 65536, -65519, -65520, (1ll << 53) + 1, 1ll << 62};
  oracle::Random random;
  for (int i = 0; i < 2000; ++i) {
    inputs.push_back(static_cast<long long>(random.next()) >> (random.next() % 30));
    inputs.push_back(-inputs.back());
  }
  std::vector<unsigned short> found, expected;
  for (const long long x : inputs) {
    found.push_back(__half_as_ushort(__ll2half_rn(x)));
    found.push_back(__half_as_ushort(__ll2half_rz(x)));
    found.push_back(__half_as_ushort(__ll2half_ru(x)));
    found.push_back(__half_as_ushort(__ll2half_rd(x)));
    for (const Mode mode : kModes) {
      expected.push_back(
          static_cast<unsigned short>(format().round(static_cast<long double>(x), mode)));
    }
  }
  CHECK(differences(found, expected) == "");
  CHECK(__half_as_ushort(__ull2half_rn(18446744073709551615ull)) == 0x7C00);
  CHECK(__half_as_ushort(__int2half_rn(-2147483647 - 1)) == 0xFC00);
  CHECK(__half_as_ushort(__uint2half_rd(65535u)) == 0x7BFF);
  CHECK(__half_as_ushort(__short2half_rn(-3)) == 0xC200);
  CHECK(__half_as_ushort(__ushort2half_ru(2049)) == 0x6801);
}

__global__ void halves_to_int(const float* x, int* found, unsigned n) {
  const unsigned i = threadIdx.x;
  if (i >= n) return;
  const __half h = __float2half(x[i]);
  found[8 * i] = __half2int_rn(h);
  found[8 * i + 1] = __half2int_rz(h);
  found[8 * i + 2] = __half2int_ru(h);
  found[8 * i + 3] = __half2int_rd(h);
  found[8 * i + 4] = static_cast<int>(__half2uint_rn(h));
  found[8 * i + 5] = __half2short_rz(h);
  found[8 * i + 6] = __half2ll_rz(h) > 0;
  found[8 * i + 7] = static_cast<int>(h);
}

TEST_CASE("half to integers rounds and saturates and makes 0 of NaN", "[half]") {
  const std::vector<float> inputs = {2.5f,      -2.5f,    3.5f,      40000.0f,
                                     -40000.0f, INFINITY, -INFINITY, NAN};
  const int largest = 2147483647, smallest = -2147483647 - 1;
  const std::vector<int> expected = {
      2,        2,        3,        2,        2,     2,      1, 2,         //
      -2,       -2,       -2,       -3,       0,     -2,     0, -2,        //
      4,        3,        4,        3,        4,     3,      1, 3,         //
      40000,    40000,    40000,    40000,    40000, 32767,  1, 40000,     //
      -40000,   -40000,   -40000,   -40000,   0,     -32768, 0, -40000,    //
      largest,  largest,  largest,  largest,  -1,    32767,  1, largest,   //
      smallest, smallest, smallest, smallest, 0,     -32768, 0, smallest,  //
      0,        0,        0,        0,        0,     0,      0, 0,
  };
  const auto x = DeviceBuffer<float>::from(inputs);
  DeviceBuffer<int> found(expected.size());
  halves_to_int<<<1, 32>>>(x.data(), found.data(), static_cast<unsigned>(inputs.size()));
  CUDA_CHECK_LAUNCH();
  CHECK(found.download() == expected);
}

// ---- arithmetic ---------------------------------------------------------------------------------

TEST_CASE("+ - * / and fma round once", "[half]") {
  const oracle::Operands operands = oracle::operands(
      format(), {0x0000, 0x8000, 0x0001, 0x8001, 0x03FF, 0x0400, 0x3BFF, 0x3C00, 0x3C01, 0xBC00,
                 0x4000, 0x6800, 0x6801, 0x7BFF, 0xFBFF, 0x7C00, 0xFC00, 0x7E00, 0x1400, 0x2E66},
      6000);
  CHECK(float16_checks::wrong_results<Half>(operands) == "");
}

TEST_CASE("an fma in float or with two roundings would fail here", "[half]") {
  // 1 + 2^-10 + 2^-11 * (1 - 2^-20): just below the middle of two halves; float makes it the
  // middle.
  const __half almost_half = __float2half((1 - 0x1p-10f) * 0x1p-11f);
  oracle::Operands operands;
  operands.add(0x3C01, __half_as_ushort(almost_half), 0x3C01);
  CHECK(float16_checks::computed<Half>(operands)[4] == 0x3C01);
}

TEST_CASE("a sum of ones in half stops at 2048", "[half]") {
  __half sum = __float2half(0.0f);
  for (int i = 0; i < 3000; ++i) sum = sum + __float2half(1.0f);
  CHECK(__half2float(sum) == 2048.0f);
}

// ---- comparisons, minimum and maximum -----------------------------------------------------------

TEST_CASE("comparisons are those of IEEE 754 and unordered ones are true for NaN", "[half]") {
  const __half nan = __ushort_as_half(0x7E00), one = __float2half(1.0f), two = __float2half(2.0f);
  const __half zero = __ushort_as_half(0x0000), minus_zero = __ushort_as_half(0x8000);
  CHECK(__heq(zero, minus_zero));
  CHECK_FALSE(__hne(zero, minus_zero));
  CHECK(__hlt(one, two));
  CHECK(__hle(one, one));
  CHECK(__hgt(two, one));
  CHECK(__hge(two, two));
  CHECK_FALSE(__heq(nan, nan));
  CHECK_FALSE(__hne(nan, one));
  CHECK_FALSE(__hlt(nan, one));
  CHECK_FALSE(__hge(one, nan));
  CHECK(__hequ(nan, nan));
  CHECK(__hneu(nan, one));
  CHECK(__hltu(nan, one));
  CHECK(__hleu(one, nan));
  CHECK(__hgtu(nan, one));
  CHECK(__hgeu(one, nan));
  CHECK_FALSE(__hltu(two, one));
  CHECK(one < two);
  CHECK(one != two);
  CHECK(nan != nan);
  CHECK_FALSE(nan == nan);
  CHECK(__hisnan(nan));
  CHECK_FALSE(__hisnan(two));
  CHECK(__hisinf(__ushort_as_half(0x7C00)) == 1);
  CHECK(__hisinf(__ushort_as_half(0xFC00)) == -1);
  CHECK(__hisinf(nan) == 0);
}

TEST_CASE("minimum and maximum know NaN and the sign of zero", "[half]") {
  const __half nan = __ushort_as_half(0x7E00), one = __float2half(1.0f), two = __float2half(2.0f);
  const __half zero = __ushort_as_half(0x0000), minus_zero = __ushort_as_half(0x8000);
  CHECK(__half_as_ushort(__hmax(one, two)) == 0x4000);
  CHECK(__half_as_ushort(__hmin(one, two)) == 0x3C00);
  CHECK(__half_as_ushort(__hmax(nan, one)) == 0x3C00);
  CHECK(__half_as_ushort(__hmin(one, nan)) == 0x3C00);
  CHECK(__half_as_ushort(__hmax(nan, nan)) == 0x7FFF);
  CHECK(__half_as_ushort(__hmax_nan(nan, one)) == 0x7FFF);
  CHECK(__half_as_ushort(__hmin_nan(one, nan)) == 0x7FFF);
  for (const bool swapped : {false, true}) {
    const __half x = swapped ? zero : minus_zero, y = swapped ? minus_zero : zero;
    CHECK(__half_as_ushort(__hmax(x, y)) == 0x0000);
    CHECK(__half_as_ushort(__hmin(x, y)) == 0x8000);
  }
}

TEST_CASE("saturating arithmetic stays between 0 and 1", "[half]") {
  const __half two = __float2half(2.0f), quarter = __float2half(0.25f);
  CHECK(__half_as_ushort(__hadd_sat(two, two)) == 0x3C00);
  CHECK(__half_as_ushort(__hsub_sat(quarter, two)) == 0x0000);
  CHECK(__half_as_ushort(__hmul_sat(quarter, two)) == 0x3800);
  CHECK(__half_as_ushort(__hadd_sat(two, __ushort_as_half(0x7E00))) == 0x0000);
}

// ---- class, pairs -------------------------------------------------------------------------------

TEST_CASE("the class converts as CUDA's does", "[half]") {
  static_assert(sizeof(__half) == 2 && alignof(__half) == 2);
  static_assert(sizeof(__half2) == 4 && alignof(__half2) == 4);
  __half h = 1.5f;
  CHECK(static_cast<float>(h) == 1.5f);
  CHECK(static_cast<double>(h) == 1.5);
  CHECK(static_cast<int>(h) == 1);
  CHECK(static_cast<bool>(h));
  h = 3;
  CHECK(__half2float(h) == 3.0f);
  h = 0.1;
  CHECK(__half_as_ushort(h) == 0x2E66);
  h += __float2half(1.0f);
  CHECK(__half_as_ushort(h) == 0x3C66);
  h = -h;
  CHECK(__half_as_ushort(h) == 0xBC66);
  __half count = __float2half(7.0f);
  CHECK(__half2float(count++) == 7.0f);
  CHECK(__half2float(--count) == 7.0f);
  const __half_raw raw = h;
  CHECK(raw.x == 0xBC66);
  CHECK(__half_as_ushort(__half(raw)) == 0xBC66);
  CHECK(__half_as_short(__short_as_half(-2)) == -2);
  CHECK(__half_as_ushort(__habs(h)) == 0x3C66);
  CHECK(__half_as_ushort(__hneg(h)) == 0x3C66);
}

TEST_CASE("pairs are built and taken apart and computed element by element", "[half]") {
  const __half2 pair = __floats2half2_rn(1.0f, 2.0f);
  CHECK(__low2float(pair) == 1.0f);
  CHECK(__high2float(pair) == 2.0f);
  CHECK(__half2float(pair.x) == 1.0f);
  CHECK(__half2float(__high2half(pair)) == 2.0f);
  CHECK(__half2float(__low2half(pair)) == 1.0f);
  const float2 floats = __half22float2(pair);
  CHECK((floats.x == 1.0f && floats.y == 2.0f));
  const __half2 swapped = __lowhigh2highlow(pair);
  CHECK((__low2float(swapped) == 2.0f && __high2float(swapped) == 1.0f));
  CHECK(__high2float(__half2half2(__float2half(5.0f))) == 5.0f);
  CHECK(__high2float(__float2half2_rn(5.0f)) == 5.0f);
  CHECK(__high2float(__float22half2_rn(make_float2(3.0f, 4.0f))) == 4.0f);
  CHECK(__high2float(__halves2half2(pair.y, pair.x)) == 1.0f);
  CHECK(__high2float(make_half2(pair.y, pair.x)) == 1.0f);
  CHECK(__high2float(__lows2half2(pair, swapped)) == 2.0f);
  CHECK(__low2float(__highs2half2(pair, swapped)) == 2.0f);
  CHECK(__high2float(__low2half2(pair)) == 1.0f);
  CHECK(__low2float(__high2half2(pair)) == 2.0f);
  const __half2 sum = __hadd2(pair, swapped);
  CHECK((__low2float(sum) == 3.0f && __high2float(sum) == 3.0f));
  const __half2 product = pair * pair - pair;
  CHECK((__low2float(product) == 0.0f && __high2float(product) == 2.0f));
  const __half2 less = __hlt2(pair, swapped);
  CHECK((__low2float(less) == 1.0f && __high2float(less) == 0.0f));
  CHECK(__hlt2_mask(pair, swapped) == 0x0000FFFFu);
  CHECK_FALSE(__hblt2(pair, swapped));
  CHECK(__hbeq2(pair, pair));
  CHECK((pair == pair && !(pair == swapped)));
}

__global__ void half_functions(float* found) {
  const __half2 a = __floats2half2_rn(1.0f, 2.0f), b = __floats2half2_rn(3.0f, 4.0f);
  const __half2 c = __floats2half2_rn(5.0f, 6.0f);
  found[0] = __low2float(__hfma2(a, b, c));
  found[1] = __high2float(__hfma2(a, b, c));
  found[2] = __low2float(__hcmadd(a, b, c));
  found[3] = __high2float(__hcmadd(a, b, c));
  found[4] = __half2float(hsqrt(__float2half(9.0f)));
  found[5] = __half2float(hexp(__float2half(0.0f)));
  found[6] = __half2float(hlog2(__float2half(8.0f)));
  found[7] = __half2float(hrint(__float2half(2.5f)));
  found[8] = __half2float(hfloor(__float2half(-2.5f)));
  found[9] = __high2float(h2rcp(__floats2half2_rn(1.0f, 4.0f)));
  found[10] = __half2float(__hfma_sat(__low2half(b), __low2half(b), __low2half(c)));
  found[11] = __half2float(__hfma_relu(__float2half(-1.0f), __low2half(b), __low2half(a)));
}

TEST_CASE("fused pairs and functions in a kernel", "[half]") {
  // (1 + 2i) * (3 + 4i) + 5 + 6i = 0 + 16i
  const std::vector<float> expected = {8, 14, 0, 16, 3, 1, 3, 2, -3, 0.25f, 1, 0};
  CHECK(simt_test::results_of(half_functions, expected.size()) == expected);
}

__global__ void move_halves(const __half* a, __half* b, const __half2* c, __half2* d) {
  const unsigned i = threadIdx.x;
  b[i] = __ldg(&a[i]);
  __stcs(&d[i], __ldcs(&c[i]));
  __shared__ __half2 staged[32];
  staged[i] = d[i];
  __syncthreads();
  d[i] = staged[31 - i];
}

TEST_CASE("halves travel through global and shared memory", "[half]") {
  std::vector<__half> a;
  std::vector<__half2> c;
  for (int i = 0; i < 32; ++i) {
    a.push_back(__float2half(static_cast<float>(i)));
    c.push_back(__floats2half2_rn(static_cast<float>(i), static_cast<float>(-i)));
  }
  const auto d_a = DeviceBuffer<__half>::from(a);
  const auto d_c = DeviceBuffer<__half2>::from(c);
  DeviceBuffer<__half> b(32);
  DeviceBuffer<__half2> d(32);
  move_halves<<<1, 32>>>(d_a.data(), b.data(), d_c.data(), d.data());
  CUDA_CHECK_LAUNCH();
  const std::vector<__half> moved = b.download();
  const std::vector<__half2> reversed = d.download();
  int wrong = 0;
  for (int i = 0; i < 32; ++i) {
    wrong += __half2float(moved[i]) != i;
    wrong += __low2float(reversed[i]) != 31 - i || __high2float(reversed[i]) != i - 31;
  }
  CHECK(wrong == 0);
}

// ---- as plain bytes -----------------------------------------------------------------------------

#ifdef __clang__
static_assert(std::is_trivially_copyable_v<__half> && std::is_trivial_v<__half>);
#endif
static_assert(std::is_trivially_default_constructible_v<__half2>);
static_assert(!std::is_trivially_copyable_v<__half2>);  // nor is it with nvcc

/// As many programs have it: numbers that are moved as one word.
struct alignas(8) Packed {
  union {
    __half number[4];
    unsigned long long word;
  };
};

__constant__ __half c_scale[2];

__global__ void scale(const Packed* x, Packed* y) {
  __shared__ Packed s_x[32];
  s_x[threadIdx.x] = x[threadIdx.x];
  __syncthreads();
  Packed p = s_x[31 - threadIdx.x];
  for (__half& number : p.number) number = __hmul(number, c_scale[threadIdx.x % 2]);
  y[threadIdx.x] = p;
}

TEST_CASE("a union has halves as members, and is copied as a whole", "[half]") {
  const __half scales[2] = {2.0f, -1.0f};
  CUDA_CHECK(cudaMemcpyToSymbol(c_scale, scales, sizeof scales));
  std::vector<Packed> x(32);
  for (int i = 0; i < 32; ++i) {
    for (int k = 0; k < 4; ++k) x[i].number[k] = static_cast<float>(4 * i + k);
  }
  const std::vector<Packed> y = simt_test::results_of(scale, x, 32, 32);
  int wrong = 0;
  for (int i = 0; i < 32; ++i) {
    for (int k = 0; k < 4; ++k) {
      const float expected = static_cast<float>(4 * (31 - i) + k) * (i % 2 == 0 ? 2 : -1);
      wrong += static_cast<float>(y[i].number[k]) != expected;
    }
  }
  CHECK(wrong == 0);
}

}  // namespace half_test
