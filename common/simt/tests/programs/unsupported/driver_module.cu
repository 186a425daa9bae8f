// Construct: the driver API: a module loaded from a file. Expect: unsupported "cuModuleLoad".
#include <cuda.h>
#include <stdio.h>

int main() {
  CUmodule module;
  CUfunction kernel;
  CUresult result = cuModuleLoad(&module, "kernel.cubin");                           // unsupported
  if (result == CUDA_SUCCESS) result = cuModuleGetFunction(&kernel, module, "add");  // unsupported
  if (result == CUDA_SUCCESS)
    result = cuLaunchKernel(kernel, 1, 1, 1, 32, 1, 1, 0, 0, NULL, NULL);  // unsupported
  printf("%d\n", (int)result);
  return result != CUDA_SUCCESS;
}
