// Two 16-bit or four 8-bit integers in a word, against the same arithmetic in 64 bits.
#include <cuda_runtime.h>

#include <catch2/catch_test_macros.hpp>
#include <cstdint>
#include <cuda/std/limits>
#include <cuda/std/utility>
#include <limits>
#include <string>
#include <type_traits>
#include <vector>

#include "testing.hpp"

using simt_test::Array;

namespace {

using Wide = long long;

template <class Lane>
Wide clamp(Wide x) {
  if (x < std::numeric_limits<Lane>::min()) return std::numeric_limits<Lane>::min();
  return x > std::numeric_limits<Lane>::max() ? std::numeric_limits<Lane>::max() : x;
}
Wide magnitude(Wide x) { return x < 0 ? -x : x; }
// Rounds to nearest; ties go away from zero.
Wide average(Wide sum) { return sum >= 0 ? (sum + 1) / 2 : -((1 - sum) / 2); }

/// name, type of a number, and what each pair of numbers a, b becomes.
#define FUNCTIONS_OF(n, S, U)                   \
  FUNCTION(__vadd##n, U, a + b)                 \
  FUNCTION(__vaddss##n, S, clamp<S>(a + b))     \
  FUNCTION(__vaddus##n, U, clamp<U>(a + b))     \
  FUNCTION(__vsub##n, U, a - b)                 \
  FUNCTION(__vsubss##n, S, clamp<S>(a - b))     \
  FUNCTION(__vsubus##n, U, clamp<U>(a - b))     \
  FUNCTION(__vabsdiffs##n, S, magnitude(a - b)) \
  FUNCTION(__vabsdiffu##n, U, magnitude(a - b)) \
  FUNCTION(__vavgs##n, S, average(a + b))       \
  FUNCTION(__vavgu##n, U, average(a + b))       \
  FUNCTION(__vhaddu##n, U, (a + b) / 2)         \
  FUNCTION(__vmaxs##n, S, a > b ? a : b)        \
  FUNCTION(__vmaxu##n, U, a > b ? a : b)        \
  FUNCTION(__vmins##n, S, a < b ? a : b)        \
  FUNCTION(__vminu##n, U, a < b ? a : b)        \
  FUNCTION(__vcmpeq##n, U, a == b ? -1 : 0)     \
  FUNCTION(__vcmpne##n, U, a != b ? -1 : 0)     \
  FUNCTION(__vcmplts##n, S, a < b ? -1 : 0)     \
  FUNCTION(__vcmpltu##n, U, a < b ? -1 : 0)     \
  FUNCTION(__vcmples##n, S, a <= b ? -1 : 0)    \
  FUNCTION(__vcmpleu##n, U, a <= b ? -1 : 0)    \
  FUNCTION(__vcmpgts##n, S, a > b ? -1 : 0)     \
  FUNCTION(__vcmpgtu##n, U, a > b ? -1 : 0)     \
  FUNCTION(__vcmpges##n, S, a >= b ? -1 : 0)    \
  FUNCTION(__vcmpgeu##n, U, a >= b ? -1 : 0)    \
  FUNCTION(__vseteq##n, U, a == b)              \
  FUNCTION(__vsetne##n, U, a != b)              \
  FUNCTION(__vsetlts##n, S, a < b)              \
  FUNCTION(__vsetltu##n, U, a < b)              \
  FUNCTION(__vsetles##n, S, a <= b)             \
  FUNCTION(__vsetleu##n, U, a <= b)             \
  FUNCTION(__vsetgts##n, S, a > b)              \
  FUNCTION(__vsetgtu##n, U, a > b)              \
  FUNCTION(__vsetges##n, S, a >= b)             \
  FUNCTION(__vsetgeu##n, U, a >= b)             \
  FUNCTION_OF_ONE(__vneg##n, U, -a)             \
  FUNCTION_OF_ONE(__vnegss##n, S, clamp<S>(-a)) \
  FUNCTION_OF_ONE(__vabs##n, S, magnitude(a))   \
  FUNCTION_OF_ONE(__vabsss##n, S, clamp<S>(magnitude(a)))
#define FUNCTIONS FUNCTIONS_OF(2, short, unsigned short) FUNCTIONS_OF(4, signed char, unsigned char)

template <class Lane, class Model>
unsigned each(unsigned a, unsigned b, Model model) {
  constexpr int bits = 8 * sizeof(Lane);
  unsigned result = 0;
  for (int shift = 0; shift < 32; shift += bits) {
    const Wide value = model(static_cast<Lane>(a >> shift), static_cast<Lane>(b >> shift));
    result |= (static_cast<unsigned>(value) & ((1u << bits) - 1)) << shift;
  }
  return result;
}

__global__ void all_functions(unsigned a, unsigned b, unsigned* r) {
#define FUNCTION(name, Lane, model) *r++ = name(a, b);
#define FUNCTION_OF_ONE(name, Lane, model) *r++ = name(a);
  FUNCTIONS
#undef FUNCTION_OF_ONE
#undef FUNCTION
}

struct Expected {
  std::string name;
  unsigned value;
};

std::vector<Expected> all_models(unsigned a_word, unsigned b_word) {
  std::vector<Expected> list;
#define FUNCTION(name, Lane, model)                                                               \
  list.push_back({#name, each<Lane>(a_word, b_word, [](Wide a, [[maybe_unused]] Wide b) -> Wide { \
                    return model;                                                                 \
                  })});
#define FUNCTION_OF_ONE FUNCTION
  FUNCTIONS
#undef FUNCTION_OF_ONE
#undef FUNCTION
  return list;
}

/// Edges of 8 and 16 bits, in all places, and numbers that are spread.
std::vector<unsigned> words() {
  std::vector<unsigned> list = {0,          0x7F80FF01, 0x80808080, 0x7FFF8000, 0x80007FFF,
                                0xFFFFFFFF, 0x00010001, 0xFF00FF00, 0x01FE7F81, 0x8000FFFF};
  std::uint32_t x = 12345;
  for (int i = 0; i < 20; ++i) list.push_back(x = x * 1664525u + 1013904223u);
  return list;
}

}  // namespace

TEST_CASE("functions of two halves and of four bytes") {
  Array<unsigned> r(all_models(0, 0).size());
  for (const unsigned a : words()) {
    for (const unsigned b : words()) {
      all_functions<<<1, 1>>>(a, b, r.data());
      const std::vector<unsigned> found = r.values();
      const std::vector<Expected> expected = all_models(a, b);
      for (std::size_t i = 0; i < found.size(); ++i) {
        INFO(expected[i].name << " of " << std::hex << a << " and " << b);
        REQUIRE(found[i] == expected[i].value);
      }
    }
  }
}

namespace {

__global__ void sums_and_thirds(unsigned* r) {
  *r++ = __vsads2(0x7FFF0003, 0x8000FFFF);
  *r++ = __vsadu2(0x00010003, 0xFFFF0001);
  *r++ = __vsads4(0x7F01FF00, 0x80FF0100);
  *r++ = __vsadu4(0x7F01FF00, 0x80FF0100);
  *r++ = static_cast<unsigned>(__viaddmax_s32(5, -9, -3));
  *r++ = static_cast<unsigned>(__viaddmax_s32_relu(5, -9, -3));
  *r++ = static_cast<unsigned>(__viaddmin_s32_relu(5, 9, -3));
  *r++ = static_cast<unsigned>(__vimax3_s32(-5, -9, -3));
  *r++ = static_cast<unsigned>(__vimin_s32_relu(-5, 9));
  *r++ = __viaddmin_u32(0xFFFFFFFF, 3, 7);
  *r++ = __vimin3_u32(8, 0xFFFFFFFF, 7);
  *r++ = __viaddmax_s16x2(0x7FFF0001, 0x00010001, 0xFFFF0001);
  *r++ = __viaddmax_u16x2(0x7FFF0001, 0x00010001, 0xFFFF0001);
  *r++ = __vimax3_s16x2_relu(0xFFFF0005, 0xFFFE0007, 0xFFFD0006);
  *r++ = __vimin3_u16x2(0xFFFF0005, 0xFFFE0007, 0xFFFD0006);
  bool hi = false, lo = false;
  *r++ = __vibmax_s16x2(0x00038000, 0x00030001, &hi, &lo);
  *r++ = hi * 2u + lo;
  *r++ = __vibmin_u16x2(0x00048000, 0x00038001, &hi, &lo);
  *r++ = hi * 2u + lo;
  *r++ = static_cast<unsigned>(__vibmin_s32(-4, 3, &lo));
  *r++ = lo;
}

__global__ void dot_products_and_bits(int* r) {
  *r++ =
      __dp2a_lo(static_cast<int>(0xFFFE0003), static_cast<int>(0x0102FF04), 10);  // 3 * 4 + -2 * -1
  *r++ =
      __dp2a_hi(static_cast<int>(0xFFFE0003), static_cast<int>(0x0102FF04), 10);  // 3 * 2 + -2 * 1
  *r++ = static_cast<int>(__dp2a_lo(0xFFFE0003u, 0x0102FF04u, 10u));
  *r++ = static_cast<int>(__dp2a_hi(0xFFFE0003u, 0x8002FF04u, 10u));
  *r++ = __dp2a_lo(make_short2(3, -2), make_char4(4, -1, 2, 1), 10);
  *r++ = __dp2a_hi(make_short2(3, -2), make_char4(4, -1, 2, 1), 10);
  *r++ = __dp4a(make_char4(-1, 2, 3, 4), make_char4(5, 6, 7, -8), 1);
  *r++ = static_cast<int>(__dp4a(make_uchar4(255, 2, 3, 4), make_uchar4(255, 6, 7, 8), 1u));
  *r++ = static_cast<int>(__fns(0xAAAAAAAA, 3, 1));
  *r++ = static_cast<int>(__fns(0xAAAAAAAA, 3, -1));
  *r++ = static_cast<int>(__fns(0xAAAAAAAA, 2, 1));
  *r++ = static_cast<int>(__fns(0xAAAAAAAA, 2, -1));
  *r++ = static_cast<int>(__fns(0xAAAAAAAA, 2, 0));
  *r++ = static_cast<int>(__fns(0xAAAAAAAA, 3, 0));
  *r++ = static_cast<int>(__fns(0xFFFFFFFF, 0, 32));
  *r++ = static_cast<int>(__fns(0xFFFFFFFF, 0, 33));
  *r++ = static_cast<int>(__fns(0x80000001, 31, -2));
  *r++ = static_cast<int>(__fns(0x80000001, 31, std::numeric_limits<int>::min()));
}

}  // namespace

TEST_CASE("sums of differences, and functions of three numbers") {
  const std::vector<unsigned> expected = {0xFFFF + 4,
                                          0xFFFE + 2,
                                          0xFF + 2 + 2,
                                          1 + 0xFE + 0xFE,
                                          static_cast<unsigned>(-3),
                                          0,
                                          0,
                                          static_cast<unsigned>(-3),
                                          0,
                                          2,
                                          7,
                                          0xFFFF0002,
                                          0xFFFF0002,
                                          0x00000007,
                                          0xFFFD0005,
                                          0x00030001,
                                          2,
                                          0x00038000,
                                          1,
                                          static_cast<unsigned>(-4),
                                          1};
  Array<unsigned> r(expected.size());
  sums_and_thirds<<<1, 1>>>(r.data());
  CHECK(r.values() == expected);
}

TEST_CASE("dp2a and dp4a, and fns as the PTX ISA defines it") {
  const std::vector<int> expected = {24,
                                     14,
                                     10 + 3 * 4 + 0xFFFE * 0xFF,
                                     10 + 3 * 2 + 0xFFFE * 0x80,
                                     24,
                                     14,
                                     -3,
                                     1 + 255 * 255 + 12 + 21 + 32,
                                     3,
                                     3,
                                     3,
                                     1,
                                     -1,
                                     3,
                                     31,
                                     -1,
                                     0,
                                     -1};
  Array<int> r(expected.size());
  dot_products_and_bits<<<1, 1>>>(r.data());
  CHECK(r.values() == expected);
}

// ---- where a pointer points to ------------------------------------------------------------------

namespace {

__device__ int device_number = 1;
__constant__ int constant_number = 2;

__device__ unsigned spaces(const void* p) {
  return __isGlobal(p) * 1000 + __isShared(p) * 100 + __isConstant(p) * 10 + __isLocal(p);
}

__global__ void ask_for_spaces(unsigned* r) {
  __shared__ int s_x[4];
  extern __shared__ int s_y[];
  const int mine = 3;
  const unsigned* const begin = r;
  *r++ = spaces(begin);
  *r++ = spaces(&device_number);
  *r++ = spaces(s_x + 3);
  *r++ = spaces(s_y);
  *r++ = spaces(&constant_number);
  *r++ = spaces(&mine);
}

__global__ void names_of_cuda_std(unsigned* r) {
  unsigned a = cuda::std::numeric_limits<unsigned>::max(), b = 1;
  cuda::std::swap(a, b);
  r[0] = a;
  r[1] = b;
}

}  // namespace

TEST_CASE("__isGlobal, __isShared, __isConstant and __isLocal") {
  Array<unsigned> r(6);
  ask_for_spaces<<<1, 1, 16>>>(r.data());
  CHECK(r.values() == std::vector<unsigned>{1000, 1000, 100, 100, 10, 1});
}

TEST_CASE("cuda::std has what std has") {
  Array<unsigned> r(2);
  names_of_cuda_std<<<1, 1>>>(r.data());
  CHECK(r.values() == std::vector<unsigned>{1, 0xFFFFFFFF});
}
