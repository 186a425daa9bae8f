// Construct: memory of another graphics API. Expect: unsupported "cudaExternalMemory".
#include <stdio.h>

int main() {
  cudaExternalMemory_t memory;  // unsupported
  cudaExternalMemoryHandleDesc description = {};
  description.type = cudaExternalMemoryHandleTypeOpaqueFd;
  description.size = 4096;
  cudaError_t error = cudaImportExternalMemory(&memory, &description);
  printf("%s\n", cudaGetErrorString(error));
  return error != cudaSuccess;
}
