// Which results may two or four threads see that store and load at the same time?
// Rungs: message_passing, plain_message, store_buffering, load_buffering, same_address and
// independent_readers, each for every Order.
// A test has two words, x and y, both 0, and roles that threads of different blocks play. A result
// that no order of all accesses one after the other explains is weak.
#pragma once

#include <course/buffer.cuh>
#include <course/launch.cuh>
#include <course/rungs.cuh>
#include <cstddef>

#include "grid.cuh"
#include "orders.cuh"

// Question: if the flag y has been seen, has the message x been seen, too?
// Changes:  role 0 stores the message, then the flag; role 1 loads the flag, then the message.
// Cost:     an acquire load is waited for before the next access; a relaxed one is not.
struct MessagePassing {
  static constexpr unsigned kRoles = 2;
  template <Order order>
  static __device__ unsigned play(unsigned role, unsigned* x, unsigned* y) {
    if (role == 0) {
      store<order>(x, 1);
      fence<order>();
      store<order>(y, 1);
      return 0;
    }
    const unsigned flag = load<order>(y);
    fence<order>();
    return 2 * flag + load<order>(x);
  }
  static __device__ bool is_weak(const unsigned (&seen)[4]) { return seen[1] == 2; }
};

// Question: and if the message is an ordinary variable, as it is in most programs?
// Changes:  x is stored and loaded without an order of its own, and loaded only after the flag.
// Cost:     the same; but without a happens-before edge the two accesses to x are a data race.
struct PlainMessage {
  static constexpr unsigned kRoles = 2;
  template <Order order>
  static __device__ unsigned play(unsigned role, unsigned* x, unsigned* y) {
    if (role == 0) {
      *x = 1;
      fence<order>();
      store<order>(y, 1);
      return 0;
    }
    if (load<order>(y) == 0) return 0;
    fence<order>();
    return 2 + *x;
  }
  static __device__ bool is_weak(const unsigned (&seen)[4]) { return seen[1] == 2; }
};

// Question: two threads announce themselves, then each looks for the other one: can both miss it?
// Changes:  each role stores one word, then loads the other word.
// Cost:     only a sequentially consistent fence holds a load back until an earlier store is visible.
struct StoreBuffering {
  static constexpr unsigned kRoles = 2;
  template <Order order>
  static __device__ unsigned play(unsigned role, unsigned* x, unsigned* y) {
    store<order>(role == 0 ? x : y, 1);
    fence<order>();
    return load<order>(role == 0 ? y : x);
  }
  static __device__ bool is_weak(const unsigned (&seen)[4]) { return seen[0] == 0 && seen[1] == 0; }
};

// Question: can both loads see the stores that come after them?
// Changes:  each role loads one word, then stores the other word.
// Cost:     as message_passing.
struct LoadBuffering {
  static constexpr unsigned kRoles = 2;
  template <Order order>
  static __device__ unsigned play(unsigned role, unsigned* x, unsigned* y) {
    const unsigned seen = load<order>(role == 0 ? x : y);
    fence<order>();
    store<order>(role == 0 ? y : x, 1);
    return seen;
  }
  static __device__ bool is_weak(const unsigned (&seen)[4]) { return seen[0] == 1 && seen[1] == 1; }
};

// Question: can a thread that loads one word twice see the new value first and the old one then?
// Changes:  one word only. Relaxed is enough here: all threads agree on the order of its values.
// Cost:     none.
struct SameAddress {
  static constexpr unsigned kRoles = 2;
  template <Order order>
  static __device__ unsigned play(unsigned role, unsigned* x, unsigned*) {
    if (role == 0) {
      store<order>(x, 1);
      return 0;
    }
    const unsigned first = load<order>(x);
    fence<order>();
    return 2 * first + load<order>(x);
  }
  static __device__ bool is_weak(const unsigned (&seen)[4]) { return seen[1] == 2; }
};

// Question: do two readers see the stores of two writers in the same order?
// Changes:  four roles: two store one word each, two load both words in opposite orders.
// Cost:     release and acquire do not promise it; fences of sequential consistency do.
struct IndependentReaders {
  static constexpr unsigned kRoles = 4;
  template <Order order>
  static __device__ unsigned play(unsigned role, unsigned* x, unsigned* y) {
    if (role < 2) {
      store<order>(role == 0 ? x : y, 1);
      return 0;
    }
    const unsigned first = load<order>(role == 2 ? x : y);
    fence<order>();
    return 2 * first + load<order>(role == 2 ? y : x);
  }
  static __device__ bool is_weak(const unsigned (&seen)[4]) { return seen[2] == 2 && seen[3] == 2; }
};

/// Thread t of its block, shuffled: another order for each role, so that the tests of a warp are spread
/// over all warps of the other block. blockDim.x is a power of two.
__device__ inline unsigned shuffled(unsigned t, unsigned role) {
  constexpr unsigned kOdd[4] = {1, 77, 165, 211};
  return t * kOdd[role % 4] % blockDim.x;
}

/// A delay of 0 to 7 steps, another one for each warp and round: the noise.
__device__ inline void delay(std::size_t test, unsigned role, unsigned round) {
  const unsigned warp = static_cast<unsigned>(test / 32) + 7919 * role + 104'729 * round;
  const unsigned steps = warp * 2'654'435'769u >> 29;
  for (unsigned i = 0; i < steps; ++i) __nanosleep(20);
}

// Question: how often is each result seen?
// Changes:  blocks g * kRoles to g * kRoles + kRoles - 1 play the roles of the same blockDim.x tests.
//           Test i has x[i] and y[i]; what role r has seen is stored in seen[r * n + i].
// Cost:     a few accesses per test; the rest is waiting.
template <class Test, Order order>
__global__ void litmus(std::size_t n, unsigned round, unsigned* d_x, unsigned* d_y,
                       unsigned char* d_seen) {
  const unsigned role = blockIdx.x % Test::kRoles;
  const std::size_t first = std::size_t{blockIdx.x / Test::kRoles} * blockDim.x;
  const std::size_t test = first + shuffled(threadIdx.x, role);
  if (test >= n) return;
  delay(first + threadIdx.x, role, round);
  const unsigned seen = Test::template play<order>(role, &d_x[test], &d_y[test]);
  d_seen[role * n + test] = static_cast<unsigned char>(seen);
}

/// *d_weak += the number of the n tests whose result was weak.
template <class Test>
__global__ void count_weak(std::size_t n, const unsigned char* d_seen, unsigned long long* d_weak) {
  const std::size_t test = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (test >= n) return;
  unsigned seen[4] = {};
  for (unsigned role = 0; role < Test::kRoles; ++role) seen[role] = d_seen[role * n + test];
  if (Test::is_weak(seen)) atomicAdd(d_weak, 1ull);
}

/// What `tests` litmus tests at the same time work in.
struct LitmusMemory {
  std::size_t tests;  // a multiple of kBlockSize
  course::DeviceBuffer<unsigned> x{tests}, y{tests};
  course::DeviceBuffer<unsigned char> seen{4 * tests};
  course::DeviceBuffer<unsigned long long> weak{1};
};

/// Adds to memory.weak how many of n tests, a multiple of memory.tests, had a weak result.
template <class Test, Order order>
void launch_litmus(std::size_t n, LitmusMemory& memory) {
  const course::Grid players{Test::kRoles * blocks_for(memory.tests), kBlockSize};
  for (unsigned round = 0; round < n / memory.tests; ++round) {
    course::set_zero(memory.x.data(), memory.tests);
    course::set_zero(memory.y.data(), memory.tests);
    course::launch(litmus<Test, order>, players, memory.tests, round, memory.x.data(),
                   memory.y.data(), memory.seen.data());
    course::launch(count_weak<Test>, {blocks_for(memory.tests), kBlockSize}, memory.tests,
                   memory.seen.data(), memory.weak.data());
  }
}
