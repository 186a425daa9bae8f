// The same answers from CUB, NVIDIA's own library. Only a GPU build has them (vendor.cu).
#pragma once

#include <course/ladder.cuh>
#include <cstddef>

/// Rows whose launches own the memory that CUB works in, and set what the tasks ask for (tasks.cuh).
course::Rung cub_sum(const float* d_x, std::size_t n, float* d_y);
course::Rung cub_histogram(const unsigned char* d_bytes, std::size_t n, unsigned* d_bins);
course::Rung cub_filter(const int* d_x, std::size_t n, int* d_out, unsigned long long* d_count);
course::Rung cub_scan(const float* d_x, std::size_t n, float* d_out);
/// CUB has no softmax: its reduction of segments merges (maximum, sum), and a second call writes the quotients.
course::Rung cub_softmax(const float* d_x, std::size_t rows, std::size_t width, float* d_y);
