// One planted error for each tool of compute-sanitizer. `common/dev measure run` believes a tool's silence only
// after the tool has found the error that is meant for it.
#include <cstdio>
#include <cstring>

// memcheck: the last thread writes past the end of the array.
__global__ void writes_out_of_bounds(int* a, int n) {
  if (threadIdx.x <= static_cast<unsigned>(n)) a[threadIdx.x] = 1;
}

// racecheck: no __syncthreads() lies between the write and the read of another thread's element.
__global__ void races_in_shared_memory(int* a) {
  __shared__ int s[64];
  s[threadIdx.x] = static_cast<int>(threadIdx.x);
  a[threadIdx.x] = s[63 - threadIdx.x];
}

// initcheck: nothing has written a[].
__global__ void reads_uninitialised(const int* a, int* sum) { atomicAdd(sum, a[threadIdx.x]); }

// synccheck: the mask does not name the lanes that call. (Since Volta a __syncthreads() that some
// threads never reach, because they have returned, is no error to synccheck.)
__global__ void barrier_with_foreign_mask(int* a) {
  if (threadIdx.x < 16) __syncwarp(0xffff0000u);
  a[threadIdx.x] = 1;
}

int main(int argc, char** argv) {
  const char* tool = argc > 1 ? argv[1] : "";
  int* a = nullptr;
  int* sum = nullptr;
  if (cudaMalloc(&a, 64 * sizeof(int)) != cudaSuccess ||
      cudaMalloc(&sum, sizeof(int)) != cudaSuccess) {
    std::fprintf(stderr, "no GPU: %s\n", cudaGetErrorString(cudaGetLastError()));
    return 77;
  }
  cudaMemset(sum, 0, sizeof(int));
  if (std::strcmp(tool, "memcheck") == 0) {
    writes_out_of_bounds<<<1, 96>>>(a, 64);
  } else if (std::strcmp(tool, "racecheck") == 0) {
    races_in_shared_memory<<<1, 64>>>(a);
  } else if (std::strcmp(tool, "initcheck") == 0) {
    reads_uninitialised<<<1, 64>>>(a, sum);
  } else if (std::strcmp(tool, "synccheck") == 0) {
    barrier_with_foreign_mask<<<1, 32>>>(a);
  } else {
    std::fprintf(stderr, "usage: %s memcheck|racecheck|initcheck|synccheck\n", argv[0]);
    return 2;
  }
  const cudaError_t error = cudaDeviceSynchronize();
  std::printf("%s: %s\n", tool, cudaGetErrorString(error));
  cudaFree(sum);
  cudaFree(a);
  return 0;
}
