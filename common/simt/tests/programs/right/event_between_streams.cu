// Construct: two streams that an event orders, mapped pinned memory. Expect: runs.
#include <cstdio>

__global__ void produce(int* box) { box[threadIdx.x] = 3 * threadIdx.x; }
__global__ void consume(const int* box, int* seen) { seen[threadIdx.x] = box[threadIdx.x] + 1; }

int main() {
  const int n = 40;
  int *d_box, *h_seen, *d_seen;
  cudaMalloc(&d_box, n * sizeof(int));
  cudaHostAlloc(&h_seen, n * sizeof(int), cudaHostAllocMapped);
  cudaHostGetDevicePointer(&d_seen, h_seen, 0);
  cudaStream_t first, second;
  cudaStreamCreateWithFlags(&first, cudaStreamNonBlocking);
  cudaStreamCreateWithPriority(&second, cudaStreamNonBlocking, 0);
  cudaEvent_t produced;
  cudaEventCreateWithFlags(&produced, cudaEventDisableTiming);

  int wrong = 0;
  for (int round = 0; round < 2; ++round) {
    produce<<<1, n, 0, first>>>(d_box);
    cudaEventRecord(produced, first);
    cudaStreamWaitEvent(second, produced);
    consume<<<1, n, 0, second>>>(d_box, d_seen);
    cudaStreamSynchronize(second);
    for (int i = 0; i < n; ++i) wrong += h_seen[i] != 3 * i + 1;
  }
  cudaStreamDestroy(first);
  cudaStreamDestroy(second);
  cudaEventDestroy(produced);
  cudaFree(d_box);
  cudaFreeHost(h_seen);
  std::printf("%s\n", wrong == 0 ? "PASSED" : "FAILED");
  return wrong;
}
