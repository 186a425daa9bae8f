// The same answer from cuBLAS, NVIDIA's own library of linear algebra. Only a GPU build has it
// (vendor.cu), and only where the library is installed: COURSE_HAS_CUBLAS is 1 there.
#pragma once

#include <cuda_fp16.h>

#include <course/ladder.cuh>
#include <cstddef>

/// A row that sets *d_y to the dot product of n halves: cublasDotEx, which sums in float and rounds
/// the result to half. n is below 2^31. The ladder says what becomes of the result.
course::Rung cublas_dot(const __half* d_a, const __half* d_b, std::size_t n, __half* d_y);
