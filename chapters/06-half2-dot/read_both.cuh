// What is the least time of any dot product? That of reading both arrays.
// Rungs: read_both.
#pragma once

#include <cuda_fp16.h>

#include <course/buffer.cuh>
#include <course/launch.cuh>
#include <course/ptx.cuh>
#include <cstddef>

#include "dot_pack.cuh"

/// No thread's words fold to this, unless by chance: then *d_sink is written, which no kernel reads.
constexpr unsigned kNever = 0xDEAD'BEEF;

/// All bits of 16 bytes, folded into 32.
__device__ __forceinline__ unsigned fold(uint4 v) { return v.x ^ v.y ^ v.z ^ v.w; }

// Question: how fast can the two arrays be read at all?
// Changes:  dot_pack's loads without products, sums and finish: the bits are folded by XOR.
// Cost:     that of memory alone. The compiler cannot remove the store, nor therefore the loads.
template <class TuningT>
__global__ void __launch_bounds__(TuningT::kBlock)
    read_both(const uint4* d_a, const uint4* d_b, std::size_t packs, unsigned* d_sink) {
  constexpr unsigned kLoads = TuningT::kLoads, kBlock = TuningT::kBlock, kRound = TuningT::kRound;
  unsigned folded = 0;
  std::size_t i = std::size_t{blockIdx.x} * kRound + threadIdx.x;
  for (; i + (kRound - kBlock) < packs; i += std::size_t{gridDim.x} * kRound) {
    uint4 a[kLoads], b[kLoads];
    for (unsigned k = 0; k < kLoads; ++k) {
      a[k] = course::load_16_bytes<TuningT::kHint>(d_a + i + k * kBlock);
      b[k] = course::load_16_bytes<TuningT::kHint>(d_b + i + k * kBlock);
    }
    for (unsigned k = 0; k < kLoads; ++k) folded ^= fold(a[k]) ^ fold(b[k]);
  }
  for (; i < packs; i += kBlock) folded ^= fold(d_a[i]) ^ fold(d_b[i]);  // the last round
  if (folded == kNever) *d_sink = folded;
}

/// One launch with a given Tuning; packs > 0.
template <class TuningT>
void launch_read_both_tuned(const __half* d_a, const __half* d_b, std::size_t packs,
                            unsigned* d_sink) {
  course::launch(read_both<TuningT>, {blocks_for_rounds<TuningT>(packs), TuningT::kBlock},
                 reinterpret_cast<const uint4*>(d_a), reinterpret_cast<const uint4*>(d_b), packs,
                 d_sink);
}

/// Reads the whole packs of both arrays, which begin at multiples of 16. Sets nothing.
inline void launch_read_both(const __half* d_a, const __half* d_b, std::size_t n,
                             unsigned* d_sink) {
  const std::size_t packs = n / course::kWidestPack<__half>;
  if (packs == 0) return;
  if (is_small(n)) {
    launch_read_both_tuned<TunedForSmall>(d_a, d_b, packs, d_sink);
  } else {
    launch_read_both_tuned<TunedForLarge>(d_a, d_b, packs, d_sink);
  }
}
