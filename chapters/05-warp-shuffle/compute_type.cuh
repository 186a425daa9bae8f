// What are narrow numbers added up in?
// Rungs: sum_in_order<__half> (wrong on purpose: it stands still, or overflows),
// sum_in_order<float>. sum_pack_loads takes halves and adds them up as float: its Accumulator is
// the compute type.
#pragma once

#include <cuda_fp16.h>

#include <cstddef>

// Question: what does the sum of halves need that a half does not have?
// Changes:  one thread, so that the order is plain: x[0] + x[1] + ..., in Accumulators.
// Cost:     none of interest: this is for looking at.
template <class Accumulator>
__global__ void sum_in_order(const __half* d_x, std::size_t n, float* d_y) {
  Accumulator sum = static_cast<Accumulator>(0.0f);
  for (std::size_t i = 0; i < n; ++i) sum = sum + static_cast<Accumulator>(d_x[i]);
  d_y[0] = static_cast<float>(sum);
}

/// Where the sum of ones stands still in half: neighbouring halves are 2 apart from here on.
constexpr float kHalfStagnatesAt = 2048.0f;
