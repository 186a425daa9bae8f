// Challenge beat_softmax: the softmax of each row of floats, rows of 1024 and of 32,768, faster than
// CUB and PyTorch.
//
// The starter is right, and slow: it reads each row three times. Make it as fast as you can; any
// kernels, any number of launches. The check proves that it stays right, and asks for more than one
// block and at most two reads of each number.
//
// Try it: ./course check beat_softmax, then ./course score beat_softmax
#pragma once

#include <cmath>
#include <course/collectives.cuh>
#include <course/exercise.cuh>
#include <course/launch.cuh>
#include <cstddef>

NOT_STARTED  // delete this line when you begin

__global__ void softmax_naive(const float* d_x, std::size_t rows, std::size_t width, float* d_y) {
  // TODO(you): beat this.
  for (std::size_t row = blockIdx.x; row < rows; row += gridDim.x) {
    const float* const d_row = d_x + row * width;
    float max = -INFINITY, sum = 0;
    for (std::size_t c = threadIdx.x; c < width; c += blockDim.x) max = fmaxf(max, d_row[c]);
    max = course::block_reduce(max, course::Max{});
    for (std::size_t c = threadIdx.x; c < width; c += blockDim.x) sum += expf(d_row[c] - max);
    sum = course::block_reduce(sum, course::Sum{});
    for (std::size_t c = threadIdx.x; c < width; c += blockDim.x) {
      d_y[row * width + c] = expf(d_row[c] - max) / sum;
    }
  }
}

struct BeatSoftmax {
  /// Row r of y becomes the softmax of row r of x: y = exp(x - max) / (the sum of exp(x - max) of the
  /// row). Both are row-major, without gaps.
  /// - rows and width may be 0. d_y may hold anything before, and does not overlap d_x; nothing else
  ///   is written. Both are aligned to floats, no more; rows * width may exceed 2^32.
  /// - x may be any float. Each y is within 10^-4 + width * 2^-24 of its exact value, relatively, or
  ///   within 10^-12.
  /// - -infinity becomes 0. A row with NaN or +infinity becomes NaN as a whole, and so does one with
  ///   nothing but -infinity.
  /// - Kernels read the numbers, not the host.
  /// - Launches in the default stream; the result need not be there when this returns.
  /// - Called again, with any shape, when the call before is done or in the same stream after it.
  void operator()(const float* d_x, std::size_t rows, std::size_t width, float* d_y) {
    const unsigned blocks = rows < 65'536 ? static_cast<unsigned>(rows) : 65'536;
    course::launch(softmax_naive, {blocks, 256}, d_x, rows, width, d_y);
  }

  // What is kept from one call to the next, such as a course::DeviceBuffer, is a member here.
};
