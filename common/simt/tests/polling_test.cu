// Threads that wait for others in a loop: whoever can go on goes on, and a wait that nothing can end is
// found soon.
#include <cuda_runtime.h>

#include <catch2/catch_test_macros.hpp>
#include <ctime>
#include <cuda/atomic>

#include "testing.hpp"

using simt::ReportKind;
using namespace simt_test;

namespace {

enum class Poll { volatile_read, atomic_add, compare_and_swap, acquire, two_places };

template <Poll how>
__device__ bool is_set(int* flag) {
  if constexpr (how == Poll::volatile_read) return *static_cast<volatile int*>(flag) != 0;
  if constexpr (how == Poll::atomic_add) return atomicAdd(flag, 0) != 0;
  if constexpr (how == Poll::compare_and_swap) return atomicCAS(flag, 7, 8) != 0;
  if constexpr (how == Poll::acquire) {
    return cuda::atomic_ref<int>(*flag).load(cuda::memory_order_acquire) != 0;
  }
  volatile int* const flags = flag;
  return flags[0] != 0 && flags[1] != 0;
}

/// Thread 0 of the last block counts to n, then sets the flags that all others wait for; or it does not.
template <Poll how>
__global__ void wait_for_one(int* flag, const int* x, int n, bool set, int* sum) {
  if (blockIdx.x == gridDim.x - 1 && threadIdx.x == 0) {
    int mine = 0;
    for (int i = 0; i < n; ++i) mine += x[i];
    *sum = mine;
    if (set) {
      atomicExch(flag, 1);
      atomicExch(flag + 1, 1);
    }
  } else {
    while (!is_set<how>(flag)) {
    }
  }
}

__global__ void wait_in_block(int* done, bool set) {
  __shared__ int s_flag;
  if (threadIdx.x == 0) s_flag = 0;
  __syncthreads();
  if (threadIdx.x == 40) {
    while (*static_cast<volatile int*>(&s_flag) == 0) __nanosleep(20);
  } else if (threadIdx.x == 0 && set) {
    atomicExch(&s_flag, 1);
  }
  *done = 1;
}

template <Poll how>
bool all_wait(bool set) {
  constexpr int n = 5000;
  auto flag = Array<int>::zeros(2);
  const Array<int> x(std::vector<int>(n, 1));
  auto sum = Array<int>::zeros(1);
  wait_for_one<how><<<6, 512>>>(flag.data(), x.data(), n, set, sum.data());
  return sum.front() == n;
}

template <Poll how>
void check_waiting() {
  CHECK(first_complaint([] { return all_wait<how>(true); }, 4) == "");
  CHECK(first_miss(
            ReportKind::hang, [] { all_wait<how>(false); }, 2) == "");
}

}  // namespace

TEST_CASE("who polls does not keep others from going on, and a wait without an end is found soon") {
  const double start = seconds_of(CLOCK_PROCESS_CPUTIME_ID);
  check_waiting<Poll::volatile_read>();
  check_waiting<Poll::atomic_add>();
  check_waiting<Poll::compare_and_swap>();
  check_waiting<Poll::acquire>();
  check_waiting<Poll::two_places>();
  CHECK(seconds_of(CLOCK_PROCESS_CPUTIME_ID) - start < 20);
}

TEST_CASE("a wait in shared memory that nothing ends") {
  for (const bool set : {true, false}) {
    const Outcome outcome = observe([=] {
      auto done = Array<int>::zeros(1);
      wait_in_block<<<1, 64>>>(done.data(), set);
      cudaDeviceSynchronize();
    });
    CHECK(outcome.found(ReportKind::hang) == !set);
    if (!set)
      CHECK(lacks(outcome.text(), {"ENDLESS LOOP in kernel wait_in_block", "thread 40"}) == "");
  }
}

namespace {

/// The last block sets *flag under a lock; all others look under the lock, and sleep between two looks.
__global__ void look_under_a_lock(int* lock, int* flag) {
  for (bool done = false; !done;) {
    while (atomicExch(lock, 1) != 0) {
    }
    __threadfence();
    if (blockIdx.x == gridDim.x - 1) *flag = 1;
    done = *flag != 0;
    __threadfence();
    atomicExch(lock, 0);
    if (!done) __nanosleep(100);
  }
}

}  // namespace

TEST_CASE("who sleeps may wait for a block that has not started") {
  for (const unsigned blocks : {2u, 12u}) {
    CHECK(first_complaint(
              [=] {
                auto lock = Array<int>::zeros(1), flag = Array<int>::zeros(1);
                look_under_a_lock<<<blocks, 1>>>(lock.data(), flag.data());
                return flag.front() == 1;
              },
              2) == "");
  }
}

// ---- what looks like waiting --------------------------------------------------------------------

namespace {

__global__ void add_up_volatile(const volatile int* x, int n, int* sum) {
  int mine = 0;
  for (int i = 0; i < n; ++i) mine += x[i];
  *sum = mine;
}

/// The volatile bound of a loop is read again and again, between other loads.
__global__ void add_up_to_volatile_bound(const int* x, const volatile int* n, int* sum) {
  int mine = 0;
  for (int i = 0; i < *n; ++i) mine += x[i % 1000];
  *sum = mine;
}

/// Tries a lock so many times, then goes its way.
__global__ void try_for_a_while(int* lock, int times, int* tries) {
  for (int i = 0; i < times; ++i) {
    if (atomicCAS(lock, 0, 1) == 0) return;
  }
  atomicAdd(tries, times);
}

}  // namespace

TEST_CASE("millions of volatile loads are no endless loop") {
  CHECK(observe([] {
          constexpr int n = 2'500'000;
          const Array<int> x(std::vector<int>(n, 1));
          auto sum = Array<int>::zeros(1);
          add_up_volatile<<<1, 1>>>(x.data(), n, sum.data());
          CHECK(sum.front() == n);
          const Array<int> bound(std::vector<int>(1, n));
          add_up_to_volatile_bound<<<1, 1>>>(x.data(), bound.data(), sum.data());
          CHECK(sum.front() == n);
        }).clean());
}

TEST_CASE("a thread may give up waiting") {
  CHECK(first_complaint(
            [] {
              const Array<int> lock(std::vector<int>(1, 1));  // taken for ever
              auto tries = Array<int>::zeros(1);
              try_for_a_while<<<2, 64>>>(lock.data(), 1000, tries.data());
              return tries.front() == 128'000;
            },
            3) == "");
}
