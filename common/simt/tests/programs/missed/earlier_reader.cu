// Construct: four blocks read an element, and a fifth waits for three of them before it writes. Expect: missed "the last three readers are remembered".
#include <cstdio>

__global__ void reuse(int* d_x, int* d_began, int* d_done, int* d_seen) {
  if (blockIdx.x == 0) {
    d_seen[0] = *d_x;
    atomicAdd(d_began, 1);  // without a fence: this read is not over for others
  } else if (blockIdx.x <= 3) {
    while (atomicAdd(d_began, 0) == 0) {
    }
    d_seen[blockIdx.x] = *d_x;
    __threadfence();
    atomicAdd(d_done, 1);
  } else {
    while (atomicAdd(d_done, 0) < 3) {
    }
    __threadfence();
    *d_x = 2;
  }
}

int main() {
  int *d_all, seen[4];
  cudaMalloc(&d_all, 7 * sizeof(int));
  cudaMemset(d_all, 0, 7 * sizeof(int));
  reuse<<<5, 1>>>(d_all, d_all + 1, d_all + 2, d_all + 3);
  cudaMemcpy(seen, d_all + 3, sizeof seen, cudaMemcpyDeviceToHost);
  std::printf("%d %d %d %d\n", seen[0], seen[1], seen[2], seen[3]);
}
