// What kernels read through texture objects: tex1Dfetch, tex1D, tex2D and tex3D. To the checker a fetch is a load on the
// kernel's own line, of memory that no thread writes in the same launch.
#pragma once

#include <type_traits>

#include "simt/api_textures.hpp"
#include "simt/platform.hpp"
#include "simt/runtime.hpp"
#include "simt/vector_types.hpp"

namespace simt {

/// Where a fetch reads.
struct TexturePlace {
  const char* function;  // "tex2D()"
  unsigned dimensions;   // 0: linear memory
  double at[3];          // the coordinates; an int is one, too
};
/// The element that a fetch reads.
struct Texel {
  const void* address;  // null: it is all zeros
  TexelType type;
  bool is_normalised;  // its channels are read as numbers of [0, 1] or [-1, 1]
};
/// Announces the load of it. Does not return if a function with this result does not read such a texture.
Texel texel_of(cudaTextureObject_t texture, const TexelType& result, const TexturePlace& place,
               const void* caller);

SIMT_API Texel find_texel(cudaTextureObject_t texture, const TexelType& result,
                          const TexturePlace& place) {
  return texel_of(texture, result, place, SIMT_CALLER);
}

/// The channels of a texel as numbers of [0, 1], or of [-1, 1] if they are signed.
SIMT_PURE void normalise(unsigned long long bits, const TexelType& type, float* channels) {
  const bool is_signed = type.kind == cudaChannelFormatKindSigned;
  const float largest = float((1u << (type.bits - is_signed)) - 1);
  for (unsigned i = 0; i < type.channels; ++i, bits >>= type.bits) {
    const unsigned value = unsigned(bits) & ((1u << type.bits) - 1);
    const int number = is_signed ? int(value << (32 - type.bits)) >> (32 - type.bits) : int(value);
    channels[i] = number < -largest ? -1 : float(number) / largest;
  }
}

template <class T>
SIMT_TRANSPARENT T load_texel(const Texel& texel) {
  if (texel.address == nullptr) return T{};
  if constexpr (kTexelType<T>.kind == cudaChannelFormatKindFloat) {
    if (texel.is_normalised) {
      unsigned long long bits = 0;
      switch (texel.type.size()) {
        case 1:
          bits = *static_cast<const unsigned char*>(texel.address);
          break;
        case 2:
          bits = *static_cast<const unsigned short*>(texel.address);
          break;
        case 4:
          bits = *static_cast<const unsigned*>(texel.address);
          break;
        default:
          bits = *static_cast<const unsigned long long*>(texel.address);
      }
      T result;
      normalise(bits, texel.type, reinterpret_cast<float*>(&result));
      return result;
    }
  }
  return *static_cast<const T*>(texel.address);
}

}  // namespace simt

// The second form of each stores the result.
#define SIMT_FETCH(name, dimensions, parameters, ...)                                             \
  template <class T>                                                                              \
  SIMT_TRANSPARENT T name(cudaTextureObject_t texture, SIMT_IN_PARENTHESES parameters) {          \
    static_assert(simt::kTexelType<T>.channels > 0,                                               \
                  "not supported on the CPU device: a texture of elements of this type");         \
    return simt::load_texel<T>(                                                                   \
        simt::find_texel(texture, simt::kTexelType<T>, {#name "()", dimensions, {__VA_ARGS__}})); \
  }
#define SIMT_IN_PARENTHESES(...) __VA_ARGS__
SIMT_FETCH(tex1Dfetch, 0, (int i), double(i))
SIMT_FETCH(tex1D, 1, (float x), x)
SIMT_FETCH(tex2D, 2, (float x, float y), x, y)
SIMT_FETCH(tex3D, 3, (float x, float y, float z), x, y, z)
#undef SIMT_IN_PARENTHESES
#undef SIMT_FETCH
template <class T>
SIMT_TRANSPARENT void tex1Dfetch(T* result, cudaTextureObject_t texture, int i) {
  *result = tex1Dfetch<T>(texture, i);
}
template <class T>
SIMT_TRANSPARENT void tex1D(T* result, cudaTextureObject_t texture, float x) {
  *result = tex1D<T>(texture, x);
}
template <class T>
SIMT_TRANSPARENT void tex2D(T* result, cudaTextureObject_t texture, float x, float y) {
  *result = tex2D<T>(texture, x, y);
}
template <class T>
SIMT_TRANSPARENT void tex3D(T* result, cudaTextureObject_t texture, float x, float y, float z) {
  *result = tex3D<T>(texture, x, y, z);
}
