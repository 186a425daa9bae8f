// Construct: a tiled matrix product without the barrier after the loads. Expect: finding "DATA RACE" on s_a.
#include <cstdio>

constexpr int kTile = 8, kN = 16;

__global__ void multiply(const float* a, const float* b, float* c) {
  __shared__ float s_a[kTile][kTile], s_b[kTile][kTile];
  const int x = threadIdx.x, y = threadIdx.y, row = blockIdx.y * kTile + y,
            column = blockIdx.x * kTile + x;
  float sum = 0;
  for (int k = 0; k < kN; k += kTile) {
    s_b[y][x] = b[(k + y) * kN + column];
    __syncthreads();
    s_a[y][x] = a[row * kN + k + x];  // belongs before the barrier
    for (int i = 0; i < kTile; ++i) sum += s_a[y][i] * s_b[i][x];
    __syncthreads();
  }
  c[row * kN + column] = sum;
}

int main() {
  float *a, *b, *c;
  const size_t bytes = kN * kN * sizeof(float);
  cudaMalloc(&a, bytes);
  cudaMalloc(&b, bytes);
  cudaMalloc(&c, bytes);
  cudaMemset(a, 0, bytes);
  cudaMemset(b, 0, bytes);
  multiply<<<dim3(2, 2), dim3(kTile, kTile)>>>(a, b, c);
  std::printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
}
