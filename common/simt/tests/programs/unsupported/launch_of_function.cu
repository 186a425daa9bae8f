// Construct: a launch of a function that is no kernel. Expect: unsupported "fill is launched with <<<>>>, but is not a kernel".
#include <cstdio>

template <class T>
void fill(T* x) {
  *x = 1;
}

int main() {
  int* d_x = nullptr;
  cudaMalloc(&d_x, 32 * sizeof(int));
  fill<<<1, 32>>>(d_x);  // unsupported
  std::printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
  cudaFree(d_x);
}
