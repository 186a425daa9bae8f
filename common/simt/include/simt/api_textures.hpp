// The CUDA runtime API: texture objects and the arrays that they may be over.
#pragma once

#include <cstddef>

#include "simt/api_types.hpp"
#include "simt/platform.hpp"
#include "simt/vector_types.hpp"

// ---- channels -------------------------------------------------------------------------------------

enum cudaChannelFormatKind {
  cudaChannelFormatKindSigned = 0,
  cudaChannelFormatKindUnsigned = 1,
  cudaChannelFormatKindFloat = 2,
  cudaChannelFormatKindNone = 3
};
/// The bits of each channel; 0 for a channel that there is not.
struct cudaChannelFormatDesc {
  int x, y, z, w;
  cudaChannelFormatKind f;
};
inline cudaChannelFormatDesc cudaCreateChannelDesc(int x, int y, int z, int w,
                                                   cudaChannelFormatKind f) {
  return {x, y, z, w, f};
}

namespace simt {

/// What an element of a texture is: 1, 2 or 4 channels of so many bits.
struct TexelType {
  unsigned channels, bits;
  cudaChannelFormatKind kind;

  std::size_t size() const { return channels * bits / 8; }
};
/// Of a type of C++ that can be such an element.
template <class T>
inline constexpr TexelType kTexelType = {};
#define SIMT_TEXEL(T, channels, bits, kind) \
  template <>                               \
  inline constexpr TexelType kTexelType<T> = {channels, bits, cudaChannelFormatKind##kind};
#define SIMT_TEXELS(T, vector, bits, kind) \
  SIMT_TEXEL(T, 1, bits, kind)             \
  SIMT_TEXEL(vector##1, 1, bits, kind)     \
  SIMT_TEXEL(vector##2, 2, bits, kind)     \
  SIMT_TEXEL(vector##4, 4, bits, kind)
SIMT_TEXEL(char, 1, 8, Signed)
SIMT_TEXELS(signed char, char, 8, Signed)
SIMT_TEXELS(unsigned char, uchar, 8, Unsigned)
SIMT_TEXELS(short, short, 16, Signed)
SIMT_TEXELS(unsigned short, ushort, 16, Unsigned)
SIMT_TEXELS(int, int, 32, Signed)
SIMT_TEXELS(unsigned, uint, 32, Unsigned)
SIMT_TEXELS(float, float, 32, Float)
#undef SIMT_TEXELS
#undef SIMT_TEXEL

}  // namespace simt

template <class T>
cudaChannelFormatDesc cudaCreateChannelDesc() {
  constexpr simt::TexelType type = simt::kTexelType<T>;
  static_assert(type.channels > 0,
                "not supported on the CPU device: a texture of elements of this type");
  constexpr int bits = type.bits;
  return {bits, type.channels > 1 ? bits : 0, type.channels > 2 ? bits : 0,
          type.channels > 3 ? bits : 0, type.kind};
}

// ---- arrays ---------------------------------------------------------------------------------------

constexpr unsigned cudaArrayDefault = 0;
using cudaArray_const_t = const cudaArray*;

/// One row if `height` is 0.
cudaError_t cudaMallocArray(cudaArray_t* array, const cudaChannelFormatDesc* channels,
                            std::size_t width, std::size_t height = 0,
                            unsigned flags = cudaArrayDefault);
/// The extent counts elements.
cudaError_t cudaMalloc3DArray(cudaArray_t* array, const cudaChannelFormatDesc* channels,
                              cudaExtent extent, unsigned flags = cudaArrayDefault);
cudaError_t cudaFreeArray(cudaArray_t array);
cudaError_t cudaGetChannelDesc(cudaChannelFormatDesc* channels, cudaArray_const_t array);
cudaError_t cudaArrayGetInfo(cudaChannelFormatDesc* channels, cudaExtent* extent, unsigned* flags,
                             cudaArray_t array);

// Offsets in a row and widths are bytes.
cudaError_t cudaMemcpy2DToArray(cudaArray_t to, std::size_t x, std::size_t y, const void* from,
                                std::size_t from_pitch, std::size_t width, std::size_t height,
                                cudaMemcpyKind kind);
cudaError_t cudaMemcpy2DToArrayAsync(cudaArray_t to, std::size_t x, std::size_t y, const void* from,
                                     std::size_t from_pitch, std::size_t width, std::size_t height,
                                     cudaMemcpyKind kind, cudaStream_t stream = nullptr);
cudaError_t cudaMemcpy2DFromArray(void* to, std::size_t to_pitch, cudaArray_const_t from,
                                  std::size_t x, std::size_t y, std::size_t width,
                                  std::size_t height, cudaMemcpyKind kind);
cudaError_t cudaMemcpy2DFromArrayAsync(void* to, std::size_t to_pitch, cudaArray_const_t from,
                                       std::size_t x, std::size_t y, std::size_t width,
                                       std::size_t height, cudaMemcpyKind kind,
                                       cudaStream_t stream = nullptr);
/// Row after row, from a place in the array on.
cudaError_t cudaMemcpyToArray(cudaArray_t to, std::size_t x, std::size_t y, const void* from,
                              std::size_t count, cudaMemcpyKind kind);
cudaError_t cudaMemcpyFromArray(void* to, cudaArray_const_t from, std::size_t x, std::size_t y,
                                std::size_t count, cudaMemcpyKind kind);

// ---- texture objects ------------------------------------------------------------------------------

using cudaTextureObject_t = unsigned long long;

enum cudaResourceType {
  cudaResourceTypeArray = 0,
  cudaResourceTypeMipmappedArray = 1,
  cudaResourceTypeLinear = 2,
  cudaResourceTypePitch2D = 3
};
struct cudaResourceDesc {
  cudaResourceType resType;
  union {
    struct {
      cudaArray_t array;
    } array;
    struct {
      void* devPtr;
      cudaChannelFormatDesc desc;
      std::size_t sizeInBytes;
    } linear;
    struct {
      void* devPtr;
      cudaChannelFormatDesc desc;
      std::size_t width, height, pitchInBytes;
    } pitch2D;
    struct {
      int reserved[32];
    } reserved;
  } res;
  unsigned flags;
};

enum cudaTextureAddressMode {
  cudaAddressModeWrap = 0,
  cudaAddressModeClamp = 1,
  cudaAddressModeMirror = 2,
  cudaAddressModeBorder = 3
};
enum cudaTextureFilterMode { cudaFilterModePoint = 0, cudaFilterModeLinear = 1 };
enum cudaTextureReadMode { cudaReadModeElementType = 0, cudaReadModeNormalizedFloat = 1 };
struct cudaTextureDesc {
  cudaTextureAddressMode addressMode[3];
  cudaTextureFilterMode filterMode;
  cudaTextureReadMode readMode;
  int sRGB;
  float borderColor[4];
  int normalizedCoords;
  unsigned maxAnisotropy;
  cudaTextureFilterMode mipmapFilterMode;
  float mipmapLevelBias, minMipmapLevelClamp, maxMipmapLevelClamp;
  int disableTrilinearOptimization;
  int seamlessCubemap;
};

/// The last parameter must be null: there are no views of a resource.
cudaError_t cudaCreateTextureObject(cudaTextureObject_t* texture, const cudaResourceDesc* resource,
                                    const cudaTextureDesc* description, const void* view);
/// Kernels that have been launched may still use the texture.
cudaError_t cudaDestroyTextureObject(cudaTextureObject_t texture);
cudaError_t cudaGetTextureObjectResourceDesc(cudaResourceDesc* resource,
                                             cudaTextureObject_t texture);
cudaError_t cudaGetTextureObjectTextureDesc(cudaTextureDesc* description,
                                            cudaTextureObject_t texture);
