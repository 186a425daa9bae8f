// What do the last percent of a sum cost: the atomics at the end, or the loads?
// Rungs: sum_block_atomics (the fast sum of chapter 05), sum_cluster_grid and sum_cluster_barriers (the
// controls of the next one), sum_cluster, sum_bulk; and what no sum can beat: sum_read_only, no_work.
//
// Every sum adds to a cell of two that the launch before has set to 0, and clears the other one for the
// next launch, as sum_two_cells of chapter 05 does: no memset is needed.
#pragma once

#include <algorithm>
#include <course/buffer.cuh>
#include <course/bulk.cuh>
#include <course/cluster.cuh>
#include <course/collectives.cuh>
#include <course/grid.cuh>
#include <course/launch.cuh>
#include <course/ptx.cuh>
#include <cstddef>
#include <vector>

/// Rung 0, in double.
inline double sum_reference(const std::vector<float>& x) {
  double sum = 0;
  for (const float value : x) sum += static_cast<double>(value);
  return sum;
}

/// What every sum gets: x begins at a multiple of 16 bytes.
struct SumInput {
  const float* d_x;
  std::size_t n;
  float* d_sum;   // 0 before; the sum is added
  float* d_next;  // becomes 0
};

/// What is measured and not derived, as in chapter 05.
template <unsigned loads, unsigned block_size, course::CacheHint hint>
struct Tuning {
  static constexpr unsigned kLoads = loads;               // of 16 bytes, in flight per thread
  static constexpr unsigned kBlock = block_size;          // threads
  static constexpr unsigned kRound = loads * block_size;  // packs of four floats that a block takes
  static constexpr course::CacheHint kHint = hint;
};
using TunedForSmall = Tuning<2, 512, course::CacheHint::no_allocate>;
using TunedForLarge = Tuning<4, 1024, course::CacheHint::none>;  // more than 128 MiB

__device__ __forceinline__ float pack_sum(uint4 bits) {
  return (__uint_as_float(bits.x) + __uint_as_float(bits.y)) +
         (__uint_as_float(bits.z) + __uint_as_float(bits.w));
}

/// The sum of up to three elements that fill no pack: threads 0 to 2 of block 0 have one each.
__device__ __forceinline__ float tail_value(const float* d_x, std::size_t n) {
  const std::size_t i = n / 4 * 4 + threadIdx.x;
  return blockIdx.x == 0 && threadIdx.x < 4 && i < n ? d_x[i] : 0.0f;
}
__device__ __forceinline__ float tail_value(const SumInput& in) { return tail_value(in.d_x, in.n); }

/// The sum of this thread's packs of a round: kLoads loads are issued before the first addition.
template <class TuningT>
__device__ __forceinline__ float round_sum(const float* d_x, std::size_t n, std::size_t round) {
  constexpr unsigned kLoads = TuningT::kLoads;
  const std::size_t packs = n / 4;
  const std::size_t first = round * TuningT::kRound + threadIdx.x;
  uint4 pack[kLoads];
  for (unsigned k = 0; k < kLoads; ++k) {
    const std::size_t i = first + k * TuningT::kBlock;
    pack[k] = i < packs ? course::load_16_bytes<TuningT::kHint>(d_x + 4 * i) : uint4{0, 0, 0, 0};
  }
  float sum = 0;
  for (unsigned k = 0; k < kLoads; ++k) sum += pack_sum(pack[k]);
  return sum;
}
/// That of the round of this block, where each block has one.
template <class TuningT>
__device__ __forceinline__ float round_sum(const SumInput& in) {
  return round_sum<TuningT>(in.d_x, in.n, blockIdx.x);
}

__device__ __forceinline__ void clear_next(const SumInput& in) {
  if (blockIdx.x == 0 && threadIdx.x == 0) *in.d_next = 0;
}

// Question: how fast is the sum with everything that chapters 03 to 05 have taught?
// Changes:  nothing yet: 16-byte loads, two in flight per thread, shuffles, one atomic per block.
// Cost:     one atomic per block, all on one address.
template <class TuningT>
__global__ void __launch_bounds__(TuningT::kBlock) sum_block_atomics(SumInput in) {
  clear_next(in);
  const float sum = course::block_reduce(round_sum<TuningT>(in) + tail_value(in), course::Sum{});
  if (threadIdx.x == 0) atomicAdd(in.d_sum, sum);
}

// Question: what do the barriers of sum_cluster cost, without its reduction?
// Changes:  two barriers of the cluster, where sum_cluster has them; still one atomic per block.
// Cost:     a block waits for the slowest of its cluster before it makes its atomic.
template <class TuningT>
__global__ void __launch_bounds__(TuningT::kBlock) sum_cluster_barriers(SumInput in) {
  const auto cluster = course::this_cluster();
  cluster.barrier_arrive();
  clear_next(in);
  const float sum = course::block_reduce(round_sum<TuningT>(in) + tail_value(in), course::Sum{});
  cluster.barrier_wait();
  cluster.sync();
  if (threadIdx.x == 0) atomicAdd(in.d_sum, sum);
}

// Question: do fewer atomics help, now that they are few already?
// Changes:  the blocks of a cluster meet in the shared memory of its block 0, which makes one atomic.
// Cost:     an atomic per cluster, and two barriers of the cluster.
template <class TuningT>
__global__ void __launch_bounds__(TuningT::kBlock) sum_cluster(SumInput in) {
  __shared__ float s_sums[course::kMostBlocksOfCluster];  // used in block 0 of the cluster
  const auto cluster = course::this_cluster();
  cluster.barrier_arrive();  // this block has begun: others may write to its shared memory
  clear_next(in);
  const float sum = course::block_reduce(round_sum<TuningT>(in) + tail_value(in), course::Sum{});
  cluster.barrier_wait();  // block 0 has begun
  if (threadIdx.x == 0) *cluster.map_shared_rank(s_sums + cluster.block_rank(), 0) = sum;
  cluster.sync();  // all sums are in block 0
  if (cluster.block_rank() != 0 || threadIdx.x >= course::kWarpSize) return;
  const float mine = threadIdx.x < cluster.num_blocks() ? s_sums[threadIdx.x] : 0.0f;
  const float all = course::warp_reduce(mine, course::Sum{});
  if (threadIdx.x == 0) atomicAdd(in.d_sum, all);
}

constexpr unsigned kBulkBlock = 512;  // threads
constexpr unsigned kStages = 3;
constexpr unsigned kTileBytes = 32 * 1024;  // per stage
constexpr unsigned kTilePacks = kTileBytes / 16;
constexpr unsigned kSumBulkBytes = kStages * kTileBytes;  // of dynamic shared memory

// Question: do the loads have to be the threads' work?
// Changes:  one thread asks for tiles of 32 KiB, three at a time; an mbarrier tells when one is there.
// Cost:     no registers for loads in flight; every byte passes through shared memory.
__global__ void __launch_bounds__(kBulkBlock) sum_bulk(SumInput in) {
  extern __shared__ __align__(128) uint4 s_tiles[];  // kStages tiles
  __shared__ course::Mbarrier s_loaded[kStages];
  const std::size_t packs = in.n / 4, tiles = (packs + kTilePacks - 1) / kTilePacks;
  const auto packs_of = [&](std::size_t tile) {
    const std::size_t left = packs - tile * kTilePacks;
    return left < kTilePacks ? static_cast<unsigned>(left) : kTilePacks;
  };
  const auto load = [&](std::size_t tile, unsigned stage) {
    course::mbarrier_arrive_expect(&s_loaded[stage], 16 * packs_of(tile));
    course::bulk_load(s_tiles + stage * kTilePacks, in.d_x + 4 * tile * kTilePacks,
                      16 * packs_of(tile), &s_loaded[stage]);
  };
  clear_next(in);
  if (threadIdx.x == 0) {
    for (unsigned s = 0; s < kStages; ++s) {
      course::mbarrier_init(&s_loaded[s], 1);
      const std::size_t tile = blockIdx.x + std::size_t{s} * gridDim.x;
      if (tile < tiles) load(tile, s);
    }
  }
  __syncthreads();  // the mbarriers are there
  float sum = tail_value(in);
  unsigned stage = 0, parity = 0;
  for (std::size_t tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
    course::mbarrier_wait(&s_loaded[stage], parity);  // the tile is there
    for (unsigned i = threadIdx.x; i < packs_of(tile); i += kBulkBlock) {
      sum += pack_sum(s_tiles[stage * kTilePacks + i]);
    }
    __syncthreads();  // the tile has been read: it may be overwritten
    const std::size_t next = tile + std::size_t{kStages} * gridDim.x;
    if (threadIdx.x == 0 && next < tiles) load(next, stage);
    stage = (stage + 1) % kStages;
    if (stage == 0) parity ^= 1;
  }
  sum = course::block_reduce(sum, course::Sum{});
  if (threadIdx.x == 0) atomicAdd(in.d_sum, sum);
}

// Question: how long does it take to read the array, and do nothing with it?
// Changes:  the loads of sum_block_atomics; no sum, no atomic.
// Cost:     that of memory. The exclusive or keeps the compiler from leaving the loads out.
template <class TuningT>
__global__ void __launch_bounds__(TuningT::kBlock) sum_read_only(SumInput in) {
  constexpr unsigned kLoads = TuningT::kLoads;
  const std::size_t packs = in.n / 4;
  const std::size_t first = std::size_t{blockIdx.x} * TuningT::kRound + threadIdx.x;
  uint4 pack[kLoads];
  for (unsigned k = 0; k < kLoads; ++k) {
    const std::size_t i = first + k * TuningT::kBlock;
    pack[k] = i < packs ? course::load_16_bytes<TuningT::kHint>(in.d_x + 4 * i) : uint4{0, 0, 0, 0};
  }
  unsigned folded = 0;
  for (unsigned k = 0; k < kLoads; ++k) {
    folded ^= pack[k].x ^ pack[k].y ^ pack[k].z ^ pack[k].w;
  }
  if (folded == 0x9E37'79B9u) *in.d_next = 1;  // by chance alone; no kernel reads it
}

// Question: how long does a launch take that does nothing?
// Changes:  no loads, no sum: one warp begins and ends.
// Cost:     that of a launch; no kernel takes less.
__global__ void no_work() {}

/// Calls launch(tuning) with that for n elements.
template <class Launch>
void with_tuning(std::size_t n, Launch launch) {
  if (n <= (std::size_t{128} << 20) / sizeof(float)) {
    launch(TunedForSmall{});
  } else {
    launch(TunedForLarge{});
  }
}

/// Rounds of n elements; the last one may have fewer packs.
template <class TuningT>
__host__ __device__ constexpr std::size_t rounds_of(std::size_t n) {
  return (n / 4 + TuningT::kRound - 1) / TuningT::kRound;
}

/// A block per round, in clusters of so many blocks: the last cluster may have blocks without elements.
template <class TuningT>
course::Grid grid_for_rounds(std::size_t n, unsigned cluster = 1) {
  const std::size_t rounds = rounds_of<TuningT>(n);
  const std::size_t clusters = std::max<std::size_t>((rounds + cluster - 1) / cluster, 1);
  return {.blocks = static_cast<unsigned>(clusters * cluster),
          .threads = TuningT::kBlock,
          .cluster = cluster};
}

/// Adds x[0] + ... + x[n-1] to *in.d_sum.
template <class TuningT>
void launch_sum_block_atomics_tuned(const SumInput& in) {
  course::launch(sum_block_atomics<TuningT>, grid_for_rounds<TuningT>(in.n), in);
}
inline void launch_sum_block_atomics(const SumInput& in) {
  with_tuning(in.n, [&]<class T>(T) { launch_sum_block_atomics_tuned<T>(in); });
}

/// The same kernel in clusters of eight blocks, which it makes no use of: sum_cluster_grid.
inline void launch_sum_cluster_grid(const SumInput& in) {
  with_tuning(in.n, [&]<class T>(T) {
    course::launch(sum_block_atomics<T>, grid_for_rounds<T>(in.n, course::kMostBlocksOfCluster),
                   in);
  });
}

/// The same in clusters, with their barriers.
inline void launch_sum_cluster_barriers(const SumInput& in) {
  with_tuning(in.n, [&]<class T>(T) {
    course::launch(sum_cluster_barriers<T>, grid_for_rounds<T>(in.n, course::kMostBlocksOfCluster),
                   in);
  });
}

/// The same, in clusters of eight blocks.
template <class TuningT>
void launch_sum_cluster_tuned(const SumInput& in) {
  const course::Grid grid = grid_for_rounds<TuningT>(in.n, course::kMostBlocksOfCluster);
  course::launch(sum_cluster<TuningT>, grid, in);
}
inline void launch_sum_cluster(const SumInput& in) {
  with_tuning(in.n, [&]<class T>(T) { launch_sum_cluster_tuned<T>(in); });
}

/// The same, by two blocks per SM that take tiles in turn.
inline void launch_sum_bulk(const SumInput& in) {
  course::raise_shared_limit(sum_bulk, kSumBulkBytes);
  const std::size_t tiles = (in.n / 4 + kTilePacks - 1) / kTilePacks;
  const auto most = std::size_t{2} * course::sm_count();
  const auto blocks = static_cast<unsigned>(std::clamp<std::size_t>(tiles, 1, most));
  course::launch(sum_bulk, {blocks, kBulkBlock, kSumBulkBytes}, in);
}

/// Reads the array, and changes nothing.
template <class TuningT>
void launch_sum_read_only_tuned(const SumInput& in) {
  course::launch(sum_read_only<TuningT>, grid_for_rounds<TuningT>(in.n), in);
}
inline void launch_sum_read_only(const SumInput& in) {
  with_tuning(in.n, [&]<class T>(T) { launch_sum_read_only_tuned<T>(in); });
}
