// What would end the process, or never end, is a finding of the kernel that names the thread and the line;
// the next launch runs.
#include <cuda_runtime.h>
#include <pthread.h>

#include <catch2/catch_test_macros.hpp>
#include <ctime>

#include "testing.hpp"

using simt::ReportKind;
using namespace simt_test;

namespace {

__global__ void set_one(int* x) { *x = 1; }

/// The work is reported, with these parts, and leaves a device that works.
template <class Kernel>
void check_stopped(Kernel kernel, ReportKind kind, std::initializer_list<const char*> parts) {
  const Outcome outcome = observe([&] {
    auto x = Array<int>::zeros(64);
    kernel<<<2, 64>>>(x.data());
    cudaDeviceSynchronize();
  });
  CHECK(outcome.found(kind));
  CHECK(outcome.error != cudaSuccess);
  CHECK(lacks(outcome.text(), parts) == "");
  CHECK(observe([] {
          auto x = Array<int>::zeros(1);
          set_one<<<1, 1>>>(x.data());
          CHECK(x.front() == 1);
        }).clean());
}

// ---- loops --------------------------------------------------------------------------------------

/// A compiler may make one jump of it, without a basic block that could be counted.
__global__ void empty_loop(int* x) {
  if (threadIdx.x == 3) {
    for (;;) {
    }
  }
  *x = 1;
}

__global__ void working_loop(int* x) {
  if (threadIdx.x == 3 && blockIdx.x == 0) {
    for (int i = 1; i > 0; i = i % 5 + 1) x[3] += i;
  }
}

/// Looks for a number that is not there, in elements that are looked at again and again.
__device__ void search(int* x) {
  int i = 0;
  while (x[i] != 7) i = (i + 1) % 64;
  x[0] = i;
}
__global__ void search_in_circles(int* x) {
  if (threadIdx.x == 5) search(x);
}

/// The index does not move on: the same value goes to the same element.
__device__ void stay(int* x) {
  int i = static_cast<int>(threadIdx.x);
  while (i < 64) x[i] = 2 * i;
}
__global__ void stay_at_one_element(int* x) {
  if (threadIdx.x % 32 == 1 && blockIdx.x == 0) stay(x);
}

/// The block that all others wait for comes last. A fence makes them read anew.
__global__ void wait_by_plain_reads(int* x) {
  if (blockIdx.x == gridDim.x - 1) x[0] = 1;
  while (x[0] == 0) __threadfence();
}

/// The other blocks come, write and go, while one thread of the first one repeats itself.
__global__ void search_beside_many_blocks(int* x) {
  if (blockIdx.x == 0 && threadIdx.x == 0) search(x);
  atomicAdd(x + 64, 1);
}

/// Two threads of each block repeat themselves, a third one polls, and all others wait for them.
__global__ void wait_for_a_loop(int* x) {
  if (threadIdx.x == 1) search(x);
  if (threadIdx.x == 2) stay(x);
  if (threadIdx.x == 3) {
    while (*static_cast<volatile int*>(x + 63) == 0) {
    }
  }
  __syncthreads();
}

/// No square is 3 modulo 2^32, and no turn is as one before.
__global__ void count_for_ever(int* x) {
  unsigned i = 0;
  while (i * i != 3) ++i;
  x[0] = static_cast<int>(i);
}

/// One thread does it all: nothing ends, and no barrier is passed.
__global__ void sum_of_many(const int* x, unsigned n, int* sum) {
  int mine = 0;
  for (unsigned i = 0; i < n; ++i) mine += x[i % 64];
  *sum = mine;
}

/// Each thread takes long, and touches no memory meanwhile.
__global__ void long_way(unsigned n, unsigned* end) {
  unsigned x = threadIdx.x;
  for (unsigned i = 0; i < n; ++i) x = x * 1664525 + 1013904223;
  end[threadIdx.x] = x;
}

/// The clock is no variable: a loop may wait for it.
__global__ void wait_for_the_clock(int* x) {
  const long long begin = clock64();
  while (clock64() - begin < (1ll << 40)) {
  }
  x[0] = 1;
}

constexpr unsigned kAtomics = 1u << 18;
/// Each block takes some hundredths of a second.
__global__ void many_atomics(unsigned* sum) {
  for (unsigned i = 0; i < kAtomics; ++i) atomicAdd(sum, 1u);
}
/// The number stays below 100.
__global__ void atomics_for_ever(unsigned* sum) {
  while (atomicInc(sum, 99) < 100) {
  }
}

// ---- stacks -------------------------------------------------------------------------------------

template <int bytes>
__global__ void local_array(int* x) {
  char scratch[bytes];
  scratch[0] = 1;
  scratch[bytes - 1] = 2;
  *x = scratch[threadIdx.x];
}

__device__ int depth_of(int n) { return n < 0 ? 0 : 1 + depth_of(n + 1); }
__global__ void recursion(int* x) { *x = depth_of(static_cast<int>(threadIdx.x)); }

// ---- wild pointers ------------------------------------------------------------------------------

__global__ void null_function(int* x) {
  int (*function)(int) = nullptr;
  if (threadIdx.x == 5) x[5] = function(1);
}

// ---- many blocks --------------------------------------------------------------------------------

__global__ void first_and_last_write(int* x) {
  if (blockIdx.x == 0 || blockIdx.x == gridDim.x - 1) *x = static_cast<int>(blockIdx.x);
}

__global__ void one_block_writes_past(int* x, uint3 block) {
  const bool is_it = blockIdx.x == block.x && blockIdx.y == block.y && blockIdx.z == block.z;
  x[is_it ? 1 : 0] = 0;
}

/// What a thread of the program's own does beside a launch. The compiler's calls in it would be taken for a kernel's.
SIMT_UNINSTRUMENTED void* work_beside(void* is_done) {
  while (!__atomic_load_n(static_cast<const bool*>(is_done), __ATOMIC_RELAXED)) {
  }
  return nullptr;
}

}  // namespace

TEST_CASE("loops without an end are ended, and named") {
  check_stopped(empty_loop, ReportKind::hang,
                {"ENDLESS LOOP in kernel kernel: block 0 thread 3", "limits_test.cu:41"});
  simt::set_launch_seconds(1);
  check_stopped(working_loop, ReportKind::hang,
                {"ENDLESS LOOP in kernel kernel: block 0 thread 3",
                 "limits_test.cu:", "Which condition ends this loop"});
  simt::set_launch_seconds(10);
}

TEST_CASE("the time of a launch is that of its own thread, whatever others do") {
  if (simt::seed() != 0) return;  // once is enough
  bool is_done = false;
  pthread_t other{};
  pthread_create(&other, nullptr, work_beside, &is_done);
  simt::set_launch_seconds(1);
  const double begin = seconds_of(CLOCK_THREAD_CPUTIME_ID);
  check_stopped(working_loop, ReportKind::hang,
                {"ENDLESS LOOP in kernel kernel: block 0 thread 3"});
  CHECK(seconds_of(CLOCK_THREAD_CPUTIME_ID) - begin > 0.9);
  simt::set_launch_seconds(10);
  __atomic_store_n(&is_done, true, __ATOMIC_RELAXED);
  pthread_join(other, nullptr);
}

TEST_CASE("a loop that repeats itself is found soon, whoever waits for it") {
  const std::clock_t begin = std::clock();
  check_stopped(search_in_circles, ReportKind::hang,
                {"ENDLESS LOOP in kernel kernel: block", "thread 5 is still in a loop\n  at",
                 "Its variables have the values of an earlier turn, and memory has not changed"});
  check_stopped(stay_at_one_element, ReportKind::hang,
                {"ENDLESS LOOP in kernel kernel: block", "is still in a loop\n  at"});
  check_stopped(wait_for_a_loop, ReportKind::hang, {"ENDLESS LOOP in kernel kernel: block"});
  auto x = Array<int>::zeros(65);
  const simt::Report report =
      only_report([&] { search_beside_many_blocks<<<20'000, 1>>>(x.data()); });
  CHECK(lacks(report, {"block 0 thread 0 is still in a loop\n  at"}) == "");
  CHECK(static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC < 4);
}

TEST_CASE("a thread that reads the same value again and again lets the one go on that writes") {
  const Outcome outcome = observe([] {
    auto x = Array<int>::zeros(1);
    wait_by_plain_reads<<<20, 1>>>(x.data());
    CHECK(x.front() == 1);
  });
  INFO(outcome.text());
  CHECK(outcome.found(ReportKind::race));
  CHECK(!outcome.found(ReportKind::hang));
}

TEST_CASE("a long way is no endless loop") {
  if (simt::seed() != 0) return;  // once is enough
  CHECK(observe([] {
          const Array<int> x(std::vector<int>(64, 1));
          auto sum = Array<int>::zeros(1);
          constexpr unsigned n = 1u << 28;
          sum_of_many<<<1, 1>>>(x.data(), n, sum.data());
          CHECK(sum.front() == static_cast<int>(n));
          auto end = Array<unsigned>::zeros(4);
          long_way<<<1, 4>>>(n / 4, end.data());
          CHECK(cudaDeviceSynchronize() == cudaSuccess);
          auto done = Array<int>::zeros(1);
          wait_for_the_clock<<<1, 1>>>(done.data());
          CHECK(done.front() == 1);
        }).clean());
}

TEST_CASE("a loop that touches no memory ends after 5 s of the processor's time") {
  if (simt::seed() != 0) return;  // once is enough
  const std::clock_t begin = std::clock();
  check_stopped(count_for_ever, ReportKind::hang,
                {"ENDLESS LOOP in kernel kernel: block 0 thread 0 is still in a loop\n  at"});
  const double seconds = static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
  CHECK(seconds > 4.5);
  CHECK(seconds < 8);
}

TEST_CASE("a launch that goes forward is slow, not endless") {
  if (simt::seed() != 0) return;  // seconds of the processor's time: once is enough
  constexpr unsigned kBlocks = 400;
  auto sum = Array<unsigned>::zeros(1);
  simt::set_launch_seconds(1);
  const std::clock_t begin = std::clock();
  const Outcome slow = observe([&] { many_atomics<<<kBlocks, 1>>>(sum.data()); });
  const double seconds = static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
  auto x = Array<unsigned>::zeros(1);
  const simt::Report endless = only_report([&] { atomics_for_ever<<<1, 1>>>(x.data()); });
  simt::set_launch_seconds(10);
  INFO(slow.text());
  CHECK(slow.clean());
  CHECK(sum.front() == kBlocks * kAtomics);
  CHECK(seconds > 2);  // more than such a launch has without progress
  CHECK(
      lacks(
          endless,
          {"block 0 thread 0 is still in a loop; for 1 s of processor time no thread has\n  ended"}) ==
      "");
}

TEST_CASE("a stack that is full has a message") {
  check_stopped(local_array<200'000>, ReportKind::trap,
                {"STACK OVERFLOW in kernel kernel: block 0 thread 0 needs more than 192 KiB",
                 "limits_test.cu:", "No call is on its stack twice: the local variables fill it."});
  // Further below than the gap between two stacks.
  check_stopped(local_array<700'000>, ReportKind::trap,
                {"STACK OVERFLOW in kernel kernel: block 0 thread 0"});
  check_stopped(
      recursion, ReportKind::trap,
      {"STACK OVERFLOW in kernel kernel: block 0 thread 0", "The call at common/simt/tests/",
       " times:\n  which condition ends this recursion?"});
}

TEST_CASE("a local array that fits is no finding") {
  CHECK(observe([] {
          auto x = Array<int>::zeros(64);
          local_array<40'000><<<2, 64>>>(x.data());
          cudaDeviceSynchronize();
        }).found(ReportKind::trap) == false);
}

TEST_CASE("a call through a null pointer has a message") {
  check_stopped(null_function, ReportKind::trap,
                {"KERNEL STOPPED in kernel: an access to address 0x0, where no memory is",
                 "limits_test.cu:", "block 0 thread 5"});
}

TEST_CASE("the blocks of a grid of millions are told apart") {
  if (simt::seed() != 0) return;           // once is enough
  const unsigned blocks = (1u << 22) + 1;  // once the number of different ids of blocks
  const Outcome race = observe([=] {
    auto x = Array<int>::zeros(1);
    first_and_last_write<<<blocks, 1>>>(x.data());
    cudaDeviceSynchronize();
  });
  CHECK(lacks(race.text(), {"DATA RACE", "by block 4194304 thread 0", "by block 0 thread 0"}) ==
        "");

  const simt::Report past = only_report([=] {
    auto x = Array<int>::zeros(1);
    one_block_writes_past<<<blocks, 1>>>(x.data(), uint3{blocks - 1, 0, 0});
    cudaDeviceSynchronize();
  });
  CHECK(lacks(past, {"OUT OF BOUNDS", "by block 4194304 thread 0"}) == "");
}

TEST_CASE("a grid of 2^32 blocks runs") {
  // Its sixth block stops it. A 32-bit product of the extents would be 0, and no block would run.
  const dim3 grid(1u << 17, 1u << 15);
  const Outcome outcome = observe([=] {
    auto x = Array<int>::zeros(1);
    one_block_writes_past<<<grid, 1>>>(x.data(), uint3{5, 0, 0});
    CHECK(cudaDeviceSynchronize() == cudaErrorIllegalAddress);
  });
  CHECK(lacks(outcome.text(), {"OUT OF BOUNDS", "by block (5,0) thread 0"}) == "");
}
