// Construct: cudaDeviceReset while a kernel is queued: the kernel runs, and its race is found. Expect: finding "DATA RACE" on x.
__global__ void count(int* x) { x[0] += 1; }

int main() {
  int* x;
  cudaMalloc(&x, sizeof(int));
  cudaMemset(x, 0, sizeof(int));
  count<<<1, 64>>>(x);
  cudaDeviceReset();
  return 0;
}
