// For the checks of kernels that work on groups of 32: a group in words, and three parts of an array
// of more than 2^31 elements.
#pragma once

#include <cuda_runtime.h>

#include <algorithm>
#include <cmath>
#include <course/error.cuh>
#include <course/verdict.cuh>
#include <cstddef>
#include <string>
#include <vector>

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

/// The maximum of each element's group; -infinity where all are NaN.
inline std::vector<float> group_maxima(const std::vector<float>& x) {
  std::vector<float> highest(x.size());
  for (std::size_t first = 0; first < x.size(); first += 32) {
    const std::size_t end = std::min(first + 32, x.size());
    float maximum = -INFINITY;
    for (std::size_t i = first; i < end; ++i) {
      if (!std::isnan(x[i])) maximum = std::max(maximum, x[i]);
    }
    for (std::size_t i = first; i < end; ++i) highest[i] = maximum;
  }
  return highest;
}

/// What the maximum of the group that begins at x[first] is computed from: "x[32..63], of which
/// x[40] = 3 is the largest number".
inline std::string group_text(const std::vector<float>& x, std::size_t first, float maximum) {
  const std::size_t end = std::min(first + 32, x.size());
  if (end == first + 1) return course::elements_text("x", x, first, end) + ", alone in its group";
  const std::string group = "x[" + std::to_string(first) + ".." + std::to_string(end - 1) + "]";
  for (std::size_t i = first; i < end; ++i) {
    if (x[i] != maximum) continue;  // true for NaN
    return group + ", of which " + course::elements_text("x", x, i, i + 1) +
           " is the largest number";
  }
  return group + ", which are all NaN";
}
