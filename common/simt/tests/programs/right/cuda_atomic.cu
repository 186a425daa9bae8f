// Construct: cuda::atomic and cuda::atomic_ref with scopes and memory orders. Expect: runs.
#include <cuda/atomic>

#include <cstdio>

__device__ cuda::atomic<int, cuda::thread_scope_device> arrived{0};
__device__ int parts[4];

// The last block sums what the others have stored: acq_rel orders their stores
// before its loads.
__global__ void sum_in_one_launch(const int* x, int* total) {
  __shared__ cuda::atomic<int, cuda::thread_scope_block> s_sum;
  if (threadIdx.x == 0) s_sum.store(0, cuda::memory_order_relaxed);
  __syncthreads();
  s_sum.fetch_add(x[blockIdx.x * blockDim.x + threadIdx.x], cuda::memory_order_relaxed);
  __syncthreads();
  if (threadIdx.x != 0) return;
  parts[blockIdx.x] = s_sum.load(cuda::memory_order_relaxed);
  if (arrived.fetch_add(1, cuda::memory_order_acq_rel) == (int)gridDim.x - 1) {
    int sum = 0;
    for (unsigned b = 0; b < gridDim.x; ++b) sum += parts[b];
    *total = sum;
  }
}

__global__ void largest(const int* x, int* result) {
  cuda::atomic_ref<int, cuda::thread_scope_device> best(*result);
  best.fetch_max(x[blockIdx.x * blockDim.x + threadIdx.x], cuda::std::memory_order_relaxed);
}

int main() {
  const int n = 128;
  int x[n], out[2] = {0, 0}, sum = 0, expected_largest = 0, *d_x, *d_out;
  for (int i = 0; i < n; ++i) {
    x[i] = i * 29 % 83;
    sum += x[i];
    if (x[i] > expected_largest) expected_largest = x[i];
  }
  cudaMalloc(&d_x, sizeof(x));
  cudaMalloc(&d_out, sizeof(out));
  cudaMemcpy(d_x, x, sizeof(x), cudaMemcpyHostToDevice);
  cudaMemcpy(d_out, out, sizeof(out), cudaMemcpyHostToDevice);
  sum_in_one_launch<<<4, 32>>>(d_x, d_out);
  largest<<<4, 32>>>(d_x, d_out + 1);
  cudaMemcpy(out, d_out, sizeof(out), cudaMemcpyDeviceToHost);
  const bool right = out[0] == sum && out[1] == expected_largest;
  std::printf("%s\n", right ? "PASSED" : "FAILED");
  return right ? 0 : 1;
}
