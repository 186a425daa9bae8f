// CUDA's declaration keywords, and the few compiler features that the CPU device relies on.
#pragma once

// SIMT_CPU_DEVICE comes from common/build/simtcc.py, which defines __CUDACC__ as nvcc does.
#if defined(__CUDACC__) && !defined(SIMT_CPU_DEVICE)
#error "common/simt is the CPU device; a build with nvcc must not see its headers"
#endif

#ifndef SIMT_EDITOR  // for which they are attributes: front_end.hpp
#define __global__
#define __device__
#define __host__
#define __constant__ static
#define __managed__
#endif
#define __forceinline__ inline __attribute__((always_inline))
#define __launch_bounds__(...)
#define __maxnreg__(...)
#define __cluster_dims__(...)  // kernels.py reads it
#define __nv_pure__
#define __align__(n) __attribute__((aligned(n)))
#define __builtin_align__(n) __attribute__((aligned(n)))
#define __grid_constant__
#define __restrict__ __restrict
#ifndef __clang__
#define __builtin_assume(condition) static_cast<void>(0)
#endif

// Kernels are compiled with -fsanitize=thread, which turns every load and store into a call of
// simt's checker. The course's own glue must not be checked: it runs on behalf of a CUDA
// instruction that reports itself.
#define SIMT_UNINSTRUMENTED __attribute__((no_sanitize("thread"), no_sanitize("coverage")))
#if defined(__GNUC__) && !defined(__clang__)
#undef SIMT_UNINSTRUMENTED
#define SIMT_UNINSTRUMENTED __attribute__((no_sanitize_thread, no_sanitize_coverage))
#endif

// A function of the device API: never inlined, so that its return address is the caller's line.
#define SIMT_API SIMT_UNINSTRUMENTED __attribute__((noinline)) inline
#define SIMT_API_TEMPLATE SIMT_UNINSTRUMENTED __attribute__((noinline))
#define SIMT_CALLER __builtin_extract_return_addr(__builtin_return_address(0))

// A function whose loads and stores are its caller's: it is inlined at -O0, too, and leaves no line
// of its own in the debug information.
#ifdef __clang__
#define SIMT_TRANSPARENT inline __attribute__((always_inline, nodebug))
#else
#define SIMT_TRANSPARENT inline __attribute__((always_inline, artificial))
#endif

// What CUDA 12 has, and CUDA 13 no longer, or with other parameters: the compiler names the line and says what to write.
// It is an error, as with nvcc 13. For a program of the reader's own simtcc.py makes it a warning; the library has it all.
#ifndef SIMT_REMOVED
#define SIMT_REMOVED(text) __attribute__((unavailable(text)))
#endif
