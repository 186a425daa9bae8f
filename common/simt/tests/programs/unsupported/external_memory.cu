// Construct: memory of another graphics API. Expect: unsupported "cudaExternalMemory".
#include <stdio.h>

int main() {
  cudaExternalMemory_t memory;                              // unsupported
  cudaExternalMemoryHandleDesc description = {};            // unsupported
  description.type = cudaExternalMemoryHandleTypeOpaqueFd;  // unsupported
  description.size = 4096;
  cudaError_t error = cudaImportExternalMemory(&memory, &description);  // unsupported
  printf("%s\n", cudaGetErrorString(error));
  return error != cudaSuccess;
}
