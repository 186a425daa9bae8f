// Exercise two_pass_argmin: which element is the smallest, and what is its index?
//
// A candidate is a value with its index. The first kernel stores one candidate per block. The
// second one, a single block, chooses among those. If several elements are equally small, the first
// of them counts, in every run.
//
// Try it: ./course check two_pass_argmin
#pragma once

#include <climits>
#include <course/error.cuh>
#include <course/exercise.cuh>
#include <cstddef>

NOT_STARTED  // delete this line when you begin

/// The index of the smallest element of an empty array.
constexpr std::size_t kNowhere = ~std::size_t{0};

/// Threads of the largest block.
constexpr unsigned kMostThreads = 1024;

/// First pass: part_values[b] and part_indices[b] get the best candidate of block b.
__global__ void argmin_of_blocks(const int* x, std::size_t n, int* part_values,
                                 std::size_t* part_indices) {
  // TODO(you): find and store the block's candidate.
  (void)x, (void)n, (void)part_values, (void)part_indices;  // delete this
}

/// Second pass, one block: *value and *index get the best of `parts` candidates. The check also
/// launches this kernel alone, as argmin_of_parts<<<1, block_size>>> without dynamic shared memory,
/// with indices beyond 2^32.
__global__ void argmin_of_parts(const int* part_values, const std::size_t* part_indices,
                                unsigned parts, int* value, std::size_t* index) {
  // TODO(you): find and store the best candidate.
  (void)part_values, (void)part_indices, (void)parts, (void)value, (void)index;  // delete this
}

/// Sets *d_value to the smallest of x[0..n-1], and *d_index to the smallest index that has it.
/// - n may be 0: then *d_value is INT_MAX, and *d_index is kNowhere. Both kernels run even then.
/// - Launches two kernels in `stream`, the first with `blocks` blocks, the second with one block,
///   both with `block_size` threads per block. `blocks` is any number from 1 on, and may be larger
///   than block_size, which is a power of two from 32 to 1024.
/// - d_part_values and d_part_indices have `blocks` elements each. They and the two outputs are not
///   initialised. All pointers are device pointers.
/// - No atomics. All threads share the work: neighbouring threads load neighbours of x, and a block
///   finds its candidate by a tree. Returns without waiting for the kernels.
inline void two_pass_argmin(const int* d_x, std::size_t n, unsigned blocks, unsigned block_size,
                            int* d_part_values, std::size_t* d_part_indices, int* d_value,
                            std::size_t* d_index, cudaStream_t stream) {
  argmin_of_blocks<<<blocks, block_size, 0, stream>>>(d_x, n, d_part_values, d_part_indices);
  CUDA_CHECK_LAUNCH();
  argmin_of_parts<<<1, block_size, 0, stream>>>(d_part_values, d_part_indices, blocks, d_value,
                                                d_index);
  CUDA_CHECK_LAUNCH();
}
