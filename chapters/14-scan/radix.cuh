// Sorting by digits: a key's place is a sum of counts, and so a radix sort is a scan.
// Rungs: radix_pass (one digit), radix_sort (all four digits of 32-bit keys).
// The idea of one pass over the keys for each digit, with look-back, is that of Adinets and Merrill's onesweep.
#pragma once

#include <course/buffer.cuh>
#include <course/collectives.cuh>
#include <course/error.cuh>
#include <course/grid.cuh>
#include <course/launch.cuh>
#include <course/ptx.cuh>
#include <cstddef>
#include <cuda/atomic>
#include <stdexcept>
#include <utility>

constexpr unsigned kDigitBits = 8, kDigits = 1u << kDigitBits;
constexpr unsigned kPasses = 32 / kDigitBits;

/// The digit of a pass: 0 for the lowest bits.
__host__ __device__ constexpr unsigned digit_of(unsigned key, unsigned pass) {
  return key >> pass * kDigitBits & (kDigits - 1);
}

// ---- how often each digit comes -----------------------------------------------------------------

constexpr unsigned kCountBlock = 512;

constexpr unsigned kCountKeys = 8;  // of a thread at a time: so many loads are in flight

// Question: where do the keys of a digit begin?
// Changes:  a histogram (chapter 03) for the digits of all passes, in one reading of the keys.
// Cost:     a shared atomic per key and pass; one read of all keys.
__global__ void __launch_bounds__(kCountBlock)
    count_digits(const unsigned* d_keys, std::size_t n, unsigned first, unsigned last,
                 unsigned* d_counts) {
  __shared__ unsigned s_counts[kPasses * kDigits];
  for (unsigned i = threadIdx.x; i < kPasses * kDigits; i += kCountBlock) s_counts[i] = 0;
  __syncthreads();  // all counters are 0
  constexpr std::size_t kRound = kCountKeys * kCountBlock;
  for (std::size_t round = blockIdx.x * kRound; round < n; round += gridDim.x * kRound) {
    unsigned key[kCountKeys];
    for (unsigned k = 0; k < kCountKeys; ++k) {
      const std::size_t i = round + k * kCountBlock + threadIdx.x;
      key[k] = i < n ? d_keys[i] : 0;
    }
    for (unsigned k = 0; k < kCountKeys; ++k) {
      if (round + k * kCountBlock + threadIdx.x >= n) break;
      for (unsigned pass = first; pass < last; ++pass) {
        atomicAdd(&s_counts[pass * kDigits + digit_of(key[k], pass)], 1u);
      }
    }
  }
  __syncthreads();  // the block has counted
  for (unsigned i = threadIdx.x; i < kPasses * kDigits; i += kCountBlock) {
    if (s_counts[i] != 0) atomicAdd(&d_counts[i], s_counts[i]);
  }
}

/// Replaces the counts of each pass by how many keys have a smaller digit. A block for each pass.
__global__ void scan_digits(unsigned* d_counts) {
  unsigned& count = d_counts[blockIdx.x * kDigits + threadIdx.x];
  count = course::block_exclusive_scan(count, course::Sum{}).before;
}

// ---- one pass -----------------------------------------------------------------------------------

/// Threads of a block, and keys of a thread.
template <unsigned threads, unsigned keys, unsigned blocks>
struct RadixShape {
  static constexpr unsigned kThreads = threads, kKeys = keys, kBlocks = blocks;
  static constexpr unsigned kWarps = threads / course::kWarpSize;
  static constexpr unsigned kTile = threads * keys;
  static constexpr std::size_t kSharedBytes = sizeof(unsigned) * (kTile + kWarps * kDigits);
  static_assert(threads >= kDigits, "each digit has a thread");
};

/// The best of several on an H200.
using LadderRadix = RadixShape<384, 23, 2>;

/// What a tile tells of a digit, in one word: 2 bits for what it is, and 30 bits for a count. 0: nothing.
constexpr unsigned kIsAggregate = 1u << 30, kIsPrefix = 2u << 30, kCountMask = kIsAggregate - 1;

/// What a pass reads and writes. d_before[d]: keys with a smaller digit; d_words: a word for each digit of each
/// tile, 0 before; d_ticket: 0 before.
struct RadixPass {
  const unsigned* d_keys;
  std::size_t n;
  unsigned* d_out;
  unsigned pass;
  const unsigned* d_before;
  unsigned* d_words;
  unsigned* d_ticket;
};

/// How a lane finds the lanes whose keys have its digit.
enum class Peers { by_match, by_votes };

/// Those lanes. By match: one instruction, which the GPU works at until all different digits have had their turn.
/// By votes: one for each bit of the digit.
template <Peers peers>
__device__ __forceinline__ unsigned lanes_with_digit(unsigned digit) {
  if constexpr (peers == Peers::by_match) {
    return __match_any_sync(course::kAllLanes, digit);
  } else {
    unsigned lanes = course::kAllLanes;
    for (unsigned bit = 0; bit < kDigitBits; ++bit) {
      const bool is_set = (digit >> bit & 1) != 0;
      const unsigned votes = __ballot_sync(course::kAllLanes, is_set);
      lanes &= is_set ? votes : ~votes;
    }
    return lanes;
  }
}

/// The word of a digit of a tile.
__device__ __forceinline__ cuda::atomic_ref<unsigned, cuda::thread_scope_device> word_of(
    const RadixPass& in, unsigned tile, unsigned digit) {
  return cuda::atomic_ref<unsigned, cuda::thread_scope_device>(
      in.d_words[std::size_t{tile} * kDigits + digit]);
}

__device__ __forceinline__ void tell_digit(const RadixPass& in, unsigned tile, unsigned digit,
                                           unsigned count) {
  word_of(in, tile, digit)
      .store((tile == 0 ? kIsPrefix : kIsAggregate) | count, cuda::memory_order_relaxed);
}

/// How many keys of this digit all tiles before this one have, which has `count`. A thread for each digit.
__device__ __forceinline__ unsigned look_back_for_digit(const RadixPass& in, unsigned tile,
                                                        unsigned digit, unsigned count) {
  if (tile == 0) return 0;
  unsigned before = 0;
  for (unsigned from = tile - 1;;) {
    const unsigned told = word_of(in, from, digit).load(cuda::memory_order_relaxed);
    if (told == 0) continue;
    before += told & kCountMask;
    if ((told & kIsPrefix) != 0) break;
    --from;
  }
  word_of(in, tile, digit).store(kIsPrefix | (before + count), cuda::memory_order_relaxed);
  return before;
}

// Question: where does a key go, if keys with the same digit keep their order?
// Changes:  after the keys of smaller digits, those of its digit in the tiles before, in the warps before, and
//           in the lanes before: four counts, of which a scan gives each. A tile is sorted in shared memory, so
//           that keys of the same digit are neighbours, and are written together.
// Cost:     a match, or eight votes, for each key. Everything is read and written once; 256 words per tile are told.
template <Peers peers_by, class ShapeT>
__global__ void __launch_bounds__(ShapeT::kThreads, ShapeT::kBlocks) radix_pass(RadixPass in) {
  constexpr unsigned kWarps = ShapeT::kWarps, kKeys = ShapeT::kKeys, kTile = ShapeT::kTile;
  extern __shared__ unsigned s_words[];
  unsigned* const s_keys = s_words;            // the tile, sorted by its digits
  unsigned* const s_counts = s_words + kTile;  // [warp][digit]: then keys before those of this warp
  __shared__ unsigned s_to[kDigits];  // where the digit's keys go, less their place in s_keys
  __shared__ unsigned s_tile;
  const unsigned t = threadIdx.x, lane = t % course::kWarpSize, warp = t / course::kWarpSize;
  if (t == 0) s_tile = atomicAdd(in.d_ticket, 1u);
  for (unsigned i = t; i < kWarps * kDigits; i += ShapeT::kThreads) s_counts[i] = 0;
  __syncthreads();  // the block has a tile, and its counters are 0
  const unsigned tile = s_tile;
  const std::size_t first = std::size_t{tile} * kTile;
  const auto size = in.n - first < kTile ? static_cast<unsigned>(in.n - first) : kTile;
  // A warp has kKeys * 32 keys in a row. Past the end a lane has the largest key, the tile's last.
  unsigned key[kKeys], rank[kKeys];
  for (unsigned k = 0; k < kKeys; ++k) {
    const unsigned i = (warp * kKeys + k) * course::kWarpSize + lane;
    key[k] = i < size ? in.d_keys[first + i] : ~0u;
  }
  unsigned* const s_mine = s_counts + warp * kDigits;
  for (unsigned k = 0; k < kKeys; ++k) {
    const unsigned digit = digit_of(key[k], in.pass), peers = lanes_with_digit<peers_by>(digit);
    const unsigned before = s_mine[digit];
    rank[k] = before + static_cast<unsigned>(__popc(peers & course::lanemask_lt()));
    __syncwarp();  // all lanes have read
    if ((peers & course::lanemask_lt()) == 0) {
      s_mine[digit] = before + static_cast<unsigned>(__popc(peers));
    }
    __syncwarp();  // the first lane of each digit has counted for all
  }
  __syncthreads();  // all warps have counted
  unsigned count = 0;
  if (t < kDigits) {
    for (unsigned w = 0; w < kWarps; ++w) {
      const unsigned of_warp = s_counts[w * kDigits + t];
      s_counts[w * kDigits + t] = count;
      count += of_warp;
    }
    tell_digit(in, tile, t, count);
  }
  const unsigned place = course::block_exclusive_scan(count, course::Sum{}).before;
  if (t < kDigits) {
    for (unsigned w = 0; w < kWarps; ++w) s_counts[w * kDigits + t] += place;
  }
  __syncthreads();  // each digit's place in the tile is known
  for (unsigned k = 0; k < kKeys; ++k) {
    s_keys[s_mine[digit_of(key[k], in.pass)] + rank[k]] = key[k];
  }
  if (t < kDigits) s_to[t] = in.d_before[t] + look_back_for_digit(in, tile, t, count) - place;
  __syncthreads();  // the tile is sorted, and each digit's place in the output is known
  for (unsigned i = t; i < size; i += ShapeT::kThreads) {
    in.d_out[s_to[digit_of(s_keys[i], in.pass)] + i] = s_keys[i];
  }
}

// ---- all passes ---------------------------------------------------------------------------------

/// Memory for a sort; grows. Launches that share it come one after another.
struct RadixMemory {
  course::DeviceBuffer<unsigned> words;  // for each pass: digits of tiles, counts, a ticket
  course::DeviceBuffer<unsigned> keys;   // between two passes
};

/// Sorts by the digits of the passes first to last - 1, stably: keys with the same digits keep their order. d_out
/// is not d_keys. Throws std::invalid_argument for more than 2^30 - 1 keys.
template <Peers peers = Peers::by_votes, class ShapeT = LadderRadix>
void launch_radix_passes(const unsigned* d_keys, std::size_t n, unsigned* d_out, unsigned first,
                         unsigned last, RadixMemory& memory, cudaStream_t stream = nullptr) {
  if (n > kCountMask) throw std::invalid_argument("radix_pass: at most 2^30 - 1 keys");
  if (n == 0 || first == last) return;
  const unsigned tiles = course::blocks_for(n, ShapeT::kTile), passes = last - first;
  const std::size_t words = std::size_t{tiles} * kDigits, counts = kPasses * kDigits;
  const std::size_t all = passes * words + counts + kPasses;
  if (memory.words.size() < all) memory.words = course::DeviceBuffer<unsigned>(all);
  if (passes > 1 && memory.keys.size() < n) memory.keys = course::DeviceBuffer<unsigned>(n);
  unsigned* const d_counts = memory.words.data();
  unsigned* const d_tickets = d_counts + counts;
  CUDA_CHECK(cudaMemsetAsync(memory.words.data(), 0, all * sizeof(unsigned), stream));
  static const unsigned filling = course::filling_blocks(kCountBlock);
  const unsigned needed = course::blocks_for(n, kCountKeys * kCountBlock);
  course::launch(count_digits, {needed < filling ? needed : filling, kCountBlock, 0, stream},
                 d_keys, n, first, last, d_counts);
  course::launch(scan_digits, {kPasses, kDigits, 0, stream}, d_counts);
  course::raise_shared_limit(radix_pass<peers, ShapeT>, ShapeT::kSharedBytes);
  // The last pass writes to d_out, and the one before it to the other array.
  const unsigned* d_from = d_keys;
  for (unsigned p = 0; p < passes; ++p) {
    unsigned* const d_to = (passes - p) % 2 == 1 ? d_out : memory.keys.data();
    const RadixPass in = {d_from,
                          n,
                          d_to,
                          first + p,
                          d_counts + (first + p) * kDigits,
                          d_tickets + kPasses + p * words,
                          d_tickets + p};
    course::launch(radix_pass<peers, ShapeT>,
                   {tiles, ShapeT::kThreads, ShapeT::kSharedBytes, stream}, in);
    d_from = d_to;
  }
}

/// Sorts all 32 bits, in four passes.
template <Peers peers = Peers::by_votes, class ShapeT = LadderRadix>
void launch_radix_sort(const unsigned* d_keys, std::size_t n, unsigned* d_out, RadixMemory& memory,
                       cudaStream_t stream = nullptr) {
  launch_radix_passes<peers, ShapeT>(d_keys, n, d_out, 0, kPasses, memory, stream);
}
