// Construct: transposes, naive and through a padded tile. Expect: runs.
#include <stdio.h>
#include <string.h>

const int TILE = 16;
const int ROWS = 4;  // each thread moves TILE / ROWS elements

__global__ void transpose_naive(float* out, const float* in, int width, int height) {
  int x = blockIdx.x * TILE + threadIdx.x;
  int y = blockIdx.y * TILE + threadIdx.y;
  for (int j = 0; j < TILE; j += ROWS) {
    if (x < width && y + j < height) out[x * height + y + j] = in[(y + j) * width + x];
  }
}

__global__ void transpose_tiled(float* out, const float* in, int width, int height) {
  __shared__ float tile[TILE][TILE + 1];
  int x = blockIdx.x * TILE + threadIdx.x;
  int y = blockIdx.y * TILE + threadIdx.y;
  for (int j = 0; j < TILE; j += ROWS) {
    if (x < width && y + j < height) tile[threadIdx.y + j][threadIdx.x] = in[(y + j) * width + x];
  }
  __syncthreads();
  x = blockIdx.y * TILE + threadIdx.x;
  y = blockIdx.x * TILE + threadIdx.y;
  for (int j = 0; j < TILE; j += ROWS) {
    if (x < height && y + j < width) out[(y + j) * height + x] = tile[threadIdx.x][threadIdx.y + j];
  }
}

typedef void (*Transpose)(float*, const float*, int, int);

int main() {
  const int width = 37, height = 21, n = width * height;
  float in[n], out[n];
  for (int i = 0; i < n; ++i) in[i] = (float)i;
  float *d_in, *d_out;
  cudaMalloc(&d_in, sizeof(in));
  cudaMalloc(&d_out, sizeof(out));
  cudaMemcpy(d_in, in, sizeof(in), cudaMemcpyHostToDevice);

  Transpose kernels[] = {transpose_naive, transpose_tiled};
  const char* names[] = {"naive", "tiled"};
  dim3 grid((width + TILE - 1) / TILE, (height + TILE - 1) / TILE);
  bool right = true;
  for (int k = 0; k < 2; ++k) {
    cudaMemset(d_out, 0xff, sizeof(out));
    kernels[k]<<<grid, dim3(TILE, ROWS)>>>(d_out, d_in, width, height);
    memset(out, 0, sizeof(out));
    cudaMemcpy(out, d_out, sizeof(out), cudaMemcpyDeviceToHost);
    int wrong = 0;
    for (int y = 0; y < height; ++y) {
      for (int x = 0; x < width; ++x) wrong += out[x * height + y] != in[y * width + x];
    }
    printf("%s: %s\n", names[k], wrong == 0 ? "PASSED" : "FAILED");
    right = right && wrong == 0;
  }
  cudaFree(d_in);
  cudaFree(d_out);
  return right ? 0 : 1;
}
