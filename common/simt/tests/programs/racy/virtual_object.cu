// Construct: a virtual function of an object that another warp has just made. Expect: finding "DATA RACE" on s_bytes.
#include <stdio.h>

#include <new>

struct Shape {
  __device__ virtual int corners() const { return 0; }
};
struct Triangle : Shape {
  __device__ int corners() const override { return 3; }
};

__global__ void count(int* y) {
  __shared__ alignas(8) char s_bytes[sizeof(Triangle)];
  Shape* shape = reinterpret_cast<Shape*>(s_bytes);
  if (threadIdx.x == 0) new (s_bytes) Triangle;
  // __syncthreads() is missing
  if (threadIdx.x == 32) *y = shape->corners();
}

int main() {
  int *d_y, y;
  cudaMalloc(&d_y, sizeof(int));
  count<<<1, 64>>>(d_y);
  cudaMemcpy(&y, d_y, sizeof(int), cudaMemcpyDeviceToHost);
  printf("%d\n", y);
  cudaFree(d_y);
  return 0;
}
