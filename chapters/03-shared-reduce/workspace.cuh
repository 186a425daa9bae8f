// Device memory that rungs need besides input and output.
#pragma once

#include <course/buffer.cuh>
#include <cstddef>

#include "grid.cuh"

/// Made once for inputs of up to n elements, used by every launch: no launch allocates. Two
/// launches that run at the same time need one each.
template <class T>
struct Workspace {
  explicit Workspace(std::size_t n)
      : parts(blocks_for(n)), ticket(course::DeviceBuffer<unsigned>::zeros(1)) {}

  course::DeviceBuffer<T> parts;          // an element for every block's sum
  course::DeviceBuffer<unsigned> ticket;  // 0 between launches (last_block.cuh)
  T sum{};                                // of sum_on_host, which is not in device memory
};
