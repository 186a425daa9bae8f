// Construct: cuFFT. Expect: unsupported "cufftHandle of cuFFT".
#include "cufft.h"

int main() {
  cufftHandle plan;   // unsupported
  cufftComplex* d_x;  // unsupported
  cudaMalloc(&d_x, 64 * sizeof(cufftComplex));
  cufftPlan1d(&plan, 64, CUFFT_C2C, 1);         // unsupported
  cufftExecC2C(plan, d_x, d_x, CUFFT_FORWARD);  // unsupported
  cufftDestroy(plan);                           // unsupported
  return cudaDeviceSynchronize();
}
