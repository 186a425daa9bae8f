// What this chapter's filters keep, and how they count it.
#pragma once

#include <cuda_runtime.h>

/// Counts and places in the output: n may be more than 2^32.
using Count = unsigned long long;

/// What this chapter's filters keep.
__host__ __device__ constexpr bool is_kept(int x) { return x > 0; }
inline constexpr int kNotKept = 0;  // stands for elements past the array: never kept
