// The same answer from CUB, NVIDIA's own library. Only a GPU build has it (vendor.cu).
#pragma once

#include <course/ladder.cuh>
#include <cstddef>

#include "kept.cuh"

/// A row that writes the positive numbers of x[0..n-1] to d_out, in their order, and sets *d_count.
/// Its launch owns the memory that CUB works in; the ladder says what becomes of the result.
course::Rung cub_filter(const int* d_x, std::size_t n, int* d_out, Count* d_count);
