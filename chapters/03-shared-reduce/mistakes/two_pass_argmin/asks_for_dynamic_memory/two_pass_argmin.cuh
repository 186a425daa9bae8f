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

__device__ inline bool before(int a_value, std::size_t a_index, int b_value, std::size_t b_index) {
  return a_value < b_value || (a_value == b_value && a_index < b_index);
}

__device__ inline void store_best(int value, std::size_t index, int* best_value,
                                  std::size_t* best_index) {
  extern __shared__ std::size_t s_index[];
  int* const s_value = reinterpret_cast<int*>(s_index + blockDim.x);
  const unsigned t = threadIdx.x;
  s_value[t] = value;
  s_index[t] = index;
  for (unsigned half = blockDim.x / 2; half > 0; half /= 2) {
    __syncthreads();  // what this level reads, other threads wrote on the level before
    if (t < half && before(s_value[t + half], s_index[t + half], s_value[t], s_index[t])) {
      s_value[t] = s_value[t + half];
      s_index[t] = s_index[t + half];
    }
  }
  if (t == 0) {
    *best_value = s_value[0];
    *best_index = s_index[0];
  }
}

__global__ void argmin_of_blocks(const int* x, std::size_t n, int* part_values,
                                 std::size_t* part_indices) {
  const std::size_t stride = std::size_t{gridDim.x} * blockDim.x;
  int value = INT_MAX;
  std::size_t index = kNowhere;  // any element comes before it, INT_MAX, too
  for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < n; i += stride) {
    if (before(x[i], i, value, index)) {
      value = x[i];
      index = i;
    }
  }
  store_best(value, index, &part_values[blockIdx.x], &part_indices[blockIdx.x]);
}

__global__ void argmin_of_parts(const int* part_values, const std::size_t* part_indices,
                                unsigned parts, int* value, std::size_t* index) {
  int best_value = INT_MAX;
  std::size_t best_index = kNowhere;
  for (unsigned b = threadIdx.x; b < parts; b += blockDim.x) {  // there may be more than threads
    if (before(part_values[b], part_indices[b], best_value, best_index)) {
      best_value = part_values[b];
      best_index = part_indices[b];
    }
  }
  store_best(best_value, best_index, value, index);
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
