// Construct: a release of one flag, and a relaxed store of the flag that is polled. Expect: missed "a memory order is taken as a fence".
#include <cstdio>
#include <cuda/atomic>

using Flag = cuda::atomic_ref<int, cuda::thread_scope_device>;

__global__ void hand_over(int* d_message, int* d_flags, int* d_out) {
  Flag released(d_flags[0]), polled(d_flags[1]);
  if (blockIdx.x == 0) {
    *d_message = 42;
    released.store(1, cuda::memory_order_release);
    polled.store(1, cuda::memory_order_relaxed);
  } else {
    while (polled.load(cuda::memory_order_acquire) == 0) {
    }
    *d_out = *d_message;
  }
}

int main() {
  int *d_message, *d_flags, *d_out, out;
  cudaMalloc(&d_message, sizeof(int));
  cudaMalloc(&d_flags, 2 * sizeof(int));
  cudaMalloc(&d_out, sizeof(int));
  cudaMemset(d_flags, 0, 2 * sizeof(int));
  hand_over<<<2, 1>>>(d_message, d_flags, d_out);
  cudaMemcpy(&out, d_out, sizeof out, cudaMemcpyDeviceToHost);
  std::printf("%d\n", out);
}
