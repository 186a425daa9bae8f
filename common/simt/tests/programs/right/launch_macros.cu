// Construct: launches inside macros, kernels that a macro defines. Expect: runs.
#include <stdio.h>

#define DEFINE_KERNEL(name, type, expression)      \
  __global__ void name(type* x, int n) {           \
    int i = blockIdx.x * blockDim.x + threadIdx.x; \
    if (i < n) x[i] = expression;                  \
  }

#define LAUNCH(kernel, n, ...)                                 \
  do {                                                         \
    kernel<<<((n) + 31) / 32, 32>>>(__VA_ARGS__, n);           \
    cudaError_t status = cudaGetLastError();                   \
    if (status != cudaSuccess) {                               \
      printf("%s: %s\n", #kernel, cudaGetErrorString(status)); \
      return 1;                                                \
    }                                                          \
  } while (0)

#define FOR_TYPES(operation) operation(int) operation(float) operation(double)
#define DEFINE_FOR(type) DEFINE_KERNEL(triple_##type, type, 3 * i)
#define TEST_FOR(type)                                     \
  {                                                        \
    type *d_x, x[50];                                      \
    cudaMalloc(&d_x, sizeof(x));                           \
    LAUNCH(triple_##type, 50, d_x);                        \
    cudaMemcpy(x, d_x, sizeof(x), cudaMemcpyDeviceToHost); \
    cudaFree(d_x);                                         \
    for (int i = 0; i < 50; ++i) wrong += x[i] != 3 * i;   \
  }

FOR_TYPES(DEFINE_FOR)

int main() {
  int wrong = 0;
  FOR_TYPES(TEST_FOR)
  printf("%s\n", wrong == 0 ? "PASSED" : "FAILED");
  return wrong;
}
