// What clangd reads before a CUDA file; .clangd names it. It parses the file as CUDA, with the CPU device's headers in
// place of the toolkit's, whose functions may be called from kernels and from the host. Nothing else includes this file.
#pragma once

#define SIMT_EDITOR
#define __global__ __attribute__((global))
#define __device__ __attribute__((device))
#define __host__ __attribute__((host))
#define __constant__ __attribute__((constant))
#define __managed__ __attribute__((managed))
#define __shared__ __attribute__((shared))

// C's functions may be called from kernels as well. Those of the C++ library are the host's, but for what is constexpr.
#pragma clang force_cuda_host_device begin
#include <stdio.h>
#include <string.h>
#pragma clang force_cuda_host_device end
#include <stdlib.h>

#include <array>
#include <functional>
#include <memory>
#include <new>
#include <string>
#include <vector>
#pragma clang force_cuda_host_device begin
#include <math.h>

#include <cmath>
#pragma clang force_cuda_host_device end
#include <algorithm>
#include <atomic>
#include <bit>
#include <complex>
#include <limits>
#include <optional>
#include <tuple>
#include <utility>

#define __syncthreads simt_syncthreads  // which clang has built in
#pragma clang force_cuda_host_device begin
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>
#include <simt/reductions.hpp>

#include <cuda/atomic>
#pragma clang force_cuda_host_device end
#undef __syncthreads

/// What clang looks for in a launch.
unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, size_t shared_bytes = 0,
                                     cudaStream_t stream = nullptr);
