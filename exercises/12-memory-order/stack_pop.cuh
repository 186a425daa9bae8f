// Exercise stack_pop: a list of free nodes that all threads share.
//
// Threads take a node from the list, use it, and put it back. Users report that once in a while two
// threads got the same node, and that other nodes are never seen again.
//
// Try it: ./course check stack_pop
#pragma once

#include <course/error.cuh>
#include <course/exercise.cuh>
#include <cuda/atomic>

NOT_STARTED  // delete this line when you begin

using ull = unsigned long long;

/// The end of the list.
constexpr unsigned kNoNode = 0xFFFF'FFFF;

using Next = cuda::atomic_ref<unsigned, cuda::thread_scope_device>;
using Head = cuda::atomic_ref<ull, cuda::thread_scope_device>;

/// Takes the first node of the list, and returns its number; kNoNode if the list is empty.
/// - The low 32 bits of *head are the first node's number, or kNoNode; the upper 32 bits are yours,
///   and 0 before the first call. next[k] is the node after node k.
/// - Any thread of the grid may call it at any time. No two threads have the same node.
/// - What a thread wrote with ordinary stores before it pushed a node is seen by the thread that
///   pops it.
/// - No thread waits for another one: if a call has to try again, another call has succeeded.
__device__ unsigned pop(ull* head, unsigned* next) {
  // TODO(you): find out why the users are right.
  const Head first(*head);
  ull found = first.load(cuda::std::memory_order_acquire);
  for (;;) {
    const auto node = static_cast<unsigned>(found);
    if (node == kNoNode) return kNoNode;
    const unsigned follower = Next(next[node]).load(cuda::std::memory_order_relaxed);
    if (first.compare_exchange_weak(found, follower, cuda::std::memory_order_acquire,
                                    cuda::std::memory_order_acquire)) {
      return node;
    }
  }
}

/// Makes a node of the calling thread the first one of the list.
/// - The same holds as for pop(): any thread, any time, and no thread waits for another one.
__device__ void push(ull* head, unsigned* next, unsigned node) {
  const Head first(*head);
  ull found = first.load(cuda::std::memory_order_relaxed);
  do {
    Next(next[node]).store(static_cast<unsigned>(found), cuda::std::memory_order_relaxed);
  } while (!first.compare_exchange_weak(found, ull{node}, cuda::std::memory_order_release,
                                        cuda::std::memory_order_relaxed));
}
