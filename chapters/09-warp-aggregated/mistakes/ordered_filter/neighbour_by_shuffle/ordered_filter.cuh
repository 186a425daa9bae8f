// Takes the number before from the lane before; lane 0 has none and gets its own back, so the first
// number of every warp is left out.
#pragma once

#include <cuda_runtime.h>

#include <course/buffer.cuh>
#include <course/collectives.cuh>
#include <course/error.cuh>
#include <course/exercise.cuh>
#include <cstddef>

__host__ __device__ inline std::size_t part_begin(std::size_t n, unsigned parts, unsigned b) {
  const std::size_t size = (n + parts - 1) / parts, begin = size * b;
  return begin < n ? begin : n;
}

__global__ void count_changes(const int* x, std::size_t n, unsigned long long* counts) {
  const std::size_t begin = part_begin(n, gridDim.x, blockIdx.x);
  const std::size_t end = part_begin(n, gridDim.x, blockIdx.x + 1);
  unsigned long long kept = 0;
  for (std::size_t i = begin + threadIdx.x; i < end; i += blockDim.x) {
    if (i == 0 || x[i] != x[i - 1]) ++kept;
  }
  kept = course::block_reduce(kept, course::Sum{});
  if (threadIdx.x == 0) counts[blockIdx.x] = kept;
}

__global__ void write_changes(const int* x, std::size_t n, const unsigned long long* begins,
                              int* out, unsigned long long* when) {
  const std::size_t begin = part_begin(n, gridDim.x, blockIdx.x);
  const std::size_t end = part_begin(n, gridDim.x, blockIdx.x + 1);
  unsigned long long before = begins[blockIdx.x];
  for (std::size_t first = begin; first < end; first += blockDim.x) {
    const std::size_t i = first + threadIdx.x;
    const int value = i < end ? x[i] : 0;
    const int previous = __shfl_up_sync(0xffffffffu, value, 1);
    const bool keep = i < end && (i == 0 || value != previous);
    const auto scan = course::block_exclusive_scan(keep ? 1u : 0u, course::Sum{});
    if (keep) {
      out[before + scan.before] = value;
      when[before + scan.before] = i;
    }
    before += scan.total;
  }
}

__global__ void begins_of_counts(unsigned long long* counts, unsigned parts,
                                 unsigned long long* total) {
  unsigned long long before = 0;
  for (unsigned first = 0; first < parts; first += blockDim.x) {
    const unsigned b = first + threadIdx.x;
    const auto scan = course::block_exclusive_scan(b < parts ? counts[b] : 0ull, course::Sum{});
    if (b < parts) counts[b] = before + scan.before;
    before += scan.total;
  }
  if (threadIdx.x == 0) *total = before;
}

inline std::size_t ordered_filter(const int* x, std::size_t n, int* out, unsigned long long* when) {
  if (n == 0) return 0;
  constexpr unsigned kBlock = 256;
  const auto parts = static_cast<unsigned>(n / 4096 < 1024 ? n / 4096 + 1 : 1024);
  course::DeviceBuffer<unsigned long long> counts(parts), total(1);
  count_changes<<<parts, kBlock>>>(x, n, counts.data());
  CUDA_CHECK_LAUNCH();
  begins_of_counts<<<1, kBlock>>>(counts.data(), parts, total.data());
  CUDA_CHECK_LAUNCH();
  write_changes<<<parts, kBlock>>>(x, n, counts.data(), out, when);
  CUDA_CHECK_LAUNCH();
  return total.front();
}
