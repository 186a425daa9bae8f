// The list of counters, counters.def: every entry is counted, begins anew, and is merged as it says. An entry that is
// added there is tested here without a line of its own, if everything() does what it counts.
#include <cooperative_groups.h>
#include <course/bulk.cuh>
#include <course/check.cuh>
#include <course/cluster.cuh>
#include <course/launch.cuh>
#include <type_traits>
#include <vector>

#include "simt/testing.hpp"
#include "testing.hpp"

using simt::Counter;
using simt::Counters;
using simt::Merge;
using simt_test::Array;
using simt_test::observe;

namespace {

constexpr unsigned kWidth = 4;  // floats and ints of a bulk operation

/// Does each thing that is counted.
__global__ void everything(int* x, volatile int* flag, float* table) {
  __shared__ alignas(16) int s_x[kWidth];
  __shared__ alignas(16) float s_row[kWidth];
  __shared__ course::Mbarrier s_loaded;
  if (threadIdx.x == 0) {
    course::mbarrier_init(&s_loaded, 1);
    course::mbarrier_arrive_expect(&s_loaded, sizeof s_x);
    course::bulk_load(s_x, x, sizeof s_x, &s_loaded);
    course::mbarrier_wait(&s_loaded, 0);
    for (float& value : s_row) value = 1;
    course::fence_before_bulk();
    course::bulk_add(table, s_row, kWidth);
    course::bulk_commit();
    course::bulk_wait_read();
  }
  __syncthreads();
  const unsigned thread = blockIdx.x * blockDim.x + threadIdx.x;
  atomicAdd(&s_x[0], 1);
  atomicAdd(&x[kWidth], *flag);
  atomicCAS(&x[kWidth + 1], 0, 1);
  x[kWidth + 2 + thread] = x[thread % kWidth] + static_cast<int>(s_row[thread % kWidth]);
  __syncwarp();
  course::this_cluster().sync();
}

constexpr unsigned kBlocks = 2, kThreads = 64;

void work() {
  const auto x = Array<int>::zeros(kWidth + 2 + kBlocks * kThreads), flag = Array<int>::zeros(1);
  const auto table = Array<float>::zeros(kWidth);
  course::launch(everything, {.blocks = kBlocks, .threads = kThreads, .cluster = kBlocks}, x.data(),
                 flag.data(), table.data());
  static_cast<void>(cudaDeviceSynchronize());
}

__global__ void another(int* y) { y[threadIdx.x] = 1; }

/// What it did.
Counters count(const std::function<void()>& what) {
  Counters counters;
  const auto outcome = observe([&] {
    const simt::CountScope scope;
    what();
    counters = scope.counters();
  });
  INFO(outcome.text());
  CHECK(outcome.clean());
  return counters;
}

TEST_CASE("every counter is counted, is merged as its entry says, and begins anew") {
  const Counters once = count(work), none = count([] {});
  const Counters twice = count([&] {
    work();
    work();
  });
  for (const Counter& counter : simt::kCounters) {
    INFO(counter.name << ": is it counted, and does everything() do what it counts?");
    CHECK(once.*counter.value > 0);
    CHECK(none.*counter.value == 0);
    CHECK(twice.*counter.value == once.*counter.value * (counter.merge == Merge::sum ? 2 : 1));
  }
}

TEST_CASE("an inner scope has the sums since it began, and the maxima of the outermost") {
  const Counters once = count(work);
  Counters inside, nothing;
  count([&] {
    work();
    const simt::CountScope inner;
    nothing = inner.counters();
    work();
    inside = inner.counters();
  });
  for (const Counter& counter : simt::kCounters) {
    INFO(counter.name);
    CHECK(inside.*counter.value == once.*counter.value);
    CHECK(nothing.*counter.value == (counter.merge == Merge::sum ? 0 : once.*counter.value));
  }
}

TEST_CASE("a kernel has the sums of its launches, and no maxima") {
  const auto y = Array<int>::zeros(32);
  const Counters of_work = count(work);
  const Counters of_another = count([&] { another<<<1, 32>>>(y.data()); });
  std::vector<simt::KernelCounters> kernels;
  observe([&] {
    const simt::CountScope scope;
    work();
    another<<<1, 32>>>(y.data());
    work();
    kernels = scope.by_kernel();
  });
  REQUIRE(kernels.size() == 2);
  for (const Counter& counter : simt::kCounters) {
    INFO(counter.name);
    const bool is_sum = counter.merge == Merge::sum;
    CHECK(kernels[0].counters.*counter.value == (is_sum ? 2 * (of_work.*counter.value) : 0));
    CHECK(kernels[1].counters.*counter.value == (is_sum ? of_another.*counter.value : 0));
  }
}

TEST_CASE("the course has all of them") {
  CHECK(std::is_same_v<course::Counters, Counters>);
  const std::optional<course::Counters> counters = course::count(work);
  REQUIRE(counters);
  const Counters once = count(work);
  for (const Counter& counter : simt::kCounters) {
    INFO(counter.name);
    CHECK((*counters).*counter.value == once.*counter.value);
  }
}

}  // namespace
