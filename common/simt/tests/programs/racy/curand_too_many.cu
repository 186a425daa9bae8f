// Construct: curandGenerateUniform of more numbers than the array has. Expect: finding "OUT OF BOUNDS in kernel curandGenerateUniform" on outputPtr.
#include <curand.h>
#include <stdio.h>

int main() {
  const int n = 1000;
  float* x;
  cudaMalloc(&x, n * sizeof(float));
  curandGenerator_t generator;
  curandCreateGenerator(&generator, CURAND_RNG_PSEUDO_DEFAULT);
  curandGenerateUniform(generator, x, n * sizeof(float));
  printf("%d\n", cudaDeviceSynchronize());
  return curandDestroyGenerator(generator);
}
