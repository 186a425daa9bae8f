// Construct: grids and blocks of two dimensions, dim3. Expect: runs.
#include <stdio.h>

#define WIDTH 70
#define HEIGHT 45

__global__ void matrix_add(const int* a, const int* b, int* sum, int width, int height) {
  int column = blockIdx.x * blockDim.x + threadIdx.x;
  int row = blockIdx.y * blockDim.y + threadIdx.y;
  if (column < width && row < height) {
    int index = row * width + column;
    sum[index] = a[index] + b[index];
  }
}

int main(void) {
  static int a[HEIGHT][WIDTH], b[HEIGHT][WIDTH], sum[HEIGHT][WIDTH];
  for (int row = 0; row < HEIGHT; ++row) {
    for (int column = 0; column < WIDTH; ++column) {
      a[row][column] = row * 1000 + column;
      b[row][column] = column - row;
    }
  }

  int *d_a, *d_b, *d_sum;
  cudaMalloc((void**)&d_a, sizeof(a));
  cudaMalloc((void**)&d_b, sizeof(b));
  cudaMalloc((void**)&d_sum, sizeof(sum));
  cudaMemcpy(d_a, a, sizeof(a), cudaMemcpyHostToDevice);
  cudaMemcpy(d_b, b, sizeof(b), cudaMemcpyHostToDevice);

  dim3 block(16, 8);
  dim3 grid((WIDTH + block.x - 1) / block.x, (HEIGHT + block.y - 1) / block.y);
  matrix_add<<<grid, block>>>(d_a, d_b, d_sum, WIDTH, HEIGHT);
  cudaError_t error = cudaGetLastError();
  if (error != cudaSuccess) {
    fprintf(stderr, "launch: %s\n", cudaGetErrorString(error));
    return 1;
  }
  cudaMemcpy(sum, d_sum, sizeof(sum), cudaMemcpyDeviceToHost);
  cudaFree(d_a);
  cudaFree(d_b);
  cudaFree(d_sum);

  for (int row = 0; row < HEIGHT; ++row) {
    for (int column = 0; column < WIDTH; ++column) {
      if (sum[row][column] != row * 999 + 2 * column) {
        printf("FAILED at row %d, column %d\n", row, column);
        return 1;
      }
    }
  }
  printf("PASSED\n");
  return 0;
}
