// For tests: one kernel that adds to one half in each of the chapter's ways.
#pragma once

#include <cstddef>

#include "rungs.cuh"

namespace half_atomics {

/// All threads add 1 to x[place]; which function does it?
enum class How { atomic_add, cas, cas16, padded };
__global__ void add_one_to(How how, std::size_t n, __half* x, __half* returned) {
  const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const __half one = __float2half(1.0f);
  const auto plus_one = [=](__half old) { return old + one; };
  if (how == How::atomic_add) returned[i] = atomicAdd(x, one);
  if (how == How::cas) returned[i] = atomic_update_half(x, plus_one);
  if (how == How::cas16) returned[i] = atomic_update_half_cas16(x, plus_one);
  if (how == How::padded) add_to_one_of_pair(x, one);
}

}  // namespace half_atomics
