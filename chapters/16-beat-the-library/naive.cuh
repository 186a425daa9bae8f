// What each task starts from: the kernels of the starters in exercises/16-beat-the-library.
// Kernels: sum_naive, histogram_naive, filter_naive, rows_naive, scan_naive, softmax_naive.
#pragma once

#include <cuda_fp16.h>

#include <cmath>
#include <course/collectives.cuh>
#include <course/error.cuh>
#include <course/grid.cuh>
#include <course/launch.cuh>
#include <cstddef>

// Question: what does the sum cost with one atomic per number?
// Changes:  nothing yet: chapter 01's kernel.
// Cost:     n atomics on one address.
__global__ void sum_naive(const float* d_x, std::size_t n, float* d_y) {
  const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < n) atomicAdd(d_y, d_x[i]);
}

/// Sets *d_y to x[0] + ... + x[n-1].
struct NaiveSum {
  void operator()(const float* d_x, std::size_t n, float* d_y) {
    CUDA_CHECK(cudaMemsetAsync(d_y, 0, sizeof *d_y));
    course::launch(sum_naive, {course::blocks_for(n, 256), 256}, d_x, n, d_y);
  }
};

// Question: what does a histogram cost with one atomic per byte?
// Changes:  the address depends on the byte.
// Cost:     n atomics on 256 addresses; the commoner a byte, the more of them on one address.
__global__ void histogram_naive(const unsigned char* d_bytes, std::size_t n, unsigned* d_bins) {
  const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < n) atomicAdd(&d_bins[d_bytes[i]], 1u);
}

/// Sets d_bins[0..255] to how often each byte occurs in d_bytes[0..n-1].
struct NaiveHistogram {
  void operator()(const unsigned char* d_bytes, std::size_t n, unsigned* d_bins) {
    CUDA_CHECK(cudaMemsetAsync(d_bins, 0, 256 * sizeof *d_bins));
    course::launch(histogram_naive, {course::blocks_for(n, 256), 256}, d_bytes, n, d_bins);
  }
};

// Question: how can a filter keep the order without a word between blocks?
// Changes:  there is one block, which takes one piece of the array after the other.
// Cost:     all SMs but one are idle.
__global__ void filter_naive(const int* d_x, std::size_t n, int* d_out,
                             unsigned long long* d_count) {
  unsigned long long kept = 0;  // before this piece
  for (std::size_t first = 0; first < n; first += blockDim.x) {
    const std::size_t i = first + threadIdx.x;
    const bool keep = i < n && d_x[i] > 0;
    const auto [before, total] = course::block_exclusive_scan(keep ? 1u : 0u, course::Sum{});
    if (keep) d_out[kept + before] = d_x[i];
    kept += total;
  }
  if (threadIdx.x == 0) *d_count = kept;
}

/// Writes the positive numbers of x[0..n-1] to d_out, in their order, and their number to *d_count.
struct NaiveFilter {
  void operator()(const int* d_x, std::size_t n, int* d_out, unsigned long long* d_count) {
    course::launch(filter_naive, {1, 1024}, d_x, n, d_out, d_count);
  }
};

// Question: what does a row cost, half by half?
// Changes:  one thread for each element of the source.
// Cost:     an atomicAdd(__half*) for each: a compare-and-swap loop on the word that contains it.
__global__ void rows_naive(const __half* d_source, const int* d_index, std::size_t rows,
                           std::size_t width, __half* d_table) {
  const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i >= rows * width) return;
  const std::size_t row = i / width, column = i % width;
  atomicAdd(&d_table[static_cast<std::size_t>(d_index[row]) * width + column], d_source[i]);
}

/// Adds each source row to the row of the table that the index names.
struct NaiveRows {
  void operator()(const __half* d_source, const int* d_index, std::size_t rows, std::size_t width,
                  __half* d_table, std::size_t) {
    course::launch(rows_naive, {course::blocks_for(rows * width, 256), 256}, d_source, d_index,
                   rows, width, d_table);
  }
};

// Question: what does a prefix sum cost without a word between blocks?
// Changes:  one block takes one piece of the array after the other, and keeps the sum of all before.
// Cost:     all SMs but one are idle.
__global__ void scan_naive(const float* d_x, std::size_t n, float* d_out) {
  float sum = 0;  // before this piece
  for (std::size_t first = 0; first < n; first += blockDim.x) {
    const std::size_t i = first + threadIdx.x;
    const float x = i < n ? d_x[i] : 0.0f;
    const auto [before, total] = course::block_exclusive_scan(x, course::Sum{});
    if (i < n) d_out[i] = sum + before + x;
    sum += total;
  }
}

/// Sets d_out[i] to x[0] + ... + x[i].
struct NaiveScan {
  void operator()(const float* d_x, std::size_t n, float* d_out) {
    course::launch(scan_naive, {1, 1024}, d_x, n, d_out);
  }
};

// Question: what does a softmax cost, one step after another?
// Changes:  a block for each row; it reads the row for the maximum, for the sum, and for the quotients.
// Cost:     three reads of every element, and one element per load.
__global__ void softmax_naive(const float* d_x, std::size_t rows, std::size_t width, float* d_y) {
  for (std::size_t row = blockIdx.x; row < rows; row += gridDim.x) {
    const float* const d_row = d_x + row * width;
    float max = -INFINITY, sum = 0;
    for (std::size_t c = threadIdx.x; c < width; c += blockDim.x) max = fmaxf(max, d_row[c]);
    max = course::block_reduce(max, course::Max{});
    for (std::size_t c = threadIdx.x; c < width; c += blockDim.x) sum += expf(d_row[c] - max);
    sum = course::block_reduce(sum, course::Sum{});
    for (std::size_t c = threadIdx.x; c < width; c += blockDim.x) {
      d_y[row * width + c] = expf(d_row[c] - max) / sum;
    }
  }
}

/// Sets row r of d_y to the softmax of row r of d_x.
struct NaiveSoftmax {
  void operator()(const float* d_x, std::size_t rows, std::size_t width, float* d_y) {
    const unsigned blocks = rows < 65'536 ? static_cast<unsigned>(rows) : 65'536;
    course::launch(softmax_naive, {blocks, 256}, d_x, rows, width, d_y);
  }
};
