// Construct: chunks in several streams, pinned memory, cudaMemcpyAsync, events. Expect: runs.
#include <stdio.h>

#define CHECK(call)                                             \
  if ((call) != cudaSuccess) {                                  \
    fprintf(stderr, "%s failed in line %d\n", #call, __LINE__); \
    return 1;                                                   \
  }

__global__ void square(int* x, int offset, int count) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) x[offset + i] *= x[offset + i];
}

int main() {
  const int n = 256, chunks = 4, chunk = n / chunks;
  int *h_x = NULL, *d_x = NULL;
  CHECK(cudaMallocHost((void**)&h_x, n * sizeof(int)));
  CHECK(cudaMalloc((void**)&d_x, n * sizeof(int)));
  for (int i = 0; i < n; i++) h_x[i] = i;

  cudaStream_t streams[chunks];
  cudaEvent_t start, stop;
  CHECK(cudaEventCreate(&start));
  CHECK(cudaEventCreate(&stop));
  for (int i = 0; i < chunks; i++) CHECK(cudaStreamCreate(&streams[i]));
  CHECK(cudaEventRecord(start, 0));
  for (int i = 0; i < chunks; i++) {
    int offset = i * chunk;
    size_t bytes = chunk * sizeof(int);
    CHECK(cudaMemcpyAsync(&d_x[offset], &h_x[offset], bytes, cudaMemcpyHostToDevice, streams[i]));
    square<<<2, chunk / 2, 0, streams[i]>>>(d_x, offset, chunk);
    CHECK(cudaMemcpyAsync(&h_x[offset], &d_x[offset], bytes, cudaMemcpyDeviceToHost, streams[i]));
  }
  CHECK(cudaEventRecord(stop, 0));
  CHECK(cudaEventSynchronize(stop));
  float milliseconds = -1.0f;
  CHECK(cudaEventElapsedTime(&milliseconds, start, stop));

  int wrong = milliseconds < 0;
  for (int i = 0; i < n; i++) wrong += h_x[i] != i * i;
  for (int i = 0; i < chunks; i++) CHECK(cudaStreamDestroy(streams[i]));
  CHECK(cudaEventDestroy(start));
  CHECK(cudaEventDestroy(stop));
  CHECK(cudaFreeHost(h_x));
  CHECK(cudaFree(d_x));
  printf(wrong ? "FAILED\n" : "PASSED\n");
  return wrong != 0;
}
