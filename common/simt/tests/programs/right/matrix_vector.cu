// Construct: a matrix times a vector, float4 loads, __ldg, __launch_bounds__. Expect: runs.
#include <cstdio>
#include <vector>

__global__ void __launch_bounds__(64)
    multiply(const float* __restrict__ m, const float* __restrict__ x, float* y, int columns) {
  const int row = blockIdx.x * blockDim.y + threadIdx.y, lane = threadIdx.x;
  const float4* row4 = reinterpret_cast<const float4*>(m + row * columns);
  const float4* x4 = reinterpret_cast<const float4*>(x);
  float sum = 0.0f;
  for (int c = lane; c < columns / 4; c += 32) {
    const float4 a = row4[c];
    const float4 b = __ldg(&x4[c]);
    sum += a.x * b.x + a.y * b.y + a.z * b.z + a.w * b.w;
  }
#pragma unroll
  for (int offset = 16; offset >= 1; offset >>= 1)
    sum += __shfl_down_sync(0xffffffffu, sum, offset);
  if (lane == 0) y[row] = sum;
}

int main() {
  const int rows = 8, columns = 200;
  std::vector<float> m(rows * columns), x(columns), y(rows);
  for (int i = 0; i < rows * columns; ++i) m[i] = static_cast<float>(i % 5);
  for (int i = 0; i < columns; ++i) x[i] = static_cast<float>(i % 3 - 1);
  float *d_m, *d_x, *d_y;
  cudaMalloc(&d_m, m.size() * sizeof(float));
  cudaMalloc(&d_x, x.size() * sizeof(float));
  cudaMalloc(&d_y, y.size() * sizeof(float));
  cudaMemcpy(d_m, m.data(), m.size() * sizeof(float), cudaMemcpyHostToDevice);
  cudaMemcpy(d_x, x.data(), x.size() * sizeof(float), cudaMemcpyHostToDevice);
  multiply<<<rows / 2, dim3(32, 2)>>>(d_m, d_x, d_y, columns);
  cudaMemcpy(y.data(), d_y, y.size() * sizeof(float), cudaMemcpyDeviceToHost);
  for (int row = 0; row < rows; ++row) {
    float expected = 0;
    for (int c = 0; c < columns; ++c) expected += m[row * columns + c] * x[c];
    if (y[row] != expected) {
      std::printf("FAILED: y[%d] is %g, not %g\n", row, y[row], expected);
      return 1;
    }
  }
  std::printf("PASSED\n");
  return 0;
}
