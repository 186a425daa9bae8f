// The same answers from CUB, NVIDIA's own library. Only a GPU build has them (vendor.cu).
#pragma once

#include <cstddef>
#include <functional>

/// A launch that sets *d_y to the sum of x[0..n-1]. It owns the memory that CUB works in. T is
/// float or double.
template <class T>
std::function<void()> cub_sum(const T* d_x, std::size_t n, T* d_y);

/// A launch that sets d_bins[0..255] to the counts of n bytes.
std::function<void()> cub_histogram(const unsigned char* d_bytes, std::size_t n, unsigned* d_bins);
