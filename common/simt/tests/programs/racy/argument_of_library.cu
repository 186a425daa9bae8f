// Construct: shared memory that is read where it is an argument of cooperative_groups::reduce(). Expect: finding "DATA RACE" on s_values.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>

#include <cstdio>

namespace cg = cooperative_groups;

__global__ void sum(int* out) {
  __shared__ int s_values[64];
  s_values[threadIdx.x] = 1;
  const auto tile = cg::tiled_partition<32>(cg::this_thread_block());
  const int total = cg::reduce(tile, s_values[63 - threadIdx.x], cg::plus<int>());
  if (threadIdx.x == 0) *out = total;
}

int main() {
  int* d_out = nullptr;
  int out = 0;
  cudaMalloc(&d_out, sizeof out);
  sum<<<1, 64>>>(d_out);
  cudaMemcpy(&out, d_out, sizeof out, cudaMemcpyDeviceToHost);
  std::printf("%d\n", out);
}
