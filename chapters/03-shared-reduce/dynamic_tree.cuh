// Shared memory whose size the launch decides, and what the tree requires of the block size.
// Rungs: sum_dynamic_tree; the same with a block size that is no power of two is wrong.
#pragma once

#include <cstddef>

#include "shared_tree.cuh"

/// The block's dynamic shared memory as an array of T. `extern __shared__ T s_y[]` in a template
/// would declare one array s_y with the type float and another with double, which nvcc refuses: the
/// name means the same memory everywhere. So it is declared once, as aligned bytes.
template <class T>
__device__ T* dynamic_shared() {
  extern __shared__ __align__(16) unsigned char s_bytes[];
  return reinterpret_cast<T*>(s_bytes);
}

// Question: what if the block size is known only when the program runs?
// Changes:  the array is as large as the third number in <<< >>> says.
// Cost:     the same. With too few bytes, threads write past the end of the array.
template <class T>
__global__ void sum_dynamic_tree(const T* d_x, std::size_t n, T* d_y) {
  T* const s_y = dynamic_shared<T>();  // blockDim.x elements
  const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  s_y[threadIdx.x] = i < n ? d_x[i] : T(0);
  tree_sum(s_y);
  if (threadIdx.x == 0) atomicAdd(d_y, s_y[0]);
}

/// A block size that the tree cannot halve down to 1: 192, 96, ..., 6, 3, and of 3 it adds 2.
constexpr unsigned kOddBlockSize = 192;

/// What sum_dynamic_tree makes of x with blocks of kOddBlockSize: in every block it loses the
/// elements that have ended up in s_y[2], a third of all.
template <class T>
double sum_of_odd_blocks(const std::vector<T>& x) {
  double sum = 0.0;
  for (std::size_t i = 0; i < x.size(); ++i) sum += i % 3 == 2 ? 0.0 : static_cast<double>(x[i]);
  return sum;
}
