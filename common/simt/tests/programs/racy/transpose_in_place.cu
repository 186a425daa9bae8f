// Construct: a transpose in place in which both halves move. Expect: finding "DATA RACE" on d_m.
#include <cstdio>

__global__ void transpose(int* d_m, int n) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < n && y < n && x != y) {  // x < y would be right
    const int kept = d_m[y * n + x];
    d_m[y * n + x] = d_m[x * n + y];
    d_m[x * n + y] = kept;
  }
}

int main() {
  const int n = 20;
  int m[n * n], *d_m;
  for (int i = 0; i < n * n; ++i) m[i] = i;
  cudaMalloc(&d_m, sizeof(m));
  cudaMemcpy(d_m, m, sizeof(m), cudaMemcpyHostToDevice);
  transpose<<<dim3(3, 3), dim3(8, 8)>>>(d_m, n);
  cudaMemcpy(m, d_m, sizeof(m), cudaMemcpyDeviceToHost);
  std::printf("%d\n", m[1]);
}
