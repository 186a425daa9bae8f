// Construct: thread block clusters. Expect: unsupported "cluster".
#include <cooperative_groups.h>
#include <stdio.h>

namespace cg = cooperative_groups;

__global__ void __cluster_dims__(2, 1, 1) exchange(int* out) {  // unsupported
  __shared__ int s_rank;
  cg::cluster_group cluster = cg::this_cluster();
  if (threadIdx.x == 0) s_rank = cluster.block_rank();
  cluster.sync();
  const int* other = cluster.map_shared_rank(&s_rank, 1 - cluster.block_rank());
  if (threadIdx.x == 0) out[blockIdx.x] = *other;
  cluster.sync();
}

int main() {
  int* d_out;
  cudaMalloc(&d_out, 4 * sizeof(int));
  exchange<<<4, 32>>>(d_out);
  printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
  return 0;
}
