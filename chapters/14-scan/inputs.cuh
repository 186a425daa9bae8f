// Data for the ladder and the proofs, and comparisons that a GPU makes: its arrays are large.
#pragma once

#include <course/buffer.cuh>
#include <course/collectives.cuh>
#include <course/data.cuh>
#include <course/error.cuh>
#include <course/launch.cuh>
#include <course/verdict.cuh>
#include <cstddef>
#include <string>
#include <vector>

/// n floats from -7/8 to 7/8, of which no prefix sum goes far from 0: in steps of 1/8 all of them are exact, in
/// any order of the additions.
inline std::vector<float> exact_input(std::size_t n) {
  std::vector<float> x(n);
  int sum = 0;  // in eighths
  for (std::size_t i = 0; i < n; ++i) {
    const int size = static_cast<int>(course::mixed(i) % 8);
    const int step = sum > 0 ? -size : size;
    sum += step;
    x[i] = static_cast<float>(step) / 8;
  }
  return x;
}

/// n floats whose sums are rounded: another order gives other last bits.
inline std::vector<float> rounded_input(std::size_t n) {
  std::vector<float> x(n);
  for (std::size_t i = 0; i < n; ++i) {
    x[i] = static_cast<float>(course::mixed(i) >> 40) * 0x1p-24f;
  }
  return x;
}

/// keys, sorted by the digits of the passes from `first` to `last` - 1: one pass of counting for each. On 2^26 keys four
/// passes took 3.5 s, and std::sort 12 s.
inline std::vector<unsigned> sorted_by_digits(std::vector<unsigned> keys, unsigned first,
                                              unsigned last) {
  std::vector<unsigned> sorted(keys.size());
  for (unsigned pass = first; pass < last; ++pass) {
    std::vector<std::size_t> place(257, 0);
    for (const unsigned key : keys) ++place[1 + (key >> 8 * pass & 255)];
    for (std::size_t digit = 1; digit < place.size(); ++digit) place[digit] += place[digit - 1];
    for (const unsigned key : keys) sorted[place[key >> 8 * pass & 255]++] = key;
    keys.swap(sorted);
  }
  return keys;
}

/// Element i, as a ladder shows it, or 0 if there is none; waits for the kernels before it.
template <class T>
double shown_element(const course::DeviceBuffer<T>& x, std::size_t i) {
  T value{};
  if (i >= x.size()) return 0;
  CUDA_CHECK(cudaMemcpy(&value, x.data() + i, sizeof value, cudaMemcpyDeviceToHost));
  return static_cast<double>(value);
}

/// The elements that differ, counted.
template <class T>
__global__ void count_differences(const T* d_x, const T* d_expected, std::size_t n,
                                  unsigned long long* d_count) {
  const std::size_t stride = std::size_t{gridDim.x} * blockDim.x;
  unsigned long long differences = 0;
  for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < n; i += stride) {
    differences += d_x[i] == d_expected[i] ? 0 : 1;
  }
  differences = course::block_reduce(differences, course::Sum{});
  if (threadIdx.x == 0) atomicAdd(d_count, differences);
}

/// How many of the first n elements differ.
template <class T>
unsigned long long count_of_differences(const course::DeviceBuffer<T>& found,
                                        const course::DeviceBuffer<T>& expected, std::size_t n) {
  if (n == 0) return 0;
  auto count = course::DeviceBuffer<unsigned long long>::zeros(1);
  course::launch(count_differences<T>,
                 {static_cast<unsigned>(n < 4096 * 256 ? (n + 255) / 256 : 4096), 256},
                 found.data(), expected.data(), n, count.data());
  return count.front();
}

/// Ok if the first n elements are the same.
template <class T>
course::Verdict same_on_device(const course::DeviceBuffer<T>& found,
                               const course::DeviceBuffer<T>& expected, std::size_t n,
                               const char* name) {
  if (count_of_differences(found, expected, n) == 0) return {};
  std::vector<T> all = found.download(), right = expected.download();  // now it may take its time
  all.resize(n);
  right.resize(n);
  return course::same(all, right, name);
}
