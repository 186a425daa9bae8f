// The same answer from CUB, NVIDIA's own library. Only a GPU build has it (vendor.cu).
#pragma once

#include <cstddef>
#include <functional>

#include "kept.cuh"

/// A launch that writes the positive numbers of x[0..n-1] to d_out, in their order, and sets
/// *d_count. It owns the memory that CUB works in.
std::function<void()> cub_filter(const int* d_x, std::size_t n, int* d_out, Count* d_count);
