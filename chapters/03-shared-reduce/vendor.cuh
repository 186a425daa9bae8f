// The same answers from CUB, NVIDIA's own library. Only a GPU build has them (vendor.cu).
#pragma once

#include <course/ladder.cuh>
#include <cstddef>

// Rows whose launches own the memory that CUB works in. The ladder says what becomes of the result.

/// Sets *d_y to the sum of x[0..n-1]. T is float or double.
template <class T>
course::Rung cub_sum(const T* d_x, std::size_t n, T* d_y);

/// Sets d_bins[0..255] to the counts of n bytes.
course::Rung cub_histogram(const unsigned char* d_bytes, std::size_t n, unsigned* d_bins);
