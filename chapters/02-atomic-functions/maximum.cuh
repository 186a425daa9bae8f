// What is the largest of n floats, and how few atomics find it?
// Rungs: max_reference, max_as_int (wrong on purpose), max_cas, max_key, max_look_first,
// max_per_thread, max_vectorized, max_block.
// Finite data. All but the first two leave their answer in one word that is initialised before.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "grid.cuh"
#include "missing.cuh"

/// Rung 0: exact. x is not empty.
inline float max_reference(const std::vector<float>& x) {
  return *std::max_element(x.begin(), x.end());
}

// ---- floats as integers -------------------------------------------------------------------------
//
// Bits of floats that are not negative are ordered like the floats: 1.0f is 0x3F800000, 2.0f is
// 0x40000000, infinity is 0x7F800000. Negative ones have the top bit set, and are ordered the other
// way round. order_key() inverts those, and puts them below:
//
//     -inf        -2.0        -1.0        -0.0        0.0         1.0         inf
//     0xFF800000  0xC0000000  0xBF800000  0x80000000  0x00000000  0x3F800000  0x7F800000   bits
//     0x007FFFFF  0x3FFFFFFF  0x407FFFFF  0x7FFFFFFF  0x80000000  0xBF800000  0xFF800000   key

/// a < b for numbers becomes order_key(a) < order_key(b) for unsigned, and -0.0 is below 0.0. A NaN
/// is above infinity or below -infinity, as its sign bit says; 0 is the key of one of those.
__device__ inline unsigned order_key(float x) {
  const unsigned bits = __float_as_uint(x);
  return (bits & 0x8000'0000u) != 0 ? ~bits : bits | 0x8000'0000u;
}

/// The float of a key, on the host, where the answer is needed. The key 0, "nothing yet", is a NaN.
inline float float_of_key(unsigned key) {
  const std::uint32_t bits = (key & 0x8000'0000u) != 0 ? key & 0x7FFF'FFFFu : ~key;
  float x;
  std::memcpy(&x, &bits, sizeof x);
  return x;
}

// Question: floats are bits, and integers have atomicMax: may one take it?
// Changes:  the float's bits are compared as an int.
// Cost:     one atomic per element; and if no number is positive, it finds the smallest. Every test
//           with a positive maximum passes. Wrong on purpose.
__global__ void max_as_int(const float* d_x, std::size_t n, float* d_max) {
  const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < n) atomicMax(reinterpret_cast<int*>(d_max), __float_as_int(d_x[i]));
}

// Question: what does the maximum cost that works for every float?
// Changes:  atomic_max() of missing.cuh: an atomicCAS loop on the float itself.
// Cost:     a read, and an atomicCAS for every element, all on one address.
__global__ void max_cas(const float* d_x, std::size_t n, float* d_max) {
  const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < n) atomic_max(d_max, d_x[i]);
}

// Question: can an atomic function of the hardware do it?
// Changes:  the word holds a key instead of a float, and atomicMax(unsigned*) compares keys.
// Cost:     no loop. ptxas sees one address for all lanes, and sends one atomic per warp.
__global__ void max_key(const float* d_x, std::size_t n, unsigned* d_key) {
  const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < n) atomicMax(d_key, order_key(d_x[i]));
}

// Question: most elements are below the maximum so far. Do they need an atomic?
// Changes:  a read first, and the atomic only if it can change something. The value may be out of
//           date; the key only grows, so an old value can cause a needless atomic, and never
//           prevents a needed one. The read is volatile, so it does not race with the atomics.
// Cost:     one load of the same address per warp, and few atomics: some 260 for 2^16 floats on the
//           CPU device.
__global__ void max_look_first(const float* d_x, std::size_t n, unsigned* d_key) {
  const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const unsigned key = order_key(d_x[i]);
  if (key > *static_cast<volatile unsigned*>(d_key)) atomicMax(d_key, key);
}

// Question: does every element have to be compared with the shared word?
// Changes:  a thread takes many elements, and keeps their maximum in a register.
// Cost:     one atomic per thread, however many elements there are.
__global__ void max_per_thread(const float* d_x, std::size_t n, unsigned* d_key) {
  const std::size_t stride = std::size_t{gridDim.x} * blockDim.x;
  const std::size_t first = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (first >= n) return;
  float mine = d_x[first];
  for (std::size_t i = first + stride; i < n; i += stride) mine = fmaxf(mine, d_x[i]);
  atomicMax(d_key, order_key(mine));
}

/// n floats as float4: those before the first address that is a multiple of 16 and those after the
/// last whole float4 are left over, at most 3 + 3.
struct Vectors {
  const float4* data;
  std::size_t count;       // of float4
  std::size_t head, tail;  // x[0..head-1] and x[tail..n-1] are left over
};

__host__ __device__ inline Vectors as_vectors(const float* x, std::size_t n) {
  const std::size_t past = reinterpret_cast<std::uintptr_t>(x) % sizeof(float4) / sizeof(float);
  const std::size_t gap = past == 0 ? 0 : 4 - past;
  const std::size_t head = gap < n ? gap : n;
  const std::size_t count = (n - head) / 4;
  return {reinterpret_cast<const float4*>(x + head), count, head, head + 4 * count};
}

__device__ inline float max_of(float4 v) { return fmaxf(fmaxf(v.x, v.y), fmaxf(v.z, v.w)); }

constexpr unsigned kInFlight = 4;  // 16-byte loads of one thread that are in flight together

/// Blocks of kernels whose threads take kInFlight vectors at a time.
inline unsigned vector_blocks_for(std::size_t n) {
  return resident_blocks_for((n + 4 * kInFlight - 1) / (4 * kInFlight));
}

/// The largest of the elements that belong to the calling thread; -infinity if there are none.
__device__ inline float max_of_mine(const float* d_x, std::size_t n) {
  const Vectors v = as_vectors(d_x, n);
  const std::size_t stride = std::size_t{gridDim.x} * blockDim.x;
  const std::size_t rank = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  float mine = -HUGE_VALF;
  for (std::size_t i = rank; i < v.count; i += kInFlight * stride) {
    float4 loaded[kInFlight];
    for (unsigned k = 0; k < kInFlight; ++k) {
      const std::size_t at = i + k * stride;
      loaded[k] = v.data[at < v.count ? at : v.count - 1];  // one that is seen twice does no harm
    }
    for (unsigned k = 0; k < kInFlight; ++k) mine = fmaxf(mine, max_of(loaded[k]));
  }
  if (rank < v.head) mine = fmaxf(mine, d_x[rank]);
  if (rank < n - v.tail) mine = fmaxf(mine, d_x[v.tail + rank]);
  return mine;
}

// Question: what keeps the memory busy?
// Changes:  loads of 16 bytes, four of them in flight at the same time.
// Cost:     as before one atomic per thread; the loads come closer to the memory's bandwidth.
__global__ void max_vectorized(const float* d_x, std::size_t n, unsigned* d_key) {
  atomicMax(d_key, order_key(max_of_mine(d_x, n)));
}

// Question: do all warps of a block have to queue at one address of global memory?
// Changes:  they use shared memory first; thread 0 passes the block's maximum on.
// Cost:     one global atomic per block, and two barriers.
__global__ void max_block(const float* d_x, std::size_t n, unsigned* d_key) {
  __shared__ unsigned s_key;
  if (threadIdx.x == 0) s_key = 0;
  const float mine = max_of_mine(d_x, n);
  __syncthreads();  // s_key is set
  atomicMax(&s_key, order_key(mine));
  __syncthreads();  // all threads of the block have been here
  if (threadIdx.x == 0) atomicMax(d_key, s_key);
}
