// Fetches of textures: from coordinates to the element in memory, as CUDA's programming guide has it in "Texture Fetching".
#include "memory/textures.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "simt/runtime.hpp"
#include "simt/textures.hpp"

namespace simt {
namespace {

constexpr std::size_t kOutside = SIZE_MAX;

/// The element that a coordinate means, of `n`; kOutside for one that is to be read as zeros.
std::size_t index_of(float x, std::size_t n, cudaTextureAddressMode mode, bool is_normalised) {
  if (is_normalised) {
    const float whole = std::floor(x);
    if (mode == cudaAddressModeWrap) x -= whole;
    if (mode == cudaAddressModeMirror) {
      x = std::fmod(whole, 2.0F) == 0 ? x - whole : 1 - (x - whole);
    }
    x *= static_cast<float>(n);
  }
  const float i = std::floor(x);
  if (mode == cudaAddressModeBorder && !(i >= 0 && i < static_cast<float>(n))) return kOutside;
  if (!(i > 0)) return 0;
  return std::min(i < 0x1p62F ? static_cast<std::size_t>(i) : kOutside, n - 1);
}

std::string text_of(const TexelType& type) {
  const bool is_float = type.kind == cudaChannelFormatKindFloat;
  const char* const kind = is_float                                     ? "floating point"
                           : type.kind == cudaChannelFormatKindUnsigned ? "unsigned"
                                                                        : "signed";
  return fmt::format("{} channel{} of {} bits, {}", type.channels, type.channels == 1 ? "" : "s",
                     type.bits, kind);
}

/// Of 32 bits all kinds are the same: a load changes nothing.
bool is_same(const TexelType& a, const TexelType& b) {
  return a.channels == b.channels && a.bits == b.bits && (a.bits == 32 || a.kind == b.kind);
}

[[noreturn]] void stop(const std::string& text, const void* caller) {
  trap(text.c_str(), cudaErrorLaunchFailure, caller);
}

}  // namespace

Texel texel_of(unsigned long long object, const TexelType& result, const TexturePlace& place,
               const void* caller) {
  const Texture* const t = find_texture(object);
  if (t == nullptr) {
    stop(fmt::format("{} of {}, which is no texture object", place.function, object), caller);
  }
  if (t->dimensions != place.dimensions) {
    const char* const reads[] = {"tex1Dfetch()", "tex1D()", "tex2D()", "tex3D()"};
    stop(fmt::format("{} of a texture that {} reads", place.function, reads[t->dimensions]),
         caller);
  }
  const bool is_normalised = t->description.readMode == cudaReadModeNormalizedFloat;
  const TexelType read =
      is_normalised ? TexelType{t->texel.channels, 32, cudaChannelFormatKindFloat} : t->texel;
  if (!is_same(read, result)) {
    stop(fmt::format("{} returns {}, and the texture gives {}", place.function, text_of(result),
                     text_of(read)),
         caller);
  }
  const Texel outside{nullptr, t->texel, is_normalised};
  std::array<std::size_t, 3> index = {};
  if (t->dimensions == 0) {
    const double i = place.at[0];
    if (i < 0 || i >= static_cast<double>(t->size[0])) return outside;
    index[0] = static_cast<std::size_t>(i);
  }
  for (unsigned d = 0; d < t->dimensions; ++d) {
    index[d] = index_of(static_cast<float>(place.at[d]), t->size[d], t->description.addressMode[d],
                        t->description.normalizedCoords != 0);
    if (index[d] == kOutside) return outside;
  }
  const std::size_t size = t->texel.size();
  const void* const address =
      t->memory + index[2] * t->slice + index[1] * t->pitch + index[0] * size;
  read_only_load(address, size, caller, ReadPath::texture);
  return {address, t->texel, is_normalised};
}

}  // namespace simt
