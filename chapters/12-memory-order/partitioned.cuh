// What if the part of the table that is in use fits into the L2 cache, or into shared memory?
// Rungs: insert_partitioned (split_into_parts, insert_parts, insert_spilled), build_regions
// (split_into_parts, split_into_regions, build_regions, insert_spilled).
// Pairs are first brought together by the piece of the table where they belong.
#pragma once

#include <course/collectives.cuh>
#include <course/device.cuh>
#include <cstddef>

#include "hash_table.cuh"

/// The table is cut into regions, which fit into shared memory, and into parts of kFan regions.
constexpr unsigned kRegionSlots = course::kCpuDevice ? 64 : 4096;
constexpr unsigned kFan = course::kCpuDevice ? 16 : 256;
constexpr unsigned kPartSlots = kRegionSlots * kFan;
constexpr unsigned kBins = kBlockSize;  // a block splits its pairs into at most so many pieces

constexpr unsigned kPerThread = 16, kTilePairs = kBlockSize * kPerThread;

/// Pairs by pieces of the table: those of piece p begin at p * room. counts[p], 0 before, may grow
/// beyond the room: the pairs that did not fit were spilled.
struct Pieces {
  ull* pairs;
  unsigned* counts;
  unsigned room;

  __device__ unsigned count(unsigned piece) const {
    return counts[piece] < room ? counts[piece] : room;
  }
};

/// Pairs that are inserted one by one in the end; room for all of them.
struct Spill {
  ull* pairs;
  unsigned* count;  // 0 before

  __device__ void add(ull pair) const { pairs[atomicAdd(count, 1u)] = pair; }
};

// Question: how are the pairs of a piece brought together without sorting all of them?
// Changes:  a block counts its pairs by piece in shared memory, reserves room in each piece with
//           one atomic, and copies its pairs there, piece after piece.
// Cost:     every pair is read and written once; one global atomic per piece and block.
template <unsigned kSlots>
__device__ void split(const ull* d_tile, unsigned size, unsigned first_piece, Pieces to,
                      Spill spill, unsigned capacity) {
  __shared__ ull s_pairs[kTilePairs];
  __shared__ unsigned s_count[kBins], s_first[kBins], s_base[kBins];
  const unsigned t = threadIdx.x;
  const auto bin_of = [=](ull pair) {
    return slot_of(key_of(pair), capacity) / kSlots - first_piece;
  };
  s_count[t] = 0;
  __syncthreads();  // the counts are zero
  ull pair[kPerThread];
  unsigned rank[kPerThread];  // among the block's pairs of the same piece
  for (unsigned k = 0; k < kPerThread; ++k) {
    if (k * kBlockSize + t < size) pair[k] = d_tile[k * kBlockSize + t];
  }
  for (unsigned k = 0; k < kPerThread; ++k) {
    if (k * kBlockSize + t < size) rank[k] = atomicAdd(&s_count[bin_of(pair[k])], 1u);
  }
  __syncthreads();  // the counts are complete
  const unsigned count = s_count[t];
  s_first[t] = course::block_exclusive_scan(count, course::Sum{}).before;
  if (count > 0) s_base[t] = atomicAdd(&to.counts[first_piece + t], count);
  __syncthreads();  // all know where each piece begins, here and in global memory
  for (unsigned k = 0; k < kPerThread; ++k) {
    if (k * kBlockSize + t < size) s_pairs[s_first[bin_of(pair[k])] + rank[k]] = pair[k];
  }
  __syncthreads();  // s_pairs is in the order of the pieces
  for (unsigned j = t; j < size; j += kBlockSize) {
    const unsigned bin = bin_of(s_pairs[j]), at = s_base[bin] + (j - s_first[bin]);
    if (at < to.room) {
      to.pairs[std::size_t{first_piece + bin} * to.room + at] = s_pairs[j];
    } else {
      spill.add(s_pairs[j]);
    }
  }
}

/// Block b takes the b-th kTilePairs of all pairs.
__global__ void split_into_parts(const ull* d_pairs, std::size_t n, Pieces parts, Spill spill,
                                 unsigned capacity) {
  const std::size_t first = std::size_t{blockIdx.x} * kTilePairs;
  const auto size = static_cast<unsigned>(n - first < kTilePairs ? n - first : kTilePairs);
  split<kPartSlots>(d_pairs + first, size, 0, parts, spill, capacity);
}

/// `blocks` blocks for each part take kTilePairs of its pairs each.
__global__ void split_into_regions(Pieces parts, unsigned blocks, Pieces regions, Spill spill,
                                   unsigned capacity) {
  const unsigned part = blockIdx.x / blocks, count = parts.count(part);
  const unsigned first = blockIdx.x % blocks * kTilePairs;
  if (first >= count) return;  // all threads of the block
  const unsigned size = count - first < kTilePairs ? count - first : kTilePairs;
  split<kRegionSlots>(parts.pairs + std::size_t{part} * parts.room + first, size, part * kFan,
                      regions, spill, capacity);
}

// Question: does the order of the insertions matter?
// Changes:  blocks with neighbouring numbers, which usually run at the same time, insert into the
//           same part.
// Cost:     compare-and-swaps that find their sector in the L2; each sector of the table is read
//           from and written to DRAM once.
__global__ void insert_parts(Pieces parts, unsigned blocks, ull* d_table, unsigned capacity) {
  const unsigned part = blockIdx.x / blocks;
  const ull* const d_pairs = parts.pairs + std::size_t{part} * parts.room;
  const unsigned i = blockIdx.x % blocks * blockDim.x + threadIdx.x;
  if (i < parts.count(part)) insert(d_pairs[i], d_table, capacity);
}

// Question: does the table need global atomics at all?
// Changes:  a block owns a region: it fills it in shared memory, and writes it once, also what is
//           empty. A pair that finds no slot up to the region's end is spilled.
// Cost:     compare-and-swaps on shared memory, 8 bytes read per pair and 8 written per slot.
__global__ void build_regions(Pieces regions, Spill spill, ull* d_table, unsigned capacity) {
  __shared__ ull s_slots[kRegionSlots];
  const unsigned first = blockIdx.x * kRegionSlots, count = regions.count(blockIdx.x);
  const unsigned slots = capacity - first < kRegionSlots ? capacity - first : kRegionSlots;
  for (unsigned j = threadIdx.x; j < slots; j += kBlockSize) s_slots[j] = kEmptyPair;
  __syncthreads();  // the region is empty
  const ull* const d_pairs = regions.pairs + std::size_t{blockIdx.x} * regions.room;
  for (unsigned i = threadIdx.x; i < count; i += kBlockSize) {
    const ull pair = d_pairs[i];
    unsigned slot = slot_of(key_of(pair), capacity) - first;
    for (; slot < slots; ++slot) {
      const ull found = atomicCAS(&s_slots[slot], kEmptyPair, pair);
      if (found == kEmptyPair || key_of(found) == key_of(pair)) break;
    }
    if (slot == slots) spill.add(pair);
  }
  __syncthreads();  // the region is complete
  for (unsigned j = threadIdx.x; j < slots; j += kBlockSize) d_table[first + j] = s_slots[j];
}

/// The last step of both: right for pairs from anywhere.
__global__ void insert_spilled(Spill spill, ull* d_table, unsigned capacity) {
  const unsigned stride = gridDim.x * blockDim.x;
  for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < *spill.count; i += stride) {
    insert(spill.pairs[i], d_table, capacity);
  }
}
