// What if the data do not begin where a sector, or a pack of 16 bytes, begins?
// Rungs: negate_one, negate_packs, negate_peeled.
// All of them: d_x[i] = -d_x[i] for i < n, in place, so that there is one address to align.
#pragma once

#include <course/pack.cuh>
#include <cstddef>

#include "grid.cuh"

// Question: does a start that is no multiple of 32 bytes matter?
// Changes:  nothing against copy_one, but the array may begin anywhere.
// Cost:     32 floats from d_x + 1 on lie in 5 sectors, not 4. The fifth is the next warp's first:
//           often a cache has it.
__global__ void negate_one(float* d_x, std::size_t n) {
  const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < n) d_x[i] = -d_x[i];
}

/// The pack with the opposite signs.
__device__ __forceinline__ course::Pack<float, 4> negated(course::Pack<float, 4> pack) {
  for (float& x : pack.elem) x = -x;
  return pack;
}

// Question: what do packs need?
// Changes:  16 bytes at once. d_x must be a multiple of 16: d_x + 1 is a misaligned address, a
//           sticky error: the context is lost.
// Cost:     16 sectors per request.
__global__ void negate_packs(float* d_x, std::size_t n) {
  const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  const std::size_t packs = n / 4;
  if (i < packs) course::store_pack(d_x + 4 * i, negated(course::load_pack<4>(d_x + 4 * i)));
  if (i < n % 4) d_x[4 * packs + i] = -d_x[4 * packs + i];
}

// Question: and packs from any start?
// Changes:  the elements before the first whole sector are peeled off: a head of up to 7, then
//           the body in packs, then a tail of up to 3. (A multiple of 16 is enough for the loads;
//           from one that is no multiple of 32 they would take 17 sectors.)
// Cost:     16 sectors per request in the body; two short requests more in the whole grid.
__global__ void negate_peeled(float* d_x, std::size_t n) {
  const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  const std::size_t head = course::head_before_packs(d_x, n, 32);
  float* const body = d_x + head;
  const std::size_t packs = (n - head) / 4;
  float* const tail = body + 4 * packs;
  if (i < head) d_x[i] = -d_x[i];
  if (i < packs) course::store_pack(body + 4 * i, negated(course::load_pack<4>(body + 4 * i)));
  if (i < n - head - 4 * packs) tail[i] = -tail[i];
}
