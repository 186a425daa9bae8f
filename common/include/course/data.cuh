// Test data: sizes that break kernels, values that show a permutation, tolerances with a reason.
// Chapter 01 (01-global-atomic) explains where the tolerance of a sum comes from.
//
// Example (common/tests/examples_test.cu):
//
//   const std::vector<float> x = course::position_values<float>(1025);  // k/8, k from 1 to 15
//   const double tolerance = course::sum_tolerance(x, course::kFloatRoundoff);
//   const std::vector<int> index = course::random_index(1000, 7);  // 0 to 6, in no order
#pragma once

#include <cuda_runtime.h>

#include <course/device.cuh>

#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <random>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

namespace course {

/// Nothing, one, and both sides of a warp's 32, a block's 256 and a full block's 1024 threads.
inline const std::vector<std::size_t> kSizes = {0, 1, 31, 32, 33, 255, 256, 257, 1023, 1025};

/// Many blocks, and no multiple of anything. Smaller on the CPU device, where it has to be quick.
inline constexpr std::size_t kBigSize = kCpuDevice ? 10'007 : 1'000'007;

/// kSizes and kBigSize.
std::vector<std::size_t> all_sizes();

/// A launch with a grid of one dimension: kernel<<<grid, threads()>>>.
struct LaunchShape {
  unsigned grid, block;  // blocks, and threads of each
  bool is_folded =
      false;  // blocks have three dimensions; `block` is a multiple of 8 then, and at most 512
  dim3 threads() const { return is_folded ? dim3(2, 4, block / 8) : dim3(block); }
};

/// What to add to a message about a launch with fewer threads than `items`, such as
/// "; 32 threads for 33 atoms: some take more than one". Empty where each can have a thread.
std::string too_few_threads(LaunchShape launch, std::size_t items, const char* what);

/// Grids that are too small, exact, and larger than one thread per element needs, in blocks of one
/// warp, of three, of four, and of all that a block can have.
std::vector<LaunchShape> launch_shapes(std::size_t n);

/// n values that depend on their position, so that an element used twice, left out or taken from
/// the wrong place changes the answer. The same values for the same seed, everywhere.
/// Floating-point types get k/8 with k from 1 to 15: exact in every type down to __half, and a
/// float sum of up to 2^20 of them is exact in any order. Integers get 1 to 1000, bytes 0 to 255.
template <class T>
std::vector<T> position_values(std::size_t n, std::uint32_t seed = 1) {
  std::mt19937 random(seed);  // the standard fixes its numbers, but not those of distributions
  std::vector<T> values(n);
  for (T& value : values) {
    const std::uint32_t bits = random() >> 8;
    if constexpr (!std::is_integral_v<T>) {
      value = T(static_cast<float>(1 + bits % 15) / 8);
    } else if constexpr (sizeof(T) == 1) {
      value = static_cast<T>(bits % 256);
    } else {
      value = static_cast<T>(1 + bits % 1000);
    }
  }
  return values;
}

/// Numbers in no order, in 64 bits: a bijection that stirs all of them (the finish of SplitMix64).
__host__ __device__ inline std::uint64_t mixed(std::uint64_t i) {
  i = (i + 1) * 0x9E37'79B9'7F4A'7C15u;
  i = (i ^ i >> 30) * 0xBF58'476D'1CE4'E5B9u;
  i = (i ^ i >> 27) * 0x94D0'49BB'1331'11EBu;
  return i ^ i >> 31;
}

/// The k-th of five quiet NaNs, of either sign and with several payloads, and then the first again: an answer that compares
/// bits may take one of them for a number.
inline float any_nan(std::size_t k) {
  constexpr std::uint32_t kBits[] = {0x7FC0'0000, 0xFFC0'0000, 0x7FFF'FFFF, 0xFFFF'FFFF,
                                     0x7FC0'0123};
  return std::bit_cast<float>(kBits[k % std::size(kBits)]);
}

/// n whole numbers from 0 to below - 1, in no order, each as likely as any other.
inline std::vector<int> random_index(std::size_t n, std::size_t below) {
  std::vector<int> index(n);
  for (std::size_t i = 0; i < n; ++i) {
    index[i] = static_cast<int>((mixed(~std::uint64_t{i}) >> 32) * below >> 32);
  }
  return index;
}

/// Half the distance from 1 to the next larger number: the largest relative error of one rounding.
inline constexpr double kFloatRoundoff = 0x1p-24;
inline constexpr double kDoubleRoundoff = 0x1p-53;
inline constexpr double kHalfRoundoff = 0x1p-11;
inline constexpr double kBfloat16Roundoff = 0x1p-8;

/// How far a sum of x, in any order of the additions, can be from the exact one:
/// (n-1) u / (1 - (n-1) u) * sum |x| with u = `roundoff` (Higham, Accuracy and Stability of
/// Numerical Algorithms, 2nd edition, section 4.2). It is a worst case: errors that partly cancel
/// stay far below. With n large it is too wide to notice a few lost updates; prefer data whose sum
/// is exact (position_values) and a tolerance of 0 there. Throws std::domain_error if (n-1) u >= 1:
/// then nothing is known about the sum.
template <class T>
double sum_tolerance(const std::vector<T>& x, double roundoff = kFloatRoundoff) {
  if (x.size() < 2) return 0;
  const double k = static_cast<double>(x.size() - 1) * roundoff;
  if (k >= 1) throw std::domain_error("sum_tolerance: too many elements for this precision");
  double magnitude = 0;
  for (const T& value : x) magnitude += std::fabs(static_cast<double>(value));
  return k / (1 - k) * magnitude;
}

}  // namespace course
