// In which type are narrow numbers summed?
// Rungs: sum_in_order<__half> (wrong on purpose: it stagnates or overflows),
// sum_in_order<float>. sum_pack_loads reads halves and sums them as float: its Accumulator is
// the compute type.
#pragma once

#include <cuda_fp16.h>

#include <cstddef>

// Question: what does a sum of halves need that a half does not have?
// Changes:  one thread, so that the order is known: x[0] + x[1] + ..., in Accumulators.
// Cost:     not of interest: this kernel shows values.
template <class Accumulator>
__global__ void sum_in_order(const __half* d_x, std::size_t n, float* d_y) {
  Accumulator sum = static_cast<Accumulator>(0.0f);
  for (std::size_t i = 0; i < n; ++i) sum = sum + static_cast<Accumulator>(d_x[i]);
  d_y[0] = static_cast<float>(sum);
}

/// Where the sum of ones stagnates in half: neighbouring halves are 2 apart from here on.
constexpr float kHalfStagnatesAt = 2048.0f;
