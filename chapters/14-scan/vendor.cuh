// The same answers from CUB, NVIDIA's own library. Only a GPU build has it (vendor.cu).
#pragma once

#include <course/ladder.cuh>
#include <cstddef>

/// A row that sets out[i] to x[0] + ... + x[i]. Its launch owns the memory that CUB works in; the ladder says
/// what becomes of the result.
course::Rung cub_scan(const float* d_x, std::size_t n, float* d_out);
