// Construct: the expected value of compare_exchange_strong() in shared memory, which a failure of another thread writes. Expect: finding "DATA RACE" on s_expected.
#include <cuda/atomic>

#include <cstdio>

__global__ void claim(int* owner) {
  __shared__ int s_expected;
  if (threadIdx.x == 0) s_expected = 0;
  __syncthreads();
  cuda::atomic_ref<int, cuda::thread_scope_device> word(*owner);
  word.compare_exchange_strong(s_expected, static_cast<int>(threadIdx.x) + 1);
}

int main() {
  int* d_owner = nullptr;
  int owner = 0;
  cudaMalloc(&d_owner, sizeof owner);
  cudaMemset(d_owner, 0, sizeof owner);
  claim<<<1, 64>>>(d_owner);
  cudaMemcpy(&owner, d_owner, sizeof owner, cudaMemcpyDeviceToHost);
  std::printf("%s\n", owner > 0 ? "PASSED" : "FAILED");
}
