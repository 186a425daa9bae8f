// Reductions and prefix sums of a warp and of a block, for every arithmetic type of 4 or 8 bytes
// and every operation. Chapter 05 (05-warp-shuffle) builds each of them step by step and explains
// it; later chapters call them.
//
// All threads of the warp (or block) make the call together, in code that does not diverge. Blocks
// have one dimension, and a multiple of 32 threads up to 1024. A thread without an element of its
// own passes the operation's identity.
//
// Example (common/tests/examples_test.cu):
//
//   __global__ void sum_blocks(const float* d_x, std::size_t n, float* d_sum) {
//     const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
//     const float value = i < n ? d_x[i] : 0.0f;  // the identity of the sum
//     const float block_sum = course::block_reduce(value, course::Sum{});
//     if (threadIdx.x == 0) atomicAdd(d_sum, block_sum);
//   }
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include <limits>
#include <type_traits>

namespace course {

inline constexpr unsigned kWarpSize = 32;
inline constexpr unsigned kMaxWarps = 32;  // of a block
inline constexpr unsigned kAllLanes = 0xffff'ffffu;

// ---- operations -------------------------------------------------------------------------------

// An operation is a function object with an identity: op(identity, x) == op(x, identity) == x. It
// has to be associative, up to rounding. Reductions swap the operands as well, prefix sums never
// do.

namespace detail {
// nvcc takes constants of std::numeric_limits in device code, but no calls of its functions.
template <class T>
concept Arithmetic = std::is_arithmetic_v<T>;  // __half is not: reduce ComputeType<T> instead
template <Arithmetic T>
inline constexpr T kLargest = std::numeric_limits<T>::has_infinity
                                  ? std::numeric_limits<T>::infinity()
                                  : std::numeric_limits<T>::max();
template <Arithmetic T>
inline constexpr T kSmallest = std::numeric_limits<T>::has_infinity
                                   ? -std::numeric_limits<T>::infinity()
                                   : std::numeric_limits<T>::lowest();
}  // namespace detail

/// a + b. Chapter 05.
struct Sum {
  template <class T>
  __host__ __device__ __forceinline__ T operator()(const T& a, const T& b) const {
    return a + b;
  }
  template <class T>
  __host__ __device__ static constexpr T identity() {
    return T(0);
  }
};

/// The smaller one. A NaN wins over every number, on either side, so that it is not lost on the
/// way; of -0 and +0 it may be either. Chapter 05.
struct Min {
  template <class T>
  __host__ __device__ __forceinline__ T operator()(const T& a, const T& b) const {
    if constexpr (std::is_floating_point_v<T>) {
      return a < b || a != a ? a : b;
    } else {
      return a < b ? a : b;
    }
  }
  template <class T>
  __host__ __device__ static constexpr T identity() {
    return detail::kLargest<T>;
  }
};

/// The larger one; NaN and zeros as in Min. Chapter 05.
struct Max {
  template <class T>
  __host__ __device__ __forceinline__ T operator()(const T& a, const T& b) const {
    if constexpr (std::is_floating_point_v<T>) {
      return a > b || a != a ? a : b;
    } else {
      return a > b ? a : b;
    }
  }
  template <class T>
  __host__ __device__ static constexpr T identity() {
    return detail::kSmallest<T>;
  }
};

// ---- compute types ----------------------------------------------------------------------------

namespace detail {
template <class T>
struct ComputeTypeOf {
  using type = T;
};
template <>
struct ComputeTypeOf<__half> {
  using type = float;
};
template <>
struct ComputeTypeOf<__nv_bfloat16> {
  using type = float;
};
}  // namespace detail

/// The type in which values of type T are summed: float for the 16-bit types, whose own sums
/// stagnate early (2048 + 1 is 2048 in half), and T itself for the others. Chapter 05.
template <class T>
using ComputeType = typename detail::ComputeTypeOf<T>::type;

// ---- a warp -----------------------------------------------------------------------------------

namespace detail {

/// One instruction combines the 32 lanes' integers from sm_80 on.
template <class T, class Operation>
inline constexpr bool kHasReduceInstruction =
    (std::is_same_v<T, int> || std::is_same_v<T, unsigned>)&&(std::is_same_v<Operation, Sum> ||
                                                              std::is_same_v<Operation, Min> ||
                                                              std::is_same_v<Operation, Max>);

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
template <class T>
__device__ __forceinline__ T reduce_instruction(T value, Sum) {
  return __reduce_add_sync(kAllLanes, value);
}
template <class T>
__device__ __forceinline__ T reduce_instruction(T value, Min) {
  return __reduce_min_sync(kAllLanes, value);
}
template <class T>
__device__ __forceinline__ T reduce_instruction(T value, Max) {
  return __reduce_max_sync(kAllLanes, value);
}
#endif

/// Five exchanges: after the k-th, every lane holds the result of 2^k lanes.
template <class T, class Operation>
__device__ __forceinline__ T warp_reduce_by_shuffles(T value, Operation op) {
  for (unsigned distance = kWarpSize / 2; distance > 0; distance /= 2) {
    value = op(value, __shfl_xor_sync(kAllLanes, value, static_cast<int>(distance)));
  }
  return value;
}

}  // namespace detail

/// The 32 values of the warp, combined; every lane gets the same bits, except that lanes may pick
/// differently between -0 and +0, or between two NaNs. All 32 lanes must call it. It does
/// not order memory accesses. Five shuffles, or one instruction for 32-bit integers from sm_80 on.
/// Chapter 05 explains it.
template <class T, class Operation>
__device__ __forceinline__ T warp_reduce(T value, Operation op) {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
  if constexpr (detail::kHasReduceInstruction<T, Operation>) {
    return detail::reduce_instruction(value, op);
  } else {
    return detail::warp_reduce_by_shuffles(value, op);
  }
#else
  return detail::warp_reduce_by_shuffles(value, op);
#endif
}

/// Lane l gets op(x[0], ..., x[l]) of the warp's values, combined in this order. All 32 lanes must
/// call it. It does not order memory accesses. Chapter 05 explains it.
template <class T, class Operation>
__device__ __forceinline__ T warp_inclusive_scan(T value, Operation op) {
  const unsigned lane = threadIdx.x % kWarpSize;
  for (unsigned distance = 1; distance < kWarpSize; distance *= 2) {
    const T before = __shfl_up_sync(kAllLanes, value, distance);
    if (lane >= distance) value = op(before, value);  // others got their own value back
  }
  return value;
}

/// Lane l gets op(x[0], ..., x[l-1]), lane 0 the identity. All 32 lanes must call it. It does
/// not order memory accesses. Chapter 05 explains it.
template <class T, class Operation>
__device__ __forceinline__ T warp_exclusive_scan(
    T value, Operation op, std::type_identity_t<T> identity = Operation::template identity<T>()) {
  const T before = __shfl_up_sync(kAllLanes, warp_inclusive_scan(value, op), 1);
  return threadIdx.x % kWarpSize == 0 ? identity : before;
}

// ---- a block ----------------------------------------------------------------------------------

namespace detail {
/// True if a lane can pass a T to another one.
template <class T>
inline constexpr bool kCanBeGiven = requires(T value) {
  __shfl_xor_sync(kAllLanes, value, 1);
};
}  // namespace detail

/// The values of all threads of the block, combined; every thread gets the same bits, as of
/// warp_reduce(). All threads must call it, also several times in a row. Two barriers: what threads
/// wrote to shared memory before the call is seen by all after it. Uses up to 256 bytes of shared
/// memory for each type and operation. Chapter 05 explains it.
template <class T, class Operation>
__device__ __forceinline__ T block_reduce(
    T value, Operation op, std::type_identity_t<T> identity = Operation::template identity<T>()) {
  static_assert(detail::kCanBeGiven<T>, "block_reduce takes one number: call it for each member");
  __shared__ T s_warp[kMaxWarps];  // warp w's result
  const unsigned lane = threadIdx.x % kWarpSize;
  value = warp_reduce(value, op);
  __syncthreads();  // all have read what the call before this one left in s_warp
  if (lane == 0) s_warp[threadIdx.x / kWarpSize] = value;
  __syncthreads();  // s_warp is complete
  // Every warp combines all of them, so that no third barrier has to follow the work of one warp.
  return warp_reduce(lane < blockDim.x / kWarpSize ? s_warp[lane] : identity, op);
}

/// What block_exclusive_scan() tells a thread.
template <class T>
struct BlockScan {
  T before;  // op() of the values of all threads before this one; the identity for thread 0
  T total;   // op() of all values of the block: the same for every thread
};

/// The exclusive prefix sum (or minimum, ...) over the threads of the block, in the order of their
/// numbers, and the total. All threads must call it, also several times in a row. Two barriers, and
/// up to 256 bytes of shared memory, as block_reduce(). Chapter 05 explains it.
template <class T, class Operation>
__device__ __forceinline__ BlockScan<T> block_exclusive_scan(
    T value, Operation op, std::type_identity_t<T> identity = Operation::template identity<T>()) {
  static_assert(detail::kCanBeGiven<T>, "block_exclusive_scan takes one number: call it for each");
  __shared__ T s_warp[kMaxWarps];  // warp w's total
  const unsigned lane = threadIdx.x % kWarpSize, warp = threadIdx.x / kWarpSize;
  const T inclusive = warp_inclusive_scan(value, op);
  __syncthreads();  // all have read what the call before this one left in s_warp
  if (lane == kWarpSize - 1) s_warp[warp] = inclusive;
  __syncthreads();  // s_warp is complete
  // Every warp scans the warps' totals: lane w then knows the total of the warps 0 to w.
  const T warps = warp_inclusive_scan(lane < blockDim.x / kWarpSize ? s_warp[lane] : identity, op);
  const T warps_before = __shfl_sync(kAllLanes, warps, static_cast<int>(warp) - 1);
  const T lanes_before = __shfl_up_sync(kAllLanes, inclusive, 1);
  const T total = __shfl_sync(kAllLanes, warps, static_cast<int>(kWarpSize) - 1);
  T before = warp == 0 ? identity : warps_before;
  if (lane > 0) before = warp == 0 ? lanes_before : op(before, lanes_before);
  return {before, total};
}

}  // namespace course
