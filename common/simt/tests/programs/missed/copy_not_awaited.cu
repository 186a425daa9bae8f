// Construct: a kernel in a non-blocking stream that reads what cudaMemcpy has copied from pageable memory. Expect: missed "cudaMemcpy may return before the copy has arrived: here it has".
#include <cstdio>

__global__ void add(const int* d_x, int* d_sum) { *d_sum = d_x[0] + d_x[1]; }

int main() {
  const int x[] = {1, 2};
  int *d_x, *d_sum, sum;
  cudaStream_t stream;
  cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
  cudaMalloc(&d_x, sizeof x);
  cudaMalloc(&d_sum, sizeof(int));
  cudaMemcpy(d_x, x, sizeof x, cudaMemcpyHostToDevice);
  add<<<1, 1, 0, stream>>>(d_x, d_sum);  // the default stream does not hold it back
  cudaMemcpyAsync(&sum, d_sum, sizeof sum, cudaMemcpyDeviceToHost, stream);
  cudaStreamSynchronize(stream);
  std::printf("%d\n", sum);
}
