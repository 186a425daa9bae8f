// Construct: thread block clusters, __cluster_dims__ and distributed shared memory. Expect: runs.
#include <cooperative_groups.h>
#include <stdio.h>

namespace cg = cooperative_groups;

__global__ void __cluster_dims__(2, 1, 1) exchange(int* out) {
  __shared__ int s_rank;
  cg::cluster_group cluster = cg::this_cluster();
  if (threadIdx.x == 0) s_rank = 10 * blockIdx.x;
  cluster.sync();
  const int* other = cluster.map_shared_rank(&s_rank, 1 - cluster.block_rank());
  if (threadIdx.x == 0) out[blockIdx.x] = *other;
  cluster.sync();
}

int main() {
  int* d_out;
  cudaMalloc(&d_out, 4 * sizeof(int));
  exchange<<<4, 32>>>(d_out);
  int out[4];
  cudaMemcpy(out, d_out, sizeof out, cudaMemcpyDeviceToHost);
  const bool right = out[0] == 10 && out[1] == 0 && out[2] == 30 && out[3] == 20;
  printf("%s\n", right ? "PASSED" : "FAILED");
  return !right;
}
