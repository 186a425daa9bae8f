// How often does each byte occur? Every block counts for itself, in shared memory: privatization.
// Rungs: histogram_reference; then histogram_global, _shared, _copies and _words.
// Each kernel adds to the bins; rungs.cuh has the launches.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "grid.cuh"

constexpr unsigned kBins = 256;              // one for each value of a byte
constexpr unsigned kHistogramBlock = 1024;   // few blocks: each adds its bins to the global ones
constexpr std::size_t kBytesPerThread = 16;  // at least, unless the grid has one block

/// Rung 0: exact.
inline std::vector<unsigned> histogram_reference(const std::vector<unsigned char>& bytes) {
  std::vector<unsigned> bins(kBins, 0);
  for (const unsigned char byte : bytes) ++bins[byte];
  return bins;
}

/// Blocks for n bytes: kBytesPerThread for each thread, and at most those that are resident.
inline unsigned histogram_blocks(std::size_t n, unsigned most) {
  return std::min(blocks_for(n, kHistogramBlock * kBytesPerThread), most);
}

// Question: what does one atomic per byte cost on 256 addresses that all blocks share?
// Changes:  nothing yet: this is chapter 01's histogram, with a grid-stride loop.
// Cost:     n global atomics; the commoner a byte, the longer its queue.
__global__ void histogram_global(const unsigned char* d_bytes, std::size_t n, unsigned* d_bins) {
  const std::size_t stride = std::size_t{gridDim.x} * blockDim.x;
  for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < n; i += stride) {
    atomicAdd(&d_bins[d_bytes[i]], 1u);
  }
}

// Question: do all blocks have to queue at the same 256 addresses?
// Changes:  each block has its own bins in shared memory, and adds them to the global ones last.
// Cost:     n shared atomics; global ones only for bins that a block used, at most 256 per block.
__global__ void histogram_shared(const unsigned char* d_bytes, std::size_t n, unsigned* d_bins) {
  __shared__ unsigned s_bins[kBins];
  for (unsigned b = threadIdx.x; b < kBins; b += blockDim.x) s_bins[b] = 0;
  __syncthreads();  // all bins are 0 before any thread counts
  const std::size_t stride = std::size_t{gridDim.x} * blockDim.x;
  for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < n; i += stride) {
    atomicAdd_block(&s_bins[d_bytes[i]], 1u);
  }
  __syncthreads();  // all have counted before any thread reads
  for (unsigned b = threadIdx.x; b < kBins; b += blockDim.x) {
    if (s_bins[b] != 0) atomicAdd(&d_bins[b], s_bins[b]);
  }
}

/// Copies of the bins in a block, one for each lane of a warp.
constexpr unsigned kCopies = 32;

/// 32 KiB. Copy c of every bin lies in bank c, so the lanes of a warp never share a bank.
using CopiedBins = unsigned[kBins][kCopies];

__device__ inline void clear(CopiedBins& s_bins) {
  for (unsigned k = threadIdx.x; k < kBins * kCopies; k += blockDim.x) {
    s_bins[k / kCopies][k % kCopies] = 0;
  }
  __syncthreads();  // all bins are 0 before any thread counts
}

/// Adds the block's bins to the global ones.
__device__ inline void merge(const CopiedBins& s_bins, unsigned* d_bins) {
  __syncthreads();  // all have counted before any thread reads
  for (unsigned b = threadIdx.x; b < kBins; b += blockDim.x) {
    unsigned count = 0;
    // Neighbouring threads begin at neighbouring copies; in one column they would share a bank.
    for (unsigned k = 0; k < kCopies; ++k) count += s_bins[b][(k + b) % kCopies];
    if (count != 0) atomicAdd(&d_bins[b], count);
  }
}

// Question: lanes of a warp still share bins and banks; can each lane have its own bins?
// Changes:  32 copies of the bins, side by side: lane l counts in copy l, which lies in bank l.
// Cost:     n shared atomics without conflicts; 32 KiB per block to clear and to merge.
__global__ void histogram_copies(const unsigned char* d_bytes, std::size_t n, unsigned* d_bins) {
  __shared__ CopiedBins s_bins;
  clear(s_bins);
  const unsigned lane = threadIdx.x % kCopies;
  const std::size_t stride = std::size_t{gridDim.x} * blockDim.x;
  for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < n; i += stride) {
    atomicAdd_block(&s_bins[d_bytes[i]][lane], 1u);
  }
  merge(s_bins, d_bins);
}

/// Words of four bytes that a thread has in flight at the same time.
constexpr unsigned kWords = kBytesPerThread / 4;

// Question: one byte per load is little; what if a load brings four?
// Changes:  what is between the first and the last multiple of 4 is read as words, 4 at a time.
// Cost:     a quarter of the loads, and care for a start and an end that are no multiples of 4.
__global__ void histogram_words(const unsigned char* d_bytes, std::size_t n, unsigned* d_bins) {
  __shared__ CopiedBins s_bins;
  clear(s_bins);
  const unsigned lane = threadIdx.x % kCopies;
  const auto count = [&](unsigned byte) { atomicAdd_block(&s_bins[byte][lane], 1u); };

  const std::size_t before = (4 - reinterpret_cast<std::uintptr_t>(d_bytes) % 4) % 4;
  const std::size_t head = n < before ? n : before;
  const std::size_t words = (n - head) / 4;
  const unsigned* const d_words = reinterpret_cast<const unsigned*>(d_bytes + head);
  const std::size_t tile = std::size_t{kWords} * blockDim.x;
  for (std::size_t w = blockIdx.x * tile + threadIdx.x; w < words; w += gridDim.x * tile) {
    unsigned word[kWords];
    for (unsigned k = 0; k < kWords; ++k) {
      const std::size_t at = w + std::size_t{k} * blockDim.x;
      word[k] = at < words ? d_words[at] : 0;
    }
    for (unsigned k = 0; k < kWords; ++k) {
      if (w + std::size_t{k} * blockDim.x >= words) break;
      for (unsigned shift = 0; shift < 32; shift += 8) count(word[k] >> shift & 0xFF);
    }
  }
  if (blockIdx.x == 0) {  // at most three bytes at either end; a block has more threads than that
    if (threadIdx.x < head) count(d_bytes[threadIdx.x]);
    const std::size_t at = head + 4 * words + threadIdx.x;
    if (at < n) count(d_bytes[at]);
  }
  merge(s_bins, d_bins);
}
