// Construct: cudaMallocPitch, cudaMemcpy2D, cudaMemset2D. Expect: runs.
#include <stdio.h>

__global__ void blur_rows(const char* in, char* out, size_t pitch, int width, int height) {
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  int y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= width || y >= height) return;
  const float* row = (const float*)(in + y * pitch);
  float left = x > 0 ? row[x - 1] : 0.0f;
  float right = x + 1 < width ? row[x + 1] : 0.0f;
  ((float*)(out + y * pitch))[x] += (left + 2 * row[x] + right) / 4;
}

int main() {
  const int width = 30, height = 7;
  float in[height][width], out[height][width];
  for (int y = 0; y < height; ++y) {
    for (int x = 0; x < width; ++x) in[y][x] = (float)((x * y) % 8);
  }
  char *d_in, *d_out;
  size_t pitch, row = width * sizeof(float);
  cudaMallocPitch((void**)&d_in, &pitch, row, height);
  cudaMallocPitch((void**)&d_out, &pitch, row, height);
  cudaMemset2D(d_out, pitch, 0, row, height);
  cudaMemcpy2D(d_in, pitch, in, row, row, height, cudaMemcpyHostToDevice);
  blur_rows<<<dim3(2, 2), dim3(16, 4)>>>(d_in, d_out, pitch, width, height);
  cudaMemcpy2D(out, row, d_out, pitch, row, height, cudaMemcpyDeviceToHost);
  cudaFree(d_in);
  cudaFree(d_out);

  int wrong = pitch < row;
  for (int y = 0; y < height; ++y) {
    for (int x = 0; x < width; ++x) {
      float left = x > 0 ? in[y][x - 1] : 0.0f, right = x + 1 < width ? in[y][x + 1] : 0.0f;
      wrong += out[y][x] != (left + 2 * in[y][x] + right) / 4;
    }
  }
  printf("%s\n", wrong ? "FAILED" : "PASSED");
  return wrong != 0;
}
