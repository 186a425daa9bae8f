// Construct: tiles of more than 32 threads. Expect: unsupported "a tile of more than one warp".
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <stdio.h>

namespace cg = cooperative_groups;

template <int kSize>
__global__ void sum(const int* x, int* total) {
  __shared__ cg::block_tile_memory<256> scratch;
  auto block = cg::this_thread_block(scratch);
  auto tile = cg::tiled_partition<kSize>(block);  // unsupported
  const int all = cg::reduce(tile, x[block.thread_rank()], cg::plus<int>());
  if (tile.thread_rank() == 0) atomicAdd(total, all);
}

int main() {
  int *x, *total;
  cudaMallocManaged(&x, 256 * sizeof(int));
  cudaMallocManaged(&total, sizeof(int));
  for (int i = 0; i < 256; ++i) x[i] = 1;
  *total = 0;
  sum<128><<<1, 256>>>(x, total);
  cudaDeviceSynchronize();
  printf("%s\n", *total == 256 ? "PASSED" : "FAILED");
  cudaFree(x);
  cudaFree(total);
  return 0;
}
