// mbarriers, bulk loads and bulk additions through course/bulk.cuh: what they do, and what is found when
// a wait or a fence is missing.
#include <course/bulk.cuh>
#include <course/check.cuh>
#include <vector>

#include "simt/testing.hpp"
#include "testing.hpp"

using simt::ReportKind;
using namespace simt_test;

namespace {

constexpr unsigned kThreads = 64, kTiles = 6, kStages = 2;

enum class Mistake {
  none,
  no_wait,
  no_sync,
  wrong_parity,
  no_expect,
  twice,
  no_fence,
  no_commit,
  no_read_wait,
  early_write
};

// ---- loads --------------------------------------------------------------------------------------

/// y: x, each tile backwards. A ring of two tiles: while one is read, the next one is loaded.
template <Mistake mistake>
__global__ void reverse_tiles(const int* x, int* y) {
  __shared__ alignas(16) int s_x[kStages][kThreads];
  __shared__ course::Mbarrier s_loaded[kStages];
  const auto load = [&](unsigned tile) {
    course::Mbarrier* const b = &s_loaded[tile % kStages];
    if (mistake == Mistake::no_expect) {
      course::mbarrier_arrive(b);
    } else {
      course::mbarrier_arrive_expect(b, sizeof s_x[0]);
    }
    course::bulk_load(s_x[tile % kStages], x + tile * kThreads, sizeof s_x[0], b);
  };
  if (threadIdx.x == 0) {
    for (course::Mbarrier& b : s_loaded) course::mbarrier_init(&b, 1);
    for (unsigned tile = 0; tile < kStages; ++tile) load(tile);
  }
  __syncthreads();
  for (unsigned tile = 0; tile < kTiles; ++tile) {
    const unsigned stage = tile % kStages, parity = tile / kStages % 2;
    if (mistake == Mistake::wrong_parity) {
      course::mbarrier_wait(&s_loaded[stage], 1 - parity);
    } else if (mistake != Mistake::no_wait) {
      course::mbarrier_wait(&s_loaded[stage], parity);
    }
    y[tile * kThreads + threadIdx.x] = s_x[stage][kThreads - 1 - threadIdx.x];
    if (mistake != Mistake::no_sync) __syncthreads();  // the tile has been read
    if (threadIdx.x == 0 && tile + kStages < kTiles) load(tile + kStages);
  }
}

template <Mistake mistake>
bool reverses() {
  std::vector<int> host(kTiles * kThreads);
  for (unsigned i = 0; i < host.size(); ++i) host[i] = static_cast<int>(i * 3 + 1);
  const Array<int> x(host);
  const auto y = Array<int>::zeros(host.size());
  reverse_tiles<mistake><<<2, kThreads>>>(x.data(), y.data());
  const std::vector<int> found = y.values();
  for (unsigned i = 0; i < host.size(); ++i) {
    if (found[i] != host[i / kThreads * kThreads + kThreads - 1 - i % kThreads]) return false;
  }
  return true;
}

/// Both blocks of reverse_tiles write the same values to the same places; one of them is enough.
template <Mistake mistake>
bool one_reverses() {
  const auto x = Array<int>::zeros(kTiles * kThreads), y = Array<int>::zeros(kTiles * kThreads);
  reverse_tiles<mistake><<<1, kThreads>>>(x.data(), y.data());
  return y.front() == 0;
}

TEST_CASE("bulk loads in a ring of two tiles", "[bulk]") {
  CHECK(first_complaint(reverses<Mistake::none>, 8) == "");
}

TEST_CASE("a tile that is read before it has been waited for", "[bulk]") {
  CHECK(first_miss(ReportKind::race, [] { one_reverses<Mistake::no_wait>(); }) == "");
  CHECK(first_miss(
            ReportKind::race, [] { one_reverses<Mistake::wrong_parity>(); }, 4) == "");
}

TEST_CASE("a tile that is overwritten while others read it", "[bulk]") {
  CHECK(first_miss(ReportKind::race, [] { one_reverses<Mistake::no_sync>(); }) == "");
}

TEST_CASE("bytes that no arrival expects: the phase does not end", "[bulk]") {
  CHECK(first_miss(
            ReportKind::hang, [] { one_reverses<Mistake::no_expect>(); }, 2) == "");
}

/// Warps that consume, and one that loads: an mbarrier each way, and no __syncthreads().
__global__ void producer_and_consumers(const int* x, int* y) {
  __shared__ alignas(16) int s_x[kStages][kThreads];
  __shared__ course::Mbarrier s_full[kStages], s_empty[kStages];
  if (threadIdx.x == 0) {
    for (unsigned s = 0; s < kStages; ++s) {
      course::mbarrier_init(&s_full[s], 1);
      course::mbarrier_init(&s_empty[s], kThreads);
    }
  }
  __syncthreads();
  if (threadIdx.x >= kThreads) {
    if (threadIdx.x != kThreads) return;
    for (unsigned tile = 0; tile < kTiles; ++tile) {
      const unsigned s = tile % kStages;
      course::mbarrier_wait(&s_empty[s], tile / kStages % 2 ^ 1);  // the first ones are empty
      course::mbarrier_arrive_expect(&s_full[s], sizeof s_x[0]);
      course::bulk_load(s_x[s], x + tile * kThreads, sizeof s_x[0], &s_full[s]);
    }
    return;
  }
  for (unsigned tile = 0; tile < kTiles; ++tile) {
    const unsigned s = tile % kStages;
    course::mbarrier_wait(&s_full[s], tile / kStages % 2);
    y[tile * kThreads + threadIdx.x] = s_x[s][kThreads - 1 - threadIdx.x];
    course::mbarrier_arrive(&s_empty[s]);
  }
}

TEST_CASE("a warp that loads for others", "[bulk]") {
  CHECK(first_complaint(
            [] {
              std::vector<int> host(kTiles * kThreads);
              for (unsigned i = 0; i < host.size(); ++i) host[i] = static_cast<int>(i);
              const Array<int> x(host);
              const auto y = Array<int>::zeros(host.size());
              producer_and_consumers<<<1, kThreads + 32>>>(x.data(), y.data());
              return y.values()[5 * kThreads] == static_cast<int>(6 * kThreads - 1);
            },
            8) == "");
}

__global__ void load_odd(const int* x, int* y) {
  __shared__ alignas(16) int s_x[8];
  __shared__ course::Mbarrier s_loaded;
  if (threadIdx.x > 0) return;
  course::mbarrier_init(&s_loaded, 1);
  course::mbarrier_arrive_expect(&s_loaded, 16);
  course::bulk_load(s_x, x + 1, 16, &s_loaded);
  course::mbarrier_wait(&s_loaded, 0);
  y[0] = s_x[0];
}

TEST_CASE("bulk operations take multiples of 16 bytes", "[bulk]") {
  const auto outcome = observe([] {
    const auto x = Array<int>::zeros(8), y = Array<int>::zeros(1);
    load_odd<<<1, 32>>>(x.data(), y.data());
  });
  CHECK(outcome.error == cudaErrorMisalignedAddress);
}

// ---- additions ----------------------------------------------------------------------------------

constexpr unsigned kWidth = 32;

/// table += the rows' numbers: a row of shared memory for each warp, written by its lanes.
template <class T, Mistake mistake>
__global__ void add_rows(T* table, unsigned rounds) {
  __shared__ alignas(16) T s_row[2][kWidth];
  const unsigned warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  for (unsigned round = 0; round < rounds; ++round) {
    s_row[warp][lane] = static_cast<T>(1.0f + static_cast<float>(lane % 4));
    if (mistake != Mistake::no_fence) course::fence_before_bulk();
    __syncwarp();
    if (lane == 0) {
      course::bulk_add(table, s_row[warp], kWidth);
      if (mistake == Mistake::early_write) s_row[warp][3] = static_cast<T>(7.0f);
      if (mistake != Mistake::no_commit) course::bulk_commit();
      if (mistake != Mistake::no_read_wait) course::bulk_wait_read();
    }
    __syncwarp();
  }
}

template <class T, Mistake mistake>
bool adds(unsigned rounds = 3) {
  const auto table = Array<T>(std::vector<T>(kWidth, static_cast<T>(0.0f)));
  add_rows<T, mistake><<<2, 64>>>(table.data(), rounds);
  const std::vector<T> found = table.values();
  for (unsigned c = 0; c < kWidth; ++c) {
    const float expected = 4.0f * static_cast<float>(rounds) * (1.0f + static_cast<float>(c % 4));
    if (static_cast<float>(found[c]) != expected) return false;
  }
  return true;
}

TEST_CASE("bulk additions of float, half and bfloat16", "[bulk]") {
  CHECK(first_complaint([] { return adds<float, Mistake::none>(); }, 10) == "");
  CHECK(first_complaint([] { return adds<__half, Mistake::none>(); }, 10) == "");
  CHECK(first_complaint([] { return adds<__nv_bfloat16, Mistake::none>(); }, 10) == "");
}

TEST_CASE("a bulk addition whose source is written by threads needs a fence", "[bulk]") {
  CHECK(first_miss(ReportKind::race, [] { adds<float, Mistake::no_fence>(); }) == "");
  const simt::Report report = only_report([] { adds<float, Mistake::no_fence>(1); });
  CHECK(lacks(report, {"BULK OPERATION WITHOUT ITS FENCE", "fence_before_bulk"}) == "");
}

TEST_CASE("a source that is written before it has been read", "[bulk]") {
  CHECK(first_miss(ReportKind::race, [] { adds<float, Mistake::early_write>(); }) == "");
  CHECK(first_miss(ReportKind::race, [] { adds<float, Mistake::no_read_wait>(); }) == "");
  CHECK(first_miss(ReportKind::race, [] { adds<float, Mistake::no_commit>(); }) == "");
}

TEST_CASE("a block that leaves while its bulk addition may still read", "[bulk]") {
  const simt::Report report = only_report([] { adds<float, Mistake::no_read_wait>(1); });
  CHECK(lacks(report,
              {"BLOCK LEFT BEFORE ITS BULK OPERATION HAD READ", "s_row[", "bulk_wait_read"}) == "");
}

TEST_CASE("bulk operations are counted, and are no requests of a warp", "[bulk]") {
  const simt::CountScope scope;
  CHECK(adds<float, Mistake::none>());
  CHECK(scope.counters().bulk_additions == 2 * 2 * 3);
  CHECK(scope.counters().bulk_loads == 0);
  CHECK(scope.counters().global_atomics == 0);
}

/// Two blocks add to the same row, and one reads it: without an order it finds any sum.
__global__ void read_while_adding(float* table, float* y) {
  __shared__ alignas(16) float s_row[kWidth];
  s_row[threadIdx.x] = 1.0f;
  course::fence_before_bulk();
  __syncthreads();
  if (threadIdx.x != 0) return;
  if (blockIdx.x == 0) {
    course::bulk_add(table, s_row, kWidth);
    course::bulk_commit();
    course::bulk_wait_read();
  } else {
    y[0] = table[4];
  }
}

TEST_CASE("a read of what another block adds to is a race", "[bulk]") {
  CHECK(first_miss(
            ReportKind::race,
            [] {
              const auto table = Array<float>::zeros(kWidth), y = Array<float>::zeros(1);
              read_while_adding<<<2, kWidth>>>(table.data(), y.data());
            },
            4) == "");
}

}  // namespace
