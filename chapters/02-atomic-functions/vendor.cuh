// The same answers from CUB, NVIDIA's own library. Only a GPU build has them (vendor.cu).
#pragma once

#include <course/ladder.cuh>
#include <cstddef>

/// A row that sets *d_max to the maximum of x[0..n-1]. Its launch owns the memory that CUB works in;
/// the ladder says what becomes of the result.
course::Rung cub_max(const float* d_x, std::size_t n, float* d_max);
