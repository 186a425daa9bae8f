// What CUDA C++ has no function for: instructions that a GPU build reaches by inline PTX. The CPU
// device, and GPUs too old for an instruction, run the same thing in C++. Lane masks: chapter 09
// (09-warp-aggregated); reductions of halves: 07 and 08; cache hints and tickets: 05.
//
// Example (common/tests/examples_test.cu):
//
//   __global__ void add_eight_halves(__half2* d_y, __half2 v) {
//     const __half2 values[4] = {v, v, v, v};
//     course::red_add_v4(d_y, values);  // sm_90: one RED, and no wait for the old values
//   }
#pragma once

#include <course/device.cuh>

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include <cstring>
#include <type_traits>
#if COURSE_CPU_DEVICE
#include <simt/reductions.hpp>
#endif

namespace course {

// ---- lanes -------------------------------------------------------------------------------------

/// The calling thread's index in its warp, 0 to 31. Unlike threadIdx.x % 32 it is right for blocks
/// of two and three dimensions.
__device__ __forceinline__ unsigned lane_id() {
#if defined(__CUDA_ARCH__) && !COURSE_CPU_DEVICE
  unsigned lane;
  asm("mov.u32 %0, %%laneid;" : "=r"(lane));
  return lane;
#else
  return (threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z)) % 32;
#endif
}

/// A mask with the calling lane's bit alone.
__device__ __forceinline__ unsigned lanemask_eq() {
#if defined(__CUDA_ARCH__) && !COURSE_CPU_DEVICE
  unsigned mask;
  asm("mov.u32 %0, %%lanemask_eq;" : "=r"(mask));
  return mask;
#else
  return 1u << lane_id();
#endif
}

/// The bits of all lanes before the calling one: __popc(ballot & lanemask_lt()) is a lane's rank
/// among those that voted.
__device__ __forceinline__ unsigned lanemask_lt() {
#if defined(__CUDA_ARCH__) && !COURSE_CPU_DEVICE
  unsigned mask;
  asm("mov.u32 %0, %%lanemask_lt;" : "=r"(mask));
  return mask;
#else
  return (1u << lane_id()) - 1;
#endif
}

/// The bits of all lanes up to the calling one.
__device__ __forceinline__ unsigned lanemask_le() {
#if defined(__CUDA_ARCH__) && !COURSE_CPU_DEVICE
  unsigned mask;
  asm("mov.u32 %0, %%lanemask_le;" : "=r"(mask));
  return mask;
#else
  return lanemask_lt() | lanemask_eq();
#endif
}

/// The bits of all lanes after the calling one.
__device__ __forceinline__ unsigned lanemask_gt() {
#if defined(__CUDA_ARCH__) && !COURSE_CPU_DEVICE
  unsigned mask;
  asm("mov.u32 %0, %%lanemask_gt;" : "=r"(mask));
  return mask;
#else
  return ~lanemask_le();
#endif
}

/// The bits of all lanes from the calling one on.
__device__ __forceinline__ unsigned lanemask_ge() {
#if defined(__CUDA_ARCH__) && !COURSE_CPU_DEVICE
  unsigned mask;
  asm("mov.u32 %0, %%lanemask_ge;" : "=r"(mask));
  return mask;
#else
  return ~lanemask_lt();
#endif
}

// ---- reductions on global memory ---------------------------------------------------------------
// RED adds without returning the old value: the warp does not wait for an answer. Every element is
// added atomically, a pair or a vector of them is not: another thread may read it half updated.
// All pointers must point to global memory, and v must not alias it. The CPU device is an sm_90: it
// makes one request where that makes one. PTX has minimum and maximum of 16-bit numbers as well, of
// 2, 4 or 8 numbers in global memory; the functions here are for 2 and for 8.

/// p[0] += v: one RED of two halves, from sm_60 on. p needs 4-byte alignment.
__device__ __forceinline__ void red_add(__half2* p, __half2 v) {
#if defined(__CUDA_ARCH__) && !COURSE_CPU_DEVICE
  const unsigned* const bits = reinterpret_cast<const unsigned*>(&v);
  asm volatile("red.global.add.noftz.f16x2 [%0], %1;"
               :
               : "l"(__cvta_generic_to_global(p)), "r"(bits[0])
               : "memory");
#else
  atomicAdd(p, v);
#endif
}

/// p[0] += v: two bfloat16, one RED from sm_90 on, a compare-and-swap loop before. p needs 4-byte
/// alignment.
__device__ __forceinline__ void red_add(__nv_bfloat162* p, __nv_bfloat162 v) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900 && !COURSE_CPU_DEVICE
  const unsigned* const bits = reinterpret_cast<const unsigned*>(&v);
  asm volatile("red.global.add.noftz.bf16x2 [%0], %1;"
               :
               : "l"(__cvta_generic_to_global(p)), "r"(bits[0])
               : "memory");
#else
  atomicAdd(p, v);
#endif
}

/// p[0..1] += v[0..1]: four halves, one RED from sm_90 on, two before. p needs 8-byte alignment.
__device__ __forceinline__ void red_add_v2(__half2* p, const __half2 (&v)[2]) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900 && !COURSE_CPU_DEVICE
  const unsigned* const bits = reinterpret_cast<const unsigned*>(v);
  asm volatile("red.global.add.noftz.v2.f16x2 [%0], {%1, %2};"
               :
               : "l"(__cvta_generic_to_global(p)), "r"(bits[0]), "r"(bits[1])
               : "memory");
#elif COURSE_CPU_DEVICE
  simt::reduce_add(p, v);
#else
  for (int i = 0; i < 2; ++i) red_add(p + i, v[i]);
#endif
}

/// p[0..3] += v[0..3]: eight halves, one RED from sm_90 on, four before. p needs 16-byte alignment.
__device__ __forceinline__ void red_add_v4(__half2* p, const __half2 (&v)[4]) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900 && !COURSE_CPU_DEVICE
  const unsigned* const bits = reinterpret_cast<const unsigned*>(v);
  asm volatile("red.global.add.noftz.v4.f16x2 [%0], {%1, %2, %3, %4};"
               :
               : "l"(__cvta_generic_to_global(p)), "r"(bits[0]), "r"(bits[1]), "r"(bits[2]),
                 "r"(bits[3])
               : "memory");
#elif COURSE_CPU_DEVICE
  simt::reduce_add(p, v);
#else
  for (int i = 0; i < 4; ++i) red_add(p + i, v[i]);
#endif
}

namespace detail {

/// The bits of a pair of 16-bit numbers, the low one below; and back.
template <class Pair>
__device__ __forceinline__ unsigned bits_of_pair(Pair pair) {
  unsigned bits;
  memcpy(&bits, &pair, sizeof bits);
  return bits;
}
template <class Pair>
__device__ __forceinline__ Pair pair_of_bits(unsigned bits) {
  Pair pair;
  memcpy(static_cast<void*>(&pair), &bits, sizeof pair);
  return pair;
}

}  // namespace detail

/// Replaces p[0] by f(p[0]) in one atomic step: a compare-and-swap loop on the word, for every
/// operation on a pair of halves or of bfloat16 that a GPU has no instruction for. f may run several
/// times. Global or shared memory; p needs 4-byte alignment.
template <class Pair, class F>
__device__ __forceinline__ void update_pair(Pair* p, F f) {
  unsigned* const word = reinterpret_cast<unsigned*>(p);
  unsigned old = *static_cast<volatile unsigned*>(word);  // a guess, which atomicCAS confirms
  unsigned assumed;
  do {
    assumed = old;
    const Pair next = f(detail::pair_of_bits<Pair>(assumed));
    old = atomicCAS(word, assumed, detail::bits_of_pair(next));
  } while (old != assumed);
}

/// p[0] = the smaller of p[0] and v, each number for itself: two halves or two bfloat16, one RED from
/// sm_90 on (CUDA C++ has no function for it), a compare-and-swap loop before. p needs 4-byte
/// alignment. As __hmin2: a number beats a NaN, two NaN give the NaN 0x7FFF, and -0.0 is less than
/// 0.0. Subnormals stay.
template <class Pair>
__device__ __forceinline__ void red_min(Pair* p, Pair v) {
  static_assert(std::is_same_v<Pair, __half2> || std::is_same_v<Pair, __nv_bfloat162>);
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900 && !COURSE_CPU_DEVICE
  const auto at = __cvta_generic_to_global(p);
  const unsigned bits = detail::bits_of_pair(v);
  if constexpr (std::is_same_v<Pair, __half2>) {
    asm volatile(
        "{ .reg .b16 low, high; mov.b32 {low, high}, %1;"
        "  red.global.min.noftz.v2.f16 [%0], {low, high}; }"
        :
        : "l"(at), "r"(bits)
        : "memory");
  } else {
    asm volatile(
        "{ .reg .b16 low, high; mov.b32 {low, high}, %1;"
        "  red.global.min.noftz.v2.bf16 [%0], {low, high}; }"
        :
        : "l"(at), "r"(bits)
        : "memory");
  }
#elif COURSE_CPU_DEVICE
  const Pair one[1] = {v};
  simt::reduce_min(p, one);
#else
  update_pair(p, [v](Pair old) { return __hmin2(old, v); });
#endif
}

/// The same with the larger number, as __hmax2.
template <class Pair>
__device__ __forceinline__ void red_max(Pair* p, Pair v) {
  static_assert(std::is_same_v<Pair, __half2> || std::is_same_v<Pair, __nv_bfloat162>);
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900 && !COURSE_CPU_DEVICE
  const auto at = __cvta_generic_to_global(p);
  const unsigned bits = detail::bits_of_pair(v);
  if constexpr (std::is_same_v<Pair, __half2>) {
    asm volatile(
        "{ .reg .b16 low, high; mov.b32 {low, high}, %1;"
        "  red.global.max.noftz.v2.f16 [%0], {low, high}; }"
        :
        : "l"(at), "r"(bits)
        : "memory");
  } else {
    asm volatile(
        "{ .reg .b16 low, high; mov.b32 {low, high}, %1;"
        "  red.global.max.noftz.v2.bf16 [%0], {low, high}; }"
        :
        : "l"(at), "r"(bits)
        : "memory");
  }
#elif COURSE_CPU_DEVICE
  const Pair one[1] = {v};
  simt::reduce_max(p, one);
#else
  update_pair(p, [v](Pair old) { return __hmax2(old, v); });
#endif
}

/// p[0..3] = the smaller ones of p[0..3] and v: eight numbers, one RED from sm_90 on, four loops
/// before. p needs 16-byte alignment.
template <class Pair>
__device__ __forceinline__ void red_min_v4(Pair* p, const Pair (&v)[4]) {
  static_assert(std::is_same_v<Pair, __half2> || std::is_same_v<Pair, __nv_bfloat162>);
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900 && !COURSE_CPU_DEVICE
  const auto at = __cvta_generic_to_global(p);
  const unsigned* const bits = reinterpret_cast<const unsigned*>(v);
  if constexpr (std::is_same_v<Pair, __half2>) {
    asm volatile("red.global.min.noftz.v4.f16x2 [%0], {%1, %2, %3, %4};"
                 :
                 : "l"(at), "r"(bits[0]), "r"(bits[1]), "r"(bits[2]), "r"(bits[3])
                 : "memory");
  } else {
    asm volatile("red.global.min.noftz.v4.bf16x2 [%0], {%1, %2, %3, %4};"
                 :
                 : "l"(at), "r"(bits[0]), "r"(bits[1]), "r"(bits[2]), "r"(bits[3])
                 : "memory");
  }
#elif COURSE_CPU_DEVICE
  simt::reduce_min(p, v);
#else
  for (int i = 0; i < 4; ++i) red_min(p + i, v[i]);
#endif
}

/// The same with the larger numbers.
template <class Pair>
__device__ __forceinline__ void red_max_v4(Pair* p, const Pair (&v)[4]) {
  static_assert(std::is_same_v<Pair, __half2> || std::is_same_v<Pair, __nv_bfloat162>);
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900 && !COURSE_CPU_DEVICE
  const auto at = __cvta_generic_to_global(p);
  const unsigned* const bits = reinterpret_cast<const unsigned*>(v);
  if constexpr (std::is_same_v<Pair, __half2>) {
    asm volatile("red.global.max.noftz.v4.f16x2 [%0], {%1, %2, %3, %4};"
                 :
                 : "l"(at), "r"(bits[0]), "r"(bits[1]), "r"(bits[2]), "r"(bits[3])
                 : "memory");
  } else {
    asm volatile("red.global.max.noftz.v4.bf16x2 [%0], {%1, %2, %3, %4};"
                 :
                 : "l"(at), "r"(bits[0]), "r"(bits[1]), "r"(bits[2]), "r"(bits[3])
                 : "memory");
  }
#elif COURSE_CPU_DEVICE
  simt::reduce_max(p, v);
#else
  for (int i = 0; i < 4; ++i) red_max(p + i, v[i]);
#endif
}

/// *p += v: two floats, one RED from sm_90 on, two before. p needs 8-byte alignment.
__device__ __forceinline__ void red_add(float2* p, float2 v) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900 && !COURSE_CPU_DEVICE
  asm volatile("red.global.add.v2.f32 [%0], {%1, %2};"
               :
               : "l"(__cvta_generic_to_global(p)), "f"(v.x), "f"(v.y)
               : "memory");
#elif COURSE_CPU_DEVICE
  atomicAdd(p, v);
#else
  atomicAdd(&p->x, v.x);
  atomicAdd(&p->y, v.y);
#endif
}

/// *p += v: four floats, one RED from sm_90 on, four before. p needs 16-byte alignment.
__device__ __forceinline__ void red_add(float4* p, float4 v) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900 && !COURSE_CPU_DEVICE
  asm volatile("red.global.add.v4.f32 [%0], {%1, %2, %3, %4};"
               :
               : "l"(__cvta_generic_to_global(p)), "f"(v.x), "f"(v.y), "f"(v.z), "f"(v.w)
               : "memory");
#elif COURSE_CPU_DEVICE
  atomicAdd(p, v);
#else
  atomicAdd(&p->x, v.x);
  atomicAdd(&p->y, v.y);
  atomicAdd(&p->z, v.z);
  atomicAdd(&p->w, v.w);
#endif
}

// ---- loads of 16 bytes -------------------------------------------------------------------------

/// The cache hint of a load. The CPU device has no caches, and makes the same load for each.
enum class CacheHint {
  none,         // as C++ does it
  read_once,    // __ldcs: read once, evict it first
  no_allocate,  // not into L1, and (from sm_80 on) the L2 fetches 256 bytes at a time
};

/// The 16 bytes at p, which has to be a multiple of 16 in global memory: one load. (No
/// ld.global.nc: it may be moved past barriers, and nvcc 13.0 does so, which makes a warp wait
/// twice.)
template <CacheHint hint>
__device__ __forceinline__ uint4 load_16_bytes(const void* p) {
  const uint4* const from = static_cast<const uint4*>(p);
#if defined(__CUDA_ARCH__) && !COURSE_CPU_DEVICE
  if constexpr (hint == CacheHint::read_once) {
    return __ldcs(from);
  } else if constexpr (hint == CacheHint::no_allocate) {
    uint4 v;
#if __CUDA_ARCH__ >= 800
    asm volatile("ld.global.L1::no_allocate.L2::256B.v4.u32 {%0, %1, %2, %3}, [%4];"
#else
    asm volatile("ld.global.L1::no_allocate.v4.u32 {%0, %1, %2, %3}, [%4];"
#endif
                 : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w)
                 : "l"(__cvta_generic_to_global(from)));
    return v;
  } else {
    return *from;
  }
#else
  return *from;
#endif
}

// ---- tickets -----------------------------------------------------------------------------------

/// atomicInc(p, limit) that also orders memory: what this thread wrote or knows of before the call
/// is seen by the threads that call it on the same address later, and by those that a barrier
/// orders after them. One PTX instruction with acquire and release order, instead of atomicInc()
/// between two calls of __threadfence(), which ask for more (sequentially consistent fences). p
/// points to global memory; the old value is returned.
__device__ __forceinline__ unsigned atomic_inc_acq_rel(unsigned* p, unsigned limit) {
#if defined(__CUDA_ARCH__) && !COURSE_CPU_DEVICE
  unsigned old;
  asm volatile("atom.acq_rel.gpu.global.inc.u32 %0, [%1], %2;"
               : "=r"(old)
               : "l"(__cvta_generic_to_global(p)), "r"(limit)
               : "memory");
  return old;
#else
  __threadfence();
  const unsigned old = atomicInc(p, limit);
  __threadfence();
  return old;
#endif
}

}  // namespace course
