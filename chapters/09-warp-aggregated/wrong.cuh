// Wrong on purpose: an aggregated increment in places where its promise does not hold.
#pragma once

#include <cstddef>

#include "aggregate.cuh"
#include "filter.cuh"
#include "grid.cuh"

// Question: what if lanes call atomic_agg_inc with different counters?
// Changes:  places_plain with atomic_agg_inc instead of atomicAdd.
// Cost:     the leader's counter gets all increments, and all lanes get indices in its list.
__global__ void places_agg_inc(const int* d_keys, std::size_t n, Count* d_counts, Count* d_places) {
  const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  // Wrong on purpose: the counter is another one in each lane, and only the leader's is used.
  if (i < n) d_places[i] = atomic_agg_inc(&d_counts[d_keys[i]]);
}

// Question: what if lanes call it that want no index?
// Changes:  filter_agg_inc reserves an index first, and looks at the number then.
// Cost:     an index for every lane: the count is n, and the output has holes.
__global__ void filter_all_call(const int* d_x, std::size_t n, int* d_out, Count* d_count) {
  const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const Count place = atomic_agg_inc(d_count);  // wrong on purpose: it belongs after the if
  const int x = d_x[i];
  if (is_kept(x)) d_out[place] = x;
}
