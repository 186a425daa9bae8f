// Can atomics give the same bits in every run? Integers can: their sums do not depend on the order.
// Rung: sum_fixed_point.
#pragma once

#include <cmath>
#include <course/collectives.cuh>
#include <course/launch.cuh>
#include <cstddef>

#include "finish.cuh"
#include "loads_in_flight.cuh"
#include "pack_reduce.cuh"

/// A multiple of 2^-32 in 64 bits. A float is rounded to the nearest one; sums are exact as long as
/// they stay below 2^31. NaN, infinities and numbers beyond that cannot be represented.
struct FixedPoint {
  static constexpr float kUnitsOfOne = 0x1p32f;
  long long units = 0;

  FixedPoint() = default;
  __host__ __device__ constexpr explicit FixedPoint(int x)
      : units(static_cast<long long>(x) << 32) {}
  __host__ __device__ explicit FixedPoint(float x) : units(llrintf(x * kUnitsOfOne)) {}
  explicit operator double() const {
    return static_cast<double>(units) / static_cast<double>(kUnitsOfOne);
  }
  friend __host__ __device__ FixedPoint operator+(FixedPoint a, FixedPoint b) {
    a.units += b.units;
    return a;
  }
};

// Question: can the fastest finish, atomics on two cells, give the same bits in every run?
// Changes:  sum_two_cells in fixed point: floats become integers before the first addition.
// Cost:     a multiplication and a conversion per element; one 64-bit atomic per block.
template <class TuningT>
__global__ void __launch_bounds__(TuningT::kBlock)
    sum_fixed_point(const float* d_x, Packs split, unsigned long long* d_sum,
                    unsigned long long* d_next) {
  if (blockIdx.x == 0 && threadIdx.x == 0) *d_next = 0;  // unused in this launch
  const FixedPoint share = share_reduce<TuningT, FixedPoint>(d_x, split, course::Sum{});
  const long long sum = course::block_reduce(share.units, course::Sum{});
  if (threadIdx.x == 0) atomicAdd(d_sum, static_cast<unsigned long long>(sum));
}

/// One launch with a given Tuning; n > 0.
template <class TuningT>
const unsigned long long* launch_fixed_point(const float* d_x, std::size_t n,
                                             TwoCells<unsigned long long>& cells) {
  const Packs split = split_packs(d_x, n);
  unsigned long long* const d_sum = cells.sums.data() + cells.zeroed;
  cells.zeroed = 1 - cells.zeroed;
  course::launch(sum_fixed_point<TuningT>, {blocks_for_rounds<TuningT>(split), TuningT::kBlock},
                 d_x, split, d_sum, cells.sums.data() + cells.zeroed);
  return d_sum;
}

/// Returns the address in device memory that holds x[0] + ... + x[n-1] in units of 2^-32 once the
/// launch is done, until the next launch with these cells. n == 0: 0.
inline const unsigned long long* launch_sum_fixed_point(const float* d_x, std::size_t n,
                                                        TwoCells<unsigned long long>& cells) {
  if (n == 0) return cells.sums.data() + cells.zeroed;
  return with_tuning<float>(
      n, [&]<class TuningT>(TuningT) { return launch_fixed_point<TuningT>(d_x, n, cells); });
}

/// The number in a cell; waits for the launch.
inline double fixed_point_sum(const unsigned long long* d_sum) {
  FixedPoint sum;
  CUDA_CHECK(cudaMemcpy(&sum.units, d_sum, sizeof sum.units, cudaMemcpyDeviceToHost));
  return static_cast<double>(sum);
}
