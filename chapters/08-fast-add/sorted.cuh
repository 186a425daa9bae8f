// Rows without an atomic on the table: sort first, then one warp owns a row of the table.
// Rungs: rows_sorted, in four kernels: count_bins, scan_bins, partition, gather.
//
// A bin is 128 neighbouring rows of the table. The source rows themselves stay where they are; what
// is sorted are their numbers, in two steps:
//
//   count_bins   how many source rows go to each bin?                       reads the index
//   scan_bins    where do the bin's entries begin?                          one block
//   partition    an entry (source row, target within the bin) to its bin    reads the index again
//   gather       one block per bin: sorts its entries in shared memory,     reads the source, once
//                then one warp per target: sums its rows in registers
//
// All but the last are cheap: 4 bytes per row, where a row of 64 halves has 128.
#pragma once

#include <cuda_fp16.h>

#include <algorithm>
#include <course/buffer.cuh>
#include <course/collectives.cuh>
#include <course/error.cuh>
#include <course/launch.cuh>
#include <course/pack.cuh>
#include <cstddef>
#include <cstdint>

#include "grid.cuh"
#include "index_add.cuh"

constexpr unsigned kTargetBits = 7;
constexpr unsigned kTargetsPerBin = 1u << kTargetBits;
constexpr unsigned kMostBins = 1024;  // a thread of a block for each
constexpr unsigned kRowBits = 24;     // an entry: the source row, and kTargetBits above it
constexpr unsigned kSortBlock = 1024;

// Question: how much goes to each bin?
// Changes:  chapter 03's histogram: private counts in shared memory.
// Cost:     one pass over the index, 16 bytes per load.
__global__ void count_bins(const int* d_index, std::size_t rows, unsigned bins,
                           unsigned* d_counts) {
  __shared__ unsigned s_count[kMostBins];
  for (unsigned b = threadIdx.x; b < bins; b += blockDim.x) s_count[b] = 0;
  __syncthreads();  // all counts are 0
  const std::size_t stride = std::size_t{gridDim.x} * blockDim.x * 4;
  std::size_t first = (std::size_t{blockIdx.x} * blockDim.x + threadIdx.x) * 4;
  for (; first < rows; first += stride) {
    if (first + 4 <= rows) {
      const course::Pack<int, 4> target = course::load_pack<4>(d_index + first);
      for (int k = 0; k < 4; ++k) atomicAdd(&s_count[target.elem[k] >> kTargetBits], 1u);
    } else {
      for (std::size_t r = first; r < rows; ++r) atomicAdd(&s_count[d_index[r] >> kTargetBits], 1u);
    }
  }
  __syncthreads();  // the block has counted all of its rows
  for (unsigned b = threadIdx.x; b < bins; b += blockDim.x) {
    if (s_count[b] > 0) atomicAdd(&d_counts[b], s_count[b]);
  }
}

// Question: where does each bin begin?
// Changes:  chapter 05's prefix sum of a block: thread b has bin b.
// Cost:     one small block; the GPU waits.
__global__ void scan_bins(const unsigned* d_counts, unsigned bins, unsigned* d_start,
                          unsigned* d_cursor) {
  const unsigned b = threadIdx.x;
  const auto scan = course::block_exclusive_scan(b < bins ? d_counts[b] : 0u, course::Sum{});
  if (b < bins) d_start[b] = d_cursor[b] = scan.before;
  if (b == 0) d_start[bins] = scan.total;
}

constexpr unsigned kRowsPerThread = 8;
constexpr unsigned kTile = kSortBlock * kRowsPerThread;  // source rows of a block of partition

/// Shared memory of partition: three numbers per bin; an entry and its bin for each row of the tile.
inline std::size_t partition_bytes(unsigned bins) {
  return bins * 3 * sizeof(unsigned) + kTile * (sizeof(unsigned) + sizeof(unsigned short));
}

// Question: how do the rows' numbers come into their bins?
// Changes:  a block takes 8192 rows, and sorts them by bin in shared memory before it writes: what
//           goes to the same bin leaves as one piece, to a place that one atomic has reserved.
// Cost:     one atomic per bin and block. Written one by one, entries would fill a sector each.
__global__ void __launch_bounds__(kSortBlock, kResidentThreads / kSortBlock)
    partition(const int* d_index, unsigned rows, unsigned bins, unsigned* d_cursor,
              unsigned* d_entries) {
  extern __shared__ unsigned s_memory[];
  unsigned* const s_count = s_memory;        // [bin]: rows of the tile
  unsigned* const s_first = s_count + bins;  // [bin]: where they begin in s_entry
  unsigned* const s_shift = s_first + bins;  // [bin]: what leads from s_entry to d_entries
  unsigned* const s_entry = s_shift + bins;
  auto* const s_bin = reinterpret_cast<unsigned short*>(s_entry + kTile);  // [place in s_entry]
  const unsigned t = threadIdx.x;
  const unsigned first = blockIdx.x * kTile + t;  // rows <= 2^24: can_sort()

  for (unsigned b = t; b < bins; b += kSortBlock) s_count[b] = 0;
  __syncthreads();  // all counts are 0
  unsigned target[kRowsPerThread], rank[kRowsPerThread];
  for (unsigned k = 0; k < kRowsPerThread; ++k) {
    const unsigned r = first + k * kSortBlock;
    if (r < rows) target[k] = static_cast<unsigned>(d_index[r]);
  }
  for (unsigned k = 0; k < kRowsPerThread; ++k) {
    if (first + k * kSortBlock < rows) rank[k] = atomicAdd(&s_count[target[k] >> kTargetBits], 1u);
  }
  __syncthreads();  // the tile is counted, every row knows its place among those of its bin
  const unsigned count = t < bins ? s_count[t] : 0;
  const auto scan = course::block_exclusive_scan(count, course::Sum{});
  if (t < bins) {
    s_first[t] = scan.before;
    s_shift[t] = (count > 0 ? atomicAdd(&d_cursor[t], count) : 0) - scan.before;
  }
  __syncthreads();  // the bins have their places, here and in d_entries
  for (unsigned k = 0; k < kRowsPerThread; ++k) {
    const unsigned r = first + k * kSortBlock;
    if (r >= rows) continue;
    const unsigned bin = target[k] >> kTargetBits, place = s_first[bin] + rank[k];
    s_entry[place] = r | target[k] % kTargetsPerBin << kRowBits;
    s_bin[place] = static_cast<unsigned short>(bin);
  }
  __syncthreads();  // s_entry is sorted by bin
  for (unsigned i = t; i < scan.total; i += kSortBlock) {
    d_entries[s_shift[s_bin[i]] + i] = s_entry[i];
  }
}

constexpr unsigned kGatherBlock = 512;

/// What a block of gather keeps of a chunk of its bin: the source rows of target k are
/// row[first[k]], ..., row[first[k + 1] - 1].
template <unsigned kPerThread>
struct SortedChunk {
  unsigned row[kGatherBlock * kPerThread];
  unsigned first[kTargetsPerBin + 1];
  unsigned count[kTargetsPerBin];
};

/// Sorts `count` entries by target: count, prefix sum, place. All threads of the block call it.
template <unsigned kPerThread>
__device__ __forceinline__ void sort_chunk(const unsigned* d_entries, unsigned count,
                                           SortedChunk<kPerThread>& s_chunk) {
  const unsigned t = threadIdx.x;
  if (t < kTargetsPerBin) s_chunk.count[t] = 0;
  __syncthreads();  // all counts are 0, and all warps are done with the chunk before this one
  unsigned entry[kPerThread];
  unsigned short rank[kPerThread];  // 16 bits, for want of registers
  for (unsigned k = 0; k < kPerThread; ++k) {
    if (t + k * kGatherBlock < count) entry[k] = d_entries[t + k * kGatherBlock];
  }
  for (unsigned k = 0; k < kPerThread; ++k) {
    if (t + k * kGatherBlock >= count) continue;
    rank[k] = static_cast<unsigned short>(atomicAdd(&s_chunk.count[entry[k] >> kRowBits], 1u));
  }
  __syncthreads();  // the chunk is counted
  const auto scan =
      course::block_exclusive_scan(t < kTargetsPerBin ? s_chunk.count[t] : 0u, course::Sum{});
  if (t < kTargetsPerBin) s_chunk.first[t] = scan.before;
  if (t == 0) s_chunk.first[kTargetsPerBin] = scan.total;
  __syncthreads();  // the targets have their places
  for (unsigned k = 0; k < kPerThread; ++k) {
    if (t + k * kGatherBlock >= count) continue;
    s_chunk.row[s_chunk.first[entry[k] >> kRowBits] + rank[k]] = entry[k] % (1u << kRowBits);
  }
  __syncthreads();  // the chunk is sorted
}

constexpr unsigned kRowsInFlight = 4;

/// Adds the source rows rows[0..count-1] to the row at d_target. All lanes of a warp call it: teams
/// of 2^team_bits lanes take every (32 / team)-th row, 16 bytes per lane.
__device__ __forceinline__ void add_rows(const Rows& in, const unsigned* rows, unsigned count,
                                         unsigned team_bits, __half* d_target) {
  const unsigned lane = threadIdx.x % course::kWarpSize, team = 1u << team_bits;
  const unsigned group = lane >> team_bits, groups = course::kWarpSize >> team_bits;
  for (std::size_t first = 0; first < in.width; first += 8 * team) {
    const std::size_t c = first + 8 * (lane & (team - 1));
    const bool mine = c < in.width;  // all lanes stay for the shuffles
    course::Pack<__half, 8> nothing;
    float sum[8];
    for (int j = 0; j < 8; ++j) {
      nothing.elem[j] = additive_identity<__half>();
      sum[j] = additive_identity<float>();
    }
    for (unsigned i = group; i < count; i += kRowsInFlight * groups) {
      course::Pack<__half, 8> loaded[kRowsInFlight];  // all on their way before the first addition
      for (unsigned u = 0; u < kRowsInFlight; ++u) {
        const unsigned at = i + u * groups;
        loaded[u] = mine && at < count
                        ? course::load_pack_once<8>(in.d_source + rows[at] * in.width + c)
                        : nothing;
      }
      for (unsigned u = 0; u < kRowsInFlight; ++u) {
        for (int j = 0; j < 8; ++j) sum[j] += __half2float(loaded[u].elem[j]);
      }
    }
    for (unsigned distance = team; distance < course::kWarpSize; distance *= 2) {
      for (int j = 0; j < 8; ++j) {
        sum[j] += __shfl_xor_sync(course::kAllLanes, sum[j], static_cast<int>(distance));
      }
    }
    if (group == 0 && mine) {  // no other warp has this row of the table: plain load, plain store
      course::Pack<__half, 8> target = course::load_pack<8>(d_target + c);
      for (int j = 0; j < 8; ++j) {
        target.elem[j] = __float2half(__half2float(target.elem[j]) + sum[j]);
      }
      course::store_pack(d_target + c, target);
    }
  }
}

// Question: which thread adds, if no two share an element?
// Changes:  block b has bin b, a warp has a target at a time: its rows are summed in registers
//           and in float, and rounded to half once.
// Cost:     the source is read once, in pieces of a row; the table is read and written once. A bin
//           with more rows than fit into shared memory takes several chunks, each rounded once.
template <unsigned kPerThread>
__global__ void __launch_bounds__(kGatherBlock, 2)
    gather(Rows in, const unsigned* d_entries, const unsigned* d_start, unsigned team_bits,
           __half* d_table) {
  __shared__ SortedChunk<kPerThread> s_chunk;
  const unsigned end = d_start[blockIdx.x + 1];
  for (unsigned begin = d_start[blockIdx.x]; begin < end; begin += kGatherBlock * kPerThread) {
    const unsigned count = min(end - begin, kGatherBlock * kPerThread);
    sort_chunk(d_entries + begin, count, s_chunk);
    for (unsigned k = threadIdx.x / course::kWarpSize; k < kTargetsPerBin;
         k += kGatherBlock / course::kWarpSize) {
      const unsigned first = s_chunk.first[k], rows = s_chunk.first[k + 1] - first;
      if (rows == 0) continue;
      const std::size_t target = std::size_t{blockIdx.x} * kTargetsPerBin + k;
      add_rows(in, s_chunk.row + first, rows, team_bits, d_table + target * in.width);
    }
  }
}

/// Memory for rows_sorted, kept from launch to launch.
struct SortWorkspace {
  void reserve(unsigned bins, std::size_t rows) {
    if (counts.size() < bins) counts = course::DeviceBuffer<unsigned>(bins);
    if (cursor.size() < bins) cursor = course::DeviceBuffer<unsigned>(bins);
    if (start.size() < bins + 1) start = course::DeviceBuffer<unsigned>(bins + 1);
    if (entries.size() < rows) entries = course::DeviceBuffer<unsigned>(rows);
  }
  course::DeviceBuffer<unsigned> counts, cursor, start, entries;
};

/// True if rows_sorted can take these rows: its entries have 24 bits for the source row, its bins
/// 2^17 targets, and its loads 16 bytes.
inline bool can_sort(const Rows& in, const __half* d_table, std::size_t table_rows) {
  return in.rows <= std::size_t{1} << kRowBits &&
         table_rows <= std::size_t{kMostBins} << kTargetBits && rows_are_packs<8>(in, d_table) &&
         reinterpret_cast<std::uintptr_t>(in.d_index) % 16 == 0;
}

/// Adds every source row to its row of the table. What can_sort() refuses goes to rows_red_v4. A
/// workspace belongs to launches that follow each other.
template <unsigned kPerThread = 20>
void rows_sorted(const Rows& in, __half* d_table, std::size_t table_rows, SortWorkspace& workspace,
                 cudaStream_t stream) {
  if (in.rows == 0 || in.width == 0) return;
  if (!can_sort(in, d_table, table_rows)) {
    return launch_rows_red_v4(in, d_table, table_rows, stream);
  }
  const unsigned bins = course::blocks_for(table_rows, kTargetsPerBin);
  workspace.reserve(bins, in.rows);
  unsigned *const d_counts = workspace.counts.data(), *const d_cursor = workspace.cursor.data();
  unsigned *const d_start = workspace.start.data(), *const d_entries = workspace.entries.data();
  static const unsigned most = course::sm_count();
  const unsigned blocks = std::min(most, course::blocks_for(in.rows, kSortBlock * 4));

  CUDA_CHECK(cudaMemsetAsync(d_counts, 0, bins * sizeof(unsigned), stream));
  course::launch(count_bins, {blocks, kSortBlock, 0, stream}, in.d_index, in.rows, bins, d_counts);
  course::launch(scan_bins, {1, kMostBins, 0, stream}, d_counts, bins, d_start, d_cursor);
  const std::size_t shared = partition_bytes(bins);  // up to 60 KiB: beyond the default limit
  course::raise_shared_limit(partition, shared);
  course::launch(partition, {course::blocks_for(in.rows, kTile), kSortBlock, shared, stream},
                 in.d_index, static_cast<unsigned>(in.rows), bins, d_cursor, d_entries);
  course::launch(gather<kPerThread>, {bins, kGatherBlock, 0, stream}, in, d_entries, d_start,
                 team_bits_for(in.width / 8), d_table);
}
