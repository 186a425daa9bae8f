// Asynchronous copies: by barriers, pipelines, groups and the primitives; right, and used too early.
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cuda_pipeline.h>
#include <cuda_runtime.h>

#include <catch2/catch_test_macros.hpp>
#include <cuda/barrier>
#include <cuda/pipeline>
#include <utility>

#include "testing.hpp"

namespace async_copies_test {

namespace cg = cooperative_groups;
using simt::ReportKind;
using namespace simt_test;

constexpr int kThreads = 64, kTiles = 6;

std::vector<int> numbers() {
  std::vector<int> x(kThreads * kTiles);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<int>(i * 7 + 1);
  return x;
}

/// Every kernel below writes each tile's elements in reverse order.
bool is_reversed(void (*kernel)(const int*, int*)) {
  const std::vector<int> x = numbers();
  Array<int> d_x(x), d_y(x.size());
  kernel<<<1, kThreads>>>(d_x.data(), d_y.data());
  const std::vector<int> y = d_y.values();
  for (std::size_t i = 0; i < x.size(); ++i) {
    if (y[i] != x[i / kThreads * kThreads + kThreads - 1 - i % kThreads]) return false;
  }
  return true;
}

/// Where a mistake is: nowhere, no wait, no barrier after the wait, a write to what is being copied from, to
/// what is being copied to.
enum class Mistake { none, no_wait, no_sync, source, target };

// ---- a barrier --------------------------------------------------------------------------------------

template <Mistake mistake>
__global__ void by_barrier(const int* x, int* y) {
  using Barrier = cuda::barrier<cuda::thread_scope_block>;
  __shared__ Barrier bar;
  __shared__ alignas(16) int s_x[kThreads];
  const auto block = cg::this_thread_block();
  if (block.thread_rank() == 0) init(&bar, block.size());
  block.sync();
  for (int tile = 0; tile < kTiles; ++tile) {
    const int* const from = x + tile * kThreads;
    cuda::memcpy_async(block, s_x, from, cuda::aligned_size_t<16>(sizeof s_x), bar);
    if (mistake == Mistake::source) const_cast<int*>(from)[threadIdx.x] += 1;
    Barrier::arrival_token token = bar.arrive();
    if (mistake != Mistake::no_wait) bar.wait(std::move(token));
    y[tile * kThreads + threadIdx.x] = s_x[kThreads - 1 - threadIdx.x];
    block.sync();
  }
}

TEST_CASE("memcpy_async bound to a barrier", "[async_copies]") {
  CHECK(first_complaint([] { return is_reversed(by_barrier<Mistake::none>); }, 20) == "");
  CHECK(wrong(ReportKind::race, [] { return is_reversed(by_barrier<Mistake::no_wait>); }) == "");
  CHECK(wrong(ReportKind::race, [] { return is_reversed(by_barrier<Mistake::source>); }) == "");
}

/// One thread copies for all.
__global__ void one_copies(const int* x, int* y) {
  __shared__ cuda::barrier<cuda::thread_scope_block> bar;
  __shared__ int s_x[kThreads];
  if (threadIdx.x == 0) init(&bar, blockDim.x);
  __syncthreads();
  for (int tile = 0; tile < kTiles; ++tile) {
    if (threadIdx.x == 0) cuda::memcpy_async(s_x, x + tile * kThreads, sizeof s_x, bar);
    bar.arrive_and_wait();
    y[tile * kThreads + threadIdx.x] = s_x[kThreads - 1 - threadIdx.x];
    bar.arrive_and_wait();
  }
}

TEST_CASE("memcpy_async of one thread, waited for by all", "[async_copies]") {
  CHECK(first_complaint([] { return is_reversed(one_copies); }, 20) == "");
}

// ---- groups -------------------------------------------------------------------------------------------

template <Mistake mistake>
__global__ void by_group(const int* x, int* y) {
  __shared__ int s_x[2][kThreads];
  const auto block = cg::this_thread_block();
  cg::memcpy_async(block, s_x[0], x, sizeof s_x[0]);
  for (int tile = 0; tile < kTiles; ++tile) {
    if (tile + 1 < kTiles) {
      cg::memcpy_async(block, s_x[(tile + 1) % 2], kThreads, x + (tile + 1) * kThreads, kThreads);
      if (mistake == Mistake::none) cg::wait_prior<1>(block);
      if (mistake == Mistake::no_wait) cg::wait_prior<2>(block);
    } else {
      cg::wait(block);
    }
    y[tile * kThreads + threadIdx.x] = s_x[tile % 2][kThreads - 1 - threadIdx.x];
    block.sync();
  }
}

TEST_CASE("cg::memcpy_async of two stages", "[async_copies]") {
  CHECK(first_complaint([] { return is_reversed(by_group<Mistake::none>); }, 20) == "");
  CHECK(wrong(ReportKind::race, [] { return is_reversed(by_group<Mistake::no_wait>); }) == "");
}

// ---- the primitives ---------------------------------------------------------------------------------

template <Mistake mistake>
__global__ void by_primitives(const int* x, int* y) {
  __shared__ int s_x[kThreads];
  for (int tile = 0; tile < kTiles; ++tile) {
    __pipeline_memcpy_async(&s_x[threadIdx.x], &x[tile * kThreads + threadIdx.x], sizeof(int));
    __pipeline_commit();
    if (mistake == Mistake::target) s_x[threadIdx.x] = -1;
    if (mistake == Mistake::source) const_cast<int*>(x)[tile * kThreads + threadIdx.x] = 0;
    __pipeline_wait_prior(0);
    if (mistake != Mistake::no_sync) __syncthreads();
    y[tile * kThreads + threadIdx.x] = s_x[kThreads - 1 - threadIdx.x];
    __syncthreads();
  }
}

TEST_CASE("__pipeline_memcpy_async", "[async_copies]") {
  CHECK(first_complaint([] { return is_reversed(by_primitives<Mistake::none>); }, 20) == "");
  CHECK(wrong(ReportKind::race, [] { return is_reversed(by_primitives<Mistake::target>); }) == "");
  CHECK(wrong(ReportKind::race, [] { return is_reversed(by_primitives<Mistake::source>); }) == "");
  CHECK(first_miss(
            ReportKind::race, [] { is_reversed(by_primitives<Mistake::no_sync>); }, 4) == "");
}

__global__ void fill_up(const int* x, int4* r) {
  __shared__ int4 s_x[2];
  __pipeline_memcpy_async(&s_x[0], x, 16, 8);
  __pipeline_memcpy_async(&s_x[1], nullptr, 16, 16);
  __pipeline_commit();
  __pipeline_wait_prior(0);
  r[0] = s_x[0];
  r[1] = s_x[1];
}

TEST_CASE("__pipeline_memcpy_async does not read what it fills with zeros", "[async_copies]") {
  Array<int> x(std::vector<int>{3, 4});
  Array<int> r(8);
  const Outcome outcome =
      observe([&] { fill_up<<<1, 1>>>(x.data(), reinterpret_cast<int4*>(r.data())); });
  INFO(outcome.text());
  CHECK(outcome.clean());
  CHECK(r.values() == std::vector<int>{3, 4, 0, 0, 0, 0, 0, 0});
}

__global__ void misaligned(const int* x) {
  __shared__ alignas(16) int s_x[8];
  __pipeline_memcpy_async(s_x + 1, x, 16);
}

__global__ void too_far(const int* x) {
  __shared__ alignas(16) int s_x[8];
  cg::memcpy_async(cg::this_thread_block(), s_x, x, 64);
}

TEST_CASE("asynchronous copies obey the bounds and alignment of their accesses", "[async_copies]") {
  Array<int> x(numbers());
  CHECK(only_report([&] { misaligned<<<1, 1>>>(x.data()); }).kind == ReportKind::misaligned);
  CHECK(only_report([&] { too_far<<<1, 1>>>(x.data()); }).kind == ReportKind::out_of_bounds);
}

// ---- pipelines -----------------------------------------------------------------------------------------

/// Of one thread each, two stages deep.
template <Mistake mistake>
__global__ void by_own_pipeline(const int* x, int* y) {
  __shared__ int s_x[2][kThreads];
  auto pipe = cuda::make_pipeline();
  const auto fetch = [&](int tile) {
    pipe.producer_acquire();
    cuda::memcpy_async(&s_x[tile % 2][threadIdx.x], &x[tile * kThreads + threadIdx.x],
                       cuda::aligned_size_t<4>(4), pipe);
    pipe.producer_commit();
  };
  fetch(0);
  for (int tile = 0; tile < kTiles; ++tile) {
    if (tile + 1 < kTiles) fetch(tile + 1);
    if (mistake != Mistake::no_wait) pipe.consumer_wait();
    __syncthreads();
    y[tile * kThreads + threadIdx.x] = s_x[tile % 2][kThreads - 1 - threadIdx.x];
    __syncthreads();
    pipe.consumer_release();
  }
}

TEST_CASE("a pipeline of one thread", "[async_copies]") {
  CHECK(first_complaint([] { return is_reversed(by_own_pipeline<Mistake::none>); }, 20) == "");
  CHECK(wrong(ReportKind::race, [] { return is_reversed(by_own_pipeline<Mistake::no_wait>); }) ==
        "");
}

/// Of the block. With roles, the first warp copies and the second one computes.
template <bool roles, Mistake mistake>
__global__ void by_block_pipeline(const int* x, int* y) {
  constexpr int kStages = 3;
  __shared__ int s_x[kStages][kThreads];
  __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, kStages> state;
  const auto block = cg::this_thread_block();
  const bool produces = !roles || threadIdx.x < 32, consumes = !roles || threadIdx.x >= 32;
  const auto role = produces ? cuda::pipeline_role::producer : cuda::pipeline_role::consumer;
  auto pipe = [&] {
    if constexpr (roles) return cuda::make_pipeline(block, &state, role);
    return cuda::make_pipeline(block, &state);
  }();
  int next = 0;
  for (int tile = 0; tile < kTiles; ++tile) {
    for (; produces && next < kTiles && next < tile + kStages; ++next) {
      pipe.producer_acquire();
      for (unsigned i = threadIdx.x; i < kThreads; i += roles ? 32 : kThreads) {
        cuda::memcpy_async(&s_x[next % kStages][i], &x[next * kThreads + i], sizeof(int), pipe);
      }
      pipe.producer_commit();
    }
    if (!consumes) continue;
    if (mistake != Mistake::no_wait) pipe.consumer_wait();
    for (unsigned i = threadIdx.x % 32; i < kThreads; i += 32) {
      if (!roles && i / 32 != threadIdx.x / 32) continue;
      y[tile * kThreads + i] = s_x[tile % kStages][kThreads - 1 - i];
    }
    pipe.consumer_release();
  }
}

TEST_CASE("a pipeline of the block", "[async_copies]") {
  CHECK(first_complaint([] { return is_reversed(by_block_pipeline<false, Mistake::none>); }, 20) ==
        "");
  CHECK(first_complaint([] { return is_reversed(by_block_pipeline<true, Mistake::none>); }, 20) ==
        "");
  const auto no_wait = [] { return is_reversed(by_block_pipeline<false, Mistake::no_wait>); };
  const Outcome outcome = observe([&] { no_wait(); });
  CHECK(!outcome.clean());
}

// ---- what is said -----------------------------------------------------------------------------------

TEST_CASE("messages on asynchronous copies name the copy", "[async_copies]") {
  const auto text_of = [](auto kernel) {
    const Outcome outcome = observe([&] { is_reversed(kernel); });
    return outcome.reports.empty() ? std::string() : outcome.reports.front().text;
  };
  CHECK(lacks(text_of(by_own_pipeline<Mistake::no_wait>),
              {"The asynchronous copy of line", "has not been waited for"}) == "");
  CHECK(lacks(text_of(by_primitives<Mistake::target>),
              {"DATA RACE", "s_x[0]", "in an asynchronous copy",
               "at any time before it has been"}) == "");
}

}  // namespace async_copies_test
