// Reads two frames as a float4, but frames is not always a multiple of 16, which a float4 needs: a
// misaligned access.
#pragma once

#include <course/error.cuh>
#include <course/exercise.cuh>
#include <cstddef>

__global__ void mix_down(const float* frames, std::size_t n, float* mono) {
  const float4* const fours = reinterpret_cast<const float4*>(frames);
  const std::size_t stride = std::size_t{gridDim.x} * blockDim.x;
  const std::size_t first = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  for (std::size_t i = first; i < n / 2; i += stride) {
    const float4 four = fours[i];
    mono[2 * i] = 0.5f * (four.x + four.y);
    mono[2 * i + 1] = 0.5f * (four.z + four.w);
  }
  if (first == 0 && n % 2 == 1) mono[n - 1] = 0.5f * (frames[2 * n - 2] + frames[2 * n - 1]);
}
