// Products of matrices, of all functions of cuBLAS, cuBLASLt and cuBLASXt that compute one.
#pragma once

#include <cstdint>

#include "libraries/blas.hpp"

namespace simt {

/// A matrix, or several of the same size: `ld` elements from a column to the next one, `stride` elements from a matrix
/// to the next one. `data` is an array of addresses, in memory of the
/// device, if the product `is_list`.
struct Matrix {
  const void* data = nullptr;
  cudaDataType type = CUDA_R_32F;
  long long ld = 0, stride = 0;
  cublasOperation_t op = CUBLAS_OP_N;
};

/// D = alpha * op(A) * op(B) + beta * C, `count` times. op(A) has m rows and k columns, op(B) has k rows and n columns.
struct Product {
  long long m, n, k;
  Matrix a, b, c, d = {};
  const void *alpha, *beta;
  cublasPointerMode_t pointers = CUBLAS_POINTER_MODE_HOST;
  cublasComputeType_t compute;
  long long count = 1;
  bool is_list = false;
};

/// Queues it, if its sizes and types are possible.
cublasStatus_t multiply(const LibraryCall& call, const Product& product);

}  // namespace simt
