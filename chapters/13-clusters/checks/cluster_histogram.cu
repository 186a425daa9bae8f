// Check of the exercise cluster_histogram: clusters of every size, numbers of bins that they do not divide, keys
// that are no bin, and where the atomics are.
#include "cluster_histogram.cuh"

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <course/cases.cuh>
#include <course/check.cuh>
#include <course/cluster.cuh>
#include <course/guarded.cuh>
#include <course/launch.cuh>
#include <course/placed.cuh>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace cluster_histogram_check {

struct Shape {
  unsigned clusters, cluster, block;
  unsigned blocks() const { return clusters * cluster; }
};

std::string text_of(std::size_t n, unsigned bins, const std::string& data, const Shape& s) {
  return course::counted(bins, "bin") + ", " +
         course::case_text(n, data, "cluster_histogram", {s.blocks(), s.block}) +
         " in clusters of " + course::counted(s.cluster, "block");
}

/// Keys below `end`, in no order.
std::vector<unsigned> random_keys(std::size_t n, unsigned end) {
  std::vector<unsigned> keys(n);
  for (std::size_t i = 0; i < n; ++i)
    keys[i] = static_cast<unsigned>((course::mixed(i) >> 32) * end >> 32);
  return keys;
}

/// The bins hold 7 b + 3 before.
std::vector<unsigned> reference(const std::vector<unsigned>& keys, unsigned bins, int launches) {
  std::vector<unsigned> counts(bins);
  for (unsigned b = 0; b < bins; ++b) counts[b] = 7 * b + 3;
  for (const unsigned key : keys) {
    if (key < bins) counts[key] += static_cast<unsigned>(launches);
  }
  return counts;
}

void check_histogram(const std::vector<unsigned>& keys, unsigned bins, const Shape& s,
                     int launches = 1) {
  const course::Placed<unsigned> d_keys(keys, 1);  // a key may be anywhere
  course::GuardedBuffer<unsigned> found(bins);
  const std::vector<unsigned> before = reference({}, bins, 0);
  CUDA_CHECK(
      cudaMemcpy(found.data(), before.data(), bins * sizeof(unsigned), cudaMemcpyHostToDevice));
  const std::size_t part = (bins + s.cluster - 1) / s.cluster;
  for (int i = 0; i < launches; ++i) {
    course::launch(cluster_histogram,
                   {.blocks = s.blocks(),
                    .threads = s.block,
                    .shared_bytes = part * sizeof(unsigned),
                    .cluster = s.cluster},
                   d_keys.data(), keys.size(), bins, found.data());
  }
  REQUIRE(course::same(found.download(), reference(keys, bins, launches), "bins"));
  REQUIRE(found.intact("bins"));
}

// Promise: bins[b] grows by how many of keys[0..n-1] are b, for every b below num_bins.
// Promise: a cluster has 1 to 8 blocks that follow each other, and
// num_bins is any number from 1 on.
// Promise: dynamic shared memory for ceil(num_bins / blocks of a cluster) counters per
// block is enough (OUT OF BOUNDS).
// Promise: no block uses shared memory of a block that has not begun, or has left (SHARED MEMORY OF
// A BLOCK THAT MAY NOT HAVE BEGUN, BLOCK LEFT WHILE OTHERS USE ITS SHARED MEMORY; DATA RACE where a
// barrier of the cluster is missing).
TEST_CASE("cluster_histogram: clusters of every size, bins that they do not divide") {
  if (!course::has_clusters()) SKIP(course::kNoClusters);
  for (unsigned cluster = 1; cluster <= course::kMostBlocksOfCluster; ++cluster) {
    const Shape s{2, cluster, cluster % 2 == 0 ? 32u : 96u};
    for (const unsigned bins : {1u, 7u, 64u, 331u}) {
      INFO(text_of(700, bins, "all keys are bins", s));
      check_histogram(random_keys(700, bins), bins, s);
    }
  }
}

// Promise: keys that are no bin are not counted.
TEST_CASE("cluster_histogram: keys that are no bin") {
  if (!course::has_clusters()) SKIP(course::kNoClusters);
  for (const unsigned cluster : {4u, 1u, 3u, 8u}) {
    const Shape s{2, cluster, 64};
    for (const unsigned bins : {50u, 48u}) {  // 48: no block has room for one more
      std::vector<unsigned> keys = random_keys(400, bins + 10);
      for (std::size_t i = 0; i < keys.size(); i += 9) keys[i] = i % 2 == 0 ? bins : 0xFFFF'FFFF;
      INFO(text_of(keys.size(), bins, "some keys are no bin", s));
      check_histogram(keys, bins, s);
    }
  }
}

// Promise: n may be 0, and what bins hold stays counted.
TEST_CASE("cluster_histogram: no keys, few keys, one bin gets all; two launches") {
  if (!course::has_clusters()) SKIP(course::kNoClusters);
  const Shape s{3, 2, 32};
  for (const std::size_t n : {0u, 1u, 31u, 33u}) {
    INFO(text_of(n, 10, "all keys are bins", s));
    check_histogram(random_keys(n, 10), 10, s, 2);
  }
  INFO(text_of(500, 100, "all keys are 99", s));
  check_histogram(std::vector<unsigned>(500, 99), 100, s);
}

// Promise: a block has any multiple of 32 threads, up to 1024.
TEST_CASE("cluster_histogram: full blocks, many keys") {
  if (!course::has_clusters()) SKIP(course::kNoClusters);
  const Shape s{1, 2, 1024};
  const std::size_t n = course::kCpuDevice ? 10'007 : 1'000'007;
  INFO(text_of(n, 5000, "all keys are bins", s));
  check_histogram(random_keys(n, 5000), 5000, s);
}

// Promise: a grid may have more than 2^32 threads.
TEST_CASE("cluster_histogram: a grid of more than 2^32 threads") {
  if (!course::has_clusters()) SKIP(course::kNoClusters);
  course::in_huge_grids(65, [](course::LaunchShape grid) {
    const Shape s{grid.grid, 1, grid.block};
    INFO(text_of(65, 10, "all keys are bins", s));
    check_histogram(random_keys(65, 10), 10, s);
  });
}

// Promise: n is any number that fits in std::size_t (its first keys).
TEST_CASE("cluster_histogram: the first of more than 2^32 keys") {
  if (!course::kCpuDevice) SKIP("a GPU runs all blocks, and would read 2^32 keys");
  const Shape s{course::kHugeGrid.grid, 1, course::kHugeGrid.block};
  constexpr unsigned kBins = 10, kNoBin = 4'000'000'000;
  std::vector<unsigned> keys = random_keys(1000, kBins);
  keys.resize(course::kFrontItems, kNoBin);
  const auto d_keys = course::DeviceBuffer<unsigned>::from(keys);
  auto bins = course::DeviceBuffer<unsigned>::zeros(kBins);
  std::vector<unsigned> expected(kBins);
  for (std::size_t i = 0; i < 1000; ++i) ++expected[keys[i]];
  INFO(text_of(course::kHugeItems, kBins, "from keys[1000] on all are 4,000,000,000", s));
  course::at_front_of_huge_grid([&](course::LaunchShape grid, std::size_t items) {
    course::launch(
        cluster_histogram,
        {.blocks = grid.grid, .threads = grid.block, .shared_bytes = kBins * sizeof(unsigned)},
        d_keys.data(), items, kBins, bins.data());
    REQUIRE(course::same(bins.download(), expected, "bins"));
  });
}

// Promise: a cluster may count more than 2^16 keys of one bin (more than 2^24 on a GPU).
TEST_CASE("cluster_histogram: a cluster counts more than 2^16 keys of one bin") {
  if (!course::has_clusters()) SKIP(course::kNoClusters);
  const Shape s{1, 2, 1024};
  const std::size_t n = course::kCpuDevice ? 70'000 : 17'000'000;
  INFO(text_of(n, 5, "all keys are 3", s));
  check_histogram(std::vector<unsigned>(n, 3), 5, s);
}

// Promise: each bin is counted by one block of the cluster, so that there may be more
// bins than a block can hold.
TEST_CASE("cluster_histogram: more bins than one block can hold") {
  if (!course::has_clusters()) SKIP(course::kNoClusters);
  course::skip_under_sanitizer();
  constexpr unsigned kBins = 80'000;  // 40,000 bytes in each of eight blocks
  const Shape s{1, 8, 256};
  INFO(text_of(3000, kBins, "all keys are bins", s));
  check_histogram(random_keys(3000, kBins), kBins, s);
}

// Promise: a key makes at most one atomic on shared memory: lanes with the same key may share one.
// Promise: a cluster makes at most one atomic on global memory for each bin, and none if
// it has counted nothing there.
// Promise: the threads of the grid share the keys.
TEST_CASE("cluster_histogram: a shared atomic per key, and a global one per bin that has counted") {
  if (!course::has_clusters()) SKIP(course::kNoClusters);
  course::skip_without_counters();
  const Shape s{4, 4, 128};
  constexpr unsigned kBins = 1200, kUsed = 400;                 // two thirds of the bins stay empty
  const std::vector<unsigned> keys = random_keys(8192, kUsed);  // 4 turns for each warp
  INFO(text_of(keys.size(), kBins, "all keys are below 400", s));
  const auto c = course::count([&] { check_histogram(keys, kBins, s); });
  REQUIRE(course::at_most(c->shared_atomic_lanes, keys.size(), "atomics on shared memory",
                          "one per key"));
  REQUIRE(course::at_most(c->global_atomic_lanes, std::uint64_t{s.clusters} * kUsed,
                          "atomics on global memory",
                          "one for each bin of a cluster whose count is not 0"));
  // A source that names a key three times loads it three times.
  REQUIRE(course::work_is_shared(*c, 3 * 4 + 1));
  // A block has 300 counters for 128 threads: a warp goes 3 times through them, one thread 300 times.
  REQUIRE(course::shared_work_is_shared(*c, 200));
}

}  // namespace cluster_histogram_check
