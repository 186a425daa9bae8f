// What clang reads before a .cu file as CUDA, with the CPU device's headers in place of the toolkit's: its own front end, as a
// precompiled header (common/build/compiler/front_end.py), and clangd, which .clangd tells of it. It says who may call whom,
// and nothing is compiled. What kernels may call of C's library is declared for both; of the C++ library they may call what
// is constexpr, but no member of a vector or a string. Nothing else includes this file.
#pragma once

#include <new>
#define __CLANG_CUDA_WRAPPERS_NEW  // its operators of the device hide those of the host in a precompiled header

#define SIMT_EDITOR
#define __global__ __attribute__((global))
#define __device__ __attribute__((device))
#define __host__ __attribute__((host))
#define __constant__ __attribute__((constant))
#define __managed__ __attribute__((managed))
#define __shared__ __attribute__((shared))

#pragma clang force_cuda_host_device begin
#include <assert.h>
#include <string.h>
#include <time.h>
#pragma clang force_cuda_host_device end
#include <stdio.h>
#include <stdlib.h>

#include <array>
#include <memory>
#include <optional>
#include <ranges>
#include <tuple>
#include <utility>
#pragma clang attribute push(__attribute__((host)), apply_to = function(is_member))
#include <string>
#include <vector>
#pragma clang attribute pop
#include <functional>

extern "C" {
__device__ int printf(const char* __restrict, ...);
__device__ void* malloc(size_t);
__device__ void free(void*);
__device__ int abs(int) noexcept;
__device__ long labs(long) noexcept;
__device__ long long llabs(long long) noexcept;
}
namespace std {
using ::abs, ::free, ::labs, ::llabs, ::malloc, ::printf;
__device__ long abs(long);
__device__ long long abs(long long);
__device__ float abs(float);
__device__ double abs(double);
}  // namespace std

#pragma clang force_cuda_host_device begin
#include <math.h>

#include <cmath>
#pragma clang force_cuda_host_device end
#include <algorithm>
#include <atomic>
#include <bit>
#include <complex>
#include <limits>
#pragma clang force_cuda_host_device begin
#include <bitset>  // cuda::std has these
#include <chrono>
#include <numeric>
#include <span>
#pragma clang force_cuda_host_device end

#define __syncthreads simt_syncthreads  // which clang has built in
#pragma clang force_cuda_host_device begin
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>
#include <cuComplex.h>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_pipeline.h>
#include <cuda_runtime.h>

#include <cuda/atomic>
#include <cuda/barrier>
#include <cuda/cmath>
#include <cuda/functional>
#include <cuda/latch>
#include <cuda/pipeline>
#include <cuda/semaphore>
#include <simt/reductions.hpp>
#pragma clang force_cuda_host_device end
#undef __syncthreads

/// What clang looks for in a launch.
unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, size_t shared_bytes = 0,
                                     cudaStream_t stream = nullptr);
