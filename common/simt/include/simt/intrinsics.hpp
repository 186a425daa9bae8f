// CUDA's intrinsics that concern one thread: bits, casts, cached loads and stores, arithmetic with
// a chosen rounding, clocks. They work in host code, too.
#pragma once

#include <math.h>
#include <stdlib.h>

#include <cassert>
#include <cfenv>
#include <cstdio>
#include <limits>

#include "simt/platform.hpp"
//
#include "simt/runtime.hpp"
#include "simt/vector_types.hpp"

// ---- bits -------------------------------------------------------------------------------------

SIMT_PURE int __popc(unsigned x) { return __builtin_popcount(x); }
SIMT_PURE int __popcll(unsigned long long x) { return __builtin_popcountll(x); }
SIMT_PURE int __ffs(int x) { return __builtin_ffs(x); }
SIMT_PURE int __ffsll(long long x) { return __builtin_ffsll(x); }
SIMT_PURE int __clz(int x) { return x == 0 ? 32 : __builtin_clz(unsigned(x)); }
SIMT_PURE int __clzll(long long x) { return x == 0 ? 64 : __builtin_clzll((unsigned long long)x); }
/// c plus the products of the four bytes of a and b.
SIMT_PURE int __dp4a(int a, int b, int c) {
  for (int i = 0; i < 32; i += 8) {
    c += static_cast<signed char>(a >> i) * static_cast<signed char>(b >> i);
  }
  return c;
}
SIMT_PURE unsigned __dp4a(unsigned a, unsigned b, unsigned c) {
  for (int i = 0; i < 32; i += 8) c += (a >> i & 0xFF) * (b >> i & 0xFF);
  return c;
}
SIMT_PURE int __dp4a(char4 a, char4 b, int c) {
  return c + a.x * b.x + a.y * b.y + a.z * b.z + a.w * b.w;
}
SIMT_PURE unsigned __dp4a(uchar4 a, uchar4 b, unsigned c) {
  return c + unsigned(a.x * b.x + a.y * b.y + a.z * b.z + a.w * b.w);
}
/// c plus the products of the two halves of a with the two lower (_lo) or upper (_hi) bytes of b.
SIMT_PURE int __dp2a_lo(int a, int b, int c) {
  return c + short(a) * static_cast<signed char>(b) + (a >> 16) * static_cast<signed char>(b >> 8);
}
SIMT_PURE unsigned __dp2a_lo(unsigned a, unsigned b, unsigned c) {
  return c + (a & 0xFFFF) * (b & 0xFF) + (a >> 16) * (b >> 8 & 0xFF);
}
SIMT_PURE int __dp2a_hi(int a, int b, int c) { return __dp2a_lo(a, b >> 16, c); }
SIMT_PURE unsigned __dp2a_hi(unsigned a, unsigned b, unsigned c) {
  return __dp2a_lo(a, b >> 16, c);
}
SIMT_PURE int __dp2a_lo(short2 a, char4 b, int c) { return c + a.x * b.x + a.y * b.y; }
SIMT_PURE int __dp2a_hi(short2 a, char4 b, int c) { return c + a.x * b.z + a.y * b.w; }
SIMT_PURE unsigned __dp2a_lo(ushort2 a, uchar4 b, unsigned c) {
  return c + unsigned(a.x) * b.x + unsigned(a.y) * b.y;
}
SIMT_PURE unsigned __dp2a_hi(ushort2 a, uchar4 b, unsigned c) {
  return c + unsigned(a.x) * b.z + unsigned(a.y) * b.w;
}
/// The place of the nth set bit of the mask, counted from bit `base` on: upwards for n > 0, with
/// `base` as the first, downwards for n < 0; for 0 it is `base` if that bit is set. All ones if there
/// is none.
SIMT_PURE unsigned __fns(unsigned mask, unsigned base, int n) {
  if (n == 0) return base < 32 && (mask >> base & 1u) != 0 ? base : ~0u;
  const int step = n > 0 ? 1 : -1;
  long long left = n > 0 ? n : -static_cast<long long>(n);
  for (int place = static_cast<int>(base); place >= 0 && place < 32; place += step) {
    if ((mask >> place & 1u) != 0 && --left == 0) return static_cast<unsigned>(place);
  }
  return ~0u;
}
SIMT_PURE unsigned __brev(unsigned x) {
  unsigned reversed = 0;
  for (int i = 0; i < 32; ++i) reversed |= (x >> i & 1u) << (31 - i);
  return reversed;
}
SIMT_PURE unsigned long long __brevll(unsigned long long x) {
  return (unsigned long long)(__brev(unsigned(x))) << 32 | __brev(unsigned(x >> 32));
}
/// Four bytes picked from the eight of y:x: the low 3 bits of selector digit i name result byte i.
SIMT_PURE unsigned __byte_perm(unsigned x, unsigned y, unsigned selector) {
  const unsigned long long bytes = (unsigned long long)y << 32 | x;
  unsigned result = 0;
  for (int i = 0; i < 4; ++i) {
    const unsigned index = selector >> (4 * i) & 7;
    result |= (unsigned(bytes >> (8 * index)) & 0xFF) << (8 * i);
  }
  return result;
}
/// The upper 32 bits of hi:lo shifted left, and the lower ones of it shifted right. _l and _r take
/// the shift modulo 32, _lc and _rc at most 32.
SIMT_PURE unsigned __funnelshift_l(unsigned lo, unsigned hi, unsigned shift) {
  return unsigned(((unsigned long long)hi << 32 | lo) << (shift & 31) >> 32);
}
SIMT_PURE unsigned __funnelshift_lc(unsigned lo, unsigned hi, unsigned shift) {
  return shift >= 32 ? lo : __funnelshift_l(lo, hi, shift);
}
SIMT_PURE unsigned __funnelshift_r(unsigned lo, unsigned hi, unsigned shift) {
  return unsigned(((unsigned long long)hi << 32 | lo) >> (shift & 31));
}
SIMT_PURE unsigned __funnelshift_rc(unsigned lo, unsigned hi, unsigned shift) {
  return shift >= 32 ? hi : __funnelshift_r(lo, hi, shift);
}

// ---- casts of bits ------------------------------------------------------------------------------

SIMT_PURE int __float_as_int(float x) { return __builtin_bit_cast(int, x); }
SIMT_PURE float __int_as_float(int x) { return __builtin_bit_cast(float, x); }
SIMT_PURE unsigned __float_as_uint(float x) { return __builtin_bit_cast(unsigned, x); }
SIMT_PURE float __uint_as_float(unsigned x) { return __builtin_bit_cast(float, x); }
SIMT_PURE long long __double_as_longlong(double x) { return __builtin_bit_cast(long long, x); }
SIMT_PURE double __longlong_as_double(long long x) { return __builtin_bit_cast(double, x); }
SIMT_PURE int __double2hiint(double x) { return int(__double_as_longlong(x) >> 32); }
SIMT_PURE int __double2loint(double x) { return int(__double_as_longlong(x)); }
SIMT_PURE double __hiloint2double(int hi, int lo) {
  return __longlong_as_double((long long)((unsigned long long)unsigned(hi) << 32 | unsigned(lo)));
}

// ---- loads and stores with a cache hint ---------------------------------------------------------
// To the checker they are the kernel's own accesses, on the kernel's own line. There is no cache
// here.

namespace simt {
SIMT_API void load_read_only(const void* address, std::size_t size) {
  read_only_load(address, size, SIMT_CALLER, ReadPath::ldg);
}
}  // namespace simt

#define SIMT_LOADS(T)                                              \
  SIMT_TRANSPARENT T __ldg(const T* address) {                     \
    simt::load_read_only(address, sizeof(T));                      \
    return *address;                                               \
  }                                                                \
  SIMT_TRANSPARENT T __ldca(const T* address) { return *address; } \
  SIMT_TRANSPARENT T __ldcg(const T* address) { return *address; } \
  SIMT_TRANSPARENT T __ldcs(const T* address) { return *address; } \
  SIMT_TRANSPARENT T __ldlu(const T* address) { return *address; } \
  SIMT_TRANSPARENT T __ldcv(const T* address) { return *address; }
#define SIMT_STORES(T)                                                    \
  SIMT_TRANSPARENT void __stwb(T* address, T value) { *address = value; } \
  SIMT_TRANSPARENT void __stcg(T* address, T value) { *address = value; } \
  SIMT_TRANSPARENT void __stcs(T* address, T value) { *address = value; } \
  SIMT_TRANSPARENT void __stwt(T* address, T value) { *address = value; }
#define SIMT_LOADS_AND_STORES(T) SIMT_LOADS(T) SIMT_STORES(T)

SIMT_LOADS_AND_STORES(char)
SIMT_LOADS_AND_STORES(signed char)
SIMT_LOADS_AND_STORES(unsigned char)
SIMT_LOADS_AND_STORES(short)
SIMT_LOADS_AND_STORES(unsigned short)
SIMT_LOADS_AND_STORES(int)
SIMT_LOADS_AND_STORES(unsigned)
SIMT_LOADS_AND_STORES(long)
SIMT_LOADS_AND_STORES(unsigned long)
SIMT_LOADS_AND_STORES(long long)
SIMT_LOADS_AND_STORES(unsigned long long)
SIMT_LOADS_AND_STORES(float)
SIMT_LOADS_AND_STORES(double)
SIMT_LOADS_AND_STORES(char2)
SIMT_LOADS_AND_STORES(char4)
SIMT_LOADS_AND_STORES(uchar2)
SIMT_LOADS_AND_STORES(uchar4)
SIMT_LOADS_AND_STORES(short2)
SIMT_LOADS_AND_STORES(short4)
SIMT_LOADS_AND_STORES(ushort2)
SIMT_LOADS_AND_STORES(ushort4)
SIMT_LOADS_AND_STORES(int2)
SIMT_LOADS_AND_STORES(int4)
SIMT_LOADS_AND_STORES(uint2)
SIMT_LOADS_AND_STORES(uint4)
SIMT_LOADS_AND_STORES(longlong2)
SIMT_LOADS_AND_STORES(ulonglong2)
SIMT_LOADS_AND_STORES(float2)
SIMT_LOADS_AND_STORES(float4)
SIMT_LOADS_AND_STORES(double2)

#undef SIMT_LOADS_AND_STORES
#undef SIMT_STORES
#undef SIMT_LOADS

// ---- where a pointer points to ------------------------------------------------------------------

SIMT_API unsigned __isGlobal(const void* p) {
  return simt::space_of(p) == simt::AddressSpace::global;
}
SIMT_API unsigned __isShared(const void* p) {
  return simt::space_of(p) == simt::AddressSpace::shared;
}
SIMT_API unsigned __isConstant(const void* p) {
  return simt::space_of(p) == simt::AddressSpace::constant;
}
SIMT_API unsigned __isLocal(const void* p) {
  return simt::space_of(p) == simt::AddressSpace::local;
}
SIMT_API unsigned __isCtaShared(const void* p) { return __isShared(p); }
SIMT_API unsigned __isClusterShared(const void* p) { return __isShared(p); }

// An address within its space, and back. Only shared memory has addresses of its own here, of 32 bits.
SIMT_API std::size_t __cvta_generic_to_shared(const void* p) { return simt::shared_offset(p); }
SIMT_API void* __cvta_shared_to_generic(std::size_t at) { return simt::shared_address(at); }
#define SIMT_SAME_ADDRESS(space)                                   \
  SIMT_PURE std::size_t __cvta_generic_to_##space(const void* p) { \
    return reinterpret_cast<std::size_t>(p);                       \
  }                                                                \
  SIMT_PURE void* __cvta_##space##_to_generic(std::size_t at) {    \
    return reinterpret_cast<void*>(at);                            \
  }
SIMT_SAME_ADDRESS(global)
SIMT_SAME_ADDRESS(constant)
SIMT_SAME_ADDRESS(local)
#undef SIMT_SAME_ADDRESS

// ---- integers -----------------------------------------------------------------------------------

namespace simt {
__extension__ typedef __int128 Int128;
__extension__ typedef unsigned __int128 Uint128;
}  // namespace simt

SIMT_PURE int __mulhi(int x, int y) { return int((long long)x * y >> 32); }
SIMT_PURE unsigned __umulhi(unsigned x, unsigned y) {
  return unsigned((unsigned long long)x * y >> 32);
}
SIMT_PURE long long __mul64hi(long long x, long long y) {
  return (long long)((simt::Int128)x * y >> 64);
}
SIMT_PURE unsigned long long __umul64hi(unsigned long long x, unsigned long long y) {
  return (unsigned long long)((simt::Uint128)x * y >> 64);
}
/// Product of the low 24 bits.
SIMT_PURE unsigned __umul24(unsigned x, unsigned y) { return (x & 0xFFFFFF) * (y & 0xFFFFFF); }
SIMT_PURE int __mul24(int x, int y) {
  const int x24 = int(unsigned(x) << 8) >> 8, y24 = int(unsigned(y) << 8) >> 8;
  return int(unsigned(x24) * unsigned(y24));
}
/// Sum of absolute difference: |x - y| + z.
SIMT_PURE unsigned __sad(int x, int y, unsigned z) {
  return (x > y ? unsigned(x) - unsigned(y) : unsigned(y) - unsigned(x)) + z;
}
SIMT_PURE unsigned __usad(unsigned x, unsigned y, unsigned z) {
  return (x > y ? x - y : y - x) + z;
}
/// Averages without overflow, rounded down and (r) up.
SIMT_PURE int __hadd(int x, int y) { return int(((long long)x + y) >> 1); }
SIMT_PURE int __rhadd(int x, int y) { return int(((long long)x + y + 1) >> 1); }
SIMT_PURE unsigned __uhadd(unsigned x, unsigned y) {
  return unsigned(((unsigned long long)x + y) >> 1);
}
SIMT_PURE unsigned __urhadd(unsigned x, unsigned y) {
  return unsigned(((unsigned long long)x + y + 1) >> 1);
}

// ---- min and max: CUDA's global functions, with its mixed types ---------------------------------

#define SIMT_MIN_MAX(Result, A, B)                                       \
  SIMT_PURE Result min(A a, B b) {                                       \
    const Result x = static_cast<Result>(a), y = static_cast<Result>(b); \
    return y < x ? y : x;                                                \
  }                                                                      \
  SIMT_PURE Result max(A a, B b) {                                       \
    const Result x = static_cast<Result>(a), y = static_cast<Result>(b); \
    return x < y ? y : x;                                                \
  }
#define SIMT_MIN_MAX_INTEGERS(S, U) \
  SIMT_MIN_MAX(S, S, S)             \
  SIMT_MIN_MAX(U, U, U)             \
  SIMT_MIN_MAX(U, S, U)             \
  SIMT_MIN_MAX(U, U, S)
// A NaN loses against a number.
#define SIMT_MIN_MAX_FLOATS(Result, A, B, suffix)                                         \
  SIMT_PURE Result min(A a, B b) { return __builtin_fmin##suffix(Result(a), Result(b)); } \
  SIMT_PURE Result max(A a, B b) { return __builtin_fmax##suffix(Result(a), Result(b)); }

SIMT_MIN_MAX_INTEGERS(int, unsigned)
SIMT_MIN_MAX_INTEGERS(long, unsigned long)
SIMT_MIN_MAX_INTEGERS(long long, unsigned long long)
SIMT_MIN_MAX_FLOATS(float, float, float, f)
SIMT_MIN_MAX_FLOATS(double, double, double, )
SIMT_MIN_MAX_FLOATS(double, float, double, )
SIMT_MIN_MAX_FLOATS(double, double, float, )

#undef SIMT_MIN_MAX_FLOATS
#undef SIMT_MIN_MAX_INTEGERS
#undef SIMT_MIN_MAX

SIMT_PURE unsigned umin(unsigned a, unsigned b) { return min(a, b); }
SIMT_PURE unsigned umax(unsigned a, unsigned b) { return max(a, b); }
SIMT_PURE long long llmin(long long a, long long b) { return min(a, b); }
SIMT_PURE long long llmax(long long a, long long b) { return max(a, b); }
SIMT_PURE unsigned long long ullmin(unsigned long long a, unsigned long long b) {
  return min(a, b);
}
SIMT_PURE unsigned long long ullmax(unsigned long long a, unsigned long long b) {
  return max(a, b);
}

// ---- conversions to an integer ------------------------------------------------------------------
// _rn to nearest (ties to even), _rz towards zero, _ru up, _rd down.

namespace simt {

enum class Rounding { nearest, zero, up, down };

SIMT_PURE double round_to_whole(double x, Rounding rounding) {
  switch (rounding) {
    case Rounding::zero:
      return __builtin_trunc(x);
    case Rounding::up:
      return __builtin_ceil(x);
    case Rounding::down:
      return __builtin_floor(x);
    case Rounding::nearest:
      break;
  }
  return __builtin_nearbyint(x);
}

/// What does not fit becomes the nearest integer that does. NaN becomes 0 from float to 32 bits or
/// fewer, else the bit pattern 100...0 (PTX ISA, cvt).
template <class Integer, class Float>
SIMT_PURE Integer to_integer(Float x, Rounding rounding) {
  constexpr Integer lowest = std::numeric_limits<Integer>::min();
  constexpr Integer highest = std::numeric_limits<Integer>::max();
  constexpr double end = 2.0 * double(highest / 2 + 1);  // highest + 1, a power of two
  if (x != x) {
    if (sizeof(Float) <= 4 && sizeof(Integer) <= 4) return 0;
    return lowest < 0 ? lowest : Integer(highest / 2 + 1);
  }
  const double whole = round_to_whole(double(x), rounding);
  if (whole >= end) return highest;
  if (whole < double(lowest)) return lowest;
  return Integer(whole);
}

}  // namespace simt

#define SIMT_TO_INTEGER(name, Float, Integer)                     \
  SIMT_PURE Integer name##_rn(Float x) {                          \
    return simt::to_integer<Integer>(x, simt::Rounding::nearest); \
  }                                                               \
  SIMT_PURE Integer name##_rz(Float x) {                          \
    return simt::to_integer<Integer>(x, simt::Rounding::zero);    \
  }                                                               \
  SIMT_PURE Integer name##_ru(Float x) {                          \
    return simt::to_integer<Integer>(x, simt::Rounding::up);      \
  }                                                               \
  SIMT_PURE Integer name##_rd(Float x) {                          \
    return simt::to_integer<Integer>(x, simt::Rounding::down);    \
  }

SIMT_TO_INTEGER(__float2int, float, int)
SIMT_TO_INTEGER(__float2uint, float, unsigned)
SIMT_TO_INTEGER(__float2ll, float, long long)
SIMT_TO_INTEGER(__float2ull, float, unsigned long long)
SIMT_TO_INTEGER(__double2int, double, int)
SIMT_TO_INTEGER(__double2uint, double, unsigned)
SIMT_TO_INTEGER(__double2ll, double, long long)
SIMT_TO_INTEGER(__double2ull, double, unsigned long long)

#undef SIMT_TO_INTEGER

// ---- arithmetic in a rounding mode --------------------------------------------------------------

namespace simt {

/// While one lives, the processor rounds in another direction.
class RoundingScope {
 public:
  SIMT_UNINSTRUMENTED explicit RoundingScope(int mode) : before_(fegetround()) { fesetround(mode); }
  SIMT_UNINSTRUMENTED ~RoundingScope() { fesetround(before_); }
  RoundingScope(const RoundingScope&) = delete;
  RoundingScope& operator=(const RoundingScope&) = delete;

 private:
  int before_;
};

}  // namespace simt

// Operands and result are volatile so that no compiler moves the operation out of the scope.
#define SIMT_ROUNDED1(Result, name, T, mode, expression) \
  SIMT_PURE Result name(T a) {                           \
    volatile T x = a;                                    \
    simt::RoundingScope scope(mode);                     \
    volatile Result result = expression;                 \
    return result;                                       \
  }
#define SIMT_ROUNDED2(Result, name, T, mode, expression) \
  SIMT_PURE Result name(T a, T b) {                      \
    volatile T x = a, y = b;                             \
    simt::RoundingScope scope(mode);                     \
    volatile Result result = expression;                 \
    return result;                                       \
  }
#define SIMT_ROUNDED3(Result, name, T, mode, expression) \
  SIMT_PURE Result name(T a, T b, T c) {                 \
    volatile T x = a, y = b, z = c;                      \
    simt::RoundingScope scope(mode);                     \
    volatile Result result = expression;                 \
    return result;                                       \
  }
#define SIMT_ROUNDED(operands, Result, name, T, expression)                   \
  SIMT_ROUNDED##operands(Result, name##_rn, T, FE_TONEAREST, expression)      \
      SIMT_ROUNDED##operands(Result, name##_rz, T, FE_TOWARDZERO, expression) \
          SIMT_ROUNDED##operands(Result, name##_ru, T, FE_UPWARD, expression) \
              SIMT_ROUNDED##operands(Result, name##_rd, T, FE_DOWNWARD, expression)

SIMT_ROUNDED(1, float, __int2float, int, float(x))
SIMT_ROUNDED(1, float, __uint2float, unsigned, float(x))
SIMT_ROUNDED(1, float, __ll2float, long long, float(x))
SIMT_ROUNDED(1, float, __ull2float, unsigned long long, float(x))
SIMT_ROUNDED(1, float, __double2float, double, float(x))
SIMT_ROUNDED(1, double, __ll2double, long long, double(x))
SIMT_ROUNDED(1, double, __ull2double, unsigned long long, double(x))
SIMT_PURE double __int2double_rn(int x) { return x; }
SIMT_PURE double __uint2double_rn(unsigned x) { return x; }

SIMT_ROUNDED(2, float, __fadd, float, x + y)
SIMT_ROUNDED(2, float, __fsub, float, x - y)
SIMT_ROUNDED(2, float, __fmul, float, x* y)
SIMT_ROUNDED(2, float, __fdiv, float, x / y)
SIMT_ROUNDED(1, float, __frcp, float, 1.0f / x)
SIMT_ROUNDED(1, float, __fsqrt, float, __builtin_sqrtf(x))
SIMT_ROUNDED(3, float, __fmaf, float, __builtin_fmaf(x, y, z))
SIMT_ROUNDED(2, double, __dadd, double, x + y)
SIMT_ROUNDED(2, double, __dsub, double, x - y)
SIMT_ROUNDED(2, double, __dmul, double, x* y)
SIMT_ROUNDED(2, double, __ddiv, double, x / y)
SIMT_ROUNDED(1, double, __drcp, double, 1.0 / x)
SIMT_ROUNDED(1, double, __dsqrt, double, __builtin_sqrt(x))
SIMT_ROUNDED(3, double, __fma, double, __builtin_fma(x, y, z))

// The same with subnormal numbers whatever the compiler's flags are, which is always so here.
SIMT_ROUNDED(3, float, __fmaf_ieee, float, __builtin_fmaf(x, y, z))

#undef SIMT_ROUNDED
#undef SIMT_ROUNDED3
#undef SIMT_ROUNDED2
#undef SIMT_ROUNDED1

// ---- functions ----------------------------------------------------------------------------------
// A GPU's fast versions (__expf and similar ones) have fewer right bits; here they are the exact ones.

SIMT_PURE float __saturatef(float x) { return x > 0 ? (x < 1 ? x : 1) : 0; }
SIMT_PURE float __fdividef(float x, float y) { return x / y; }
SIMT_PURE float fdividef(float x, float y) { return x / y; }
SIMT_PURE float __frsqrt_rn(float x) { return float(1 / __builtin_sqrt(double(x))); }
SIMT_PURE float rsqrtf(float x) { return __frsqrt_rn(x); }
SIMT_PURE double rsqrt(double x) { return 1 / __builtin_sqrt(x); }
SIMT_PURE float rsqrt(float x) { return rsqrtf(x); }
SIMT_PURE float __expf(float x) { return __builtin_expf(x); }
SIMT_PURE float __exp10f(float x) { return float(__builtin_pow(10.0, double(x))); }
SIMT_PURE float __logf(float x) { return __builtin_logf(x); }
SIMT_PURE float __log2f(float x) { return __builtin_log2f(x); }
SIMT_PURE float __log10f(float x) { return __builtin_log10f(x); }
SIMT_PURE float __powf(float x, float y) { return __builtin_powf(x, y); }
SIMT_PURE float __sinf(float x) { return __builtin_sinf(x); }
SIMT_PURE float __cosf(float x) { return __builtin_cosf(x); }
SIMT_PURE float __tanf(float x) { return __builtin_tanf(x); }
SIMT_TRANSPARENT void __sincosf(float x, float* sine, float* cosine) {
  *sine = __sinf(x);
  *cosine = __cosf(x);
}

// ---- time and failure ---------------------------------------------------------------------------
// printf() and assert() are those of the C library; assert.cpp makes a failed assert() stop the
// kernel. clock() is declared by the C library, too: clock.cpp answers it, in kernels and elsewhere.

/// It grows, and that is all it has in common with a GPU's clock.
SIMT_API long long clock64() { return (long long)simt::clock_ticks(SIMT_CALLER); }
SIMT_API void __nanosleep(unsigned) { simt::sleep_briefly(); }
SIMT_API void __trap() {
  constexpr int launch_failure = 719;  // cudaErrorLaunchFailure
  simt::trap("__trap()", launch_failure, SIMT_CALLER);
}
/// A breakpoint; without a debugger it ends the kernel.
SIMT_API void __brkpt() {
  constexpr int launch_failure = 719;  // cudaErrorLaunchFailure
  simt::trap("__brkpt()", launch_failure, SIMT_CALLER);
}
/// Counts an event for a profiler, of which there is none here.
SIMT_PURE void __prof_trigger(int) {}
