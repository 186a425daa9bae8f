// Data for the ladder and the self-check, and comparisons that a GPU makes: its arrays are too
// large to be sorted on the host.
#pragma once

#include <course/buffer.cuh>
#include <course/collectives.cuh>
#include <course/data.cuh>
#include <course/error.cuh>
#include <course/verdict.cuh>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "filter.cuh"

using course::mixed;

/// Number i of an array of which `percent` of 100 are positive, here and there. The others are
/// negative, some are 0.
__host__ __device__ inline int filter_number(std::uint64_t i, unsigned percent) {
  const std::uint64_t h = mixed(i);
  const auto size = static_cast<int>(h & 0x3fff'ffff);
  if ((h >> 32) * 100 >> 32 < percent) return size + 1;
  return i % 16 == 5 ? 0 : -size;
}

inline std::vector<int> filter_input(std::size_t n, unsigned percent) {
  std::vector<int> x(n);
  for (std::size_t i = 0; i < n; ++i) x[i] = filter_number(i, percent);
  return x;
}

/// n keys from 0 to keys - 1, in no order.
inline std::vector<int> random_keys(std::size_t n, std::size_t keys) {
  return course::random_index(n, keys);
}

inline std::vector<Count> count_keys(const std::vector<int>& key, std::size_t keys) {
  std::vector<Count> counts(keys, 0);
  for (const int k : key) ++counts[static_cast<std::size_t>(k)];
  return counts;
}

/// Ok if the places of each key are first[key], first[key] + 1, ..., each once, in any order.
inline course::Verdict places_are_right(const std::vector<Count>& places,
                                        const std::vector<int>& key,
                                        const std::vector<Count>& first) {
  const std::vector<Count> counts = count_keys(key, first.size());
  std::vector<std::vector<bool>> taken(first.size());
  for (std::size_t k = 0; k < first.size(); ++k) taken[k].resize(counts[k]);
  for (std::size_t i = 0; i < key.size(); ++i) {
    const auto k = static_cast<std::size_t>(key[i]);
    const Count place = places[i] - first[k];
    const std::string which =
        "places[" + std::to_string(i) + "], of key " + std::to_string(k) + ": ";
    if (places[i] < first[k] || place >= counts[k]) {
      return {false, which + "expected less than " + std::to_string(first[k] + counts[k]) +
                         ", found " + std::to_string(places[i])};
    }
    if (taken[k][place]) {
      return {false, which + std::to_string(places[i]) + " is taken already"};
    }
    taken[k][place] = true;
  }
  return {};
}

// ---- comparisons on the device ------------------------------------------------------------------

/// Adds to sum[0] the number of places where the two differ, and to sum[1] a number that depends on
/// which numbers x holds and how often, but not on their order: two arrays with the same are the
/// same set, up to one chance in 2^64.
__global__ void compare_arrays(const int* d_x, const int* d_expected, std::size_t n, Count* d_sum) {
  const std::size_t stride = std::size_t{gridDim.x} * blockDim.x;
  Count differences = 0, fingerprint = 0;
  for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < n; i += stride) {
    differences += d_x[i] != d_expected[i] ? 1 : 0;
    fingerprint +=
        mixed(static_cast<unsigned>(d_x[i])) - mixed(static_cast<unsigned>(d_expected[i]));
  }
  differences = course::block_reduce(differences, course::Sum{});
  fingerprint = course::block_reduce(fingerprint, course::Sum{});
  if (threadIdx.x == 0) {
    atomicAdd(&d_sum[0], differences);
    atomicAdd(&d_sum[1], fingerprint);
  }
}

/// Ok if the first numbers of `kept` are those of `expected`, in any order or in the same one.
inline course::Verdict kept_is_right(const course::DeviceBuffer<int>& kept,
                                     const course::DeviceBuffer<int>& expected, bool in_order) {
  const std::size_t n = expected.size();
  if (n == 0) return {};
  auto sums = course::DeviceBuffer<Count>::zeros(2);
  compare_arrays<<<static_cast<unsigned>(n < 4096 * 256 ? (n + 255) / 256 : 4096), 256>>>(
      kept.data(), expected.data(), n, sums.data());
  CUDA_CHECK_LAUNCH();
  const std::vector<Count> sum = sums.download();
  if ((in_order ? sum[0] : sum[1]) == 0) return {};
  std::vector<int> found = kept.download();  // now it may take its time
  found.resize(n);
  return in_order ? course::same(found, expected.download(), "out")
                  : course::same_set(found, expected.download(), "out");
}
