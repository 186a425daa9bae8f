// cuda::barrier, latch and semaphore: what they order, and what the checker says of code that does not
// wait for them.
#include <cooperative_groups.h>
#include <cuda_runtime.h>

#include <catch2/catch_test_macros.hpp>
#include <cuda/barrier>
#include <cuda/latch>
#include <cuda/semaphore>
#include <cuda/std/barrier>
#include <cuda/std/chrono>
#include <cuda/std/latch>
#include <cuda/std/semaphore>
#include <new>
#include <utility>

#include "testing.hpp"

namespace barrier_test {

using simt::ReportKind;
using namespace simt_test;
using BlockBarrier = cuda::barrier<cuda::thread_scope_block>;

static_assert(sizeof(BlockBarrier) == 8 && alignof(BlockBarrier) == 8);
static_assert(!std::is_copy_constructible_v<BlockBarrier>);

constexpr int kThreads = 70;

// ---- what it orders -------------------------------------------------------------------------------

enum class Way { together, in_two_steps, by_trying, by_parity, not_waiting, without_sync };

/// Ten times every thread reads what its neighbour has written before the barrier.
template <Way way>
__global__ void pass_around(int* r) {
  __shared__ BlockBarrier bar;
  __shared__ int s_x[2][kThreads];
  if (threadIdx.x == 0) init(&bar, blockDim.x);
  if (way != Way::without_sync) __syncthreads();
  int mine = static_cast<int>(threadIdx.x);
  for (int turn = 0; turn < 10; ++turn) {
    int* const x = s_x[turn % 2];
    x[threadIdx.x] = mine;
    if (way == Way::together || way == Way::without_sync) {
      bar.arrive_and_wait();
    } else {
      BlockBarrier::arrival_token token = bar.arrive();
      if (way == Way::in_two_steps) bar.wait(std::move(token));
      if (way == Way::by_parity) bar.wait_parity(turn % 2 != 0);
      if (way == Way::by_trying) {
        while (!bar.try_wait_for(std::move(token), cuda::std::chrono::nanoseconds(100))) {
        }
      }
    }
    mine = x[(threadIdx.x + 1) % kThreads];
  }
  r[threadIdx.x] = mine;
}

template <Way way>
bool passes() {
  Array<int> r(kThreads);
  pass_around<way><<<1, kThreads>>>(r.data());
  const std::vector<int> values = r.values();
  for (int i = 0; i < kThreads; ++i) {
    if (values[i] != (i + 10) % kThreads) return false;
  }
  return true;
}

TEST_CASE("cuda::barrier: who waits sees what came before the arrivals", "[barrier]") {
  CHECK(first_complaint(passes<Way::together>, 20) == "");
  CHECK(first_complaint(passes<Way::in_two_steps>, 20) == "");
  CHECK(first_complaint(passes<Way::by_trying>, 10) == "");
  CHECK(first_complaint(passes<Way::by_parity>, 10) == "");
}

TEST_CASE("cuda::barrier: to arrive is not to wait", "[barrier]") {
  const auto work = [] { passes<Way::not_waiting>(); };
  CHECK(first_miss(ReportKind::race, work, 6) == "");
}

TEST_CASE("cuda::barrier: init() is made known by __syncthreads()", "[barrier]") {
  const Outcome outcome = observe([] { passes<Way::without_sync>(); });
  CHECK(outcome.found(ReportKind::race));
}

// ---- drop, completion, wrong numbers ----------------------------------------------------------------

__global__ void drop_half(int* turns) {
  __shared__ BlockBarrier bar;
  __shared__ int s_turn;
  if (threadIdx.x == 0) {
    init(&bar, blockDim.x);
    s_turn = 0;
  }
  __syncthreads();
  if (threadIdx.x % 2 != 0) {
    bar.arrive_and_drop();
    return;
  }
  for (int turn = 0; turn < 3; ++turn) {
    bar.arrive_and_wait();
    if (threadIdx.x == 0) ++s_turn;
    bar.arrive_and_wait();
    turns[threadIdx.x / 2] = s_turn;
  }
}

TEST_CASE("cuda::barrier: arrive_and_drop()", "[barrier]") {
  const auto work = [] {
    Array<int> turns(32);
    drop_half<<<1, 64>>>(turns.data());
    return turns.values() == std::vector<int>(32, 3);
  };
  CHECK(first_complaint(work, 20) == "");
}

struct AddUp {
  int* x;
  int* total;
  __device__ void operator()() {
    for (int i = 0; i < kThreads; ++i) *total += x[i];
  }
};

__global__ void add_up(int* r) {
  using Barrier = cuda::barrier<cuda::thread_scope_block, AddUp>;
  __shared__ Barrier bar;
  __shared__ int s_x[kThreads], s_total;
  if (threadIdx.x == 0) {
    init(&bar, blockDim.x, AddUp{s_x, &s_total});
    s_total = 0;
  }
  __syncthreads();
  for (int turn = 1; turn <= 3; ++turn) {
    s_x[threadIdx.x] = turn;
    bar.arrive_and_wait();
    r[threadIdx.x] = s_total;
    bar.arrive_and_wait();
  }
}

TEST_CASE("cuda::barrier: the completion function runs between the last arrival and the waits",
          "[barrier]") {
  const auto work = [] {
    Array<int> r(kThreads);
    add_up<<<1, kThreads>>>(r.data());
    return r.values() == std::vector<int>(kThreads, kThreads * (1 + 1 + 2 + 2 + 3));
  };
  CHECK(first_complaint(work, 20) == "");
}

__global__ void expect(int expected) {
  __shared__ BlockBarrier bar;
  if (threadIdx.x == 0) init(&bar, expected);
  __syncthreads();
  static_cast<void>(bar.arrive(2));
  if (expected > 64) bar.arrive_and_wait();
}

TEST_CASE("cuda::barrier: more arrivals than expected, or fewer", "[barrier]") {
  const simt::Report more = only_report([] { expect<<<1, 32>>>(63); });
  CHECK(lacks(more,
              {"more threads arrive at a cuda::barrier than it expects", "barrier_test.cu"}) == "");
  CHECK(only_report([] { expect<<<1, 32>>>(1000); }).kind == ReportKind::hang);
}

__global__ void of_the_grid(cuda::barrier<cuda::thread_scope_device>* bar, int* x, int* r) {
  x[blockIdx.x] = static_cast<int>(blockIdx.x);
  bar->arrive_and_wait();
  r[blockIdx.x] = x[(blockIdx.x + 1) % gridDim.x];
}

TEST_CASE("cuda::barrier in global memory, of several blocks", "[barrier]") {
  const auto work = [] {
    cuda::barrier<cuda::thread_scope_device>* bar = nullptr;
    if (cudaMallocManaged(&bar, sizeof *bar) != cudaSuccess) return false;
    init(bar, 4);
    Array<int> x(4), r(4);
    of_the_grid<<<4, 1>>>(bar, x.data(), r.data());
    const bool right = r.values() == std::vector<int>{1, 2, 3, 0};
    return cudaFree(bar) == cudaSuccess && right;
  };
  CHECK(first_complaint(work, 20) == "");
}

// ---- latch and semaphore ----------------------------------------------------------------------------

using Latch = cuda::latch<cuda::thread_scope_device>;
using Semaphore = cuda::binary_semaphore<cuda::thread_scope_device>;

/// An object in managed memory.
template <class T>
struct Managed {
  T* object = nullptr;
  explicit Managed(int count) {
    static_cast<void>(cudaMallocManaged(&object, sizeof(T)));
    new (object) T(count);
  }
  ~Managed() { static_cast<void>(cudaFree(object)); }
  Managed(const Managed&) = delete;
  Managed& operator=(const Managed&) = delete;
};

__global__ void count_down(Latch* latch, int* x, int* r) {
  if (blockIdx.x < 3) {
    x[blockIdx.x] = 5;
    latch->count_down();
  } else {
    latch->wait();
    *r = x[0] + x[1] + x[2];
  }
}

__global__ void take_turns(Semaphore* semaphore, int* count) {
  semaphore->acquire();
  *count += 1;
  semaphore->release();
}

TEST_CASE("cuda::latch and cuda::binary_semaphore order", "[barrier]") {
  const auto waits = [] {
    const Managed<Latch> latch(3);
    Array<int> x(3), r(1);
    count_down<<<4, 1>>>(latch.object, x.data(), r.data());
    return r.front() == 15;
  };
  CHECK(first_complaint(waits, 20) == "");
  const auto locks = [] {
    const Managed<Semaphore> semaphore(1);
    auto count = Array<int>::zeros(1);
    take_turns<<<8, 4>>>(semaphore.object, count.data());
    return count.front() == 32;
  };
  CHECK(first_complaint(locks, 20) == "");
}

}  // namespace barrier_test
