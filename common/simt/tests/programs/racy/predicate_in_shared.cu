// Construct: the predicate of __match_all_sync() in shared memory, which each warp writes with another value. Expect: finding "DATA RACE" on s_equal.
#include <cstdio>

__global__ void compare(const int* x, int* out) {
  __shared__ int s_equal;
  __match_all_sync(0xFFFFFFFF, x[threadIdx.x], &s_equal);
  out[threadIdx.x] = s_equal;
}

int main() {
  int x[64], *d_x = nullptr, *d_out = nullptr;
  for (int i = 0; i < 64; ++i) x[i] = i / 33;
  cudaMalloc(&d_x, sizeof x);
  cudaMalloc(&d_out, sizeof x);
  cudaMemcpy(d_x, x, sizeof x, cudaMemcpyHostToDevice);
  compare<<<1, 64>>>(d_x, d_out);
  cudaMemcpy(x, d_out, sizeof x, cudaMemcpyDeviceToHost);
  std::printf("%d %d\n", x[0], x[63]);
}
