// The race checker: races of each kind are found, at the right line and with the right advice; code
// that is right stays unreported under 50 schedules.
#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include <catch2/catch_test_macros.hpp>
#include <cuda/atomic>

#include "testing.hpp"

using simt::Report, simt::ReportKind;
using namespace simt_test;

// ---- one update is lost -------------------------------------------------------------------------

namespace {

constexpr int kPlainAdd = __LINE__ + 1;
__global__ void add_plain(float* sum) { *sum += 1.0f; }
__global__ void add_atomic(float* sum) { atomicAdd(sum, 1.0f); }

constexpr int kHistogramAdd = __LINE__ + 3;
__global__ void count_plain(unsigned* counts) {
  const unsigned bin = threadIdx.x % 4;
  counts[bin] += 1;
}

}  // namespace

TEST_CASE("a plain += by several blocks is a race") {
  auto total = Array<float>::zeros(1);
  const Report report = only_report([&] { add_plain<<<3, 1>>>(total.data()); });
  CHECK(report.kind == ReportKind::race);
  CHECK(report.kernel == "add_plain");
  CHECK(report.file == "common/simt/tests/races_test.cu");
  CHECK(report.line == kPlainAdd);
  CHECK(lacks(report, {"DATA RACE in kernel add_plain on total[0]", "read ", "write ",
                       "by block 0 thread 0", "by block 1 thread 0",
                       "If both are meant to change total[0]: use an\n  atomic function such as "
                       "atomicAdd, atomicMax or atomicCAS.\n  If not: give each thread"}) == "");
  CHECK(first_miss(ReportKind::race, [&] { add_plain<<<3, 1>>>(total.data()); }) == "");
  CHECK(first_miss(ReportKind::race, [&] { add_plain<<<2, 64>>>(total.data()); }) == "");
  CHECK(first_complaint([&] {
          add_atomic<<<4, 64>>>(total.data());
          return true;
        }) == "");
}

namespace {

enum class Without { block_in_update, block_in_store, block_in_two_lines, atomic };

template <Without form>
__global__ void forgetful(int* x) {
  const unsigned i = threadIdx.x;
  if (i != 5) return;
  if constexpr (form == Without::block_in_update) x[i] *= 2;
  if constexpr (form == Without::block_in_store) x[i] = static_cast<int>(blockIdx.x);
  if constexpr (form == Without::block_in_two_lines) {
    const int doubled = 2 * x[i];
    x[i] = doubled;
  }
  if constexpr (form == Without::atomic) *x += 1;
}

template <Without form>
std::string forgetful_text() {
  auto x = Array<int>::zeros(8);
  return only_report([&] { forgetful<form><<<2, 8>>>(x.data()); }).text;
}

}  // namespace

TEST_CASE("threads of equal rank meet where an index leaves out blockIdx") {
  const char* const question =
      "Both are thread 5 of their block: is blockIdx missing in the index?";
  CHECK(lacks(forgetful_text<Without::block_in_update>(), {"on x[5]\n", question}) == "");
  CHECK(
      lacks(
          forgetful_text<Without::block_in_store>(),
          {"on x[5]\n", question,
           "Both threads write x[5] at this line, and the last write wins: here 1 replaces 0.\n"}) ==
      "");
  CHECK(lacks(forgetful_text<Without::block_in_two_lines>(), {"on x[5]\n", question}) == "");
  // x[0] is no element of a thread 5: both mean it.
  const std::string text = forgetful_text<Without::atomic>();
  CHECK(lacks(text, {"on x[0]\n", "If both are meant to change x[0]: use an"}) == "");
  CHECK(text.find("blockIdx") == std::string::npos);
}

namespace {

enum class Reach { first_element, by_key, by_read_rank, whole_block };

/// Blocks of 8 threads. The same thread of two blocks comes to one element: where one block should do it, because two keys are
/// the same, or because every block goes through the whole array.
template <Reach reach>
__global__ void reach_elements(int* x, const unsigned* key, unsigned n) {
  const unsigned b = blockIdx.x;
  const int value = static_cast<int>(b);
  if constexpr (reach == Reach::first_element) {
    if (threadIdx.x == 0) x[0] = value;
    if (threadIdx.x > 0 || b > 0) x[b * blockDim.x + threadIdx.x] = 7;
  } else if constexpr (reach == Reach::by_key) {
    x[key[b * blockDim.x + threadIdx.x]] = value;
  } else if constexpr (reach == Reach::by_read_rank) {
    if (threadIdx.x == 1) x[key[3 + 3 * b]] = value;
  } else {
    for (unsigned i = threadIdx.x; i < n; i += blockDim.x) x[i] = value;
  }
}

template <Reach reach>
std::string reach_text() {
  auto x = Array<int>::zeros(32);
  const Array<unsigned> key(
      reach == Reach::by_read_rank
          ? std::vector<unsigned>(8, 1)
          : std::vector<unsigned>{0, 19, 12, 9, 13, 16, 11, 10, 0, 17, 21, 23, 20, 18, 14, 22});
  return one_line(
      only_report([&] { reach_elements<reach><<<2, 8>>>(x.data(), key.data(), 32); }).text);
}

}  // namespace

TEST_CASE("whether an index lacks blockIdx is asked where all accesses of the line speak for it") {
  CHECK(lacks(reach_text<Reach::whole_block>(),
              {"on x[0] ", "is blockIdx missing in the index?"}) == "");
  CHECK(lacks(reach_text<Reach::first_element>(),
              {"on x[0] ", "this line has accessed no other element than x[0]: is one block meant",
               "here 1 replaces 0."}) == "");
  const std::string by_key = reach_text<Reach::by_key>();
  CHECK(lacks(by_key, {"on x[0] ", "Should each thread have an element of its own",
                       "Both threads write x[0] at this line", "here 1 replaces 0."}) == "");
  CHECK(by_key.find("blockIdx") == std::string::npos);
  CHECK(lacks(reach_text<Reach::by_read_rank>(),
              {"Both are thread 1 of their block, and block 1 thread 1 has read 1 from key[6] (",
               "): is that the index, or is blockIdx missing in it?"}) == "");
}

TEST_CASE("a plain += by threads of one block is a race, and names the element") {
  auto counts = Array<unsigned>::zeros(4);
  const Outcome outcome = observe([&] { count_plain<<<1, 7>>>(counts.data()); });
  REQUIRE(outcome.reports.size() == 1);  // one pair of lines is told once
  const Report& report = outcome.reports.front();
  CHECK(report.kind == ReportKind::race);
  CHECK(report.line == kHistogramAdd);
  CHECK(
      lacks(
          report,
          {"counts[0]", "block 0 thread 4", "block 0 thread 0",
           "one update is lost. If both are meant to change counts[0]: use an\n  atomic function such "
           "as atomicAdd, atomicMax or atomicCAS.\n  If not: give each thread an index of its own."}) ==
      "");
  CHECK(report.text.find("blockIdx") == std::string::npos);
}

// ---- a missing barrier --------------------------------------------------------------------------

namespace {

constexpr int kReverseWrite = __LINE__ + 4, kReverseRead = __LINE__ + 6;
template <bool barrier>
__global__ void reverse(int* out) {
  __shared__ int s_values[64];
  s_values[threadIdx.x] = static_cast<int>(threadIdx.x);
  if (barrier) __syncthreads();
  out[threadIdx.x] = s_values[63 - threadIdx.x];
}

template <bool barrier>
__global__ void swap_lanes(int* out) {
  __shared__ int s_values[32];
  s_values[threadIdx.x] = static_cast<int>(threadIdx.x);
  if (barrier) __syncwarp();
  out[threadIdx.x] = s_values[threadIdx.x ^ 1];
}

// A shuffle makes the lanes wait for one another, but publishes nothing.
template <class Collective>
__global__ void swap_lanes_after(Collective collective, int* out) {
  __shared__ int s_values[32];
  s_values[threadIdx.x] = static_cast<int>(threadIdx.x);
  collective();
  out[threadIdx.x] = s_values[threadIdx.x ^ 1];
}

struct Shuffle {
  __device__ void operator()() const { __shfl_sync(0xffffffffu, 1, 0); }
};
struct Ballot {
  __device__ void operator()() const { __ballot_sync(0xffffffffu, 1); }
};
struct Match {
  __device__ void operator()() const { __match_any_sync(0xffffffffu, 1); }
};
struct Reduce {
  __device__ void operator()() const { __reduce_add_sync(0xffffffffu, 1u); }
};

}  // namespace

TEST_CASE("a missing __syncthreads is a race between warps") {
  Array<int> out(64);
  const Outcome outcome = observe([&] { reverse<false><<<1, 64>>>(out.data()); }, 1);
  REQUIRE(outcome.found(ReportKind::race));
  const Report& report = outcome.reports.front();
  const bool at_write = report.line == kReverseWrite, at_read = report.line == kReverseRead;
  CHECK((at_write || at_read));
  CHECK(lacks(report, {"DATA RACE in kernel reverse<false> on s_values[",
                       "no __syncthreads() came between the two accesses."}) == "");
  CHECK(first_miss(ReportKind::race, [&] { reverse<false><<<1, 64>>>(out.data()); }) == "");
  CHECK(first_complaint([&] {
          reverse<true><<<3, 64>>>(out.data());
          return true;
        }) == "");  // three blocks write the same values to out: a note, no race
}

TEST_CASE("a missing __syncwarp is a race between lanes") {
  Array<int> out(32);
  const Outcome outcome = observe([&] { swap_lanes<false><<<1, 32>>>(out.data()); });
  REQUIRE(outcome.found(ReportKind::race));
  CHECK(lacks(outcome.reports.front(), {"s_values[", "Two lanes of one warp", "__syncwarp()"}) ==
        "");
  CHECK(first_miss(ReportKind::race, [&] { swap_lanes<false><<<1, 32>>>(out.data()); }) == "");
  CHECK(first_complaint([&] {
          swap_lanes<true><<<1, 32>>>(out.data());
          return out.values()[31] == 30;
        }) == "");
}

TEST_CASE("shuffles, votes, matches and reductions do not order memory, and the report says so") {
  Array<int> out(32);
  const auto text = [&](auto collective) {
    const Outcome outcome = observe([&] { swap_lanes_after<<<1, 32>>>(collective, out.data()); });
    return outcome.found(ReportKind::race) ? outcome.text() : "no race";
  };
  CHECK(lacks(text(Shuffle{}),
              {"(__shfl_sync() exchanges values, but does not order memory accesses.)"}) == "");
  CHECK(lacks(text(Ballot{}), {"(__ballot_sync() exchanges values, but"}) == "");
  CHECK(lacks(text(Match{}), {"(__match_any_sync() exchanges values, but"}) == "");
  CHECK(lacks(text(Reduce{}), {"(__reduce_add_sync() exchanges values, but"}) == "");
}

// ---- who reads last -----------------------------------------------------------------------------

namespace {

// Lane 0 overwrites what the other warps may still be reading.
__global__ void overwrite_under_other_warps(const float* x, float* y) {
  __shared__ float s_value;
  if (threadIdx.x == 0) s_value = x[0];
  __syncthreads();
  const float v = s_value;
  __syncwarp();
  if (threadIdx.x == 0) s_value = v + 1;
  y[threadIdx.x] = v;
}

// The only foreign reader comes first; 32 lanes of the writer's own warp read after it.
__global__ void overwrite_under_one_reader(const float* x, float* y) {
  __shared__ float s_value;
  if (threadIdx.x == 0) s_value = x[0];
  __syncthreads();
  float v = 0;
  if (threadIdx.x == 40) v = s_value;
  if (threadIdx.x < 32) {
    v = s_value;
    __syncwarp();
    if (threadIdx.x == 0) s_value = v + 1;
  }
  y[threadIdx.x] = v;
}

// Every block reads x[0]; the last thread of the last block overwrites it.
__global__ void overwrite_under_other_blocks(float* x, float* y) {
  y[blockIdx.x * blockDim.x + threadIdx.x] = x[0];
  __syncthreads();
  if (blockIdx.x == gridDim.x - 1 && threadIdx.x == blockDim.x - 1) x[0] = 2;
}

__global__ void overwrite_after_barrier(float* x, float* y) {
  y[threadIdx.x] = x[0];
  __syncthreads();
  if (threadIdx.x == 0) x[0] = y[0] + 1;
}

}  // namespace

TEST_CASE("a write races with readers of other warps and blocks, whoever read last") {
  const auto x = Array<float>::zeros(1);
  Array<float> y(256);
  CHECK(first_miss(ReportKind::race,
                   [&] { overwrite_under_other_warps<<<1, 128>>>(x.data(), y.data()); }) == "");
  CHECK(first_miss(ReportKind::race,
                   [&] { overwrite_under_one_reader<<<1, 64>>>(x.data(), y.data()); }) == "");
  CHECK(first_miss(ReportKind::race,
                   [&] { overwrite_under_other_blocks<<<4, 64>>>(x.data(), y.data()); }) == "");
  CHECK(first_complaint([&] {
          overwrite_after_barrier<<<1, 128>>>(x.data(), y.data());
          return true;
        }) == "");
}

// ---- several writers ----------------------------------------------------------------------------

namespace {

constexpr int kLastWins = __LINE__ + 1;
__global__ void last_one_wins(int* out) { *out = static_cast<int>(threadIdx.x); }

__global__ void any_above_three(const int* x, int* flag) {
  if (x[threadIdx.x] > 3) *flag = 1;
}

/// All read the same old value, so that all write the same new one.
__global__ void double_first(int* x) { x[0] *= 2; }

/// The note is on the first line, the race on the second: of one variable.
__global__ void set_then_add(int* x) {
  x[0] = 1;
  x[0] += static_cast<int>(threadIdx.x);
}

/// Two stores, and one line.
__global__ void set_both(int* a, int* b) { *a = 1, *b = 1; }

}  // namespace

TEST_CASE("several threads write different values: a race, with a hint at the missing if") {
  auto result = Array<int>::zeros(1);
  const Report report = only_report([&] { last_one_wins<<<1, 8>>>(result.data()); });
  CHECK(report.kind == ReportKind::race);
  CHECK(report.line == kLastWins);
  CHECK(lacks(report, {"result[0]", "write  at", "Both threads write result[0] at this line",
                       "the last write wins: here 1 replaces 0.\n"
                       "  Should one thread write it, or should an atomic function combine the "
                       "values of the threads?"}) == "");
  CHECK(report.text.find("missing") == std::string::npos);
}

TEST_CASE("several threads write the same value: a note, no failure") {
  const Array<int> x(std::vector<int>(64, 5));
  auto flag = Array<int>::zeros(1);
  for (std::uint64_t seed = 0; seed < 12; ++seed) {
    const Outcome outcome =
        observe([&] { any_above_three<<<2, 64>>>(x.data(), flag.data()); }, seed);
    INFO(outcome.text());
    CHECK(outcome.clean());
    REQUIRE(!outcome.notes.empty());
    CHECK(lacks(outcome.notes.front(),
                {"races_test.cu:",
                 "several threads write the same value in no fixed order.\n  Block ",
                 ", for example, both write 1 to flag[0]."}) == "");
    CHECK(outcome.notes.front().find('?') == std::string::npos);
  }
  CHECK(flag.front() == 1);
}

TEST_CASE("no note on a same value beside a race at the same line or on the same variable") {
  auto x = Array<int>(std::vector<int>{3});
  for (std::uint64_t seed = 0; seed < 12; ++seed) {
    for (const bool at_one_line : {true, false}) {
      const Outcome outcome = observe(
          [&] {
            at_one_line ? double_first<<<1, 64>>>(x.data()) : set_then_add<<<1, 64>>>(x.data());
          },
          seed);
      CHECK(outcome.found(ReportKind::race));
      CHECK(outcome.notes == std::vector<std::string>{});
    }
  }
}

TEST_CASE("two instructions of one line are one note") {
  auto a = Array<int>::zeros(1), b = Array<int>::zeros(1);
  CHECK(observe([&] { set_both<<<2, 32>>>(a.data(), b.data()); }).notes.size() == 1);
}

// ---- plain accesses beside atomics --------------------------------------------------------------

namespace {

constexpr int kReadBeside = __LINE__ + 3;
__global__ void read_beside_atomic(int* next, int* out) {
  atomicAdd(next, 1);
  out[threadIdx.x + blockIdx.x * blockDim.x] = *next;
}
__global__ void use_returned_value(int* next, int* out) {
  out[threadIdx.x + blockIdx.x * blockDim.x] = atomicAdd(next, 1);
}

constexpr int kResetBeside = __LINE__ + 2;
__global__ void reset_beside_atomic(int* total) {
  if (threadIdx.x == 0 && blockIdx.x == 0) *total = 0;
  atomicAdd(total, 1);
}
__global__ void reset_then_barrier(int* total) {
  if (threadIdx.x == 0) *total = 0;
  __syncthreads();
  atomicAdd(total, 1);
}

__global__ void check_before_add(int* n) {
  if (*n < 100) atomicAdd(n, 1);
}

__global__ void volatile_levels(int* out) {
  __shared__ int s_x[64];
  const unsigned t = threadIdx.x;
  s_x[t] = s_x[t + 32] = 1;
  __syncthreads();
  volatile int* const x = s_x;
  x[t] += x[t + 32];
  x[t] += x[t + 16];
  x[t] += x[t + 8];
  if (t == 0) *out = x[0];
}

/// A tree in global memory. `far`: the second warp's lanes read what the first warp's lanes store.
__global__ void volatile_levels_in_global(int* values, bool far) {
  volatile int* const x = values;
  const unsigned t = threadIdx.x;
  if (!far && t < 32) x[t] += x[t + 16];
  if (far && t < 32) x[t] = 1;
  if (far && t >= 32) x[t + 64] = x[t - 32];
}

__global__ void store_beside_load(int* flag) {
  if (threadIdx.x == 0) *flag = 1;
  const cuda::atomic_ref<int, cuda::thread_scope_device> look(*flag);
  while (threadIdx.x == 32 && look.load() == 0) {
  }
}

__global__ void shared_count(const int* x, int* out) {
  __shared__ int s_n;
  if (threadIdx.x == 0) s_n = 0;
  __syncthreads();
  atomicAdd(&s_n, x[threadIdx.x]);
  __syncthreads();
  if (threadIdx.x == 0) *out = s_n;
}

__global__ void add_block_scope(int* total) { atomicAdd_block(total, 1); }

__global__ void exchange_then_add(int* fresh) {
  if (threadIdx.x == 0) atomicExch(fresh, 0);
}

}  // namespace

TEST_CASE("a plain read beside an atomic is a race: use the value that the atomic returns") {
  auto next = Array<int>::zeros(1);
  Array<int> out(256);
  const Outcome outcome = observe([&] { read_beside_atomic<<<1, 4>>>(next.data(), out.data()); });
  REQUIRE(outcome.reports.size() == 1);
  const Report& report = outcome.reports.front();
  CHECK(report.kind == ReportKind::race);
  CHECK(lacks(report, {"next[0]", "atomic at", "Use the value that the atomic function returns"}) ==
        "");
  CHECK((report.line == kReadBeside || report.line == kReadBeside - 1));
  CHECK(first_miss(ReportKind::race,
                   [&] { read_beside_atomic<<<4, 64>>>(next.data(), out.data()); }) == "");
  CHECK(first_complaint([&] {
          use_returned_value<<<4, 64>>>(next.data(), out.data());
          return true;
        }) == "");
}

TEST_CASE("a plain write beside an atomic is a race: initialise before the launch") {
  auto total = Array<int>::zeros(1);
  const Outcome outcome = observe([&] { reset_beside_atomic<<<2, 2>>>(total.data()); });
  REQUIRE(outcome.found(ReportKind::race));
  const Report& report = outcome.reports.front();
  CHECK(lacks(report, {"total[0]", "A plain write overwrites what the atomics of other threads did",
                       "cudaMemset", "atomic"}) == "");
  CHECK((report.line == kResetBeside || report.line == kResetBeside + 1));
  CHECK(first_miss(ReportKind::race, [&] { reset_beside_atomic<<<4, 64>>>(total.data()); }) == "");
  CHECK(first_complaint([&] {
          reset_then_barrier<<<1, 64>>>(total.data());
          return total.front() == 64;
        }) == "");
}

TEST_CASE("a barrier separates initialisation, atomics and the final read in shared memory") {
  const Array<int> x(std::vector<int>(64, 5));
  auto out = Array<int>::zeros(1);
  CHECK(first_complaint([&] {
          shared_count<<<1, 64>>>(x.data(), out.data());
          return out.front() == 320;
        }) == "");
}

TEST_CASE("a plain test before an atomicAdd is a race") {
  CHECK(first_miss(ReportKind::race, [] {
          auto n = Array<int>::zeros(1);
          check_before_add<<<4, 64>>>(n.data());
          cudaDeviceSynchronize();
        }) == "");
  auto n = Array<int>::zeros(1);
  const Outcome outcome = observe([&] { check_before_add<<<1, 2>>>(n.data()); });
  CHECK(lacks(one_line(outcome.text()),
              {"reads n[0] at the same line before its atomic (line ",
               "Decide by the value that the atomic function returns."}) == "");
}

TEST_CASE("a plain store beside atomic loads is told as that") {
  CHECK(first_miss(ReportKind::race, [] {
          auto flag = Array<int>::zeros(1);
          store_beside_load<<<1, 64>>>(flag.data());
          cudaDeviceSynchronize();
        }) == "");
  auto flag = Array<int>::zeros(1);
  const std::string text =
      one_line(observe([&] { store_beside_load<<<1, 64>>>(flag.data()); }).text());
  CHECK(lacks(text, {"atomic read at ", "Store it by an atomic, too"}) == "");
  CHECK(text.find("volatile read") == std::string::npos);
}

TEST_CASE("levels of a tree that a warp exchanges by volatile are no hand-off of a flag") {
  auto out = Array<int>::zeros(1);
  const std::string text =
      one_line(observe([&] { volatile_levels<<<1, 32>>>(out.data()); }).text());
  CHECK(lacks(text, {"DATA RACE", "The lanes of a warp do not run in lockstep."}) == "");
  CHECK(text.find("volatile store") == std::string::npos);
}

TEST_CASE(
    "lanes of a warp that exchange elements of global memory by volatile race, those of two warps have chance values") {
  auto values = Array<int>::zeros(128);
  const auto run = [&](bool far) {
    return observe([&] { volatile_levels_in_global<<<1, 64>>>(values.data(), far); });
  };
  CHECK(lacks(one_line(run(false).text()),
              {"DATA RACE in kernel volatile_levels_in_global on values[16]",
               "The lanes of a warp do not run in lockstep."}) == "");
  CHECK(run(true).text() == "");
}

TEST_CASE("an atomic of block scope does not reach other blocks") {
  auto total = Array<int>::zeros(1);
  const Report report = only_report([&] { add_block_scope<<<2, 1>>>(total.data()); });
  CHECK(report.kind == ReportKind::race);
  CHECK(lacks(report,
              {"total[0]", "What has block scope is atomic among the threads of one block only",
               "Use the function without\n  _block"}) == "");
  CHECK(first_complaint([&] {
          add_block_scope<<<1, 64>>>(total.data());
          return true;
        }) == "");
}

TEST_CASE("an exchange on fresh memory is no read of it") {
  Array<int> fresh(1);
  CHECK(observe([&] { exchange_then_add<<<1, 32>>>(fresh.data()); }).clean());
}

// ---- accesses narrower than a word --------------------------------------------------------------

namespace {

__global__ void write_own_byte(unsigned char* bytes) {
  bytes[threadIdx.x] = static_cast<unsigned char>(threadIdx.x);
}

// Thread 64 reads byte 0, which thread 0 wrote; thread 1 wrote its neighbour since.
__global__ void read_foreign_byte(unsigned char* bytes, int* out) {
  if (threadIdx.x < 2) bytes[threadIdx.x] = static_cast<unsigned char>(threadIdx.x);
  if (threadIdx.x == 64) out[0] = bytes[0];
}

__global__ void write_own_half(__half* h) { h[threadIdx.x] = __float2half(1.0f); }
__global__ void read_left_half(__half* h, float* out) {
  h[threadIdx.x] = __float2half(1.0f);
  if (threadIdx.x > 0) out[threadIdx.x] = __half2float(h[threadIdx.x - 1]);
}

__global__ void one_float_of_four(float4* v) {
  if (threadIdx.x == 0) v[0] = make_float4(1, 2, 3, 4);
  if (threadIdx.x == 32) v[0].z = 5;
}

}  // namespace

TEST_CASE("bytes and halves of one word are different places") {
  Array<unsigned char> bytes(96);
  Array<__half> halves(64);
  CHECK(first_complaint([&] {
          write_own_byte<<<1, 96>>>(bytes.data());
          write_own_half<<<1, 64>>>(halves.data());
          return bytes.values()[95] == 95;
        }) == "");
}

TEST_CASE("a race on one byte is found though its neighbour was written since") {
  auto bytes = Array<unsigned char>::zeros(96);
  auto out = Array<int>::zeros(1);
  CHECK(first_miss(ReportKind::race,
                   [&] { read_foreign_byte<<<1, 96>>>(bytes.data(), out.data()); }) == "");
  const Outcome outcome = observe([&] { read_foreign_byte<<<1, 96>>>(bytes.data(), out.data()); });
  CHECK(lacks(outcome.text(), {"on bytes[0]\n"}) == "");
}

TEST_CASE("races on halves and on parts of a float4 are found") {
  auto halves = Array<__half>::zeros(64);
  auto quads = Array<float4>::zeros(1);
  Array<float> out(64);
  CHECK(first_miss(ReportKind::race,
                   [&] { read_left_half<<<1, 64>>>(halves.data(), out.data()); }) == "");
  CHECK(first_miss(ReportKind::race, [&] { one_float_of_four<<<1, 64>>>(quads.data()); }) == "");
}

// ---- what orders --------------------------------------------------------------------------------

namespace {

__global__ void fill(int* x) { x[threadIdx.x] = static_cast<int>(threadIdx.x); }
__global__ void double_reversed(const int* x, int* y) { y[threadIdx.x] = 2 * x[63 - threadIdx.x]; }

}  // namespace

TEST_CASE("the end of a kernel orders") {
  Array<int> x(64), y(64);
  CHECK(first_complaint([&] {
          fill<<<1, 64>>>(x.data());
          double_reversed<<<1, 64>>>(x.data(), y.data());
          return y.values()[0] == 126;
        }) == "");
}

// ---- many findings ------------------------------------------------------------------------------

namespace {

template <int n>
__global__ void races(int* x) {
  x[0] += 1;
  x[1] += 1;
  x[2] += 1;
  x[3] += 1;
  if (n == 4) return;
  x[4] += 1;
  x[5] += 1;
}

}  // namespace

namespace {

// Four lines read what other threads have yet to write.
__global__ void four_arrays_without_barrier(int* out) {
  __shared__ int s_a[64], s_b[64], s_c[64], s_d[64];
  const unsigned t = threadIdx.x;
  s_a[t] = s_b[t] = s_c[t] = s_d[t] = 1;
  int sum = s_a[63 - t];
  sum += s_b[63 - t];
  sum += s_c[63 - t];
  sum += s_d[63 - t];
  out[t] = sum;
}

}  // namespace

TEST_CASE("a missing barrier is told as a race, not as uninitialised memory") {
  Array<int> out(64);
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const Outcome outcome =
        observe([&] { four_arrays_without_barrier<<<1, 64>>>(out.data()); }, seed);
    REQUIRE(outcome.reports.size() == 3);
    for (const Report& report : outcome.reports) CHECK(report.kind == ReportKind::race);
  }
}

TEST_CASE("a launch shows three findings and counts the rest") {
  auto x = Array<int>::zeros(6);
  const Outcome four = observe([&] { races<4><<<1, 2>>>(x.data()); });
  REQUIRE(four.reports.size() == 3);
  CHECK(lacks(four.reports.back(), {"\n(and 1 more finding of the same launch)"}) == "");
  const Outcome six = observe([&] { races<6><<<1, 2>>>(x.data()); });
  REQUIRE(six.reports.size() == 3);
  CHECK(lacks(six.reports.back(), {"\n(and 3 more findings of the same launch)"}) == "");
}
