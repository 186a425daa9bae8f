// Exercise split_sum: an array, a few devices, one sum.
//
// The array is in host memory. Each device gets a piece of it and sums it, and the host adds the
// devices' sums. Ten elements on three devices are four, three and three; two elements on three
// devices leave one device without any.
//
// Try it: ./course check split_sum
#pragma once

#include <cuda_runtime.h>

#include <course/buffer.cuh>
#include <course/devices.cuh>
#include <course/error.cuh>
#include <course/exercise.cuh>
#include <course/host_memory.cuh>
#include <cstddef>
#include <vector>

#include "local_sum.cuh"  // local_sum(d_x, n, d_sum, d_workspace, stream): *d_sum = the sum

/// The elements [begin, begin + size) of an array.
struct Piece {
  std::size_t begin, size;
};

/// The piece of part `part` (0, ..., parts - 1) in an array of n elements.
/// - Piece 0 begins at 0, and each of the others where the one before it ends; together they are
///   all n elements.
/// - Sizes differ by at most one. If n < parts, some are 0.
/// - Right for every n up to 2^60.
inline Piece piece_of(std::size_t n, int part, int parts) {
  const auto p = static_cast<std::size_t>(part), count = static_cast<std::size_t>(parts);
  const std::size_t each = n / count, longer = n % count;  // so many pieces have one more
  return {p * each + (p < longer ? p : longer), each + (p < longer ? 1 : 0)};
}

/// h_x[0] + ... + h_x[n-1]: each of the devices 0, ..., devices - 1 sums its piece_of(n) with
/// local_sum(), and the host adds these sums.
/// - A device reads only memory that it reaches: its piece is copied there first.
/// - All devices get their work before the host waits for any of them: they add at the same time.
/// - The device that is current before the call is current after it, even after an error.
/// - Throws course::CudaError if a device is missing or fails. A missing device is found before any
///   other has work: leaving the function frees the memory that kernels would still be using.
/// - What it takes from CUDA, such as memory, it gives back.
inline double split_sum(const float* h_x, std::size_t n, int devices) {
  // A missing device is found before any other has work: an exception would free memory in use.
  { const course::OnDevice last(devices - 1); }
  std::vector<course::DeviceBuffer<float>> x;  // kept until all are done: cudaFree waits
  std::vector<course::DeviceBuffer<double>> workspaces;
  course::PinnedBuffer<double> sums(static_cast<std::size_t>(devices));
  for (int device = 0; device < devices; ++device) {
    const course::OnDevice on(device);
    const Piece piece = piece_of(n, device, devices);
    x.emplace_back(piece.size);
    workspaces.emplace_back(chunks_of(piece.size));
    if (piece.size > 0) {
      CUDA_CHECK(cudaMemcpyAsync(x.back().data(), h_x + piece.begin, x.back().bytes(),
                                 cudaMemcpyHostToDevice, nullptr));
    }
    local_sum(x.back().data(), piece.size, &sums[static_cast<std::size_t>(device)],
              workspaces.back().data(), nullptr);
  }
  double sum = 0;
  for (int device = 0; device < devices; ++device) {
    const course::OnDevice on(device);
    CUDA_CHECK(cudaDeviceSynchronize());  // waits for this device only
    sum += sums[static_cast<std::size_t>(device)];
  }
  return sum;
}
