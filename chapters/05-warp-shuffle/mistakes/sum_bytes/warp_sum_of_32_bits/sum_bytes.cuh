// Adds up the warp in 32 bits, as __reduce_add_sync() would: a warp that has read 17 million white
// bytes wraps around.
#pragma once

#include <cuda_runtime.h>

#include <course/exercise.cuh>
#include <cstddef>
#include <cstdint>

__global__ void sum_bytes(const unsigned char* x, std::size_t n, unsigned long long* sum) {
  constexpr unsigned kAllLanes = 0xffff'ffffu;
  const std::size_t to_boundary = (16 - reinterpret_cast<std::uintptr_t>(x) % 16) % 16;
  const std::size_t head = to_boundary < n ? to_boundary : n;
  const std::size_t packs = (n - head) / 16;
  const std::size_t tail = head + packs * 16;
  const uint4* const pack = reinterpret_cast<const uint4*>(x + head);

  const std::size_t thread = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  const std::size_t stride = std::size_t{gridDim.x} * blockDim.x;
  unsigned long long mine = 0;
  for (std::size_t p = thread; p < packs; p += stride) {
    const uint4 bytes = pack[p];
    unsigned of_pack = 0;
    for (const unsigned word : {bytes.x, bytes.y, bytes.z, bytes.w}) {
      of_pack += (word & 0xff) + (word >> 8 & 0xff) + (word >> 16 & 0xff) + (word >> 24);
    }
    mine += of_pack;
  }
  if (thread < head) mine += x[thread];
  if (thread < n - tail) mine += x[tail + thread];
  unsigned of_warp = static_cast<unsigned>(mine);
  for (int distance = 16; distance > 0; distance /= 2) {
    of_warp += __shfl_xor_sync(kAllLanes, of_warp, distance);
  }
  if (threadIdx.x % 32 == 0) atomicAdd(sum, static_cast<unsigned long long>(of_warp));
}
