// Exercise host_program: everything that a program does around a kernel, from cudaMalloc to cudaFree.
//
// hello_sum.cu does it in main(), which ends at the first error. This is a function that others
// call: at an error it throws, after it has given everything back. The kernel is complete.
//
// Try it: ./course check host_program
#pragma once

#include <course/error.cuh>
#include <course/exercise.cuh>
#include <cstddef>
#include <cstdint>

/// Kernel, complete: y[i] is the state of a generator of random numbers that starts with x[i] and
/// takes `steps` steps. Right for every one-dimensional grid with at least n threads.
__global__ void advance(const std::uint32_t* x, std::size_t n, unsigned steps, std::uint64_t* y) {
  const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i >= n) return;
  std::uint64_t state = x[i];
  for (unsigned step = 0; step < steps; ++step) {
    state = state * 6364136223846793005u + 1442695040888963407u;
  }
  y[i] = state;
}

/// What host_program has taken from CUDA. The destructor gives it back, also when an error is
/// thrown: cudaFree(nullptr) does nothing, and a destructor must not throw.
struct Taken {
  std::uint32_t* d_x = nullptr;
  std::uint64_t* d_y = nullptr;
  cudaEvent_t start = nullptr, stop = nullptr;

  Taken() = default;
  Taken(const Taken&) = delete;
  Taken& operator=(const Taken&) = delete;
  ~Taken() {
    if (stop != nullptr) static_cast<void>(cudaEventDestroy(stop));
    if (start != nullptr) static_cast<void>(cudaEventDestroy(start));
    static_cast<void>(cudaFree(d_y));
    static_cast<void>(cudaFree(d_x));
  }
};

/// Host function: runs the kernel above on n numbers in host memory, and returns its time.
/// - h_x and h_y have n elements each. It reads h_x and writes h_y, and nothing else of the caller's.
/// - It launches the kernel once, in as many blocks of `block` threads (at least 1) as n elements
///   need, which are fewer than 2^31, and no more.
/// - It returns the time of the kernel alone in microseconds: of all of it, and of no copy, memset
///   or allocation.
/// - n == 0 launches nothing, returns 0, and is no error.
/// - If a CUDA call fails, or CUDA refuses the launch, it throws course::CudaError with the code of
///   that error, the first one. h_y may then hold anything. Only calls that give something back,
///   such as cudaFree, may fail unnoticed.
/// - It gives back all memory, events and streams that it took, also when it throws.
/// - A cudaGetLastError() after it finds no error, unless a call that gives something back failed.
inline double host_program(const std::uint32_t* h_x, std::size_t n, unsigned steps, unsigned block,
                           std::uint64_t* h_y) {
  if (n == 0) return 0;  // a grid of no blocks is a launch error
  Taken taken;
  CUDA_CHECK(cudaMalloc(&taken.d_x, n * sizeof(*h_x)));
  CUDA_CHECK(cudaMalloc(&taken.d_y, n * sizeof(*h_y)));
  CUDA_CHECK(cudaEventCreate(&taken.start));
  CUDA_CHECK(cudaEventCreate(&taken.stop));
  CUDA_CHECK(cudaMemcpy(taken.d_x, h_x, n * sizeof(*h_x), cudaMemcpyHostToDevice));

  const auto blocks = static_cast<unsigned>((n + block - 1) / block);
  CUDA_CHECK(cudaEventRecord(taken.start));
  advance<<<blocks, block>>>(taken.d_x, n, steps, taken.d_y);
  CUDA_CHECK_LAUNCH();  // was it refused?
  CUDA_CHECK(cudaEventRecord(taken.stop));
  CUDA_CHECK(cudaEventSynchronize(taken.stop));  // waits: the launch has only started the kernel
  float milliseconds = 0;
  CUDA_CHECK(cudaEventElapsedTime(&milliseconds, taken.start, taken.stop));

  CUDA_CHECK(cudaMemcpy(h_y, taken.d_y, n * sizeof(*h_y), cudaMemcpyDeviceToHost));
  return 1000 * static_cast<double>(milliseconds);
}
