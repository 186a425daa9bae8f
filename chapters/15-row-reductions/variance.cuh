// How many digits does a variance keep if the mean is large?
// Rungs: variance_of_squares (wrong), variance_two_passes, variance_shifted, variance_welford.
//
//   y[r] = the mean of (x - mean of row r)^2; a block has a row, and the row has at least one element.
#pragma once

#include <course/collectives.cuh>
#include <course/launch.cuh>
#include <course/merge.cuh>
#include <cstddef>
#include <vector>

#include "softmax.cuh"
#include "teams.cuh"

/// Rung 0, in double.
template <class T>
std::vector<double> variance_reference(const std::vector<T>& x, std::size_t width) {
  std::vector<double> variances;
  const auto n = static_cast<double>(width);
  for (std::size_t first = 0; first < x.size(); first += width) {
    double mean = 0, squares = 0;
    for (std::size_t c = 0; c < width; ++c) mean += static_cast<double>(x[first + c]) / n;
    for (std::size_t c = 0; c < width; ++c) {
      const double apart = static_cast<double>(x[first + c]) - mean;
      squares += apart * apart;
    }
    variances.push_back(squares / n);
  }
  return variances;
}

// Question: is the mean of the squares minus the square of the mean not the same, in one read?
// Changes:  nothing yet: a block sums x and x^2.
// Cost:     one read. Both numbers are as large as mean^2, and so are their roundings: what is left of a variance
//           below mean^2 * 2^-24 is noise, which may be negative.
__global__ void __launch_bounds__(kRowBlock) variance_of_squares(Rows<float> in) {
  const float* const d_x = in.d_x + blockIdx.x * in.width;
  float sum = 0, squares = 0;
  for (std::size_t c = threadIdx.x; c < in.width; c += kRowBlock) {
    sum += d_x[c];
    squares += d_x[c] * d_x[c];
  }
  const auto n = static_cast<float>(in.width);
  const float mean = course::block_reduce(sum, course::Sum{}) / n;
  const float mean_of_squares = course::block_reduce(squares, course::Sum{}) / n;
  if (threadIdx.x == 0) in.d_y[blockIdx.x] = mean_of_squares - mean * mean;
}

// Question: what if the mean is known first?
// Changes:  the squares are those of x - mean, which is exact to a rounding or two.
// Cost:     two reads of every element, or one of a row that is kept.
__global__ void __launch_bounds__(kRowBlock) variance_two_passes(Rows<float> in) {
  const float* const d_x = in.d_x + blockIdx.x * in.width;
  float sum = 0, squares = 0;
  for (std::size_t c = threadIdx.x; c < in.width; c += kRowBlock) sum += d_x[c];
  const auto n = static_cast<float>(in.width);
  const float mean = course::block_reduce(sum, course::Sum{}) / n;
  for (std::size_t c = threadIdx.x; c < in.width; c += kRowBlock) {
    squares += (d_x[c] - mean) * (d_x[c] - mean);
  }
  squares = course::block_reduce(squares, course::Sum{});
  if (threadIdx.x == 0) in.d_y[blockIdx.x] = squares / n;
}

// Question: must it be the mean that is subtracted?
// Changes:  variance_of_squares of x - x[0]: any number will do that is about as far from the mean as others are.
// Cost:     one read, and one subtraction more. A first element far away from all others brings the error back.
__global__ void __launch_bounds__(kRowBlock) variance_shifted(Rows<float> in) {
  const float* const d_x = in.d_x + blockIdx.x * in.width;
  const float shift = d_x[0];
  float sum = 0, squares = 0;
  for (std::size_t c = threadIdx.x; c < in.width; c += kRowBlock) {
    const float x = d_x[c] - shift;
    sum += x;
    squares += x * x;
  }
  const auto n = static_cast<float>(in.width);
  const float mean = course::block_reduce(sum, course::Sum{}) / n;
  const float mean_of_squares = course::block_reduce(squares, course::Sum{}) / n;
  if (threadIdx.x == 0) in.d_y[blockIdx.x] = mean_of_squares - mean * mean;
}

// Question: can one read do without such luck?
// Changes:  each thread updates (count, mean, squares) for each of its elements (Welford); triples of threads are merged
//           (Chan).
// Cost:     one read, and a division for each element.
__global__ void __launch_bounds__(kRowBlock) variance_welford(Rows<float> in) {
  const float* const d_x = in.d_x + blockIdx.x * in.width;
  course::Moments mine;
  for (std::size_t c = threadIdx.x; c < in.width; c += kRowBlock) {
    const float before = d_x[c] - mine.mean;
    mine.count += 1;
    mine.mean += before / mine.count;
    mine.squares += before * (d_x[c] - mine.mean);
  }
  const course::Moments all = course::block_merge(mine, course::MergeMoments{});
  if (threadIdx.x == 0) in.d_y[blockIdx.x] = all.variance();
}

inline void launch_variance_of_squares(const Rows<float>& in) {
  course::launch(variance_of_squares, {static_cast<unsigned>(in.rows), kRowBlock}, in);
}
inline void launch_variance_two_passes(const Rows<float>& in) {
  course::launch(variance_two_passes, {static_cast<unsigned>(in.rows), kRowBlock}, in);
}
inline void launch_variance_shifted(const Rows<float>& in) {
  course::launch(variance_shifted, {static_cast<unsigned>(in.rows), kRowBlock}, in);
}
inline void launch_variance_welford(const Rows<float>& in) {
  course::launch(variance_welford, {static_cast<unsigned>(in.rows), kRowBlock}, in);
}
