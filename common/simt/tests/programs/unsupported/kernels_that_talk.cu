// Construct: two kernels in two streams that send messages to each other. Expect: unsupported "kernel ask waits for what answer may do".
#include <cstdio>

__global__ void ask(int* question, int* answer) {
  *question = 6;
  __threadfence();
  atomicExch(question + 1, 1);
  while (atomicAdd(answer + 1, 0) == 0) {  // unsupported
  }
}

__global__ void answer(int* question, int* answer) {
  while (atomicAdd(question + 1, 0) == 0) {
  }
  __threadfence();
  *answer = *question * 7;
  __threadfence();
  atomicExch(answer + 1, 1);
}

int main() {
  int* d_words;
  cudaStream_t first, second;
  cudaMalloc(&d_words, 4 * sizeof(int));
  cudaMemset(d_words, 0, 4 * sizeof(int));
  cudaDeviceSynchronize();
  cudaStreamCreate(&first);
  cudaStreamCreate(&second);
  ask<<<1, 1, 0, first>>>(d_words, d_words + 2);
  answer<<<1, 1, 0, second>>>(d_words, d_words + 2);
  std::printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
}
