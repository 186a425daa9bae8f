// The same answers from CUB and Thrust, NVIDIA's own libraries. Only a GPU build has them
// (vendor.cu).
#pragma once

#include <cuda_fp16.h>

#include <cstddef>
#include <functional>

/// A launch that sets *d_y to the sum of x[0..n-1]. It owns the memory that CUB works in.
std::function<void()> cub_sum(const float* d_x, std::size_t n, float* d_y);
std::function<void()> cub_sum(const double* d_x, std::size_t n, double* d_y);
std::function<void()> cub_sum(const int* d_x, std::size_t n, int* d_y);

/// The same for halves, summed in float: cub::DeviceReduce::TransformReduce.
std::function<void()> cub_sum_as_float(const __half* d_x, std::size_t n, float* d_y);

/// A call that leaves the sum in *y, in host memory: thrust::reduce returns it.
std::function<void()> thrust_sum(const float* d_x, std::size_t n, float* y);
