// The runtime API: texture objects.
#include <algorithm>

#include "api/errors.hpp"
#include "memory/allocations.hpp"
#include "memory/textures.hpp"
#include "report/reports.hpp"
#include "simt/api.hpp"

namespace simt {
namespace {

// What cudaDeviceProp says of an H200.
constexpr std::size_t kAlignment = 512, kPitchAlignment = 32;

bool is_aligned(const void* p) { return reinterpret_cast<std::uintptr_t>(p) % kAlignment == 0; }

bool is_memory(const void* p, std::size_t size) {
  Space space;
  return size > 0 && is_device_address(p) && find_space(p, size, &space) && space != Space::shared;
}

/// Takes over what the texture is over; false if it can be none.
bool take_resource(Texture& t) {
  const auto& res = t.resource.res;
  if (t.resource.resType == cudaResourceTypeArray) {
    const cudaArray* const a = find_array(res.array.array);
    if (a == nullptr) return false;
    t.dimensions = a->extent.depth > 0 ? 3 : a->extent.height > 0 ? 2 : 1;
    t.memory = static_cast<const unsigned char*>(a->memory);
    t.texel = a->texel;
    t.size = {a->extent.width, a->rows(), a->slices()};
    t.pitch = a->pitch;
    t.slice = a->pitch * a->rows();
    return true;
  }
  const bool is_linear = t.resource.resType == cudaResourceTypeLinear;
  const auto texel = texel_type_of(is_linear ? res.linear.desc : res.pitch2D.desc);
  if (!texel) return false;
  t.texel = *texel;
  if (is_linear) {
    t.memory = static_cast<const unsigned char*>(res.linear.devPtr);
    t.size = {res.linear.sizeInBytes / texel->size(), 1, 1};
    return is_aligned(t.memory) && is_memory(t.memory, res.linear.sizeInBytes);
  }
  t.dimensions = 2;
  t.memory = static_cast<const unsigned char*>(res.pitch2D.devPtr);
  t.size = {res.pitch2D.width, res.pitch2D.height, 1};
  t.pitch = res.pitch2D.pitchInBytes;
  const std::size_t row = t.size[0] * texel->size();
  return is_aligned(t.memory) && t.pitch % kPitchAlignment == 0 && row > 0 && row <= t.pitch &&
         t.size[1] > 0 && is_memory(t.memory, (t.size[1] - 1) * t.pitch + row);
}

/// What the CPU device has not, and what to do instead; null if it has all.
const char* missing_in(const Texture& t, const void* view) {
  const cudaTextureDesc& d = t.description;
  const bool is_border = std::any_of(d.addressMode, d.addressMode + t.dimensions,
                                     [](auto mode) { return mode == cudaAddressModeBorder; });
  if (view != nullptr) return "a view of a texture's resource: pass nullptr";
  if (d.sRGB != 0) return "a texture of sRGB colours: convert them in the kernel";
  if (t.texel.bits == 16 && t.texel.kind == cudaChannelFormatKindFloat) {
    return "a texture of 16-bit floating point: read the array through a pointer (const __half*)";
  }
  if (t.dimensions > 0 && d.filterMode == cudaFilterModeLinear) {
    return "cudaFilterModeLinear, which rounds its weights to 8 bits: use cudaFilterModePoint, and interpolate in "
           "the kernel";
  }
  if (is_border && std::any_of(d.borderColor, d.borderColor + 4, [](float c) { return c != 0; })) {
    return "a texture with a border colour: choose the value in the kernel";
  }
  return nullptr;
}

cudaError_t make_texture(cudaTextureObject_t* texture, const cudaResourceDesc* resource,
                         const cudaTextureDesc* description, const void* view, const void* caller) {
  if (const cudaError_t error = enter(caller)) return error;
  if (texture == nullptr || resource == nullptr || description == nullptr) {
    return failed(cudaErrorInvalidValue);
  }
  if (resource->resType == cudaResourceTypeMipmappedArray) {
    refuse_unsupported("a texture of several levels: use one array", caller);
  }
  Texture made{*resource, *description};
  if (!take_resource(made)) return failed(cudaErrorInvalidValue);
  if (const char* const missing = missing_in(made, view)) refuse_unsupported(missing, caller);
  if (description->readMode == cudaReadModeNormalizedFloat && made.texel.bits == 32 &&
      made.texel.kind != cudaChannelFormatKindFloat) {
    return failed(cudaErrorInvalidNormSetting);
  }
  if (made.texel.kind == cudaChannelFormatKindFloat) {
    made.description.readMode = cudaReadModeElementType;
  }
  *texture = add_texture(made);
  return cudaSuccess;
}

/// The object that the program may still ask about.
Texture* live_texture(cudaTextureObject_t object) {
  Texture* const t = find_texture(object);
  return t == nullptr || t->is_destroyed ? nullptr : t;
}

/// A call that asks for something that a texture was made with.
template <class T>
cudaError_t get_part(T* to, cudaTextureObject_t texture, T Texture::*part, const void* caller) {
  if (const cudaError_t error = enter(caller)) return error;
  const Texture* const t = live_texture(texture);
  if (t == nullptr) return failed(cudaErrorInvalidValue);
  return hand_out(to, t->*part);
}

}  // namespace
}  // namespace simt

// ---- the runtime API ----------------------------------------------------------------------------

cudaError_t cudaCreateTextureObject(cudaTextureObject_t* texture, const cudaResourceDesc* resource,
                                    const cudaTextureDesc* description, const void* view) {
  return simt::make_texture(texture, resource, description, view, SIMT_CALLER);
}

cudaError_t cudaDestroyTextureObject(cudaTextureObject_t texture) {
  if (const cudaError_t error = simt::enter_to_give_back(SIMT_CALLER)) return error;
  simt::Texture* const t = simt::live_texture(texture);
  if (t == nullptr) return simt::failed(cudaErrorInvalidValue);
  t->is_destroyed = true;
  return cudaSuccess;
}

cudaError_t cudaGetTextureObjectResourceDesc(cudaResourceDesc* resource,
                                             cudaTextureObject_t texture) {
  return simt::get_part(resource, texture, &simt::Texture::resource, SIMT_CALLER);
}

cudaError_t cudaGetTextureObjectTextureDesc(cudaTextureDesc* description,
                                            cudaTextureObject_t texture) {
  return simt::get_part(description, texture, &simt::Texture::description, SIMT_CALLER);
}
