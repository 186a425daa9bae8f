// Adds x, y, z and w of a pack as numbers: each of them is four bytes, and the sum is far too
// large.
#pragma once

#include <cuda_runtime.h>

#include <course/exercise.cuh>
#include <cstddef>
#include <cstdint>

__global__ void sum_bytes(const unsigned char* x, std::size_t n, unsigned long long* sum) {
  const std::size_t stride = std::size_t{gridDim.x} * blockDim.x;
  const std::size_t thread = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  std::size_t head = (16 - reinterpret_cast<std::uintptr_t>(x) % 16) % 16;
  if (head > n) head = n;
  const std::size_t packs = (n - head) / 16;
  const uint4* wide = reinterpret_cast<const uint4*>(x + head);
  unsigned long long mine = 0;
  if (thread < head) mine += x[thread];
  for (std::size_t i = thread; i < packs; i += stride) {
    const uint4 v = wide[i];
    mine += v.x + v.y + v.z + v.w;
  }
  for (std::size_t i = head + packs * 16 + thread; i < n; i += stride) mine += x[i];
  for (unsigned d = 16; d > 0; d /= 2) mine += __shfl_down_sync(0xffffffffu, mine, d);
  if (threadIdx.x % 32 == 0) atomicAdd(sum, mine);
}
