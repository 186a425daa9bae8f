// The intrinsics of one thread. Each is called in a kernel and its results are compared on the
// host.
#include <cuda_runtime.h>

#include <cassert>
#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <course/buffer.cuh>
#include <course/device.cuh>
#include <cstdio>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "results.cuh"

namespace intrinsics_test {

using course::DeviceBuffer;
using simt_test::results_of;
using ull = unsigned long long;

constexpr int kIntMax = std::numeric_limits<int>::max();
constexpr int kIntMin = std::numeric_limits<int>::min();
constexpr long long kLlMax = std::numeric_limits<long long>::max();
constexpr long long kLlMin = std::numeric_limits<long long>::min();

// ---- bits ---------------------------------------------------------------------------------------

__global__ void count_bits(int* r) {
  *r++ = __popc(0);
  *r++ = __popc(0xF000000F);
  *r++ = __popcll(0xFFFFFFFFFFFFFFFFull);
  *r++ = __ffs(0);
  *r++ = __ffs(0x80);
  *r++ = __ffs(kIntMin);
  *r++ = __ffsll(1ll << 40);
  *r++ = __clz(0);
  *r++ = __clz(1);
  *r++ = __clz(-1);
  *r++ = __clzll(0);
  *r++ = __clzll(1ll << 40);
}

TEST_CASE("popc and ffs and clz", "[intrinsics]") {
  const std::vector<int> expected = {0, 8, 64, 0, 8, 32, 41, 32, 31, 0, 64, 23};
  CHECK(results_of(count_bits, expected.size()) == expected);
}

__global__ void add_bytes(int* r) {
  *r++ = __dp4a(0x01020304, 0x01010101, 5);
  *r++ = __dp4a(static_cast<int>(0x80FF7F01), 0x02020202, 0);  // -128, -1, 127 and 1, twice
  *r++ = __dp4a(static_cast<int>(0x80808080), static_cast<int>(0x80808080), 1);
  *r++ = static_cast<int>(__dp4a(0x80FF7F01u, 0x02020202u, 3u));
  *r++ = static_cast<int>(__dp4a(0xFFFFFFFFu, 0xFFFFFFFFu, 0u));
  *r++ = static_cast<int>(__vsadu4(0x01FF0310, 0u));
  *r++ = static_cast<int>(__vsadu4(0x00FF0000, 0xFF00FF01));
}

TEST_CASE("dp4a and vsadu4", "[intrinsics]") {
  const std::vector<int> expected = {15,
                                     -2,
                                     4 * 128 * 128 + 1,
                                     2 * (128 + 255 + 127 + 1) + 3,
                                     4 * 255 * 255,
                                     0x01 + 0xFF + 0x03 + 0x10,
                                     3 * 255 + 1};
  CHECK(results_of(add_bytes, expected.size()) == expected);
}

__global__ void move_bits(ull* r) {
  *r++ = __brev(1);
  *r++ = __brev(0x12345678);
  *r++ = __brevll(1);
  *r++ = __brevll(0x123456789ABCDEF0ull);
  *r++ = __byte_perm(0x33221100, 0x77665544, 0x3210);
  *r++ = __byte_perm(0x33221100, 0x77665544, 0x0246);
  *r++ = __byte_perm(0x0000F00F, 0, 0x9899);
  *r++ = __funnelshift_l(0x80000000, 0x1, 1);
  *r++ = __funnelshift_l(0x12345678, 0x9, 32);
  *r++ = __funnelshift_lc(0x12345678, 0x9, 32);
  *r++ = __funnelshift_r(0x80000000, 0x1, 1);
  *r++ = __funnelshift_rc(0x12345678, 0x9, 40);
}

TEST_CASE("brev and byte_perm and funnel shifts", "[intrinsics]") {
  const std::vector<ull> expected = {0x80000000, 0x1E6A2C48, 0x8000000000000000, 0x0F7B3D591E6A2C48,
                                     0x33221100, 0x00224466, 0xF00FF0F0,         0x3,
                                     0x9,        0x12345678, 0xC0000000,         0x9};
  CHECK(results_of(move_bits, expected.size()) == expected);
}

__global__ void cast_bits(long long* r) {
  *r++ = __float_as_int(1.0f);
  *r++ = __float_as_int(-0.0f);
  *r++ = __float_as_uint(-2.0f);
  *r++ = __int_as_float(0x40490FDB) == 3.14159274f;
  *r++ = __uint_as_float(0x3F800000u) == 1.0f;
  *r++ = __double_as_longlong(1.0);
  *r++ = __longlong_as_double(0x4000000000000000ll) == 2.0;
  *r++ = __double2hiint(1.0);
  *r++ = __double2loint(__longlong_as_double(0x3FF0000012345678ll));
  *r++ = __hiloint2double(0x3FF00000, 0) == 1.0;
}

TEST_CASE("casts keep the bits", "[intrinsics]") {
  const std::vector<long long> expected = {
      0x3F800000, kIntMin, 0xC0000000u, 1, 1, 0x3FF0000000000000ll, 1, 0x3FF00000, 0x12345678, 1};
  CHECK(results_of(cast_bits, expected.size()) == expected);
}

// ---- integers -----------------------------------------------------------------------------------

__global__ void integer_arithmetic(long long* r) {
  *r++ = __mulhi(1 << 20, 1 << 20);
  *r++ = __mulhi(-1, 1);
  *r++ = __umulhi(0xFFFFFFFFu, 0xFFFFFFFFu);
  *r++ = __mul64hi(1ll << 40, 1ll << 40);
  *r++ = static_cast<long long>(__umul64hi(~0ull, 2));
  *r++ = __mul24(0x01000003, -2);
  *r++ = __umul24(0x01000003u, 5u);
  *r++ = __sad(-3, 4, 10u);
  *r++ = __usad(3u, 4u, 10u);
  *r++ = __hadd(kIntMax, kIntMax - 3);
  *r++ = __hadd(-3, 0);
  *r++ = __rhadd(3, 4);
  *r++ = __uhadd(0xFFFFFFFFu, 0xFFFFFFFEu);
  *r++ = __urhadd(3u, 4u);
}

TEST_CASE("integer arithmetic", "[intrinsics]") {
  const std::vector<long long> expected = {1 << 8, -1, 0xFFFFFFFEu, 1 << 16, 1, -6,          15,
                                           17,     11, kIntMax - 2, -2,      4, 0xFFFFFFFEu, 4};
  CHECK(results_of(integer_arithmetic, expected.size()) == expected);
}

__global__ void extremes(double* r) {
  *r++ = min(3, -5);
  *r++ = max(3, -5);
  *r++ = min(3u, 0xFFFFFFFFu);
  *r++ = max(-1, 1u);  // -1 becomes the largest unsigned
  *r++ = static_cast<double>(min(1ll << 40, -1ll));
  *r++ = static_cast<double>(max(1ull << 40, 1ull));
  *r++ = min(1.5f, 2.5f);
  *r++ = max(1.5, 2.5);
  *r++ = max(1.5f, 2.5);
  *r++ = fminf(1.0f, NAN);
  *r++ = max(NAN, 3.0f);
}

TEST_CASE("min and max in device code", "[intrinsics]") {
  const std::vector<double> expected = {-5,  3, 3, 4294967295.0, -1, 1099511627776.0, 1.5, 2.5,
                                        2.5, 1, 3};
  CHECK(results_of(extremes, expected.size()) == expected);
  CHECK(min(3, 4) == 3);
  CHECK(max(2.5f, 1.5f) == 2.5f);
}

// ---- conversions and rounding -------------------------------------------------------------------

__global__ void to_integers(long long* r, const float* x, const double* y) {
  for (int i = 0; i < 3; ++i) {
    *r++ = __float2int_rn(x[i]);
    *r++ = __float2int_rz(x[i]);
    *r++ = __float2int_ru(x[i]);
    *r++ = __float2int_rd(x[i]);
  }
  for (int i = 3; i < 7; ++i) {
    *r++ = __float2int_rz(x[i]);
    *r++ = __float2uint_rz(x[i]);
    *r++ = __float2ll_rz(x[i]);
    *r++ = static_cast<long long>(__float2ull_rz(x[i]));
  }
  *r++ = __double2int_rz(y[0]);
  *r++ = __double2ll_rn(y[1]);
  *r++ = __double2uint_rn(y[2]);
  *r++ = __double2int_rn(y[3]);
}

TEST_CASE("floating point to integers in each rounding mode", "[intrinsics]") {
  const std::vector<float> x = {2.5f, -2.5f, 3.5f, 1e30f, -1e30f, NAN, -1.5f};
  const std::vector<double> y = {-2147483648.9, 4503599627370497.5, -1.0, NAN};
  const std::vector<long long> expected = {2,       2,
                                           3,       2,
                                           -2,      -2,
                                           -2,      -3,
                                           4,       3,
                                           4,       3,  //
                                           kIntMax, 0xFFFFFFFFu,
                                           kLlMax,  -1,  //
                                           kIntMin, 0,
                                           kLlMin,  0,  //
                                           0,       0,
                                           kLlMin,  kLlMin,  //
                                           -1,      0,
                                           -1,      0,  //
                                           kIntMin, 4503599627370498,
                                           0,       kIntMin};
  const auto d_x = DeviceBuffer<float>::from(x);
  const auto d_y = DeviceBuffer<double>::from(y);
  DeviceBuffer<long long> results(expected.size());
  to_integers<<<1, 1>>>(results.data(), d_x.data(), d_y.data());
  CUDA_CHECK_LAUNCH();
  CHECK(results.download() == expected);
}

__global__ void rounded_floats(float* r) {
  const float tiny = 0x1p-30f, third = 3.0f;
  *r++ = __fadd_rn(1.0f, tiny);
  *r++ = __fadd_rz(1.0f, tiny);
  *r++ = __fadd_ru(1.0f, tiny);
  *r++ = __fadd_rd(-1.0f, -tiny);
  *r++ = __fsub_rd(1.0f, tiny);
  *r++ = __fsub_rn(1.0f, tiny);
  *r++ = __fmul_ru(1.0f + 0x1p-20f, 1.0f + 0x1p-20f);
  *r++ = __fmul_rz(1.0f + 0x1p-20f, 1.0f + 0x1p-20f);
  *r++ = __fdiv_rd(1.0f, third);
  *r++ = __fdiv_ru(1.0f, third);
  *r++ = __frcp_rz(third);
  *r++ = __fsqrt_ru(2.0f);
  *r++ = __fsqrt_rd(2.0f);
  *r++ = __fmaf_rn(1.0f + 0x1p-12f, 1.0f + 0x1p-12f, -1.0f);
  *r++ = __fmaf_rd(tiny, tiny, 1.0f);
  *r++ = __fmaf_ru(tiny, tiny, 1.0f);
  *r++ = __int2float_rn(16777217);
  *r++ = __int2float_ru(16777217);
  *r++ = __uint2float_rz(0xFFFFFFFFu);
  *r++ = __ll2float_rd(-16777217);
  *r++ = __double2float_ru(0.1);
  *r++ = __double2float_rd(0.1);
}

TEST_CASE("float arithmetic in each rounding mode", "[intrinsics]") {
  const float above = 1.0f + 0x1p-23f, below = 1.0f - 0x1p-24f;
  const std::vector<float> expected = {1.0f,
                                       1.0f,
                                       above,
                                       -above,
                                       below,
                                       1.0f,
                                       1.0f + 0x1p-19f + 0x1p-23f,
                                       1.0f + 0x1p-19f,
                                       0x1.555554p-2f,
                                       0x1.555556p-2f,
                                       0x1.555554p-2f,
                                       0x1.6a09e8p0f,
                                       0x1.6a09e6p0f,
                                       0x1p-11f + 0x1p-24f,
                                       1.0f,
                                       above,
                                       16777216.0f,
                                       16777218.0f,
                                       4294967040.0f,
                                       -16777218.0f,
                                       0x1.99999ap-4f,
                                       0x1.999998p-4f};
  CHECK(results_of(rounded_floats, expected.size()) == expected);
}

__global__ void rounded_doubles(double* r) {
  const double tiny = 0x1p-60;
  *r++ = __dadd_ru(1.0, tiny);
  *r++ = __dadd_rn(1.0, tiny);
  *r++ = __dmul_rz(1.0 + 0x1p-30, 1.0 + 0x1p-30);
  *r++ = __fma_ru(tiny, tiny, 1.0);
  *r++ = __ddiv_ru(1.0, 3.0);
  *r++ = __dsqrt_rd(2.0);
  *r++ = __ll2double_rn((1ll << 53) + 1);
  *r++ = __int2double_rn(-7);
}

TEST_CASE("double arithmetic in a rounding mode", "[intrinsics]") {
  const std::vector<double> expected = {
      1.0 + 0x1p-52, 1.0, 1.0 + 0x1p-29, 1.0 + 0x1p-52, 0x1.5555555555556p-2, 0x1.6a09e667f3bccp0,
      0x1p53,        -7};
  CHECK(results_of(rounded_doubles, expected.size()) == expected);
}

__global__ void functions(float* r) {
  *r++ = __saturatef(-0.5f);
  *r++ = __saturatef(0.25f);
  *r++ = __saturatef(1.5f);
  *r++ = __saturatef(NAN);
  *r++ = rsqrtf(4.0f);
  *r++ = static_cast<float>(rsqrt(16.0));
  *r++ = __fdividef(1.0f, 4.0f);
  *r++ = __expf(0.0f);
  *r++ = __logf(1.0f);
  *r++ = __log2f(8.0f);
  *r++ = __powf(2.0f, 3.0f);
  *r++ = __sinf(0.0f);
  *r++ = __cosf(0.0f);
  __sincosf(0.0f, r, r + 1);
  r += 2;
  *r++ = fabsf(-2.0f) + floorf(2.5f) + sqrtf(9.0f);
}

TEST_CASE("fast functions where they are exact", "[intrinsics]") {
  const std::vector<float> expected = {0, 0.25f, 1, 0, 0.5f, 0.25f, 0.25f, 1,
                                       0, 3,     8, 0, 1,    0,     1,     7};
  const std::vector<float> found = results_of(functions, expected.size());
  REQUIRE(found.size() == expected.size());
  int wrong = 0;
  for (std::size_t i = 0; i < found.size(); ++i)
    wrong += !(std::fabs(found[i] - expected[i]) <= 1e-5f);
  CHECK(wrong == 0);
}

// ---- memory -------------------------------------------------------------------------------------

template <class T>
__global__ void cached(const T* in, T* out) {
  const unsigned i = threadIdx.x;
  out[i] = __ldg(&in[i]);
  __stcs(&out[32 + i], __ldcs(&in[i]));
  __stcg(&out[64 + i], __ldcg(&in[i]));
  __stwb(&out[96 + i], __ldca(&in[i]));
  __stwt(&out[128 + i], __ldcv(&in[i]));
}

template <class T>
int wrong_copies() {
  std::vector<T> in(32);
  for (int i = 0; i < 32; ++i) std::memset(static_cast<void*>(&in[i]), i + 1, sizeof(T));
  const std::vector<T> out = results_of(cached<T>, in, 160, 32);
  int wrong = 0;
  for (int i = 0; i < 160; ++i) wrong += std::memcmp(&out[i], &in[i % 32], sizeof(T)) != 0;
  return wrong;
}

TEST_CASE("loads and stores with a cache hint", "[intrinsics]") {
  CHECK(wrong_copies<char>() == 0);
  CHECK(wrong_copies<unsigned char>() == 0);
  CHECK(wrong_copies<short>() == 0);
  CHECK(wrong_copies<int>() == 0);
  CHECK(wrong_copies<unsigned>() == 0);
  CHECK(wrong_copies<long long>() == 0);
  CHECK(wrong_copies<ull>() == 0);
  CHECK(wrong_copies<float>() == 0);
  CHECK(wrong_copies<double>() == 0);
  CHECK(wrong_copies<uchar4>() == 0);
  CHECK(wrong_copies<short2>() == 0);
  CHECK(wrong_copies<int2>() == 0);
  CHECK(wrong_copies<uint4>() == 0);
  CHECK(wrong_copies<float2>() == 0);
  CHECK(wrong_copies<float4>() == 0);
  CHECK(wrong_copies<double2>() == 0);
}

__global__ void load_and_store(const float4* in, float4* out) {
  __stcs(&out[threadIdx.x], __ldg(&in[threadIdx.x]));
}

TEST_CASE("a cached load of a float4 is one request", "[intrinsics]") {
  const auto in = DeviceBuffer<float4>::zeros(32);
  DeviceBuffer<float4> out(32);
  const auto counters = course::count([&] {
    load_and_store<<<1, 32>>>(in.data(), out.data());
    CUDA_CHECK_LAUNCH();
  });
  if (!counters) SKIP(course::kNoCounters);
  CHECK(counters->global_loads == 1);
  CHECK(counters->global_load_sectors == 16);
  CHECK(counters->global_stores == 1);
  CHECK(counters->global_store_sectors == 16);
}

#if COURSE_CPU_DEVICE
constexpr int kRacyLine = __LINE__ + 2;
__global__ void load_racy(const int* in, int* out) {
  out[threadIdx.x] = __ldg(in + 1000 + threadIdx.x);
}

TEST_CASE("a cached load is reported at the line that calls it", "[intrinsics]") {
  const auto in = DeviceBuffer<int>::zeros(8);
  DeviceBuffer<int> out(32);
  const course::Findings findings = course::find_races([&] {
    load_racy<<<1, 32>>>(in.data(), out.data());
    CUDA_CHECK_LAUNCH();
    CUDA_CHECK(cudaDeviceSynchronize());
  });
  REQUIRE(!findings.texts.empty());
  const std::string line = "intrinsics_test.cu:" + std::to_string(kRacyLine);
  CHECK(findings.texts[0].find(line) != std::string::npos);
}

// ---- time and failure ---------------------------------------------------------------------------

__global__ void stop_by_trap() { __trap(); }
__global__ void stop_by_assert(const int* x) { assert(x[threadIdx.x] == 7); }

std::string only_report(void (*launch)()) {
  const course::Findings findings = course::find_races([&] {
    launch();
    CUDA_CHECK_LAUNCH();
    CUDA_CHECK(cudaDeviceSynchronize());
  });
  std::string all = std::to_string(findings.texts.size()) + " reports:";
  for (const std::string& text : findings.texts) all += "\n" + text;
  return all;
}

TEST_CASE("trap and assert stop the kernel and name the line", "[intrinsics]") {
  const std::string trapped = only_report([] { stop_by_trap<<<1, 1>>>(); });
  CHECK(trapped.find("__trap()") != std::string::npos);
  CHECK(trapped.find("intrinsics_test.cu:") != std::string::npos);
  const std::string asserted = only_report([] {
    const auto x = DeviceBuffer<int>::from({7, 8});
    stop_by_assert<<<1, 2>>>(x.data());
    CUDA_CHECK(cudaDeviceSynchronize());
  });
  CHECK(asserted.find("x[threadIdx.x] == 7") != std::string::npos);
  CHECK(asserted.find("intrinsics_test.cu:") != std::string::npos);
  CHECK(asserted.find("thread 1") != std::string::npos);
}
#endif

__global__ void read_clock(long long* elapsed) {
  const long long start = clock64();
  __nanosleep(100);
  printf("%s", threadIdx.x > 100 ? "never" : "");
  assert(elapsed != nullptr);
  *elapsed = clock64() - start;
}

TEST_CASE("the clock does not run backwards", "[intrinsics]") {
  CHECK(results_of(read_clock, 1)[0] >= 0);
}

// ---- addresses of shared memory --------------------------------------------------------------------

/// Writes through addresses that have gone through 32 bits, as inline PTX takes them.
__global__ void through_addresses(unsigned* r) {
  __shared__ unsigned s_a[32], s_b[32];
  extern __shared__ unsigned s_dynamic[];
  for (unsigned* s : {s_a, s_b, s_dynamic}) {
    const auto at = static_cast<unsigned>(__cvta_generic_to_shared(s + threadIdx.x));
    *static_cast<unsigned*>(__cvta_shared_to_generic(at)) = threadIdx.x;
  }
  s_b[threadIdx.x] += 100;
  s_dynamic[threadIdx.x] += 1000;
  __syncthreads();
  const auto first = static_cast<unsigned>(__cvta_generic_to_shared(s_b));
  const auto other = first + 4 * ((threadIdx.x + 1) % 32);
  r[threadIdx.x] = s_a[threadIdx.x] + *static_cast<unsigned*>(__cvta_shared_to_generic(other)) +
                   s_dynamic[threadIdx.x];
  auto* const global =
      static_cast<unsigned*>(__cvta_global_to_generic(__cvta_generic_to_global(r)));
  if (threadIdx.x == 0) global[32] = __isCtaShared(s_a) + 2 * __isCtaShared(r);
}

TEST_CASE("addresses of shared memory have 32 bits, and lead back", "[intrinsics]") {
  DeviceBuffer<unsigned> r(33);
  through_addresses<<<1, 32, 128>>>(r.data());
  CUDA_CHECK_LAUNCH();
  const std::vector<unsigned> values = r.download();
  int wrong = 0;
  for (unsigned i = 0; i < 32; ++i) wrong += values[i] != 1100 + 2 * i + (i + 1) % 32;
  CHECK(wrong == 0);
  CHECK(values[32] == 1);
}

}  // namespace intrinsics_test
