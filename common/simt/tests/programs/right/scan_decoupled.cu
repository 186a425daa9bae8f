// Construct: a scan in one kernel: blocks read what earlier blocks publish with __threadfence(). Expect: runs.
#include <cstdio>
#include <vector>

constexpr int kThreads = 32;
enum Flag { kNothing, kSum, kPrefix };

struct Status {
  int sum, prefix, flag;
};

__global__ void scan(const int* in, int* out, int n, Status* status, int* next_tile) {
  __shared__ int s_tile, s_before;
  if (threadIdx.x == 0)
    s_tile = atomicAdd(next_tile, 1);  // tiles in the order in which blocks start
  __syncthreads();
  const int tile = s_tile, i = tile * kThreads + threadIdx.x;
  int sum = i < n ? in[i] : 0;
  for (int distance = 1; distance < 32; distance *= 2) {
    const int other = __shfl_up_sync(0xffffffffu, sum, distance);
    if (threadIdx.x >= distance) sum += other;
  }
  const int total = __shfl_sync(0xffffffffu, sum, 31);
  if (threadIdx.x == 0) {
    status[tile].sum = total;
    __threadfence();
    atomicExch(&status[tile].flag, kSum);
    int before = 0;
    for (int back = tile - 1; back >= 0;) {
      const int flag = atomicAdd(&status[back].flag, 0);
      __threadfence();
      if (flag == kPrefix) {
        before += status[back].prefix;
        break;
      }
      if (flag == kSum) before += status[back--].sum;
    }
    status[tile].prefix = before + total;
    __threadfence();
    atomicExch(&status[tile].flag, kPrefix);
    s_before = before;
  }
  __syncthreads();
  if (i < n) out[i] = s_before + sum;
}

int main() {
  const int n = 400, tiles = (n + kThreads - 1) / kThreads;
  std::vector<int> in(n), out(n);
  for (int i = 0; i < n; ++i) in[i] = i % 9 - 2;
  int *d_in, *d_out, *d_next;
  Status* d_status;
  cudaMalloc(&d_in, n * sizeof(int));
  cudaMalloc(&d_out, n * sizeof(int));
  cudaMalloc(&d_next, sizeof(int));
  cudaMalloc(&d_status, tiles * sizeof(Status));
  cudaMemcpy(d_in, in.data(), n * sizeof(int), cudaMemcpyHostToDevice);
  cudaMemset(d_next, 0, sizeof(int));
  cudaMemset(d_status, 0, tiles * sizeof(Status));
  scan<<<tiles, kThreads>>>(d_in, d_out, n, d_status, d_next);
  cudaMemcpy(out.data(), d_out, n * sizeof(int), cudaMemcpyDeviceToHost);
  int sum = 0, wrong = 0;
  for (int i = 0; i < n; ++i) wrong += out[i] != (sum += in[i]);
  std::printf(wrong ? "FAILED: %d wrong\n" : "PASSED\n", wrong);
  return wrong != 0;
}
