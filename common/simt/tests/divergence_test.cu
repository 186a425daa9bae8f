// Threads that take different ways: what is legal, and what is said when a barrier or a mask waits
// for a thread that never comes.
#include <cooperative_groups.h>
#include <cuda_runtime.h>

#include <cassert>
#include <catch2/catch_test_macros.hpp>

#include "testing.hpp"

using simt::Report, simt::ReportKind;
using namespace simt_test;

// ---- __syncthreads in divergent code ------------------------------------------------------------

namespace {

constexpr int kBarrierAfterReturn = __LINE__ + 5;
__global__ void return_before_barrier(float* x, float* y, int n) {
  const int i = static_cast<int>(threadIdx.x);
  if (i >= n) return;
  x[i] = 1;
  __syncthreads();
  y[i] = x[i] + x[n - 1 - i];
}

__device__ void meet() { __syncthreads(); }

// Fewer threads go on each time; the barrier is in a function.
__global__ void return_turn_by_turn(int* out, int n) {
  __shared__ int s_x[64];
  const int i = static_cast<int>(threadIdx.x);
  for (int end = n;; end /= 2) {
    if (i < end) s_x[i] = end;
    meet();
    if (i >= end / 2) return;
    if (end == 2) break;
  }
  out[i] = s_x[i + 1];
}

// In each iteration one thread leaves, after the last barrier of the loop.
__global__ void leave_one_by_one(int* out) {
  __shared__ int s_x[64];
  const int i = static_cast<int>(threadIdx.x);
  int sum = 0;
  for (int last = 63;; --last) {
    s_x[i] = i;
    __syncthreads();
    sum += s_x[last - i];
    __syncthreads();
    if (i == last) return;
    if (last == 40) break;
  }
  out[i] = sum;
}

// A lambda's return is none of the kernel.
__global__ void lambda_returns_then_barrier_in_branch(int* out) {
  const auto store = [&](int i) {
    if (i % 2 == 1) return;
    out[i] = i;
  };
  store(static_cast<int>(threadIdx.x));
  if (threadIdx.x % 2 == 0) __syncthreads();
}

// The lower half meets in the loop; that the others leave by a return changes nothing.
__global__ void barrier_in_branch_then_return(int* out) {
  __shared__ int s_x[64];
  s_x[threadIdx.x] = 1;
  __syncthreads();
  for (unsigned half = 32; half > 0; half /= 2) {
    if (threadIdx.x < half) {
      s_x[threadIdx.x] += s_x[threadIdx.x + half];
      __syncthreads();
    }
  }
  if (threadIdx.x > 0) return;
  out[0] = s_x[0];
}

constexpr int kReadOfReturned = __LINE__ + 8;
__global__ void reverse_after_return(const int* x, int* out, int n) {
  __shared__ int s_x[64];
  const int i = static_cast<int>(threadIdx.x);
  if (i >= n) return;
  s_x[i] = x[i];
  __syncthreads();
  // Of threads that have returned, too.
  out[i] = s_x[63 - i];
}

constexpr int kFirstBarrier = __LINE__ + 3, kSecondBarrier = __LINE__ + 5;
__global__ void two_barriers() {
  if (threadIdx.x < 64) {
    __syncthreads();
  } else {
    __syncthreads();
  }
}

__global__ void barrier_in_branch(int* out) {
  if (threadIdx.x % 2 == 0) __syncthreads();
  out[threadIdx.x] = 1;
}

__global__ void barrier_in_uneven_loop(int* out) {
  const int rounds = threadIdx.x < 32 ? 3 : 2;
  for (int i = 0; i < rounds; ++i) {
    out[threadIdx.x] = i;
    __syncthreads();
  }
}

// The barrier is in an if, but the whole block takes it.
__global__ void barrier_in_uniform_branch(int* out) {
  __shared__ int s_x[64];
  s_x[threadIdx.x] = static_cast<int>(threadIdx.x);
  if (blockIdx.x % 2 == 0) __syncthreads();
  const unsigned source = blockIdx.x % 2 == 0 ? 63 - threadIdx.x : threadIdx.x;
  out[blockIdx.x * 64 + threadIdx.x] = s_x[source];
}

// Threads without work return after the last barrier: legal.
__global__ void return_after_barrier(int* out, int n) {
  __syncthreads();
  if (static_cast<int>(threadIdx.x) >= n) return;
  out[threadIdx.x] = 1;
}

constexpr int kBarrierInHelper = __LINE__ + 1;
__device__ void wait_here() { __syncthreads(); }

__device__ void wait_for_all() { wait_here(); }

constexpr int kCallInIf = __LINE__ + 2;
__global__ void one_thread_calls() {
  if (threadIdx.x == 0) wait_for_all();
}

__device__ int add_up(const int* s_x, int i, int n) {
  if (i >= n) return 0;
  __syncthreads();
  return s_x[i] + s_x[n - 1 - i];
}

__global__ void some_return_from_function(int* out, int n) {
  __shared__ int s_x[64];
  s_x[threadIdx.x] = 1;
  out[threadIdx.x] = add_up(s_x, static_cast<int>(threadIdx.x), n);
}

constexpr int kEndlessBarrier = __LINE__ + 4;
__global__ void halves_for_ever(int* out) {
  __shared__ int s_x[8];
  for (unsigned half = 4; half > 0; half = (half + 1) / 2) {
    __syncthreads();
    if (threadIdx.x < half) s_x[threadIdx.x] = 1;
  }
  out[threadIdx.x] = s_x[0];
}

__global__ void many_turns(int* out) {
  for (int turn = 0; turn < 100'000; ++turn) __syncthreads();
  out[threadIdx.x] = 1;
}

}  // namespace

TEST_CASE("a barrier in a function says who called it") {
  const Report report = only_report([] { one_thread_calls<<<1, 8>>>(); });
  CHECK(report.line == kBarrierInHelper);
  const std::string place =
      "1 of 8 threads waits in __syncthreads() at common/simt/tests/divergence_test.cu:" +
      std::to_string(kBarrierInHelper) + ", called at line " +
      std::to_string(kBarrierInHelper + 2) + ", called at line " + std::to_string(kCallInIf) +
      ": thread 0\n";
  CHECK(lacks(report, {place.c_str(), "Does only this thread know the value that led it there?"}) ==
        "");
  Array<int> out(64);
  const auto in_function = [&] { some_return_from_function<<<1, 64>>>(out.data(), 40); };
  CHECK(lacks(one_line(only_report(in_function).text),
              {"The barrier is in a function: did the others leave it by a return before the "
               "barrier, or did an if or a loop lead them past it?"}) == "");
}

TEST_CASE("a loop around a barrier that never ends") {
  Array<int> out(8);
  const Report report = only_report([&] { halves_for_ever<<<1, 8>>>(out.data()); });
  CHECK(report.kind == ReportKind::hang);
  CHECK(report.line == kEndlessBarrier);
  CHECK(lacks(report, {"ENDLESS LOOP in kernel halves_for_ever, block 0: after 1048577 barriers",
                       "around __syncthreads() at ", "Which condition ends this loop"}) == "");
  CHECK(lacks(report, {"halved"}) != "");  // not every loop has a number that is
  CHECK(first_complaint([&] {
          many_turns<<<2, 2>>>(out.data());
          return true;
        }) == "");
}

TEST_CASE("a barrier waits for the threads that have not returned; a note says so") {
  Array<float> x(128), y(128);
  Array<int> out(64);
  CHECK(first_complaint([&] {
          return_before_barrier<<<1, 128>>>(x.data(), y.data(), 70);
          return_turn_by_turn<<<1, 64>>>(out.data(), 64);
          const bool is_right = y.values()[69] == 2 && out.values()[0] == 2;
          leave_one_by_one<<<1, 64>>>(out.data());
          return is_right && out.values()[0] == (63 + 40) * 12;
        }) == "");
  const Outcome outcome =
      observe([&] { return_before_barrier<<<1, 128>>>(x.data(), y.data(), 64); });
  REQUIRE(outcome.notes.size() == 1);
  const std::string place = "divergence_test.cu:" + std::to_string(kBarrierAfterReturn) + ": ";
  CHECK(lacks(outcome.notes.front(),
              {place.c_str(), "some threads of the block returned before this barrier"}) == "");
}

TEST_CASE("what threads that returned should have written is found") {
  const Array<int> x(std::vector<int>(64, 1));
  Array<int> out(64);
  const auto work = [&] { reverse_after_return<<<1, 64>>>(x.data(), out.data(), 40); };
  CHECK(first_miss(ReportKind::uninitialised, work) == "");
  const Report report = only_report(work);
  CHECK(report.line == kReadOfReturned);
  CHECK(lacks(one_line(report.text),
              {"24 of the 64 threads have returned before a barrier, which does not wait for them. "
               "Until now this has been written of it: ",
               " by threads 0 to 39). Should one of them have written it?"}) == "");
}

TEST_CASE("threads that went past a barrier and ended are missed there") {
  Array<int> out(64);
  const auto in_branch = [&] { lambda_returns_then_barrier_in_branch<<<1, 8>>>(out.data()); };
  CHECK(lacks(only_report(in_branch), {"BARRIER IN DIVERGENT CODE", "4 of 8 threads wait in",
                                       "4 of 8 threads have gone past it, and ended: threads 1, 3, "
                                       "5, 7"}) == "");
  CHECK(first_miss(ReportKind::barrier, in_branch) == "");
  const auto in_loop = [&] { barrier_in_branch_then_return<<<1, 64>>>(out.data()); };
  CHECK(lacks(only_report(in_loop), {"32 of 64 threads have gone past it, and ended: threads 32-63",
                                     "An if or a loop led the others past it"}) == "");
  CHECK(first_miss(ReportKind::barrier, in_loop) == "");
}

TEST_CASE("two different barriers are not one") {
  const Report report = only_report([] { two_barriers<<<1, 128>>>(); });
  CHECK(report.kind == ReportKind::barrier);
  CHECK((report.line == kFirstBarrier || report.line == kSecondBarrier));
  const std::string first =
      "divergence_test.cu:" + std::to_string(kFirstBarrier) + ": threads 0-63";
  const std::string second =
      "divergence_test.cu:" + std::to_string(kSecondBarrier) + ": threads 64-127";
  CHECK(lacks(report, {"BARRIER IN DIVERGENT CODE", first.c_str(), second.c_str(),
                       "Every thread of the block must reach the same barrier."}) == "");
  CHECK(lacks(report, {"if or a loop"}) != "");  // there is no branch that one could leave
  CHECK(first_miss(ReportKind::barrier, [] { two_barriers<<<3, 128>>>(); }) == "");
}

TEST_CASE("a barrier in a branch or an uneven loop that threads leave") {
  Array<int> out(64);
  CHECK(lacks(only_report([&] { barrier_in_branch<<<1, 8>>>(out.data()); }),
              {"4 of 8 threads wait", "threads 0, 2, 4, 6", "4 of 8 threads have gone past it"}) ==
        "");
  CHECK(first_miss(ReportKind::barrier, [&] { barrier_in_branch<<<1, 64>>>(out.data()); }) == "");
  const auto uneven = [&] { barrier_in_uneven_loop<<<1, 64>>>(out.data()); };
  CHECK(lacks(one_line(only_report(uneven).text),
              {"All of them met in it before: those that wait have come to it once more, by a loop "
               "that the others have left."}) == "");
  CHECK(first_miss(ReportKind::barrier, uneven) == "");
}

TEST_CASE("barriers that every thread of the block reaches are right, in a branch, too") {
  Array<int> out(256);
  CHECK(first_complaint([&] {
          barrier_in_uniform_branch<<<4, 64>>>(out.data());
          return_after_barrier<<<2, 64>>>(out.data(), 10);
          return out.values()[191] == 0;
        }) == "");
}

// ---- masks --------------------------------------------------------------------------------------

namespace {

constexpr int kForeignMask = __LINE__ + 2;
__global__ void mask_without_caller(int* out) {
  if (threadIdx.x >= 16) out[threadIdx.x] = __shfl_sync(0xffffu, 1, 0);
}

__global__ void syncwarp_without_caller() {
  if (threadIdx.x == 5) __syncwarp(0x1);
}

constexpr int kMissingLane = __LINE__ + 3;
__global__ void one_lane_stays_away(int* out) {
  int v = 1;
  if (threadIdx.x != 7) v = __shfl_down_sync(0xffffffffu, v, 1);
  __syncwarp();
  out[threadIdx.x] = v;
}

// In the first round 32 lanes call, later fewer: the others wait at the end of the loop's body.
__global__ void full_mask_in_branch_of_loop(const int* x, int* out) {
  for (int i = static_cast<int>(threadIdx.x); i < 70; i += 32) {
    if (x[i] > 3) out[i] = __popc(__ballot_sync(0xffffffffu, 1));
    __syncwarp();
  }
}

__global__ void masks_differ(int* out) {
  const unsigned mask = threadIdx.x == 0 ? 0xffffffffu : 0xfffffffeu;
  out[threadIdx.x] = __shfl_sync(mask, 1, 1);
  if (threadIdx.x == 1) out[threadIdx.x] = __shfl_sync(0x3u, 1, 0);
}

__global__ void barrier_against_shuffle(int* out) {
  int v = 1;
  if (threadIdx.x < 16) {
    __syncthreads();
  } else {
    v = __shfl_down_sync(0xffffffffu, v, 1);
  }
  out[threadIdx.x] = v;
}

// All lanes come, each half for another operation.
__global__ void operations_differ(unsigned* out) {
  if (threadIdx.x < 16) {
    out[threadIdx.x] = __ballot_sync(0xffffffffu, 1);
  } else {
    out[threadIdx.x] = static_cast<unsigned>(__any_sync(0xffffffffu, 1));
  }
}

// The lanes that returned are still named by the mask.
__global__ void full_mask_after_return(int* out) {
  if (threadIdx.x >= 20) return;
  out[threadIdx.x] = __reduce_add_sync(0xffffffffu, 1);
}

// In warp 1 alone.
__global__ void full_mask_after_lane_19(int* out) {
  if (threadIdx.x == 51) return;
  const int sum = __reduce_add_sync(0xffffffffu, 1);
  if (threadIdx.x == 0) out[0] = sum;
}

__global__ void shuffle_from_returned_lane(int* out) {
  if (threadIdx.x >= 20) return;
  out[threadIdx.x] = __shfl_down_sync(0xffffffffu, 1, 1);
}

}  // namespace

TEST_CASE("a mask must name the lane that calls") {
  Array<int> out(64);
  const Report report = only_report([&] { mask_without_caller<<<1, 64>>>(out.data()); });
  CHECK(report.kind == ReportKind::barrier);
  CHECK(report.line == kForeignMask);
  CHECK(
      lacks(
          report,
          {"WRONG MASK in kernel mask_without_caller: __shfl_sync() at", "block 0 thread 16",
           "(lane 16) calls it with mask 0x0000ffff, which does not include the calling lane."}) ==
      "");
  CHECK(lacks(only_report([] { syncwarp_without_caller<<<1, 32>>>(); }),
              {"WRONG MASK", "__syncwarp()", "lane 5", "0x00000001"}) == "");
  CHECK(first_miss(ReportKind::barrier, [&] { mask_without_caller<<<2, 64>>>(out.data()); }) == "");
}

TEST_CASE("a lane that the mask names stays away: deadlock") {
  Array<int> out(32);
  const Report report = only_report([&] { one_lane_stays_away<<<1, 32>>>(out.data()); });
  CHECK(report.kind == ReportKind::barrier);
  const std::string place =
      "31 wait in __shfl_down_sync() with mask 0xffffffff at common/simt/tests/"
      "divergence_test.cu:" +
      std::to_string(kMissingLane) + ": threads 0-6, 8-31";
  CHECK(lacks(report, {"DEADLOCK in kernel one_lane_stays_away", place.c_str(),
                       "1 waits in __syncwarp() with mask 0xffffffff", ": thread 7\n",
                       "All lanes of a mask must make the same call"}) == "");
  CHECK(report.line > 0);
  CHECK(first_miss(ReportKind::barrier, [&] { one_lane_stays_away<<<1, 32>>>(out.data()); }) == "");
}

TEST_CASE("other mistakes with masks end in a deadlock that says who waits where") {
  std::vector<int> some(70, 5);
  some[40] = 1;
  const Array<int> x(some);
  Array<int> out(128);
  Array<unsigned> votes(32);
  CHECK(lacks(only_report([&] { full_mask_in_branch_of_loop<<<1, 32>>>(x.data(), out.data()); }),
              {"DEADLOCK", "31 wait in __ballot_sync()", "1 waits in __syncwarp()",
               ": thread 8\n"}) == "");
  CHECK(lacks(only_report([&] { masks_differ<<<1, 32>>>(out.data()); }),
              {"DEADLOCK", "with mask 0xffffffff", ": thread 0\n", "with mask 0x00000003"}) == "");
  CHECK(lacks(only_report([&] { barrier_against_shuffle<<<1, 32>>>(out.data()); }),
              {"DEADLOCK", "16 wait in __syncthreads() at", "16 wait in __shfl_down_sync()"}) ==
        "");
  CHECK(lacks(only_report([&] { operations_differ<<<1, 32>>>(votes.data()); }),
              {"DEADLOCK", "16 wait in __ballot_sync()", "16 wait in __any_sync()"}) == "");
}

TEST_CASE("a mask may name lanes that returned; a note says so") {
  Array<int> out(32);
  Outcome outcome = observe([&] { full_mask_after_return<<<1, 32>>>(out.data()); }, 1);
  INFO(outcome.text());
  CHECK(outcome.clean());
  CHECK(out.values()[0] == 20);
  REQUIRE(outcome.notes.size() == 1);
  CHECK(lacks(outcome.notes.front(),
              {"divergence_test.cu:", "block 0 warp 0: lanes 20-31 have returned from the kernel",
               "; the mask 0xffffffff names them: CUDA allows it, but they contribute nothing"}) ==
        "");
  CHECK(outcome.notes.front().find("undefined") == std::string::npos);
  outcome = observe([&] { shuffle_from_returned_lane<<<1, 32>>>(out.data()); });
  CHECK(outcome.clean());
  REQUIRE(outcome.notes.size() == 2);
  CHECK(lacks(outcome.notes[0] + outcome.notes[1],
              {"block 0 warp 0: lanes 20-31 have returned from the kernel",
               "a shuffle that reads one gets an undefined value",
               "block 0 thread 19 (lane 19) gets an undefined value from this shuffle: lane 20 has "
               "returned from the kernel"}) == "");
  // Lane 19 returns alone, and the block has no lanes 20 to 31.
  outcome = observe([&] { full_mask_after_lane_19<<<1, 52>>>(out.data()); }, 1);
  CHECK(outcome.clean());
  REQUIRE(outcome.notes.size() == 1);
  CHECK(
      lacks(
          outcome.notes.front(),
          {"block 0 warp 1: lane 19 has returned from the kernel and lanes 20-31 do not exist"}) ==
      "");
}

// ---- lanes that take no part --------------------------------------------------------------------

namespace {

/// While one lives, a shuffle from an absent lane is a finding.
struct AbsentLanesReported {
  AbsentLanesReported() { simt::report_absent_lanes(true); }
  ~AbsentLanesReported() { simt::report_absent_lanes(false); }
};

template <unsigned mask>
__global__ void shuffle_from(int* out, int source) {
  if ((mask >> threadIdx.x & 1u) == 0) return;
  out[threadIdx.x] = __shfl_sync(mask, 1, source);
}
__global__ void read_rank(int* out, int source) {
  const auto tile = cooperative_groups::tiled_partition<4>(cooperative_groups::this_thread_block());
  const auto group = cooperative_groups::coalesced_threads();
  out[threadIdx.x] = source < 4 ? tile.shfl(1, source) : group.shfl(1, source);
}

}  // namespace

TEST_CASE("a shuffle from an absent lane is a finding where that is asked for") {
  Array<int> out(32);
  const AbsentLanesReported reported;
  const auto returned = [&] { shuffle_from_returned_lane<<<1, 32>>>(out.data()); };
  CHECK(first_miss(ReportKind::absent_lane, returned) == "");
  CHECK(lacks(only_report(returned),
              {"SHUFFLE FROM AN ABSENT LANE in kernel shuffle_from_returned_lane: "
               "__shfl_down_sync() at common/simt/tests/divergence_test.cu:",
               "block 0 thread 19 (lane 19) gets an undefined value: lane 20 has returned from the "
               "kernel"}) == "");
  CHECK(lacks(only_report([&] { shuffle_from<0xfu><<<1, 32>>>(out.data(), 9); }),
              {"(lane 0) gets an undefined value: lane 9 is not in the mask 0x0000000f"}) == "");
  CHECK(lacks(only_report([&] { shuffle_from<~0u><<<1, 20>>>(out.data(), 25); }),
              {"(lane 0) gets an undefined value: lane 25 does not exist"}) == "");
  CHECK(lacks(only_report([&] { read_rank<<<1, 20>>>(out.data(), 21); }),
              {"the rank that it reads is outside the group"}) == "");
  CHECK(observe([&] {
          shuffle_from<0xfu><<<1, 32>>>(out.data(), 3);
          read_rank<<<1, 32>>>(out.data(), 3);
        }).clean());
}

namespace {

enum class Form { right, full_mask, other_mask };

/// The maximum (or with `sum` the sum) of the block's values, in a block that is no whole warp.
template <Form form, bool sum, class T>
__global__ void fold_short_warp(const T* x, T* out) {
  const unsigned lane = threadIdx.x;
  const unsigned mine = (1u << blockDim.x) - 1;
  T v = x[lane];
  if (form == Form::other_mask && lane >= 16) return;
  const unsigned mask = form == Form::right       ? mine
                        : form == Form::full_mask ? 0xffffffffu
                                                  : 0x0000ffffu;
  for (unsigned o = 16; o > 0; o /= 2) {
    const T other = __shfl_down_sync(mask, v, o);
    if (form == Form::right && lane + o >= blockDim.x) continue;
    v = sum ? v + other : max(v, other);
  }
  if (lane == 0) *out = v;
}

/// What lane 0 gets from lane 5, which has returned, in each of four calls.
template <class T>
__global__ void from_returned_lane(T* out) {
  if (threadIdx.x == 5) return;
  for (int call = 0; call < 4; ++call) {
    const T v = __shfl_sync(0xffffffffu, T(7), threadIdx.x == 0 ? 5 : 1);
    if (threadIdx.x == 0) out[call] = v;
  }
}

template <Form form, bool sum, class T>
bool folds() {
  std::vector<T> values(20);
  for (int i = 0; i < 20; ++i) values[static_cast<std::size_t>(i)] = static_cast<T>(3 * i + 1);
  const Array<T> x(values);
  Array<T> out(1);
  fold_short_warp<form, sum, T><<<1, 20>>>(x.data(), out.data());
  return out.front() == (sum ? T(590) : T(58));
}

/// Under how many of the seeds 0 to 3 the values are right.
template <Form form, bool sum, class T>
int times_right() {
  int right = 0;
  for (std::uint64_t seed = 0; seed < 4; ++seed) {
    observe([&] { right += folds<form, sum, T>(); }, seed);
  }
  return right;
}

template <class T>
std::vector<T> values_of_returned_lane(std::uint64_t seed) {
  Array<T> out(4);
  std::vector<T> values;
  observe(
      [&] {
        from_returned_lane<<<1, 32>>>(out.data());
        values = out.values();
      },
      seed);
  return values;
}

}  // namespace

TEST_CASE("values of lanes that take no part change by call and seed") {
  const std::vector<float> f = values_of_returned_lane<float>(0);
  CHECK((f[0] > 1e36f && f[1] != f[1] && f[2] < -1e36f && f[3] == 0));
  const std::vector<double> d = values_of_returned_lane<double>(0);
  CHECK((d[0] > 1e200 && d[1] != d[1] && d[2] < -1e200 && d[3] == 0));
  const std::vector<int> i = values_of_returned_lane<int>(0);
  CHECK((i[0] > 2'000'000'000 && i[1] == -1 && i[2] < -10'000'000 && i[3] == 0));
  for (std::uint64_t seed = 1; seed < 4; ++seed) {
    CHECK(values_of_returned_lane<int>(seed)[0] == i[seed]);
  }
  CHECK(values_of_returned_lane<int>(4) == i);
}

TEST_CASE("a mask with lanes that take no part does not pass by luck") {
  CHECK(first_complaint(folds<Form::right, false, float>) == "");
  CHECK(first_complaint(folds<Form::right, false, int>) == "");
  CHECK(first_complaint(folds<Form::right, true, unsigned>) == "");
  CHECK(times_right<Form::full_mask, false, float>() < 4);
  CHECK(times_right<Form::full_mask, false, int>() < 4);
  CHECK(times_right<Form::full_mask, true, unsigned>() < 4);
  CHECK(times_right<Form::full_mask, true, float>() < 4);
  CHECK(times_right<Form::other_mask, false, double>() < 4);
}

// ---- loops without end --------------------------------------------------------------------------

namespace {

constexpr int kLock = __LINE__ + 2;
__global__ void lock_is_never_released(int* lock) {
  while (atomicCAS(lock, 0, 1) != 0) {
  }
}

// The value that atomicCAS returns is not taken up: only one thread gets through.
__global__ void stale_assumed(int* total) {
  const int assumed = *total;
  __syncthreads();
  while (atomicCAS(total, assumed, assumed + 1) != assumed) {
  }
}

// A NaN is never the expected value by ==, and atomicCAS has nothing to do with that.
__global__ void waits_for_equal_floats(float* sum) {
  float assumed;
  float old = *sum;
  do {
    assumed = old;
    const int bits = atomicCAS(reinterpret_cast<int*>(sum), __float_as_int(assumed),
                               __float_as_int(assumed + 1));
    old = __int_as_float(bits);
  } while (assumed != old);
}

__global__ void wait_for_nobody(volatile int* flag) {
  while (*flag == 0) {
  }
}

__global__ void lock_is_taken_twice(int* lock) {
  for (int i = 0; i < 2; ++i) {
    while (atomicExch(lock, 1) != 0) {
    }
  }
}

/// Thread 0 has the lock, and meets others in a barrier that thread 32 does not come to.
__global__ void holder_waits(int* lock) {
  if (threadIdx.x == 0) atomicExch(lock, 1);
  if (threadIdx.x == 32) {
    while (atomicAdd(lock, 0) == 0) {
    }
    while (atomicExch(lock, 1) != 0) {
    }
  }
  __syncthreads();
}

__global__ void plain_flag(volatile int* flag) {
  if (threadIdx.x == 0) *const_cast<int*>(flag) = 2;
  __syncthreads();
  if (threadIdx.x == 32) {
    while (*flag != 1) {
    }
  }
}

// Legal: the block that is waited for starts late, but it starts.
__global__ void wait_for_last_block(int* flag) {
  if (blockIdx.x == gridDim.x - 1) {
    atomicExch(flag, 1);
  } else {
    while (atomicAdd(flag, 0) == 0) {
    }
  }
}

}  // namespace

TEST_CASE("a spin loop that no thread ends is stopped") {
  const auto run = [](auto kernel, int threads) {
    auto word = Array<int>::zeros(1);
    kernel<<<1, threads>>>(word.data());
    cudaDeviceSynchronize();
  };
  const Report report = only_report([&] { run(lock_is_never_released, 2); });
  CHECK(report.kind == ReportKind::hang);
  CHECK(report.line == kLock);
  CHECK(lacks(one_line(report.text),
              {"ENDLESS LOOP in kernel", "thread 1 repeats without changing anything",
               "It called atomicCAS on word[0] ",
               " times in a row, and each time found 1 and expected 0. Block 0 thread 0 was the "
               "last to change it, by atomicCAS (line ",
               "), and has ended. All threads that are left wait, or repeat themselves."}) == "");
  CHECK(report.text.find('?') == std::string::npos);
  CHECK(report.text.find("resident") == std::string::npos);  // all blocks have started
  CHECK(lacks(one_line(only_report([&] { run(stale_assumed, 2); }).text),
              {"ENDLESS LOOP",
               " times in a row, and each time found 1 and expected 0. Block 0 thread 1 was "
               "the last"}) == "");
  CHECK(
      lacks(
          one_line(only_report([&] { run(wait_for_nobody, 1); }).text),
          {"ENDLESS LOOP",
           "It loaded word[0] last, and found 0. No thread has changed word[0] in this launch."}) ==
      "");
  CHECK(
      lacks(
          one_line(only_report([&] { run(lock_is_taken_twice, 1); }).text),
          {"It called atomicExch on word[0] last, which left 1 there. It changed word[0] itself, by "
           "atomicExch (line "}) == "");
  CHECK(lacks(one_line(only_report([&] { run(holder_waits, 64); }).text),
              {"Block 0 thread 0 was the last to change it, by atomicExch (line ",
               "), and waits in __syncthreads() at line "}) == "");
  CHECK(
      lacks(
          one_line(only_report([&] { run(plain_flag, 33); }).text),
          {"It loaded word[0] last, and found 2. Block 0 thread 0 wrote it, by a plain write at line "}) ==
      "");
  CHECK(only_report([&] { run(lock_is_never_released, 33); }, 3).kind == ReportKind::hang);
  const Array<float> nan(std::vector<float>(1, NAN));
  CHECK(lacks(one_line(only_report([&] { waits_for_equal_floats<<<1, 1>>>(nan.data()); }).text),
              {"found nan, as it expected. A NaN is equal to nothing, not even to itself."}) == "");
}

TEST_CASE("waiting for a block that starts later is no endless loop") {
  CHECK(first_complaint([] {
          auto flag = Array<int>::zeros(1);
          wait_for_last_block<<<7, 1>>>(flag.data());
          return flag.front() == 1;
        }) == "");
}

// ---- kernels that stop themselves ---------------------------------------------------------------

namespace {

constexpr int kAssert = __LINE__ + 1;
__global__ void assert_small(int limit) { assert(static_cast<int>(threadIdx.x) < limit); }

__global__ void trap_at(unsigned thread) {
  if (threadIdx.x == thread) __trap();
}

}  // namespace

TEST_CASE("assert names the condition and the thread") {
  const Outcome outcome = observe([] { assert_small<<<1, 64>>>(40); });
  REQUIRE(outcome.reports.size() == 1);
  const Report& report = outcome.reports.front();
  CHECK(report.kind == ReportKind::trap);
  CHECK(report.line == kAssert);
  CHECK(outcome.error == cudaErrorAssert);
  CHECK(lacks(report, {"KERNEL STOPPED in assert_small: assertion failed",
                       "static_cast<int>(threadIdx.x) < limit", "block 0 thread 40"}) == "");
  CHECK(observe([] { assert_small<<<1, 64>>>(64); }).clean());
}

TEST_CASE("__trap stops the kernel") {
  const Outcome outcome = observe([] { trap_at<<<1, 64>>>(3); });
  REQUIRE(outcome.reports.size() == 1);
  CHECK(outcome.reports.front().kind == ReportKind::trap);
  CHECK(outcome.error == cudaErrorLaunchFailure);
  CHECK(lacks(outcome.reports.front(), {"KERNEL STOPPED in trap_at", "block 0 thread 3"}) == "");
}
