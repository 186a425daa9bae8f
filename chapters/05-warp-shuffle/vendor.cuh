// The same answers from CUB and Thrust, NVIDIA's own libraries. Only a GPU build has them
// (vendor.cu).
#pragma once

#include <cuda_fp16.h>

#include <course/ladder.cuh>
#include <cstddef>

// Rows whose launches own the memory that CUB works in. The ladder says what becomes of the result.

/// Sets *d_y to the sum of x[0..n-1].
course::Rung cub_sum(const float* d_x, std::size_t n, float* d_y);
course::Rung cub_sum(const double* d_x, std::size_t n, double* d_y);
course::Rung cub_sum(const int* d_x, std::size_t n, int* d_y);

/// The same for halves, summed in float: cub::DeviceReduce::TransformReduce.
course::Rung cub_sum_as_float(const __half* d_x, std::size_t n, float* d_y);

/// Leaves the sum in *y, in host memory: thrust::reduce returns it.
course::Rung thrust_sum(const float* d_x, std::size_t n, float* y);
