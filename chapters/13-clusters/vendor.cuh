// The same answers from CUB, NVIDIA's own library. Only a GPU build has them (vendor.cu).
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>

/// A launch that sets *d_y to the sum of x[0..n-1]. It owns the memory that CUB works in.
std::function<void()> cub_sum(const float* d_x, std::size_t n, float* d_y);

/// A launch that sets d_bins[0..bins-1] to the counts of n values.
std::function<void()> cub_histogram(const std::uint16_t* d_values, std::size_t n, unsigned* d_bins,
                                    unsigned bins);
