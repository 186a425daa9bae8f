// Construct: an inclusive scan with two buffers in dynamic shared memory. Expect: runs.
#include <stdio.h>

__global__ void scan(const int* in, int* out, int n) {
  extern __shared__ int buffers[];  // two of n elements
  int t = threadIdx.x;
  int from = 1, to = 0;
  buffers[to * n + t] = in[t];
  __syncthreads();
  for (int distance = 1; distance < n; distance *= 2) {
    from = to;
    to = 1 - to;
    int sum = buffers[from * n + t];
    if (t >= distance) sum += buffers[from * n + t - distance];
    buffers[to * n + t] = sum;
    __syncthreads();
  }
  out[t] = buffers[to * n + t];
}

int main() {
  const int n = 96;
  int in[n], out[n];
  for (int i = 0; i < n; i++) in[i] = (i * 7) % 11;
  int *d_in, *d_out;
  cudaMalloc(&d_in, n * sizeof(int));
  cudaMalloc(&d_out, n * sizeof(int));
  cudaMemcpy(d_in, in, n * sizeof(int), cudaMemcpyHostToDevice);
  scan<<<1, n, 2 * n * sizeof(int)>>>(d_in, d_out, n);
  cudaMemcpy(out, d_out, n * sizeof(int), cudaMemcpyDeviceToHost);
  cudaFree(d_in);
  cudaFree(d_out);

  int sum = 0;
  for (int i = 0; i < n; i++) {
    sum += in[i];
    if (out[i] != sum) {
      printf("FAILED: out[%d] is %d, not %d\n", i, out[i], sum);
      return 1;
    }
  }
  printf("PASSED\n");
  return 0;
}
