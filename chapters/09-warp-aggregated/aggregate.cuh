// One atomic for all lanes of a warp that want one: which lane adds, and what do the others get?
// Rungs: filter_agg_inc, filter_coalesced; places_plain, places_keyed, places_labeled;
//        sum_float_plain, sum_float_coalesced, sum_float_warp.
// The idea is that of NVIDIA's article on warp-aggregated atomics (README.md). Lanes meet in
// registers: shuffles and votes need no shared memory and no barrier.
#pragma once

#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>

#include <course/collectives.cuh>
#include <course/ptx.cuh>
#include <cstddef>

#include "filter.cuh"
#include "grid.cuh"

// ---- one counter --------------------------------------------------------------------------------

/// atomicAdd(counter, 1) for all lanes that call it together: one atomic, and each of them gets a
/// number of its own. Only lanes that want a number may call it, and all that call it together pass
/// the same counter. How many lanes are together affects the speed alone: any group is right.
__device__ __forceinline__ Count atomic_agg_inc(Count* counter) {
  const unsigned active = __activemask();  // the lanes that are here with me, as a mask
  const int leader = __ffs(static_cast<int>(active)) - 1;   // the lowest of them
  const int rank = __popc(active & course::lanemask_lt());  // how many of them are before me
  Count base = 0;
  if (rank == 0) base = atomicAdd(counter, Count(__popc(active)));  // indices for all of us
  base = __shfl_sync(active, base, leader);  // only the leader knows where they begin
  return base + static_cast<unsigned>(rank);
}

// Question: 32 lanes add to the same counter; can one of them add for all?
// Changes:  filter_plain with atomic_agg_inc: the lanes that keep something elect a leader.
// Cost:     one atomic per warp; a vote, two population counts and a shuffle.
__global__ void filter_agg_inc(const int* d_x, std::size_t n, int* d_out, Count* d_count) {
  const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  const int x = i < n ? d_x[i] : kNotKept;
  if (is_kept(x)) d_out[atomic_agg_inc(d_count)] = x;
}

/// atomic_agg_inc() with cooperative groups: the group is the lanes that call it together.
__device__ __forceinline__ Count atomic_coalesced_inc(Count* counter) {
  const auto group = cooperative_groups::coalesced_threads();
  Count base = 0;
  if (group.thread_rank() == 0) base = atomicAdd(counter, Count{group.size()});
  return group.shfl(base, 0) + group.thread_rank();
}

// Question: how is that written without masks?
// Changes:  cg::coalesced_threads(): ranks instead of lanes, rank 0 is the leader.
// Cost:     the same.
__global__ void filter_coalesced(const int* d_x, std::size_t n, int* d_out, Count* d_count) {
  const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  const int x = i < n ? d_x[i] : kNotKept;
  if (is_kept(x)) d_out[atomic_coalesced_inc(d_count)] = x;
}

// ---- several counters ---------------------------------------------------------------------------

/// As atomic_agg_inc(), but lanes may pass different counters: those with the same one form a group
/// with a leader of its own. One atomic for each different counter.
__device__ __forceinline__ Count atomic_agg_inc_keyed(Count* counter) {
  const auto address = reinterpret_cast<unsigned long long>(counter);
  const unsigned peers = __match_any_sync(__activemask(), address);  // the lanes with my counter
  const int leader = __ffs(static_cast<int>(peers)) - 1;
  const int rank = __popc(peers & course::lanemask_lt());
  Count base = 0;
  if (rank == 0) base = atomicAdd(counter, Count(__popc(peers)));
  base = __shfl_sync(peers, base, leader);  // each group has its own shuffle
  return base + static_cast<unsigned>(rank);
}

// The rungs add to d_counts[k] how often d_keys[0..n-1] holds k, and give each number a place of
// its own among those with its key, from the old d_counts[k] on. Any order.

// Question: every number belongs to one of several lists; what is its index in that list?
// Changes:  the counter depends on the data: d_counts[key].
// Cost:     an atomic per number: nvcc cannot know which lanes have the same key.
__global__ void places_plain(const int* d_keys, std::size_t n, Count* d_counts, Count* d_places) {
  const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < n) d_places[i] = atomicAdd(&d_counts[d_keys[i]], Count{1});
}

// Question: can lanes with the same key share an atomic?
// Changes:  __match_any_sync on the counter's address sorts the lanes into groups.
// Cost:     one atomic per different key of a warp; a match costs more than a vote.
__global__ void places_keyed(const int* d_keys, std::size_t n, Count* d_counts, Count* d_places) {
  const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < n) d_places[i] = atomic_agg_inc_keyed(&d_counts[d_keys[i]]);
}

// Question: how is that written with cooperative groups?
// Changes:  cg::labeled_partition splits the group by key; each part has its rank 0.
// Cost:     the same, if the compiler optimises it as well.
__global__ void places_labeled(const int* d_keys, std::size_t n, Count* d_counts, Count* d_places) {
  const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const int key = d_keys[i];
  const auto group =
      cooperative_groups::labeled_partition(cooperative_groups::coalesced_threads(), key);
  Count base = 0;
  if (group.thread_rank() == 0) base = atomicAdd(&d_counts[key], Count{group.size()});
  d_places[i] = group.shfl(base, 0) + group.thread_rank();
}

// ---- floats -------------------------------------------------------------------------------------

// The rungs add the numbers of x[0..n-1] above the limit to *d_sum.

// Question: does nvcc aggregate a float's atomics, too?
// Changes:  the numbers above a limit are summed, not moved.
// Cost:     an atomic for each of them: a compiler may not change the order of float additions.
__global__ void sum_float_plain(const float* d_x, std::size_t n, float limit, float* d_sum) {
  const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const float x = d_x[i];
  if (x > limit) atomicAdd(d_sum, x);
}

// Question: how can lanes in any branch share a float's atomic?
// Changes:  the lanes that are active together sum their values in registers; one of them adds it.
// Cost:     one atomic per warp, and a reduction over lanes that need not be neighbours.
__global__ void sum_float_coalesced(const float* d_x, std::size_t n, float limit, float* d_sum) {
  const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const float x = d_x[i];
  if (!(x > limit)) return;
  const auto group = cooperative_groups::coalesced_threads();
  const float sum = cooperative_groups::reduce(group, x, cooperative_groups::plus<float>{});
  if (group.thread_rank() == 0) atomicAdd(d_sum, sum);
}

// Question: must a lane know which lanes are active?
// Changes:  all 32 lanes take part; one with nothing to add adds a 0: chapter 05's warp sum.
// Cost:     one atomic per warp, five shuffles; the mask is known.
__global__ void sum_float_warp(const float* d_x, std::size_t n, float limit, float* d_sum) {
  const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  float x = i < n ? d_x[i] : limit;
  if (!(x > limit)) x = 0;
  const float sum = course::warp_reduce(x, course::Sum{});
  if (threadIdx.x % course::kWarpSize == 0 && sum != 0) atomicAdd(d_sum, sum);
}
