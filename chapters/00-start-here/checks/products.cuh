// What the check of scale expects of values and of a grid.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <course/check.cuh>
#include <course/grid.cuh>
#include <course/guarded.cuh>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace products {

/// n values in device memory, and something that notices writes around them.
inline course::GuardedBuffer<float> on_device(const std::vector<float>& x) {
  course::GuardedBuffer<float> values(x.size());
  if (x.empty()) return values;
  CUDA_CHECK(cudaMemcpy(values.data(), x.data(), values.bytes(), cudaMemcpyHostToDevice));
  return values;
}

inline std::vector<float> multiplied(std::vector<float> x, float factor) {
  for (float& value : x) value *= factor;
  return x;
}

/// What a message says of the inputs of values[i].
inline course::Inputs inputs_of(const std::vector<float>& x, float factor) {
  return [=](std::size_t i) {
    return course::number_text(x[i]) + ", which it held before, and the factor " +
           course::number_text(factor);
  };
}

/// Ok if every product has the right bits; of a NaN any bits are right.
inline course::Verdict same_floats(const std::vector<float>& found, const std::vector<float>& x,
                                   float factor) {
  for (std::size_t i = 0; i < x.size(); ++i) {
    const float product = x[i] * factor;
    const bool both_nan = std::isnan(found[i]) && std::isnan(product);
    if (both_nan || std::bit_cast<unsigned>(found[i]) == std::bit_cast<unsigned>(product)) continue;
    const std::string name = "values[" + std::to_string(i) + "]";
    return {false, name + ": expected " + course::number_text(product) + ", found " +
                       course::number_text(found[i]) + "\n" + name + " is computed from " +
                       inputs_of(x, factor)(i)};
  }
  return {};
}

/// Ok if the elements around `middle` are 2 * x. The array has n elements, more than a host copies.
inline course::Verdict doubled_around(std::size_t middle, const course::DeviceBuffer<float>& values,
                                      float x) {
  const std::size_t first = std::max<std::size_t>(middle, 500) - 500;
  std::vector<float> found(std::min<std::size_t>(1000, values.size() - first));
  CUDA_CHECK(cudaMemcpy(found.data(), values.data() + first, found.size() * sizeof(float),
                        cudaMemcpyDeviceToHost));
  return course::same(found, std::vector<float>(found.size(), 2 * x),
                      "(values + " + std::to_string(first) + ")",
                      "each one held " + course::number_text(x) + " before");
}

/// Ok if n elements got one launch, with the blocks that they need, of the size that was asked for.
inline course::Verdict grid_fits(const course::Counters& counters, std::size_t n, unsigned block) {
  const std::uint64_t needed = course::blocks_for(n, block);
  if (counters.launches != 1) {
    return {false, "launches: expected 1, found " + std::to_string(counters.launches)};
  }
  if (counters.blocks == needed && counters.threads == needed * block) return {};
  return {false, "grid: expected <<<" + std::to_string(needed) + ", " + std::to_string(block) +
                     ">>>, found <<<" + std::to_string(counters.blocks) + ", " +
                     std::to_string(counters.threads / counters.blocks) + ">>>"};
}

}  // namespace products
