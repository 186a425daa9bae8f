// Construct: std::equal of uninitialised integers. Expect: missed "the compiler compares bytes by a function of its own".
#include <algorithm>
#include <cstdio>

__global__ void compare(const int* d_x, const int* d_y, int* d_equal) {
  *d_equal = std::equal(d_x, d_x + 8, d_y);
}

int main() {
  int *d_x, *d_y, *d_equal, equal;
  cudaMalloc(&d_x, 8 * sizeof(int));
  cudaMalloc(&d_y, 8 * sizeof(int));
  cudaMalloc(&d_equal, sizeof(int));
  compare<<<1, 1>>>(d_x, d_y, d_equal);
  cudaMemcpy(&equal, d_equal, sizeof equal, cudaMemcpyDeviceToHost);
  std::printf("compared\n");
}
