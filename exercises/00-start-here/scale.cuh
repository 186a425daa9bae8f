// Exercise scale: multiply every value of an array by a factor, on the device.
//
// Your first kernel, and the host function that launches it. The chapter's README leads you there
// in six steps, and each of the first five shows a message that you will meet again.
//
// Try it: ./course check scale
#pragma once

#include <course/error.cuh>
#include <course/exercise.cuh>
#include <cstddef>

NOT_STARTED  // delete this line when you begin

/// Kernel: multiplies each of values[0..n-1] by factor.
/// - Every thread runs these lines and takes one element. The threads share the work.
/// - Right for every one-dimensional grid with at least n threads; threads left over touch nothing.
__global__ void scale(float* values, std::size_t n, float factor) {
  // TODO(you): multiply this thread's element.
  (void)values, (void)n, (void)factor;  // not used yet: delete this line when they are
}

/// Host function: launches the kernel above on n floats in device memory.
/// - `block`, at least 1, is the number of threads of a block. It launches as many blocks as n
///   elements need, which are fewer than 2^31, and not more.
/// - n == 0 launches nothing, and is no error.
/// - A launch that CUDA refuses throws course::CudaError.
inline void launch_scale(float* values, std::size_t n, float factor, unsigned block) {
  // TODO(you): launch the kernel, and check the launch.
  (void)values, (void)n, (void)factor, (void)block;
}
