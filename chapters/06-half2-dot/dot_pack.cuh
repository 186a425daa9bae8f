// How fast can two arrays of halves be read and multiplied?
// Rungs: dot_pack (the fastest), read_both (reads the same bytes, and computes next to nothing).
// Any n, and any start of either array: what cannot be read 16 bytes at a time is read in the
// widest accesses that both arrays allow.
#pragma once

#include <cuda_fp16.h>

#include <algorithm>
#include <course/buffer.cuh>
#include <course/collectives.cuh>
#include <course/error.cuh>
#include <course/launch.cuh>
#include <course/pack.cuh>
#include <course/ptx.cuh>
#include <cstddef>
#include <cstdint>
#include <cstring>

/// What is measured and not derived. `loads` counts those of one array.
template <unsigned loads, unsigned block_size, course::CacheHint hint>
struct Tuning {
  static constexpr unsigned kLoads = loads;       // packs in flight per thread and array
  static constexpr unsigned kBlock = block_size;  // threads
  static constexpr course::CacheHint kHint = hint;
  static constexpr unsigned kRound = loads * block_size;  // packs of each array per block
};

// Measured on an H200: blocks of 1024 threads with two loads of each array, as many bytes in flight
// as chapter 05's sum has with four of one. Up to 256 MiB in both arrays, some four times its L2
// cache, the hint is worth 4 %; above it costs 7 %.
using TunedForSmall = Tuning<2, 1024, course::CacheHint::no_allocate>;
using TunedForLarge = Tuning<2, 1024, course::CacheHint::none>;
inline constexpr std::size_t kSmallBytes = std::size_t{256} << 20;  // the last size that is small

/// Both arrays of n halves together.
inline bool is_small(std::size_t n) { return n <= kSmallBytes / (2 * sizeof(__half)); }

/// Two arrays as a head, packs of `width` halves, and a tail. A pack begins at a multiple of its
/// size in both arrays; head and tail are shorter than a pack.
struct SharedPacks {
  std::size_t head, packs, tail;
  int width;  // 8, 4, 2 or 1 halves
};

/// Uses only the addresses, so the host can call it for device memory. If they are equally far
/// from a multiple of 16, the packs are as wide as can be; if not, as wide as their distance
/// allows: arrays whose addresses differ by 8 modulo 16 have packs of 8 bytes.
inline SharedPacks shared_packs(const __half* d_a, const __half* d_b, std::size_t n) {
  const std::uintptr_t apart =
      reinterpret_cast<std::uintptr_t>(d_a) - reinterpret_cast<std::uintptr_t>(d_b);
  int width = course::kWidestPack<__half>;
  while (apart % (width * sizeof(__half)) != 0) width /= 2;
  const std::size_t size = static_cast<std::size_t>(width);
  const std::size_t head = course::head_before_packs(d_a, n, size * sizeof(__half));
  return {head, (n - head) / size, (n - head) % size, width};
}

/// A pack of `width` halves from a multiple of its size: one load. 16 bytes go with a hint.
template <course::CacheHint hint, int width>
__device__ __forceinline__ course::Pack<__half, width> load_halves(const __half* p) {
  if constexpr (width == course::kWidestPack<__half>) {
    const uint4 bits = course::load_16_bytes<hint>(p);
    course::Pack<__half, width> pack;
    memcpy(static_cast<void*>(&pack), &bits, sizeof bits);
    return pack;
  } else {
    return course::load_pack<width>(p);
  }
}

/// sum + the products of two packs, in float: exact products, one rounding for each addition.
template <int width>
__device__ __forceinline__ float fma_packs(const course::Pack<__half, width>& a,
                                           const course::Pack<__half, width>& b, float sum) {
  for (int k = 0; k < width; ++k) {
    sum = fmaf(__half2float(a.elem[k]), __half2float(b.elem[k]), sum);
  }
  return sum;
}

/// This thread's part of head and tail: the first threads of the grid take an element of each.
__device__ __forceinline__ float dot_edges(const __half* d_a, const __half* d_b,
                                           SharedPacks split) {
  const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  const std::size_t tail = split.head + split.packs * static_cast<std::size_t>(split.width);
  float sum = 0.0f;
  if (i < split.head) sum = __half2float(d_a[i]) * __half2float(d_b[i]);
  if (i < split.tail) {
    sum = fmaf(__half2float(d_a[tail + i]), __half2float(d_b[tail + i]), sum);
  }
  return sum;
}

/// This thread's part of the packs. Block b has the rounds b, b + gridDim.x, ...
template <class TuningT, int width>
__device__ __forceinline__ float dot_packs(const __half* d_a, const __half* d_b,
                                           std::size_t packs) {
  constexpr unsigned kLoads = TuningT::kLoads, kBlock = TuningT::kBlock, kRound = TuningT::kRound;
  constexpr course::CacheHint kHint = TuningT::kHint;
  float sum = 0.0f;
  // In a round this thread has the packs i, i + kBlock, ..., i + (kLoads - 1) * kBlock.
  std::size_t i = std::size_t{blockIdx.x} * kRound + threadIdx.x;
  for (; i + (kRound - kBlock) < packs; i += std::size_t{gridDim.x} * kRound) {
    course::Pack<__half, width> a[kLoads], b[kLoads];
    for (unsigned k = 0; k < kLoads; ++k) {  // all loads of a round are on their way ...
      a[k] = load_halves<kHint, width>(d_a + (i + k * kBlock) * width);
      b[k] = load_halves<kHint, width>(d_b + (i + k * kBlock) * width);
    }
    for (unsigned k = 0; k < kLoads; ++k) {  // ... before one is used
      sum = fma_packs(a[k], b[k], sum);
    }
  }
  for (unsigned k = 0; k + 1 < kLoads; ++k) {  // the last round may not be full
    const std::size_t at = i + k * kBlock;
    if (at < packs) {
      sum = fma_packs(load_halves<kHint, width>(d_a + at * width),
                      load_halves<kHint, width>(d_b + at * width), sum);
    }
  }
  return sum;
}

/// What dot_pack works in. Made once; launches that use the same one have to follow each other, as
/// in one stream.
struct Workspace {
  static constexpr unsigned kMostBlocks = 4096;       // with more, reducing their sums takes longer
  course::DeviceBuffer<float> partials{kMostBlocks};  // one sum for each block
  course::DeviceBuffer<unsigned> ticket = course::DeviceBuffer<unsigned>::zeros(1);
};

/// The blocks' sums, summed by the block that is done last (chapter 05); it alone writes *d_y.
/// The ticket counter is 0 before and after. The order is fixed: the same bits in every run.
__device__ __forceinline__ void finish_by_last_block(float block_sum, float* d_partials,
                                                     unsigned* d_ticket, float* d_y) {
  __shared__ bool s_is_last;
  if (threadIdx.x == 0) {
    d_partials[blockIdx.x] = block_sum;
    // The sum is written before the ticket is drawn, and who draws the last one sees them all.
    const unsigned last = gridDim.x - 1;
    s_is_last = course::atomic_inc_acq_rel(d_ticket, last) == last;
  }
  __syncthreads();  // all threads know, and see what thread 0 sees
  if (!s_is_last) return;
  float sum = 0.0f;
  for (unsigned i = threadIdx.x; i < gridDim.x; i += blockDim.x) sum += d_partials[i];
  sum = course::block_reduce(sum, course::Sum{});
  if (threadIdx.x == 0) *d_y = sum;
}

// Question: what is left once each byte is read once, 16 at a time, with enough loads in flight?
// Changes:  packs of 8 halves of both arrays, several loads before the first product; last block.
// Cost:     that of memory. 16 conversions and 8 FMAs per 32 bytes are hidden by its latency.
template <class TuningT, int width>
__global__ void __launch_bounds__(TuningT::kBlock)
    dot_pack(const __half* d_a, const __half* d_b, SharedPacks split, float* d_partials,
             unsigned* d_ticket, float* d_y) {
  float sum = dot_edges(d_a, d_b, split);
  sum += dot_packs<TuningT, width>(d_a + split.head, d_b + split.head, split.packs);
  sum = course::block_reduce(sum, course::Sum{});
  finish_by_last_block(sum, d_partials, d_ticket, d_y);
}

/// Blocks for one round each, `most` at most: the SM that is done first gets the next.
template <class TuningT>
unsigned blocks_for_rounds(std::size_t packs, std::size_t most = (std::size_t{1} << 31) - 1) {
  const std::size_t rounds = (packs + TuningT::kRound - 1) / TuningT::kRound;
  return static_cast<unsigned>(std::clamp<std::size_t>(rounds, 1, most));
}

/// One launch for packs of `width` halves; n > 0.
template <class TuningT, int width>
void launch_dot_pack_of_width(const __half* d_a, const __half* d_b, SharedPacks split, float* d_y,
                              Workspace& workspace, cudaStream_t stream) {
  const unsigned blocks = blocks_for_rounds<TuningT>(split.packs, Workspace::kMostBlocks);
  course::launch(dot_pack<TuningT, width>, {blocks, TuningT::kBlock, 0, stream}, d_a, d_b, split,
                 workspace.partials.data(), workspace.ticket.data(), d_y);
}

/// One launch with a given Tuning, for packs of any width; n > 0.
template <class TuningT>
void launch_dot_pack_tuned(const __half* d_a, const __half* d_b, SharedPacks split, float* d_y,
                           Workspace& workspace, cudaStream_t stream = nullptr) {
  switch (split.width) {
    case 8:
      return launch_dot_pack_of_width<TuningT, 8>(d_a, d_b, split, d_y, workspace, stream);
    case 4:
      return launch_dot_pack_of_width<TuningT, 4>(d_a, d_b, split, d_y, workspace, stream);
    case 2:
      return launch_dot_pack_of_width<TuningT, 2>(d_a, d_b, split, d_y, workspace, stream);
    default:
      return launch_dot_pack_of_width<TuningT, 1>(d_a, d_b, split, d_y, workspace, stream);
  }
}

/// Sets *d_y to a[0] * b[0] + ... + a[n-1] * b[n-1], summed in float; to 0 if n == 0. Both arrays
/// are aligned to their elements, no more. The same bits in every run with the same addresses.
inline void launch_dot_pack(const __half* d_a, const __half* d_b, std::size_t n, float* d_y,
                            Workspace& workspace, cudaStream_t stream = nullptr) {
  if (n == 0) {
    CUDA_CHECK(cudaMemsetAsync(d_y, 0, sizeof(float), stream));
    return;
  }
  const SharedPacks split = shared_packs(d_a, d_b, n);
  if (split.width == course::kWidestPack<__half> && is_small(n)) {  // others have no hint
    launch_dot_pack_of_width<TunedForSmall, 8>(d_a, d_b, split, d_y, workspace, stream);
  } else {
    launch_dot_pack_tuned<TunedForLarge>(d_a, d_b, split, d_y, workspace, stream);
  }
}
