// The runtime API: arrays, which are rows of device memory that a program knows by a handle, and copies of three dimensions.
#include <algorithm>

#include "api/allocations.hpp"
#include "api/copies.hpp"
#include "api/errors.hpp"
#include "memory/textures.hpp"
#include "report/reports.hpp"
#include "simt/api.hpp"

namespace simt {
namespace {

// Surfaces are refused where they are used.
constexpr unsigned kSurfaceLoadStore = 2;

cudaError_t make_array(cudaArray_t* handle, const cudaChannelFormatDesc* channels,
                       const cudaExtent& extent, unsigned flags, const void* caller) {
  if (const cudaError_t error = enter(caller)) return error;
  if (handle == nullptr || channels == nullptr || extent.width == 0 ||
      (extent.height == 0 && extent.depth != 0)) {
    return failed(cudaErrorInvalidValue);
  }
  if ((flags & ~kSurfaceLoadStore) != 0) {
    refuse_unsupported(
        "an array of layers, of faces of a cube or for gathering: use an array without flags",
        caller);
  }
  const auto texel = texel_type_of(*channels);
  if (!texel) return failed(cudaErrorInvalidChannelDescriptor);
  cudaArray array{nullptr, 0, *texel, *channels, extent, flags};
  const ElementType element{texel->size(), nullptr, texel->size()};
  const cudaError_t error = allocate_rows(&array.memory, &array.pitch, array.row_bytes(),
                                          array.rows() * array.slices(), element, caller);
  if (error == cudaSuccess) *handle = add_array(array);
  return error;
}

/// What a copy of so many bytes of so many rows touches in an array, from a byte of a row on; null if that is not all there.
void* place_in(const cudaArray* handle, std::size_t x, std::size_t y, std::size_t width,
               std::size_t height) {
  const cudaArray* const a = find_array(handle);
  if (a == nullptr || x > a->row_bytes() || width > a->row_bytes() - x || y > a->rows() ||
      height > a->rows() - y) {
    return nullptr;
  }
  return static_cast<unsigned char*>(a->memory) + y * a->pitch + x;
}

/// Either side may be the array; the other one is memory with this pitch.
struct Rectangle {
  const char* function;
  const cudaArray* array;
  std::size_t x, y;
  void* memory;
  std::size_t pitch, width, height;
  cudaMemcpyKind kind;
};

enum class Direction { to_array, from_array };

cudaError_t copy_rectangle(const Rectangle& r, Direction direction, cudaStream_t stream, Wait wait,
                           const void* caller) {
  if (const cudaError_t error = enter(caller)) return error;
  void* const place = place_in(r.array, r.x, r.y, r.width, r.height);
  if (place == nullptr) return failed(cudaErrorInvalidValue);
  const Layout of_array{find_array(r.array)->pitch, 0}, of_memory{r.pitch, 0};
  const Shape shape{r.width, r.height};
  if (direction == Direction::to_array) {
    return start_copy({r.function, place, r.memory, of_array, of_memory, shape, r.kind}, stream,
                      wait, caller);
  }
  return start_copy({r.function, r.memory, place, of_memory, of_array, shape, r.kind}, stream, wait,
                    caller);
}

/// Row after row: the rest of the first one, all of others, and the beginning of the last.
cudaError_t copy_sequence(Rectangle r, std::size_t count, Direction direction, const void* caller) {
  if (const cudaError_t error = enter(caller)) return error;
  const cudaArray* const a = find_array(r.array);
  if (a == nullptr || r.x >= a->row_bytes() || r.y >= a->rows() ||
      count > (a->rows() - r.y) * a->row_bytes() - r.x) {
    return failed(cudaErrorInvalidValue);
  }
  const std::size_t row = a->row_bytes();
  while (count > 0) {
    r.width = std::min(row - r.x, count);
    r.height = r.width == row ? count / row : 1;
    r.pitch = r.width;
    if (const cudaError_t error = copy_rectangle(r, direction, nullptr, Wait::yes, caller)) {
      return error;
    }
    const std::size_t done = r.width * r.height;
    r.memory = static_cast<unsigned char*>(r.memory) + done;
    r.y += r.height;
    r.x = 0;
    count -= done;
  }
  return cudaSuccess;
}

// ---- copies of three dimensions -----------------------------------------------------------------

/// One side of a copy of three dimensions.
struct Volume {
  unsigned char* begin = nullptr;  // null: it does not fit
  Layout layout;
};

Volume volume_in(const cudaPitchedPtr& m, const cudaPos& at, const cudaExtent& extent) {
  if (m.ptr == nullptr || (extent.depth > 1 && at.y + extent.height > m.ysize)) return {};
  const Layout layout{m.pitch, m.pitch * m.ysize};
  return {static_cast<unsigned char*>(m.ptr) + at.z * layout.slice + at.y * layout.pitch + at.x,
          layout};
}

/// `at` counts elements, and so does the extent.
Volume volume_in(const cudaArray& a, const cudaPos& at, const cudaExtent& extent) {
  if (at.x + extent.width > a.extent.width || at.y + extent.height > a.rows() ||
      at.z + extent.depth > a.slices()) {
    return {};
  }
  const Layout layout{a.pitch, a.pitch * a.rows()};
  return {static_cast<unsigned char*>(a.memory) + at.z * layout.slice + at.y * layout.pitch +
              at.x * a.texel.size(),
          layout};
}

}  // namespace

cudaError_t volume_copy(const char* function, const cudaMemcpy3DParms& parameters, Copy* copy) {
  const cudaMemcpy3DParms& p = parameters;
  const cudaArray* const to = find_array(p.dstArray);
  const cudaArray* const from = find_array(p.srcArray);
  const bool is_known =
      (p.dstArray == nullptr || to != nullptr) && (p.srcArray == nullptr || from != nullptr);
  const bool is_same_size =
      to == nullptr || from == nullptr || to->texel.size() == from->texel.size();
  if (!is_known || !is_same_size) return failed(cudaErrorInvalidValue);
  const Volume target =
      to != nullptr ? volume_in(*to, p.dstPos, p.extent) : volume_in(p.dstPtr, p.dstPos, p.extent);
  const Volume source = from != nullptr ? volume_in(*from, p.srcPos, p.extent)
                                        : volume_in(p.srcPtr, p.srcPos, p.extent);
  if (target.begin == nullptr || source.begin == nullptr) return failed(cudaErrorInvalidValue);
  const cudaArray* const array = to != nullptr ? to : from;
  const std::size_t unit = array == nullptr ? 1 : array->texel.size();
  *copy = {function,      target.begin,  source.begin,
           target.layout, source.layout, {p.extent.width * unit, p.extent.height, p.extent.depth},
           p.kind};
  return cudaSuccess;
}

}  // namespace simt

// ---- the runtime API ----------------------------------------------------------------------------

using simt::Direction;
using simt::Wait;

cudaError_t cudaMallocArray(cudaArray_t* array, const cudaChannelFormatDesc* channels,
                            std::size_t width, std::size_t height, unsigned flags) {
  return simt::make_array(array, channels, {width, height, 0}, flags, SIMT_CALLER);
}

cudaError_t cudaMalloc3DArray(cudaArray_t* array, const cudaChannelFormatDesc* channels,
                              cudaExtent extent, unsigned flags) {
  return simt::make_array(array, channels, extent, flags, SIMT_CALLER);
}

cudaError_t cudaFreeArray(cudaArray_t array) {
  if (array == nullptr) return simt::enter_to_give_back(SIMT_CALLER);
  const cudaArray* const a = simt::find_array(array);
  if (a == nullptr) return simt::failed(cudaErrorInvalidValue);
  const cudaError_t error = simt::free_now(a->memory, false, "cudaFreeArray()", SIMT_CALLER);
  simt::drop_array(array);
  return error;
}

cudaError_t cudaGetChannelDesc(cudaChannelFormatDesc* channels, cudaArray_const_t array) {
  if (const cudaError_t error = simt::enter(SIMT_CALLER)) return error;
  const cudaArray* const a = simt::find_array(array);
  if (channels == nullptr || a == nullptr) return simt::failed(cudaErrorInvalidValue);
  *channels = a->channels;
  return cudaSuccess;
}

cudaError_t cudaArrayGetInfo(cudaChannelFormatDesc* channels, cudaExtent* extent, unsigned* flags,
                             cudaArray_t array) {
  if (const cudaError_t error = simt::enter(SIMT_CALLER)) return error;
  const cudaArray* const a = simt::find_array(array);
  if (a == nullptr) return simt::failed(cudaErrorInvalidValue);
  if (channels != nullptr) *channels = a->channels;
  if (extent != nullptr) *extent = a->extent;
  if (flags != nullptr) *flags = a->flags;
  return cudaSuccess;
}

cudaError_t cudaMemcpy2DToArray(cudaArray_t to, std::size_t x, std::size_t y, const void* from,
                                std::size_t from_pitch, std::size_t width, std::size_t height,
                                cudaMemcpyKind kind) {
  return simt::copy_rectangle(
      {"cudaMemcpy2DToArray", to, x, y, const_cast<void*>(from), from_pitch, width, height, kind},
      Direction::to_array, nullptr, Wait::yes, SIMT_CALLER);
}

cudaError_t cudaMemcpy2DToArrayAsync(cudaArray_t to, std::size_t x, std::size_t y, const void* from,
                                     std::size_t from_pitch, std::size_t width, std::size_t height,
                                     cudaMemcpyKind kind, cudaStream_t stream) {
  return simt::copy_rectangle({"cudaMemcpy2DToArrayAsync", to, x, y, const_cast<void*>(from),
                               from_pitch, width, height, kind},
                              Direction::to_array, stream, Wait::no, SIMT_CALLER);
}

cudaError_t cudaMemcpy2DFromArray(void* to, std::size_t to_pitch, cudaArray_const_t from,
                                  std::size_t x, std::size_t y, std::size_t width,
                                  std::size_t height, cudaMemcpyKind kind) {
  return simt::copy_rectangle(
      {"cudaMemcpy2DFromArray", from, x, y, to, to_pitch, width, height, kind},
      Direction::from_array, nullptr, Wait::yes, SIMT_CALLER);
}

cudaError_t cudaMemcpy2DFromArrayAsync(void* to, std::size_t to_pitch, cudaArray_const_t from,
                                       std::size_t x, std::size_t y, std::size_t width,
                                       std::size_t height, cudaMemcpyKind kind,
                                       cudaStream_t stream) {
  return simt::copy_rectangle(
      {"cudaMemcpy2DFromArrayAsync", from, x, y, to, to_pitch, width, height, kind},
      Direction::from_array, stream, Wait::no, SIMT_CALLER);
}

cudaError_t cudaMemcpyToArray(cudaArray_t to, std::size_t x, std::size_t y, const void* from,
                              std::size_t count, cudaMemcpyKind kind) {
  return simt::copy_sequence(
      {"cudaMemcpyToArray", to, x, y, const_cast<void*>(from), 0, 0, 0, kind}, count,
      Direction::to_array, SIMT_CALLER);
}

cudaError_t cudaMemcpyFromArray(void* to, cudaArray_const_t from, std::size_t x, std::size_t y,
                                std::size_t count, cudaMemcpyKind kind) {
  return simt::copy_sequence({"cudaMemcpyFromArray", from, x, y, to, 0, 0, 0, kind}, count,
                             Direction::from_array, SIMT_CALLER);
}
