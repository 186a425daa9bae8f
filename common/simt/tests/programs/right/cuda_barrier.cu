// Construct: cuda::barrier: arrive and wait, a token, arrive_and_wait. Expect: runs.
#include <cuda/barrier>

#include <cooperative_groups.h>

#include <cstdio>
#include <utility>

#pragma nv_diag_suppress static_var_with_dynamic_init
using Barrier = cuda::barrier<cuda::thread_scope_block>;

__global__ void rotate(int* x, int rounds) {
  __shared__ Barrier barrier;
  __shared__ int s_x[64];
  auto block = cooperative_groups::this_thread_block();
  if (block.thread_rank() == 0) init(&barrier, block.size());
  block.sync();

  const int t = threadIdx.x, n = blockDim.x;
  s_x[t] = x[blockIdx.x * n + t];
  for (int round = 0; round < rounds; ++round) {
    Barrier::arrival_token token = barrier.arrive();  // s_x[t] is written
    const int next = (t + 1) % n;
    barrier.wait(std::move(token));
    const int taken = s_x[next];
    barrier.arrive_and_wait();  // all have read
    s_x[t] = taken;
  }
  x[blockIdx.x * n + t] = s_x[t];
}

int main() {
  const int n = 128, rounds = 3;
  int x[n], out[n], *d_x, wrong = 0;
  for (int i = 0; i < n; ++i) x[i] = 5 * i;
  cudaMalloc(&d_x, sizeof(x));
  cudaMemcpy(d_x, x, sizeof(x), cudaMemcpyHostToDevice);
  rotate<<<2, 64>>>(d_x, rounds);
  cudaMemcpy(out, d_x, sizeof(x), cudaMemcpyDeviceToHost);
  cudaFree(d_x);
  for (int i = 0; i < n; ++i) wrong += out[i] != x[i / 64 * 64 + (i + rounds) % 64];
  std::printf("%s\n", wrong == 0 ? "PASSED" : "FAILED");
  return wrong;
}
