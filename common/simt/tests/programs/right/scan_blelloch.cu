// Construct: an exclusive scan, up-sweep and down-sweep, in three kernels. Expect: runs.
#include <cstdio>
#include <numeric>
#include <vector>

#define BLOCK 32

__global__ void scan_blocks(int* x, int* sums, int n) {
  __shared__ int s_x[2 * BLOCK];
  const int t = threadIdx.x, first = blockIdx.x * 2 * BLOCK;
  s_x[t] = first + t < n ? x[first + t] : 0;
  s_x[t + BLOCK] = first + t + BLOCK < n ? x[first + t + BLOCK] : 0;
  int offset = 1;
  for (int active = BLOCK; active > 0; active /= 2, offset *= 2) {
    __syncthreads();
    if (t < active) s_x[offset * (2 * t + 2) - 1] += s_x[offset * (2 * t + 1) - 1];
  }
  if (t == 0) {
    if (sums != nullptr) sums[blockIdx.x] = s_x[2 * BLOCK - 1];
    s_x[2 * BLOCK - 1] = 0;
  }
  for (int active = 1; active <= BLOCK; active *= 2) {
    offset /= 2;
    __syncthreads();
    if (t < active) {
      const int left = offset * (2 * t + 1) - 1, right = offset * (2 * t + 2) - 1;
      const int kept = s_x[left];
      s_x[left] = s_x[right];
      s_x[right] += kept;
    }
  }
  __syncthreads();
  if (first + t < n) x[first + t] = s_x[t];
  if (first + t + BLOCK < n) x[first + t + BLOCK] = s_x[t + BLOCK];
}

__global__ void add_offsets(int* x, const int* offsets, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] += offsets[blockIdx.x];
}

int main() {
  const int n = 300, blocks = (n + 2 * BLOCK - 1) / (2 * BLOCK);
  std::vector<int> x(n), expected(n), out(n);
  for (int i = 0; i < n; ++i) x[i] = i % 13 + 1;
  std::exclusive_scan(x.begin(), x.end(), expected.begin(), 0);
  int *d_x, *d_sums;
  cudaMalloc(&d_x, n * sizeof(int));
  cudaMalloc(&d_sums, blocks * sizeof(int));
  cudaMemcpy(d_x, x.data(), n * sizeof(int), cudaMemcpyHostToDevice);
  scan_blocks<<<blocks, BLOCK>>>(d_x, d_sums, n);
  scan_blocks<<<1, BLOCK>>>(d_sums, nullptr, blocks);
  add_offsets<<<blocks, 2 * BLOCK>>>(d_x, d_sums, n);
  cudaMemcpy(out.data(), d_x, n * sizeof(int), cudaMemcpyDeviceToHost);
  cudaFree(d_x);
  cudaFree(d_sums);
  std::puts(out == expected ? "PASSED" : "FAILED");
  return out != expected;
}
