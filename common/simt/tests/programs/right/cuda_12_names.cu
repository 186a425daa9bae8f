// Construct: functions and members of cudaDeviceProp that CUDA 12 has and CUDA 13 has not. Expect: runs.
#include <stdio.h>

__global__ void wait(int* done, long long cycles) {
  const long long start = clock64();
  while (clock64() - start < cycles) {
  }
  *done = 1;
}

int main() {
  cudaDeviceProp properties;
  cudaGetDeviceProperties(&properties, 0);
  int clock = 0;
  cudaDeviceGetAttribute(&clock, cudaDevAttrClockRate, 0);
  bool right = properties.clockRate == clock && properties.memoryClockRate > 0;
  right = right && properties.deviceOverlap && !properties.kernelExecTimeoutEnabled;
  right = right && properties.computeMode == cudaComputeModeDefault;
  right = right && properties.singleToDoublePrecisionPerfRatio == 2;
  right = right && properties.maxTexture1DLinear > 0 && !properties.cooperativeMultiDeviceLaunch;

  int* done;
  cudaMallocManaged(&done, sizeof(int));
  cudaMemAdvise(done, sizeof(int), cudaMemAdviseSetPreferredLocation, 0);
  cudaMemPrefetchAsync(done, sizeof(int), 0);
  wait<<<1, 1>>>(done, properties.clockRate / 1000);
  cudaMemPrefetchAsync(done, sizeof(int), cudaCpuDeviceId, 0);
  right = right && cudaThreadSynchronize() == cudaSuccess && *done == 1;

  size_t stack = 0;
  right = right && cudaThreadSetLimit(cudaLimitStackSize, 2048) == cudaSuccess;
  right = right && cudaThreadGetLimit(&stack, cudaLimitStackSize) == cudaSuccess && stack == 2048;
  cudaFuncCache wish = cudaFuncCachePreferNone;
  right = right && cudaThreadSetCacheConfig(cudaFuncCachePreferL1) == cudaSuccess;
  right = right && cudaThreadGetCacheConfig(&wish) == cudaSuccess && wish == cudaFuncCachePreferL1;
  cudaFree(done);
  right = right && cudaThreadExit() == cudaSuccess;
  printf("%s\n", right ? "passed" : "FAILED");
  return 0;
}
