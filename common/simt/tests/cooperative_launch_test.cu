// Cooperative launches, barriers of the grid, and blocks that wait for each other.
#include <cooperative_groups.h>
#include <cuda_runtime.h>

#include <catch2/catch_test_macros.hpp>
#include <numeric>
#include <string>
#include <vector>

#include "testing.hpp"

namespace cg = cooperative_groups;
using namespace simt_test;
using simt::ReportKind;

namespace {

/// Launches kernel(args...) cooperatively.
template <class... Args>
cudaError_t launch_together(void (*kernel)(Args...), unsigned blocks, unsigned threads,
                            std::type_identity_t<Args>... args) {
  void* pointers[] = {&args..., nullptr};
  return cudaLaunchCooperativeKernel((void*)kernel, blocks, threads, pointers);
}

// Each block sums its part; after the barrier block 0 sums the parts. `syncs`: is the barrier there?
template <bool syncs>
__global__ void sum_in_one_kernel(const int* x, int* parts, int* total, unsigned n) {
  const cg::grid_group grid = cg::this_grid();
  __shared__ int s_sum;
  if (threadIdx.x == 0) s_sum = 0;
  __syncthreads();
  for (unsigned long long i = grid.thread_rank(); i < n; i += grid.size()) atomicAdd(&s_sum, x[i]);
  __syncthreads();
  if (threadIdx.x == 0) parts[blockIdx.x] = s_sum;
  if (syncs) grid.sync();
  if (grid.thread_rank() == 0) {
    int sum = 0;
    for (unsigned b = 0; b < gridDim.x; ++b) sum += parts[b];
    *total = sum;
  }
}

// A stencil in place of two arrays: the steps follow each other.
__global__ void diffuse(int* a, int* b, int steps) {
  cg::grid_group grid = cg::this_grid();
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x, n = gridDim.x * blockDim.x;
  for (int step = 0; step < steps; ++step) {
    b[i] = a[(i + n - 1) % n] + a[(i + 1) % n];
    cg::sync(grid);
    int* swap = a;
    a = b;
    b = swap;
  }
}

/// The same with work between arrival and wait.
__global__ void diffuse_in_two_parts(int* a, int* b, int* own, int steps) {
  cg::grid_group grid = cg::this_grid();
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x, n = gridDim.x * blockDim.x;
  for (int step = 0; step < steps; ++step) {
    b[i] = a[(i + n - 1) % n] + a[(i + 1) % n];
    auto token = grid.barrier_arrive();
    own[i] += b[i];
    grid.barrier_wait(std::move(token));
    int* swap = a;
    a = b;
    b = swap;
  }
}

/// What is done after the arrival is not ordered by it.
__global__ void write_after_arrival(int* x, int* y) {
  cg::grid_group grid = cg::this_grid();
  auto token = grid.barrier_arrive();
  x[blockIdx.x] = 1;
  grid.barrier_wait(std::move(token));
  y[blockIdx.x] = x[(blockIdx.x + 1) % gridDim.x];
}

__global__ void arrive_twice() {
  cg::this_grid().barrier_arrive();
  cg::this_grid().barrier_arrive();
}

__global__ void wait_alone() { cg::this_grid().barrier_wait(0u); }

__global__ void last_block_does_not_arrive() {
  if (blockIdx.x + 1 == gridDim.x) return;
  cg::this_grid().barrier_wait(cg::this_grid().barrier_arrive());
}

__global__ void describe(unsigned long long* out) {
  const cg::grid_group grid = cg::this_grid();
  if (grid.thread_rank() != grid.size() - 1) return;
  out[0] = grid.is_valid();
  out[1] = grid.num_blocks();
  out[2] = grid.block_rank();
  out[3] = grid.dim_blocks().y;
  out[4] = grid.group_dim().x;
  out[5] = grid.dim_threads().x;
  out[6] = grid.thread_index().x;
  out[7] = grid.block_index().y;
}

__global__ void sync_grid() { cg::this_grid().sync(); }

__global__ void last_block_leaves(int* x) {
  if (blockIdx.x + 1 == gridDim.x) return;
  x[blockIdx.x] = 1;
  cg::this_grid().sync();
}

__global__ void some_threads_leave(int* x, unsigned first) {
  if (threadIdx.x - first < 5) return;
  if (threadIdx.x == 31) x[blockIdx.x] = 1;
  cg::this_grid().sync();
  if (threadIdx.x == 31) x[blockIdx.x] += x[(blockIdx.x + 1) % gridDim.x];
}

__global__ void block_skips(int* x) {
  if (blockIdx.x == 1 && threadIdx.x < 16) __syncthreads();
  cg::this_grid().sync();
  x[0] = 1;
}

__global__ void write_before_and_read_only_after(int* x, int* y) {
  x[blockIdx.x] = 1;
  cg::this_grid().sync();
  y[blockIdx.x] = __ldg(&x[(blockIdx.x + 1) % gridDim.x]);
}

// A barrier of one's own, as programs had it before cooperative launches.
__global__ void own_barrier(unsigned* arrived, int* x) {
  x[blockIdx.x] = static_cast<int>(blockIdx.x);
  __threadfence();
  __syncthreads();
  if (threadIdx.x == 0) {
    atomicAdd(arrived, 1u);
    while (atomicAdd(arrived, 0u) < gridDim.x) {
    }
  }
  __syncthreads();
  __threadfence();
  if (threadIdx.x == 0) x[gridDim.x + blockIdx.x] = x[gridDim.x - 1 - blockIdx.x];
}

// Block b waits for block b + 1: the last one comes first.
__global__ void in_reverse_order(volatile int* done) {
  if (threadIdx.x > 0) return;
  if (blockIdx.x + 1 < gridDim.x) {
    while (done[blockIdx.x + 1] == 0) {
    }
  }
  __threadfence();
  done[blockIdx.x] = 1;
}

}  // namespace

TEST_CASE("a barrier of the grid orders what all blocks did before it") {
  std::vector<int> numbers(1000);
  std::iota(numbers.begin(), numbers.end(), 0);
  const Array<int> x(numbers);
  CHECK(first_complaint(
            [&] {
              Array<int> parts(24), total(1);
              if (launch_together(sum_in_one_kernel<true>, 24, 64, x.data(), parts.data(),
                                  total.data(), 1000u) != cudaSuccess)
                return false;
              return total.front() == 499500;
            },
            10) == "");
  CHECK(first_complaint(
            [&] {
              Array<int> a(std::vector<int>(256, 1)), b(256);
              launch_together(diffuse, 8, 32, a.data(), b.data(), 6);
              return a.values() == std::vector<int>(256, 64);
            },
            10) == "");
}

TEST_CASE("a barrier of the grid in two parts orders what came before the arrival") {
  CHECK(first_complaint(
            [&] {
              Array<int> a(std::vector<int>(512, 1)), b(512);
              auto own = Array<int>::zeros(512);
              launch_together(diffuse_in_two_parts, 16, 32, a.data(), b.data(), own.data(), 6);
              return a.values() == std::vector<int>(512, 64) && own.front() == 126;
            },
            10) == "");
  Array<int> x(16), y(16);
  CHECK(first_miss(ReportKind::race, [&] {
          launch_together(write_after_arrival, 16, 32, x.data(), y.data());
        }) == "");
  CHECK(lacks(only_report([&] { launch_together(arrive_twice, 2, 32); }),
              {"arrives at the barrier of the grid twice", "cooperative_launch_test.cu:"}) == "");
  CHECK(lacks(only_report([&] { launch_together(wait_alone, 2, 32); }),
              {"without barrier_arrive() before"}) == "");
  CHECK(lacks(only_report([&] { launch_together(last_block_does_not_arrive, 4, 32); }),
              {"DEADLOCK in kernel last_block_does_not_arrive",
               "grid_group::barrier_wait() at "}) == "");
}

TEST_CASE("without it there is a race") {
  const Array<int> x(std::vector<int>(1000, 1));
  CHECK(first_miss(ReportKind::race, [&] {
          auto parts = Array<int>::zeros(24);
          Array<int> total(1);
          launch_together(sum_in_one_kernel<false>, 24, 64, x.data(), parts.data(), total.data(),
                          1000u);
          cudaDeviceSynchronize();
        }) == "");
}

TEST_CASE("a grid that fits the device has no other limit") {
  const Outcome outcome = observe([&] {
    CHECK(launch_together(sync_grid, 128, 64) == cudaSuccess);
    CHECK(launch_together(sync_grid, 8, 1024) == cudaSuccess);
    CHECK(launch_together(sync_grid, 129, 64) == cudaErrorCooperativeLaunchTooLarge);
    CHECK(launch_together(sync_grid, 9, 1024) == cudaErrorCooperativeLaunchTooLarge);
    CHECK(launch_together(sync_grid, 33, 256) == cudaErrorCooperativeLaunchTooLarge);
    CHECK(cudaGetLastError() == cudaErrorCooperativeLaunchTooLarge);
    int blocks = 0, can = 0;
    CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, sync_grid, 256, 0) == cudaSuccess);
    CHECK(blocks * 4 == 32);
    CHECK(cudaDeviceGetAttribute(&can, cudaDevAttrCooperativeLaunch, 0) == cudaSuccess);
    CHECK(can == 1);
  });
  INFO(outcome.text());
  CHECK(outcome.clean());
}

TEST_CASE("an attribute makes a launch cooperative, too") {
  const Outcome outcome = observe([&] {
    cudaLaunchConfig_t config = {};
    config.gridDim = 16;
    config.blockDim = 32;
    cudaLaunchAttribute attribute;
    attribute.id = cudaLaunchAttributeCooperative;
    attribute.val.cooperative = 1;
    config.attrs = &attribute;
    config.numAttrs = 1;
    CHECK(cudaLaunchKernelEx(&config, sync_grid) == cudaSuccess);
  });
  INFO(outcome.text());
  CHECK(outcome.clean());
}

TEST_CASE("a grid knows its shape") {
  Array<unsigned long long> out(8);
  const Outcome outcome = observe([&] {
    unsigned long long* to = out.data();
    void* args[] = {&to};
    CHECK(cudaLaunchCooperativeKernel(describe, dim3(3, 2), 32, args) == cudaSuccess);
  });
  INFO(outcome.text());
  CHECK(outcome.clean());
  CHECK(out.values() == std::vector<unsigned long long>{1, 6, 5, 2, 3, 96, 95, 1});
  observe([&] { describe<<<1, 1>>>(out.data()); });
  CHECK(out.front() == 0);
}

TEST_CASE("a barrier of the grid in an ordinary launch stops the kernel") {
  Reports reports;
  sync_grid<<<2, 32>>>();
  CHECK(cudaDeviceSynchronize() == cudaErrorLaunchFailure);
  REQUIRE(reports.list.size() == 1);
  CHECK(lacks(reports.list[0], {"KERNEL STOPPED in sync_grid", "cudaLaunchCooperativeKernel()",
                                "cooperative_launch_test.cu:"}) == "");
}

TEST_CASE("a block that does not come is a deadlock") {
  Array<int> x(8);
  const auto work = [&] { launch_together(last_block_leaves, 8, 32, x.data()); };
  CHECK(first_miss(ReportKind::barrier, work) == "");
  CHECK(lacks(only_report(work),
              {"DEADLOCK in kernel last_block_leaves: the barrier of the grid at ",
               "7 of 8 blocks wait there: blocks 0-6", "1 of 8 blocks has ended: block 7",
               "must reach grid_group::sync()"}) == "");
}

TEST_CASE("threads that have returned are not waited for, but for thread 0") {
  Array<int> x(8);
  const Outcome outcome =
      observe([&] { launch_together(some_threads_leave, 8, 32, x.data(), 1u); });
  INFO(outcome.text());
  CHECK(outcome.reports.size() == 1);  // the neighbour's number changes after the barrier
  CHECK(outcome.found(ReportKind::race));
  CHECK(outcome.notes.size() == 1);
  CHECK(lacks(only_report([&] { launch_together(some_threads_leave, 8, 32, x.data(), 0u); }),
              {"BARRIER IN DIVERGENT CODE in kernel some_threads_leave, block 0",
               "27 of 32 threads wait in grid_group::sync() at", "and thread 0 has returned"}) ==
        "");
}

TEST_CASE("threads in another barrier do not meet those in the barrier of the grid") {
  Array<int> x(1);
  CHECK(first_miss(ReportKind::barrier, [&] { launch_together(block_skips, 4, 32, x.data()); }) ==
        "");
}

TEST_CASE("memory that the kernel has written stays out of bounds for __ldg()") {
  Array<int> x(8), y(8);
  CHECK(first_miss(ReportKind::read_only, [&] {
          launch_together(write_before_and_read_only_after, 8, 1, x.data(), y.data());
        }) == "");
}

TEST_CASE("as many blocks as the device has room for may wait for each other") {
  for (const unsigned threads : {32u, 64u}) {
    for (const unsigned blocks : {9u, 40u, 128u}) {
      CHECK(first_complaint(
                [&] {
                  auto arrived = Array<unsigned>::zeros(1);
                  auto x = Array<int>::zeros(2 * blocks);
                  own_barrier<<<blocks, threads>>>(arrived.data(), x.data());
                  return x.values()[blocks] == static_cast<int>(blocks) - 1;
                },
                3) == "");
    }
  }
  CHECK(first_complaint(
            [&] {
              auto done = Array<int>::zeros(100);
              in_reverse_order<<<100, 32>>>(done.data());
              return done.front() == 1;
            },
            5) == "");
}

TEST_CASE("counters do not change that") {
  auto arrived = Array<unsigned>::zeros(1);
  auto x = Array<int>::zeros(80);
  const Outcome outcome = observe([&] {
    const simt::CountScope counting;
    own_barrier<<<40, 32>>>(arrived.data(), x.data());
    launch_together(sync_grid, 64, 32);
    cudaDeviceSynchronize();
  });
  INFO(outcome.text());
  CHECK(outcome.clean());
}

TEST_CASE("more blocks than that wait for ever") {
  const Outcome outcome = observe([&] {
    auto arrived = Array<unsigned>::zeros(1);
    auto x = Array<int>::zeros(2 * 129);
    own_barrier<<<129, 32>>>(arrived.data(), x.data());
    cudaDeviceSynchronize();
  });
  CHECK(outcome.found(ReportKind::hang));
  CHECK(lacks(outcome.text(), {"ENDLESS LOOP", "At most 128 blocks are resident"}) == "");
}
