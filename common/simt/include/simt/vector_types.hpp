// CUDA's vector types (float4, uint2, ...), dim3, and the built-in variables of a kernel.
//
// On a GPU `float4 v = p[i];` is one load of 16 bytes. The compiler's instrumentation must see the
// same: each type is copied in chunks of its alignment, at most 16 bytes, so a float4 is one
// access, a float3 three of 4 bytes and a double4 two of 16. An address that is no multiple of the
// chunk is a misaligned access, as it is on a GPU.
#pragma once

#include <cstddef>
#include <type_traits>

#include "simt/platform.hpp"

// A function of values: nothing that it does is an access of the kernel.
#define SIMT_PURE SIMT_UNINSTRUMENTED inline

namespace simt {

/// An integer of `size` bytes that may alias any object: the unit in which objects are copied.
template <std::size_t size>
struct Chunk;
template <>
struct Chunk<1> {
  using type = unsigned char;
};
template <>
struct Chunk<2> {
  typedef unsigned short type __attribute__((may_alias, aligned(2)));
};
template <>
struct Chunk<4> {
  typedef unsigned int type __attribute__((may_alias, aligned(4)));
};
template <>
struct Chunk<8> {
  typedef unsigned long type __attribute__((may_alias, aligned(8)));
};
template <>
struct Chunk<16> {
  typedef unsigned int type __attribute__((vector_size(16), may_alias, aligned(16)));
};

/// Copies one vector, at most three chunks.
template <class V>
SIMT_TRANSPARENT void copy_vector(V* to, const V* from) {
  constexpr std::size_t size = alignof(V) < 16 ? alignof(V) : 16;
  constexpr std::size_t count = sizeof(V) / size;
  static_assert(count <= 3 && sizeof(V) == count * size);
  using Word = typename Chunk<size>::type;
  Word* w = reinterpret_cast<Word*>(to);
  const Word* r = reinterpret_cast<const Word*>(from);
  w[0] = r[0];
  if constexpr (count > 1) w[1] = r[1];
  if constexpr (count > 2) w[2] = r[2];
}

/// T is V, or a reference to one.
template <class T, class V>
concept Is = std::is_same_v<std::remove_cvref_t<T>, V>;

/// The only initialiser of a vector, as in `float4 v = {0};`. The wrapper keeps `float4 v = 0;` an
/// error, as it is in CUDA.
template <class T>
struct OnlyFirst {
  T value;
  constexpr OnlyFirst(T v) : value(v) {}
};

}  // namespace simt

// What all vector types have. Without a copy of their own they would be aggregates, as CUDA's are;
// the constructors keep `V v;`, `V v = {1, 2}` and `V{}` working.
//
// They are trivially copyable, as CUDA's are: the copies are templates, which do not count as copy
// constructor and assignment. Those two are there, but nothing can call them: one takes volatile
// objects, and the other assigns to a temporary.
#define SIMT_VECTOR_BASICS(V)                               \
  V() = default;                                            \
  V(const volatile V&) = delete;                            \
  V& operator=(const V&)&& = default;                       \
  template <simt::Is<V> Other>                              \
  SIMT_TRANSPARENT V(Other&& other) {                       \
    simt::copy_vector(this, static_cast<const V*>(&other)); \
  }                                                         \
  template <simt::Is<V> Other = V>                          \
  SIMT_TRANSPARENT V& operator=(Other&& other)& {           \
    simt::copy_vector(this, static_cast<const V*>(&other)); \
    return *this;                                           \
  }

#define SIMT_VECTOR1(V, T)                                             \
  struct V {                                                           \
    T x;                                                               \
    SIMT_VECTOR_BASICS(V)                                              \
    SIMT_TRANSPARENT constexpr V(simt::OnlyFirst<T> a) : x(a.value) {} \
  };                                                                   \
  SIMT_TRANSPARENT constexpr V make_##V(T x) { return {x}; }

#define SIMT_VECTOR2(V, T, alignment)                                        \
  struct alignas(alignment) V {                                              \
    T x, y;                                                                  \
    SIMT_VECTOR_BASICS(V)                                                    \
    SIMT_TRANSPARENT constexpr V(simt::OnlyFirst<T> a) : x(a.value), y(0) {} \
    SIMT_TRANSPARENT constexpr V(T a, T b) : x(a), y(b) {}                   \
  };                                                                         \
  SIMT_TRANSPARENT constexpr V make_##V(T x, T y) { return {x, y}; }

#define SIMT_VECTOR3(V, T)                                                         \
  struct V {                                                                       \
    T x, y, z;                                                                     \
    SIMT_VECTOR_BASICS(V)                                                          \
    SIMT_TRANSPARENT constexpr V(simt::OnlyFirst<T> a) : x(a.value), y(0), z(0) {} \
    SIMT_TRANSPARENT constexpr V(T a, T b, T c = 0) : x(a), y(b), z(c) {}          \
  };                                                                               \
  SIMT_TRANSPARENT constexpr V make_##V(T x, T y, T z) { return {x, y, z}; }

#define SIMT_VECTOR4(V, T, alignment)                                                    \
  struct alignas(alignment) V {                                                          \
    T x, y, z, w;                                                                        \
    SIMT_VECTOR_BASICS(V)                                                                \
    SIMT_TRANSPARENT constexpr V(simt::OnlyFirst<T> a) : x(a.value), y(0), z(0), w(0) {} \
    SIMT_TRANSPARENT constexpr V(T a, T b, T c = 0, T d = 0) : x(a), y(b), z(c), w(d) {} \
  };                                                                                     \
  SIMT_TRANSPARENT constexpr V make_##V(T x, T y, T z, T w) { return {x, y, z, w}; }

// name, element, alignment of two and of four elements
#define SIMT_VECTORS(name, T, alignment2, alignment4) \
  SIMT_VECTOR1(name##1, T)                            \
  SIMT_VECTOR2(name##2, T, alignment2)                \
  SIMT_VECTOR3(name##3, T)                            \
  SIMT_VECTOR4(name##4, T, alignment4)

SIMT_VECTORS(char, signed char, 2, 4)
SIMT_VECTORS(uchar, unsigned char, 2, 4)
SIMT_VECTORS(short, short, 4, 8)
SIMT_VECTORS(ushort, unsigned short, 4, 8)
SIMT_VECTORS(int, int, 8, 16)
SIMT_VECTORS(uint, unsigned int, 8, 16)
SIMT_VECTORS(long, long, 16, 16)
SIMT_VECTORS(ulong, unsigned long, 16, 16)
SIMT_VECTORS(longlong, long long, 16, 16)
SIMT_VECTORS(ulonglong, unsigned long long, 16, 16)
SIMT_VECTORS(float, float, 8, 16)
SIMT_VECTORS(double, double, 16, 16)

// CUDA 13 names the alignment of a vector of 32 bytes.
SIMT_VECTOR4(long4_16a, long, 16)
SIMT_VECTOR4(long4_32a, long, 32)
SIMT_VECTOR4(ulong4_16a, unsigned long, 16)
SIMT_VECTOR4(ulong4_32a, unsigned long, 32)
SIMT_VECTOR4(longlong4_16a, long long, 16)
SIMT_VECTOR4(longlong4_32a, long long, 32)
SIMT_VECTOR4(ulonglong4_16a, unsigned long long, 16)
SIMT_VECTOR4(ulonglong4_32a, unsigned long long, 32)
SIMT_VECTOR4(double4_16a, double, 16)
SIMT_VECTOR4(double4_32a, double, 32)

// A union over them: the rewriter adds its copies. They are those of its bytes, in pieces of its
// alignment.
#define SIMT_UNION_COPY(U)                                                             \
  SIMT_TRANSPARENT U(const U& other) { __builtin_memcpy(this, &other, sizeof other); } \
  SIMT_TRANSPARENT U& operator=(const U& other) {                                      \
    __builtin_memcpy(this, &other, sizeof other);                                      \
    return *this;                                                                      \
  }
// The same for one without constructors. It takes what an aggregate does: a value of its first
// member, or what that is made of, in one more pair of braces or without.
#define SIMT_UNION(U, first)                                                                   \
  U() = default;                                                                               \
  template <class... SimtValues>                                                               \
  requires(sizeof...(SimtValues) > 0 && !(simt::Is<SimtValues, U> || ...)) SIMT_TRANSPARENT U( \
      SimtValues&&... values)                                                                  \
      : first(static_cast<SimtValues&&>(values)...) {}                                         \
  template <class SimtValue = decltype(first)>                                                 \
  requires(!std::is_array_v<SimtValue>) SIMT_TRANSPARENT U(const SimtValue& value)             \
      : first(value) {}                                                                        \
  template <std::size_t simt_count>                                                            \
  requires(std::is_array_v<decltype(first)>) SIMT_TRANSPARENT U(                               \
      const std::remove_extent_t<decltype(first)>(&values)[simt_count])                        \
      : first() {                                                                              \
    __builtin_memcpy(this, values, sizeof values);                                             \
  }                                                                                            \
  SIMT_UNION_COPY(U)

#undef SIMT_VECTORS
#undef SIMT_VECTOR4
#undef SIMT_VECTOR3
#undef SIMT_VECTOR2
#undef SIMT_VECTOR1
#undef SIMT_VECTOR_BASICS

/// Size of a grid or a block; what is left out is 1.
struct dim3 {
  unsigned x, y, z;
  constexpr dim3(unsigned x_ = 1, unsigned y_ = 1, unsigned z_ = 1) : x(x_), y(y_), z(z_) {}
  constexpr dim3(const uint3& v) : x(v.x), y(v.y), z(v.z) {}
  constexpr operator uint3() const { return {x, y, z}; }
};

// The scheduler sets these whenever it switches threads; a thread sees them constant all its life.
extern const uint3 threadIdx, blockIdx;
extern const dim3 blockDim, gridDim;
constexpr int warpSize = 32;
