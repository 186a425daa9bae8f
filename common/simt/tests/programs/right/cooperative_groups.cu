// Construct: cooperative groups: blocks, tiles, coalesced groups, reduce. Expect: runs.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <stdio.h>

namespace cg = cooperative_groups;

template <typename Tile>
__device__ int sum_of_tile(const Tile& tile, int value) {
  for (int i = tile.size() / 2; i > 0; i /= 2) value += tile.shfl_down(value, i);
  return value;
}

__global__ void sums(const int* x, int* tiles, int* total, int* evens) {
  cg::thread_block block = cg::this_thread_block();
  __shared__ int s_sum;
  if (block.thread_rank() == 0) s_sum = 0;
  block.sync();

  auto tile = cg::tiled_partition<8>(block);
  const int value = x[block.group_index().x * block.size() + block.thread_rank()];
  const int sum = sum_of_tile(tile, value);
  if (tile.thread_rank() == 0) {
    tiles[(blockIdx.x * blockDim.x + threadIdx.x) / 8] = sum;
    atomicAdd(&s_sum, sum);
  }
  cg::sync(block);

  auto warp = cg::tiled_partition<32>(block);
  const int of_warp = cg::reduce(warp, value, cg::plus<int>());
  if (warp.thread_rank() == 0) atomicAdd(total, of_warp);
  if (value % 2 == 0) {
    auto active = cg::coalesced_threads();
    if (active.thread_rank() == 0) atomicAdd(evens, active.size());  // one atomic per warp
  }
  if (block.thread_rank() == 0) atomicAdd(total, s_sum);
}

int main() {
  const int n = 128;
  int x[n], tiles[n / 8], counts[2] = {0, 0}, sum = 0, even = 0;
  for (int i = 0; i < n; ++i) {
    x[i] = (i * i) % 23;
    sum += x[i];
    even += x[i] % 2 == 0;
  }
  int *d_x, *d_tiles, *d_counts;
  cudaMalloc(&d_x, sizeof x);
  cudaMalloc(&d_tiles, sizeof tiles);
  cudaMalloc(&d_counts, sizeof counts);
  cudaMemcpy(d_x, x, sizeof x, cudaMemcpyHostToDevice);
  cudaMemcpy(d_counts, counts, sizeof counts, cudaMemcpyHostToDevice);
  sums<<<2, n / 2>>>(d_x, d_tiles, d_counts, d_counts + 1);
  cudaMemcpy(tiles, d_tiles, sizeof tiles, cudaMemcpyDeviceToHost);
  cudaMemcpy(counts, d_counts, sizeof counts, cudaMemcpyDeviceToHost);
  bool right = counts[0] == 2 * sum && counts[1] == even;
  for (int i = 0; i < n / 8; ++i) {
    int expected = 0;
    for (int j = 0; j < 8; ++j) expected += x[8 * i + j];
    right = right && tiles[i] == expected;
  }
  printf("%s\n", right ? "PASSED" : "FAILED");
  return !right;
}
