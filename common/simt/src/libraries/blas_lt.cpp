// cuBLASLt: products of matrices that are described by objects.
#include <cstring>

#include "libraries/gemm.hpp"
#include "simt/host_libraries/cublasLt.h"

struct cublasLtContext {};

namespace simt {
namespace {

template <class Object, class... Values>
cublasStatus_t create(Object** handle, Values... values) {
  if (handle == nullptr) return CUBLAS_STATUS_INVALID_VALUE;
  *handle = new Object{values...};
  return CUBLAS_STATUS_SUCCESS;
}
template <class Object>
cublasStatus_t destroy(Object* handle) {
  delete handle;
  return CUBLAS_STATUS_SUCCESS;
}

/// Copies the value of an attribute, which has the size of its type.
template <class T>
cublasStatus_t set(T& to, const void* value, std::size_t size) {
  if (value == nullptr || size != sizeof to) return CUBLAS_STATUS_INVALID_VALUE;
  std::memcpy(&to, value, size);
  return CUBLAS_STATUS_SUCCESS;
}
/// The same of an attribute that has one value here.
cublasStatus_t set_only(std::int32_t value, const void* wanted, std::size_t size) {
  std::int32_t given = 0;
  const cublasStatus_t status = set(given, wanted, size);
  return status != CUBLAS_STATUS_SUCCESS || given == value ? status : CUBLAS_STATUS_NOT_SUPPORTED;
}

Matrix matrix_of(const void* data, const cublasLtMatrixLayoutOpaque_t& layout,
                 cublasOperation_t op = CUBLAS_OP_N) {
  return {data, layout.type, static_cast<long long>(layout.ld),
          static_cast<long long>(layout.stride), op};
}

long long rows_of(const cublasLtMatrixLayoutOpaque_t& layout, cublasOperation_t op) {
  return static_cast<long long>(op == CUBLAS_OP_N ? layout.rows : layout.columns);
}
long long columns_of(const cublasLtMatrixLayoutOpaque_t& layout, cublasOperation_t op) {
  return static_cast<long long>(op == CUBLAS_OP_N ? layout.columns : layout.rows);
}

}  // namespace
}  // namespace simt

cublasStatus_t cublasLtCreate(cublasLtHandle_t* handle) { return simt::create(handle); }
cublasStatus_t cublasLtDestroy(cublasLtHandle_t handle) { return simt::destroy(handle); }

cublasStatus_t cublasLtMatmulDescCreate(cublasLtMatmulDesc_t* product, cublasComputeType_t compute,
                                        cudaDataType scale) {
  return simt::create(product, compute, scale);
}
cublasStatus_t cublasLtMatmulDescDestroy(cublasLtMatmulDesc_t product) {
  return simt::destroy(product);
}
cublasStatus_t cublasLtMatmulDescSetAttribute(cublasLtMatmulDesc_t product,
                                              cublasLtMatmulDescAttributes_t attribute,
                                              const void* value, std::size_t size) {
  if (product == nullptr) return CUBLAS_STATUS_INVALID_VALUE;
  switch (attribute) {
    case CUBLASLT_MATMUL_DESC_COMPUTE_TYPE:
      return simt::set(product->compute, value, size);
    case CUBLASLT_MATMUL_DESC_SCALE_TYPE:
      return simt::set(product->scale, value, size);
    case CUBLASLT_MATMUL_DESC_POINTER_MODE:
      return simt::set(product->pointer_mode, value, size);
    case CUBLASLT_MATMUL_DESC_TRANSA:
      return simt::set(product->transa, value, size);
    case CUBLASLT_MATMUL_DESC_TRANSB:
      return simt::set(product->transb, value, size);
    case CUBLASLT_MATMUL_DESC_EPILOGUE:
      return simt::set_only(CUBLASLT_EPILOGUE_DEFAULT, value, size);
  }
  return CUBLAS_STATUS_NOT_SUPPORTED;
}

cublasStatus_t cublasLtMatrixLayoutCreate(cublasLtMatrixLayout_t* layout, cudaDataType type,
                                          std::uint64_t rows, std::uint64_t columns,
                                          std::int64_t ld) {
  return simt::create(layout, type, rows, columns, ld);
}
cublasStatus_t cublasLtMatrixLayoutDestroy(cublasLtMatrixLayout_t layout) {
  return simt::destroy(layout);
}
cublasStatus_t cublasLtMatrixLayoutSetAttribute(cublasLtMatrixLayout_t layout,
                                                cublasLtMatrixLayoutAttribute_t attribute,
                                                const void* value, std::size_t size) {
  if (layout == nullptr) return CUBLAS_STATUS_INVALID_VALUE;
  switch (attribute) {
    case CUBLASLT_MATRIX_LAYOUT_TYPE:
      return simt::set(layout->type, value, size);
    case CUBLASLT_MATRIX_LAYOUT_ORDER:
      return simt::set_only(CUBLASLT_ORDER_COL, value, size);
    case CUBLASLT_MATRIX_LAYOUT_ROWS:
      return simt::set(layout->rows, value, size);
    case CUBLASLT_MATRIX_LAYOUT_COLS:
      return simt::set(layout->columns, value, size);
    case CUBLASLT_MATRIX_LAYOUT_LD:
      return simt::set(layout->ld, value, size);
    case CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT:
      return simt::set(layout->count, value, size);
    case CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET:
      return simt::set(layout->stride, value, size);
  }
  return CUBLAS_STATUS_NOT_SUPPORTED;
}

cublasStatus_t cublasLtMatmulPreferenceCreate(cublasLtMatmulPreference_t* preference) {
  return simt::create(preference);
}
cublasStatus_t cublasLtMatmulPreferenceDestroy(cublasLtMatmulPreference_t preference) {
  return simt::destroy(preference);
}
cublasStatus_t cublasLtMatmulPreferenceSetAttribute(cublasLtMatmulPreference_t preference,
                                                    cublasLtMatmulPreferenceAttributes_t,
                                                    const void* value, std::size_t) {
  const bool is_set = preference != nullptr && value != nullptr;
  return is_set ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_INVALID_VALUE;
}
cublasStatus_t cublasLtMatmulAlgoGetHeuristic(cublasLtHandle_t handle, cublasLtMatmulDesc_t product,
                                              cublasLtMatrixLayout_t, cublasLtMatrixLayout_t,
                                              cublasLtMatrixLayout_t, cublasLtMatrixLayout_t,
                                              cublasLtMatmulPreference_t, int wanted,
                                              cublasLtMatmulHeuristicResult_t results[],
                                              int* found) {
  if (handle == nullptr) return CUBLAS_STATUS_NOT_INITIALIZED;
  if (product == nullptr || wanted <= 0 || results == nullptr || found == nullptr) {
    return CUBLAS_STATUS_INVALID_VALUE;
  }
  results[0] = {{}, 0, CUBLAS_STATUS_SUCCESS, 1};
  *found = 1;
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmul(cublasLtHandle_t handle, cublasLtMatmulDesc_t product,
                              const void* alpha, const void* A, cublasLtMatrixLayout_t layout_a,
                              const void* B, cublasLtMatrixLayout_t layout_b, const void* beta,
                              const void* C, cublasLtMatrixLayout_t layout_c, void* D,
                              cublasLtMatrixLayout_t layout_d, const cublasLtMatmulAlgo_t*, void*,
                              std::size_t, cudaStream_t stream) {
  if (handle == nullptr) return CUBLAS_STATUS_NOT_INITIALIZED;
  if (product == nullptr || layout_a == nullptr || layout_b == nullptr || layout_c == nullptr ||
      layout_d == nullptr) {
    return CUBLAS_STATUS_INVALID_VALUE;
  }
  const long long m = simt::rows_of(*layout_a, product->transa);
  const long long n = simt::columns_of(*layout_b, product->transb);
  const long long k = simt::columns_of(*layout_a, product->transa);
  const auto is_m_by_n = [=](const cublasLtMatrixLayoutOpaque_t& layout) {
    return simt::rows_of(layout, CUBLAS_OP_N) == m && simt::columns_of(layout, CUBLAS_OP_N) == n &&
           layout.count == layout_d->count;
  };
  if (simt::rows_of(*layout_b, product->transb) != k || !is_m_by_n(*layout_c) ||
      !is_m_by_n(*layout_d) || layout_a->count != layout_d->count ||
      layout_b->count != layout_d->count) {
    return CUBLAS_STATUS_INVALID_VALUE;
  }
  return simt::multiply({"cublasLtMatmul", SIMT_CALLER, stream},
                        {.m = m,
                         .n = n,
                         .k = k,
                         .a = simt::matrix_of(A, *layout_a, product->transa),
                         .b = simt::matrix_of(B, *layout_b, product->transb),
                         .c = simt::matrix_of(C, *layout_c),
                         .d = simt::matrix_of(D, *layout_d),
                         .alpha = alpha,
                         .beta = beta,
                         .pointers = static_cast<cublasPointerMode_t>(product->pointer_mode),
                         .compute = product->compute,
                         .count = layout_d->count});
}
