// Check of the exercise cluster_max: clusters of every size, blocks without elements, negative numbers, and
// that the blocks meet in shared memory.
#include "cluster_max.cuh"

#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <course/cases.cuh>
#include <course/check.cuh>
#include <course/cluster.cuh>
#include <course/data.cuh>
#include <course/guarded.cuh>
#include <course/launch.cuh>
#include <course/placed.cuh>
#include <cstddef>
#include <string>
#include <vector>

namespace cluster_max_check {

struct Shape {
  unsigned clusters, cluster, block;
  unsigned blocks() const { return clusters * cluster; }
  std::size_t threads() const { return std::size_t{blocks()} * block; }
};

std::string text_of(std::size_t n, const std::string& data, const Shape& s) {
  return course::case_text(n, data, "cluster_max", {s.blocks(), s.block}) + " in clusters of " +
         course::counted(s.cluster, "block");
}

std::vector<float> reference(const std::vector<float>& x, const Shape& s) {
  std::vector<float> maxima(s.clusters, -INFINITY);
  for (std::size_t i = 0; i < x.size(); ++i) {
    const std::size_t c = i % s.threads() / s.block / s.cluster;
    maxima[c] = std::fmax(maxima[c], x[i]);
  }
  return maxima;
}

void check_max(const std::vector<float>& x, const Shape& s) {
  const course::Placed<float> d_x(x, 1);  // a float may be anywhere
  course::GuardedBuffer<float> maxima(s.clusters);
  course::launch(cluster_max, {.blocks = s.blocks(), .threads = s.block, .cluster = s.cluster},
                 d_x.data(), x.size(), maxima.data());
  REQUIRE(course::same(maxima.download(), reference(x, s), "maxima"));
  REQUIRE(maxima.intact("maxima"));
}

/// Numbers below zero; every one of them may be the largest.
std::vector<float> negative(std::size_t n) {
  std::vector<float> x = course::position_values<float>(n);
  for (float& value : x) value -= 100.0f;
  return x;
}

// Promise: maxima[c] becomes the largest of the elements of cluster c.
// Promise: element i belongs to thread i % (gridDim.x * blockDim.x) of the
// grid, as in a grid-stride loop.
// Promise: no block uses shared memory of a block that has not begun, or has left (SHARED MEMORY OF
// A BLOCK THAT MAY NOT HAVE BEGUN, BLOCK LEFT WHILE OTHERS USE ITS SHARED MEMORY).
TEST_CASE("cluster_max: clusters of every size, and blocks of several") {
  if (!course::has_clusters()) SKIP(course::kNoClusters);
  for (unsigned cluster = 1; cluster <= course::kMostBlocksOfCluster; ++cluster) {
    const Shape s{3, cluster, cluster % 2 == 0 ? 32u : 96u};
    const std::size_t n = 2 * s.threads() + 7;
    INFO(text_of(n, "all below zero", s));
    check_max(negative(n), s);
  }
}

// Promise: a cluster has 1 to 8 blocks that follow each other, and the
// maximum of each of them counts.
TEST_CASE("cluster_max: the largest number in each block of a cluster") {
  if (!course::has_clusters()) SKIP(course::kNoClusters);
  for (const unsigned cluster : {2u, 5u, 8u}) {
    const Shape s{1, cluster, 64};
    for (unsigned block = 0; block < cluster; ++block) {
      std::vector<float> x = negative(s.threads());
      x[std::size_t{block} * s.block + 17] = -1.0f;
      INFO(text_of(x.size(), "the largest in block " + std::to_string(block), s));
      check_max(x, s);
    }
  }
}

// Promise: n may be 0, and a block may have no element.
// Promise: a cluster without elements writes -INFINITY.
TEST_CASE("cluster_max: blocks and clusters without elements, and none at all") {
  if (!course::has_clusters()) SKIP(course::kNoClusters);
  const Shape s{3, 4, 32};
  for (const std::size_t n : {0u, 1u, 31u, 33u, 130u}) {
    INFO(text_of(n, "all below zero", s));
    check_max(negative(n), s);
  }
}

// Promise: maxima[c] becomes the largest of the elements of cluster c, and of no others: not that of x[n - 1], which is the
// largest one here.
TEST_CASE("cluster_max: the last element is the largest, and one cluster's") {
  if (!course::has_clusters()) SKIP(course::kNoClusters);
  for (const Shape s : {Shape{2, 1, 32}, Shape{3, 2, 64}, Shape{3, 3, 32}}) {
    for (const std::size_t n : {s.block + std::size_t{1}, s.threads() - 5, 2 * s.threads() + 3,
                                5 * s.threads() - s.block - 1}) {
      std::vector<float> x = negative(n);
      x.back() = 1.0f;
      INFO(text_of(n, "all below zero but the last one", s));
      check_max(x, s);
    }
  }
}

// Promise: infinities are numbers like all others.
TEST_CASE("cluster_max: infinities are numbers") {
  if (!course::has_clusters()) SKIP(course::kNoClusters);
  const Shape s{2, 2, 32};
  std::vector<float> x(s.threads(), -INFINITY);
  x[100] = INFINITY;
  INFO(text_of(x.size(), "-INFINITY, and one INFINITY", s));
  check_max(x, s);
}

/// The blocks of each cluster have zeros alone, of one sign in every second block, and of the other one between them.
std::vector<float> zeros_of_both_signs(const Shape& s, bool negative_first) {
  std::vector<float> x;
  for (std::size_t i = 0; i < s.threads(); ++i) {
    x.push_back((i / s.block % 2 == 0) == negative_first ? -0.0f : 0.0f);
  }
  return x;
}
constexpr const char* kZeros = "+0 in every second block, -0 in the others";

// Promise: the largest number may be the same in several blocks, be it a zero of either sign.
TEST_CASE("cluster_max: the largest number is a zero in all blocks") {
  if (!course::has_clusters()) SKIP(course::kNoClusters);
  for (const Shape s : {Shape{2, 2, 32}, Shape{2, 3, 64}, Shape{1, 8, 32}}) {
    for (const bool negative_first : {false, true}) {
      INFO(text_of(s.threads(), kZeros, s));
      check_max(zeros_of_both_signs(s, negative_first), s);
    }
  }
}

// Promise: a block has any multiple of 32 threads, up to 1024.
TEST_CASE("cluster_max: full blocks") {
  if (!course::has_clusters()) SKIP(course::kNoClusters);
  const Shape s{2, 3, 1024};
  const std::size_t n = course::kBigSize;
  INFO(text_of(n, "all below zero", s));
  check_max(negative(n), s);
}

// Promise: a block has any number of warps from 1 to 32, and all of them count.
TEST_CASE("cluster_max: blocks of every number of warps") {
  if (!course::has_clusters()) SKIP(course::kNoClusters);
  for (unsigned block = 32; block <= 1024; block += 32) {
    const Shape s{1, 2, block};
    std::vector<float> x = negative(s.threads());
    x.back() = 1.0f;  // in the last warp
    INFO(text_of(x.size(), "all below zero but the last one", s));
    check_max(x, s);
  }
}

// Promise: n, and the threads of the grid, may be more than 2^32 (the CPU device runs the last two blocks of a grid that has
// a thread for each element).
TEST_CASE("cluster_max: more than 2^32 threads") {
  if (!course::has_clusters()) SKIP(course::kNoClusters);
  const Shape s{course::kHugeGrid.grid, 1, course::kHugeGrid.block};
  std::vector<float> x(course::kLastItems);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i) - 100.0f;
  const course::Placed<float> placed(x, 1);
  if (course::kCpuDevice) {
    course::GuardedBuffer<float> last_maxima(2);
    INFO(text_of(course::kHugeItems, "the last are -100, -99, ..., -37", s));
    course::at_end_of_huge_grid([&](course::LaunchShape grid, std::size_t items) {
      const float* const d_x = placed.data() - (items - x.size());
      float* const maxima = last_maxima.data() - (grid.grid - 2);
      course::launch(cluster_max, {.blocks = grid.grid, .threads = grid.block}, d_x, items, maxima);
      REQUIRE(course::same(last_maxima.download(), {-69.0f, -37.0f}, "(maxima + 134217727)"));
      REQUIRE(last_maxima.intact("maxima"));
    });
  } else {
    course::in_huge_grids(x.size(), [&](course::LaunchShape grid) {
      std::vector<float> expected(grid.grid, -INFINITY);
      for (std::size_t i = 0; i < x.size(); ++i) expected[i / grid.block] = x[i];  // x grows
      course::GuardedBuffer<float> maxima(grid.grid);
      INFO(text_of(x.size(), "-100, -99, ..., -37", {grid.grid, 1, grid.block}));
      course::launch(cluster_max, {.blocks = grid.grid, .threads = grid.block}, placed.data(),
                     x.size(), maxima.data());
      REQUIRE(course::same(maxima.download(), expected, "maxima"));
    });
  }
}

// Promise: n may exceed 2^32, and all elements count (GPU only).
TEST_CASE("cluster_max: more than 2^32 elements") {
  if (!course::has_clusters()) SKIP(course::kNoClusters);
  constexpr std::size_t n = (std::size_t{1} << 32) + 300;
  course::skip_without_memory(n * sizeof(float));
  auto x = course::DeviceBuffer<float>::zeros(n);
  const float largest = 5.0f;
  CUDA_CHECK(cudaMemcpy(x.data() + n - 1, &largest, sizeof largest, cudaMemcpyHostToDevice));
  course::DeviceBuffer<float> maxima(1);
  course::launch(cluster_max, {.blocks = 8, .threads = 1024, .cluster = 8}, x.data(), n,
                 maxima.data());
  REQUIRE(course::same(maxima.front(), largest, "maxima[0]"));
}

// Promise: there is one store to maxima per cluster, and no atomic.
// Promise: the blocks of a cluster meet in shared memory.
TEST_CASE("cluster_max: one store per cluster, no atomic, and maxima pass through shared memory") {
  if (!course::has_clusters()) SKIP(course::kNoClusters);
  course::skip_without_counters();
  const Shape s{2, 4, 128};
  const std::size_t n = 3 * s.threads();
  const auto c = course::count([&] { check_max(negative(n), s); });
  INFO(text_of(n, "all below zero", s));
  REQUIRE(course::at_most(c->global_store_lanes, s.clusters, "stores to global memory",
                          "the blocks of a cluster meet in shared memory first"));
  REQUIRE(course::none(c->global_atomic_lanes + c->shared_atomic_lanes, "atomics",
                       "each cluster writes its own element of maxima"));
  REQUIRE(course::work_is_shared(*c, 8));
  // Twice: `x[i] > largest ? x[i] : largest` names an element two times.
  REQUIRE(course::at_most(c->global_load_lanes, 2 * n, "loads from global memory",
                          "the maxima of the blocks go through shared memory"));
}

// Promise: there is one store to maxima per cluster, also if several blocks have the largest number.
TEST_CASE("cluster_max: one store per cluster where all blocks have the largest number") {
  if (!course::has_clusters()) SKIP(course::kNoClusters);
  course::skip_without_counters();
  const Shape s{2, 4, 32};
  for (const bool negative_first : {false, true}) {
    INFO(text_of(s.threads(), kZeros, s));
    const auto c = course::count([&] { check_max(zeros_of_both_signs(s, negative_first), s); });
    REQUIRE(course::at_most(c->global_store_lanes, s.clusters, "stores to global memory",
                            "one thread of one block stores"));
  }
}

}  // namespace cluster_max_check
