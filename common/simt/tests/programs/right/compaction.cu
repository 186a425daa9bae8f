// Construct: stream compaction with one atomic per warp (__activemask, __shfl_sync). Expect: runs.
#include <algorithm>
#include <cstdio>
#include <vector>

__device__ int reserve(int* counter) {
  const unsigned active = __activemask();
  const int lane = threadIdx.x % 32;
  const int leader = __ffs(active) - 1;
  int first = 0;
  if (lane == leader) first = atomicAdd(counter, __popc(active));
  first = __shfl_sync(active, first, leader);
  return first + __popc(active & ((1u << lane) - 1));
}

__global__ void keep_positive(const int* in, int* out, int n, int* kept) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n && in[i] > 0) out[reserve(kept)] = in[i];
}

int main() {
  const int n = 250;
  std::vector<int> in(n), out(n), expected;
  for (int i = 0; i < n; ++i) {
    in[i] = (i * 97) % 41 - 20;
    if (in[i] > 0) expected.push_back(in[i]);
  }
  int *d_in, *d_out, *d_kept, kept = -1;
  cudaMalloc(&d_in, n * sizeof(int));
  cudaMalloc(&d_out, n * sizeof(int));
  cudaMalloc(&d_kept, sizeof(int));
  cudaMemset(d_kept, 0, sizeof(int));
  cudaMemcpy(d_in, in.data(), n * sizeof(int), cudaMemcpyHostToDevice);
  keep_positive<<<4, 64>>>(d_in, d_out, n, d_kept);
  cudaMemcpy(&kept, d_kept, sizeof(int), cudaMemcpyDeviceToHost);
  out.resize(std::clamp(kept, 0, n));
  cudaMemcpy(out.data(), d_out, out.size() * sizeof(int), cudaMemcpyDeviceToHost);
  std::sort(out.begin(), out.end());
  std::sort(expected.begin(), expected.end());
  std::puts(out == expected ? "PASSED" : "FAILED");
  return out != expected;
}
