// Construct: cudaLaunchKernel, cudaLaunchKernelEx, kernels by pointer. Expect: runs.
#include <cstdio>
#include <vector>

__global__ void scale(float* x, float factor, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] *= factor;
}

template <typename T>
__global__ void shift(T* x, T offset, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] += offset;
}

int main() {
  int n = 100;
  float factor = 3.0f, offset = -1.0f;
  std::vector<float> x(n);
  for (int i = 0; i < n; ++i) x[i] = static_cast<float>(i);
  float* d_x = nullptr;
  cudaMalloc(&d_x, n * sizeof(float));
  cudaMemcpy(d_x, x.data(), n * sizeof(float), cudaMemcpyHostToDevice);

  void* scale_arguments[] = {&d_x, &factor, &n};
  cudaError_t status =
      cudaLaunchKernel((const void*)scale, dim3(4), dim3(32), scale_arguments, 0, nullptr);
  void* shift_arguments[] = {(void*)&d_x, (void*)&offset, (void*)&n};
  if (status == cudaSuccess)
    status = cudaLaunchKernel((void*)shift<float>, 4, 32, shift_arguments, 0, 0);
  cudaLaunchConfig_t config = {};
  config.gridDim = 4;
  config.blockDim = 32;
  if (status == cudaSuccess) status = cudaLaunchKernelEx(&config, shift<float>, d_x, offset, n);
  if (status == cudaSuccess) status = cudaDeviceSynchronize();
  if (status != cudaSuccess) {
    std::printf("FAILED: %s\n", cudaGetErrorName(status));
    return 1;
  }
  std::vector<float> out(n);
  cudaMemcpy(out.data(), d_x, n * sizeof(float), cudaMemcpyDeviceToHost);
  cudaFree(d_x);
  for (int i = 0; i < n; ++i) {
    if (out[i] != 3 * x[i] - 2) return std::printf("FAILED at %d: %g\n", i, out[i]), 1;
  }
  std::printf("PASSED\n");
}
