// Several elements that one load or store moves as a whole. Chapter 04-coalesced-access explains
// why that pays, and how addresses must be aligned.
//
// Example (common/tests/examples_test.cu):
//
//   __global__ void copy_packs(const float* d_x, float* d_y, std::size_t packs) {
//     const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
//     if (i >= packs) return;
//     const course::Pack<float, 4> p = course::load_pack<4>(d_x + 4 * i);  // one load of 16 bytes
//     course::store_pack(d_y + 4 * i, p);                                  // one store of 16 bytes
//   }
#pragma once

#include <course/device.cuh>

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

namespace course {

/// The widest access that a lane can make on every GPU of the course.
inline constexpr std::size_t kWidestAccess = 16;

/// How many elements of T the widest access moves: 4 floats, 8 halves, 16 bytes.
template <class T>
inline constexpr int kWidestPack = static_cast<int>(kWidestAccess / sizeof(T));

/// N elements of T in registers, N * sizeof(T) = 1, 2, 4, 8 or 16 bytes. Larger packs are refused:
/// they would take several loads, each with a gap between the lanes.
template <class T, int N>
struct alignas(sizeof(T) * N) Pack {
  static_assert(N > 0 && sizeof(T) * N <= kWidestAccess, "a pack has at most 16 bytes");
  static_assert((sizeof(T) * N & (sizeof(T) * N - 1)) == 0, "a pack has 1, 2, 4, 8 or 16 bytes");
  T elem[N];
};

namespace detail {

/// The type whose load and store is one access of `bytes` bytes. A Pack itself is copied element by
/// element where the compiler likes, and always on the CPU device.
template <std::size_t bytes>
struct Word;
template <>
struct Word<1> {
  using type = unsigned char;
};
template <>
struct Word<2> {
  using type = unsigned short;
};
template <>
struct Word<4> {
  using type = unsigned;
};
template <>
struct Word<8> {
  using type = uint2;
};
template <>
struct Word<16> {
  using type = uint4;
};

template <class T, int N>
using WordOf = typename Word<sizeof(Pack<T, N>)>::type;

template <int N, class T>
__device__ __forceinline__ Pack<T, N> pack_of(WordOf<T, N> word) {
  Pack<T, N> pack;
  memcpy(static_cast<void*>(&pack), &word, sizeof pack);
  return pack;
}

template <class T, int N>
__device__ __forceinline__ WordOf<T, N> word_of(const Pack<T, N>& pack) {
  WordOf<T, N> word;
  memcpy(static_cast<void*>(&word), &pack, sizeof word);
  return word;
}

}  // namespace detail

/// p[0..N-1] with one load. p must be a multiple of N * sizeof(T).
template <int N, class T>
__device__ __forceinline__ Pack<T, N> load_pack(const T* p) {
  return detail::pack_of<N, T>(*reinterpret_cast<const detail::WordOf<T, N>*>(p));
}

/// The same for data that is not read again: the caches may evict it first.
template <int N, class T>
__device__ __forceinline__ Pack<T, N> load_pack_once(const T* p) {
  return detail::pack_of<N, T>(__ldcs(reinterpret_cast<const detail::WordOf<T, N>*>(p)));
}

/// p[0..N-1] = pack with one store. p must be a multiple of N * sizeof(T).
template <class T, int N>
__device__ __forceinline__ void store_pack(T* p, const Pack<T, N>& pack) {
  *reinterpret_cast<detail::WordOf<T, N>*>(p) = detail::word_of(pack);
}

/// The same for data that is not read soon.
template <class T, int N>
__device__ __forceinline__ void store_pack_once(T* p, const Pack<T, N>& pack) {
  __stcs(reinterpret_cast<detail::WordOf<T, N>*>(p), detail::word_of(pack));
}

/// How many elements from p on come before the first address that is a multiple of `bytes`, at most
/// n: the head that is handled alone before packs of that size can begin. `bytes` is a power of two
/// and p a multiple of sizeof(T).
template <class T>
__host__ __device__ __forceinline__ std::size_t head_before_packs(const T* p, std::size_t n,
                                                                  std::size_t bytes) {
  const std::size_t past = reinterpret_cast<std::uintptr_t>(p) & (bytes - 1);
  const std::size_t head = past == 0 ? 0 : (bytes - past) / sizeof(T);
  return head < n ? head : n;
}

}  // namespace course
