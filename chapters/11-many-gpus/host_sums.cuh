// How do the sums of several devices meet on the host?
// Rungs: sum_copied_to_host (one copy per device), sum_stored_to_host (the kernel writes it there).
// Cost: a few microseconds for each device's launches, which the host makes one after another.
#pragma once

#include <course/host_memory.cuh>
#include <vector>

#include "parts.cuh"

/// The sum of all parts. First all devices get their work, then the host waits for each: in one
/// loop, device 1 would begin when device 0 has finished. Throws CudaError.
inline double sum_copied_to_host(std::vector<Part>& parts, course::PinnedBuffer<double>& sums) {
  for (std::size_t i = 0; i < parts.size(); ++i) {
    Part& part = parts[i];
    const course::OnDevice on(part.device);
    local_sum(part.x.data(), part.share.size, part.sum.data(), part.chunks.data(), nullptr);
    CUDA_CHECK(cudaMemcpyAsync(&sums[i], part.sum.data(), sizeof(double), cudaMemcpyDeviceToHost,
                               nullptr));
  }
  wait_for(parts);
  double sum = 0;
  for (std::size_t i = 0; i < parts.size(); ++i) sum += sums[i];
  return sum;
}

/// The same without copies: every device stores its sum into pinned host memory, in an element of
/// its own. A store needs no atomic, because no other device writes there.
inline double sum_stored_to_host(std::vector<Part>& parts, course::PinnedBuffer<double>& sums) {
  for (std::size_t i = 0; i < parts.size(); ++i) {
    Part& part = parts[i];
    const course::OnDevice on(part.device);
    local_sum(part.x.data(), part.share.size, &sums[i], part.chunks.data(), nullptr);
  }
  wait_for(parts);
  double sum = 0;
  for (std::size_t i = 0; i < parts.size(); ++i) sum += sums[i];
  return sum;
}
