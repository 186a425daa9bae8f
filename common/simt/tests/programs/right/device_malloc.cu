// Construct: malloc, free, new and delete in kernels, cudaLimitMallocHeapSize. Expect: runs.
#include <stdio.h>

struct Node {
  int value;
  Node* next;
  __device__ Node(int v, Node* n) : value(v), next(n) {}
};

__device__ Node* lists[8];

__global__ void build() {
  Node* list = nullptr;
  for (unsigned i = 0; i <= threadIdx.x; ++i) list = new Node(10 * threadIdx.x + i, list);
  lists[threadIdx.x] = list;
}

__global__ void sum_and_free(int* sums) {
  int sum = 0;
  for (Node* node = lists[threadIdx.x]; node != nullptr;) {
    Node* next = node->next;
    sum += node->value;
    delete node;
    node = next;
  }
  sums[threadIdx.x] = sum;
}

__global__ void per_block(int* out) {
  __shared__ int* s_buffer;
  if (threadIdx.x == 0) s_buffer = (int*)malloc(blockDim.x * sizeof(int));
  __syncthreads();
  if (s_buffer == NULL) return;
  s_buffer[threadIdx.x] = threadIdx.x + 100 * blockIdx.x;
  __syncthreads();
  out[blockIdx.x * blockDim.x + threadIdx.x] = s_buffer[blockDim.x - 1 - threadIdx.x];
  __syncthreads();
  if (threadIdx.x == 0) free(s_buffer);
}

int main() {
  cudaDeviceSetLimit(cudaLimitMallocHeapSize, 1 << 20);
  int *d_sums, *d_out, sums[8], out[32], wrong = 0;
  cudaMalloc(&d_sums, sizeof(sums));
  cudaMalloc(&d_out, sizeof(out));
  build<<<1, 8>>>();
  sum_and_free<<<1, 8>>>(d_sums);
  per_block<<<2, 16>>>(d_out);
  cudaMemcpy(sums, d_sums, sizeof(sums), cudaMemcpyDeviceToHost);
  cudaMemcpy(out, d_out, sizeof(out), cudaMemcpyDeviceToHost);
  for (int t = 0; t < 8; ++t) wrong += sums[t] != 10 * t * (t + 1) + t * (t + 1) / 2;
  for (int i = 0; i < 32; ++i) wrong += out[i] != 100 * (i / 16) + 15 - i % 16;
  printf("%s\n", wrong == 0 ? "PASSED" : "FAILED");
  return wrong;
}
