// Thread block clusters: their barrier, the shared memory of other blocks, and what is found when nothing
// orders an access before or after the other block's.
#include <cooperative_groups.h>

#include <algorithm>
#include <course/bulk.cuh>
#include <course/check.cuh>
#include <vector>

#include "simt/testing.hpp"
#include "testing.hpp"

using simt::ReportKind;
using namespace simt_test;
namespace cg = cooperative_groups;

namespace {

constexpr unsigned kThreads = 64, kBlocks = 8;

/// Launches a kernel in clusters of so many blocks.
template <class... Parameters, class... Args>
cudaError_t launch_in_clusters(void (*kernel)(Parameters...), dim3 blocks, dim3 cluster,
                               std::size_t shared_bytes, Args... args) {
  cudaLaunchConfig_t config{};
  config.gridDim = blocks;
  config.blockDim = dim3(kThreads);
  config.dynamicSmemBytes = shared_bytes;
  cudaLaunchAttribute attribute{};
  attribute.id = cudaLaunchAttributeClusterDimension;
  attribute.val.clusterDim.x = cluster.x;
  attribute.val.clusterDim.y = cluster.y;
  attribute.val.clusterDim.z = cluster.z;
  config.attrs = &attribute;
  config.numAttrs = 1;
  return cudaLaunchKernelEx(&config, kernel, args...);
}

// ---- who is who ---------------------------------------------------------------------------------

__global__ void ranks(unsigned* out) {
  const auto cluster = cg::this_cluster();
  const unsigned block = blockIdx.x + gridDim.x * blockIdx.y;
  if (threadIdx.x != 5) return;
  out[2 * block] = cluster.block_rank() * 100 + cluster.num_blocks();
  out[2 * block + 1] = cluster.thread_rank() * 1000 + cluster.num_threads();
}

__global__ void ranks_of_clusters(unsigned* out) {
  const auto grid = cg::this_grid();
  if (threadIdx.x != 0) return;
  const dim3 index = grid.cluster_index(), clusters = grid.dim_clusters();
  out[grid.block_rank()] = static_cast<unsigned>(
      grid.num_clusters() * 1000 + grid.cluster_rank() * 100 + index.y * 10 + clusters.x);
}

__global__ void __cluster_dims__(2, 1, 1) declared(unsigned* out) {
  const auto cluster = cg::this_cluster();
  if (threadIdx.x == 0) out[blockIdx.x] = 10 * cluster.block_rank() + cluster.num_blocks();
}

TEST_CASE("ranks in a cluster", "[clusters]") {
  const auto out = Array<unsigned>::zeros(16);
  REQUIRE(launch_in_clusters(ranks, {4, 2}, {2, 2}, 0, out.data()) == cudaSuccess);
  const std::vector<unsigned> found = out.values();
  const unsigned expected[] = {0, 1, 0, 1, 2, 3, 2, 3};
  for (unsigned b = 0; b < 8; ++b) {
    CHECK(found[2 * b] == expected[b] * 100 + 4);
    CHECK(found[2 * b + 1] == (expected[b] * kThreads + 5) * 1000 + 4 * kThreads);
  }
  ranks<<<2, kThreads>>>(out.data());
  CHECK(out.values()[2] == 1);  // without clusters each block is one
}

TEST_CASE("ranks of clusters in the grid", "[clusters]") {
  const auto out = Array<unsigned>::zeros(24);
  REQUIRE(launch_in_clusters(ranks_of_clusters, {6, 4}, {2, 2}, 0, out.data()) == cudaSuccess);
  const std::vector<unsigned> found = out.values();
  for (unsigned b = 0; b < 24; ++b) {
    const unsigned x = b % 6 / 2, y = b / 12;
    CHECK(found[b] == 6000 + (3 * y + x) * 100 + y * 10 + 3);
  }
  ranks_of_clusters<<<3, kThreads>>>(out.data());
  CHECK(out.values()[2] == 3203);  // without clusters each block is one
}

TEST_CASE("__cluster_dims__", "[clusters]") {
  const auto out = Array<unsigned>::zeros(4);
  declared<<<4, 32>>>(out.data());
  CHECK(out.values() == std::vector<unsigned>{2, 12, 2, 12});
  declared<<<3, 32>>>(out.data());
  CHECK(cudaGetLastError() == cudaErrorInvalidClusterSize);
}

TEST_CASE("a cluster has 1 to 8 blocks, and divides the grid", "[clusters]") {
  const auto out = Array<unsigned>::zeros(32);
  CHECK(launch_in_clusters(ranks, 16, 16, 0, out.data()) == cudaErrorInvalidClusterSize);
  CHECK(launch_in_clusters(ranks, 6, 4, 0, out.data()) == cudaErrorInvalidClusterSize);
  CHECK(launch_in_clusters(ranks, 8, 8, 0, out.data()) == cudaSuccess);
  cudaGetLastError();
}

// ---- a reduction in one block's shared memory ---------------------------------------------------

enum class Mistake { none, no_first_sync, no_last_sync, no_middle_sync, split };

/// y[0] += the blocks' ranks + 1: each block puts its number into the memory of the cluster's first.
template <Mistake mistake>
__global__ void meet(int* y) {
  __shared__ int s_all[kBlocks];
  const auto cluster = cg::this_cluster();
  if (mistake != Mistake::no_first_sync) cluster.sync();  // all blocks have begun
  if (threadIdx.x == 0) {
    *cluster.map_shared_rank(s_all + cluster.block_rank(), 0) = static_cast<int>(blockIdx.x) + 1;
  }
  if (mistake != Mistake::no_middle_sync) cluster.sync();  // all numbers are there
  if (cluster.block_rank() == 0 && threadIdx.x == 0) {
    int sum = 0;
    for (unsigned r = 0; r < cluster.num_blocks(); ++r) sum += s_all[r];
    atomicAdd(y, sum);
  }
}

/// Each block reads the number of the next one.
template <Mistake mistake>
__global__ void read_next(int* y) {
  extern __shared__ int s_mine[];
  const auto cluster = cg::this_cluster();
  s_mine[threadIdx.x] = static_cast<int>(blockIdx.x * kThreads + threadIdx.x);
  if (mistake == Mistake::split) {
    cluster.barrier_arrive();
    s_mine[threadIdx.x] += 0;  // after its arrival: not ordered before what others do
    cluster.barrier_wait();
  } else if (mistake != Mistake::no_first_sync) {
    cluster.sync();  // all blocks have written
  }
  const unsigned next = (cluster.block_rank() + 1) % cluster.num_blocks();
  const int* const s_next = cluster.map_shared_rank(s_mine, static_cast<int>(next));
  y[blockIdx.x * kThreads + threadIdx.x] = s_next[kThreads - 1 - threadIdx.x];
  if (mistake != Mistake::no_last_sync) cluster.sync();  // no block leaves before
}

template <Mistake mistake>
bool meets() {
  const auto y = Array<int>::zeros(1);
  launch_in_clusters(meet<mistake>, kBlocks, 4, 0, y.data());
  return y.front() == 36;
}
template <Mistake mistake>
bool reads_next() {
  const auto y = Array<int>::zeros(4 * kThreads);
  launch_in_clusters(read_next<mistake>, 4, 2, kThreads * sizeof(int), y.data());
  const std::vector<int> found = y.values();
  for (unsigned b = 0; b < 4; ++b) {
    for (unsigned t = 0; t < kThreads; ++t) {
      if (found[b * kThreads + t] != static_cast<int>((b ^ 1) * kThreads + kThreads - 1 - t)) {
        return false;
      }
    }
  }
  return true;
}

TEST_CASE("blocks meet in one block's shared memory", "[clusters]") {
  CHECK(first_complaint(meets<Mistake::none>, 20) == "");
  CHECK(first_miss(ReportKind::race, [] { meets<Mistake::no_first_sync>(); }) == "");
  CHECK(wrong(ReportKind::race, meets<Mistake::no_middle_sync>) == "");
}

TEST_CASE("blocks read each other's shared memory", "[clusters]") {
  CHECK(first_complaint(reads_next<Mistake::none>, 20) == "");
  CHECK(first_miss(ReportKind::race, [] { reads_next<Mistake::no_first_sync>(); }) == "");
  CHECK(first_miss(ReportKind::race, [] { reads_next<Mistake::no_last_sync>(); }) == "");
  CHECK(first_miss(ReportKind::race, [] { reads_next<Mistake::split>(); }) == "");
}

TEST_CASE("what is said of a block that has left, or not begun", "[clusters]") {
  const simt::Report left = only_report([] { reads_next<Mistake::no_last_sync>(); });
  CHECK(lacks(left, {"BLOCK LEFT WHILE OTHERS USE ITS SHARED MEMORY", "s_mine[",
                     "cluster.sync()"}) == "");
  const simt::Report early = only_report([] { meets<Mistake::no_first_sync>(); });
  CHECK(lacks(early, {"SHARED MEMORY OF A BLOCK THAT MAY NOT HAVE BEGUN", "s_all["}) == "");
  CHECK(lacks(observe([] { meets<Mistake::no_middle_sync>(); }).text(),
              {"Two blocks of a cluster, and in this run no cluster.sync() came between"}) == "");
}

// ---- atomics ------------------------------------------------------------------------------------

template <bool block_scope>
__global__ void count_in_first(unsigned* y) {
  __shared__ unsigned s_count;
  const auto cluster = cg::this_cluster();
  if (threadIdx.x == 0) s_count = 0;
  cluster.sync();
  unsigned* const s_first = cluster.map_shared_rank(&s_count, 0);
  if (block_scope) {
    atomicAdd_block(s_first, 1u);
  } else {
    atomicAdd(s_first, 1u);
  }
  cluster.sync();
  if (cluster.block_rank() == 0 && threadIdx.x == 0) y[0] = s_count;
}

TEST_CASE("atomics on another block's shared memory", "[clusters]") {
  const auto counted = [](auto kernel) {
    const auto y = Array<unsigned>::zeros(1);
    launch_in_clusters(kernel, 4, 4, 0, y.data());
    return y.front() == 4 * kThreads;
  };
  CHECK(first_complaint([&] { return counted(count_in_first<false>); }, 10) == "");
  CHECK(first_miss(
            ReportKind::race, [&] { counted(count_in_first<true>); }, 4) == "");
}

// ---- the barrier --------------------------------------------------------------------------------

/// Global memory that the cluster's blocks pass on, many times; some threads return before.
__global__ void pass_on(int* x, int* y, int rounds) {
  const auto cluster = cg::this_cluster();
  if (threadIdx.x >= 40) return;  // the barrier waits for the others
  const unsigned i = cluster.block_rank() * kThreads + threadIdx.x;
  const unsigned from = (cluster.block_rank() + 1) % cluster.num_blocks() * kThreads + threadIdx.x;
  for (int round = 0; round < rounds; ++round) {
    x[i] = y[i] + 1;
    cluster.sync();
    y[i] = x[from];
    cluster.sync();
  }
}

__global__ void one_block_leaves(int* y) {
  const auto cluster = cg::this_cluster();
  if (cluster.block_rank() == 1) return;
  cluster.sync();
  if (threadIdx.x == 0) y[0] = 1;
}

__global__ void arrives_twice() {
  const auto cluster = cg::this_cluster();
  cluster.barrier_arrive();
  cluster.barrier_arrive();
}

/// Clusters tell the last one, by a fence and an atomic, what all their blocks have written.
__global__ void last_cluster(int* parts, unsigned* tickets, int* y) {
  __shared__ bool s_last;
  const auto cluster = cg::this_cluster();
  if (threadIdx.x == 0) parts[blockIdx.x] = static_cast<int>(blockIdx.x) + 1;
  cluster.sync();
  if (cluster.block_rank() != 0) return;
  if (threadIdx.x == 0) {
    __threadfence();
    s_last = atomicAdd(tickets, 1u) == gridDim.x / cluster.num_blocks() - 1;
    __threadfence();
  }
  __syncthreads();
  if (!s_last || threadIdx.x != 0) return;
  int sum = 0;
  for (unsigned b = 0; b < gridDim.x; ++b) sum += parts[b];
  y[0] = sum;
}

TEST_CASE("the barrier orders global memory among the blocks of a cluster", "[clusters]") {
  CHECK(first_complaint(
            [] {
              const auto x = Array<int>::zeros(3 * kThreads), y = Array<int>::zeros(3 * kThreads);
              launch_in_clusters(pass_on, 3, 3, 0, x.data(), y.data(), 5);
              return y.values()[2 * kThreads + 39] == 5;
            },
            20) == "");
}

TEST_CASE("a block that has ended is not waited for", "[clusters]") {
  CHECK(first_complaint(
            [] {
              const auto y = Array<int>::zeros(1);
              launch_in_clusters(one_block_leaves, 2, 2, 0, y.data());
              return y.front() == 1;
            },
            10) == "");
}

TEST_CASE("fences pass on what the barrier of a cluster has told", "[clusters]") {
  CHECK(first_complaint(
            [] {
              const auto parts = Array<int>(kBlocks), y = Array<int>::zeros(1);
              const auto tickets = Array<unsigned>::zeros(1);
              launch_in_clusters(last_cluster, kBlocks, 2, 0, parts.data(), tickets.data(),
                                 y.data());
              return y.front() == 36;
            },
            20) == "");
}

TEST_CASE("misuse of a cluster stops the kernel", "[clusters]") {
  const auto twice = observe([] { launch_in_clusters(arrives_twice, 2, 2, 0); });
  CHECK(lacks(twice.text(), {"arrives at the barrier of its cluster twice"}) == "");
}

TEST_CASE("barriers of clusters are counted once per cluster", "[clusters]") {
  const simt::CountScope scope;
  meets<Mistake::none>();
  CHECK(scope.counters().cluster_barriers == 4);
}

// ---- stores that the other block's barrier counts -----------------------------------------------

enum class Store { right, no_wait, no_first_sync, one_half, too_few_bytes, leaves };

/// y[b]: the sum of what all blocks of the cluster have told block b, over some rounds.
template <Store how>
__global__ void tell_all(int* y, int rounds) {
  constexpr unsigned kHalves = how == Store::one_half ? 1 : 2;
  __shared__ int s_told[kHalves][kBlocks];
  __shared__ course::Mbarrier s_counts[kHalves];
  const auto cluster = cg::this_cluster();
  const unsigned blocks = cluster.num_blocks();
  if (threadIdx.x == 0) {
    for (course::Mbarrier& b : s_counts) course::mbarrier_init(&b, 1);
  }
  if (how == Store::no_first_sync) {
    __syncthreads();
  } else {
    cluster.sync();
  }
  int sum = 0;
  for (int round = 0; round < rounds; ++round) {
    const unsigned half = round % kHalves;
    __syncthreads();  // all have read what is stored to next
    const bool leaves = how == Store::leaves && cluster.block_rank() == 1;
    if (threadIdx.x == 0 && !leaves) {
      const unsigned bytes = how == Store::too_few_bytes ? 4 : 4 * blocks;
      course::mbarrier_arrive_expect(&s_counts[half], bytes);
    }
    if (threadIdx.x < blocks) {
      const int value = static_cast<int>(blockIdx.x) + round;
      course::store_async(&s_told[half][cluster.block_rank()], threadIdx.x, value, &s_counts[half]);
    }
    if (leaves) return;
    if (how != Store::no_wait) course::mbarrier_wait(&s_counts[half], round / kHalves % 2);
    for (unsigned b = 0; b < blocks; ++b) sum += s_told[half][b];
  }
  if (threadIdx.x == 0) y[blockIdx.x] = sum;
}

template <Store how>
bool tells(int rounds = 5) {
  const auto y = Array<int>::zeros(kBlocks);
  launch_in_clusters(tell_all<how>, kBlocks, kBlocks, 0, y.data(), rounds);
  int expected = 0;
  for (int round = 0; round < rounds; ++round) {
    for (unsigned b = 0; b < kBlocks; ++b) expected += static_cast<int>(b) + round;
  }
  const std::vector<int> found = y.values();
  return std::all_of(found.begin(), found.end(), [&](int sum) { return sum == expected; });
}

TEST_CASE("blocks store to each other, and a barrier counts the bytes", "[clusters]") {
  CHECK(first_complaint([] { return tells<Store::right>(); }, 20) == "");
  CHECK(first_miss(ReportKind::race, [] { tells<Store::no_wait>(); }) == "");
  CHECK(first_miss(
            ReportKind::race, [] { tells<Store::no_first_sync>(1); }, 8) == "");
}

TEST_CASE("a store to what another block still reads is a race", "[clusters]") {
  CHECK(first_miss(
            ReportKind::race, [] { tells<Store::one_half>(); }, 8) == "");
}

TEST_CASE("a phase that expects fewer bytes than are stored never ends", "[clusters]") {
  CHECK(first_miss(
            ReportKind::hang, [] { tells<Store::too_few_bytes>(1); }, 2) == "");
}

TEST_CASE("a block leaves before what is stored to it has come", "[clusters]") {
  CHECK(first_miss(
            ReportKind::race, [] { tells<Store::leaves>(1); }, 8) == "");
}

}  // namespace
