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

NOT_STARTED  // delete this line when you begin

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
  // TODO(you): all that main() of hello_sum.cu does, and an error gives back what was taken.
  (void)h_x, (void)n, (void)steps, (void)block, (void)h_y;
  return 0;
}
