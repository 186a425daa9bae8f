// What the tests of this chapter share.
#pragma once

#include <course/check.cuh>
#include <course/devices.cuh>
#include <cstddef>
#include <vector>

#include "rungs.cuh"

constexpr std::size_t kPeriod = 1009;  // of the values: a prime

/// Sizes around a chunk, besides the usual ones.
inline std::vector<std::size_t> sizes() {
  std::vector<std::size_t> all = course::all_sizes();
  all.insert(all.end(), {kChunk - 1, kChunk, 2 * kChunk + 5});
  return all;
}

/// A few of them for every number of devices: fewer elements than devices, and uneven shares.
inline const std::vector<std::size_t> kFewSizes = {0, 1, 3, 257, 1025, 2 * kChunk + 5};

/// An array over devices, filled, with its exact sum.
struct Filled : Spread {
  Filled(std::size_t n, int devices, bool in_chunks = false)
      : Filled(n, devices, course::position_values<float>(kPeriod), in_chunks) {}
  double expected = 0;

 private:
  Filled(std::size_t n, int devices, const std::vector<float>& table, bool in_chunks)
      : Spread(n, devices, table, in_chunks), expected(sum_of_repeated(table, n)) {}
};

/// Runs `test(devices)` on machines of one to four devices.
template <class Test>
void on_one_to_four_devices(Test test) {
  for (int devices = 1; devices <= 4; ++devices) {
    course::with_devices(devices, [&] { test(devices); });
  }
}
