// A missing device is found when others have work already: the exception frees what they use.
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

struct Piece {
  std::size_t begin, size;
};

inline Piece piece_of(std::size_t n, int part, int parts) {
  const auto p = static_cast<std::size_t>(part), count = static_cast<std::size_t>(parts);
  const std::size_t each = n / count, longer = n % count;  // so many pieces have one more
  return {p * each + (p < longer ? p : longer), each + (p < longer ? 1 : 0)};
}

inline double split_sum(const float* h_x, std::size_t n, int devices) {
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
