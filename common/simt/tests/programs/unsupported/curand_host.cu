// Construct: a generator of the host that is neither XORWOW nor Philox. Expect: unsupported "CURAND_RNG_PSEUDO_MTGP32 of cuRAND: use a generator of XORWOW".
#include <curand.h>

int main() {
  float* d_x;
  curandGenerator_t generator;
  cudaMalloc(&d_x, 32 * sizeof(float));
  curandCreateGenerator(&generator, CURAND_RNG_PSEUDO_MTGP32);  // unsupported
  curandGenerateUniform(generator, d_x, 32);
  return curandDestroyGenerator(generator);
}
