// Construct: the copy of a struct with a nameless union over a float4, which is initialised in braces. Expect: unsupported "copy of a union".
#include <stdio.h>

struct Row {
  union {
    float4 vector;
    float items[4];
  };
  int number;
};

__global__ void fill(Row* rows) {
  Row row = {{make_float4(1, 2, 3, 4)}, (int)threadIdx.x};
  rows[threadIdx.x] = row;  // unsupported
}

int main() {
  Row* rows;
  cudaMallocManaged(&rows, 32 * sizeof(Row));
  fill<<<1, 32>>>(rows);
  cudaDeviceSynchronize();
  printf("%s\n", rows[3].items[2] == 3 ? "PASSED" : "FAILED");
  cudaFree(rows);
  return 0;
}
