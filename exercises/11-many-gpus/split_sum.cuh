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
#include <course/devices.cuh>  // course::OnDevice on(device): current up to the end of the block
#include <course/error.cuh>
#include <course/exercise.cuh>
#include <course/host_memory.cuh>
#include <cstddef>
#include <vector>

#include "local_sum.cuh"  // local_sum(d_x, n, d_sum, d_workspace, stream): *d_sum = the sum

NOT_STARTED  // delete this line when you begin

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
  const std::size_t each = n / static_cast<std::size_t>(parts);
  return {each * static_cast<std::size_t>(part), each};  // TODO(you): keep the promises above
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
  double sum = 0;
  for (int device = 0; device < devices; ++device) {
    // TODO(you): so far one device does all of the work.
    const Piece piece = piece_of(n, device, devices);
    const std::vector<float> h_piece(h_x + piece.begin, h_x + piece.begin + piece.size);
    const auto d_x = course::DeviceBuffer<float>::from(h_piece);
    course::DeviceBuffer<double> workspace(chunks_of(piece.size)), d_sum(1);
    local_sum(d_x.data(), piece.size, d_sum.data(), workspace.data(), nullptr);
    sum += d_sum.front();
  }
  return sum;
}
