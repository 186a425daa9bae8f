// The same answers from CUB, NVIDIA's own library. Only a GPU build has them (vendor.cu).
#pragma once

#include <cstddef>
#include <functional>

/// A launch that sets *d_max to the maximum of x[0..n-1]. It owns the memory that CUB works in.
std::function<void()> cub_max(const float* d_x, std::size_t n, float* d_max);
