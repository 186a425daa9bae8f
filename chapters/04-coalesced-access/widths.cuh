// Does it matter how many bytes each lane moves at once?
// Rungs: copy_words<W> for words of 1, 2, 4, 8 and 16 bytes: all that a lane's access can have.
#pragma once

#include <cstddef>

#include "grid.cuh"

// Question: how many requests does it take to move the same bytes?
// Changes:  from rung to rung only the type W: one word for each thread, neighbours side by side.
// Cost:     sizeof(W) sectors per request: 1, 2, 4, 8, 16. Bytes take 16 times as many threads as
//           words of 16 do, for the same memory traffic.
template <class W>
__global__ void copy_words(const W* d_x, std::size_t words, W* d_y) {
  const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < words) d_y[i] = d_x[i];
}
