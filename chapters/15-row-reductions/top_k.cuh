// Which are the eight largest elements of a row?
// Rungs: top_k_by_rounds (short rows), top_k_by_threshold.
//
// Largest first; of equal elements the one of the smaller column is first. A NaN is larger than any number, and -0 and +0
// are equal, as in argmax.cuh. A row has at least eight elements, and fewer than 2^32.
#pragma once

#include <algorithm>
#include <cmath>
#include <course/collectives.cuh>
#include <course/launch.cuh>
#include <course/pack.cuh>
#include <cstddef>
#include <limits>
#include <numeric>
#include <stdexcept>
#include <vector>

#include "argmax.cuh"
#include "teams.cuh"

constexpr unsigned kTop = 8;  // elements that are wanted of each row

/// What becomes of the rows of x: kTop values and columns of each.
template <class T>
struct TopRows {
  const T* d_x;  // rows x width
  std::size_t rows, width;
  T* d_values;          // rows x kTop
  unsigned* d_columns;  // rows x kTop
};

/// Rung 0: the columns.
template <class T>
std::vector<unsigned> top_reference(const std::vector<T>& x, std::size_t width) {
  std::vector<unsigned> columns, order(width);
  for (std::size_t first = 0; first < x.size(); first += width) {
    const auto value = [&](unsigned c) { return static_cast<float>(x[first + c]); };
    std::iota(order.begin(), order.end(), 0u);
    std::partial_sort(order.begin(), order.begin() + kTop, order.end(),
                      [&](unsigned a, unsigned b) {
                        const bool a_is_nan = std::isnan(value(a)), b_is_nan = std::isnan(value(b));
                        if (a_is_nan != b_is_nan) return a_is_nan;
                        if (!a_is_nan && value(a) != value(b)) return value(a) > value(b);
                        return a < b;
                      });
    columns.insert(columns.end(), order.begin(), order.begin() + kTop);
  }
  return columns;
}

constexpr unsigned kTopBlock = 128;  // threads
constexpr unsigned kTopWarps = kTopBlock / course::kWarpSize;

/// The largest kTop of the keys that the lanes of a warp hold, two each, the larger one in `a`: lane l returns the l-th
/// of them, from 0 on. 0 is no key.
__device__ __forceinline__ unsigned long long top_of_warp(unsigned long long a,
                                                          unsigned long long b) {
  const unsigned lane = threadIdx.x % course::kWarpSize;
  unsigned long long mine = 0;
  for (unsigned k = 0; k < kTop; ++k) {
    // The maximum of 64 bits by two instructions of 32: the upper half, then the lower one of those that have it.
    const unsigned high = static_cast<unsigned>(a >> 32);
    const unsigned most = course::warp_reduce(high, course::Max{});
    const unsigned low =
        course::warp_reduce(high == most ? static_cast<unsigned>(a) : 0u, course::Max{});
    const unsigned long long key = static_cast<unsigned long long>(most) << 32 | low;
    if (lane == k) mine = key;
    if (a == key) {  // one lane: no two keys have the same column
      a = b;
      b = 0;
    }
  }
  return mine;
}

/// The lanes 0 to kTop - 1 store what they have.
template <class T>
__device__ __forceinline__ void store_top(const TopRows<T>& in, std::size_t row,
                                          unsigned long long key) {
  const unsigned lane = threadIdx.x % course::kWarpSize;
  if (lane >= kTop) return;
  in.d_values[row * kTop + lane] = in.d_x[row * in.width + column_of(key)];
  in.d_columns[row * kTop + lane] = column_of(key);
}

// Question: what does it take to find eight maxima instead of one?
// Changes:  a warp holds a row of up to 64 elements as keys, and takes the largest one away, eight times.
// Cost:     one read; eight maxima of 64 bits, some hundred instructions for each row.
template <class T>
__global__ void __launch_bounds__(kTopBlock) top_k_by_rounds(TopRows<T> in) {
  const unsigned lane = threadIdx.x % course::kWarpSize;
  const std::size_t row = std::size_t{blockIdx.x} * kTopWarps + threadIdx.x / course::kWarpSize;
  if (row >= in.rows) return;
  const auto key_at = [&](unsigned c) {
    if (c >= in.width) return 0ull;
    return key_of(ordered_bits(static_cast<float>(in.d_x[row * in.width + c])), c);
  };
  const unsigned long long a = key_at(lane), b = key_at(lane + course::kWarpSize);
  store_top(in, row, top_of_warp(max(a, b), min(a, b)));
}

/// The kTop largest keys that a warp has met: lane l < kTop holds the l-th largest, 0 if there is none.
class TopList {
 public:
  /// Elements that are not above `floor` are left out until there are kTop keys: a NaN leaves out none.
  __device__ explicit TopList(float floor) : floor_(floor) {}

  /// False for elements that change nothing.
  __device__ __forceinline__ bool wants(float x) const { return !(x <= floor_); }

  /// All lanes call it with the same key.
  __device__ __forceinline__ void insert(unsigned long long key) {
    const unsigned lane = threadIdx.x % course::kWarpSize;
    const unsigned above = __ballot_sync(course::kAllLanes, lane < kTop && key_ > key);
    const auto rank = static_cast<unsigned>(__popc(above));  // the larger ones are the first lanes
    const unsigned long long before = __shfl_up_sync(course::kAllLanes, key_, 1);
    if (lane >= rank && lane < kTop) key_ = lane == rank ? key : before;
    const auto last = static_cast<unsigned>(
        __shfl_sync(course::kAllLanes, static_cast<unsigned>(key_ >> 32), kTop - 1));
    if (last != 0) floor_ = float_of(last);
  }
  __device__ unsigned long long key() const { return key_; }

  /// The float of ordered bits.
  __device__ static float float_of(unsigned ordered) {
    return __uint_as_float(ordered ^ ((ordered >> 31) != 0 ? 0x8000'0000u : 0xFFFF'FFFFu));
  }

 private:
  unsigned long long key_ = 0;
  float floor_;
};

/// A number below the kTop-th largest of the lanes' numbers: at least so many elements are larger.
__device__ __forceinline__ float floor_of_lanes(float largest_of_lane) {
  unsigned ordered = ordered_bits(largest_of_lane), most = 0;
  for (unsigned k = 0; k < kTop; ++k) {
    most = course::warp_reduce(ordered, course::Max{});
    const unsigned owners = __ballot_sync(course::kAllLanes, ordered == most);
    if (course::lane_id() == static_cast<unsigned>(__ffs(static_cast<int>(owners))) - 1)
      ordered = 0;
  }
  return TopList::float_of(
      most - 2);  // not - 1: below the bits of +0 are those of -0. Below -inf are NaNs.
}

// Question: must every element be compared with eight others?
// Changes:  a warp reads its part of a row in packs, and compares each element with one number, the eighth largest
//           so far. It begins with one that the maxima of its lanes in the first round give. Each of `warps` warps of a row
//           has a list, and one of them merges the lists.
// Cost:     one read, and one comparison for most elements; some 25 instructions for each that enters the list.
template <class T, unsigned warps, unsigned elements, unsigned loads>
__global__ void __launch_bounds__(kTopBlock) top_k_by_threshold(TopRows<T> in) {
  constexpr unsigned kRowsOfBlock = kTopWarps / warps;
  constexpr unsigned kRound = loads * elements * course::kWarpSize;  // elements
  static_assert(kTopWarps % warps == 0 && warps * kTop <= 2 * course::kWarpSize);
  const unsigned lane = threadIdx.x % course::kWarpSize, warp = threadIdx.x / course::kWarpSize;
  const std::size_t row = std::size_t{blockIdx.x} * kRowsOfBlock + warp / warps;
  const T* const d_row = in.d_x + row * in.width;
  const std::size_t width = row < in.rows ? in.width : 0;
  TopList list(NAN);
  bool is_first = true;
  for (std::size_t base = std::size_t{warp % warps} * kRound; base < width;
       base += std::size_t{warps} * kRound) {
    float value[loads][elements];
    float largest = -INFINITY;
#pragma unroll
    for (unsigned k = 0; k < loads; ++k) {
      const std::size_t at = base + (k * course::kWarpSize + lane) * elements;
      course::Pack<T, elements> pack;
      if (at < width) pack = course::load_pack_once<elements>(d_row + at);
#pragma unroll
      for (unsigned e = 0; e < elements; ++e) {
        value[k][e] = at < width ? static_cast<float>(pack.elem[e]) : -INFINITY;
      }
    }
    if (is_first) {
#pragma unroll
      for (unsigned k = 0; k < loads; ++k) {
        for (unsigned e = 0; e < elements; ++e) largest = fmaxf(largest, value[k][e]);
      }
      list = TopList(floor_of_lanes(largest));
      is_first = false;
    }
#pragma unroll
    for (unsigned k = 0; k < loads; ++k) {
      const std::size_t first = base + k * course::kWarpSize * elements;  // of lane 0
      bool any = false;
      for (unsigned e = 0; e < elements; ++e) any = any || list.wants(value[k][e]);
      unsigned lanes = __ballot_sync(course::kAllLanes, any && first + lane * elements < width);
      while (lanes != 0) {  // one lane after another: in the order of the columns
        const int owner = __ffs(static_cast<int>(lanes)) - 1;
        lanes &= lanes - 1;
        for (unsigned e = 0; e < elements; ++e) {
          const float x = __shfl_sync(course::kAllLanes, value[k][e], owner);
          const auto column = static_cast<unsigned>(first + owner * elements + e);
          if (list.wants(x)) list.insert(key_of(ordered_bits(x), column));
        }
      }
    }
  }
  if constexpr (warps == 1) {
    if (row < in.rows) store_top(in, row, list.key());
  } else {
    __shared__ unsigned long long s_keys[kTopWarps][kTop];
    if (lane < kTop) s_keys[warp][lane] = list.key();
    __syncthreads();  // the lists of all warps are there
    if (warp % warps != 0 || row >= in.rows) return;
    constexpr unsigned kKeys = warps * kTop;
    const unsigned long long* const s_row = s_keys[warp];
    const unsigned long long a = lane < kKeys ? s_row[lane] : 0;
    const unsigned long long b =
        lane + course::kWarpSize < kKeys ? s_row[lane + course::kWarpSize] : 0;
    store_top(in, row, top_of_warp(max(a, b), min(a, b)));
  }
}

template <class T>
void launch_top_k_by_rounds(const TopRows<T>& in) {
  if (in.width < kTop || in.width > 2 * course::kWarpSize) {
    throw std::invalid_argument("top_k_by_rounds: a row has 8 to 64 elements");
  }
  course::launch(top_k_by_rounds<T>, {course::blocks_for(in.rows, kTopWarps), kTopBlock}, in);
}
template <unsigned warps, unsigned elements, unsigned loads, class T>
void launch_top_k_by_threshold(const TopRows<T>& in) {
  course::launch(top_k_by_threshold<T, warps, elements, loads>,
                 {course::blocks_for(in.rows, kTopWarps / warps), kTopBlock}, in);
}

/// The kTop largest elements of each row, for rows of any length from kTop on, and any start. Throws
/// std::invalid_argument for shorter ones.
template <class T>
void top_k(const TopRows<T>& in) {
  if (in.width < kTop) throw std::invalid_argument("top_k: a row has at least 8 elements");
  if (in.width <= 2 * course::kWarpSize) return launch_top_k_by_rounds(in);
  if (!fits_packs<T>(in.d_x, in.width)) return launch_top_k_by_threshold<4, 1, 8>(in);
  constexpr unsigned kLoads = 4;  // packs in flight per lane
  if (in.width <= 8192) return launch_top_k_by_threshold<1, kPack<T>, kLoads>(in);
  launch_top_k_by_threshold<4, kPack<T>, kLoads>(in);
}
