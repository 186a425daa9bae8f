// Construct: inline PTX that reads lane and SM. Expect: runs.
#include <stdio.h>

__device__ unsigned lane_id() {
  unsigned lane;
  asm("mov.u32 %0, %%laneid;" : "=r"(lane));
  return lane;
}

__global__ void lanes(unsigned* out) { out[threadIdx.x] = lane_id(); }

int main() {
  unsigned *d_out, out[64], wrong = 0;
  cudaMalloc(&d_out, sizeof(out));
  lanes<<<1, 64>>>(d_out);
  cudaMemcpy(out, d_out, sizeof(out), cudaMemcpyDeviceToHost);
  for (unsigned i = 0; i < 64; ++i) wrong += out[i] != i % 32;
  printf("%s\n", wrong == 0 ? "PASSED" : "FAILED");
  return wrong != 0;
}
