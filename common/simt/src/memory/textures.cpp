// Texture objects and arrays, by their handles.
#include "memory/textures.hpp"

#include <deque>
#include <memory>
#include <unordered_map>

namespace simt {
namespace {

std::deque<Texture>& textures() {
  static auto& list = *new std::deque<Texture>;
  return list;
}

std::unordered_map<const cudaArray*, std::unique_ptr<cudaArray>>& arrays() {
  static auto& map = *new std::unordered_map<const cudaArray*, std::unique_ptr<cudaArray>>;
  return map;
}

}  // namespace

std::optional<TexelType> texel_type_of(const cudaChannelFormatDesc& channels) {
  const std::array<int, 4> bits = {channels.x, channels.y, channels.z, channels.w};
  unsigned count = 0;
  while (count < 4 && bits[count] == bits[0]) ++count;
  for (unsigned i = count; i < 4; ++i) {
    if (bits[i] != 0) return std::nullopt;
  }
  const bool is_float = channels.f == cudaChannelFormatKindFloat;
  const bool is_integer =
      channels.f == cudaChannelFormatKindSigned || channels.f == cudaChannelFormatKindUnsigned;
  const bool fits = (is_integer && (bits[0] == 8 || bits[0] == 16 || bits[0] == 32)) ||
                    (is_float && (bits[0] == 16 || bits[0] == 32));
  if (!fits || count == 3) return std::nullopt;
  return TexelType{count, static_cast<unsigned>(bits[0]), channels.f};
}

cudaTextureObject_t add_texture(const Texture& texture) {
  textures().push_back(texture);
  return textures().size();
}

Texture* find_texture(cudaTextureObject_t object) {
  return object == 0 || object > textures().size() ? nullptr : &textures()[object - 1];
}

cudaArray* add_array(const cudaArray& array) {
  auto made = std::make_unique<cudaArray>(array);
  cudaArray* const handle = made.get();
  arrays().emplace(handle, std::move(made));
  return handle;
}

cudaArray* find_array(const cudaArray* handle) {
  const auto it = arrays().find(handle);
  return it == arrays().end() ? nullptr : it->second.get();
}

void drop_array(const cudaArray* handle) { arrays().erase(handle); }

}  // namespace simt
