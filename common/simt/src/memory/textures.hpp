// Texture objects and arrays, by their handles.
#pragma once

#include <array>
#include <cstddef>
#include <optional>

#include "simt/api_textures.hpp"

/// An array of CUDA: rows of elements in device memory, of which the program does not know how they lie.
struct cudaArray {
  void* memory = nullptr;
  std::size_t pitch = 0;  // bytes from row to row
  simt::TexelType texel = {};
  cudaChannelFormatDesc channels = {};
  cudaExtent extent = {};  // as the program asked for it: 0 is a dimension that there is not
  unsigned flags = 0;

  std::size_t rows() const { return extent.height == 0 ? 1 : extent.height; }
  std::size_t slices() const { return extent.depth == 0 ? 1 : extent.depth; }
  std::size_t row_bytes() const { return extent.width * texel.size(); }
};

namespace simt {

struct Texture {
  cudaResourceDesc resource = {};
  cudaTextureDesc description = {};
  // The resource, whatever its type is.
  unsigned dimensions = 0;  // 0: linear memory, which tex1Dfetch() reads
  const unsigned char* memory = nullptr;
  TexelType texel = {};
  std::array<std::size_t, 3> size = {};  // elements in each dimension
  std::size_t pitch = 0, slice = 0;      // bytes
  bool is_destroyed = false;
};

/// The element type that these channels are; nothing if there is none of this kind.
std::optional<TexelType> texel_type_of(const cudaChannelFormatDesc& channels);

cudaTextureObject_t add_texture(const Texture& texture);
/// Null if there has never been such an object. Those that are destroyed are kept: kernels that were launched before may run
/// later.
Texture* find_texture(cudaTextureObject_t object);

cudaArray* add_array(const cudaArray& array);
/// Null if it is none.
cudaArray* find_array(const cudaArray* handle);
void drop_array(const cudaArray* handle);

}  // namespace simt
