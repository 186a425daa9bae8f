// Construct: a mask that does not name the calling lane. Expect: finding "WRONG MASK".
#include <cstdio>

__global__ void vote(unsigned* out) {
  if (threadIdx.x < 8) out[threadIdx.x] = __ballot_sync(0x0fu, threadIdx.x % 2);
}

int main() {
  unsigned* d_out;
  cudaMalloc(&d_out, 8 * sizeof(unsigned));
  vote<<<1, 32>>>(d_out);
  std::printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
}
