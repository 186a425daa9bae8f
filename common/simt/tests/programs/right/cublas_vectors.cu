// Construct: cuBLAS with vectors, and with a matrix and a vector, in both pointer modes. Expect: runs.
#include <cmath>
#include <cstdio>
#include <cstring>
#include <vector>

#include <cublas_v2.h>

int failures = 0;
void check(bool is_right, const char* what) {
  if (is_right) return;
  std::printf("FAILED: %s\n", what);
  ++failures;
}
void done(cublasStatus_t status, const char* what) { check(status == CUBLAS_STATUS_SUCCESS, what); }

/// An array on the device, and what is in it.
template <class T>
struct Array {
  T* d = nullptr;
  int n;
  explicit Array(const std::vector<T>& values) : n(static_cast<int>(values.size())) {
    cudaMalloc(&d, n * sizeof(T));
    done(cublasSetVector(n, sizeof(T), values.data(), 1, d, 1), "cublasSetVector");
  }
  ~Array() { cudaFree(d); }
  std::vector<T> values() const {
    std::vector<T> host(n);
    done(cublasGetVector(n, sizeof(T), d, 1, host.data(), 1), "cublasGetVector");
    return host;
  }
  bool is(const std::vector<T>& wanted) const { return values() == wanted; }
};

void vectors(cublasHandle_t handle) {
  const Array<float> x({1, -2, 3, -4, 5, -6}), y({1, 1, 1, 1, 1, 1});
  int place = 0;
  float sum = 0;
  done(cublasIsamax(handle, 6, x.d, 1, &place), "amax");
  check(place == 6, "amax counts from 1");
  done(cublasIsamin(handle, 3, x.d + 1, 2, &place), "amin");
  check(place == 1, "amin of every second one");
  done(cublasSasum(handle, 6, x.d, 1, &sum), "asum");
  check(sum == 21, "asum");
  done(cublasSnrm2(handle, 2, x.d + 2, 1, &sum), "nrm2");
  check(sum == 5, "nrm2");
  done(cublasSdot(handle, 3, x.d, 2, y.d, 1, &sum), "dot");
  check(sum == 9, "dot");
  const float two = 2;
  done(cublasSaxpy(handle, 3, &two, x.d, 2, y.d, 1), "axpy");
  check(y.is({3, 7, 11, 1, 1, 1}), "axpy");
  done(cublasSscal(handle, 2, &two, y.d, 2), "scal");
  check(y.is({6, 7, 22, 1, 1, 1}), "scal");
  done(cublasScopy(handle, 3, x.d, 1, y.d, -2), "copy");
  check(y.is({3, 7, -2, 1, 1, 1}), "copy with a negative increment begins at the end");
  done(cublasSswap(handle, 2, x.d, 1, y.d, 1), "swap");
  check(x.is({3, 7, 3, -4, 5, -6}) && y.is({1, -2, -2, 1, 1, 1}), "swap");
  done(cublasSnrm2(handle, 0, nullptr, 1, &sum), "nrm2 of nothing");
  check(sum == 0, "nrm2 of nothing");
  const Array<float> large({3e30f, 4e30f});
  done(cublasSnrm2(handle, 2, large.d, 1, &sum), "nrm2");
  check(std::abs(sum / 5e30f - 1) < 1e-6f, "nrm2 of numbers whose squares are infinite");
}

void results_on_the_device(cublasHandle_t handle) {
  const Array<double> x({1, 2, 3, 4}), y({1, 1, 1, 1}), result({0, 0}), alpha({10});
  cublasPointerMode_t mode;
  done(cublasSetPointerMode(handle, CUBLAS_POINTER_MODE_DEVICE), "pointer mode");
  done(cublasGetPointerMode(handle, &mode), "pointer mode");
  check(mode == CUBLAS_POINTER_MODE_DEVICE, "pointer mode");
  done(cublasDdot(handle, 4, x.d, 1, y.d, 1, result.d), "dot");
  done(cublasDaxpy(handle, 4, result.d, x.d, 1, y.d, 1), "axpy by the dot product");
  done(cublasDscal(handle, 1, alpha.d, x.d, 1), "scal");
  done(cublasSetPointerMode(handle, CUBLAS_POINTER_MODE_HOST), "pointer mode");
  check(result.is({10, 0}) && y.is({11, 21, 31, 41}) && x.is({10, 2, 3, 4}), "device pointers");
}

void matrix_and_vector(cublasHandle_t handle) {
  const int m = 2, n = 3, lda = 3;  // 1 3 5 and 2 4 6; the third row is not the matrix's
  float* d_a;
  cudaMalloc(&d_a, lda * n * sizeof(float));
  const float a[] = {1, 2, 3, 4, 5, 6};
  done(cublasSetMatrix(m, n, sizeof(float), a, m, d_a, lda), "cublasSetMatrix");
  const Array<float> x({1, 10, 100}), y({1, 1, 1});
  const float one = 1, two = 2, zero = 0;
  done(cublasSgemv(handle, CUBLAS_OP_N, m, n, &one, d_a, lda, x.d, 1, &two, y.d, 1), "gemv");
  check(y.is({533, 644, 1}), "gemv");
  done(cublasSgemv(handle, CUBLAS_OP_T, m, n, &one, d_a, lda, x.d, 1, &zero, y.d, 1), "gemv");
  check(y.is({21, 43, 65}), "gemv, transposed");
  done(cublasSger(handle, m, n, &one, x.d, 1, y.d, 1, d_a, lda), "ger");
  float changed[6];
  done(cublasGetMatrix(m, n, sizeof(float), d_a, lda, changed, m), "cublasGetMatrix");
  const float wanted[] = {22, 212, 46, 434, 70, 656};
  check(std::memcmp(changed, wanted, sizeof wanted) == 0, "ger");
  // The transpose, into memory that nothing has written.
  float *d_t, t[6];
  cudaMalloc(&d_t, sizeof t);
  done(cublasSgeam(handle, CUBLAS_OP_T, CUBLAS_OP_N, n, m, &one, d_a, lda, &zero, nullptr, n, d_t,
                   n),
       "geam");
  done(cublasGetMatrix(n, m, sizeof(float), d_t, n, t, n), "cublasGetMatrix");
  const float transposed[] = {22, 46, 70, 212, 434, 656};
  check(std::memcmp(t, transposed, sizeof transposed) == 0, "geam transposes");
  done(cublasSgeam(handle, CUBLAS_OP_N, CUBLAS_OP_N, n, m, &two, d_t, n, &one, d_t, n, d_t, n),
       "geam in place");
  done(cublasGetMatrix(n, m, sizeof(float), d_t, n, t, n), "cublasGetMatrix");
  check(t[0] == 66 && t[5] == 1968, "geam in place");
  check(cublasSgeam(handle, CUBLAS_OP_T, CUBLAS_OP_N, 2, 2, &two, d_t, 2, &one, d_t, 2, d_t, 2) ==
            CUBLAS_STATUS_INVALID_VALUE,
        "geam does not transpose in place");
  cudaFree(d_t);
  cudaFree(d_a);
}

void statuses(cublasHandle_t handle) {
  float x = 0, *d_x;
  cudaMalloc(&d_x, sizeof(float));
  const auto is_invalid = [](cublasStatus_t status, const char* what) {
    check(status == CUBLAS_STATUS_INVALID_VALUE, what);
  };
  check(cublasSscal(nullptr, 1, &x, d_x, 1) == CUBLAS_STATUS_NOT_INITIALIZED, "no handle");
  is_invalid(cublasSasum(handle, 1, d_x, 1, nullptr), "no place for the result");
  is_invalid(cublasSscal(handle, 1, nullptr, d_x, 1), "no alpha");
  is_invalid(cublasSgemv(handle, CUBLAS_OP_N, 2, 1, &x, d_x, 1, d_x, 1, &x, d_x, 1), "lda < m");
  is_invalid(cublasSgemv(handle, CUBLAS_OP_N, 1, 1, &x, d_x, 1, d_x, 0, &x, d_x, 1), "incx == 0");
  is_invalid(cublasSger(handle, -1, 1, &x, d_x, 1, d_x, 1, d_x, 1), "m < 0");
  is_invalid(cublasSetVector(1, sizeof(float), &x, 0, d_x, 1), "increment of a copy");
  is_invalid(cublasSetMatrix(2, 2, sizeof(float), &x, 1, d_x, 2), "columns that overlap");
  check(std::strcmp(cublasGetStatusName(CUBLAS_STATUS_NOT_SUPPORTED),
                    "CUBLAS_STATUS_NOT_SUPPORTED") == 0,
        "name of a status");
  check(std::strlen(cublasGetStatusString(CUBLAS_STATUS_INVALID_VALUE)) > 10, "text of a status");
  cudaFree(d_x);
}

int main() {
  cublasHandle_t handle, destroyed;
  done(cublasCreate(&handle), "cublasCreate");
  done(cublasCreate(&destroyed), "cublasCreate");
  done(cublasDestroy(destroyed), "cublasDestroy");
  check(cublasDestroy(destroyed) == CUBLAS_STATUS_NOT_INITIALIZED, "a handle that is destroyed");
  vectors(handle);
  results_on_the_device(handle);
  matrix_and_vector(handle);
  statuses(handle);
  done(cublasDestroy(handle), "cublasDestroy");
  std::printf("%s\n", failures ? "FAILED" : "PASSED");
  return failures != 0;
}
