// Copies and memsets as data: what the API's functions make of their parameters.
#pragma once

#include <cstddef>

#include "api/queues.hpp"
#include "memory/devices.hpp"
#include "simt/api.hpp"

namespace simt {

/// How `height` rows, and `depth` slices of so many rows, lie in memory; a plain range is one row.
struct Layout {
  std::size_t pitch = 0, slice = 0;  // bytes from one row to the next, from one slice to the next
};
struct Shape {
  std::size_t width, height = 1, depth = 1;  // bytes of a row, rows, slices

  bool empty() const { return width == 0 || height == 0 || depth == 0; }
  /// Bytes from the first to the last.
  std::size_t extent(const Layout& layout) const {
    return (depth - 1) * layout.slice + (height - 1) * layout.pitch + width;
  }
};

struct Copy {
  const char* function;
  void* to;
  const void* from;
  Layout to_layout, from_layout;
  Shape shape;
  cudaMemcpyKind kind;
  int device = current_device();  // whose __device__ variables are meant
  const void* caller = nullptr;   // the return address of the call, for the checker
};
Copy plain_copy(const char* function, void* to, const void* from, std::size_t count,
                cudaMemcpyKind kind);
/// Of memory or arrays; an error if the parameters mean nothing.
cudaError_t volume_copy(const char* function, const cudaMemcpy3DParms& parameters, Copy* copy);

struct Memset {
  const char* function;
  void* to;
  Layout layout;
  Shape shape;
  unsigned value;
  unsigned element_size = 1;      // 1, 2 or 4 bytes get the value
  int device = current_device();  // whose __device__ variables are meant
  const void* caller = nullptr;   // the return address of the call, for the checker
};

/// Are all bytes there, and may they be used so? Reports what is outside an allocation.
cudaError_t check_copy(const Copy& copy, const void* caller);
cudaError_t check_memset(int device, const Memset& memset, const void* caller);

enum class Wait { no, yes };
cudaError_t start_copy(Copy copy, cudaStream_t stream, Wait wait, const void* caller);

/// Queues what has been checked. The source is read when its turn comes.
void enqueue_copy(CUstream_st& stream, const Copy& copy);
void enqueue_memset(CUstream_st& stream, const Memset& memset);

}  // namespace simt
