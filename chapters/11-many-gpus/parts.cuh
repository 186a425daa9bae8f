// Where is which data? Each device holds its share of the array, and what it needs to sum it.
// Everything is allocated while its device is current: that is what makes it the device's.
#pragma once

#include <cuda_runtime.h>

#include <algorithm>
#include <course/buffer.cuh>
#include <course/devices.cuh>
#include <course/error.cuh>
#include <course/grid.cuh>
#include <cstddef>
#include <utility>
#include <vector>

#include "local_sum.cuh"
#include "shares.cuh"

/// One device's part. All memory is the device's own.
struct Part {
  int device = 0;
  Share share = {};                          // of the whole array
  course::DeviceBuffer<float> x = {};        // its elements: share.size
  course::DeviceBuffer<double> chunks = {};  // workspace of local_sum()
  course::DeviceBuffer<double> sum = {};     // one: the sum of x
};

/// The share of `part` in whole chunks; the last of all may be shorter. chunk_sums() then has the
/// same chunks for any number of parts.
inline Share share_in_chunks(std::size_t n, int part, int parts) {
  const Share chunks = share_of(chunks_of(n), part, parts);
  const std::size_t begin = std::min(chunks.begin * kChunk, n);
  return {begin, std::min((chunks.begin + chunks.size) * kChunk, n) - begin};
}

/// An array of n floats over the devices 0, ..., devices - 1, in shares by `share_by`; x is not
/// initialised. Throws CudaError if a device is missing or its memory is full.
inline std::vector<Part> make_parts(std::size_t n, int devices,
                                    Share (*share_by)(std::size_t, int, int) = share_of) {
  std::vector<Part> parts;
  for (int device = 0; device < devices; ++device) {
    const course::OnDevice on(device);
    const Share share = share_by(n, device, devices);
    parts.push_back({device, share, course::DeviceBuffer<float>(share.size),
                     course::DeviceBuffer<double>(chunks_of(share.size)),
                     course::DeviceBuffer<double>(1)});
  }
  return parts;
}

/// d_x[i] = d_table[(begin + i) % period].
__global__ void repeat_kernel(const float* d_table, std::size_t period, std::size_t begin,
                              float* d_x, std::size_t n) {
  const std::size_t stride = std::size_t{gridDim.x} * blockDim.x;
  for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < n; i += stride) {
    d_x[i] = d_table[(begin + i) % period];
  }
}

/// d_x[i] = table[(begin + i) % table.size()] for i < n, in memory of the current device: values
/// that depend on the place in the whole array. Waits until all is written. Throws CudaError.
inline void repeat(const std::vector<float>& table, std::size_t begin, float* d_x, std::size_t n) {
  if (n == 0) return;
  const auto d_table = course::DeviceBuffer<float>::from(table);
  course::launch(repeat_kernel, {course::filling_blocks(kSumBlock), kSumBlock}, d_table.data(),
                 table.size(), begin, d_x, n);
  CUDA_CHECK(cudaDeviceSynchronize());
}

/// Element i of the whole array becomes table[i % table.size()].
inline void fill(std::vector<Part>& parts, const std::vector<float>& table) {
  for (Part& part : parts) {
    const course::OnDevice on(part.device);
    repeat(table, part.share.begin, part.x.data(), part.share.size);
  }
}

/// The exact sum of the n elements that fill() writes, in double, if that of the table is exact.
inline double sum_of_repeated(const std::vector<float>& table, std::size_t n) {
  double whole = 0, rest = 0;
  for (std::size_t i = 0; i < table.size(); ++i) {
    whole += static_cast<double>(table[i]);
    if (i < n % table.size()) rest += static_cast<double>(table[i]);
  }
  return static_cast<double>(n / table.size()) * whole + rest;
}

/// Waits for the devices 0, ..., devices - 1. cudaDeviceSynchronize() alone waits for one: the
/// current one.
inline void wait_for_devices(int devices) {
  for (int device = 0; device < devices; ++device) {
    const course::OnDevice on(device);
    CUDA_CHECK(cudaDeviceSynchronize());
  }
}

/// Waits for the devices of all parts.
inline void wait_for(const std::vector<Part>& parts) {
  wait_for_devices(static_cast<int>(parts.size()));
}
