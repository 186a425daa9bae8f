// The kernels of the exercise predict_sectors: each loads, and stores one number per thread.
// They are not rungs: the exercise asks what their loads request before anything is measured.
#pragma once

#include <cuda_runtime.h>

/// Two floats side by side. Nothing says that a pair begins at a multiple of 8.
struct Members {
  float left, right;
};

__global__ void load_shifted(const float* x, float* y) {
  const unsigned i = threadIdx.x;
  y[i] = x[i + 5];
}

__global__ void load_thirds(const float* x, float* y) {
  const unsigned i = threadIdx.x;
  y[i] = x[3 * i];
}

__global__ void load_fours(const float4* x, float* y) {
  const unsigned i = threadIdx.x;
  const float4 four = x[i];
  y[i] = four.x + four.y + four.z + four.w;
}

__global__ void load_even_lanes(const float* x, float* y) {
  const unsigned i = threadIdx.x;
  if (i % 2 == 0) y[i] = x[i];
}

__global__ void load_members(const Members* x, float* y) {
  const unsigned i = threadIdx.x;
  y[i] = x[i].left + x[i].right;
}

__global__ void load_eighths(const float* x, float* y) {
  const unsigned i = threadIdx.x;
  y[i] = x[i / 8];
}

__global__ void load_bytes(const unsigned char* x, float* y) {
  const unsigned i = threadIdx.x;
  y[i] = x[i + 20];
}

__global__ void load_first_seventy(const float* x, float* y) {
  const unsigned i = threadIdx.x;
  if (i < 70) y[i] = x[i];
}
