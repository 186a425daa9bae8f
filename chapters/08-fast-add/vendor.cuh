// A stable sort from CUB, NVIDIA's own library. Only a GPU build has it (vendor.cu).
#pragma once

#include <cuda_fp16.h>

#include <cstddef>
#include <functional>

/// A launch that sorts n updates by index, those of one index in their old order. Indices are below
/// 2^index_bits. It owns the memory that CUB works in.
std::function<void()> cub_sort_updates(const int* d_index, const __half* d_values, std::size_t n,
                                       int index_bits, int* d_sorted_index,
                                       __half* d_sorted_values);
