// cuBLAS: vectors, and a matrix with vectors or another matrix.
#include <algorithm>
#include <cmath>

#include "libraries/blas.hpp"

namespace simt {
namespace {

// ---- vectors ------------------------------------------------------------------------------------

/// n elements, `step` apart. With a negative step the first one is the last in memory.
template <class T>
struct Vector {
  T* data;
  long long first, step;
  const void* caller;

  Vector(T* p, long long n, int increment, const void* from)
      : data(p), first(increment < 0 ? (1 - n) * increment : 0), step(increment), caller(from) {}
  T get(long long i) const { return load(data + first + i * step, caller); }
  void set(long long i, std::type_identity_t<T> value) const {
    store(data + first + i * step, value, caller);
  }
};

/// Queues a launch of one thread that makes the result. With a result for the host waits for it.
template <class T, class Body>
cublasStatus_t compute_result(const LibraryCall& call, cublasPointerMode_t mode, T* result,
                              std::vector<PointerArgument> pointers, Body body) {
  if (result == nullptr) return CUBLAS_STATUS_INVALID_VALUE;
  if (mode == CUBLAS_POINTER_MODE_DEVICE) {
    pointers.push_back(named("result", result));
    return status_of(
        launch_body(call, std::move(pointers), 1, 1, [=] { store(result, body(), call.caller); }));
  }
  const auto found = std::make_shared<T>();
  cudaError_t error = launch_body(call, std::move(pointers), 1, 1, [=] { *found = body(); });
  if (error == cudaSuccess) error = cudaStreamSynchronize(call.stream);
  if (error != cudaSuccess) return CUBLAS_STATUS_EXECUTION_FAILED;
  store(result, *found, call.caller);
  return CUBLAS_STATUS_SUCCESS;
}

/// The number, from 1, of the first element whose amount is before all others; 0 if there is none.
template <class T, class IsBefore>
cublasStatus_t find_extreme(const LibraryCall& call, cublasHandle_t handle, int n, const T* x,
                            int incx, int* result, IsBefore is_before) {
  if (!is_alive(handle)) return CUBLAS_STATUS_NOT_INITIALIZED;
  const Vector<const T> v(x, n, incx, call.caller);
  return compute_result(call, handle->pointers, result, {named("x", x)}, [=] {
    if (n <= 0 || incx <= 0) return 0;
    int best = 0;
    T of_best = std::abs(v.get(0));
    for (int i = 1; i < n; ++i) {
      const T amount = std::abs(v.get(i));
      if (!is_before(amount, of_best)) continue;
      best = i;
      of_best = amount;
    }
    return best + 1;
  });
}

template <class T>
cublasStatus_t asum(const LibraryCall& call, cublasHandle_t handle, int n, const T* x, int incx,
                    T* result) {
  if (!is_alive(handle)) return CUBLAS_STATUS_NOT_INITIALIZED;
  const Vector<const T> v(x, n, incx, call.caller);
  return compute_result(call, handle->pointers, result, {named("x", x)}, [=] {
    T sum = 0;
    for (int i = 0; i < n && incx > 0; ++i) sum += std::abs(v.get(i));
    return sum;
  });
}

/// Without the overflow of a square: the sum is that of (x / largest)^2.
template <class T>
cublasStatus_t nrm2(const LibraryCall& call, cublasHandle_t handle, int n, const T* x, int incx,
                    T* result) {
  if (!is_alive(handle)) return CUBLAS_STATUS_NOT_INITIALIZED;
  const Vector<const T> v(x, n, incx, call.caller);
  return compute_result(call, handle->pointers, result, {named("x", x)}, [=] {
    T largest = 0, sum = 0;
    for (int i = 0; i < n && incx > 0; ++i) {
      const T amount = std::abs(v.get(i));
      if (amount > largest) {
        sum = 1 + sum * (largest / amount) * (largest / amount);
        largest = amount;
      } else if (amount != 0) {
        sum += (amount / largest) * (amount / largest);
      }
    }
    return largest * std::sqrt(sum);
  });
}

template <class T>
cublasStatus_t dot(const LibraryCall& call, cublasHandle_t handle, int n, const T* x, int incx,
                   const T* y, int incy, T* result) {
  if (!is_alive(handle)) return CUBLAS_STATUS_NOT_INITIALIZED;
  const Vector<const T> v(x, n, incx, call.caller), w(y, n, incy, call.caller);
  return compute_result(call, handle->pointers, result, {named("x", x), named("y", y)}, [=] {
    T sum = 0;
    for (int i = 0; i < n; ++i) sum += v.get(i) * w.get(i);
    return sum;
  });
}

template <class T>
cublasStatus_t axpy(const LibraryCall& call, cublasHandle_t handle, int n, const T* alpha,
                    const T* x, int incx, T* y, int incy) {
  if (!is_alive(handle)) return CUBLAS_STATUS_NOT_INITIALIZED;
  if (alpha == nullptr) return CUBLAS_STATUS_INVALID_VALUE;
  const Scalar<T> factor(alpha, handle->pointers, call.caller);
  const Vector<const T> v(x, n, incx, call.caller);
  const Vector<T> w(y, n, incy, call.caller);
  return status_of(launch_each(call, {named("x", x), named("y", y)}, n, [=](long long i) {
    w.set(i, factor.get(call.caller) * v.get(i) + w.get(i));
  }));
}

template <class T>
cublasStatus_t scal(const LibraryCall& call, cublasHandle_t handle, int n, const T* alpha, T* x,
                    int incx) {
  if (!is_alive(handle)) return CUBLAS_STATUS_NOT_INITIALIZED;
  if (alpha == nullptr) return CUBLAS_STATUS_INVALID_VALUE;
  const Scalar<T> factor(alpha, handle->pointers, call.caller);
  const Vector<T> v(x, n, incx, call.caller);
  return status_of(launch_each(call, {named("x", x)}, incx > 0 ? n : 0,
                               [=](long long i) { v.set(i, factor.get(call.caller) * v.get(i)); }));
}

template <class T>
cublasStatus_t copy(const LibraryCall& call, cublasHandle_t handle, int n, const T* x, int incx,
                    T* y, int incy) {
  if (!is_alive(handle)) return CUBLAS_STATUS_NOT_INITIALIZED;
  const Vector<const T> v(x, n, incx, call.caller);
  const Vector<T> w(y, n, incy, call.caller);
  return status_of(launch_each(call, {named("x", x), named("y", y)}, n,
                               [=](long long i) { w.set(i, v.get(i)); }));
}

template <class T>
cublasStatus_t swap(const LibraryCall& call, cublasHandle_t handle, int n, T* x, int incx, T* y,
                    int incy) {
  if (!is_alive(handle)) return CUBLAS_STATUS_NOT_INITIALIZED;
  const Vector<T> v(x, n, incx, call.caller), w(y, n, incy, call.caller);
  return status_of(launch_each(call, {named("x", x), named("y", y)}, n, [=](long long i) {
    const T of_x = v.get(i);
    v.set(i, w.get(i));
    w.set(i, of_x);
  }));
}

// ---- a matrix -----------------------------------------------------------------------------------

template <class T>
cublasStatus_t gemv(const LibraryCall& call, cublasHandle_t handle, cublasOperation_t trans, int m,
                    int n, const T* alpha, const T* a, int lda, const T* x, int incx, const T* beta,
                    T* y, int incy) {
  if (!is_alive(handle)) return CUBLAS_STATUS_NOT_INITIALIZED;
  if (!is_operation(trans) || m < 0 || n < 0 || lda < std::max(1, m) || incx == 0 || incy == 0 ||
      alpha == nullptr || beta == nullptr) {
    return CUBLAS_STATUS_INVALID_VALUE;
  }
  const Scalar<T> factor(alpha, handle->pointers, call.caller);
  const Scalar<T> old_factor(beta, handle->pointers, call.caller);
  const bool transposed = trans != CUBLAS_OP_N;
  const long long rows = transposed ? n : m, columns = transposed ? m : n;
  const Vector<const T> v(x, columns, incx, call.caller);
  const Vector<T> w(y, rows, incy, call.caller);
  return status_of(
      launch_each(call, {named("A", a), named("x", x), named("y", y)}, rows, [=](long long row) {
        const T alpha_now = factor.get(call.caller), beta_now = old_factor.get(call.caller);
        T sum = 0;
        for (long long j = 0; j < columns && alpha_now != 0; ++j) {
          const T* const at = transposed ? a + j + row * lda : a + row + j * lda;
          sum += load(at, call.caller) * v.get(j);
        }
        w.set(row, alpha_now * sum + (beta_now != 0 ? beta_now * w.get(row) : 0));
      }));
}

template <class T>
cublasStatus_t ger(const LibraryCall& call, cublasHandle_t handle, int m, int n, const T* alpha,
                   const T* x, int incx, const T* y, int incy, T* a, int lda) {
  if (!is_alive(handle)) return CUBLAS_STATUS_NOT_INITIALIZED;
  if (m < 0 || n < 0 || incx == 0 || incy == 0 || lda < std::max(1, m) || alpha == nullptr) {
    return CUBLAS_STATUS_INVALID_VALUE;
  }
  const Scalar<T> factor(alpha, handle->pointers, call.caller);
  const Vector<const T> v(x, m, incx, call.caller), w(y, n, incy, call.caller);
  return status_of(launch_each(
      call, {named("x", x), named("y", y), named("A", a)}, static_cast<long long>(m) * n,
      [=](long long i) {
        T* const at = a + i % m + i / m * lda;
        const T product = v.get(i % m) * w.get(i / m);
        store(at, factor.get(call.caller) * product + load(at, call.caller), call.caller);
      }));
}

template <class T>
cublasStatus_t geam(const LibraryCall& call, cublasHandle_t handle, cublasOperation_t transa,
                    cublasOperation_t transb, int m, int n, const T* alpha, const T* a, int lda,
                    const T* beta, const T* b, int ldb, T* c, int ldc) {
  if (!is_alive(handle)) return CUBLAS_STATUS_NOT_INITIALIZED;
  const bool a_is_transposed = transa != CUBLAS_OP_N, b_is_transposed = transb != CUBLAS_OP_N;
  // In place only where each element stays where it is.
  const bool wrong_in_place =
      (c == a && (a_is_transposed || lda != ldc)) || (c == b && (b_is_transposed || ldb != ldc));
  if (!is_operation(transa) || !is_operation(transb) || m < 0 || n < 0 || alpha == nullptr ||
      beta == nullptr || lda < std::max(1, a_is_transposed ? n : m) ||
      ldb < std::max(1, b_is_transposed ? n : m) || ldc < std::max(1, m) || wrong_in_place) {
    return CUBLAS_STATUS_INVALID_VALUE;
  }
  const Scalar<T> of_a(alpha, handle->pointers, call.caller);
  const Scalar<T> of_b(beta, handle->pointers, call.caller);
  const auto part = [=](const Scalar<T>& factor, const T* p, int ld, bool transposed, long long row,
                        long long column) {
    const T now = factor.get(call.caller);
    const T* const at = transposed ? p + column + row * ld : p + row + column * ld;
    return now != 0 ? now * load(at, call.caller) : 0;
  };
  return status_of(launch_each(call, {named("A", a), named("B", b), named("C", c)},
                               static_cast<long long>(m) * n, [=](long long i) {
                                 const long long row = i % m, column = i / m;
                                 const T sum = part(of_a, a, lda, a_is_transposed, row, column) +
                                               part(of_b, b, ldb, b_is_transposed, row, column);
                                 store(c + row + column * ldc, sum, call.caller);
                               }));
}

}  // namespace
}  // namespace simt

#define SIMT_BLAS_OF_REAL(S, Is, T)                                                               \
  cublasStatus_t cublas##Is##amax(cublasHandle_t handle, int n, const T* x, int incx,             \
                                  int* result) {                                                  \
    return simt::find_extreme(SIMT_BLAS_CALL("cublas" #Is "amax"), handle, n, x, incx, result,    \
                              [](T a, T b) { return a > b; });                                    \
  }                                                                                               \
  cublasStatus_t cublas##Is##amin(cublasHandle_t handle, int n, const T* x, int incx,             \
                                  int* result) {                                                  \
    return simt::find_extreme(SIMT_BLAS_CALL("cublas" #Is "amin"), handle, n, x, incx, result,    \
                              [](T a, T b) { return a < b; });                                    \
  }                                                                                               \
  cublasStatus_t cublas##S##asum(cublasHandle_t handle, int n, const T* x, int incx, T* result) { \
    return simt::asum(SIMT_BLAS_CALL("cublas" #S "asum"), handle, n, x, incx, result);            \
  }                                                                                               \
  cublasStatus_t cublas##S##nrm2(cublasHandle_t handle, int n, const T* x, int incx, T* result) { \
    return simt::nrm2(SIMT_BLAS_CALL("cublas" #S "nrm2"), handle, n, x, incx, result);            \
  }                                                                                               \
  cublasStatus_t cublas##S##dot(cublasHandle_t handle, int n, const T* x, int incx, const T* y,   \
                                int incy, T* result) {                                            \
    return simt::dot(SIMT_BLAS_CALL("cublas" #S "dot"), handle, n, x, incx, y, incy, result);     \
  }                                                                                               \
  cublasStatus_t cublas##S##axpy(cublasHandle_t handle, int n, const T* alpha, const T* x,        \
                                 int incx, T* y, int incy) {                                      \
    return simt::axpy(SIMT_BLAS_CALL("cublas" #S "axpy"), handle, n, alpha, x, incx, y, incy);    \
  }                                                                                               \
  cublasStatus_t cublas##S##scal(cublasHandle_t handle, int n, const T* alpha, T* x, int incx) {  \
    return simt::scal(SIMT_BLAS_CALL("cublas" #S "scal"), handle, n, alpha, x, incx);             \
  }                                                                                               \
  cublasStatus_t cublas##S##copy(cublasHandle_t handle, int n, const T* x, int incx, T* y,        \
                                 int incy) {                                                      \
    return simt::copy(SIMT_BLAS_CALL("cublas" #S "copy"), handle, n, x, incx, y, incy);           \
  }                                                                                               \
  cublasStatus_t cublas##S##swap(cublasHandle_t handle, int n, T* x, int incx, T* y, int incy) {  \
    return simt::swap(SIMT_BLAS_CALL("cublas" #S "swap"), handle, n, x, incx, y, incy);           \
  }                                                                                               \
  cublasStatus_t cublas##S##gemv(cublasHandle_t handle, cublasOperation_t trans, int m, int n,    \
                                 const T* alpha, const T* A, int lda, const T* x, int incx,       \
                                 const T* beta, T* y, int incy) {                                 \
    return simt::gemv(SIMT_BLAS_CALL("cublas" #S "gemv"), handle, trans, m, n, alpha, A, lda, x,  \
                      incx, beta, y, incy);                                                       \
  }                                                                                               \
  cublasStatus_t cublas##S##ger(cublasHandle_t handle, int m, int n, const T* alpha, const T* x,  \
                                int incx, const T* y, int incy, T* A, int lda) {                  \
    return simt::ger(SIMT_BLAS_CALL("cublas" #S "ger"), handle, m, n, alpha, x, incx, y, incy, A, \
                     lda);                                                                        \
  }                                                                                               \
  cublasStatus_t cublas##S##geam(                                                                 \
      cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb, int m, int n,    \
      const T* alpha, const T* A, int lda, const T* beta, const T* B, int ldb, T* C, int ldc) {   \
    return simt::geam(SIMT_BLAS_CALL("cublas" #S "geam"), handle, transa, transb, m, n, alpha, A, \
                      lda, beta, B, ldb, C, ldc);                                                 \
  }
SIMT_BLAS_OF_REAL(S, Is, float)
SIMT_BLAS_OF_REAL(D, Id, double)
#undef SIMT_BLAS_OF_REAL
