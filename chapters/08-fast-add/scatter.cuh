// Many values, and for each the number of the element that it is added to: index_add of single
// numbers. Chapter 01's histogram, with halves for counts.
// Rungs: scatter_reference, scatter_half, scatter_fast, scatter_float, scatter_privatized,
//        scatter_in_parts.
//
//   for i in 0..n-1:  table[index[i]] += values[i]
//
// An index is an int, 0 <= index[i] < targets: the caller has made sure of that. Kernels do not
// look, and an index out of range writes outside the table.
#pragma once

#include <cuda_fp16.h>

#include <algorithm>
#include <course/launch.cuh>
#include <course/pack.cuh>
#include <cstddef>
#include <cstdint>
#include <thread>
#include <vector>

#include "fast_atomic_add.cuh"
#include "grid.cuh"

/// Rung 0, in double. Of many updates a CPU thread each takes those of its part of the table, so
/// that a ladder does not wait for its reference longer than for all rungs.
template <class T>
std::vector<double> scatter_reference(const std::vector<T>& values, const std::vector<int>& index,
                                      std::size_t targets) {
  std::vector<double> table(targets, 0.0);
  const auto add_between = [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = 0; i < values.size(); ++i) {
      const auto t = static_cast<std::size_t>(index[i]);
      if (t >= begin && t < end) table[t] += static_cast<double>(static_cast<float>(values[i]));
    }
  };
  constexpr std::size_t kMany = std::size_t{1} << 22, kThreads = 8;
  if (values.size() < kMany) {
    add_between(0, targets);
    return table;
  }
  std::vector<std::thread> threads;
  for (std::size_t k = 0; k < kThreads; ++k) {
    threads.emplace_back(add_between, targets * k / kThreads, targets * (k + 1) / kThreads);
  }
  for (std::thread& thread : threads) thread.join();
  return table;
}

// Question: what does the function cost that CUDA has for it?
// Changes:  thread i adds value i with atomicAdd(__half*).
// Cost:     a compare-and-swap loop on the word around the half (chapter 07): two trips to the L2
//           cache if no other thread interferes, and any number of them if many do.
__global__ void scatter_half(const __half* d_values, const int* d_index, std::size_t n,
                             __half* d_table) {
  const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < n) atomicAdd(d_table + d_index[i], d_values[i]);
}

/// Adds to d_table[d_index[i]] the values d_values[i], i < n.
inline void launch_scatter_half(const __half* d_values, const int* d_index, std::size_t n,
                                __half* d_table, std::size_t, cudaStream_t stream) {
  course::launch(scatter_half, {blocks_for(n), kBlockSize, 0, stream}, d_values, d_index, n,
                 d_table);
}

// Question: how can one half be added with one instruction?
// Changes:  fast_atomic_add: the half and its neighbour, to which it adds -0.0.
// Cost:     one RED per warp. Lanes and warps that add to the same word are executed one by one.
template <class T>
__global__ void scatter_fast(const T* d_values, const int* d_index, std::size_t n, T* d_table,
                             std::size_t targets) {
  const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < n) fast_atomic_add(d_table, static_cast<std::size_t>(d_index[i]), targets, d_values[i]);
}

/// Adds to d_table[d_index[i]] the values d_values[i], i < n. The table has `targets` elements.
template <class T>
void launch_scatter_fast(const T* d_values, const int* d_index, std::size_t n, T* d_table,
                         std::size_t targets, cudaStream_t stream) {
  course::launch(scatter_fast<T>, {blocks_for(n), kBlockSize, 0, stream}, d_values, d_index, n,
                 d_table, targets);
}

// Question: what does a table of floats cost, whose sums do not stagnate at 2048?
// Changes:  the table has floats; the values stay halves.
// Cost:     one RED per warp, and twice the table.
__global__ void scatter_float(const __half* d_values, const int* d_index, std::size_t n,
                              float* d_table) {
  const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < n) atomicAdd(d_table + d_index[i], __half2float(d_values[i]));
}

/// Adds to d_table[d_index[i]] the values d_values[i], i < n.
inline void launch_scatter_float(const __half* d_values, const int* d_index, std::size_t n,
                                 float* d_table, std::size_t, cudaStream_t stream) {
  course::launch(scatter_float, {blocks_for(n), kBlockSize, 0, stream}, d_values, d_index, n,
                 d_table);
}

// ---- eight updates per thread -------------------------------------------------------------------

constexpr unsigned kUpdates = 8;

/// The updates first, first + 1, ...: eight of them, fewer at the end.
struct Updates {
  __half value[kUpdates];
  int at[kUpdates];
  unsigned count;
};

/// Three loads of 16 bytes for eight updates.
__device__ __forceinline__ Updates load_updates(const __half* d_values, const int* d_index,
                                                std::size_t n, std::size_t first) {
  Updates updates;
  if (first + kUpdates <= n) {
    const auto values = course::load_pack_once<8>(d_values + first);
    const auto at0 = course::load_pack_once<4>(d_index + first);
    const auto at4 = course::load_pack_once<4>(d_index + first + 4);
    for (unsigned k = 0; k < kUpdates; ++k) {
      updates.value[k] = values.elem[k];
      updates.at[k] = k < 4 ? at0.elem[k % 4] : at4.elem[k % 4];
    }
    updates.count = kUpdates;
  } else {
    updates.count = static_cast<unsigned>(first < n ? n - first : 0);
    for (unsigned k = 0; k < kUpdates; ++k) {
      updates.value[k] = k < updates.count ? d_values[first + k] : __half();
      updates.at[k] = k < updates.count ? d_index[first + k] : 0;
    }
  }
  return updates;
}

/// True if both arrays begin at multiples of 16 bytes.
inline bool updates_are_packs(const __half* d_values, const int* d_index) {
  return reinterpret_cast<std::uintptr_t>(d_values) % 16 == 0 &&
         reinterpret_cast<std::uintptr_t>(d_index) % 16 == 0;
}

/// As many floats as fit into the 48 KiB of shared memory that a block gets by default.
constexpr std::size_t kMostPrivateTargets = 48 * 1024 / sizeof(float);

// Question: with few targets, millions of updates contend for each. How can blocks add separately?
// Changes:  every block has a table of its own, in shared memory, of floats; it takes many updates,
//           and adds its sums to the global table once, at its end.
// Cost:     an atomic in shared memory for each update; targets / 2 REDs for each block.
__global__ void __launch_bounds__(kBlockSize, kResidentThreads / kBlockSize)
    scatter_privatized(const __half* d_values, const int* d_index, std::size_t n, __half* d_table,
                       unsigned targets) {
  extern __shared__ float s_sum[];  // targets of them
  // -0.0, the identity: a target without updates adds nothing to the global table.
  for (unsigned t = threadIdx.x; t < targets; t += blockDim.x) s_sum[t] = -0.0f;
  __syncthreads();  // all sums are set
  const std::size_t stride = std::size_t{gridDim.x} * blockDim.x * kUpdates;
  std::size_t first = (std::size_t{blockIdx.x} * blockDim.x + threadIdx.x) * kUpdates;
  for (; first < n; first += stride) {
    const Updates updates = load_updates(d_values, d_index, n, first);
    for (unsigned k = 0; k < kUpdates; ++k) {
      if (k < updates.count) atomicAdd(&s_sum[updates.at[k]], __half2float(updates.value[k]));
    }
  }
  __syncthreads();  // all updates of the block are in
  for (unsigned t = 2 * threadIdx.x; t < targets; t += 2 * blockDim.x) {
    const __half low = __float2half(s_sum[t]);
    if (t + 1 < targets && is_low(d_table + t)) {
      course::red_add(reinterpret_cast<__half2*>(d_table + t),
                      pair_of(low, __float2half(s_sum[t + 1])));
    } else {
      fast_atomic_add(d_table, t, targets, low);
      if (t + 1 < targets) fast_atomic_add(d_table, t + 1, targets, __float2half(s_sum[t + 1]));
    }
  }
}

/// Adds to d_table[d_index[i]] the values d_values[i], i < n. Tables of more than
/// kMostPrivateTargets elements, and misaligned arrays, go to scatter_fast.
inline void launch_scatter_privatized(const __half* d_values, const int* d_index, std::size_t n,
                                      __half* d_table, std::size_t targets, cudaStream_t stream) {
  if (n == 0) return;
  if (targets > kMostPrivateTargets || !updates_are_packs(d_values, d_index)) {
    return launch_scatter_fast(d_values, d_index, n, d_table, targets, stream);
  }
  const std::size_t shared = targets * sizeof(float);
  static std::size_t asked_for = 0;
  static unsigned resident = 0;  // asking the driver takes longer than a launch
  if (asked_for != shared) {
    resident = course::resident_blocks(scatter_privatized, kBlockSize, shared);
    asked_for = shared;
  }
  // A private table pays if a block has more updates than targets: a block for so many, rounded up.
  const std::size_t per_block = std::max<std::size_t>(targets, kBlockSize * kUpdates);
  const unsigned blocks = std::min(course::blocks_for(n, per_block), resident);
  course::launch(scatter_privatized, {blocks, kBlockSize, shared, stream}, d_values, d_index, n,
                 d_table, static_cast<unsigned>(targets));
}

/// 16 MiB of the table: several of them fit into the L2 cache of a large GPU, with room for what
/// streams by.
constexpr unsigned kPartBits = 23;

// Question: the table is larger than the L2 cache, and every update fetches a sector of it from
//           DRAM and sends it back. How can it find its sector in the cache?
// Changes:  the updates are read once for every part of the table, and each time only those of that
//           part are made. Blocks usually start in order, and then all are in the same part or two.
// Cost:     reading n updates once per part: 6 bytes each, in order. Without parts an update moves
//           32 bytes from DRAM and 32 back, at a random address.
__global__ void scatter_in_parts(const __half* d_values, const int* d_index, std::size_t n,
                                 __half* d_table, std::size_t targets, unsigned part_bits,
                                 unsigned blocks_per_part) {
  const int part = static_cast<int>(blockIdx.x / blocks_per_part);
  const std::size_t block = blockIdx.x % blocks_per_part;
  const Updates updates =
      load_updates(d_values, d_index, n, (block * blockDim.x + threadIdx.x) * kUpdates);
  for (unsigned k = 0; k < kUpdates; ++k) {
    if (k < updates.count && updates.at[k] >> part_bits == part) {
      fast_atomic_add(d_table, static_cast<std::size_t>(updates.at[k]), targets, updates.value[k]);
    }
  }
}

/// Adds to d_table[d_index[i]] the values d_values[i], i < n. A part has 2^kBits elements.
/// Misaligned arrays go to scatter_fast.
template <unsigned kBits = kPartBits>
void launch_scatter_in_parts(const __half* d_values, const int* d_index, std::size_t n,
                             __half* d_table, std::size_t targets, cudaStream_t stream) {
  if (!updates_are_packs(d_values, d_index)) {
    return launch_scatter_fast(d_values, d_index, n, d_table, targets, stream);
  }
  const unsigned blocks_per_part = course::blocks_for(n, kBlockSize * kUpdates);
  const unsigned parts = course::blocks_for(targets, std::size_t{1} << kBits);
  course::launch(scatter_in_parts, {blocks_per_part * parts, kBlockSize, 0, stream}, d_values,
                 d_index, n, d_table, targets, kBits, blocks_per_part);
}
