// Construct: an index past the end of a shared array. Expect: finding "OUT OF BOUNDS" on s_x.
#include <cstdio>

__global__ void neighbours(const int* x, int* out) {
  __shared__ int s_x[32];
  s_x[threadIdx.x] = x[threadIdx.x];
  __syncthreads();
  out[threadIdx.x] = s_x[threadIdx.x] + s_x[threadIdx.x + 1];
}

int main() {
  int *d_x, *d_out;
  cudaMalloc(&d_x, 32 * sizeof(int));
  cudaMalloc(&d_out, 32 * sizeof(int));
  cudaMemset(d_x, 0, 32 * sizeof(int));
  neighbours<<<1, 32>>>(d_x, d_out);
  std::printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
}
