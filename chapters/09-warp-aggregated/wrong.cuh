// Wrong on purpose: an aggregated increment in places where its promise does not hold.
#pragma once

#include <course/error.cuh>
#include <cstddef>

#include "aggregate.cuh"
#include "filter.cuh"
#include "grid.cuh"

// Question: what if lanes call atomic_agg_inc with different counters?
// Changes:  places_plain with atomic_agg_inc in the place of atomicAdd.
// Cost:     the leader's counter gets everybody's increment, and all get places in its list.
__global__ void places_agg_inc(const int* d_keys, std::size_t n, Count* d_counts, Count* d_places) {
  const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  // Wrong on purpose: the counter is another one in each lane, and only the leader's is used.
  if (i < n) d_places[i] = atomic_agg_inc(&d_counts[d_keys[i]]);
}

/// Fills d_counts and d_places with wrong numbers wherever a warp has two keys.
inline void places_agg_inc(const int* d_keys, std::size_t n, Count* d_counts, Count* d_places,
                           cudaStream_t stream) {
  if (n == 0) return;
  places_agg_inc<<<blocks_for(n), kBlockSize, 0, stream>>>(d_keys, n, d_counts, d_places);
  CUDA_CHECK_LAUNCH();
}

// Question: what if lanes call it that want no place?
// Changes:  filter_agg_inc asks first, and looks at the number then.
// Cost:     a place for everybody: the count is n, and the output has holes.
__global__ void filter_all_call(const int* d_x, std::size_t n, int* d_out, Count* d_count) {
  const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const Count place = atomic_agg_inc(d_count);  // wrong on purpose: it belongs behind the if
  const int x = d_x[i];
  if (is_kept(x)) d_out[place] = x;
}

/// Adds n to *d_count, and writes the positive numbers somewhere between.
inline void filter_all_call(const int* d_x, std::size_t n, int* d_out, Count* d_count,
                            cudaStream_t stream) {
  if (n == 0) return;
  filter_all_call<<<blocks_for(n), kBlockSize, 0, stream>>>(d_x, n, d_out, d_count);
  CUDA_CHECK_LAUNCH();
}
