// What fences, stores and scopes order, as PTX's memory model has it: what a store passes on, what ends a
// release sequence, and what is ordered by fences of two scopes after each other.
#include <cuda_runtime.h>

#include <catch2/catch_test_macros.hpp>
#include <cuda/atomic>
#include <cuda/barrier>

#include "hand_over.cuh"
#include "testing.hpp"

using simt::ReportKind;
using namespace simt_test;

namespace {

using DeviceRef = cuda::atomic_ref<int, cuda::thread_scope_device>;
constexpr auto kRelaxed = cuda::memory_order_relaxed, kAcquire = cuda::memory_order_acquire,
               kRelease = cuda::memory_order_release;

}  // namespace

// ---- volatile in shared memory ------------------------------------------------------------------

namespace {

/// Thread 32 hands a value to thread 0 of the block; the flag is volatile and in shared memory.
template <bool in_writer, bool in_reader, unsigned kFlags>
__global__ void hand_over_in_block(int*, int* data) {
  __shared__ volatile int s_ready[kFlags];
  if (threadIdx.x < kFlags) s_ready[threadIdx.x] = 0;
  __syncthreads();
  if (threadIdx.x == 32) {
    data[0] = 42;
    if (in_writer) __threadfence_block();
    s_ready[0] = 1;
  }
  if (threadIdx.x == 0) {
    while (s_ready[0] == 0) {
    }
    if (in_reader) __threadfence_block();
    data[1] = data[0];
  }
}

/// Threads look whether another one has found the number, and end then.
__global__ void find_any(const int* x, int* found) {
  __shared__ volatile int s_found;
  if (threadIdx.x == 0) s_found = 0;
  __syncthreads();
  for (unsigned i = threadIdx.x; i < 512 && s_found == 0; i += blockDim.x) {
    if (x[i] == 42) s_found = 1;
  }
  __syncthreads();
  if (threadIdx.x == 0) *found = s_found;
}

/// Each thread reads what its neighbour has written, and no barrier lies between.
__global__ void read_neighbour(int* y) {
  __shared__ volatile int s_x[64];
  s_x[threadIdx.x] = static_cast<int>(threadIdx.x);
  y[threadIdx.x] = s_x[(threadIdx.x + 32) % 64];
}

}  // namespace

TEST_CASE("a volatile flag in shared memory, with a fence on both sides, hands a value over") {
  CHECK(first_complaint([] { return value_arrives(hand_over_in_block<true, true, 1>, 1); }) == "");
  CHECK(first_complaint([] { return value_arrives(hand_over_in_block<true, true, 2>, 1); }) == "");
}

TEST_CASE("a volatile flag in shared memory orders nothing without the fences") {
  CHECK(first_miss(ReportKind::race,
                   [] { value_arrives(hand_over_in_block<false, true, 1>, 1); }) == "");
  CHECK(first_miss(ReportKind::race,
                   [] { value_arrives(hand_over_in_block<true, false, 1>, 1); }) == "");
  CHECK(first_miss(ReportKind::race,
                   [] { value_arrives(hand_over_in_block<false, false, 2>, 1); }) == "");
}

TEST_CASE("a volatile variable in shared memory that stops a search is no race") {
  CHECK(first_complaint([] {
          std::vector<int> x(512);
          x[100] = x[300] = 42;
          const Array<int> input(x);
          auto found = Array<int>::zeros(1);
          find_any<<<1, 64>>>(input.data(), found.data());
          return found.front() == 1;
        }) == "");
}

TEST_CASE("a volatile array in shared memory does not replace a barrier") {
  CHECK(first_miss(ReportKind::race, [] {
          Array<int> y(64);
          read_neighbour<<<1, 64>>>(y.data());
          cudaDeviceSynchronize();
        }) == "");
}

// ---- what a store passes on ---------------------------------------------------------------------

namespace {

/// Block 1 stores, and has read nothing that would tell it of block 0.
__global__ void store_then_read(int* flags, int* data) {
  const DeviceRef flag(flags[0]);
  if (threadIdx.x != 0) return;
  if (blockIdx.x == 0) {
    data[0] = 42;
    __threadfence();
    flag.store(1, kRelaxed);
  } else {
    flag.store(2, kRelaxed);
    __threadfence();
    data[1] = data[0];
  }
}

enum class Middle { adds, stores, stores_after_acquire };

/// Block 0 hands a value to block 2, and block 1 changes the flag between them.
template <Middle middle>
__global__ void pass_on(int* flags, int* data) {
  const DeviceRef flag(flags[0]);
  if (threadIdx.x != 0) return;
  if (blockIdx.x == 0) {
    data[0] = 42;
    flag.store(1, kRelease);
  } else if (blockIdx.x == 1) {
    while (flag.load(middle == Middle::stores_after_acquire ? kAcquire : kRelaxed) != 1) {
    }
    if (middle == Middle::adds) {
      flag.fetch_add(1, kRelaxed);
    } else {
      flag.store(2, middle == Middle::stores_after_acquire ? kRelease : kRelaxed);
    }
  } else {
    while (flag.load(kRelaxed) != 2) {
    }
    __threadfence();
    data[1] = data[0];
  }
}

/// The same with a second flag. `fences`: of block 1, between the flags.
template <bool fences>
__global__ void pass_on_by_another_flag(int* flags, int* data) {
  const DeviceRef first(flags[0]), second(flags[1]);
  if (threadIdx.x != 0) return;
  if (blockIdx.x == 0) {
    data[0] = 42;
    __threadfence();
    first.store(1, kRelaxed);
  } else if (blockIdx.x == 1) {
    while (first.load(kRelaxed) == 0) {
    }
    if (fences) __threadfence();
    second.store(1, kRelaxed);
  } else {
    while (second.load(kRelaxed) == 0) {
    }
    __threadfence();
    data[1] = data[0];
  }
}

}  // namespace

TEST_CASE("a store that reads nothing acquires nothing") {
  CHECK(first_miss(ReportKind::race, [] { value_arrives(store_then_read, 2); }) == "");
}

TEST_CASE("an atomic of another thread goes on with a release sequence, a store ends it") {
  CHECK(first_complaint([] { return value_arrives(pass_on<Middle::adds>, 3); }) == "");
  CHECK(first_complaint([] { return value_arrives(pass_on<Middle::stores_after_acquire>, 3); }) ==
        "");
  // Seed 0 alone: where block 2 comes early enough to load the 1, too, it may use what block 0 has released.
  CHECK(observe([] { value_arrives(pass_on<Middle::stores>, 3); }).found(ReportKind::race));
}

TEST_CASE("what a relaxed load finds is passed on after a fence only") {
  CHECK(first_complaint([] { return value_arrives(pass_on_by_another_flag<true>, 3); }) == "");
  CHECK(first_miss(ReportKind::race, [] { value_arrives(pass_on_by_another_flag<false>, 3); }) ==
        "");
}

// ---- a barrier between the fence and the ticket -------------------------------------------------

namespace {

enum class Fences { before_barriers, by_thread_0, in_writers_only, none };

/// What the threads of all blocks have written.
__device__ int sum_of_parts(const int* parts) {
  int sum = 0;
  for (unsigned i = 0; i < gridDim.x * blockDim.x; ++i) sum += parts[i];
  return sum;
}

/// The last block sums what all threads have written.
template <Fences fences>
__global__ void last_block_sums(int* flags, int* data) {
  __shared__ bool s_last;
  int* const parts = data + 2;
  parts[blockIdx.x * blockDim.x + threadIdx.x] = 1;
  if (fences == Fences::before_barriers || fences == Fences::in_writers_only) __threadfence();
  __syncthreads();
  if (threadIdx.x == 0) {
    if (fences == Fences::by_thread_0) __threadfence();
    s_last = atomicAdd(&flags[0], 1) == static_cast<int>(gridDim.x) - 1;
    if (fences == Fences::by_thread_0) __threadfence();
  }
  __syncthreads();
  if (!s_last) return;
  if (fences == Fences::before_barriers) __threadfence();
  if (threadIdx.x == 1) data[1] = sum_of_parts(parts);
}

bool last_block_is_right(void (*kernel)(int*, int*)) {
  auto flags = Array<int>::zeros(1);
  auto data = Array<int>::zeros(2 + 3 * 64);
  kernel<<<3, 64>>>(flags.data(), data.data());
  return data.values()[1] == 3 * 64;
}

}  // namespace

TEST_CASE(
    "a barrier may lie between the fence and the ticket, and between the ticket and the fence") {
  // PTX asks for the fences in the thread of the ticket; README.md says why these are accepted.
  CHECK(first_complaint(
            [] { return last_block_is_right(last_block_sums<Fences::before_barriers>); }, 20) ==
        "");
  CHECK(first_complaint([] { return last_block_is_right(last_block_sums<Fences::by_thread_0>); },
                        20) == "");
  CHECK(first_miss(ReportKind::race,
                   [] { last_block_is_right(last_block_sums<Fences::in_writers_only>); }) == "");
  CHECK(first_miss(ReportKind::race, [] { last_block_is_right(last_block_sums<Fences::none>); }) ==
        "");
}

// ---- the scope of one thread --------------------------------------------------------------------

namespace {

template <cuda::thread_scope scope>
__global__ void count(int* flags, int*) {
  const cuda::atomic_ref<int, scope> number(flags[0]);
  number.fetch_add(1, kRelaxed);
}

template <cuda::thread_scope scope>
__global__ void load_beside_store(int* flags, int* data) {
  const cuda::atomic_ref<int, scope> number(flags[0]);
  if (blockIdx.x == 0 && threadIdx.x == 0) number.store(1, kRelaxed);
  if (blockIdx.x == gridDim.x - 1 && threadIdx.x == 32) data[1] = number.load(kRelaxed);
}

template <cuda::thread_scope scope>
__global__ void fence_of_scope(int* flags, int* data) {
  const DeviceRef flag(flags[0]);
  if (threadIdx.x == 0) {
    data[0] = 42;
    cuda::atomic_thread_fence(kRelease, scope);
    flag.store(1, kRelaxed);
  } else if (threadIdx.x == 32) {
    while (flag.load(kRelaxed) == 0) {
    }
    cuda::atomic_thread_fence(kAcquire, scope);
    data[1] = data[0];
  }
}

__global__ void own_counter(int* flags, int* data) {
  const cuda::atomic_ref<int, cuda::thread_scope_thread> number(flags[0]);
  if (threadIdx.x != 0 || blockIdx.x != 0) return;
  number.store(40);
  number.fetch_add(1);
  ++number;
  data[1] = number.load();
}

}  // namespace

TEST_CASE("atomics of thread scope are no better than plain accesses") {
  constexpr auto thread = cuda::thread_scope_thread, block = cuda::thread_scope_block;
  CHECK(first_complaint([] { return value_arrives(own_counter, 2); }, 12) == "");
  CHECK(first_miss(ReportKind::race, [] { value_arrives(count<thread>, 1); }) == "");
  CHECK(first_miss(ReportKind::race, [] { value_arrives(load_beside_store<thread>, 1); }) == "");
  CHECK(observe([] { value_arrives(load_beside_store<block>, 1); }).clean());
  CHECK(first_miss(ReportKind::race, [] { value_arrives(fence_of_scope<thread>, 1); }) == "");
  CHECK(first_complaint([] { return value_arrives(fence_of_scope<block>, 1); }, 12) == "");
}

TEST_CASE("loads and stores of block scope race with those of another block") {
  constexpr auto block = cuda::thread_scope_block, device = cuda::thread_scope_device;
  CHECK(first_miss(ReportKind::race, [] { value_arrives(load_beside_store<block>, 2); }) == "");
  CHECK(observe([] { value_arrives(load_beside_store<device>, 2); }).clean());
  CHECK(lacks(observe([] { value_arrives(load_beside_store<block>, 2); }).text(),
              {"DATA RACE in kernel kernel on flags[0]", "thread_scope_device instead of"}) == "");
}

// ---- two scopes after each other ----------------------------------------------------------------

namespace {

/// Thread 32 hands a value to thread 0 in block scope, and that one to the other block in device scope.
/// `left_out`: which of the four fences is missing, or 0.
template <int left_out>
__global__ void block_then_device(int* flags, int* data) {
  __shared__ int s;
  const unsigned t = threadIdx.x;
  if (t == 0) s = 0;
  __syncthreads();
  if (blockIdx.x == 0) {
    if (t == 32) {
      data[0] = 42;
      if (left_out != 1) __threadfence_block();
      atomicExch_block(&s, 1);
    }
    if (t == 0) {
      while (atomicAdd_block(&s, 0) == 0) {
      }
      if (left_out != 2) __threadfence();
      atomicExch(&flags[0], 1);
    }
  } else if (t == 0) {
    while (atomicAdd(&flags[0], 0) == 0) {
    }
    if (left_out != 3) __threadfence();
    data[1] = data[0];
  }
}

/// The same with the narrower fence where the wider one is needed.
__global__ void block_then_block(int* flags, int* data) {
  if (threadIdx.x != 0) return;
  if (blockIdx.x == 0) {
    data[0] = 42;
    __threadfence();
    atomicExch(&flags[0], 1);
  } else {
    while (atomicAdd(&flags[0], 0) == 0) {
    }
    __threadfence_block();
    data[1] = data[0];
  }
}

enum class Order { acquire, relaxed };

/// Thread 0 of block 1 acquires in device scope what block 0 releases, and the barrier of its block passes
/// it on to thread 40.
template <Order order, bool with_barrier>
__global__ void device_then_block(int* flags, int* data) {
  __shared__ cuda::barrier<cuda::thread_scope_block> s_barrier;
  const DeviceRef flag(flags[0]);
  if (threadIdx.x == 0) init(&s_barrier, blockDim.x);
  __syncthreads();
  if (blockIdx.x == 0) {
    if (threadIdx.x == 0) {
      data[0] = 42;
      flag.store(1, kRelease);
    }
    return;
  }
  if (threadIdx.x == 0) {
    while (flag.load(order == Order::acquire ? kAcquire : kRelaxed) == 0) {
    }
  }
  if (with_barrier) s_barrier.arrive_and_wait();
  if (threadIdx.x == 40) {
    if (!with_barrier) {
      while (flag.load(kRelaxed) == 0) {
      }
    }
    data[1] = data[0];
  }
}

/// A fence of device scope in each writer of block 0, and one of block scope in the reader of block 1.
template <bool to_same_block>
__global__ void device_to_block_fence(int* flags, int* data) {
  if (threadIdx.x == 0 && blockIdx.x == 0) {
    data[0] = 42;
    __threadfence();
    atomicExch(&flags[0], 1);
  }
  if (threadIdx.x == 32 && blockIdx.x == (to_same_block ? 0 : 1)) {
    while (atomicAdd(&flags[0], 0) == 0) {
    }
    __threadfence_block();
    data[1] = data[0];
  }
}

/// The last block, found with a barrier of block scope before the ticket.
template <bool with_fence>
__global__ void last_block_behind_barrier(int* flags, int* data) {
  __shared__ cuda::barrier<cuda::thread_scope_block> s_barrier;
  __shared__ bool s_last;
  if (threadIdx.x == 0) init(&s_barrier, blockDim.x);
  __syncthreads();
  int* const parts = data + 2;
  parts[blockIdx.x * blockDim.x + threadIdx.x] = 1;
  s_barrier.arrive_and_wait();
  if (threadIdx.x == 0) {
    if (with_fence) __threadfence();
    s_last = atomicAdd(&flags[0], 1) == static_cast<int>(gridDim.x) - 1;
    if (with_fence) __threadfence();
  }
  s_barrier.arrive_and_wait();
  if (s_last && threadIdx.x == 1) data[1] = sum_of_parts(parts);
}

}  // namespace

TEST_CASE("block scope, then device scope: the two orders combine") {
  CHECK(first_complaint([] { return value_arrives(block_then_device<0>, 2); }) == "");
  CHECK(first_miss(ReportKind::race, [] { value_arrives(block_then_device<1>, 2); }) == "");
  CHECK(first_miss(ReportKind::race, [] { value_arrives(block_then_device<2>, 2); }) == "");
  CHECK(first_miss(ReportKind::race, [] { value_arrives(block_then_device<3>, 2); }) == "");
}

TEST_CASE("device scope, then block scope: the two orders combine") {
  CHECK(first_complaint([] { return value_arrives(device_then_block<Order::acquire, true>, 2); }) ==
        "");
  CHECK(first_miss(ReportKind::race,
                   [] { value_arrives(device_then_block<Order::acquire, false>, 2); }) == "");
}

TEST_CASE("the fence of the narrower scope decides whom a hand-over reaches") {
  CHECK(first_complaint([] { return value_arrives(device_to_block_fence<true>, 2); }) == "");
  CHECK(first_miss(ReportKind::race, [] { value_arrives(device_to_block_fence<false>, 2); }) == "");
  CHECK(first_miss(ReportKind::race, [] { value_arrives(block_then_block, 2); }) == "");
}

TEST_CASE("the last block, with cuda::barrier instead of __syncthreads()") {
  CHECK(first_complaint([] { return last_block_is_right(last_block_behind_barrier<true>); }, 20) ==
        "");
  CHECK(first_miss(ReportKind::race,
                   [] { last_block_is_right(last_block_behind_barrier<false>); }) == "");
}
