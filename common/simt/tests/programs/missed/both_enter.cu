// Construct: two threads that each raise a flag, and enter if the other's is down. Expect: missed "few schedules delay a store past the load after it".
#include <cstdio>
#include <cuda/atomic>

using Flag = cuda::atomic_ref<int, cuda::thread_scope_device>;

__global__ void enter(int* d_flags, int* d_entered) {
  const int me = blockIdx.x;
  Flag mine(d_flags[me]), other(d_flags[1 - me]);
  mine.store(1, cuda::memory_order_relaxed);  // seq_cst would do
  if (other.load(cuda::memory_order_relaxed) == 0) *d_entered += 1;
}

int main() {
  int *d_flags, *d_entered, entered;
  cudaMalloc(&d_flags, 2 * sizeof(int));
  cudaMalloc(&d_entered, sizeof(int));
  cudaMemset(d_flags, 0, 2 * sizeof(int));
  cudaMemset(d_entered, 0, sizeof(int));
  enter<<<2, 1>>>(d_flags, d_entered);
  cudaMemcpy(&entered, d_entered, sizeof entered, cudaMemcpyDeviceToHost);
  std::printf("entered\n");
}
