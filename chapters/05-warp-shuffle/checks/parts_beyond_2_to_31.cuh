// For the checks of kernels that work on groups of 32: three parts of an array of more than 2^31
// elements.
#pragma once

#include <cuda_runtime.h>

#include <course/error.cuh>
#include <cstddef>
#include <vector>

namespace part_checks {

inline constexpr std::size_t k2To31 = std::size_t{1} << 31, kBeyond2To31 = k2To31 + 77;

/// Where the parts begin, three groups each: the first ones, the last ones below 2^31, and those
/// from there to the end.
inline constexpr std::size_t kParts[] = {0, k2To31 - 96, k2To31};
inline std::size_t part_size(std::size_t first) { return first == k2To31 ? 77 : 96; }

template <class T>
void write_part(T* d_x, const std::vector<T>& part) {
  CUDA_CHECK(cudaMemcpy(d_x, part.data(), part.size() * sizeof(T), cudaMemcpyHostToDevice));
}

/// `size` elements; waits for the kernels before it.
template <class T>
std::vector<T> read_part(const T* d_x, std::size_t size) {
  std::vector<T> part(size);
  CUDA_CHECK(cudaMemcpy(part.data(), d_x, size * sizeof(T), cudaMemcpyDeviceToHost));
  return part;
}

}  // namespace part_checks
