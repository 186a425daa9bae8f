// How are n floats moved from one place to another? The plainest kernel there is, so that nothing
// but the accesses can make a difference.
// Rungs: copy_one, copy_reversed, copy_pairs (the article's mistake), its controls
// copy_pairs_one_branch, copy_pairs_restrict and copy_pairs_loads_first, copy_grid_stride,
// copy_float2, copy_float4, copy_packs (the fastest).
// All of them: d_y[i] = d_x[i] for i < n. n == 0 copies nothing; d_x and d_y do not overlap.
#pragma once

#include <course/pack.cuh>
#include <cstddef>

#include "grid.cuh"

// Question: what does a copy cost if every thread moves one float?
// Changes:  nothing yet: thread i owns element i, so the 32 lanes of a warp own 128 bytes in a row.
// Cost:     4 sectors per request, the fewest that hold 32 floats; one request for every 32 floats.
__global__ void copy_one(const float* d_x, std::size_t n, float* d_y) {
  const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < n) d_y[i] = d_x[i];
}

// Question: do the lanes have to be in order?
// Changes:  thread i of a block owns the block's element 255 - i: each warp reads backwards.
// Cost:     the same 4 sectors per request: what counts is which ones a warp touches, not which lane.
__global__ void copy_reversed(const float* d_x, std::size_t n, float* d_y) {
  const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + (blockDim.x - 1 - threadIdx.x);
  if (i < n) d_y[i] = d_x[i];
}

// Question: what if a thread moves two neighbouring floats, one after the other?
// Changes:  thread i owns elements 2i and 2i + 1: each access of a warp skips every second float.
// Cost:     two requests of 8 sectors for 64 floats, where 8 sectors hold them all.
__global__ void copy_pairs(const float* d_x, std::size_t n, float* d_y) {
  const std::size_t i = 2 * (std::size_t{blockIdx.x} * blockDim.x + threadIdx.x);
  if (i < n) d_y[i] = d_x[i];
  if (i + 1 < n) d_y[i + 1] = d_x[i + 1];
}

// Question: what does the second branch of copy_pairs cost?
// Changes:  one branch for a whole pair. The second load still comes after the first store: the
//           compiler may not exchange them, because d_y could be d_x + 1.
// Cost:     the requests of copy_pairs; one load in flight per thread.
__global__ void copy_pairs_one_branch(const float* d_x, std::size_t n, float* d_y) {
  const std::size_t i = 2 * (std::size_t{blockIdx.x} * blockDim.x + threadIdx.x);
  if (i + 1 < n) {
    d_y[i] = d_x[i];
    d_y[i + 1] = d_x[i + 1];
  } else if (i < n) {
    d_y[i] = d_x[i];  // the tail: no whole pair is left
  }
}

// Question: what if the compiler knows that d_x and d_y do not overlap?
// Changes:  __restrict__ promises it. nvcc 13.0 then puts both loads before the first store (it does
//           not move a load across a branch: in copy_pairs __restrict__ changes no order), and reads
//           through the read-only path, LDG.CONSTANT.
// Cost:     the requests of copy_pairs; two loads in flight per thread.
__global__ void copy_pairs_restrict(const float* __restrict__ d_x, std::size_t n,
                                    float* __restrict__ d_y) {
  const std::size_t i = 2 * (std::size_t{blockIdx.x} * blockDim.x + threadIdx.x);
  if (i + 1 < n) {
    d_y[i] = d_x[i];
    d_y[i + 1] = d_x[i + 1];
  } else if (i < n) {
    d_y[i] = d_x[i];  // the tail
  }
}

// Question: is it the order of the accesses that __restrict__ gains, or the read-only path?
// Changes:  the source has the order, both loads before the first store, and no __restrict__.
// Cost:     the requests of copy_pairs; two loads in flight per thread.
__global__ void copy_pairs_loads_first(const float* d_x, std::size_t n, float* d_y) {
  const std::size_t i = 2 * (std::size_t{blockIdx.x} * blockDim.x + threadIdx.x);
  if (i + 1 < n) {
    const float first = d_x[i], second = d_x[i + 1];
    d_y[i] = first;
    d_y[i + 1] = second;
  } else if (i < n) {
    d_y[i] = d_x[i];  // the tail
  }
}

// Question: how does one thread move several floats without leaving gaps?
// Changes:  the next element of a thread is not the next in memory, but one grid further on. The
//           grid is as large as the GPU, whatever n is: a grid-stride loop.
// Cost:     4 sectors per request again; the loop itself, in every thread.
__global__ void copy_grid_stride(const float* d_x, std::size_t n, float* d_y) {
  const std::size_t stride = std::size_t{gridDim.x} * blockDim.x;
  for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < n; i += stride) {
    d_y[i] = d_x[i];
  }
}

// Question: how does one thread move two neighbouring floats at once?
// Changes:  the pointers become pointers to float2, a type of 8 bytes: one access moves both.
// Cost:     8 sectors per request, and half as many requests. d_x and d_y must be multiples of 8.
__global__ void copy_float2(const float* d_x, std::size_t n, float* d_y) {
  const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  const std::size_t pairs = n / 2;
  if (i < pairs) reinterpret_cast<float2*>(d_y)[i] = reinterpret_cast<const float2*>(d_x)[i];
  if (i == 0 && n % 2 == 1) d_y[n - 1] = d_x[n - 1];  // the tail: no whole pair is left
}

// Question: and four?
// Changes:  float4, 16 bytes: the widest access of a lane. The tail is up to 3 elements.
// Cost:     16 sectors per request, a quarter of the requests. d_x and d_y must be multiples of 16.
__global__ void copy_float4(const float* d_x, std::size_t n, float* d_y) {
  const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  const std::size_t fours = n / 4;
  if (i < fours) reinterpret_cast<float4*>(d_y)[i] = reinterpret_cast<const float4*>(d_x)[i];
  if (i < n % 4) d_y[4 * fours + i] = d_x[4 * fours + i];  // the tail: one thread per element
}

// Question: and 16 bytes of any other type, for which CUDA has no vector?
// Changes:  course::Pack<T, N> (course/pack.cuh) instead of float4: 8 halves, 16 bytes, ...
// Cost:     that of float4: the same LDG.128 and STG.128. n counts elements of T.
template <class T>
__global__ void copy_packs(const T* d_x, std::size_t n, T* d_y) {
  constexpr std::size_t kPack = course::kWidestPack<T>;
  const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  const std::size_t packs = n / kPack;
  if (i < packs) course::store_pack(d_y + kPack * i, course::load_pack<kPack>(d_x + kPack * i));
  if (i < n % kPack) d_y[kPack * packs + i] = d_x[kPack * packs + i];  // the tail
}
