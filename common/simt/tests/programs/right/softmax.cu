// Construct: softmax and layer norm: one warp per row, one block per row. Expect: runs.
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

__device__ float warp_max(float x) {
  for (int offset = 16; offset > 0; offset /= 2)
    x = fmaxf(x, __shfl_xor_sync(0xffffffff, x, offset));
  return x;
}
__device__ float warp_sum(float x) {
  for (int offset = 16; offset > 0; offset /= 2) x += __shfl_xor_sync(0xffffffff, x, offset);
  return x;
}

__global__ void softmax(const float* in, float* out, int rows, int columns) {
  int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
  if (row >= rows) return;
  float largest = -FLT_MAX, sum = 0.0f;
  for (int c = lane; c < columns; c += 32) largest = fmaxf(largest, in[row * columns + c]);
  largest = warp_max(largest);
  for (int c = lane; c < columns; c += 32) sum += expf(in[row * columns + c] - largest);
  sum = warp_sum(sum);
  for (int c = lane; c < columns; c += 32)
    out[row * columns + c] = expf(in[row * columns + c] - largest) / sum;
}

__global__ void layer_norm(const float* in, float* out, int columns) {
  __shared__ float s_sums[32], s_squares[32];
  const float* x = in + blockIdx.x * columns;
  float sum = 0.0f, squares = 0.0f;
  for (int c = threadIdx.x; c < columns; c += blockDim.x) {
    sum += x[c];
    squares += x[c] * x[c];
  }
  sum = warp_sum(sum);
  squares = warp_sum(squares);
  if (threadIdx.x % 32 == 0) {
    s_sums[threadIdx.x / 32] = sum;
    s_squares[threadIdx.x / 32] = squares;
  }
  __syncthreads();
  int warps = blockDim.x / 32, lane = threadIdx.x % 32;
  float mean = warp_sum(lane < warps ? s_sums[lane] : 0.0f) / columns;
  float variance = warp_sum(lane < warps ? s_squares[lane] : 0.0f) / columns - mean * mean;
  float scale = rsqrtf(variance + 1e-5f);
  for (int c = threadIdx.x; c < columns; c += blockDim.x)
    out[blockIdx.x * columns + c] = (x[c] - mean) * scale;
}

int main() {
  const int rows = 5, columns = 75, n = rows * columns;
  float in[n], soft[n], norm[n], *d_in, *d_out;
  srand(1);
  for (int i = 0; i < n; i++) in[i] = 4.0f * rand() / RAND_MAX - 2.0f;
  cudaMalloc(&d_in, sizeof(in));
  cudaMalloc(&d_out, sizeof(in));
  cudaMemcpy(d_in, in, sizeof(in), cudaMemcpyHostToDevice);
  softmax<<<(rows * 32 + 63) / 64, 64>>>(d_in, d_out, rows, columns);
  cudaMemcpy(soft, d_out, sizeof(in), cudaMemcpyDeviceToHost);
  layer_norm<<<rows, 96>>>(d_in, d_out, columns);
  cudaMemcpy(norm, d_out, sizeof(in), cudaMemcpyDeviceToHost);
  cudaFree(d_in);
  cudaFree(d_out);
  int wrong = 0;
  for (int row = 0; row < rows; row++) {
    double sum = 0, mean = 0, squares = 0;
    for (int i = row * columns; i < (row + 1) * columns; i++) {
      sum += exp((double)in[i]);
      mean += in[i] / columns;
      squares += (double)in[i] * in[i] / columns;
    }
    for (int i = row * columns; i < (row + 1) * columns; i++) {
      wrong += !(fabs(soft[i] - exp((double)in[i]) / sum) < 1e-6);
      wrong += !(fabs(norm[i] - (in[i] - mean) / sqrt(squares - mean * mean + 1e-5)) < 1e-4);
    }
  }
  printf(wrong ? "FAILED: %d wrong\n" : "PASSED\n", wrong);
  return wrong != 0;
}
