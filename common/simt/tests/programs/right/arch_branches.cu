// Construct: __CUDA_ARCH__, __CUDACC__ and CUDART_VERSION choose code; a double atomicAdd of one's own. Expect: runs.
#include <cuda_runtime.h>

#include <cstdio>

#if !defined(__CUDACC__)
#error "compile this file as CUDA"
#endif
#if CUDART_VERSION < 11000
#error "CUDA 11 or newer"
#endif

#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 600
__device__ double atomicAdd(double* address, double value) {
  unsigned long long* bits = (unsigned long long*)address;
  unsigned long long old = *bits, assumed;
  do {
    assumed = old;
    old = atomicCAS(bits, assumed, __double_as_longlong(value + __longlong_as_double(assumed)));
  } while (assumed != old);
  return __longlong_as_double(old);
}
#endif

__host__ __device__ int where() {
#ifdef __CUDA_ARCH__
  return __CUDA_ARCH__ >= 900 ? 2 : 1;
#else
  return 0;
#endif
}

__device__ void atomicMaxFloat(float* address, float value) {
  int old = __float_as_int(*(volatile float*)address);
  while (value > __int_as_float(old)) {
    const int seen = atomicCAS((int*)address, old, __float_as_int(value));
    if (seen == old) break;
    old = seen;
  }
}

__global__ void accumulate(double* sum, float* largest, int* place) {
  atomicAdd(sum, 0.5 * threadIdx.x);
  atomicMaxFloat(largest, (float)(threadIdx.x * 37 % 64));
  if (threadIdx.x == 0) *place = where();
}

int main() {
  double *d_sum, sum = 1.0;
  float *d_largest, largest = -1.0f;
  int *d_place, place = -1;
  cudaMalloc(&d_sum, sizeof(sum));
  cudaMalloc(&d_largest, sizeof(largest));
  cudaMalloc(&d_place, sizeof(place));
  cudaMemcpy(d_sum, &sum, sizeof(sum), cudaMemcpyHostToDevice);
  cudaMemcpy(d_largest, &largest, sizeof(largest), cudaMemcpyHostToDevice);
  accumulate<<<1, 64>>>(d_sum, d_largest, d_place);
  cudaMemcpy(&sum, d_sum, sizeof(sum), cudaMemcpyDeviceToHost);
  cudaMemcpy(&largest, d_largest, sizeof(largest), cudaMemcpyDeviceToHost);
  cudaMemcpy(&place, d_place, sizeof(place), cudaMemcpyDeviceToHost);
  const bool right = sum == 1.0 + 0.5 * 63 * 32 && largest == 63.0f && place == 2 && where() == 0;
  std::printf("%s\n", right ? "PASSED" : "FAILED");
  return right ? 0 : 1;
}
