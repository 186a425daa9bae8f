// Construct: tiles in shared memory, __restrict__, a CHECK macro. Expect: runs.
#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>
#include <vector>

#define CHECK(call)                                                                        \
  do {                                                                                     \
    const cudaError_t status = (call);                                                     \
    if (status != cudaSuccess) {                                                           \
      std::fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(status)); \
      std::exit(EXIT_FAILURE);                                                             \
    }                                                                                      \
  } while (0)

constexpr int kTile = 8;

__global__ void multiply(const float* __restrict__ a, const float* __restrict__ b,
                         float* __restrict__ c, int n) {
  __shared__ float s_a[kTile][kTile];
  __shared__ float s_b[kTile][kTile];
  const int row = blockIdx.y * kTile + threadIdx.y;
  const int column = blockIdx.x * kTile + threadIdx.x;
  float sum = 0.0f;
#pragma unroll 1
  for (int start = 0; start < n; start += kTile) {
    const int inner_column = start + threadIdx.x;
    const int inner_row = start + threadIdx.y;
    s_a[threadIdx.y][threadIdx.x] = row < n && inner_column < n ? a[row * n + inner_column] : 0.0f;
    s_b[threadIdx.y][threadIdx.x] = inner_row < n && column < n ? b[inner_row * n + column] : 0.0f;
    __syncthreads();
#pragma unroll
    for (int k = 0; k < kTile; ++k) sum += s_a[threadIdx.y][k] * s_b[k][threadIdx.x];
    __syncthreads();  // the next step overwrites the tiles
  }
  if (row < n && column < n) c[row * n + column] = sum;
}

int main() {
  const int n = 20;
  std::vector<float> a(n * n), b(n * n), c(n * n);
  for (int i = 0; i < n * n; ++i) {
    a[i] = static_cast<float>(i % 7 - 3);
    b[i] = static_cast<float>(i % 5 - 2);
  }
  const size_t bytes = a.size() * sizeof(float);
  float *d_a = nullptr, *d_b = nullptr, *d_c = nullptr;
  CHECK(cudaMalloc(&d_a, bytes));
  CHECK(cudaMalloc(&d_b, bytes));
  CHECK(cudaMalloc(&d_c, bytes));
  CHECK(cudaMemcpy(d_a, a.data(), bytes, cudaMemcpyHostToDevice));
  CHECK(cudaMemcpy(d_b, b.data(), bytes, cudaMemcpyHostToDevice));
  const dim3 grid{(n + kTile - 1) / kTile, (n + kTile - 1) / kTile};
  multiply<<<grid, dim3(kTile, kTile)>>>(d_a, d_b, d_c, n);
  CHECK(cudaGetLastError());
  CHECK(cudaDeviceSynchronize());
  CHECK(cudaMemcpy(c.data(), d_c, bytes, cudaMemcpyDeviceToHost));
  CHECK(cudaFree(d_a));
  CHECK(cudaFree(d_b));
  CHECK(cudaFree(d_c));

  for (int row = 0; row < n; ++row) {
    for (int column = 0; column < n; ++column) {
      float expected = 0.0f;
      for (int k = 0; k < n; ++k) expected += a[row * n + k] * b[k * n + column];
      if (c[row * n + column] != expected) {  // small whole numbers: exact
        std::printf("FAILED: c[%d][%d] is %g, not %g\n", row, column, c[row * n + column],
                    expected);
        return EXIT_FAILURE;
      }
    }
  }
  std::printf("PASSED\n");
}
