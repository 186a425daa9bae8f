// The same answers from CUB, NVIDIA's own library. Only a GPU build has them (vendor.cu).
#pragma once

#include <course/ladder.cuh>
#include <cstddef>

/// A row whose launches own the memory that CUB works in: sets d_y[r] to the sum of row r of x, rows x width.
course::Rung cub_row_sums(const float* d_x, std::size_t rows, std::size_t width, float* d_y);
