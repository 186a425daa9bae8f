// Construct: cuFFT. Expect: unsupported "cufftHandle of cuFFT".
#include "cufft.h"

int main() {
  cufftHandle plan;  // unsupported
  cufftComplex* d_x;
  cudaMalloc(&d_x, 64 * sizeof(cufftComplex));
  cufftPlan1d(&plan, 64, CUFFT_C2C, 1);
  cufftExecC2C(plan, d_x, d_x, CUFFT_FORWARD);
  cufftDestroy(plan);
  return cudaDeviceSynchronize();
}
