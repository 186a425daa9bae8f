// How is a float rounded to a half? And how do two halves get into a half2 and out of it?
// Kernels: round_to_half, split_and_join. Not timed: claims.cu checks the values, which the
// lesson has as tables.
#pragma once

#include <cuda_fp16.h>

#include <cstddef>

#include "grid.cuh"

/// One number, rounded to half in each of the four ways and converted back. Every half is a float,
/// so the conversion back is exact.
struct Rounded {
  float to_nearest;  // __float2half_rn, and __float2half: ties go to the half whose last bit is 0
  float to_zero;     // __float2half_rz: cuts off
  float down;        // __float2half_rd: towards minus infinity
  float up;          // __float2half_ru: towards infinity
};

// Question: which half represents a number that is not a half?
// Changes:  thread i rounds x[i] in four ways.
// Cost:     one instruction each way. (Conversions work on the host as well.)
__global__ void round_to_half(const float* d_x, std::size_t n, Rounded* d_rounded) {
  const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i >= n) return;
  d_rounded[i] = {__half2float(__float2half_rn(d_x[i])), __half2float(__float2half_rz(d_x[i])),
                  __half2float(__float2half_rd(d_x[i])), __half2float(__float2half_ru(d_x[i]))};
}

/// The results of split_and_join for the pair (a, b), a in the low half and b in the high one.
struct Joined {
  float low, high;         // __low2float, __high2float: (a, b) apart
  float2 both;             // __half22float2: both at once
  float2 low_twice;        // __low2half2: (a, a)
  float2 high_twice;       // __high2half2: (b, b)
  float2 swapped;          // __lowhigh2highlow: (b, a)
  float2 from_halves;      // __halves2half2(__high2half(p), __low2half(p)): (b, a)
  float2 lows, highs;      // __lows2half2, __highs2half2 of (a, b) and (b, a): (a, b), (b, a)
  float2 one_float_twice;  // __float2half2_rn(a): (a, a)
};

// Question: which function takes which halves?
// Changes:  each is called once; its result shows where its two halves come from.
// Cost:     most of them are no instruction at all, or one that moves 16 bits (PRMT).
__global__ void split_and_join(float a, float b, Joined* d_joined) {
  const __half2 p = __floats2half2_rn(a, b), q = __floats2half2_rn(b, a);
  d_joined->low = __low2float(p);
  d_joined->high = __high2float(p);
  d_joined->both = __half22float2(p);
  d_joined->low_twice = __half22float2(__low2half2(p));
  d_joined->high_twice = __half22float2(__high2half2(p));
  d_joined->swapped = __half22float2(__lowhigh2highlow(p));
  d_joined->from_halves = __half22float2(__halves2half2(__high2half(p), __low2half(p)));
  d_joined->lows = __half22float2(__lows2half2(p, q));
  d_joined->highs = __half22float2(__highs2half2(p, q));
  d_joined->one_float_twice = __half22float2(__float2half2_rn(a));
}
