// What runs on the rank's device, for the part of the program that launches no kernels.
#pragma once

#include <cuda_runtime.h>

#include <course/buffer.cuh>
#include <cstddef>
#include <cstdint>

#include "../shares.cuh"

/// A share of the array, in memory of the current device. Its elements depend on their place in the
/// whole array: so its sum is the same, however many shares there are.
class ShareOnDevice {
 public:
  /// Makes the elements, and waits until they are there. Throws course::CudaError.
  explicit ShareOnDevice(Share share);
  /// Queues *d_sum = the sum of the share. Throws course::CudaError.
  void add_up(double* d_sum, cudaStream_t stream);

 private:
  course::DeviceBuffer<float> x_;
  course::DeviceBuffer<double> workspace_;
};

/// The exact sum of an array of n elements.
double exact_sum(std::size_t n);

/// Writes the vector of rank `rank`, n floats, and waits. Throws course::CudaError.
void make_vector(float* d_x, std::size_t n, int rank);
/// How many of the n elements are not the exact sum of the vectors of all ranks. Throws
/// course::CudaError.
std::uint64_t wrong_elements(const float* d_sum, std::size_t n, int ranks);
