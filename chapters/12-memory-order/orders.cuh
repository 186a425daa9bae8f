// How may a thread access memory that other threads access at the same time?
// The same store, load and fence for every rung of litmus.cuh: only the order and the scope differ.
#pragma once

#include <cuda/atomic>

enum class Order {
  relaxed,          // atomic, device scope, orders nothing else
  volatile_access,  // volatile: a relaxed access of system scope, that the compiler may not drop
  block_fence,      // relaxed, with __threadfence_block() between two accesses
  release_acquire,  // every store releases, every load acquires, device scope
  device_fence,     // relaxed, with __threadfence() between two accesses
  seq_cst           // every access is sequentially consistent, device scope
};

/// The memory order that cuda::atomic_ref is given for a store, and for a load.
template <Order order>
constexpr cuda::std::memory_order kStoreOrder =
    order == Order::seq_cst           ? cuda::std::memory_order_seq_cst
    : order == Order::release_acquire ? cuda::std::memory_order_release
                                      : cuda::std::memory_order_relaxed;
template <Order order>
constexpr cuda::std::memory_order kLoadOrder =
    order == Order::seq_cst           ? cuda::std::memory_order_seq_cst
    : order == Order::release_acquire ? cuda::std::memory_order_acquire
                                      : cuda::std::memory_order_relaxed;

template <Order order>
__device__ void store(unsigned* address, unsigned value) {
  if constexpr (order == Order::volatile_access) {
    *static_cast<volatile unsigned*>(address) = value;
  } else {
    cuda::atomic_ref<unsigned, cuda::thread_scope_device>(*address).store(value,
                                                                          kStoreOrder<order>);
  }
}

template <Order order>
__device__ unsigned load(unsigned* address) {
  if constexpr (order == Order::volatile_access) {
    return *static_cast<volatile unsigned*>(address);
  } else {
    return cuda::atomic_ref<unsigned, cuda::thread_scope_device>(*address).load(kLoadOrder<order>);
  }
}

/// Between two accesses of one thread.
template <Order order>
__device__ void fence() {
  if constexpr (order == Order::block_fence) __threadfence_block();
  if constexpr (order == Order::device_fence) __threadfence();
}
