// For the checks of an atomic operation on one half: every element by itself, bit by bit, with what
// is around it. An Operation is described in one_half.cuh.
#pragma once

#include <cuda_fp16.h>

#include <catch2/catch_test_macros.hpp>
#include <course/check.cuh>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "half_bits.cuh"

namespace one_half {

/// Element i * step gets values[i]. With step 1 neighbours change at the same time.
template <class Operation>
__global__ void each_element(Operation operation, const Bits* values, std::size_t n,
                             std::size_t step, __half* x, __half* returned) {
  const std::size_t stride = std::size_t{gridDim.x} * blockDim.x;
  for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < n; i += stride) {
    returned[i] = operation(&x[i * step], __ushort_as_half(values[i]));
  }
}

/// Element i * step gets values[i], in global and in shared memory. With step 2 no thread
/// works on every second one.
template <class Operation>
__global__ void each_element_twice(Operation operation, const Bits* values, unsigned n,
                                   unsigned step, __half* x, __half* shared_x, __half* returned,
                                   __half* shared_returned) {
  __shared__ __align__(4) __half s_x[2 * 128];
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  const unsigned first = step * blockIdx.x * blockDim.x, own = step * blockDim.x;
  for (unsigned k = threadIdx.x; k < own; k += blockDim.x) s_x[k] = shared_x[first + k];
  __syncthreads();
  if (i < n) {
    returned[i] = operation(&x[step * i], __ushort_as_half(values[i]));
    shared_returned[i] = operation(&s_x[step * threadIdx.x], __ushort_as_half(values[i]));
  }
  __syncthreads();
  for (unsigned k = threadIdx.x; k < own; k += blockDim.x) shared_x[first + k] = s_x[k];
}

/// values[i] goes to x[offset + i * step], and all elements between and around keep their bits.
template <class Operation>
void check_array(const std::vector<Bits>& start, std::size_t offset, std::size_t step,
                 const std::vector<Bits>& values, course::LaunchShape launch) {
  const std::size_t n = values.size();
  course::GuardedBuffer<__half> x(start.size()), returned(n);
  set_bits(x.data(), start);
  const auto d_values = course::DeviceBuffer<Bits>::from(values);
  __half* const array = x.data() + offset;  // reports call memory by the launch's arguments
  each_element<<<launch.grid, launch.block>>>(Operation{}, d_values.data(), n, step, array,
                                              returned.data());
  CUDA_CHECK_LAUNCH();
  const std::vector<Bits> after = get_bits(x.data(), start.size());
  const std::vector<Bits> found = get_bits(returned.data(), n);
  std::vector<bool> changed(start.size(), false);
  for (std::size_t i = 0; i < n; ++i) {
    const std::size_t at = offset + i * step;
    const Bits expected = Operation::result(start[at], values[i]);
    changed[at] = true;
    if (after[at] == expected && found[i] == start[at]) continue;
    INFO("x[" << at << "] held " << half_text(start[at]) << ", the other half of its word "
              << half_text(start[at ^ 1]) << "; the value is " << half_text(values[i]));
    REQUIRE(Operation::right("x[" + std::to_string(at) + "]", start[at], values[i], after[at]));
    REQUIRE(same_bits("returned[" + std::to_string(i) + "]", found[i], start[at]));
  }
  for (std::size_t at = 0; at < start.size(); ++at) {
    if (changed[at] || after[at] == start[at]) continue;
    const std::string who = at < offset || at >= offset + n * step
                                ? ", outside the array, must keep its bits"
                                : ", a neighbour, must keep its bits";
    REQUIRE(same_bits("x[" + std::to_string(at) + "]" + who, after[at], start[at]));
  }
  REQUIRE(x.intact("x"));
  REQUIRE(returned.intact("returned"));
}

/// Every cell with every value, each pair on its own; the elements between them must stay.
template <class Operation>
void check_pairs(const std::vector<Bits>& cells, const std::vector<Bits>& values, unsigned offset) {
  std::vector<Bits> start(offset, kMinusZero), value;
  for (const Bits c : cells) {
    for (const Bits v : values) {
      start.push_back(c);
      start.push_back(value.size() % 3 == 0   ? Bits{0x7D01}
                      : value.size() % 3 == 1 ? v
                                              : kMinusZero);
      value.push_back(v);
    }
  }
  const std::size_t n = value.size(), blocks = (n + 127) / 128;
  start.resize(offset + 2 * 128 * blocks + offset, kMinusZero);  // whole blocks and whole words
  const std::vector<Bits> shared_start(start.begin() + offset, start.end());
  const auto d_value = course::DeviceBuffer<Bits>::from(value);
  course::DeviceBuffer<__half> x(start.size()), shared_x(shared_start.size()), returned(n),
      shared_returned(n);
  set_bits(x.data(), start);
  set_bits(shared_x.data(), shared_start);
  each_element_twice<<<static_cast<unsigned>(blocks), 128>>>(
      Operation{}, d_value.data(), static_cast<unsigned>(n), 2, x.data() + offset, shared_x.data(),
      returned.data(), shared_returned.data());
  CUDA_CHECK_LAUNCH();
  const std::vector<Bits> after = get_bits(x.data(), start.size()),
                          shared_after = get_bits(shared_x.data(), shared_start.size()),
                          found = get_bits(returned.data(), n),
                          shared_found = get_bits(shared_returned.data(), n);
  for (std::size_t i = 0; i < n; ++i) {
    const std::size_t at = offset + 2 * i;
    INFO("the cell held " << half_text(start[at]) << ", the value is " << half_text(value[i])
                          << "; its address is " << (at % 2 == 0 ? "a" : "no")
                          << " multiple of 4, the other half of the word held "
                          << half_text(start[at ^ 1]));
    const Bits expected = Operation::result(start[at], value[i]);
    REQUIRE(same_bits("the cell, in global memory", after[at], expected));
    REQUIRE(same_bits("the cell, in shared memory", shared_after[2 * i], expected));
    REQUIRE(same_bits("returned, from global memory", found[i], start[at]));
    REQUIRE(same_bits("returned, from shared memory", shared_found[i], start[at]));
    REQUIRE(
        same_bits("the other half of the word, in global memory", after[at ^ 1], start[at ^ 1]));
    REQUIRE(same_bits("its neighbour, in shared memory", shared_after[2 * i + 1], start[at + 1]));
  }
}

/// A call that looks by a volatile load also makes an atomic, whatever the cell holds and the value
/// is. (Plain loads are races, where others change the word.)
template <class Operation>
void check_confirmed(const std::vector<Bits>& cells, const std::vector<Bits>& values) {
  const std::size_t n = values.size();
  const auto d_values = course::DeviceBuffer<Bits>::from(values);
  course::DeviceBuffer<__half> x(2 * n), returned(n);
  for (const Bits cell : cells) {
    set_bits(x.data(), std::vector<Bits>(2 * n, cell));
    const auto counters = course::count([&] {
      each_element<<<1, 32>>>(Operation{}, d_values.data(), n, 2, x.data(), returned.data());
      CUDA_CHECK_LAUNCH();
    });
    INFO(course::counted(n, "call")
         << ", each for an element of its own that holds " << half_text(cell)
         << "; volatile loads: " << counters->global_volatile_loads);
    const std::uint64_t found = counters->global_atomic_lanes;
    REQUIRE(course::Verdict{
        found >= n || counters->global_volatile_loads == 0,
        "atomics: expected at least " + std::to_string(n) + ", found " + std::to_string(found) +
            "; what a volatile load has\nfound may be out of date: let atomicCAS confirm it"});
  }
}

}  // namespace one_half
