// Construct: a stencil with a halo in shared memory, buffers swapped by the host. Expect: runs.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include <utility>

#define RADIUS 2
#define BLOCK 32

__global__ void smooth(const float* in, float* out, int n) {
  __shared__ float tile[BLOCK + 2 * RADIUS];
  int i = blockIdx.x * BLOCK + threadIdx.x;
  int local = threadIdx.x + RADIUS;
  tile[local] = i < n ? in[i] : 0.0f;
  if (threadIdx.x < RADIUS) {
    int left = i - RADIUS, right = i + BLOCK;
    tile[local - RADIUS] = left >= 0 ? in[left] : 0.0f;
    tile[local + BLOCK] = right < n ? in[right] : 0.0f;
  }
  __syncthreads();
  if (i >= n) return;
  float sum = 0.0f;
  for (int offset = -RADIUS; offset <= RADIUS; ++offset) sum += tile[local + offset];
  out[i] = sum / (2 * RADIUS + 1);
}

static void smooth_on_host(const float* in, float* out, int n) {
  for (int i = 0; i < n; ++i) {
    float sum = 0.0f;
    for (int j = i - RADIUS; j <= i + RADIUS; ++j) sum += j >= 0 && j < n ? in[j] : 0.0f;
    out[i] = sum / (2 * RADIUS + 1);
  }
}

int main() {
  const int n = 150, steps = 4;
  float *x = new float[n], *y = new float[n], *result = new float[n];
  for (int i = 0; i < n; ++i) x[i] = sinf(0.1f * i);
  float *d_x, *d_y;
  cudaMalloc(&d_x, n * sizeof(*d_x));
  cudaMalloc(&d_y, n * sizeof(*d_y));
  cudaMemcpy(d_x, x, n * sizeof(float), cudaMemcpyDefault);
  for (int step = 0; step < steps; ++step) {
    smooth<<<(n + BLOCK - 1) / BLOCK, BLOCK>>>(d_x, d_y, n);
    std::swap(d_x, d_y);
    smooth_on_host(x, y, n);
    std::swap(x, y);
  }
  cudaMemcpy(result, d_x, n * sizeof(float), cudaMemcpyDefault);
  for (int i = 0; i < n; ++i) {
    if (!(fabsf(result[i] - x[i]) < 1e-5f)) {
      printf("FAILED at %d: %f, not %f\n", i, result[i], x[i]);
      exit(1);
    }
  }
  cudaFree(d_x);
  cudaFree(d_y);
  delete[] x;
  delete[] y;
  delete[] result;
  printf("PASSED\n");
}
