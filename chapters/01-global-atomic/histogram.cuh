// How often does each byte occur? 256 shared results instead of one.
// Rungs: byte_histogram_reference, byte_histogram.
// Input: any file (ladder.cu: --file).
#pragma once

#include <array>
#include <cstddef>
#include <vector>

#include "grid.cuh"

constexpr std::size_t kBins = 256;  // one for each value of a byte

/// Rung 0: exact.
inline std::vector<unsigned> byte_histogram_reference(const std::vector<unsigned char>& bytes) {
  std::vector<unsigned> bins(kBins, 0);
  for (const unsigned char byte : bytes) ++bins[byte];
  return bins;
}

// Question: what if the data choose the address?
// Changes:  thread i adds to the bin of byte i. Equal bytes still meet at one address.
// Cost:     one atomic per byte; the contention depends on the data (contention.cuh).
__global__ void byte_histogram(const unsigned char* d_bytes, std::size_t n, unsigned* d_bins) {
  const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < n) atomicAdd(&d_bins[d_bytes[i]], 1u);
}
