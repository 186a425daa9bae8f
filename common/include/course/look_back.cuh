// Decoupled look-back: the tiles of a launch tell each other what they hold, while the launch runs.
// Chapter 14 (14-scan) builds it step by step and explains it.
//
// A tile's word holds a value and what the value is, and is written and read as a whole: nothing else has
// to be ordered, and no fence is needed. A value of 8 bytes takes two such words, which are believed if
// both say the same. A word carries the stamp of its launch, so that no launch clears the words.
//
// A tile may wait for tiles before it alone, and only if their blocks have started: blocks draw their
// tiles by tickets, or all blocks of the grid are resident (a cooperative launch).
//
// Example (common/tests/examples_test.cu):
//
//   __global__ void sum_before(course::TileStates<float> states, float* d_before) {
//     unsigned tile = 0;  // a block is one warp, and a tile one number
//     if (threadIdx.x == 0) tile = atomicInc(states.d_ticket, gridDim.x - 1);
//     tile = course::shuffle(tile, 0);
//     const auto mine = static_cast<float>(tile + 1);
//     if (threadIdx.x == 0) states.tell(tile, course::Told::aggregate, mine);
//     const float before = course::look_back(states, tile, course::Sum{});
//     if (threadIdx.x != 0) return;
//     states.tell(tile, course::Told::prefix, before + mine);
//     d_before[tile] = before;
//   }
#pragma once

#include <course/buffer.cuh>
#include <course/collectives.cuh>
#include <course/ptx.cuh>
#include <cstddef>
#include <cstring>
#include <cuda/atomic>
#include <type_traits>

namespace course {

// ---- shuffles of any type -----------------------------------------------------------------------

namespace detail {
/// Moves the bits of a value of 4 or 8 bytes by a shuffle of whole numbers.
template <class T, class Shuffle>
__device__ __forceinline__ T move_bits(const T& value, Shuffle shuffle) {
  static_assert(std::is_trivially_copyable_v<T> && (sizeof(T) == 4 || sizeof(T) == 8));
  std::conditional_t<sizeof(T) == 4, unsigned, unsigned long long> bits;
  memcpy(&bits, &value, sizeof bits);
  bits = shuffle(bits);
  T moved;
  memcpy(static_cast<void*>(&moved), &bits, sizeof bits);
  return moved;
}
}  // namespace detail

/// The value of lane `lane` of a full warp. T has 4 or 8 bytes, and may be a struct.
template <class T>
__device__ __forceinline__ T shuffle(const T& value, unsigned lane) {
  return detail::move_bits(
      value, [&](auto bits) { return __shfl_sync(kAllLanes, bits, static_cast<int>(lane)); });
}

/// The value of the lane that is `distance` lanes below; a lane without one gets its own.
template <class T>
__device__ __forceinline__ T shuffle_up(const T& value, unsigned distance) {
  return detail::move_bits(value,
                           [&](auto bits) { return __shfl_up_sync(kAllLanes, bits, distance); });
}

/// warp_inclusive_scan() for any T of 4 or 8 bytes: lane l gets op(x[0], ..., x[l]), in this order.
template <class T, class Operation>
__device__ __forceinline__ T warp_scan_any(T value, Operation op) {
  const unsigned lane = threadIdx.x % kWarpSize;
  for (unsigned distance = 1; distance < kWarpSize; distance *= 2) {
    const T before = shuffle_up(value, distance);
    if (lane >= distance) value = op(before, value);
  }
  return value;
}

// ---- what a tile tells --------------------------------------------------------------------------

/// What a tile has told the others.
enum class Told : unsigned {
  nothing,    // in this launch
  aggregate,  // the reduction of its own elements
  prefix      // the reduction of all elements up to its last one
};

/// What was read of a tile.
template <class T>
struct TileState {
  Told told;
  T value;  // if it has told anything
};

/// The words of the tiles of one launch, and the counter that gives a block its tile.
template <class T>
struct TileStates {
  static_assert(std::is_trivially_copyable_v<T> && (sizeof(T) == 4 || sizeof(T) == 8));
  static constexpr unsigned kWords = sizeof(T) / 4;  // of a tile
  using Word = unsigned long long;  // stamp, a bit for prefix, 32 bits of the value

  Word* d_words;
  unsigned*
      d_ticket;    // 0 when the launch begins; the kernel brings it back to 0, as atomicInc() does
  unsigned stamp;  // 1 to 2^31 - 1

  /// One thread tells the others something of a tile; after a prefix nothing more.
  __device__ void tell(unsigned tile, Told told, const T& value) const {
    unsigned bits[kWords];
    memcpy(bits, &value, sizeof value);
    const Word head = Word{stamp << 1 | (told == Told::prefix ? 1u : 0u)} << 32;
    for (unsigned w = 0; w < kWords; ++w) {
      word(tile, w).store(head | bits[w], cuda::memory_order_relaxed);
    }
  }

  __device__ TileState<T> look_at(unsigned tile) const {
    Word words[kWords];
    for (unsigned w = 0; w < kWords; ++w) {
      words[w] = word(tile, w).load(cuda::memory_order_relaxed);
    }
    const auto head = static_cast<unsigned>(words[0] >> 32);
    bool is_told = head >> 1 == stamp;
    unsigned bits[kWords];
    for (unsigned w = 0; w < kWords; ++w) {
      is_told = is_told && static_cast<unsigned>(words[w] >> 32) == head;
      bits[w] = static_cast<unsigned>(words[w]);
    }
    TileState<T> state;
    memcpy(static_cast<void*>(&state.value), bits, sizeof state.value);
    state.told = !is_told ? Told::nothing : (head & 1) != 0 ? Told::prefix : Told::aggregate;
    return state;
  }

 private:
  __device__ cuda::atomic_ref<Word, cuda::thread_scope_device> word(unsigned tile,
                                                                    unsigned w) const {
    return cuda::atomic_ref<Word, cuda::thread_scope_device>(
        d_words[std::size_t{tile} * kWords + w]);
  }
};

/// Memory for TileStates; it grows. Launches that share it come one after another, as in one stream.
template <class T>
class LookBackMemory {
 public:
  /// The words for the next launch, of at most so many tiles. Throws CudaError.
  TileStates<T> next(unsigned tiles, cudaStream_t stream = nullptr) {
    const std::size_t words = 1 + std::size_t{tiles} * TileStates<T>::kWords;
    const bool used_up = stamp_ + 1 >= 1u << 31;
    if (memory_.size() < words || used_up) {
      if (memory_.size() < words) memory_ = DeviceBuffer<unsigned long long>(words);
      CUDA_CHECK(cudaMemsetAsync(memory_.data(), 0, memory_.bytes(), stream));
      stamp_ = 0;  // of no launch
    }
    ++stamp_;
    return {memory_.data() + 1, reinterpret_cast<unsigned*>(memory_.data()), stamp_};
  }

  /// As if so many launches had been made: tests come to the last stamp with it.
  void skip_to(unsigned stamp) { stamp_ = stamp; }

 private:
  DeviceBuffer<unsigned long long> memory_;  // the ticket, then the words of the tiles
  unsigned stamp_ = 0;
};

// ---- look-back ----------------------------------------------------------------------------------

/// The reduction of all tiles before `tile`, the identity for tile 0. One warp calls it. Its lanes look
/// at the 32 tiles before this one; if none of those has told a prefix, at the 32 before them, and so on.
/// Which tiles have done so depends on the run, and so do the last bits of a sum of floats.
template <class T, class Operation>
__device__ __forceinline__ T look_back(const TileStates<T>& states, unsigned tile, Operation op) {
  const unsigned lane = threadIdx.x % kWarpSize;
  const T identity = Operation::template identity<T>();
  T result = identity;
  for (unsigned end = tile;; end -= kWarpSize) {
    // Lane 31 looks at the tile before `end`, lane 30 at the tile before that: the tiles' order.
    const unsigned back = kWarpSize - lane;
    TileState<T> state = {Told::prefix, identity};  // before the first tile
    unsigned missing, prefixes;
    do {  // until no word is missing after the last prefix
      if (back <= end) state = states.look_at(end - back);
      missing = __ballot_sync(kAllLanes, state.told == Told::nothing);
      prefixes = __ballot_sync(kAllLanes, state.told == Told::prefix);
    } while (missing > prefixes);  // the highest bit of `missing` is above that of `prefixes`
    const bool counts = (prefixes & lanemask_gt()) == 0;  // the last prefix, and what follows
    result = op(shuffle(warp_scan_any(counts ? state.value : identity, op), kWarpSize - 1), result);
    if (prefixes != 0) return result;
  }
}

/// Tiles that look_back_in_groups() takes together, if a lane looks at `per_lane` of them.
template <unsigned per_lane>
inline constexpr unsigned kTilesOfGroup = per_lane* kWarpSize;

/// The same for tiles that come in groups of kTilesOfGroup<per_lane>: the last tile of a group tells its
/// prefix, and each other tile tells its aggregate, once. A tile looks at those before it in its group, and
/// at the last tile of the group before: the order of the operations depends on `tile` alone, and so does
/// the result of a sum of floats. All words are asked for at once.
template <unsigned per_lane, class T, class Operation>
__device__ __forceinline__ T look_back_in_groups(const TileStates<T>& states, unsigned tile,
                                                 Operation op) {
  constexpr unsigned kGroup = kTilesOfGroup<per_lane>;
  const unsigned lane = threadIdx.x % kWarpSize, first = tile / kGroup * kGroup;
  const T identity = Operation::template identity<T>();
  TileState<T> groups = {Told::prefix, identity}, state[per_lane];
  if (first > 0) groups = states.look_at(first - 1);
  bool is_missing;
  do {
    is_missing = false;
    for (unsigned k = 0; k < per_lane; ++k) {
      const unsigned from = first + k * kWarpSize + lane;
      state[k] = {Told::aggregate, identity};
      if (from < tile) state[k] = states.look_at(from);
    }
    for (unsigned k = 0; k < per_lane; ++k) is_missing |= state[k].told == Told::nothing;
  } while (__any_sync(kAllLanes, is_missing));
  T own = identity;
  for (unsigned k = 0; k < per_lane; ++k) {
    if (first + k * kWarpSize >= tile) break;  // for all lanes
    own = op(own, shuffle(warp_scan_any(state[k].value, op), kWarpSize - 1));
  }
  // Each group waits for the group before: as little as possible follows this wait.
  while (groups.told == Told::nothing) groups = states.look_at(first - 1);
  __syncwarp();
  return op(groups.value, own);
}

}  // namespace course
