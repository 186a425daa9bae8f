// Construct: CUB. Expect: unsupported "cub::BlockReduce of CUB".
#include <cub/block/block_reduce.cuh>

#include <cstdio>

__global__ void sum(const int* x, int* out) {
  using Reduce = cub::BlockReduce<int, 64>;  // unsupported
  __shared__ Reduce::TempStorage storage;
  const int total = Reduce(storage).Sum(x[threadIdx.x]);
  if (threadIdx.x == 0) *out = total;
}

int main() {
  int *d_x, *d_out;
  cudaMalloc(&d_x, 64 * sizeof(int));
  cudaMalloc(&d_out, sizeof(int));
  cudaMemset(d_x, 0, 64 * sizeof(int));
  sum<<<1, 64>>>(d_x, d_out);
  std::printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
}
