// Construct: the compiler's own atomic functions. Expect: unsupported "__nv_atomic_fetch_add: use cuda::atomic_ref of <cuda/atomic>".
#include <cstdio>

__global__ void count(int* total) {
  __nv_atomic_fetch_add(total, 1, __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_DEVICE);  // unsupported
}

int main() {
  int *d_total, total = 0;
  cudaMalloc(&d_total, sizeof(total));
  cudaMemset(d_total, 0, sizeof(total));
  count<<<2, 32>>>(d_total);
  cudaMemcpy(&total, d_total, sizeof(total), cudaMemcpyDeviceToHost);
  std::printf("%d\n", total);
  cudaFree(d_total);
}
