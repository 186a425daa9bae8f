// A whole CUDA program, with the CUDA runtime alone: sums numbers on the GPU, and times it.
//   nvcc -O3 hello_sum.cu -o hello_sum && ./hello_sum
// With -DUSE_DP it computes in double instead of float.
#include <cuda_runtime.h>

#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <vector>

#ifdef USE_DP
using Real = double;
#else
using Real = float;
#endif

// Ends the program if a call of the runtime failed: each of them returns an error code.
void check(cudaError_t error, const char* what) {
  if (error == cudaSuccess) return;
  std::fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(error));
  std::exit(1);
}

// Runs on the GPU, once in every thread: thread i adds element i to *sum.
__global__ void add_all(const Real* x, std::size_t n, Real* sum) {
  const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < n) atomicAdd(sum, x[i]);  // the last block has threads left over
}

int main() {
  const std::size_t n = 100'000;
  const std::vector<Real> h_x(n, Real(0.5));  // in host memory

  Real *d_x = nullptr, *d_sum = nullptr;  // in device memory: the host must not read them
  check(cudaMalloc(&d_x, n * sizeof(Real)), "cudaMalloc of x");
  check(cudaMalloc(&d_sum, sizeof(Real)), "cudaMalloc of the sum");
  check(cudaMemcpy(d_x, h_x.data(), n * sizeof(Real), cudaMemcpyHostToDevice), "copy of x");
  check(cudaMemset(d_sum, 0, sizeof(Real)), "clearing the sum");

  cudaEvent_t start, stop;  // marks in the stream of work, with the time at which each is passed
  check(cudaEventCreate(&start), "cudaEventCreate");
  check(cudaEventCreate(&stop), "cudaEventCreate");
  const unsigned threads = 256;
  const unsigned blocks = static_cast<unsigned>((n + threads - 1) / threads);
  check(cudaEventRecord(start), "cudaEventRecord");
  add_all<<<blocks, threads>>>(d_x, n, d_sum);  // returns at once
  check(cudaGetLastError(), "the launch");      // was it refused?
  check(cudaEventRecord(stop), "cudaEventRecord");
  check(cudaEventSynchronize(stop), "the kernel");  // waits; did the kernel fail while it ran?
  float milliseconds = 0;
  check(cudaEventElapsedTime(&milliseconds, start, stop), "cudaEventElapsedTime");

  Real h_sum = 0;
  check(cudaMemcpy(&h_sum, d_sum, sizeof(Real), cudaMemcpyDeviceToHost), "copy of the sum");
  std::printf("the sum of %zu numbers is %.1f\n", n, static_cast<double>(h_sum));
#ifndef SIMT_CPU_DEVICE  // the course's CPU device, which does not model time
  std::printf("the kernel took %.3f ms\n", static_cast<double>(milliseconds));
#endif

  check(cudaEventDestroy(stop), "cudaEventDestroy");
  check(cudaEventDestroy(start), "cudaEventDestroy");
  check(cudaFree(d_sum), "cudaFree");
  check(cudaFree(d_x), "cudaFree");
  return 0;
}
