// Takes its shared memory from the launch, as the chapter's dynamic tree does; but the launch of
// this exercise gives none.
//
// GPU: may slip through: what lies there need not be out of bounds for the hardware.
#pragma once

#include <climits>
#include <course/error.cuh>
#include <course/exercise.cuh>
#include <cstddef>

constexpr std::size_t kNowhere = ~std::size_t{0};

constexpr unsigned kMostThreads = 1024;

__global__ void argmin_of_blocks(const int* x, std::size_t n, int* part_values,
                                 std::size_t* part_indices) {
  extern __shared__ int s_value[];
  std::size_t* s_index = reinterpret_cast<std::size_t*>(s_value + blockDim.x);
  int value = INT_MAX;
  std::size_t index = kNowhere;
  const std::size_t stride = std::size_t{gridDim.x} * blockDim.x;
  for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < n; i += stride) {
    if (x[i] < value || index == kNowhere) {
      value = x[i];
      index = i;
    }
  }
  s_value[threadIdx.x] = value;
  s_index[threadIdx.x] = index;
  for (unsigned half = blockDim.x / 2; half > 0; half /= 2) {
    __syncthreads();
    const unsigned t = threadIdx.x;
    if (t < half) {
      if (s_value[t + half] < s_value[t] ||
          (s_value[t + half] == s_value[t] && s_index[t + half] < s_index[t])) {
        s_value[t] = s_value[t + half];
        s_index[t] = s_index[t + half];
      }
    }
  }
  if (threadIdx.x == 0) {
    part_values[blockIdx.x] = s_value[0];
    part_indices[blockIdx.x] = s_index[0];
  }
}

__global__ void argmin_of_parts(const int* part_values, const std::size_t* part_indices,
                                unsigned parts, int* value, std::size_t* index) {
  if (threadIdx.x == 0) {
    int best = INT_MAX;
    std::size_t where = kNowhere;
    for (unsigned b = 0; b < parts; ++b) {
      if (part_values[b] < best || (part_values[b] == best && part_indices[b] < where)) {
        best = part_values[b];
        where = part_indices[b];
      }
    }
    *value = best;
    *index = where;
  }
}

inline void two_pass_argmin(const int* d_x, std::size_t n, unsigned blocks, unsigned block_size,
                            int* d_part_values, std::size_t* d_part_indices, int* d_value,
                            std::size_t* d_index, cudaStream_t stream) {
  argmin_of_blocks<<<blocks, block_size, 0, stream>>>(d_x, n, d_part_values, d_part_indices);
  CUDA_CHECK_LAUNCH();
  argmin_of_parts<<<1, block_size, 0, stream>>>(d_part_values, d_part_indices, blocks, d_value,
                                                d_index);
  CUDA_CHECK_LAUNCH();
}
