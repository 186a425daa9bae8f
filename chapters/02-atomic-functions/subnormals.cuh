// Is atomicAdd the same addition on global and on shared memory? Not for the smallest floats.
// Rungs: add_subnormal_global (loses them), add_subnormal_shared (keeps them).
// One thread adds one number: nothing here is about contention.
#pragma once

#include <cuda_runtime.h>

/// Below 2^-126 = 1.18e-38 floats are subnormal: they have no leading 1, and fewer digits.
constexpr float kSubnormal = 1e-40f;

// Question: what is 1e-40f + 1e-40f, added by atomicAdd on global memory?
// Changes:  the L2 cache's adder does it, and that one flushes subnormals to a zero of their sign.
// Cost:     the number. Sums of normal size lose nothing.
__global__ void add_subnormal_global(float value, float* d_y) { atomicAdd(d_y, value); }

// Question: and on shared memory?
// Changes:  the SM adds, by the same rules as `+`: subnormals stay.
// Cost:     the same single atomic.
__global__ void add_subnormal_shared(float value, float* d_y) {
  __shared__ float s_y;
  s_y = *d_y;  // one thread: no barrier needed
  atomicAdd(&s_y, value);
  *d_y = s_y;
}
