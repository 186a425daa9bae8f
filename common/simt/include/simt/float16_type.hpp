// CUDA's classes and functions for one 16-bit format. half.hpp and bfloat16.hpp include this file,
// once each, with
//   SIMT_SCALAR, SIMT_PAIR            __half, __half2
//   SIMT_SCALAR_NAME, SIMT_PAIR_NAME  half, half2: how CUDA's functions spell them (__half2float)
//   SIMT_FORMAT                       simt::Half
//   SIMT_OTHER_SCALAR                 __nv_bfloat16
// so that `__half2float` is written here as SIMT_JOIN(__, SIMT_SCALAR_NAME, 2float). The end of this
// file undefines all of them.
//
// Arguments are passed by value, where CUDA takes references: the copy is the kernel's load, made
// and seen at the kernel's line.

#define SIMT_JOIN_EXPANDED(a, b, c) a##b##c
#define SIMT_JOIN(a, b, c) SIMT_JOIN_EXPANDED(a, b, c)
#define SIMT_SCALAR_RAW SIMT_JOIN(SIMT_SCALAR, _raw, )
#define SIMT_PAIR_RAW SIMT_JOIN(SIMT_PAIR, _raw, )

// ---- the types ----------------------------------------------------------------------------------

struct alignas(2) SIMT_SCALAR_RAW {
  unsigned short x;
};
struct alignas(4) SIMT_PAIR_RAW {
  unsigned short x, y;
};

struct alignas(2) SIMT_SCALAR {
  SIMT_SCALAR() = default;
  SIMT_TRANSPARENT constexpr SIMT_SCALAR(const SIMT_SCALAR_RAW& raw) : bits_(raw.x) {}
  SIMT_PURE SIMT_SCALAR(float x) : SIMT_SCALAR(x, simt::Rounding::nearest) {}
  SIMT_PURE SIMT_SCALAR(double x) : SIMT_SCALAR(x, simt::Rounding::nearest) {}
  SIMT_PURE SIMT_SCALAR(short x) : SIMT_SCALAR(x, simt::Rounding::nearest) {}
  SIMT_PURE SIMT_SCALAR(unsigned short x) : SIMT_SCALAR(x, simt::Rounding::nearest) {}
  SIMT_PURE SIMT_SCALAR(int x) : SIMT_SCALAR(x, simt::Rounding::nearest) {}
  SIMT_PURE SIMT_SCALAR(unsigned x) : SIMT_SCALAR(x, simt::Rounding::nearest) {}
  SIMT_PURE SIMT_SCALAR(long x) : SIMT_SCALAR(x, simt::Rounding::nearest) {}
  SIMT_PURE SIMT_SCALAR(unsigned long x) : SIMT_SCALAR(x, simt::Rounding::nearest) {}
  SIMT_PURE SIMT_SCALAR(long long x) : SIMT_SCALAR(x, simt::Rounding::nearest) {}
  SIMT_PURE SIMT_SCALAR(unsigned long long x) : SIMT_SCALAR(x, simt::Rounding::nearest) {}
  /// From any arithmetic type, with one rounding. Not CUDA's: the conversion functions use it.
  template <class T>
  SIMT_PURE SIMT_SCALAR(T x, simt::Rounding rounding) {
    if constexpr (std::is_same_v<T, float>) {
      bits_ = simt::from_float<SIMT_FORMAT>(x, rounding);
    } else if constexpr (std::is_same_v<T, double>) {
      bits_ = simt::from_double<SIMT_FORMAT>(x, rounding);
    } else if constexpr (std::is_signed_v<T>) {
      bits_ = simt::from_integer<SIMT_FORMAT>((long long)(x), rounding);
    } else {
      bits_ = simt::from_integer<SIMT_FORMAT>((unsigned long long)(x), rounding);
    }
  }
#ifdef SIMT_OTHER_SCALAR
  SIMT_PURE explicit SIMT_SCALAR(SIMT_OTHER_SCALAR x);
#endif

  SIMT_TRANSPARENT operator SIMT_SCALAR_RAW() const { return {bits_}; }
  SIMT_TRANSPARENT operator float() const { return simt::to_float(SIMT_FORMAT(), bits_); }
  SIMT_TRANSPARENT operator signed char() const { return to_integer<signed char>(bits_); }
  SIMT_TRANSPARENT operator unsigned char() const { return to_integer<unsigned char>(bits_); }
  SIMT_TRANSPARENT operator char() const { return to_integer<char>(bits_); }
  SIMT_TRANSPARENT operator short() const { return to_integer<short>(bits_); }
  SIMT_TRANSPARENT operator unsigned short() const { return to_integer<unsigned short>(bits_); }
  SIMT_TRANSPARENT operator int() const { return to_integer<int>(bits_); }
  SIMT_TRANSPARENT operator unsigned() const { return to_integer<unsigned>(bits_); }
  SIMT_TRANSPARENT operator long() const { return to_integer<long>(bits_); }
  SIMT_TRANSPARENT operator unsigned long() const { return to_integer<unsigned long>(bits_); }
  SIMT_TRANSPARENT operator long long() const { return to_integer<long long>(bits_); }
  SIMT_TRANSPARENT operator unsigned long long() const {
    return to_integer<unsigned long long>(bits_);
  }
  SIMT_TRANSPARENT operator bool() const { return (bits_ & 0x7FFF) != 0; }

 private:
  template <class Integer>
  SIMT_PURE static Integer to_integer(unsigned short bits) {
    return simt::to_integer<Integer>(simt::to_float(SIMT_FORMAT(), bits), simt::Rounding::zero);
  }

  unsigned short bits_;
};

struct alignas(4) SIMT_PAIR {
  SIMT_SCALAR x, y;

  SIMT_PAIR() = default;
  SIMT_TRANSPARENT SIMT_PAIR(const SIMT_PAIR& other) { simt::copy_vector(this, &other); }
  SIMT_TRANSPARENT SIMT_PAIR& operator=(const SIMT_PAIR& other) {
    simt::copy_vector(this, &other);
    return *this;
  }
  SIMT_TRANSPARENT SIMT_PAIR(const SIMT_SCALAR& a, const SIMT_SCALAR& b) : x(a), y(b) {}
  SIMT_TRANSPARENT SIMT_PAIR(const SIMT_PAIR_RAW& raw)
      : x(SIMT_SCALAR_RAW{raw.x}), y(SIMT_SCALAR_RAW{raw.y}) {}
  SIMT_TRANSPARENT operator SIMT_PAIR_RAW() const {
    return {static_cast<SIMT_SCALAR_RAW>(x).x, static_cast<SIMT_SCALAR_RAW>(y).x};
  }
};
static_assert(sizeof(SIMT_SCALAR) == 2 && sizeof(SIMT_PAIR) == 4);

// ---- bits ---------------------------------------------------------------------------------------

SIMT_PURE unsigned short SIMT_JOIN(__, SIMT_SCALAR_NAME, _as_ushort)(SIMT_SCALAR a) {
  return static_cast<SIMT_SCALAR_RAW>(a).x;
}
SIMT_PURE short SIMT_JOIN(__, SIMT_SCALAR_NAME, _as_short)(SIMT_SCALAR a) {
  return short(static_cast<SIMT_SCALAR_RAW>(a).x);
}
SIMT_PURE SIMT_SCALAR SIMT_JOIN(__ushort_as_, SIMT_SCALAR_NAME, )(unsigned short bits) {
  return SIMT_SCALAR_RAW{bits};
}
SIMT_PURE SIMT_SCALAR SIMT_JOIN(__short_as_, SIMT_SCALAR_NAME, )(short bits) {
  return SIMT_SCALAR_RAW{(unsigned short)(bits)};
}

namespace simt {
SIMT_PURE unsigned short bits(SIMT_SCALAR a) { return static_cast<SIMT_SCALAR_RAW>(a).x; }
}  // namespace simt

// ---- conversions --------------------------------------------------------------------------------

SIMT_PURE float SIMT_JOIN(__, SIMT_SCALAR_NAME, 2float)(SIMT_SCALAR a) { return float(a); }
SIMT_PURE SIMT_SCALAR SIMT_JOIN(__float2, SIMT_SCALAR_NAME, )(float x) { return x; }
SIMT_PURE SIMT_SCALAR SIMT_JOIN(__double2, SIMT_SCALAR_NAME, )(double x) { return x; }

// __int2half_rn(), __half2int_rn() and so on.
#define SIMT_FROM(name, T)                                            \
  SIMT_PURE SIMT_SCALAR SIMT_JOIN(name, SIMT_SCALAR_NAME, _rn)(T x) { \
    return SIMT_SCALAR(x, simt::Rounding::nearest);                   \
  }                                                                   \
  SIMT_PURE SIMT_SCALAR SIMT_JOIN(name, SIMT_SCALAR_NAME, _rz)(T x) { \
    return SIMT_SCALAR(x, simt::Rounding::zero);                      \
  }                                                                   \
  SIMT_PURE SIMT_SCALAR SIMT_JOIN(name, SIMT_SCALAR_NAME, _ru)(T x) { \
    return SIMT_SCALAR(x, simt::Rounding::up);                        \
  }                                                                   \
  SIMT_PURE SIMT_SCALAR SIMT_JOIN(name, SIMT_SCALAR_NAME, _rd)(T x) { \
    return SIMT_SCALAR(x, simt::Rounding::down);                      \
  }
#define SIMT_TO(name, T)                                                  \
  SIMT_PURE T SIMT_JOIN(__, SIMT_SCALAR_NAME, name##_rn)(SIMT_SCALAR a) { \
    return simt::to_integer<T>(float(a), simt::Rounding::nearest);        \
  }                                                                       \
  SIMT_PURE T SIMT_JOIN(__, SIMT_SCALAR_NAME, name##_rz)(SIMT_SCALAR a) { \
    return simt::to_integer<T>(float(a), simt::Rounding::zero);           \
  }                                                                       \
  SIMT_PURE T SIMT_JOIN(__, SIMT_SCALAR_NAME, name##_ru)(SIMT_SCALAR a) { \
    return simt::to_integer<T>(float(a), simt::Rounding::up);             \
  }                                                                       \
  SIMT_PURE T SIMT_JOIN(__, SIMT_SCALAR_NAME, name##_rd)(SIMT_SCALAR a) { \
    return simt::to_integer<T>(float(a), simt::Rounding::down);           \
  }
SIMT_FROM(__float2, float)
SIMT_FROM(__short2, short)
SIMT_FROM(__ushort2, unsigned short)
SIMT_FROM(__int2, int)
SIMT_FROM(__uint2, unsigned)
SIMT_FROM(__ll2, long long)
SIMT_FROM(__ull2, unsigned long long)
SIMT_TO(2short, short)
SIMT_TO(2ushort, unsigned short)
SIMT_TO(2int, int)
SIMT_TO(2uint, unsigned)
SIMT_TO(2ll, long long)
SIMT_TO(2ull, unsigned long long)
#undef SIMT_TO
#undef SIMT_FROM
SIMT_PURE signed char SIMT_JOIN(__, SIMT_SCALAR_NAME, 2char_rz)(SIMT_SCALAR a) { return a; }
SIMT_PURE unsigned char SIMT_JOIN(__, SIMT_SCALAR_NAME, 2uchar_rz)(SIMT_SCALAR a) { return a; }

// ---- pairs: x is the low half, y the high one ---------------------------------------------------

SIMT_PURE SIMT_PAIR SIMT_JOIN(make_, SIMT_PAIR_NAME, )(SIMT_SCALAR x, SIMT_SCALAR y) {
  return {x, y};
}
SIMT_PURE SIMT_PAIR SIMT_JOIN(__halves2, SIMT_PAIR_NAME, )(SIMT_SCALAR low, SIMT_SCALAR high) {
  return {low, high};
}
SIMT_PURE SIMT_PAIR SIMT_JOIN(__, SIMT_SCALAR_NAME, SIMT_JOIN(2, SIMT_PAIR_NAME, ))(SIMT_SCALAR a) {
  return {a, a};
}
SIMT_PURE SIMT_PAIR SIMT_JOIN(__float2, SIMT_PAIR_NAME, _rn)(float x) {
  return {SIMT_SCALAR(x), SIMT_SCALAR(x)};
}
SIMT_PURE SIMT_PAIR SIMT_JOIN(__floats2, SIMT_PAIR_NAME, _rn)(float low, float high) {
  return {SIMT_SCALAR(low), SIMT_SCALAR(high)};
}
SIMT_PURE SIMT_PAIR SIMT_JOIN(__float22, SIMT_PAIR_NAME, _rn)(float2 v) {
  return {SIMT_SCALAR(v.x), SIMT_SCALAR(v.y)};
}
SIMT_PURE float2 SIMT_JOIN(__, SIMT_PAIR_NAME, 2float2)(SIMT_PAIR a) {
  return {float(a.x), float(a.y)};
}
SIMT_PURE float __low2float(SIMT_PAIR a) { return float(a.x); }
SIMT_PURE float __high2float(SIMT_PAIR a) { return float(a.y); }
SIMT_PURE SIMT_SCALAR SIMT_JOIN(__low2, SIMT_SCALAR_NAME, )(SIMT_PAIR a) { return a.x; }
SIMT_PURE SIMT_SCALAR SIMT_JOIN(__high2, SIMT_SCALAR_NAME, )(SIMT_PAIR a) { return a.y; }
SIMT_PURE SIMT_PAIR SIMT_JOIN(__low2, SIMT_PAIR_NAME, )(SIMT_PAIR a) { return {a.x, a.x}; }
SIMT_PURE SIMT_PAIR SIMT_JOIN(__high2, SIMT_PAIR_NAME, )(SIMT_PAIR a) { return {a.y, a.y}; }
SIMT_PURE SIMT_PAIR SIMT_JOIN(__lows2, SIMT_PAIR_NAME, )(SIMT_PAIR a, SIMT_PAIR b) {
  return {a.x, b.x};
}
SIMT_PURE SIMT_PAIR SIMT_JOIN(__highs2, SIMT_PAIR_NAME, )(SIMT_PAIR a, SIMT_PAIR b) {
  return {a.y, b.y};
}
SIMT_PURE SIMT_PAIR __lowhigh2highlow(SIMT_PAIR a) { return {a.y, a.x}; }

// ---- arithmetic: float has more than twice the bits, so rounding its result once more is exact --

SIMT_PURE SIMT_SCALAR __hadd(SIMT_SCALAR a, SIMT_SCALAR b) { return float(a) + float(b); }
SIMT_PURE SIMT_SCALAR __hsub(SIMT_SCALAR a, SIMT_SCALAR b) { return float(a) - float(b); }
SIMT_PURE SIMT_SCALAR __hmul(SIMT_SCALAR a, SIMT_SCALAR b) { return float(a) * float(b); }
SIMT_PURE SIMT_SCALAR __hdiv(SIMT_SCALAR a, SIMT_SCALAR b) { return float(a) / float(b); }
SIMT_PURE SIMT_SCALAR __hfma(SIMT_SCALAR a, SIMT_SCALAR b, SIMT_SCALAR c) {
  return simt::fma_to_odd(double(float(a)), double(float(b)), double(float(c)));
}
SIMT_PURE SIMT_SCALAR __hneg(SIMT_SCALAR a) {
  return SIMT_SCALAR_RAW{(unsigned short)(simt::bits(a) ^ 0x8000)};
}
SIMT_PURE SIMT_SCALAR __habs(SIMT_SCALAR a) {
  return SIMT_SCALAR_RAW{(unsigned short)(simt::bits(a) & 0x7FFF)};
}

namespace simt {
/// Clamped to [0, 1]; NaN becomes 0.
SIMT_PURE SIMT_SCALAR saturate(SIMT_SCALAR a) { return __saturatef(float(a)); }
SIMT_PURE SIMT_SCALAR relu(SIMT_SCALAR a) {
  const float x = float(a);
  return x < 0 || bits(a) == 0x8000 ? SIMT_SCALAR(0.0f) : SIMT_SCALAR(x);
}
}  // namespace simt

SIMT_PURE SIMT_SCALAR __hadd_rn(SIMT_SCALAR a, SIMT_SCALAR b) { return __hadd(a, b); }
SIMT_PURE SIMT_SCALAR __hsub_rn(SIMT_SCALAR a, SIMT_SCALAR b) { return __hsub(a, b); }
SIMT_PURE SIMT_SCALAR __hmul_rn(SIMT_SCALAR a, SIMT_SCALAR b) { return __hmul(a, b); }
SIMT_PURE SIMT_SCALAR __hadd_sat(SIMT_SCALAR a, SIMT_SCALAR b) {
  return simt::saturate(__hadd(a, b));
}
SIMT_PURE SIMT_SCALAR __hsub_sat(SIMT_SCALAR a, SIMT_SCALAR b) {
  return simt::saturate(__hsub(a, b));
}
SIMT_PURE SIMT_SCALAR __hmul_sat(SIMT_SCALAR a, SIMT_SCALAR b) {
  return simt::saturate(__hmul(a, b));
}
SIMT_PURE SIMT_SCALAR __hfma_sat(SIMT_SCALAR a, SIMT_SCALAR b, SIMT_SCALAR c) {
  return simt::saturate(__hfma(a, b, c));
}
SIMT_PURE SIMT_SCALAR __hfma_relu(SIMT_SCALAR a, SIMT_SCALAR b, SIMT_SCALAR c) {
  return simt::relu(__hfma(a, b, c));
}

// ---- comparisons: false if one is NaN; the ...u ones ("unordered") are true then ----------------

SIMT_PURE bool __hisnan(SIMT_SCALAR a) { return (simt::bits(a) & 0x7FFF) > SIMT_FORMAT::kInfinity; }
SIMT_PURE int __hisinf(SIMT_SCALAR a) {
  if ((simt::bits(a) & 0x7FFF) != SIMT_FORMAT::kInfinity) return 0;
  return simt::bits(a) & 0x8000 ? -1 : 1;
}
SIMT_PURE bool __heq(SIMT_SCALAR a, SIMT_SCALAR b) { return float(a) == float(b); }
SIMT_PURE bool __hlt(SIMT_SCALAR a, SIMT_SCALAR b) { return float(a) < float(b); }
SIMT_PURE bool __hle(SIMT_SCALAR a, SIMT_SCALAR b) { return float(a) <= float(b); }
SIMT_PURE bool __hgt(SIMT_SCALAR a, SIMT_SCALAR b) { return float(a) > float(b); }
SIMT_PURE bool __hge(SIMT_SCALAR a, SIMT_SCALAR b) { return float(a) >= float(b); }
SIMT_PURE bool __hne(SIMT_SCALAR a, SIMT_SCALAR b) { return __hlt(a, b) || __hgt(a, b); }
SIMT_PURE bool __hequ(SIMT_SCALAR a, SIMT_SCALAR b) { return !__hne(a, b); }
SIMT_PURE bool __hltu(SIMT_SCALAR a, SIMT_SCALAR b) { return !__hge(a, b); }
SIMT_PURE bool __hleu(SIMT_SCALAR a, SIMT_SCALAR b) { return !__hgt(a, b); }
SIMT_PURE bool __hgtu(SIMT_SCALAR a, SIMT_SCALAR b) { return !__hle(a, b); }
SIMT_PURE bool __hgeu(SIMT_SCALAR a, SIMT_SCALAR b) { return !__hlt(a, b); }
SIMT_PURE bool __hneu(SIMT_SCALAR a, SIMT_SCALAR b) { return !__heq(a, b); }

// A NaN loses against a number, and -0 is less than +0. With _nan, a NaN wins.
SIMT_PURE SIMT_SCALAR __hmax_nan(SIMT_SCALAR a, SIMT_SCALAR b) {
  if (__hisnan(a) || __hisnan(b)) return SIMT_SCALAR_RAW{SIMT_FORMAT::kNaN};
  const bool a_is_negative = (simt::bits(a) & 0x8000) != 0;
  return __hgt(a, b) || (__heq(a, b) && !a_is_negative) ? a : b;
}
SIMT_PURE SIMT_SCALAR __hmin_nan(SIMT_SCALAR a, SIMT_SCALAR b) {
  if (__hisnan(a) || __hisnan(b)) return SIMT_SCALAR_RAW{SIMT_FORMAT::kNaN};
  const bool a_is_negative = (simt::bits(a) & 0x8000) != 0;
  return __hlt(a, b) || (__heq(a, b) && a_is_negative) ? a : b;
}
SIMT_PURE SIMT_SCALAR __hmax(SIMT_SCALAR a, SIMT_SCALAR b) {
  return __hmax_nan(__hisnan(a) ? b : a, __hisnan(b) ? a : b);
}
SIMT_PURE SIMT_SCALAR __hmin(SIMT_SCALAR a, SIMT_SCALAR b) {
  return __hmin_nan(__hisnan(a) ? b : a, __hisnan(b) ? a : b);
}

// ---- functions: computed in float, rounded once -------------------------------------------------

#define SIMT_FUNCTION(name, expression)          \
  SIMT_PURE SIMT_SCALAR h##name(SIMT_SCALAR a) { \
    const float x = float(a);                    \
    return expression;                           \
  }                                              \
  SIMT_PURE SIMT_PAIR h2##name(SIMT_PAIR a) { return {h##name(a.x), h##name(a.y)}; }
SIMT_FUNCTION(sqrt, __builtin_sqrtf(x))
SIMT_FUNCTION(rsqrt, rsqrtf(x))
SIMT_FUNCTION(rcp, 1 / x)
SIMT_FUNCTION(exp, __builtin_expf(x))
SIMT_FUNCTION(exp2, __builtin_exp2f(x))
SIMT_FUNCTION(exp10, __exp10f(x))
SIMT_FUNCTION(log, __builtin_logf(x))
SIMT_FUNCTION(log2, __builtin_log2f(x))
SIMT_FUNCTION(log10, __builtin_log10f(x))
SIMT_FUNCTION(sin, __builtin_sinf(x))
SIMT_FUNCTION(cos, __builtin_cosf(x))
SIMT_FUNCTION(tanh, __builtin_tanhf(x))
SIMT_FUNCTION(tanh_approx, __builtin_tanhf(x))
SIMT_FUNCTION(trunc, __builtin_truncf(x))
SIMT_FUNCTION(ceil, __builtin_ceilf(x))
SIMT_FUNCTION(floor, __builtin_floorf(x))
SIMT_FUNCTION(rint, __builtin_nearbyintf(x))
#undef SIMT_FUNCTION

// ---- the same for both elements of a pair -------------------------------------------------------

#define SIMT_PAIRWISE1(name, scalar) \
  SIMT_PURE SIMT_PAIR name(SIMT_PAIR a) { return {scalar(a.x), scalar(a.y)}; }
#define SIMT_PAIRWISE2(name, scalar)                   \
  SIMT_PURE SIMT_PAIR name(SIMT_PAIR a, SIMT_PAIR b) { \
    return {scalar(a.x, b.x), scalar(a.y, b.y)};       \
  }
#define SIMT_PAIRWISE3(name, scalar)                                \
  SIMT_PURE SIMT_PAIR name(SIMT_PAIR a, SIMT_PAIR b, SIMT_PAIR c) { \
    return {scalar(a.x, b.x, c.x), scalar(a.y, b.y, c.y)};          \
  }
SIMT_PAIRWISE1(__hneg2, __hneg)
SIMT_PAIRWISE1(__habs2, __habs)
SIMT_PAIRWISE2(__hadd2, __hadd)
SIMT_PAIRWISE2(__hsub2, __hsub)
SIMT_PAIRWISE2(__hmul2, __hmul)
SIMT_PAIRWISE2(__h2div, __hdiv)
SIMT_PAIRWISE2(__hadd2_rn, __hadd)
SIMT_PAIRWISE2(__hsub2_rn, __hsub)
SIMT_PAIRWISE2(__hmul2_rn, __hmul)
SIMT_PAIRWISE2(__hadd2_sat, __hadd_sat)
SIMT_PAIRWISE2(__hsub2_sat, __hsub_sat)
SIMT_PAIRWISE2(__hmul2_sat, __hmul_sat)
SIMT_PAIRWISE2(__hmax2, __hmax)
SIMT_PAIRWISE2(__hmin2, __hmin)
SIMT_PAIRWISE2(__hmax2_nan, __hmax_nan)
SIMT_PAIRWISE2(__hmin2_nan, __hmin_nan)
SIMT_PAIRWISE3(__hfma2, __hfma)
SIMT_PAIRWISE3(__hfma2_sat, __hfma_sat)
SIMT_PAIRWISE3(__hfma2_relu, __hfma_relu)
#undef SIMT_PAIRWISE3
#undef SIMT_PAIRWISE2
#undef SIMT_PAIRWISE1

/// Complex a * b + c, with x the real part.
SIMT_PURE SIMT_PAIR __hcmadd(SIMT_PAIR a, SIMT_PAIR b, SIMT_PAIR c) {
  return {__hfma(__hneg(a.y), b.y, __hfma(a.x, b.x, c.x)), __hfma(a.y, b.x, __hfma(a.x, b.y, c.y))};
}

// Per element as 1.0 or 0.0, as a mask of 16 bits, and (b) for both elements at once.
#define SIMT_COMPARE(op)                                                               \
  SIMT_PURE SIMT_PAIR __h##op##2(SIMT_PAIR a, SIMT_PAIR b) {                           \
    return {SIMT_SCALAR(int(__h##op(a.x, b.x))), SIMT_SCALAR(int(__h##op(a.y, b.y)))}; \
  }                                                                                    \
  SIMT_PURE unsigned __h##op##2_mask(SIMT_PAIR a, SIMT_PAIR b) {                       \
    return (__h##op(a.x, b.x) ? 0xFFFFu : 0) | (__h##op(a.y, b.y) ? 0xFFFF0000u : 0);  \
  }                                                                                    \
  SIMT_PURE bool __hb##op##2(SIMT_PAIR a, SIMT_PAIR b) {                               \
    return __h##op(a.x, b.x) && __h##op(a.y, b.y);                                     \
  }
SIMT_COMPARE(eq)
SIMT_COMPARE(ne)
SIMT_COMPARE(lt)
SIMT_COMPARE(le)
SIMT_COMPARE(gt)
SIMT_COMPARE(ge)
SIMT_COMPARE(equ)
SIMT_COMPARE(neu)
SIMT_COMPARE(ltu)
SIMT_COMPARE(leu)
SIMT_COMPARE(gtu)
SIMT_COMPARE(geu)
#undef SIMT_COMPARE
SIMT_PURE SIMT_PAIR __hisnan2(SIMT_PAIR a) {
  return {SIMT_SCALAR(int(__hisnan(a.x))), SIMT_SCALAR(int(__hisnan(a.y)))};
}

// ---- operators ----------------------------------------------------------------------------------

#define SIMT_OPERATOR(T, op, function)                         \
  SIMT_PURE T operator op(T a, T b) { return function(a, b); } \
  SIMT_TRANSPARENT T& operator op##=(T& a, T b) {              \
    a = function(a, b);                                        \
    return a;                                                  \
  }
#define SIMT_STEP(T, op, step, one)           \
  SIMT_TRANSPARENT T& operator op(T& a) {     \
    a = a step one;                           \
    return a;                                 \
  }                                           \
  SIMT_TRANSPARENT T operator op(T& a, int) { \
    const T old = a;                          \
    a = old step one;                         \
    return old;                               \
  }
#define SIMT_RELATION(T, op, function) \
  SIMT_PURE bool operator op(T a, T b) { return function(a, b); }

#define SIMT_ARITHMETIC(T, one, add, sub, mul, div, negative) \
  SIMT_OPERATOR(T, +, add)                                    \
  SIMT_OPERATOR(T, -, sub)                                    \
  SIMT_OPERATOR(T, *, mul)                                    \
  SIMT_OPERATOR(T, /, div)                                    \
  SIMT_PURE T operator+(T a) { return a; }                    \
  SIMT_PURE T operator-(T a) { return negative(a); }          \
  SIMT_STEP(T, ++, +, one)                                    \
  SIMT_STEP(T, --, -, one)
#define SIMT_COMPARISONS(T, eq, ne, lt, le, gt, ge) \
  SIMT_RELATION(T, ==, eq)                          \
  SIMT_RELATION(T, !=, ne)                          \
  SIMT_RELATION(T, <, lt)                           \
  SIMT_RELATION(T, <=, le)                          \
  SIMT_RELATION(T, >, gt)                           \
  SIMT_RELATION(T, >=, ge)

SIMT_ARITHMETIC(SIMT_SCALAR, SIMT_SCALAR(1), __hadd, __hsub, __hmul, __hdiv, __hneg)
SIMT_COMPARISONS(SIMT_SCALAR, __heq, __hneu, __hlt, __hle, __hgt, __hge)
SIMT_ARITHMETIC(SIMT_PAIR, SIMT_PAIR(1, 1), __hadd2, __hsub2, __hmul2, __h2div, __hneg2)
SIMT_COMPARISONS(SIMT_PAIR, __hbeq2, __hbneu2, __hblt2, __hble2, __hbgt2, __hbge2)

#undef SIMT_COMPARISONS
#undef SIMT_ARITHMETIC
#undef SIMT_RELATION
#undef SIMT_STEP
#undef SIMT_OPERATOR

// ---- memory -------------------------------------------------------------------------------------

#define SIMT_LOAD(name)                                                              \
  SIMT_TRANSPARENT SIMT_SCALAR name(const SIMT_SCALAR* address) { return *address; } \
  SIMT_TRANSPARENT SIMT_PAIR name(const SIMT_PAIR* address) { return *address; }
#define SIMT_STORE(name)                                                                    \
  SIMT_TRANSPARENT void name(SIMT_SCALAR* address, SIMT_SCALAR value) { *address = value; } \
  SIMT_TRANSPARENT void name(SIMT_PAIR* address, SIMT_PAIR value) { *address = value; }
SIMT_TRANSPARENT SIMT_SCALAR __ldg(const SIMT_SCALAR* address) {
  simt::load_read_only(address, sizeof *address);
  return *address;
}
SIMT_TRANSPARENT SIMT_PAIR __ldg(const SIMT_PAIR* address) {
  simt::load_read_only(address, sizeof *address);
  return *address;
}
SIMT_LOAD(__ldca)
SIMT_LOAD(__ldcg)
SIMT_LOAD(__ldcs)
SIMT_LOAD(__ldlu)
SIMT_LOAD(__ldcv)
SIMT_STORE(__stwb)
SIMT_STORE(__stcg)
SIMT_STORE(__stcs)
SIMT_STORE(__stwt)
#undef SIMT_STORE
#undef SIMT_LOAD

// Atomic for each element; the pair is one request, but not atomic as a whole. CUDA has these for
// the device's scope only. Subnormal numbers stay what they are, in shared and in global memory.
SIMT_API SIMT_SCALAR atomicAdd(SIMT_SCALAR* address, SIMT_SCALAR val) {
  return simt::atomic_update<simt::atomic_op::Add>(address, val,
                                                   {"atomicAdd", simt::Scope::device, SIMT_CALLER});
}
SIMT_API SIMT_PAIR atomicAdd(SIMT_PAIR* address, SIMT_PAIR val) {
  return simt::atomic_update<simt::atomic_op::Add>(address, val,
                                                   {"atomicAdd", simt::Scope::device, SIMT_CALLER});
}

#undef SIMT_PAIR_RAW
#undef SIMT_SCALAR_RAW
#undef SIMT_JOIN
#undef SIMT_JOIN_EXPANDED
#undef SIMT_OTHER_SCALAR
#undef SIMT_FORMAT
#undef SIMT_PAIR_NAME
#undef SIMT_SCALAR_NAME
#undef SIMT_PAIR
#undef SIMT_SCALAR
