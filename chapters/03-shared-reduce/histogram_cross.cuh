// Why is histogram_words faster than histogram_shared? It changes three things: the width of a load, the loads in
// flight, and the copies of the bins.
// Rungs: histogram_cross, in all eight combinations; each differs from the one before it in one thing.
#pragma once

#include <cstddef>
#include <cstdint>

#include "histogram.cuh"

// Question: which of the three is it?
// Changes:  a load brings sizeof(Load) bytes, a thread has in_flight loads on their way before it counts, and a
//           block has so many copies of the bins: 1 for all, or kCopies, one for each lane.
// Cost:     n / sizeof(Load) loads; 1 KiB of shared memory for each copy, to clear and to merge.
template <class Load, unsigned in_flight, unsigned copies>
__global__ void histogram_cross(const unsigned char* d_bytes, std::size_t n, unsigned* d_bins) {
  __shared__ unsigned s_bins[kBins][copies];
  for (unsigned k = threadIdx.x; k < kBins * copies; k += blockDim.x)
    s_bins[k / copies][k % copies] = 0;
  __syncthreads();  // all bins are 0 before any thread counts
  const unsigned copy = threadIdx.x % copies;
  const auto count = [&](unsigned byte) { atomicAdd_block(&s_bins[byte][copy], 1u); };

  constexpr std::size_t kWidth = sizeof(Load);
  const std::size_t before = (kWidth - reinterpret_cast<std::uintptr_t>(d_bytes) % kWidth) % kWidth;
  const std::size_t head = n < before ? n : before;
  const std::size_t loads = (n - head) / kWidth;
  const Load* const d_loads = reinterpret_cast<const Load*>(d_bytes + head);
  const std::size_t tile = std::size_t{in_flight} * blockDim.x;
#pragma unroll 1  // or the compiler may have the loads of several turns in flight
  for (std::size_t i = blockIdx.x * tile + threadIdx.x; i < loads; i += gridDim.x * tile) {
    Load loaded[in_flight];
    for (unsigned k = 0; k < in_flight; ++k) {
      const std::size_t at = i + std::size_t{k} * blockDim.x;
      loaded[k] = at < loads ? d_loads[at] : Load{0};
    }
    for (unsigned k = 0; k < in_flight; ++k) {
      if (i + std::size_t{k} * blockDim.x >= loads) break;
      for (unsigned shift = 0; shift < 8 * kWidth; shift += 8) count(loaded[k] >> shift & 0xFFu);
    }
  }
  if (blockIdx.x == 0) {  // the few bytes at either end; a block has more threads than that
    if (threadIdx.x < head) count(d_bytes[threadIdx.x]);
    const std::size_t at = head + kWidth * loads + threadIdx.x;
    if (at < n) count(d_bytes[at]);
  }
  __syncthreads();  // all have counted before any thread reads
  for (unsigned b = threadIdx.x; b < kBins; b += blockDim.x) {
    unsigned sum = 0;
    for (unsigned k = 0; k < copies; ++k) sum += s_bins[b][(k + b) % copies];
    if (sum != 0) atomicAdd(&d_bins[b], sum);
  }
}
