// How right is a sum of floats, and what does it cost to make it better?
// Rung: sum_rows_accurately, with each of the accumulators of this file.
//
// An accumulator adds numbers one after another; the accumulators of threads are merged. Nothing here survives a
// compiler that reorders float additions (-ffast-math): nvcc does not, nor does the CPU device.
#pragma once

#include <cmath>
#include <course/collectives.cuh>
#include <course/launch.cuh>
#include <course/merge.cuh>
#include <cstddef>

#include "teams.cuh"

/// a + b exactly: high is the rounded sum, low what the rounding lost. Six additions, whatever the sizes of a and b (Knuth,
/// The Art of Computer Programming, volume 2, section 4.2.2, theorem B).
struct TwoFloats {
  float high = 0, low = 0;
};
__host__ __device__ inline TwoFloats two_sum(float a, float b) {
  const float sum = a + b;
  const float of_b = sum - a;
  return {sum, (a - (sum - of_b)) + (b - of_b)};
}
/// The same in three additions, if a is 0 or its exponent is not below that of b (Dekker).
__host__ __device__ inline TwoFloats fast_two_sum(float a, float b) {
  const float sum = a + b;
  return {sum, b - (sum - a)};
}

/// Adds, and rounds each time: the error grows with the number of additions, n / 2^24 of the sum of |x| at worst.
struct PlainSum {
  float sum = 0;
  __host__ __device__ void add(float x) { sum += x; }
  __host__ __device__ void merge(const PlainSum& other) { sum += other.sum; }
  __host__ __device__ double value() const { return static_cast<double>(sum); }
};

/// Adds neighbours, then neighbouring sums, as a tree does: log2(n) / 2^24 at worst. A sum of 2^k numbers waits in part[k]
/// for the next one.
struct PairwiseSum {
  static constexpr unsigned kParts = 20;  // up to 2^20 - 1 numbers
  float part[kParts] = {};
  unsigned count = 0;
  __host__ __device__ void add(float x) {
    const unsigned before = count++;
    bool carries = true;
#pragma unroll
    for (unsigned k = 0; k < kParts; ++k) {  // as a binary number counts
      if (!carries) continue;
      carries = (before >> k & 1) != 0;
      if (carries) {
        x += part[k];
      } else {
        part[k] = x;
      }
    }
  }
  /// The whole sum: the parts that are there, from the smallest on.
  __host__ __device__ PlainSum total() const {
    float sum = 0;
#pragma unroll
    for (unsigned k = 0; k < kParts; ++k) {
      if ((count >> k & 1) != 0) sum += part[k];
    }
    return {sum};
  }
};

/// Keeps what the last addition lost, and brings it in with the next number: 2 / 2^24 of the sum of |x|, for any n. It loses a
/// number that is larger than the sum so far.
struct KahanSum {
  float sum = 0, lost = 0;
  __host__ __device__ void add(float x) {
    const float mended = x - lost;
    const float next = sum + mended;
    lost = (next - sum) - mended;
    sum = next;
  }
  __host__ __device__ void merge(const KahanSum& other) {
    add(other.sum);
    add(-other.lost);
  }
  __host__ __device__ double value() const { return static_cast<double>(sum - lost); }
};

/// Keeps the sum of all that was lost, whichever of the two was larger, and brings it in at the end.
struct NeumaierSum {
  float sum = 0, lost = 0;
  __host__ __device__ void add(float x) {
    const float next = sum + x;
    lost += fabsf(sum) >= fabsf(x) ? (sum - next) + x : (x - next) + sum;
    sum = next;
  }
  __host__ __device__ void merge(const NeumaierSum& other) {
    add(other.sum);
    lost += other.lost;
  }
  __host__ __device__ double value() const { return static_cast<double>(sum + lost); }
};

/// A number of some 48 bits: high + low, of which low is below half a unit of high. The same range as a float.
struct TwoFloatSum {
  TwoFloats sum;
  __host__ __device__ void add(float x) {
    const TwoFloats both = two_sum(sum.high, x);
    sum = fast_two_sum(both.high, both.low + sum.low);
  }
  __host__ __device__ void merge(const TwoFloatSum& other) {
    const TwoFloats high = two_sum(sum.high, other.sum.high);
    const TwoFloats low = two_sum(sum.low, other.sum.low);
    const TwoFloats both = fast_two_sum(high.high, high.low + low.high);
    sum = fast_two_sum(both.high, both.low + low.low);
  }
  __host__ __device__ double value() const {
    return static_cast<double>(sum.high) + static_cast<double>(sum.low);
  }
};

/// The same in double: 53 bits, at the speed of double.
struct DoubleSum {
  double sum = 0;
  __host__ __device__ void add(float x) { sum += static_cast<double>(x); }
  __host__ __device__ void merge(const DoubleSum& other) { sum += other.sum; }
  __host__ __device__ double value() const { return sum; }
};

/// Chapter 05's fixed point: multiples of 2^-32, exact up to 2^31. Its sum does not depend on the order.
struct FixedPointSum {
  long long units = 0;
  __host__ __device__ void add(float x) { units += llrintf(x * 0x1p32f); }
  __host__ __device__ void merge(const FixedPointSum& other) { units += other.units; }
  __host__ __device__ double value() const { return static_cast<double>(units) * 0x1p-32; }
};

/// The merge of two accumulators as an operation.
template <class Accumulator>
struct MergeSums {
  __host__ __device__ Accumulator operator()(Accumulator a, const Accumulator& b) const {
    a.merge(b);
    return a;
  }
  template <class T>
  __host__ __device__ static constexpr T identity() {
    return {};
  }
};

// Question: what do more digits cost, if memory is what a sum waits for?
// Changes:  sum_rows_in_packs with another accumulator; a team is a block.
// Cost:     one read; per element 1 addition (plain, pairwise), 4 (Kahan), 4 and a comparison (Neumaier), 10 (two floats), 1 of
//           doubles, or a conversion and an addition of 64-bit integers (fixed point).
template <class FormT, class Accumulator>
__global__ void __launch_bounds__(FormT::Team::kBlock) sum_rows_accurately(Rows<float, double> in) {
  typename FormT::Team team;
  for_rows<FormT>(in.rows, [&](std::size_t first) {
    Accumulator mine;
    for_rounds<FormT, float>(in.d_x, in.rows, in.width, first, [&](auto& slice, unsigned) {
      slice.for_each([&](float x) { mine.add(x); });
    });
    if constexpr (std::is_same_v<Accumulator, PairwiseSum>) {
      const PlainSum all =
          team.reduce(mine.total(), MergeSums<PlainSum>{});  // shuffles are a tree, too
      if (FormT::Team::rank() == 0) in.d_y[first] = all.value();
    } else {
      const Accumulator all = team.reduce(mine, MergeSums<Accumulator>{});
      if (FormT::Team::rank() == 0) in.d_y[first] = all.value();
    }
  });
}

using FormOfAccurate = Form<BlockTeam<256>, 4>;

/// Sets in.d_y[r] to the sum of row r; rows consist of packs of 16 bytes.
template <class Accumulator>
void launch_sum_rows_accurately(const Rows<float, double>& in) {
  constexpr auto kKernel = sum_rows_accurately<FormOfAccurate, Accumulator>;
  course::launch(sum_rows_accurately<FormOfAccurate, Accumulator>,
                 grid_for_rows<FormOfAccurate, kKernel>(in.rows, false), in);
}
