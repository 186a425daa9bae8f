// Construct: cuBLAS in a stream, and a copy of its result that does not wait for the stream. Expect: finding "DATA RACE of" on y.
#include <cublas_v2.h>
#include <stdio.h>

int main() {
  const int n = 64;
  float *x, *y, *host, two = 2.0f;
  cudaMalloc(&x, n * sizeof(float));
  cudaMalloc(&y, n * sizeof(float));
  cudaMallocHost(&host, n * sizeof(float));
  cudaMemset(x, 0, n * sizeof(float));
  cudaMemset(y, 0, n * sizeof(float));
  cudaStream_t work, copies;
  cudaStreamCreateWithFlags(&work, cudaStreamNonBlocking);
  cudaStreamCreateWithFlags(&copies, cudaStreamNonBlocking);
  cublasHandle_t handle;
  cublasCreate(&handle);
  cudaDeviceSynchronize();
  cublasSetStream(handle, work);
  cublasSaxpy(handle, n, &two, x, 1, y, 1);
  cudaMemcpyAsync(host, y, n * sizeof(float), cudaMemcpyDeviceToHost, copies);
  printf("%d\n", cudaDeviceSynchronize());
  return cublasDestroy(handle);
}
