// Exercise sum_bytes: the brightness of a picture.
//
// A picture is a lot of bytes, 0 to 255. Their sum does not fit into a byte, nor the sum of a large
// picture into 32 bits. And a load of one byte per lane moves 32 bytes where it could move 512. So:
// wide loads, and a wide type to add in.
//
// Try it: meson test -C build sum_bytes
#pragma once

#include <cuda_runtime.h>

#include <course/exercise.cuh>
#include <cstddef>
#include <cstdint>

NOT_STARTED  // delete this line when you begin

/// Adds x[0] + ... + x[n-1] to *sum, exactly.
/// - x may begin at any address, and n may be anything: 0, less than 16, no multiple of 16, more
///   than 2^32.
/// - What lies between the first and the last multiple of 16 in x is read in loads of 16 bytes (a
///   uint4), 512 bytes per warp; at most 15 bytes before them and 15 after are read one by one.
///   Nothing outside x[0..n-1] is read.
/// - *sum holds something already, perhaps close to 2^32.
/// - Exact whatever the grid is, from one block of 32 threads on: the sum of all bytes may go
///   through a single thread of a single block, and is not to wrap around on its way.
/// - Right for every one-dimensional grid of blocks of 32, 64, ..., 1024 threads. The threads share
///   the work, and a warp makes at most one atomic on *sum.
__global__ void sum_bytes(const unsigned char* x, std::size_t n, unsigned long long* sum) {
  const std::size_t stride = std::size_t{gridDim.x} * blockDim.x;
  unsigned char mine = 0;  // TODO(you): is this wide enough?
  for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < n; i += stride) {
    // TODO(you): 16 bytes per load. Where may such a load begin, and what is left over?
    mine += x[i];
  }
  atomicAdd(sum, static_cast<unsigned long long>(mine));  // TODO(you): at most one a warp
}
