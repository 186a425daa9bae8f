// Construct: a block's sum in shared memory, then one atomicAdd of a float. Expect: runs.
#include <cmath>
#include <iostream>

using std::cout;

const int N = 33 * 64;
const int threadsPerBlock = 64;
const int blocksPerGrid = 5;

__global__ void dot(const float* a, const float* b, float* result) {
  __shared__ float cache[threadsPerBlock];
  int tid = threadIdx.x + blockIdx.x * blockDim.x;
  int cacheIndex = threadIdx.x;
  float temp = 0;
  while (tid < N) {
    temp += a[tid] * b[tid];
    tid += blockDim.x * gridDim.x;
  }
  cache[cacheIndex] = temp;
  __syncthreads();
  int i = blockDim.x / 2;
  while (i != 0) {
    if (cacheIndex < i) cache[cacheIndex] += cache[cacheIndex + i];
    __syncthreads();
    i /= 2;
  }
  if (cacheIndex == 0) atomicAdd(result, cache[0]);
}

int main() {
  float *a = new float[N], *b = new float[N];
  double expected = 0;
  for (int i = 0; i < N; i++) {
    a[i] = 1.0f / (i + 1);
    b[i] = i % 10;
    expected += (double)a[i] * b[i];
  }
  float *dev_a, *dev_b, *dev_result, result = 0;
  cudaMalloc((void**)&dev_a, N * sizeof(float));
  cudaMalloc((void**)&dev_b, N * sizeof(float));
  cudaMalloc((void**)&dev_result, sizeof(float));
  cudaMemcpy(dev_a, a, N * sizeof(float), cudaMemcpyHostToDevice);
  cudaMemcpy(dev_b, b, N * sizeof(float), cudaMemcpyHostToDevice);
  cudaMemcpy(dev_result, &result, sizeof(float), cudaMemcpyHostToDevice);
  dot<<<blocksPerGrid, threadsPerBlock>>>(dev_a, dev_b, dev_result);
  cudaMemcpy(&result, dev_result, sizeof(float), cudaMemcpyDeviceToHost);
  cudaFree(dev_a);
  cudaFree(dev_b);
  cudaFree(dev_result);
  delete[] a;
  delete[] b;
  bool right = std::fabs(result - expected) <= 1e-5 * expected;
  cout << (right ? "PASSED" : "FAILED") << std::endl;
  return right ? 0 : 1;
}
