// Construct: variables of the device and kernels with shared memory that a macro declares, parameters without a name. Expect: runs.
#include <stdio.h>

#include <utility>

#define DEVICE __device__
#define TABLE(type, name) __device__ type name[64]
#define COEFFICIENTS(name, ...) __constant__ float name[] = {__VA_ARGS__}
#define REVERSE(name, type)              \
  __global__ void name(type* x, int n) { \
    __shared__ type s[64];               \
    const int i = threadIdx.x;           \
    if (i >= n) return;                  \
    s[i] = x[i];                         \
    __syncthreads();                     \
    x[i] = s[n - 1 - i];                 \
  }

DEVICE int d_count = 5;
TABLE(double, d_table);
COEFFICIENTS(c_weights, 0.5f, 1.5f, 2.5f);
REVERSE(reverse_short, short)
REVERSE(reverse_double, double)

__global__ void fill() { d_table[threadIdx.x] = d_count * c_weights[threadIdx.x % 3]; }

// The interface of a family of kernels, of which this one needs two parameters.
template <class... Rest>
__global__ void count(int* result, const float*, std::pair<int, int>, unsigned = 0, Rest...) {
  *result = sizeof...(Rest);
}

int main() {
  fill<<<1, 64>>>();
  double table[64];
  cudaMemcpyFromSymbol(table, d_table, sizeof(table));
  bool right = table[0] == 2.5 && table[5] == 12.5;

  double* d_x;
  cudaMalloc(&d_x, sizeof(table));
  cudaMemcpy(d_x, table, sizeof(table), cudaMemcpyHostToDevice);
  reverse_double<<<1, 64>>>(d_x, 64);
  double reversed[64];
  cudaMemcpy(reversed, d_x, sizeof(reversed), cudaMemcpyDeviceToHost);
  for (int i = 0; i < 64; ++i) right = right && reversed[i] == table[63 - i];
  cudaFree(d_x);

  int* d_result;
  cudaMalloc(&d_result, sizeof(int));
  const float* none = nullptr;
  std::pair<int, int> pair(1, 2);
  unsigned number = 3;
  char rest = 'a';
  void* arguments[] = {&d_result, &none, &pair, &number, &rest};
  right = right && cudaLaunchKernel((const void*)count<char>, 1, 1, arguments, 0, 0) == cudaSuccess;
  int result = 0;
  cudaMemcpy(&result, d_result, sizeof(int), cudaMemcpyDeviceToHost);
  cudaFree(d_result);

  short* d_s;
  cudaMalloc(&d_s, 2 * sizeof(short));
  const short pair_of_shorts[] = {1, 2};
  cudaMemcpy(d_s, pair_of_shorts, sizeof(pair_of_shorts), cudaMemcpyHostToDevice);
  void* more[] = {&d_s, &result};
  result = result == 1 ? 2 : 0;
  right = right && cudaLaunchKernel((const void*)reverse_short, 1, 2, more, 0, 0) == cudaSuccess;
  short swapped[2];
  cudaMemcpy(swapped, d_s, sizeof(swapped), cudaMemcpyDeviceToHost);
  right = right && swapped[0] == 2 && swapped[1] == 1;
  cudaFree(d_s);
  printf("%s\n", right ? "PASSED" : "FAILED");
  return 0;
}
