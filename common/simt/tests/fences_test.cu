// Ordering across blocks and warps without barriers: flags, fences, locks and compare-and-swap
// loops, in right and wrong forms.
#include <cuda_runtime.h>

#include <catch2/catch_test_macros.hpp>
#include <ctime>

#include "hand_over.cuh"
#include "testing.hpp"

using simt::ReportKind;
using namespace simt_test;

// ---- one thread hands a value to another --------------------------------------------------------

namespace {

enum class Fence { none, writer_only, reader_only, both, both_block };

__device__ void fence_if(bool wanted, Fence fence) {
  if (!wanted) return;
  if (fence == Fence::both_block) {
    __threadfence_block();
  } else {
    __threadfence();
  }
}

/// Block `from` writes data[0] and raises the flag; thread 32 of block `to` waits, then reads.
template <Fence fence>
__global__ void hand_over(int* flag, int* data, int from, int to) {
  constexpr bool in_writer = fence != Fence::none && fence != Fence::reader_only;
  constexpr bool in_reader = fence != Fence::none && fence != Fence::writer_only;
  const int block = static_cast<int>(blockIdx.x);
  if (threadIdx.x == 0 && block == from) {
    data[0] = 42;
    fence_if(in_writer, fence);
    atomicExch(flag, 1);
  }
  if (threadIdx.x == 32 && block == to) {
    while (atomicAdd(flag, 0) == 0) {
    }
    fence_if(in_reader, fence);
    data[1] = data[0];
  }
}

/// The same with a volatile flag.
template <Fence fence>
__global__ void hand_over_volatile(volatile int* flag, int* data) {
  if (threadIdx.x == 0) {
    data[0] = 42;
    if (fence == Fence::both) __threadfence();
    *flag = 1;
  } else if (threadIdx.x == 32) {
    while (*flag == 0) {
    }
    if (fence == Fence::both) __threadfence();
    data[1] = data[0];
  }
}

/// The flag lives in shared memory: both threads are of one block, a fence of block scope is
/// enough.
__global__ void hand_over_in_block(int* data) {
  __shared__ int s_flag;
  if (threadIdx.x == 0) atomicExch(&s_flag, 0);
  __syncthreads();
  if (threadIdx.x == 32) {
    data[0] = 42;
    __threadfence_block();
    atomicExch(&s_flag, 1);
  }
  if (threadIdx.x == 0) {
    while (atomicAdd(&s_flag, 0) == 0) {
    }
    __threadfence_block();
    data[1] = data[0];
  }
}

template <Fence fence>
bool value_arrives(int from, int to) {
  return simt_test::value_arrives(hand_over<fence>, 2, 64, from, to);
}

template <Fence fence>
bool value_arrives_volatile() {
  return simt_test::value_arrives(hand_over_volatile<fence>, 1, 64);
}

}  // namespace

TEST_CASE("a flag with a fence on both sides hands a value over") {
  CHECK(first_complaint([] { return value_arrives<Fence::both>(0, 0); }) == "");
  CHECK(first_complaint([] { return value_arrives<Fence::both>(0, 1); }) == "");
  CHECK(first_complaint([] { return value_arrives<Fence::both>(1, 0); }) == "");
}

TEST_CASE("an atomic flag without fences orders nothing") {
  for (const int to : {0, 1}) {
    CHECK(first_miss(ReportKind::race, [=] { value_arrives<Fence::none>(0, to); }) == "");
    CHECK(first_miss(ReportKind::race, [=] { value_arrives<Fence::writer_only>(0, to); }) == "");
    CHECK(first_miss(ReportKind::race, [=] { value_arrives<Fence::reader_only>(0, to); }) == "");
  }
  CHECK(
      lacks(
          observe([] { value_arrives<Fence::none>(0, 1); }).text(),
          {"data[0]", "atomicExch publishes nothing but its own value: call __threadfence() before",
           "What follows atomicAdd may come before it, also this read: call __threadfence() after it."}) ==
      "");
}

TEST_CASE("a missing fence in the reader has a hint of its own") {
  const Outcome outcome = observe([] { value_arrives<Fence::writer_only>(0, 1); });
  CHECK(lacks(outcome.text(), {"data[0]", "What follows atomicAdd may come before it"}) == "");
  CHECK(lacks(outcome.text(), {"atomicExch publishes nothing"}) != "");
}

TEST_CASE("a fence of block scope orders inside its block only") {
  CHECK(first_complaint([] { return value_arrives<Fence::both_block>(0, 0); }) == "");
  CHECK(first_miss(ReportKind::race, [] { value_arrives<Fence::both_block>(0, 1); }) == "");
  CHECK(first_complaint([] {
          auto data = Array<int>::zeros(2);
          hand_over_in_block<<<1, 64>>>(data.data());
          return data.values()[1] == 42;
        }) == "");
}

TEST_CASE("a volatile flag is a relaxed atomic: it needs the fences, too") {
  CHECK(first_complaint([] { return value_arrives_volatile<Fence::both>(); }) == "");
  CHECK(first_miss(ReportKind::race, [] { value_arrives_volatile<Fence::none>(); }) == "");
}

// ---- volatile in shared memory ------------------------------------------------------------------

namespace {

/// The "warp-synchronous" tail of older textbooks.
__global__ void tail_with_volatile(const float* x, float* y) {
  __shared__ float s_x[64];
  const unsigned t = threadIdx.x;
  s_x[t] = x[t];
  __syncthreads();
  if (t < 32) {
    volatile float* v = s_x;
    v[t] = v[t] + v[t + 32];
    v[t] = v[t] + v[t + 16];
    v[t] = v[t] + v[t + 8];
    v[t] = v[t] + v[t + 4];
    v[t] = v[t] + v[t + 2];
    v[t] = v[t] + v[t + 1];
  }
  if (t == 0) *y = s_x[0];
}

}  // namespace

TEST_CASE("volatile does not order the lanes of a warp") {
  const auto x = Array<float>::zeros(64);
  auto y = Array<float>::zeros(1);
  CHECK(first_miss(ReportKind::race, [&] { tail_with_volatile<<<1, 64>>>(x.data(), y.data()); }) ==
        "");
}

// ---- the last block sums the parts --------------------------------------------------------------

namespace {

/// One warp per block. __syncwarp passes the ticket on to the other lanes.
__global__ void last_block_syncwarp(const float* x, float* part, unsigned* ticket, float* y) {
  __shared__ bool s_last;
  const unsigned t = threadIdx.x;
  if (t == 0) {
    part[blockIdx.x] = x[blockIdx.x];
    __threadfence();
    s_last = atomicInc(ticket, gridDim.x - 1) == gridDim.x - 1;
    __threadfence();
  }
  __syncwarp();
  if (!s_last) return;
  float v = t < gridDim.x ? part[t] : 0;
  for (int offset = 16; offset > 0; offset /= 2) v += __shfl_down_sync(0xffffffffu, v, offset);
  if (t == 0) *y = v;
}

/// A shuffle passes the ticket on, which orders nothing: every lane needs its own fence after it.
template <bool every_lane_fences>
__global__ void last_block_shuffle(const float* x, float* part, unsigned* ticket, float* y) {
  const unsigned t = threadIdx.x;
  unsigned mine = 0;
  if (t == 0) {
    part[blockIdx.x] = x[blockIdx.x];
    __threadfence();
    mine = atomicInc(ticket, gridDim.x - 1);
    if (!every_lane_fences) __threadfence();
  }
  mine = __shfl_sync(0xffffffffu, mine, 0);
  if (every_lane_fences) __threadfence();
  if (mine != gridDim.x - 1) return;
  float v = t < gridDim.x ? part[t] : 0;
  for (int offset = 16; offset > 0; offset /= 2) v += __shfl_down_sync(0xffffffffu, v, offset);
  if (t == 0) *y = v;
}

template <class Kernel>
bool adds_up(Kernel kernel) {
  const Array<float> x(std::vector<float>(16, 1.0f));
  Array<float> part(16);
  auto ticket = Array<unsigned>::zeros(1);
  auto y = Array<float>::zeros(1);
  kernel<<<16, 32>>>(x.data(), part.data(), ticket.data(), y.data());
  return y.front() == 16;
}

}  // namespace

TEST_CASE("the last block may learn that it is last through __syncwarp") {
  CHECK(first_complaint([] { return adds_up(last_block_syncwarp); }) == "");
}

TEST_CASE("a ticket that went through a shuffle needs a fence in every lane") {
  CHECK(first_miss(ReportKind::race, [] { adds_up(last_block_shuffle<false>); }) == "");
}

namespace {

constexpr int kDrawn = __LINE__ + 6;
/// The ticket is drawn before the part is stored: fences do not help.
__global__ void stores_after_the_ticket(const float* x, float* part, unsigned* ticket, float* y) {
  __shared__ bool s_last;
  const unsigned t = threadIdx.x;
  if (t == 0) {
    s_last = atomicInc(ticket, gridDim.x - 1) == gridDim.x - 1;
    part[blockIdx.x] = x[blockIdx.x];
    __threadfence();
  }
  __syncthreads();
  if (!s_last) return;
  __threadfence();
  float v = t < gridDim.x ? part[t] : 0;
  for (int offset = 16; offset > 0; offset /= 2) v += __shfl_down_sync(0xffffffffu, v, offset);
  if (t == 0) *y = v;
}

}  // namespace

TEST_CASE("a ticket that is drawn before the part is stored is told as that") {
  const std::string atomic =
      "called atomicInc on ticket[0] (common/simt/tests/fences_test.cu:" + std::to_string(kDrawn) +
      "), and wrote part[";
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const Outcome outcome = observe([] { adds_up(stores_after_the_ticket); }, seed);
    REQUIRE(outcome.found(ReportKind::race));
    CHECK(lacks(one_line(outcome.reports.front().text),
                {"part[", atomic.c_str(), "If ticket[0] tells that part[",
                 "the atomicInc came before the write"}) == "");
  }
}

// ---- locks --------------------------------------------------------------------------------------

namespace {

constexpr int kTakesLock = __LINE__ + 5;
template <bool acquire, bool release>
__global__ void count_under_lock(int* lock, int* count) {
  bool done = false;
  while (!done) {
    if (atomicCAS(lock, 0, 1) != 0) continue;
    if (acquire) __threadfence();
    *count += 1;
    if (release) __threadfence();
    atomicExch(lock, 0);
    done = true;
  }
}

/// Spins outside the critical section: every lane must make progress by itself.
__global__ void count_under_spin_lock(int* lock, int* count) {
  while (atomicCAS(lock, 0, 1) != 0) {
  }
  __threadfence();
  *count += 1;
  __threadfence();
  atomicExch(lock, 0);
}

__global__ void count_volatile_under_lock(int* lock, volatile int* count) {
  while (atomicCAS(lock, 0, 1) != 0) {
  }
  *count = *count + 1;
  __threadfence();
  atomicExch(lock, 0);
}

template <class Kernel>
bool counts_all(Kernel kernel) {
  auto lock = Array<int>::zeros(1);
  auto count = Array<int>::zeros(1);
  kernel<<<4, 40>>>(lock.data(), count.data());
  return count.front() == 160;
}

}  // namespace

TEST_CASE("spin locks: right with two fences") {
  CHECK(first_complaint([] { return counts_all(count_under_lock<true, true>); }, 12) == "");
  CHECK(first_complaint([] { return counts_all(count_under_spin_lock); }, 12) == "");
  CHECK(first_complaint([] { return counts_all(count_volatile_under_lock); }, 12) == "");
}

TEST_CASE("spin locks: a race without either fence") {
  CHECK(first_miss(ReportKind::race, [] { counts_all(count_under_lock<false, true>); }) == "");
  CHECK(first_miss(ReportKind::race, [] { counts_all(count_under_lock<true, false>); }) == "");
}

TEST_CASE("a lock without fences is told as one, in a warp, too") {
  const std::string line = "called atomicCAS on lock[0] (line " + std::to_string(kTakesLock) + ")";
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const Outcome outcome = observe([] { counts_all(count_under_lock<false, false>); }, seed);
    REQUIRE(!outcome.reports.empty());
    const std::string text = one_line(outcome.reports.front().text);
    CHECK(lacks(text, {"count[0]", "If lock[0] is a lock:", line.c_str()}) == "");
    CHECK(text.find("__syncwarp()") == std::string::npos);
  }
}

// ---- what fences cost ---------------------------------------------------------------------------

namespace {

__global__ void fence_and_count(int* count) {
  __threadfence();
  atomicAdd(count, 1);
  __threadfence();
}

}  // namespace

TEST_CASE("a thousand threads may take a lock, and fence, within a second or two") {
  // What fences order was once a table of all threads for each of them: 18 and 2 s.
  const double start = seconds_of(CLOCK_PROCESS_CPUTIME_ID);
  CHECK(observe(
            [] {
              auto lock = Array<int>::zeros(1);
              auto count = Array<int>::zeros(1);
              count_under_lock<true, true><<<4, 256>>>(lock.data(), count.data());
              CHECK(count.front() == 1024);
            },
            3)
            .clean());
  CHECK(observe([] {
          auto count = Array<int>::zeros(1);
          fence_and_count<<<8, 1024>>>(count.data());
          CHECK(count.front() == 8192);
        }).clean());
  CHECK(seconds_of(CLOCK_PROCESS_CPUTIME_ID) - start < 3);
}

// ---- compare-and-swap loops ---------------------------------------------------------------------

namespace {

/// The Programming Guide's loop: its first read is plain.
__global__ void add_by_cas(double* total) {
  auto* bits = reinterpret_cast<unsigned long long*>(total);
  unsigned long long old = *bits, assumed;
  do {
    assumed = old;
    const double next = 1.0 + __longlong_as_double(static_cast<long long>(assumed));
    old = atomicCAS(bits, assumed, static_cast<unsigned long long>(__double_as_longlong(next)));
  } while (assumed != old);
}

/// The plain value read is also used: that read is no part of the atomicCAS.
__global__ void read_then_add_by_cas(int* total, int* seen) {
  seen[blockIdx.x * blockDim.x + threadIdx.x] = *total;
  int old = 0, assumed;
  do {
    assumed = old;
    old = atomicCAS(total, assumed, assumed + 1);
  } while (assumed != old);
}

}  // namespace

TEST_CASE("the plain first read of a compare-and-swap loop is no race") {
  CHECK(first_complaint([] {
          auto total = Array<double>::zeros(1);
          add_by_cas<<<4, 64>>>(total.data());
          return total.front() == 256;
        }) == "");
}

TEST_CASE("a plain read that no compare-and-swap confirms is a race") {
  CHECK(first_miss(ReportKind::race, [] {
          auto total = Array<int>::zeros(1);
          Array<int> seen(256);
          read_then_add_by_cas<<<4, 64>>>(total.data(), seen.data());
          cudaDeviceSynchronize();
        }) == "");
}

// ---- atomics of others, after one's own --------------------------------------------------------

namespace {

enum class LastBlock { reads, reads_after_fences, resets, resets_after_fence, resets_by_atomic };

/// Each block adds its part; the last one uses the total, and its own atomics are the last ones.
template <LastBlock last>
__global__ void add_parts(int* words) {
  int* const sum = words;
  int* const tickets = words + 1;
  if (threadIdx.x != 0) return;
  atomicAdd(sum, 1);
  if (last == LastBlock::reads_after_fences || last == LastBlock::resets_after_fence) {
    __threadfence();
  }
  if (atomicAdd(tickets, 1) != static_cast<int>(gridDim.x) - 1) return;
  if (last == LastBlock::reads_after_fences || last == LastBlock::resets_after_fence) {
    __threadfence();
  }
  if (last == LastBlock::reads || last == LastBlock::reads_after_fences) words[2] = *sum;
  if (last == LastBlock::resets || last == LastBlock::resets_after_fence) *tickets = 0;
  if (last == LastBlock::resets_by_atomic) atomicExch(tickets, 0);
}

/// Block 0 counts in block scope, and then in device scope; block 1 in device scope.
__global__ void count_in_two_scopes(int* words) {
  if (threadIdx.x != 0) return;
  if (blockIdx.x == 0) atomicAdd_block(words, 1);
  atomicAdd(words, 1);
}

__global__ void spin_by_atomics(int* words) {
  if (threadIdx.x != 0) return;
  if (blockIdx.x == 0) {
    atomicExch(words, 1);
  } else {
    while (atomicAdd(words, 0) == 0) {
    }
    words[2] = words[0];
  }
}

template <class Kernel>
bool run_three_blocks(Kernel kernel) {
  auto words = Array<int>::zeros(3);
  kernel<<<3, 32>>>(words.data());
  return words.values()[0] != 0;
}

}  // namespace

TEST_CASE("an atomic of another block is not hidden by the thread's own last one") {
  using enum LastBlock;
  CHECK(first_miss(
            ReportKind::race, [] { run_three_blocks(add_parts<reads>); }, 40) == "");
  CHECK(first_complaint([] { return run_three_blocks(add_parts<reads_after_fences>); }) == "");
  CHECK(first_miss(
            ReportKind::race, [] { run_three_blocks(add_parts<resets>); }, 40) == "");
  CHECK(first_complaint([] { return run_three_blocks(add_parts<resets_after_fence>); }) == "");
  CHECK(first_complaint([] { return run_three_blocks(add_parts<resets_by_atomic>); }) == "");
  CHECK(first_miss(
            ReportKind::race, [] { run_three_blocks(spin_by_atomics); }, 40) == "");
}

TEST_CASE("an atomic of block scope is not hidden by one of device scope") {
  CHECK(first_miss(ReportKind::race, [] { run_three_blocks(count_in_two_scopes); }) == "");
}
