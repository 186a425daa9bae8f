// Construct: host functions and callbacks in a stream, stream-ordered allocation, a memory pool. Expect: runs.
#include <stdio.h>

struct Job {
  int n;
  int* numbers;
  int sum;
  bool called;
};

__global__ void fill(int* x, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] = 2 * i;
}

void CUDART_CB sum_numbers(void* data) {
  Job* job = static_cast<Job*>(data);
  job->sum = 0;
  for (int i = 0; i < job->n; ++i) job->sum += job->numbers[i];
}

void CUDART_CB finished(cudaStream_t, cudaError_t status, void* data) {
  ((Job*)data)->called = status == cudaSuccess;
}

int main() {
  Job job = {100, nullptr, -1, false};
  cudaStream_t stream;
  cudaStreamCreate(&stream);
  cudaMallocHost(&job.numbers, job.n * sizeof(int));
  cudaMemPool_t pool;
  cudaDeviceGetDefaultMemPool(&pool, 0);
  unsigned long long keep = ~0ull;
  cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &keep);

  int* d_x = nullptr;
  cudaMallocAsync(&d_x, job.n * sizeof(int), stream);
  fill<<<4, 32, 0, stream>>>(d_x, job.n);
  cudaMemcpyAsync(job.numbers, d_x, job.n * sizeof(int), cudaMemcpyDeviceToHost, stream);
  cudaFreeAsync(d_x, stream);
  cudaLaunchHostFunc(stream, sum_numbers, &job);
  cudaStreamAddCallback(stream, finished, &job, 0);
  while (cudaStreamQuery(stream) == cudaErrorNotReady) {
  }
  bool right = job.sum == job.n * (job.n - 1) && job.called;
  cudaFreeHost(job.numbers);
  cudaStreamDestroy(stream);
  printf("%s\n", right ? "PASSED" : "FAILED");
  return right ? 0 : 1;
}
