// The hardware has no atomic addition to one half, but one to a pair of halves. So include the
// neighbour, and add -0.0 to it.
// Device function: fast_atomic_add.
//
//              word 0          word 1          word 2
//         +-------+-------+-------+-------+-------+-------+
//  even   |   0   |   1   |   2   |   3   |   4   |       |    base is a multiple of 4
//         +-------+-------+-------+-------+-------+-------+
//  odd    |       |   0   |   1   |   2   |   3   |   4   |    base is not
//         +-------+-------+-------+-------+-------+-------+
//                                                    length = 5
//
// An element's partner is the other one in its word of 4 bytes. Where that one is no element of the
// array (4 in the upper row, 0 in the lower one), the element is added alone.
#pragma once

#include <course/ptx.cuh>
#include <cstddef>
#include <cstdint>
#include <type_traits>

/// Types of two bytes, whose addition pays in pairs.
template <class T>
inline constexpr bool kAddsInPairs = std::is_same_v<T, __half> || std::is_same_v<T, __nv_bfloat16>;

/// A word of two elements: `low` at the lower address.
__device__ __forceinline__ __half2 pair_of(__half low, __half high) {
  return __halves2half2(low, high);
}
__device__ __forceinline__ __nv_bfloat162 pair_of(__nv_bfloat16 low, __nv_bfloat16 high) {
  return __halves2bfloat162(low, high);
}
template <class T>
using PairOf = decltype(pair_of(T(), T()));

/// What can be added to every number without changing it. Not +0.0: (-0.0) + (+0.0) is +0.0.
template <class T>
__device__ __forceinline__ T additive_identity() {
  if constexpr (std::is_same_v<T, __half>) {
    return __ushort_as_half(0x8000);
  } else if constexpr (std::is_same_v<T, __nv_bfloat16>) {
    return __ushort_as_bfloat16(0x8000);
  } else {
    return -T(0);
  }
}

/// True if the element at `target` is the first one of its word of two.
template <class T>
__device__ __forceinline__ bool is_low(const T* target) {
  return reinterpret_cast<std::uintptr_t>(target) % sizeof(PairOf<T>) == 0;
}

/// base[index] += value, atomically, for float, double, __half and __nv_bfloat16.
/// - `length` is the number of elements of the array at `base`, and index < length. It decides
///   whether there is a partner: with a length that is too large the addition leaves the array,
///   with one that is too small it is right, but slow for the last elements.
/// - No other number changes, a -0.0, an infinity and a subnormal number included. (A partner that
///   is a NaN stays one, perhaps with other bits.)
/// - `base` points to global memory, and need not be a multiple of 4.
/// One RED, except for a first or last element without a partner: scalar atomicAdd, which is a
/// compare-and-swap loop. The idea is PyTorch's fastAtomicAdd; divergence.cuh has its form.
template <class T>
__device__ __forceinline__ void fast_atomic_add(T* base, std::size_t index, std::size_t length,
                                                T value) {
  T* const target = base + index;
  if constexpr (kAddsInPairs<T>) {
    const T nothing = additive_identity<T>();
    const bool low = is_low(target);
    if (low ? index + 1 < length : index > 0) {  // not index < length - 1: see the README
      const PairOf<T> pair = pair_of(low ? value : nothing, low ? nothing : value);
      course::red_add(reinterpret_cast<PairOf<T>*>(low ? target : target - 1), pair);
    } else {
      atomicAdd(target, value);
    }
  } else {
    atomicAdd(target, value);
  }
}
