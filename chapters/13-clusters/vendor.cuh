// The same answers from CUB, NVIDIA's own library. Only a GPU build has them (vendor.cu).
#pragma once

#include <course/ladder.cuh>
#include <cstddef>
#include <cstdint>

// Rows whose launches own the memory that CUB works in. The ladder says what becomes of the result.

/// Sets *d_y to the sum of x[0..n-1].
course::Rung cub_sum(const float* d_x, std::size_t n, float* d_y);

/// Sets d_bins[0..bins-1] to the counts of n values.
course::Rung cub_histogram(const std::uint16_t* d_values, std::size_t n, unsigned* d_bins,
                           unsigned bins);
