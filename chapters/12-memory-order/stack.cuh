// How do threads share a list of free nodes without a lock, and what is the ABA problem?
// Rungs: aba<Untagged> (wrong on purpose), use_nodes<Tagged64>, use_nodes<Tagged128>.
// Node k is followed by node next[k]; kNoNode ends the list. The head is changed by compare-and-swap.
#pragma once

#include <course/device.cuh>
#include <course/error.cuh>
#include <cstddef>
#include <cuda/atomic>

#include "grid.cuh"
#include "locks.cuh"

constexpr unsigned kNoNode = 0xFFFF'FFFF;

using ull = unsigned long long;

__device__ inline unsigned next_of(unsigned* next, unsigned node) {
  return DeviceWord(next[node]).load(cuda::std::memory_order_relaxed);
}
__device__ inline void set_next(unsigned* next, unsigned node, unsigned follower) {
  DeviceWord(next[node]).store(follower, cuda::std::memory_order_relaxed);
}

// Question: is the index of the first node enough?
// Changes:  pop: load the head, load its follower, and replace the head by it if it is still the
//           same. Push: the other way.
// Cost:     nothing more than one compare-and-swap; but "still the same" is not "unchanged".
struct Untagged {
  struct Head {
    unsigned node;
  };
  static __device__ Head load(Head* head) {
    return {DeviceWord(head->node).load(cuda::std::memory_order_acquire)};
  }
  static __device__ bool replace(Head* head, Head& expected, unsigned node) {
    return DeviceWord(head->node)
        .compare_exchange_strong(expected.node, node, cuda::std::memory_order_acq_rel,
                                 cuda::std::memory_order_acquire);
  }
};

// Question: how does a compare-and-swap notice that the head was changed and changed back?
// Changes:  32 bits beside the index count the changes: a head with the same node differs.
// Cost:     a word of 64 bits instead of 32. The tag wraps after 2^32 changes.
struct Tagged64 {
  struct alignas(8) Head {
    unsigned node, tag;
  };
  static __device__ Head load(Head* head) {
    const cuda::atomic_ref<Head, cuda::thread_scope_device> word(*head);
    return word.load(cuda::std::memory_order_acquire);
  }
  static __device__ bool replace(Head* head, Head& expected, unsigned node) {
    const cuda::atomic_ref<Head, cuda::thread_scope_device> word(*head);
    return word.compare_exchange_strong(expected, {node, expected.tag + 1},
                                        cuda::std::memory_order_acq_rel,
                                        cuda::std::memory_order_acquire);
  }
};

// Question: and if a node is a 64-bit pointer, or 2^32 changes are not enough?
// Changes:  64 bits for the node and 64 bits for the tag: atomicCAS of 16 bytes, from sm_90 on.
// Cost:     a load of 16 bytes that is atomic, for which CUDA 13.0's atomic_ref has no form: PTX has.
struct Tagged128 {
  struct alignas(16) Head {
    ull node, tag;
  };
  static __device__ Head load(Head* head) {
#if defined(__CUDA_ARCH__) && !COURSE_CPU_DEVICE
    Head found;
    asm volatile("{ .reg .b128 head; ld.acquire.gpu.b128 head, [%2]; mov.b128 {%0, %1}, head; }"
                 : "=l"(found.node), "=l"(found.tag)
                 : "l"(head)
                 : "memory");
    return found;
#else
    // The CPU device has no such load. Two loads of 8 bytes may be of two heads; then the
    // compare-and-swap fails, and the loop tries again.
    const volatile Head* const now = head;
    const ull tag = now->tag;
    const Head found = {now->node, tag};
    __threadfence();  // what the pusher wrote before its CAS
    return found;
#endif
  }
  static __device__ bool replace(Head* head, Head& expected, unsigned node) {
    __threadfence();
#if COURSE_CPU_DEVICE || !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
    const Head found = atomicCAS(head, expected, Head{node, expected.tag + 1});
#else
    const Head found = {0, 0};
    __trap();  // the launcher asks first
#endif
    const bool done = found.node == expected.node && found.tag == expected.tag;
    expected = found;
    __threadfence();
    return done;
  }
};

/// Takes the first node; kNoNode if there is none.
template <class Version>
__device__ unsigned pop(typename Version::Head* head, unsigned* next) {
  typename Version::Head first = Version::load(head);
  while (static_cast<unsigned>(first.node) != kNoNode) {
    const auto node = static_cast<unsigned>(first.node);
    if (Version::replace(head, first, next_of(next, node))) return node;
  }
  return kNoNode;
}

/// Makes `node` the first one.
template <class Version>
__device__ void push(typename Version::Head* head, unsigned* next, unsigned node) {
  typename Version::Head first = Version::load(head);
  do {
    set_next(next, node, static_cast<unsigned>(first.node));
  } while (!Version::replace(head, first, node));
}

// Question: does every node have one user at a time?
// Changes:  every thread pops a node, uses it, and pushes it back, `turns` times. A user that finds
//           another one counts it in *d_shared.
// Cost:     two compare-and-swaps per turn on one word, and more where they fail.
template <class Version>
__global__ void use_nodes(unsigned turns, typename Version::Head* d_head, unsigned* d_next,
                          unsigned* d_users, unsigned* d_shared) {
  for (unsigned turn = 0; turn < turns; ++turn) {
    const unsigned node = pop<Version>(d_head, d_next);
    if (node == kNoNode) continue;
    if (atomicAdd(&d_users[node], 1u) != 0) atomicAdd(d_shared, 1u);
    atomicSub(&d_users[node], 1u);
    push<Version>(d_head, d_next, node);
  }
}

// Question: what does it look like, step by step?
// Changes:  thread 0 of block 0 pops, and stops between its look and its compare-and-swap. Block 1
//           meanwhile pops A, pops B, and pushes A again; it keeps B. Then block 0 goes on.
// Cost:     if the compare-and-swap succeeds, B is at the head, and has a user: *d_head says so.
template <class Version>
__global__ void aba(typename Version::Head* d_head, unsigned* d_next, unsigned* d_step,
                    unsigned* d_kept) {
  const DeviceWord step(*d_step);
  if (threadIdx.x != 0) return;
  if (blockIdx.x == 0) {
    typename Version::Head first = Version::load(d_head);
    const unsigned second = next_of(d_next, static_cast<unsigned>(first.node));
    step.store(1, cuda::std::memory_order_release);
    while (step.load(cuda::std::memory_order_acquire) != 2) {
    }
    d_kept[0] = Version::replace(d_head, first, second) ? static_cast<unsigned>(first.node)
                                                        : pop<Version>(d_head, d_next);
  } else {
    while (step.load(cuda::std::memory_order_acquire) != 1) {
    }
    const unsigned a = pop<Version>(d_head, d_next);
    d_kept[1] = pop<Version>(d_head, d_next);  // B
    push<Version>(d_head, d_next, a);
    step.store(2, cuda::std::memory_order_release);
  }
}

/// True where atomicCAS of 16 bytes exists: sm_90 and newer, and the CPU device. Throws CudaError.
inline bool has_wide_compare_and_swap() {
  int major = 0;
  CUDA_CHECK(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, 0));
  return course::kCpuDevice || major >= 9;
}
