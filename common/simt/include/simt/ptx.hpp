// What inline PTX becomes that has no function in CUDA C++: see common/build/rewriter/ptx.py.
#pragma once

#include <chrono>
#include <limits>
#include <type_traits>

#include "simt/intrinsics.hpp"
#include "simt/runtime.hpp"

namespace simt::ptx {

template <class T>
using Value = std::remove_cv_t<std::remove_reference_t<T>>;
template <std::size_t size>
using Bits = std::conditional_t<
    size == 1, unsigned char,
    std::conditional_t<size == 2, unsigned short,
                       std::conditional_t<size == 4, unsigned, unsigned long long>>>;

/// What a register of type T holds after it was given x: the same bits; of a wider integer the low
/// ones.
template <class T, class U>
SIMT_PURE T to(U x) {
  if constexpr (std::is_same_v<T, bool> || std::is_same_v<U, bool>) {
    return static_cast<T>(x);
  } else if constexpr (sizeof(T) == sizeof(U)) {
    return __builtin_bit_cast(T, x);
  } else if constexpr (std::is_integral_v<T> && (std::is_integral_v<U> || std::is_enum_v<U>)) {
    return static_cast<T>(x);
  } else {
    return __builtin_bit_cast(T,
                              static_cast<Bits<sizeof(T)>>(__builtin_bit_cast(Bits<sizeof(U)>, x)));
  }
}

/// The same for an operand of the asm(), whose size has to be that of its constraint.
template <class T, class U>
SIMT_PURE T operand(U x) {
  static_assert(
      sizeof(T) == sizeof(U),
      "an operand's size must be that of its constraint: h 16 bits, r and f 32, l and d 64");
  return to<T>(x);
}

/// The k-th of n parts of equal size, the lowest first; and n numbers as one.
template <int k, int n, class T>
SIMT_PURE Bits<sizeof(T) / n> part(T x) {
  return static_cast<Bits<sizeof(T) / n>>(__builtin_bit_cast(Bits<sizeof(T)>, x) >>
                                          (8 * sizeof(T) / n * k));
}
template <class T>
SIMT_PURE Bits<2 * sizeof(T)> join(T low, T high) {
  using Half = Bits<sizeof(T)>;
  using Both = Bits<2 * sizeof(T)>;
  return static_cast<Both>(__builtin_bit_cast(Half, low) |
                           static_cast<Both>(__builtin_bit_cast(Half, high)) << (8 * sizeof(T)));
}

SIMT_PURE bool invert(bool x) { return !x; }
template <class T>
SIMT_PURE T invert(T x) {
  return static_cast<T>(~x);
}
template <class T>
SIMT_PURE T fma(T a, T b, T c) {
  if constexpr (sizeof(T) == 4) {
    return __builtin_fmaf(a, b, c);
  } else {
    return __builtin_fma(a, b, c);
  }
}
template <class T>
SIMT_PURE T root(T x) {
  if constexpr (sizeof(T) == 4) {
    return __builtin_sqrtf(x);
  } else {
    return __builtin_sqrt(x);
  }
}
template <class T>
SIMT_PURE T multiply_high(T a, T b) {
  using Wide = std::conditional_t<std::is_signed_v<T>, __int128, unsigned __int128>;
  return static_cast<T>(static_cast<Wide>(a) * b >> (8 * sizeof(T)));
}
template <class T>
SIMT_PURE unsigned ones(T x) {
  return static_cast<unsigned>(__builtin_popcountll(x));
}
template <class T>
SIMT_PURE unsigned leading_zeros(T x) {
  return sizeof(T) == 4 ? unsigned(__clz(int(x))) : unsigned(__clzll((long long)x));
}
template <class T>
SIMT_PURE T reversed(T x) {
  return sizeof(T) == 4 ? T(__brev(unsigned(x))) : T(__brevll(x));
}
/// Shifts by more than the type has bits leave 0, or the sign.
template <class T>
SIMT_PURE T shift_left(T x, unsigned by) {
  return by < 8 * sizeof(T) ? static_cast<T>(std::make_unsigned_t<T>(x) << by) : T(0);
}
template <class T>
SIMT_PURE T shift_right(T x, unsigned by) {
  return static_cast<T>(x >> (by < 8 * sizeof(T) - 1 ? by : 8 * sizeof(T) - 1) >>
                        (by >= 8 * sizeof(T) ? 1 : 0));
}
/// bfe: `length` bits from `first` on; those past the end of a signed number have its sign.
template <class T>
SIMT_PURE T extract(T x, unsigned first, unsigned length) {
  constexpr unsigned kBits = 8 * sizeof(T);
  using U = std::make_unsigned_t<T>;
  first &= 255;
  length &= 255;
  if (length == 0) return 0;
  const bool negative =
      std::is_signed_v<T> &&
      (U(x) >> (first + length - 1 < kBits ? first + length - 1 : kBits - 1) & 1) != 0;
  U field = first < kBits ? U(x) >> first : 0;
  const unsigned valid = first < kBits ? (length < kBits - first ? length : kBits - first) : 0;
  if (valid < kBits) {
    const U mask = (U(1) << valid) - 1;
    field = negative ? field | ~mask : field & mask;
  }
  return T(field);
}
/// bfi: `into` with `length` bits of x from `first` on.
template <class T>
SIMT_PURE T insert(T x, T into, unsigned first, unsigned length) {
  constexpr unsigned kBits = 8 * sizeof(T);
  first &= 255;
  length &= 255;
  if (first >= kBits || length == 0) return into;
  const T ones = length >= kBits ? ~T(0) : (T(1) << length) - 1;
  return (into & ~(ones << first)) | (x & ones) << first;
}
/// lop3: bit by bit, a table of eight results.
SIMT_PURE unsigned logic(unsigned a, unsigned b, unsigned c, unsigned table) {
  unsigned found = 0;
  if ((table & 1) != 0) found |= ~a & ~b & ~c;
  if ((table & 2) != 0) found |= ~a & ~b & c;
  if ((table & 4) != 0) found |= ~a & b & ~c;
  if ((table & 8) != 0) found |= ~a & b & c;
  if ((table & 16) != 0) found |= a & ~b & ~c;
  if ((table & 32) != 0) found |= a & ~b & c;
  if ((table & 64) != 0) found |= a & b & ~c;
  if ((table & 128) != 0) found |= a & b & c;
  return found;
}
/// cvt.rzi: what the type does not hold becomes its nearest number, NaN becomes 0.
template <class T, class F>
SIMT_PURE T to_integer(F x) {
  constexpr T kLowest = std::numeric_limits<T>::lowest(), kHighest = std::numeric_limits<T>::max();
  if (x != x) return 0;
  if (x <= static_cast<F>(kLowest)) return kLowest;
  if (x >= static_cast<F>(kHighest)) return kHighest;
  return static_cast<T>(x);
}

SIMT_PURE unsigned block_size() { return blockDim.x * blockDim.y * blockDim.z; }
SIMT_PURE unsigned thread_rank() {
  return threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
}
/// %smid: blocks go round the four SMs.
SIMT_PURE unsigned sm_count() { return 4; }
SIMT_PURE unsigned sm() {
  return (blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z)) % sm_count();
}
SIMT_PURE unsigned long long nanoseconds() {
  return static_cast<unsigned long long>(
      std::chrono::steady_clock::now().time_since_epoch().count());
}

}  // namespace simt::ptx
