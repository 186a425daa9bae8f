// Counters: what a launch asks of memory, exactly, as the source says it.
#include <cuda_runtime.h>
#include <cuda/atomic>

#include <catch2/catch_test_macros.hpp>

#include <algorithm>
#include <string>
#include <vector>

#include "testing.hpp"

using simt::Counters;
using simt_test::Array;
using simt_test::observe;

namespace {

/// What `work` did; its values and reports are tested elsewhere.
Counters count(const std::function<void()>& work) {
  Counters counters;
  observe([&] {
    const simt::CountScope scope;
    work();
    counters = scope.counters();
  });
  return counters;
}

__device__ unsigned thread_number() { return blockIdx.x * blockDim.x + threadIdx.x; }

// ---- sectors ------------------------------------------------------------------------------------

__global__ void copy(const float* x, float* y) {
  const unsigned i = thread_number();
  y[i] = x[i];
}
/// Two blocks of four warps, and one warp does the work of all.
__global__ void copy_by_one_warp(const float* x, float* y) {
  if (blockIdx.x > 0 || threadIdx.x >= 32) return;
  for (unsigned i = threadIdx.x; i < gridDim.x * blockDim.x; i += 32) y[i] = x[i];
}
__global__ void copy_strided(const float* x, float* y, unsigned stride) {
  const unsigned i = thread_number();
  y[i] = x[i * stride];
}
__global__ void copy_pairs(const float* x, float* y) {
  const unsigned i = thread_number();
  y[2 * i] = x[2 * i];
  y[2 * i + 1] = x[2 * i + 1];
}
__global__ void copy_fours(const float4* x, float4* y) {
  const unsigned i = thread_number();
  y[i] = x[i];
}
__global__ void sum_fours(const float4* x, float* y) {
  const unsigned i = thread_number();
  const float4 v = x[i];
  y[i] = v.x + v.y + v.z + v.w;
}
__global__ void copy_shifted(const float* x, float* y) {
  const unsigned i = thread_number();
  y[i] = x[i + 1];
}
__global__ void broadcast(const float* x, float* y) { y[thread_number()] = x[0]; }
__global__ void copy_bytes(const unsigned char* x, unsigned char* y) {
  const unsigned i = thread_number();
  y[i] = x[i];
}

}  // namespace

TEST_CASE("32-byte sectors per request") {
  Array<float> x(std::vector<float>(8192, 1.0f)), y(1024);
  auto* x4 = reinterpret_cast<float4*>(x.data());
  auto* y4 = reinterpret_cast<float4*>(y.data());

  SECTION("neighbours: 4") {
    const Counters c = count([&] { copy<<<2, 128>>>(x.data(), y.data()); });
    CHECK(c.global_loads == 8);
    CHECK(c.global_load_sectors == 8 * 4);
    CHECK(c.global_stores == 8);
    CHECK(c.global_store_sectors == 8 * 4);
    CHECK(c.global_load_lanes == 256);
    CHECK(c.global_store_lanes == 256);
  }
  SECTION("far apart: 32") {
    const Counters c = count([&] { copy_strided<<<2, 128>>>(x.data(), y.data(), 32); });
    CHECK(c.global_loads == 8);
    CHECK(c.global_load_sectors == 8 * 32);
  }
  SECTION("every second: 8") {
    const Counters c = count([&] { copy_strided<<<1, 32>>>(x.data(), y.data(), 2); });
    CHECK(c.global_load_sectors == 8);
  }
  SECTION("pairs, one after the other: 8 and 8") {
    const Counters c = count([&] { copy_pairs<<<1, 32>>>(x.data(), y.data()); });
    CHECK(c.global_loads == 2);
    CHECK(c.global_load_sectors == 16);
    CHECK(c.global_stores == 2);
    CHECK(c.global_store_sectors == 16);
  }
  SECTION("float4: 16 in one request") {
    Counters c = count([&] { copy_fours<<<2, 64>>>(x4, y4); });
    CHECK(c.global_loads == 4);
    CHECK(c.global_load_sectors == 4 * 16);
    CHECK(c.global_stores == 4);
    CHECK(c.global_store_sectors == 4 * 16);
    c = count([&] { sum_fours<<<1, 32>>>(x4, y.data()); });
    CHECK(c.global_loads == 1);
    CHECK(c.global_load_sectors == 16);
    CHECK(c.global_store_sectors == 4);
  }
  SECTION("neighbours, not aligned: 5") {
    const Counters c = count([&] { copy_shifted<<<1, 32>>>(x.data(), y.data()); });
    CHECK(c.global_load_sectors == 5);
    CHECK(c.global_store_sectors == 4);
  }
  SECTION("one for all: 1") {
    const Counters c = count([&] { broadcast<<<1, 32>>>(x.data(), y.data()); });
    CHECK(c.global_loads == 1);
    CHECK(c.global_load_sectors == 1);
  }
  SECTION("half a warp: 2, still one request") {
    const Counters c = count([&] { copy<<<1, 16>>>(x.data(), y.data()); });
    CHECK(c.global_loads == 1);
    CHECK(c.global_load_sectors == 2);
    CHECK(c.global_load_lanes == 16);
    CHECK(c.global_store_lanes == 16);
  }
  SECTION("bytes: 1") {
    auto* from = reinterpret_cast<unsigned char*>(x.data());
    auto* to = reinterpret_cast<unsigned char*>(y.data());
    const Counters c = count([&] { copy_bytes<<<1, 32>>>(from, to); });
    CHECK(c.global_load_sectors == 1);
    CHECK(c.global_store_sectors == 1);
  }
}

// ---- divergence ---------------------------------------------------------------------------------

namespace {

// Half of the lanes load in each of 8 rounds.
__global__ void every_other_round(const float* x, float* y) {
  const unsigned t = threadIdx.x;
  float sum = 0;
  for (unsigned k = 0; k < 8; ++k) {
    if ((k + t) % 2 == 1) sum += x[k * 32 + t];
  }
  y[t] = sum;
}

// Lane t loads t % 4 + 1 times; the last rounds belong to fewer lanes.
__global__ void uneven_rounds(const float* x, float* y) {
  const unsigned t = threadIdx.x;
  float sum = 0;
  for (unsigned k = 0; k <= t % 4; ++k) sum += x[k * 32 + t];
  y[t] = sum;
}

__device__ __attribute__((noinline)) float load(const float* p) { return *p; }
__global__ void load_in_two_branches(const float* x, float* y) {
  const unsigned t = threadIdx.x;
  y[t] = t % 2 == 1 ? load(x + t) : load(x + 64 + t);
}

__global__ void reconverge_after_branch(const float* x, float* y) {
  const unsigned t = threadIdx.x;
  float v = 0;
  if (t < 16) v = x[t];
  y[t] = v;
}

// A filter: the lanes of the `if` share one atomic, and meet the others after it.
__global__ void active_lanes_share_an_atomic(const float* x, float* y, int* counter) {
  const int t = static_cast<int>(threadIdx.x);
  for (int k = 0; k < 7; ++k) {
    const float v = x[k * 32 + t];
    if ((t + k) % 3 == 0 && v > 0) {
      const unsigned active = __activemask();
      const int leader = __ffs(static_cast<int>(active)) - 1;
      int first = 0;
      if (t == leader) first = atomicAdd(counter, __popc(active));
      first = __shfl_sync(active, first, leader);
      y[first + __popc(active & ((1u << t) - 1))] = v;
    }
  }
}

}  // namespace

TEST_CASE("diverging warps are counted as a GPU would run them") {
  const Array<float> x(std::vector<float>(1024, 1.0f));
  Array<float> y(32);
  SECTION("8 rounds of half a warp") {
    const Counters c = count([&] { every_other_round<<<1, 32>>>(x.data(), y.data()); });
    CHECK(c.global_loads == 8);
    CHECK(c.global_load_sectors == 8 * 4);
    CHECK(c.global_stores == 1);
  }
  SECTION("rounds that lanes leave one after the other") {
    const Counters c = count([&] { uneven_rounds<<<1, 32>>>(x.data(), y.data()); });
    CHECK(c.global_loads == 4);
    CHECK(c.global_load_sectors == 4 * 4);
    CHECK(c.global_stores == 1);
  }
  SECTION("one function called from two branches") {
    const Counters c = count([&] { load_in_two_branches<<<1, 32>>>(x.data(), y.data()); });
    CHECK(c.global_loads == 2);
    CHECK(c.global_load_sectors == 8);
    CHECK(c.global_stores == 1);
  }
  SECTION("__activemask() in an if, in a loop") {
    Array<float> kept(7 * 11);
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
      auto counter = Array<int>::zeros(1);
      simt::set_seed(seed);
      const Counters c = count(
          [&] { active_lanes_share_an_atomic<<<1, 32>>>(x.data(), kept.data(), counter.data()); });
      simt::set_seed(0);
      CHECK(c.global_loads == 7);
      CHECK(c.global_atomics == 7);
      CHECK(c.global_atomic_lanes == 7);
      CHECK(c.global_stores == 7);
      CHECK(counter.front() == 75);
    }
  }
  SECTION("both sides of an if meet after it") {
    const Counters c = count([&] { reconverge_after_branch<<<1, 32>>>(x.data(), y.data()); });
    CHECK(c.global_loads == 1);
    CHECK(c.global_load_sectors == 2);
    CHECK(c.global_stores == 1);
    CHECK(c.global_store_sectors == 4);
  }
}

// ---- shared memory ------------------------------------------------------------------------------

namespace {

/// Writes a tile by rows and reads it by columns.
template <int columns>
__global__ void transpose_tile(float* y) {
  __shared__ float s_tile[32][columns];
  const unsigned t = threadIdx.x;
  for (unsigned row = 0; row < 32; ++row) s_tile[row][t] = 1;
  __syncwarp();
  for (unsigned row = 0; row < 32; ++row) y[row * 32 + t] = s_tile[t][row];
}

template <class T>
__global__ void shared_round_trip(T* y) {
  __shared__ T s_x[64];
  const unsigned t = threadIdx.x;
  s_x[t] = T{};
  y[t] = s_x[t];
}

__global__ void shared_stride(float* y, unsigned stride) {
  __shared__ float s_x[1024];
  s_x[threadIdx.x * stride] = 1;
  y[threadIdx.x] = s_x[threadIdx.x * stride];
}

}  // namespace

TEST_CASE("wavefronts of shared memory: bank conflicts") {
  Array<float> y(1024);
  SECTION("a column of a 32 x 32 tile: 32") {
    const Counters c = count([&] { transpose_tile<32><<<1, 32>>>(y.data()); });
    CHECK(c.shared_stores == 32);
    CHECK(c.shared_store_wavefronts == 32);
    CHECK(c.shared_loads == 32);
    CHECK(c.shared_load_wavefronts == 32 * 32);
  }
  SECTION("a column of a padded tile: 1") {
    const Counters c = count([&] { transpose_tile<33><<<1, 32>>>(y.data()); });
    CHECK(c.shared_loads == 32);
    CHECK(c.shared_load_wavefronts == 32);
  }
  SECTION("strides") {
    for (const unsigned stride : {1u, 2u, 3u, 4u, 8u, 32u}) {
      const Counters c = count([&] { shared_stride<<<1, 32>>>(y.data(), stride); });
      CHECK(c.shared_load_wavefronts == (stride % 2 == 1 ? 1u : stride));
    }
  }
  SECTION("one word for all lanes: 1") {
    const Counters c = count([&] { shared_stride<<<1, 32>>>(y.data(), 0); });
    CHECK(c.shared_load_wavefronts == 1);
  }
  SECTION("wide types take two and four passes without a conflict") {
    auto* y2 = reinterpret_cast<float2*>(y.data());
    auto* y4 = reinterpret_cast<float4*>(y.data());
    Counters c = count([&] { shared_round_trip<<<1, 32>>>(y2); });
    CHECK(c.shared_loads == 1);
    CHECK(c.shared_load_wavefronts == 2);
    c = count([&] { shared_round_trip<<<1, 32>>>(y4); });
    CHECK(c.shared_load_wavefronts == 4);
  }
}

// ---- atomics, barriers, launches ----------------------------------------------------------------

namespace {

__global__ void add_to_one(float* total) { atomicAdd(total, 1.0f); }
__global__ void add_to_each(int* counts) { atomicAdd(&counts[threadIdx.x], 1); }
__global__ void add_to_bins(int* counts) { atomicAdd(&counts[threadIdx.x % 4], 1); }
__global__ void swap_from_zero(int* counts) {
  atomicCAS(&counts[threadIdx.x], 0, 1);
  atomicExch(&counts[threadIdx.x], 2);
}
__global__ void look(int* counts) {
  const volatile int own = 1;
  int seen = counts[threadIdx.x] + own;                           // not volatile; not global
  seen += *static_cast<volatile int*>(&counts[threadIdx.x % 2]);  // volatile
  seen += cuda::atomic_ref<int>(counts[threadIdx.x]).load();      // atomic
  counts[threadIdx.x] = seen;
}
__global__ void add_in_shared(int* out) {
  __shared__ int s_count;
  if (threadIdx.x == 0) s_count = 0;
  __syncthreads();
  atomicAdd(&s_count, 1);
  __syncthreads();
  if (threadIdx.x == 0) atomicAdd(out, s_count);
}
__global__ void sync_warps() {
  __syncwarp();
  __syncwarp();
  __syncthreads();
}
__global__ void nothing() {}

}  // namespace

TEST_CASE("atomics: requests, lanes and addresses") {
  auto total = Array<float>::zeros(1);
  auto counts = Array<int>::zeros(64);
  Counters c = count([&] { add_to_one<<<2, 48>>>(total.data()); });
  CHECK(c.global_atomics == 4);
  CHECK(c.global_atomic_lanes == 96);
  CHECK(c.global_atomic_addresses == 4);
  CHECK(c.global_loads == 0);
  CHECK(c.global_stores == 0);
  c = count([&] { add_to_each<<<1, 64>>>(counts.data()); });
  CHECK(c.global_atomics == 2);
  CHECK(c.global_atomic_addresses == 64);
  c = count([&] { add_to_bins<<<1, 64>>>(counts.data()); });
  CHECK(c.global_atomic_lanes == 64);
  CHECK(c.global_atomic_addresses == 8);
  CHECK(c.global_compare_and_swaps == 0);
  c = count([&] { swap_from_zero<<<2, 48>>>(counts.data()); });
  CHECK(c.global_atomic_lanes == 2 * 96);
  CHECK(c.global_compare_and_swaps == 96);
  c = count([&] { add_in_shared<<<3, 64>>>(counts.data()); });
  CHECK(c.shared_atomics == 6);
  CHECK(c.shared_atomic_lanes == 192);
  CHECK(c.shared_atomic_addresses == 6);
  CHECK(c.global_atomics == 3);
  CHECK(c.global_atomic_lanes == 3);
  CHECK(c.barriers == 6);
}

TEST_CASE("volatile loads of global memory are counted, by lanes") {
  auto counts = Array<int>::zeros(64);
  const Counters c = count([&] { look<<<1, 2>>>(counts.data()); });
  CHECK(c.global_load_lanes == 2 * 3);
  CHECK(c.global_volatile_loads == 2);
}

TEST_CASE("launches, blocks, warps, threads and barriers") {
  Counters c = count([] {
    sync_warps<<<2, 96>>>();
    nothing<<<dim3(2, 3), dim3(8, 5)>>>();
  });
  CHECK(c.launches == 2);
  CHECK(c.blocks == 8);
  CHECK(c.warps == 6 + 12);
  CHECK(c.threads == 192 + 240);
  CHECK(c.barriers == 2);
  CHECK(c.warp_barriers == 12);
  c = count([] {});
  CHECK(c.launches == 0);
}

TEST_CASE("scopes nest, and count only what happens inside") {
  auto total = Array<float>::zeros(1);
  observe([&] {
    add_to_one<<<1, 32>>>(total.data());
    const simt::CountScope outer;
    add_to_one<<<1, 32>>>(total.data());
    {
      const simt::CountScope inner;
      add_to_one<<<1, 32>>>(total.data());
      CHECK(inner.counters().global_atomics == 1);
    }
    add_to_one<<<1, 32>>>(total.data());
    CHECK(outer.counters().global_atomics == 3);
  });
  CHECK(total.front() == 128);
}

// ---- the checker works in lockstep, too ---------------------------------------------------------

namespace {

__global__ void racy_reverse(int* y) {
  __shared__ int s_x[64];
  s_x[threadIdx.x] = 1;
  y[threadIdx.x] = s_x[63 - threadIdx.x];
}

__global__ void lock_and_count(int* lock, int* total) {
  bool done = false;
  while (!done) {
    if (atomicCAS(lock, 0, 1) != 0) continue;
    __threadfence();
    *total += 1;
    __threadfence();
    atomicExch(lock, 0);
    done = true;
  }
}

}  // namespace

namespace {

__global__ void clear_by_one_warp(float* y) {
  __shared__ int s_x[64];
  if (threadIdx.x < 32) {
    s_x[threadIdx.x] = 0;
    s_x[threadIdx.x + 32] = 0;
    atomicAdd(&s_x[threadIdx.x], 1);
  }
  __syncthreads();
  y[thread_number()] = static_cast<float>(s_x[threadIdx.x]);
}

}  // namespace

TEST_CASE("the busiest warp is the one with the most requests") {
  const Array<float> x(256);
  Array<float> y(256);
  const auto shared = [&] { copy<<<2, 128>>>(x.data(), y.data()); };
  CHECK(count(shared).busiest_warp_requests == 2);  // a load and a store each
  const Counters alone = count([&] {
    shared();
    copy_by_one_warp<<<2, 128>>>(x.data(), y.data());
  });
  CHECK(alone.busiest_warp_requests == 2 * 8);
  CHECK(alone.global_loads == 2 * 8);
  CHECK(count(shared).busiest_warp_requests == 2);  // it begins anew
  CHECK(count([] {}).busiest_warp_requests == 0);
  const Counters tree = count([&] { clear_by_one_warp<<<2, 64>>>(y.data()); });
  CHECK(tree.busiest_warp_shared_requests == 3 + 1);  // two stores, an atomic; a load
  CHECK(count(shared).busiest_warp_shared_requests == 0);
}

TEST_CASE("the busiest block is the one with the most requests") {
  const Array<float> x(256);
  Array<float> y(256);
  const auto two_blocks = [&] { copy<<<2, 128>>>(x.data(), y.data()); };
  CHECK(count(two_blocks).busiest_block_requests == 2 * 4);  // a load and a store of four warps
  const Counters more = count([&] {
    two_blocks();
    copy<<<1, 256>>>(x.data(), y.data());
  });
  CHECK(more.busiest_block_requests == 2 * 8);
  CHECK(count(two_blocks).busiest_block_requests == 2 * 4);  // it begins anew
}

TEST_CASE("each kernel's counts are its launches'") {
  const Array<float> x(256);
  Array<float> y(256);
  const auto work = [&] {
    copy<<<2, 128>>>(x.data(), y.data());
    clear_by_one_warp<<<2, 64>>>(y.data());
    copy<<<1, 32>>>(x.data(), y.data());
    static_cast<void>(cudaDeviceSynchronize());
  };
  std::vector<simt::KernelCounters> kernels;
  observe([&] {
    work();  // not counted
    const simt::CountScope scope;
    work();
    kernels = scope.by_kernel();
  });
  REQUIRE(kernels.size() == 2);
  CHECK(kernels[0].kernel == "copy");
  CHECK(kernels[0].counters.launches == 2);
  CHECK(kernels[0].counters.threads == 2 * 128 + 32);
  CHECK(kernels[0].counters.global_loads == 8 + 1);
  CHECK(kernels[0].counters.global_load_sectors == 4 * (8 + 1));
  CHECK(kernels[0].counters.barriers == 0);
  CHECK(kernels[1].kernel == "clear_by_one_warp");
  CHECK(kernels[1].counters.launches == 1);
  CHECK(kernels[1].counters.barriers == 2);
  CHECK(kernels[1].counters.busiest_warp_requests == 0);  // of the scope, not of a kernel
  CHECK(observe([&] { CHECK(simt::CountScope().by_kernel().empty()); }).clean());
}

TEST_CASE("each line's counts are its loads, stores and atomics of each array") {
  const Array<float> x(256);
  Array<float> y(256), z(256);
  observe([&] {
    const simt::CountScope scope;
    copy<<<2, 128>>>(x.data(), y.data());
    copy<<<1, 32>>>(x.data(), z.data());
    copy<<<1, 64>>>(x.data(), y.data());
  });
  std::vector<simt::LineCounters> lines = simt::counted_by_line();
  REQUIRE(lines.size() == 3);
  std::sort(lines.begin(), lines.end(), [](const auto& a, const auto& b) {
    return a.counters.global_store_lanes < b.counters.global_store_lanes;
  });
  CHECK(lines[0].line == lines[2].line);
  CHECK(lines[0].line.find("counters_test.cu:") != std::string::npos);
  CHECK(lines[0].counters.global_loads == 8 + 1 + 2);
  CHECK(lines[0].counters.global_load_sectors == 4 * (8 + 1 + 2));
  CHECK(lines[0].counters.global_load_lanes == 256 + 32 + 64);
  CHECK(lines[1].counters.global_store_lanes == 32);
  CHECK(lines[2].counters.global_store_lanes == 256 + 64);
  CHECK(lines[2].counters.global_loads == 0);
  observe([&] { const simt::CountScope scope; });
  CHECK(simt::counted_by_line().empty());
}

TEST_CASE("races are found while counting") {
  Array<int> y(64);
  const auto outcome = observe([&] {
    const simt::CountScope scope;
    racy_reverse<<<1, 64>>>(y.data());
  });
  CHECK(outcome.found(simt::ReportKind::race));
}

TEST_CASE("a spin lock makes progress in lockstep") {
  auto lock = Array<int>::zeros(1);
  auto total = Array<int>::zeros(1);
  const auto outcome = observe([&] {
    const simt::CountScope scope;
    lock_and_count<<<2, 32>>>(lock.data(), total.data());
  });
  INFO(outcome.text());
  CHECK(outcome.clean());
  CHECK(total.front() == 64);
}
