// Construct: __half2 and __nv_bfloat16 arithmetic, a union over vectors. Expect: runs.
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <cmath>
#include <cstdio>

union Pack {  // eight halves in one load of 16 bytes
  float4 bits;
  __half2 pairs[4];
};

__global__ void axpy(const float4* x, float4* y, __half a, int packs) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= packs) return;
  Pack px, py;
  px.bits = x[i];
  py.bits = y[i];
  const __half2 aa = __half2half2(a);
  for (int k = 0; k < 4; ++k) py.pairs[k] = __hfma2(aa, px.pairs[k], py.pairs[k]);
  y[i] = py.bits;
}

__global__ void to_bfloat16(const __half* x, __nv_bfloat16* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = __float2bfloat16(__half2float(x[i]) * 0.5f);
}

int main() {
  const int n = 80;
  __half x[n], y[n];
  __nv_bfloat16 small[n];
  for (int i = 0; i < n; ++i) {
    x[i] = __float2half(0.25f * i);
    y[i] = __float2half(1.0f);
  }
  __half *d_x, *d_y;
  __nv_bfloat16* d_small;
  cudaMalloc(&d_x, sizeof(x));
  cudaMalloc(&d_y, sizeof(y));
  cudaMalloc(&d_small, sizeof(small));
  cudaMemcpy(d_x, x, sizeof(x), cudaMemcpyHostToDevice);
  cudaMemcpy(d_y, y, sizeof(y), cudaMemcpyHostToDevice);
  axpy<<<1, 32>>>(reinterpret_cast<const float4*>(d_x), reinterpret_cast<float4*>(d_y),
                  __float2half(2.0f), n / 8);
  to_bfloat16<<<3, 32>>>(d_y, d_small, n);
  cudaMemcpy(y, d_y, sizeof(y), cudaMemcpyDeviceToHost);
  cudaMemcpy(small, d_small, sizeof(small), cudaMemcpyDeviceToHost);
  int wrong = 0;
  for (int i = 0; i < n; ++i) {
    const float expected = 0.5f * i + 1;
    wrong += __half2float(y[i]) != expected;
    wrong += !(std::fabs(__bfloat162float(small[i]) - expected / 2) <= expected / 256);
  }
  std::printf("%s\n", wrong == 0 ? "PASSED" : "FAILED");
  return wrong;
}
