// CUDA's SIMD intrinsics: two 16-bit or four 8-bit integers in a word, each for itself. An s in a
// name takes the numbers as signed, a u as unsigned; ss and us saturate, where else results wrap.
#pragma once

#include <limits>
#include <type_traits>

#include "simt/intrinsics.hpp"

namespace simt::packed {

template <class Lane>
SIMT_PURE int clamp(int x) {
  constexpr int lowest = std::numeric_limits<Lane>::min(),
                highest = std::numeric_limits<Lane>::max();
  return x < lowest ? lowest : x > highest ? highest : x;
}

/// The operation on each pair of numbers.
template <class Lane, class Operation>
SIMT_PURE unsigned each(unsigned a, unsigned b) {
  constexpr int bits = 8 * int(sizeof(Lane));
  unsigned result = 0;
  for (int shift = 0; shift < 32; shift += bits) {
    const int value = Operation::template apply<Lane>(Lane(a >> shift), Lane(b >> shift));
    result |= (unsigned(value) & ((1u << bits) - 1)) << shift;
  }
  return result;
}

#define SIMT_OPERATION(name, expression)                 \
  struct name {                                          \
    template <class Lane>                                \
    SIMT_UNINSTRUMENTED static int apply(int a, int b) { \
      return expression;                                 \
    }                                                    \
  };
SIMT_OPERATION(Add, a + b)
SIMT_OPERATION(Subtract, a - b)
SIMT_OPERATION(Difference, a < b ? b - a : a - b)
SIMT_OPERATION(AddClamped, clamp<Lane>(a + b))
SIMT_OPERATION(SubtractClamped, clamp<Lane>(a - b))
SIMT_OPERATION(DifferenceClamped, clamp<Lane>(a < b ? b - a : a - b))
SIMT_OPERATION(AverageDown, (a + b) >> 1)
SIMT_OPERATION(AverageRounded, (a + b + (a + b >= 0)) >> 1)
SIMT_OPERATION(Minimum, b < a ? b : a)
SIMT_OPERATION(Maximum, a < b ? b : a)
SIMT_OPERATION(Equal, a == b)
SIMT_OPERATION(NotEqual, a != b)
SIMT_OPERATION(Less, a < b)
SIMT_OPERATION(LessEqual, a <= b)
SIMT_OPERATION(Greater, a > b)
SIMT_OPERATION(GreaterEqual, a >= b)
#undef SIMT_OPERATION

/// All bits of a number where the relation holds.
template <class Relation>
struct Mask {
  template <class Lane>
  SIMT_UNINSTRUMENTED static int apply(int a, int b) {
    return Relation::template apply<Lane>(a, b) != 0 ? -1 : 0;
  }
};

/// The sum of all results.
template <class Lane, class Operation>
SIMT_PURE unsigned sum(unsigned a, unsigned b) {
  unsigned total = 0;
  for (int shift = 0; shift < 32; shift += 8 * int(sizeof(Lane))) {
    total += unsigned(Operation::template apply<Lane>(Lane(a >> shift), Lane(b >> shift)));
  }
  return total;
}

}  // namespace simt::packed

// Qualified: a program may have a Mask or an Equal of its own before this header.
#define SIMT_PACKED2(name, Lane, Operation)                         \
  SIMT_PURE unsigned name(unsigned a, unsigned b) {                 \
    return simt::packed::each<Lane, simt::packed::Operation>(a, b); \
  }
#define SIMT_PACKED1(name, Lane, Operation, first, second)                   \
  SIMT_PURE unsigned name(unsigned a) {                                      \
    return simt::packed::each<Lane, simt::packed::Operation>(first, second); \
  }
#define SIMT_SIGNED(name, suffix, Operation)      \
  SIMT_PACKED2(name##suffix##2, short, Operation) \
  SIMT_PACKED2(name##suffix##4, signed char, Operation)
#define SIMT_UNSIGNED(name, suffix, Operation)             \
  SIMT_PACKED2(name##suffix##2, unsigned short, Operation) \
  SIMT_PACKED2(name##suffix##4, unsigned char, Operation)

SIMT_SIGNED(__vadd, , Add)
SIMT_SIGNED(__vadd, ss, AddClamped)
SIMT_UNSIGNED(__vadd, us, AddClamped)
SIMT_SIGNED(__vsub, , Subtract)
SIMT_SIGNED(__vsub, ss, SubtractClamped)
SIMT_UNSIGNED(__vsub, us, SubtractClamped)
SIMT_SIGNED(__vabsdiff, s, Difference)
SIMT_UNSIGNED(__vabsdiff, u, Difference)
SIMT_SIGNED(__vavg, s, AverageRounded)
SIMT_UNSIGNED(__vavg, u, AverageRounded)
SIMT_UNSIGNED(__vhadd, u, AverageDown)
SIMT_SIGNED(__vmin, s, Minimum)
SIMT_UNSIGNED(__vmin, u, Minimum)
SIMT_SIGNED(__vmax, s, Maximum)
SIMT_UNSIGNED(__vmax, u, Maximum)

#define SIMT_RELATION(suffix, sign, Operation) \
  sign(__vcmp, suffix, Mask<simt::packed::Operation>) sign(__vset, suffix, Operation)
SIMT_RELATION(eq, SIMT_UNSIGNED, Equal)
SIMT_RELATION(ne, SIMT_UNSIGNED, NotEqual)
SIMT_RELATION(lts, SIMT_SIGNED, Less)
SIMT_RELATION(ltu, SIMT_UNSIGNED, Less)
SIMT_RELATION(les, SIMT_SIGNED, LessEqual)
SIMT_RELATION(leu, SIMT_UNSIGNED, LessEqual)
SIMT_RELATION(gts, SIMT_SIGNED, Greater)
SIMT_RELATION(gtu, SIMT_UNSIGNED, Greater)
SIMT_RELATION(ges, SIMT_SIGNED, GreaterEqual)
SIMT_RELATION(geu, SIMT_UNSIGNED, GreaterEqual)
#undef SIMT_RELATION

SIMT_PACKED1(__vneg2, short, Subtract, 0, a)
SIMT_PACKED1(__vneg4, signed char, Subtract, 0, a)
SIMT_PACKED1(__vnegss2, short, SubtractClamped, 0, a)
SIMT_PACKED1(__vnegss4, signed char, SubtractClamped, 0, a)
SIMT_PACKED1(__vabs2, short, Difference, a, 0)
SIMT_PACKED1(__vabs4, signed char, Difference, a, 0)
SIMT_PACKED1(__vabsss2, short, DifferenceClamped, a, 0)
SIMT_PACKED1(__vabsss4, signed char, DifferenceClamped, a, 0)

#undef SIMT_UNSIGNED
#undef SIMT_SIGNED
#undef SIMT_PACKED1
#undef SIMT_PACKED2

/// The sum of how far the numbers of a and b are apart.
SIMT_PURE unsigned __vsads2(unsigned a, unsigned b) {
  return simt::packed::sum<short, simt::packed::Difference>(a, b);
}
SIMT_PURE unsigned __vsadu2(unsigned a, unsigned b) {
  return simt::packed::sum<unsigned short, simt::packed::Difference>(a, b);
}
SIMT_PURE unsigned __vsads4(unsigned a, unsigned b) {
  return simt::packed::sum<signed char, simt::packed::Difference>(a, b);
}
SIMT_PURE unsigned __vsadu4(unsigned a, unsigned b) {
  return simt::packed::sum<unsigned char, simt::packed::Difference>(a, b);
}

// ---- of three numbers ---------------------------------------------------------------------------
// viaddmax is max(a + b, c), vimax3 is max(a, b, c), _relu takes 0 into the maximum; min alike.

SIMT_PURE int __viaddmax_s32(int a, int b, int c) { return max(int(unsigned(a) + unsigned(b)), c); }
SIMT_PURE int __viaddmin_s32(int a, int b, int c) { return min(int(unsigned(a) + unsigned(b)), c); }
SIMT_PURE int __vimax3_s32(int a, int b, int c) { return max(max(a, b), c); }
SIMT_PURE int __vimin3_s32(int a, int b, int c) { return min(min(a, b), c); }
SIMT_PURE unsigned __viaddmax_u32(unsigned a, unsigned b, unsigned c) { return max(a + b, c); }
SIMT_PURE unsigned __viaddmin_u32(unsigned a, unsigned b, unsigned c) { return min(a + b, c); }
SIMT_PURE unsigned __vimax3_u32(unsigned a, unsigned b, unsigned c) { return max(max(a, b), c); }
SIMT_PURE unsigned __vimin3_u32(unsigned a, unsigned b, unsigned c) { return min(min(a, b), c); }

#define SIMT_THREE(format, maximum, minimum)                                   \
  SIMT_PURE unsigned __viaddmax_##format(unsigned a, unsigned b, unsigned c) { \
    return maximum(__vadd2(a, b), c);                                          \
  }                                                                            \
  SIMT_PURE unsigned __viaddmin_##format(unsigned a, unsigned b, unsigned c) { \
    return minimum(__vadd2(a, b), c);                                          \
  }                                                                            \
  SIMT_PURE unsigned __vimax3_##format(unsigned a, unsigned b, unsigned c) {   \
    return maximum(maximum(a, b), c);                                          \
  }                                                                            \
  SIMT_PURE unsigned __vimin3_##format(unsigned a, unsigned b, unsigned c) {   \
    return minimum(minimum(a, b), c);                                          \
  }
SIMT_THREE(s16x2, __vmaxs2, __vmins2)
SIMT_THREE(u16x2, __vmaxu2, __vminu2)
#undef SIMT_THREE

#define SIMT_RELU_OF_THREE(T, function, maximum) \
  SIMT_PURE T function##_relu(T a, T b, T c) { return maximum(function(a, b, c), T(0)); }
#define SIMT_RELU(T, format, maximum, minimum)                                           \
  SIMT_RELU_OF_THREE(T, __viaddmax_##format, maximum)                                    \
  SIMT_RELU_OF_THREE(T, __viaddmin_##format, maximum)                                    \
  SIMT_RELU_OF_THREE(T, __vimax3_##format, maximum)                                      \
  SIMT_RELU_OF_THREE(T, __vimin3_##format, maximum)                                      \
  SIMT_PURE T __vimax_##format##_relu(T a, T b) { return maximum(maximum(a, b), T(0)); } \
  SIMT_PURE T __vimin_##format##_relu(T a, T b) { return maximum(minimum(a, b), T(0)); }
SIMT_RELU(int, s32, max, min)
SIMT_RELU(unsigned, s16x2, __vmaxs2, __vmins2)
#undef SIMT_RELU
#undef SIMT_RELU_OF_THREE

// *pred: is a (in its half) the result?
#define SIMT_WITH_PREDICATE(T, format)                         \
  SIMT_TRANSPARENT T __vibmax_##format(T a, T b, bool* pred) { \
    *pred = a >= b;                                            \
    return max(a, b);                                          \
  }                                                            \
  SIMT_TRANSPARENT T __vibmin_##format(T a, T b, bool* pred) { \
    *pred = a <= b;                                            \
    return min(a, b);                                          \
  }
SIMT_WITH_PREDICATE(int, s32)
SIMT_WITH_PREDICATE(unsigned, u32)
#undef SIMT_WITH_PREDICATE
#define SIMT_WITH_PREDICATES(format, maximum, minimum, greater_equal, less_equal)           \
  SIMT_TRANSPARENT unsigned __vibmax_##format(unsigned a, unsigned b, bool* hi, bool* lo) { \
    *hi = greater_equal(a, b) >> 16 != 0;                                                   \
    *lo = (greater_equal(a, b) & 1) != 0;                                                   \
    return maximum(a, b);                                                                   \
  }                                                                                         \
  SIMT_TRANSPARENT unsigned __vibmin_##format(unsigned a, unsigned b, bool* hi, bool* lo) { \
    *hi = less_equal(a, b) >> 16 != 0;                                                      \
    *lo = (less_equal(a, b) & 1) != 0;                                                      \
    return minimum(a, b);                                                                   \
  }
SIMT_WITH_PREDICATES(s16x2, __vmaxs2, __vmins2, __vsetges2, __vsetles2)
SIMT_WITH_PREDICATES(u16x2, __vmaxu2, __vminu2, __vsetgeu2, __vsetleu2)
#undef SIMT_WITH_PREDICATES
