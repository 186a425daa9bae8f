// Construct: products of matrices by cuBLAS, cuBLASLt and cuBLASXt, of float, double, __half and __nv_bfloat16, in batches. Expect: runs.
#include <cstdio>
#include <vector>

#include <cublasLt.h>
#include <cublasXt.h>
#include <cublas_v2.h>

int failures = 0;
void check(bool is_right, const char* what) {
  if (is_right) return;
  std::printf("FAILED: %s\n", what);
  ++failures;
}
void done(cublasStatus_t status, const char* what) { check(status == CUBLAS_STATUS_SUCCESS, what); }

constexpr int kM = 37, kN = 45,
              kK = 70;  // more than one tile of 32 along each side, and no multiple of it
constexpr int kLda = 71, kLdb = 72, kLdc = 40;
constexpr float kAlpha = 2, kBeta = 3;

/// Small integers, whose sums are exact in float; those of __half are small enough, too.
int element(int i) { return i * 7 % 5 - 2; }

template <class T>
std::vector<T> numbers(int n, int first = 0) {
  std::vector<T> values(n);
  for (int i = 0; i < n; ++i) values[i] = T(float(element(i + first)));
  return values;
}

template <class T>
T* on_device(const std::vector<T>& values) {
  T* d = nullptr;
  cudaMalloc(&d, values.size() * sizeof(T));
  cudaMemcpy(d, values.data(), values.size() * sizeof(T), cudaMemcpyHostToDevice);
  return d;
}

/// op(X)[row, column]
template <class T>
float at(const T* x, int ld, cublasOperation_t op, int row, int column) {
  return float(op == CUBLAS_OP_N ? x[row + column * ld] : x[column + row * ld]);
}

/// The number of elements that are not alpha * op(A) * op(B) + beta * C; what lies between the columns has to be as before.
template <class In, class Out>
int wrong_elements(const In* a, cublasOperation_t ta, const In* b, cublasOperation_t tb, float beta,
                   const Out* before, const Out* after) {
  int wrong = 0;
  for (int j = 0; j < kN; ++j) {
    for (int i = 0; i < kLdc; ++i) {
      float wanted = float(before[i + j * kLdc]);
      if (i < kM) {
        float sum = 0;
        for (int k = 0; k < kK; ++k) sum += at(a, kLda, ta, i, k) * at(b, kLdb, tb, k, j);
        wanted = float(Out(kAlpha * sum + (beta != 0 ? beta * wanted : 0)));
      }
      wrong += wanted != float(after[i + j * kLdc]);
    }
  }
  return wrong;
}

/// Calls `multiply(A, B, C, beta)` with arrays of the device for all four pairs of operations.
template <class In, class Out, class Multiply>
void product(const char* name, Multiply multiply) {
  for (cublasOperation_t ta : {CUBLAS_OP_N, CUBLAS_OP_T}) {
    for (cublasOperation_t tb : {CUBLAS_OP_N, CUBLAS_OP_T}) {
      for (float beta : {0.0f, kBeta}) {
        const auto a = numbers<In>(kLda * kK), b = numbers<In>(kLdb * kK, 3);
        const auto c = numbers<Out>(kLdc * kN, 1);
        In *d_a = on_device(a), *d_b = on_device(b);
        Out* d_c = on_device(c);
        done(multiply(ta, tb, d_a, d_b, d_c, beta), name);
        auto after = c;
        cudaMemcpy(after.data(), d_c, c.size() * sizeof(Out), cudaMemcpyDeviceToHost);
        check(wrong_elements(a.data(), ta, b.data(), tb, beta, c.data(), after.data()) == 0, name);
        cudaFree(d_a);
        cudaFree(d_b);
        cudaFree(d_c);
      }
    }
  }
}

void products(cublasHandle_t h) {
  product<float, float>("Sgemm", [&](auto ta, auto tb, float* a, float* b, float* c, float beta) {
    return cublasSgemm(h, ta, tb, kM, kN, kK, &kAlpha, a, kLda, b, kLdb, &beta, c, kLdc);
  });
  product<double, double>(
      "Dgemm", [&](auto ta, auto tb, double* a, double* b, double* c, double be) {
        const double al = kAlpha;
        return cublasDgemm(h, ta, tb, kM, kN, kK, &al, a, kLda, b, kLdb, &be, c, kLdc);
      });
  product<__half, __half>(
      "Hgemm", [&](auto ta, auto tb, __half* a, __half* b, __half* c, float be) {
        const __half al = kAlpha, be_half = be;
        return cublasHgemm(h, ta, tb, kM, kN, kK, &al, a, kLda, b, kLdb, &be_half, c, kLdc);
      });
  product<__half, float>("GemmEx", [&](auto ta, auto tb, __half* a, __half* b, float* c,
                                       float beta) {
    return cublasGemmEx(h, ta, tb, kM, kN, kK, &kAlpha, a, CUDA_R_16F, kLda, b, CUDA_R_16F, kLdb,
                        &beta, c, CUDA_R_32F, kLdc, CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT);
  });
  using bf16 = __nv_bfloat16;
  product<bf16, bf16>("GemmEx of bfloat16", [&](auto ta, auto tb, bf16* a, bf16* b, bf16* c,
                                                float be) {
    return cublasGemmEx(h, ta, tb, kM, kN, kK, &kAlpha, a, CUDA_R_16BF, kLda, b, CUDA_R_16BF, kLdb,
                        &be, c, CUDA_R_16BF, kLdc, CUDA_R_32F, CUBLAS_GEMM_DEFAULT_TENSOR_OP);
  });
  product<float, float>("SgemmEx", [&](auto ta, auto tb, float* a, float* b, float* c, float beta) {
    return cublasSgemmEx(h, ta, tb, kM, kN, kK, &kAlpha, a, CUDA_R_32F, kLda, b, CUDA_R_32F, kLdb,
                         &beta, c, CUDA_R_32F, kLdc);
  });
}

void product_of_lt() {
  cublasLtHandle_t lt;
  done(cublasLtCreate(&lt), "cublasLtCreate");
  product<float, float>("LtMatmul", [&](auto ta, auto tb, float* a, float* b, float* c,
                                        float beta) {
    cublasLtMatmulDesc_t desc;
    cublasLtMatrixLayout_t of_a, of_b, of_c;
    done(cublasLtMatmulDescCreate(&desc, CUBLAS_COMPUTE_32F, CUDA_R_32F), "desc");
    done(cublasLtMatmulDescSetAttribute(desc, CUBLASLT_MATMUL_DESC_TRANSA, &ta, sizeof ta), "ta");
    done(cublasLtMatmulDescSetAttribute(desc, CUBLASLT_MATMUL_DESC_TRANSB, &tb, sizeof tb), "tb");
    const bool na = ta == CUBLAS_OP_N, nb = tb == CUBLAS_OP_N;
    done(cublasLtMatrixLayoutCreate(&of_a, CUDA_R_32F, na ? kM : kK, na ? kK : kM, kLda), "a");
    done(cublasLtMatrixLayoutCreate(&of_b, CUDA_R_32F, nb ? kK : kN, nb ? kN : kK, kLdb), "b");
    done(cublasLtMatrixLayoutCreate(&of_c, CUDA_R_32F, kM, kN, kLdc), "c");
    const cublasStatus_t status = cublasLtMatmul(lt, desc, &kAlpha, a, of_a, b, of_b, &beta, c,
                                                 of_c, c, of_c, nullptr, nullptr, 0, nullptr);
    check(cublasLtMatmul(lt, desc, &kAlpha, a, of_c, b, of_b, &beta, c, of_c, c, of_c, nullptr,
                         nullptr, 0, nullptr) == CUBLAS_STATUS_INVALID_VALUE,
          "LtMatmul of sizes that do not fit");
    cublasLtMatrixLayoutDestroy(of_a);
    cublasLtMatrixLayoutDestroy(of_b);
    cublasLtMatrixLayoutDestroy(of_c);
    cublasLtMatmulDescDestroy(desc);
    return status;
  });
  done(cublasLtDestroy(lt), "cublasLtDestroy");
}

void product_of_xt() {
  cublasXtHandle_t xt;
  int device = 0;
  done(cublasXtCreate(&xt), "cublasXtCreate");
  done(cublasXtDeviceSelect(xt, 1, &device), "cublasXtDeviceSelect");
  const auto a = numbers<float>(kLda * kK), b = numbers<float>(kLdb * kK, 3);
  auto c = numbers<float>(kLdc * kN, 1);
  const auto before = c;
  done(cublasXtSgemm(xt, CUBLAS_OP_T, CUBLAS_OP_N, kM, kN, kK, &kAlpha, a.data(), kLda, b.data(),
                     kLdb, &kBeta, c.data(), kLdc),
       "XtSgemm");
  check(wrong_elements(a.data(), CUBLAS_OP_T, b.data(), CUBLAS_OP_N, kBeta, before.data(),
                       c.data()) == 0,
        "XtSgemm, which waits");
  done(cublasXtDestroy(xt), "cublasXtDestroy");
}

/// Two products of 2 x 2 matrices, one beside the other and by their addresses, in a stream.
void batches(cublasHandle_t handle) {
  cudaStream_t stream;
  cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
  done(cublasSetStream(handle, stream), "cublasSetStream");
  const std::vector<float> a{1, 2, 3, 4, 5, 6, 7, 8}, b{1, 0, 0, 1, 2, 0, 0, 2};
  float *d_a = on_device(a), *d_b = on_device(b), *d_c, c[8];
  cudaMalloc(&d_c, sizeof c);  // beta is 0: it may be read by nothing
  const float one = 1, zero = 0;
  const auto is_right = [&](const char* name) {
    cudaMemcpyAsync(c, d_c, sizeof c, cudaMemcpyDeviceToHost, stream);
    cudaStreamSynchronize(stream);
    for (int i = 0; i < 8; ++i) check(c[i] == a[i] * (i < 4 ? 1 : 2), name);
  };
  done(cublasSgemmStridedBatched(handle, CUBLAS_OP_N, CUBLAS_OP_N, 2, 2, 2, &one, d_a, 2, 4, d_b, 2,
                                 4, &zero, d_c, 2, 4, 2),
       "SgemmStridedBatched");
  is_right("SgemmStridedBatched");
  cudaFree(d_c);
  cudaMalloc(&d_c, sizeof c);
  float** d_a_list = on_device<float*>({d_a, d_a + 4});
  float** d_b_list = on_device<float*>({d_b, d_b + 4});
  float** d_c_list = on_device<float*>({d_c, d_c + 4});
  done(cublasSgemmBatched(handle, CUBLAS_OP_N, CUBLAS_OP_N, 2, 2, 2, &one, d_a_list, 2, d_b_list, 2,
                          &zero, d_c_list, 2, 2),
       "SgemmBatched");
  is_right("SgemmBatched");
  done(cublasSetStream(handle, nullptr), "cublasSetStream");
  cudaStreamDestroy(stream);
}

void statuses(cublasHandle_t h) {
  float x = 1;
  const cublasOperation_t n = CUBLAS_OP_N;
  const auto is_invalid = [](cublasStatus_t status, const char* what) {
    check(status == CUBLAS_STATUS_INVALID_VALUE, what);
  };
  is_invalid(cublasSgemm(h, n, n, 2, 1, 1, &x, &x, 1, &x, 1, &x, &x, 2), "lda < m");
  is_invalid(cublasSgemm(h, CUBLAS_OP_T, n, 2, 1, 3, &x, &x, 2, &x, 3, &x, &x, 2), "lda < k");
  is_invalid(cublasSgemm(h, n, n, 1, 1, 2, &x, &x, 1, &x, 1, &x, &x, 1), "ldb < k");
  is_invalid(cublasSgemm(h, n, n, 2, 1, 1, &x, &x, 2, &x, 1, &x, &x, 1), "ldc < m");
  is_invalid(cublasSgemm(h, n, n, 1, 1, -1, &x, &x, 1, &x, 1, &x, &x, 1), "k < 0");
  is_invalid(cublasSgemm(h, n, n, 1, 1, 1, nullptr, &x, 1, &x, 1, &x, &x, 1), "no alpha");
  done(cublasSgemm(h, n, n, 0, 1, 1, &x, &x, 1, &x, 1, &x, &x, 1), "nothing to compute");
  check(cublasSgemm(nullptr, n, n, 1, 1, 1, &x, &x, 1, &x, 1, &x, &x, 1) ==
            CUBLAS_STATUS_NOT_INITIALIZED,
        "no handle");
  check(cublasGemmEx(h, n, n, 1, 1, 1, &x, &x, CUDA_R_32F, 1, &x, CUDA_R_16F, 1, &x, &x, CUDA_R_32F,
                     1, CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT) == CUBLAS_STATUS_NOT_SUPPORTED,
        "types that differ");
}

int main() {
  cublasHandle_t handle;
  done(cublasCreate(&handle), "cublasCreate");
  products(handle);
  product_of_lt();
  product_of_xt();
  batches(handle);
  statuses(handle);
  done(cublasDestroy(handle), "cublasDestroy");
  std::printf("%s\n", failures ? "FAILED" : "PASSED");
  return failures != 0;
}
