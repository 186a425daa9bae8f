// __nv_bfloat16 and __nv_bfloat162: every conversion bit by bit, and arithmetic against exact
// results.
#include <cuda_bf16.h>
#include <cuda_runtime.h>

#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <cstring>
#include <string>
#include <vector>

#include "float16_checks.cuh"

namespace bfloat16_test {

using oracle::Mode;

/// bfloat16, for float16_checks.cuh.
struct Bfloat16 {
  using Type = __nv_bfloat16;
  static constexpr int kMantissaBits = 7;
  __host__ __device__ static Type of_bits(unsigned short bits) {
    return __ushort_as_bfloat16(bits);
  }
  __host__ __device__ static unsigned short bits_of(Type x) { return __bfloat16_as_ushort(x); }
  __device__ static float widen(Type x) { return __bfloat162float(x); }
  __device__ static Type narrow(float x) { return __float2bfloat16(x); }
  __device__ static Type nearest(float x) { return __float2bfloat16_rn(x); }
  __device__ static Type zero(float x) { return __float2bfloat16_rz(x); }
  __device__ static Type up(float x) { return __float2bfloat16_ru(x); }
  __device__ static Type down(float x) { return __float2bfloat16_rd(x); }
};
constexpr auto format = float16_checks::format<Bfloat16>;
constexpr auto differences = float16_checks::differences<Bfloat16>;
constexpr auto computed = float16_checks::computed<Bfloat16>;
using float16_checks::kOperations;

// ---- conversions ------------------------------------------------------------------------------

TEST_CASE("all 65536 bfloat16 become float and bfloat16 again", "[bfloat16]") {
  const float16_checks::RoundTrip trip = float16_checks::round_trip<Bfloat16>();
  CHECK(trip.wrong_floats == 0);
  CHECK(trip.wrong_narrow == 0);
}

TEST_CASE("float to bfloat16 in each rounding mode", "[bfloat16]") {
  CHECK(float16_checks::wrong_roundings<Bfloat16>(oracle::boundary_floats(format(), 13)) == "");
}

TEST_CASE("double and integers to bfloat16 round once", "[bfloat16]") {
  std::vector<unsigned short> found, expected;
  for (unsigned bits = 0; bits < format().infinity(); bits += 5) {
    const double middle = (format().magnitude(bits) + format().magnitude(bits + 1)) / 2;
    // float would round the neighbours of the middle to the middle itself, and then to even.
    for (const double x : {middle, std::nextafter(middle, 0.0), std::nextafter(middle, 1e300)}) {
      found.push_back(__bfloat16_as_ushort(__double2bfloat16(x)));
      expected.push_back(static_cast<unsigned short>(format().round(x, Mode::nearest)));
    }
  }
  oracle::Random random;
  for (int i = 0; i < 1000; ++i) {
    const long long x =
        (static_cast<long long>(random.next()) << 31 | random.next()) >> (random.next() % 60);
    for (const long long integer : {x, -x}) {
      found.push_back(__bfloat16_as_ushort(__ll2bfloat16_rn(integer)));
      expected.push_back(static_cast<unsigned short>(
          format().round(static_cast<long double>(integer), Mode::nearest)));
    }
  }
  // The middle of two bfloat16 plus 1: too long for a float.
  found.push_back(__bfloat16_as_ushort(__ll2bfloat16_rn((1ll << 40) + (1ll << 32) + 1)));
  expected.push_back(0x5381);
  // The same in 64 bits, where the last bit decides.
  found.push_back(__bfloat16_as_ushort(__ull2bfloat16_rn((1ull << 63) + (1ull << 55) + 1)));
  expected.push_back(0x5F01);
  CHECK(differences(found, expected) == "");
  CHECK(__bfloat162int_rz(__float2bfloat16(-2.75f)) == -2);
  CHECK(__bfloat162uint_rz(__float2bfloat16(-2.75f)) == 0);
}

// ---- arithmetic ---------------------------------------------------------------------------------

TEST_CASE("bfloat16 + - * / and fma round once", "[bfloat16]") {
  const oracle::Operands operands = oracle::operands(
      format(), {0x0000, 0x8000, 0x0001, 0x8001, 0x007F, 0x0080, 0x3F7F, 0x3F80, 0x3F81, 0xBF80,
                 0x4000, 0x4380, 0x4381, 0x7F7F, 0xFF7F, 0x7F80, 0xFF80, 0x7FC0, 0x2180, 0x3DCD},
      6000);
  CHECK(float16_checks::wrong_results<Bfloat16>(operands) == "");
}

TEST_CASE("a bfloat16 fma by way of double would fail here", "[bfloat16]") {
  // 1.0078125 * 1.5 is the middle of two bfloat16; the last bit of double is too coarse for c,
  // which decides. c = -2^-60, +2^-60, and -2^-100 with a product whose even neighbour is the lower
  // one.
  oracle::Operands operands;
  operands.add(0x3F81, 0x3FC0, 0xA180);
  operands.add(0x3F81, 0x3FC0, 0x2180);
  operands.add(0x3F83, 0x3FC0, 0x0D80);
  const std::vector<unsigned short> found = computed(operands);
  CHECK(found[4] == 0x3FC1);
  CHECK(found[kOperations + 4] == 0x3FC2);
  CHECK(found[2 * kOperations + 4] == 0x3FC5);
}

TEST_CASE("a sum of ones in bfloat16 stops at 256", "[bfloat16]") {
  __nv_bfloat16 sum = __float2bfloat16(0.0f);
  for (int i = 0; i < 300; ++i) sum = sum + __float2bfloat16(1.0f);
  CHECK(__bfloat162float(sum) == 256.0f);
}

// ---- comparisons, class, pairs ------------------------------------------------------------------

TEST_CASE("bfloat16 comparisons know NaN and the sign of zero", "[bfloat16]") {
  const __nv_bfloat16 nan = __ushort_as_bfloat16(0x7FC0), one = __float2bfloat16(1.0f);
  const __nv_bfloat16 zero = __ushort_as_bfloat16(0x0000);
  const __nv_bfloat16 minus_zero = __ushort_as_bfloat16(0x8000);
  CHECK(__heq(zero, minus_zero));
  CHECK_FALSE(__heq(nan, nan));
  CHECK(__hequ(nan, one));
  CHECK(zero < one);
  CHECK(nan != nan);
  CHECK(__hisnan(nan));
  CHECK(__hisinf(__ushort_as_bfloat16(0xFF80)) == -1);
  CHECK(__bfloat16_as_ushort(__hmax(nan, one)) == 0x3F80);
  CHECK(__bfloat16_as_ushort(__hmax(minus_zero, zero)) == 0x0000);
  CHECK(__bfloat16_as_ushort(__hmin(zero, minus_zero)) == 0x8000);
  CHECK(__bfloat16_as_ushort(__hmax_nan(nan, one)) == 0x7FFF);
}

TEST_CASE("the bfloat16 class converts as that of CUDA does", "[bfloat16]") {
  static_assert(sizeof(__nv_bfloat16) == 2 && alignof(__nv_bfloat16) == 2);
  static_assert(sizeof(__nv_bfloat162) == 4 && alignof(__nv_bfloat162) == 4);
  __nv_bfloat16 x = 1.5f;
  CHECK(static_cast<float>(x) == 1.5f);
  CHECK(static_cast<int>(x) == 1);
  CHECK(static_cast<bool>(x));
  x = 3;
  x += __float2bfloat16(1.0f);
  CHECK(__bfloat16_as_ushort(x) == 0x4080);
  CHECK(__bfloat16_as_ushort(-x) == 0xC080);
  CHECK(__half2float(__half(x)) == 4.0f);
  CHECK(__bfloat162float(__nv_bfloat16(__float2half(0.5f))) == 0.5f);
  const __nv_bfloat16_raw raw = x;
  CHECK(raw.x == 0x4080);
}

TEST_CASE("bfloat16 pairs are computed element by element", "[bfloat16]") {
  const __nv_bfloat162 pair = __floats2bfloat162_rn(1.0f, 2.0f);
  CHECK((__low2float(pair) == 1.0f && __high2float(pair) == 2.0f));
  const float2 floats = __bfloat1622float2(__lowhigh2highlow(pair));
  CHECK((floats.x == 2.0f && floats.y == 1.0f));
  CHECK(__high2float(__bfloat162bfloat162(__float2bfloat16(5.0f))) == 5.0f);
  CHECK(__high2float(__halves2bfloat162(pair.y, pair.x)) == 1.0f);
  CHECK(__high2float(make_bfloat162(pair.y, pair.x)) == 1.0f);
  CHECK(__low2float(__float22bfloat162_rn(make_float2(3.0f, 4.0f))) == 3.0f);
  CHECK(__bfloat162float(__high2bfloat16(pair)) == 2.0f);
  const __nv_bfloat162 result = pair * pair - pair;
  CHECK((__low2float(result) == 0.0f && __high2float(result) == 2.0f));
  CHECK(__heq2_mask(result, pair) == 0xFFFF0000u);
}

}  // namespace bfloat16_test
