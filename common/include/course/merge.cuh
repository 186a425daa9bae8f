// Results of several numbers that can be merged: (maximum, sum) of a softmax, and the moments of a mean and
// a variance. Each is a value with an operation, as those of collectives.cuh: op(identity, x) is x, and
// the order of the operands changes nothing but roundings. Chapter 15 (15-row-reductions) explains them.
//
// Example (common/tests/examples_test.cu):
//
//   __global__ void variance_of(const float* d_x, unsigned n, float* d_variance) {  // one warp
//     course::Moments mine;
//     for (unsigned i = threadIdx.x; i < n; i += 32) {
//       mine = course::MergeMoments{}(mine, course::moments_of(d_x[i]));
//     }
//     const course::Moments all = course::warp_merge(mine, course::MergeMoments{});
//     if (threadIdx.x == 0) *d_variance = all.variance();
//   }
#pragma once

#include <cuda_runtime.h>

#include <course/collectives.cuh>
#include <course/device.cuh>
#include <cstring>
#include <type_traits>

namespace course {

// ---- (maximum, sum) ----------------------------------------------------------------------------

/// What a softmax knows of some numbers x: sum = the sum of exp(x - max), where max is the largest x.
/// Without any number, max is -inf and sum is 0.
struct MaxSum {
  float max = -detail::kLargest<float>;
  float sum = 0;
};

/// What exp() is taken of x minus: the maximum, but 0 for an infinite one, because -inf minus -inf is NaN.
__host__ __device__ inline float exp_offset(float max) {
  return max == -detail::kLargest<float> || max == detail::kLargest<float> ? 0.0f : max;
}

/// exp(x) as a GPU has it in two instructions: the relative error is 2^-21 at 0, and grows with |x| as 2^-24 |x|. __expf()
/// is four more, for results below 2^-126, which are 0 here.
__host__ __device__ inline float fast_exp(float x) {
#if defined(__CUDA_ARCH__) && !COURSE_CPU_DEVICE
  constexpr float kLog2OfE = 1.44269504f;
  float y;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x * kLog2OfE));
  return y;
#elif COURSE_CPU_DEVICE
  return __expf(x);
#else
  return expf(x);
#endif
}

/// By what a sum of exp(x - from) becomes one of exp(x - to): exp(from - to), where to >= from.
__host__ __device__ inline float rescale(float from, float to) {
  return from == to ? 1.0f : fast_exp(from - to);
}

/// The (maximum, sum) of the numbers of both. A NaN among the numbers makes the sum a NaN, not the maximum.
struct MergeMaxSum {
  __host__ __device__ __forceinline__ MaxSum operator()(const MaxSum& a, const MaxSum& b) const {
    const float max = fmaxf(a.max, b.max);
    return {max, a.sum * rescale(a.max, max) + b.sum * rescale(b.max, max)};
  }
  template <class T>
  __host__ __device__ static constexpr MaxSum identity() {
    return {};
  }
};

/// That of one number.
__host__ __device__ inline MaxSum max_sum_of(float x) {
  return {x, x == exp_offset(x) ? 1.0f : fast_exp(x - exp_offset(x))};
}

// ---- moments -----------------------------------------------------------------------------------

/// What a variance knows of some numbers x: how many there are, their mean, and the sum of the squares of
/// x - mean. The count is a float: it is exact to 2^24 numbers.
struct Moments {
  float count = 0;
  float mean = 0;
  float squares = 0;

  /// The mean of the squares of x - mean: that of a whole population, as a layer norm has it. NaN without numbers.
  __host__ __device__ float variance() const { return squares / count; }
};

/// The moments of the numbers of both. Nothing large is subtracted from anything large: the digits of
/// a small variance stay, however large the mean is. Chan, Golub, LeVeque (1979): Updating Formulae and
/// a Pairwise Algorithm for Computing Sample Variances.
struct MergeMoments {
  __host__ __device__ __forceinline__ Moments operator()(const Moments& a, const Moments& b) const {
    const float count = a.count + b.count;
    if (count == 0) return a;
    const float apart = b.mean - a.mean, share = b.count / count;
    return {count, a.mean + apart * share,
            a.squares + b.squares + apart * apart * (a.count * share)};
  }
  template <class T>
  __host__ __device__ static constexpr Moments identity() {
    return {};
  }
};

/// Those of one number.
__host__ __device__ inline Moments moments_of(float x) { return {1, x, 0}; }

// ---- exchanges ---------------------------------------------------------------------------------

/// The value of the lane whose number differs in the bits of `mask`: as __shfl_xor_sync() by all 32 lanes,
/// for any type of whole 4-byte words, one shuffle for each word.
template <class T>
__device__ __forceinline__ T shuffle_xor_words(const T& value, unsigned mask) {
  static_assert(std::is_trivially_copyable_v<T> && sizeof(T) % 4 == 0, "a value of 4-byte words");
  unsigned words[sizeof(T) / 4];
  memcpy(static_cast<void*>(words), &value, sizeof value);
  for (unsigned& word : words) word = __shfl_xor_sync(kAllLanes, word, static_cast<int>(mask));
  T other;
  memcpy(static_cast<void*>(&other), words, sizeof other);
  return other;
}

/// The values of each `lanes` neighbouring lanes, merged; every one of these lanes gets the result. `lanes` is a
/// power of two up to 32. All 32 lanes of the warp must call it. It does not order memory accesses.
template <unsigned lanes = kWarpSize, class T, class Operation>
__device__ __forceinline__ T warp_merge(T value, Operation op) {
  static_assert(lanes > 0 && lanes <= kWarpSize && (lanes & (lanes - 1)) == 0);
  for (unsigned distance = lanes / 2; distance > 0; distance /= 2) {
    value = op(value, shuffle_xor_words(value, distance));
  }
  return value;
}

/// The same for (maximum, sum), in two rounds of plain shuffles: the maximum first, so that each lane
/// rescales its sum once.
template <unsigned lanes = kWarpSize>
__device__ __forceinline__ MaxSum warp_merge(MaxSum value, MergeMaxSum) {
  float max = value.max, sum = value.sum;
  for (unsigned distance = lanes / 2; distance > 0; distance /= 2) {
    max = fmaxf(max, __shfl_xor_sync(kAllLanes, max, static_cast<int>(distance)));
  }
  sum *= rescale(value.max, max);
  for (unsigned distance = lanes / 2; distance > 0; distance /= 2) {
    sum += __shfl_xor_sync(kAllLanes, sum, static_cast<int>(distance));
  }
  return {max, sum};
}

/// The values of all threads of the block, merged; every thread gets the result. As block_reduce() for values of
/// several words: all threads must call it, also several times in a row. Two barriers.
template <class T, class Operation>
__device__ __forceinline__ T block_merge(T value, Operation op) {
  __shared__ T s_warp[kMaxWarps];  // warp w's result
  const unsigned lane = threadIdx.x % kWarpSize;
  value = warp_merge(value, op);
  __syncthreads();  // all have read what the call before this one left in s_warp
  if (lane == 0) s_warp[threadIdx.x / kWarpSize] = value;
  __syncthreads();  // s_warp is complete
  const T identity = Operation::template identity<T>();
  return warp_merge(lane < blockDim.x / kWarpSize ? s_warp[lane] : identity, op);
}

}  // namespace course
