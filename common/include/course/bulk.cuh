// Bulk operations and the barriers that count their bytes (chapter 13). A thread starts a copy of up to
// 2^20 bytes between global and shared memory with one instruction, and a unit of the SM moves them:
// no registers, no other threads. Such a barrier also counts what other blocks of the cluster store
// (chapter 15). From compute capability 9.0 on; code for older GPUs compiles, and must not be launched
// there (course::has_clusters()).
//
// Addresses and sizes are multiples of 16 bytes.
//
// Example (common/tests/examples_test.cu):
//
//   __global__ void copy_tile(const float* d_x, float* d_y) {
//     __shared__ alignas(16) float s_x[256];
//     __shared__ course::Mbarrier s_loaded;
//     if (threadIdx.x == 0) course::mbarrier_init(&s_loaded, 1);
//     __syncthreads();  // the barrier is there
//     if (threadIdx.x == 0) {
//       course::mbarrier_arrive_expect(&s_loaded, sizeof s_x);
//       course::bulk_load(s_x, d_x, sizeof s_x, &s_loaded);
//     }
//     course::mbarrier_wait(&s_loaded, 0);  // all threads that read s_x
//     d_y[threadIdx.x] = s_x[threadIdx.x];
//   }
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include <course/cluster.cuh>
#include <course/device.cuh>
#include <cstdint>
#include <cstring>
#include <type_traits>
#if COURSE_CPU_DEVICE
#include <simt/bulk.hpp>
#endif

namespace course {

#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900 && !COURSE_CPU_DEVICE
#define COURSE_HAS_BULK 1
#else
#define COURSE_HAS_BULK 0
#endif

/// A barrier in shared memory. A phase of it ends when as many arrivals have come as mbarrier_init() said,
/// and all bytes that they said they expect. Then the next phase begins. The parity of the first phase
/// is 0, that of the second one 1, that of the third one 0 again.
#if COURSE_CPU_DEVICE
using Mbarrier = simt::ByteBarrier;
#else
struct alignas(8) Mbarrier {
  unsigned long long state;
};
#endif

namespace detail {
/// The address of shared memory as PTX has it.
__device__ __forceinline__ unsigned in_shared(const void* p) {
  return static_cast<unsigned>(__cvta_generic_to_shared(p));
}
}  // namespace detail

/// One thread sets the barrier up; a __syncthreads() makes it known to the others.
__device__ __forceinline__ void mbarrier_init(Mbarrier* b, unsigned arrivals) {
#if COURSE_HAS_BULK
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;"
               :
               : "r"(detail::in_shared(b)), "r"(arrivals)
               : "memory");
  asm volatile("fence.proxy.async.shared::cta;" : : : "memory");  // bulk operations know of it, too
#elif COURSE_CPU_DEVICE
  simt::init_barrier(b, arrivals);
#endif
}

/// Arrives: what this thread did before comes before what others do after they have waited.
__device__ __forceinline__ void mbarrier_arrive(Mbarrier* b) {
#if COURSE_HAS_BULK
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" : : "r"(detail::in_shared(b)) : "memory");
#elif COURSE_CPU_DEVICE
  simt::arrive(b, 0);
#endif
}

/// Arrives, and the phase waits for `bytes` of bulk loads, too. Call it before the loads.
__device__ __forceinline__ void mbarrier_arrive_expect(Mbarrier* b, unsigned bytes) {
#if COURSE_HAS_BULK
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;"
               :
               : "r"(detail::in_shared(b)), "r"(bytes)
               : "memory");
#elif COURSE_CPU_DEVICE
  simt::arrive(b, bytes);
#endif
}

/// Waits for the end of the phase of this parity. It returns at once if that phase is over and the next
/// one is not.
__device__ __forceinline__ void mbarrier_wait(Mbarrier* b, unsigned parity) {
#if COURSE_HAS_BULK
  asm volatile(
      "{ .reg .pred over; look_%=: mbarrier.try_wait.parity.shared::cta.b64 over, [%0], %1;"
      "  @!over bra look_%=; }"
      :
      : "r"(detail::in_shared(b)), "r"(parity)
      : "memory");
#elif COURSE_CPU_DEVICE
  while (!simt::is_phase_over(b, parity)) {
  }
#endif
}

/// s_to[0..bytes-1] = d_from[0..bytes-1]; the barrier's phase counts the bytes.
__device__ __forceinline__ void bulk_load(void* s_to, const void* d_from, unsigned bytes,
                                          Mbarrier* b) {
#if COURSE_HAS_BULK
  asm volatile(
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];"
      :
      : "r"(detail::in_shared(s_to)), "l"(__cvta_generic_to_global(d_from)), "r"(bytes),
        "r"(detail::in_shared(b))
      : "memory");
#elif COURSE_CPU_DEVICE
  simt::bulk_load(s_to, d_from, bytes, b);
#endif
}

/// The variable `s` of the block of that rank in the cluster = value; the phase of that block's barrier `b` counts the
/// bytes. `s` and `b` are given as this block's own variables. T has whole words of 4 bytes. The call waits for
/// nothing, and a barrier of the cluster waits until stores to global memory have ended, too.
template <class T>
__device__ __forceinline__ void store_async(T* s, unsigned rank, const T& value, Mbarrier* b) {
  static_assert(std::is_trivially_copyable_v<T> && sizeof(T) % 4 == 0, "a value of 4-byte words");
#if COURSE_HAS_BULK
  unsigned to, count, words[sizeof(T) / 4];
  memcpy(words, &value, sizeof value);
  asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(to) : "r"(detail::in_shared(s)), "r"(rank));
  asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(count) : "r"(detail::in_shared(b)), "r"(rank));
#pragma unroll
  for (unsigned w = 0; w < sizeof(T) / 4; ++w) {
    asm volatile("st.async.shared::cluster.mbarrier::complete_tx::bytes.b32 [%0], %1, [%2];"
                 :
                 : "r"(to + 4 * w), "r"(words[w]), "r"(count)
                 : "memory");
  }
#elif COURSE_CPU_DEVICE
  const auto cluster = this_cluster();
  simt::store_async(cluster.map_shared_rank(s, static_cast<int>(rank)), &value, sizeof value,
                    cluster.map_shared_rank(b, static_cast<int>(rank)));
#endif
}

/// d_to[i] += s_from[i] for `count` numbers: float, __half or __nv_bfloat16. Each is added atomically, all
/// together are not. The source is read at any time until bulk_wait_read(). What threads have written
/// there needs fence_before_bulk().
template <class T>
__device__ __forceinline__ void bulk_add(T* d_to, const T* s_from, unsigned count) {
  static_assert(std::is_same_v<T, float> || std::is_same_v<T, __half> ||
                std::is_same_v<T, __nv_bfloat16>);
#if COURSE_HAS_BULK
  const auto to = __cvta_generic_to_global(d_to);
  const unsigned from = detail::in_shared(s_from), bytes = count * sizeof(T);
  if constexpr (std::is_same_v<T, float>) {
    asm volatile("cp.reduce.async.bulk.global.shared::cta.bulk_group.add.f32 [%0], [%1], %2;"
                 :
                 : "l"(to), "r"(from), "r"(bytes)
                 : "memory");
  } else if constexpr (std::is_same_v<T, __half>) {
    asm volatile("cp.reduce.async.bulk.global.shared::cta.bulk_group.add.noftz.f16 [%0], [%1], %2;"
                 :
                 : "l"(to), "r"(from), "r"(bytes)
                 : "memory");
  } else {
    asm volatile("cp.reduce.async.bulk.global.shared::cta.bulk_group.add.noftz.bf16 [%0], [%1], %2;"
                 :
                 : "l"(to), "r"(from), "r"(bytes)
                 : "memory");
  }
#elif COURSE_CPU_DEVICE
  simt::bulk_add(d_to, s_from, static_cast<unsigned>(count * sizeof(T)));
#endif
}

/// Ends this thread's group of bulk additions.
__device__ __forceinline__ void bulk_commit() {
#if COURSE_HAS_BULK
  asm volatile("cp.async.bulk.commit_group;" : : : "memory");
#elif COURSE_CPU_DEVICE
  simt::commit_bulk_group();
#endif
}

/// Waits until all groups of this thread but the `newest` ones have read their sources: these may be
/// written again, and the thread may leave.
template <int newest = 0>
__device__ __forceinline__ void bulk_wait_read() {
#if COURSE_HAS_BULK
  asm volatile("cp.async.bulk.wait_group.read %0;" : : "n"(newest) : "memory");
#elif COURSE_CPU_DEVICE
  simt::wait_for_bulk_groups(newest);
#endif
}

/// What this thread has written to shared memory, or knows of by a barrier, may be read by bulk operations
/// that follow, also by those of other threads that a barrier orders after this call.
__device__ __forceinline__ void fence_before_bulk() {
#if COURSE_HAS_BULK
  asm volatile("fence.proxy.async.shared::cta;" : : : "memory");
#elif COURSE_CPU_DEVICE
  simt::bulk_fence();
#endif
}

}  // namespace course
