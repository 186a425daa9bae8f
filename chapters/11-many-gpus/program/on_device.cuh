// What runs on the rank's device, for the part of the program that launches no kernels. The array
// repeats a table: element i is table()[i % table().size()], a multiple of 1/8.
#pragma once

#include <course/buffer.cuh>
#include <cstddef>
#include <vector>

std::vector<float> table();
double exact_sum(std::size_t n);  // of the first n elements
/// d_x[0..n-1] = the elements [begin, begin + n). Waits. Throws course::CudaError.
void make_floats(std::size_t begin, float* d_x, std::size_t n);
/// Queues *d_sum = x[0] + x[1] + ..., all on the current device. Throws course::CudaError.
void queue_sum(const course::DeviceBuffer<float>& x, course::DeviceBuffer<double>& workspace,
               double* d_sum, cudaStream_t stream);
