// Construct: a kernel that waits for a kernel, a copy or a function of the host in another stream. Expect: runs.
#include <cstdio>

#define CHECK(call)                                                      \
  do {                                                                   \
    const cudaError_t error = call;                                      \
    if (error != cudaSuccess) {                                          \
      std::printf("FAILED: %s: %s\n", #call, cudaGetErrorString(error)); \
      return 1;                                                          \
    }                                                                    \
  } while (0)

__global__ void wait_volatile(volatile int* flag, const int* data, int* result) {
  while (*flag == 0) {
  }
  __threadfence();
  *result = *data;
}

__global__ void wait_atomic(int* flag, const int* data, int* result) {
  if (threadIdx.x == 0) {
    while (atomicAdd(flag, 0) == 0) __nanosleep(100);
    __threadfence();
  }
  __syncthreads();
  result[threadIdx.x] = *data;
}

__global__ void wait_with_barriers(volatile int* flag, const int* data, int* result) {
  while (__syncthreads_or(threadIdx.x == 0 && *flag != 0) == 0) {
  }
  __threadfence();
  result[threadIdx.x] = *data;
}

__global__ void set(int* data, int* flag) {
  *data = 42;
  __threadfence();
  atomicExch(flag, 1);
}

/// Waits for one flag, and sets the next.
__global__ void pass_on(int* flag, int* next) {
  while (atomicCAS(flag, 1, 1) != 1) {
  }
  __threadfence();
  atomicExch(next, 1);
}

__global__ void wait_mapped(volatile int* flag, int* result) {
  while (*flag == 0) {
  }
  *result = 42;
}

int main() {
  constexpr int kThreads = 64;
  int *flags, *data, *result, host[kThreads], *mapped;
  cudaStream_t first, second, third;
  CHECK(cudaMalloc(&flags, 3 * sizeof(int)));
  CHECK(cudaMalloc(&data, sizeof(int)));
  CHECK(cudaMalloc(&result, sizeof host));
  CHECK(cudaMallocHost(&mapped, sizeof(int)));
  CHECK(cudaStreamCreateWithFlags(&first, cudaStreamNonBlocking));
  CHECK(cudaStreamCreateWithFlags(&second, cudaStreamNonBlocking));
  CHECK(cudaStreamCreateWithFlags(&third, cudaStreamNonBlocking));
  int wrong = 0;

  // A GPU loads a kernel when it is first asked for, and may wait for kernels that run: one that others wait for has to be there
  // before they begin.
  cudaFuncAttributes attributes;
  CHECK(cudaFuncGetAttributes(&attributes, set));
  CHECK(cudaFuncGetAttributes(&attributes, pass_on));

  for (int way = 0; way < 4; ++way) {
    CHECK(cudaMemset(flags, 0, 3 * sizeof(int)));
    CHECK(cudaMemset(data, 0, sizeof(int)));
    CHECK(cudaDeviceSynchronize());
    if (way == 0) wait_volatile<<<1, 1, 0, first>>>(flags, data, result);
    if (way == 1) wait_atomic<<<1, kThreads, 0, first>>>(flags, data, result);
    if (way == 2) wait_with_barriers<<<1, kThreads, 0, first>>>(flags, data, result);
    if (way == 3) {  // the first waits for the second, which waits for the third
      wait_atomic<<<1, kThreads, 0, first>>>(flags, data, result);
      pass_on<<<1, 1, 0, second>>>(flags + 1, flags);
      set<<<1, 1, 0, third>>>(data, flags + 1);
    } else {
      set<<<1, 1, 0, second>>>(data, flags);
    }
    CHECK(cudaStreamSynchronize(first));
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaMemcpy(host, result, sizeof host, cudaMemcpyDeviceToHost));
    wrong += host[0] != 42;
  }

  // The host asks whether the kernel has ended, and lets it go on.
  *mapped = 0;
  wait_mapped<<<1, 1, 0, first>>>(mapped, result);
  for (int i = 0; cudaStreamQuery(first) == cudaErrorNotReady; ++i) {
    if (i == 2) *static_cast<volatile int*>(mapped) = 1;
  }
  CHECK(cudaStreamSynchronize(first));

  // A function of the host does.
  *mapped = 0;
  wait_mapped<<<1, 1, 0, first>>>(mapped, result);
  CHECK(cudaLaunchHostFunc(
      second, [](void* flag) { *static_cast<volatile int*>(flag) = 1; }, mapped));
  CHECK(cudaStreamSynchronize(first));
  CHECK(cudaDeviceSynchronize());
  std::printf("%s\n", wrong ? "FAILED" : "ok");
  return wrong;
}
