// Test cases of every fate. test_main.py runs them one by one and looks at what main() makes of
// them; together they are no test.
#include <unistd.h>
#include <course/check.cuh>
#include <course/error.cuh>
#include <course/exercise.cuh>

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <chrono>
#include <csignal>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#ifdef SPECIMEN_NOT_STARTED
NOT_STARTED
#endif

namespace {

__global__ void add_racy(unsigned* d_sum) { *d_sum += 1; }
__global__ void count_up(unsigned* d_sum) { atomicAdd(d_sum, 1u); }
__global__ void write_at(unsigned* d_x, int i) { d_x[i] = 1; }

__global__ void count_slowly(unsigned* d_sum) {
  for (unsigned i = 0; i < 1u << 24; ++i) atomicAdd(d_sum, 1u);
}

/// Odd lanes stay away from a shuffle whose mask names them: the even ones wait in it for ever.
__global__ void shuffle_without_odd_lanes(unsigned* d_x) {
  if (threadIdx.x % 2 == 0) *d_x = __shfl_down_sync(0xffffffffu, 1u, 1);
  __syncthreads();
}

/// Notes the threads in the order of their atomics: a schedule in order gives 0, 1, 2, ...
__global__ void note_order(unsigned* d_next, unsigned* d_order) {
  d_order[atomicAdd(d_next, 1u)] = blockIdx.x * blockDim.x + threadIdx.x;
}

/// The block has 5 lanes, and the mask names 32.
__global__ void largest_of_five(unsigned* d_x, bool right) {
  unsigned largest = threadIdx.x;
  for (unsigned o = 16; o > 0; o /= 2) {
    const unsigned other = __shfl_down_sync(0xffffffffu, largest, o);
    if (!right || threadIdx.x + o < 5) largest = max(largest, other);
  }
  if (threadIdx.x == 0) *d_x = largest;
}

/// What an answer could read before main(): the kernel's copy of the environment, too.
std::string read_environment() {
  std::ifstream file("/proc/self/environ");
  return {std::istreambuf_iterator<char>(file), {}};
}
const std::string environment = read_environment();

}  // namespace

TEST_CASE("passes") { CHECK(1 + 1 == 2); }

TEST_CASE("compares nothing") {}

TEST_CASE("tries more cases of some answers") {
  CHECK(1 + 1 == 2);
  if (std::getenv("TEST_LEAVES_OUT") != nullptr) course::detail::may_leave_out();
  if (std::getenv("TEST_ONE_MORE") != nullptr) CHECK(1 + 2 == 3);
}

TEST_CASE("fails with a verdict") {
  std::vector<unsigned> found(300, 1);
  found[256] = 0;
  INFO("n = 300");
  CHECK(course::same(found, std::vector<unsigned>(300, 1), "y"));
  CHECK(course::same(1, 2, "never shown: the second failure of a test case"));
}

TEST_CASE("fails with an expression") {
  const int sum = 3;
  SECTION("in a section") { CHECK(sum == 4); }
}

TEST_CASE("fails for one size") {
  for (const int n : {31, 32, 33}) {
    INFO("n = " << n << ": all zero");
    CHECK(course::same(n < 33, true, "done"));
  }
}

/// Reads what is not there where a block has more than 128 threads, which stops the kernel.
__global__ void read_in_small_blocks(const unsigned* d_x, unsigned* d_y) {
  if (threadIdx.x == 0 && blockIdx.x == 0) *d_y = d_x[blockDim.x > 128 ? 1 : 0];
}
/// Wrong where a block has more than 128 threads, and a race there.
__global__ void count_in_small_blocks(unsigned* d_sum) {
  if (blockDim.x > 128) {
    *d_sum += 1;
  } else {
    atomicAdd(d_sum, 1u);
  }
}

TEST_CASE("fails in some launches") {
  course::in_launch({3, 512}, [](course::LaunchShape launch) {
    INFO(launch.grid << " blocks of " << launch.block);
    CHECK(course::same(launch.block <= 128, true, "done"));
  });
}

TEST_CASE("races in some launches") {
  course::in_launch({3, 512}, [](course::LaunchShape launch) {
    auto d_sum = course::DeviceBuffer<unsigned>::zeros(1);
    count_in_small_blocks<<<launch.grid, launch.block>>>(d_sum.data());
    CHECK(course::same(d_sum.front(), launch.grid * launch.block, "sum"));
  });
}

TEST_CASE("is stopped in some launches") {
  course::in_launch({3, 512}, [](course::LaunchShape launch) {
    const auto d_x = course::DeviceBuffer<unsigned>::zeros(1);
    auto d_y = course::DeviceBuffer<unsigned>::zeros(1);
    read_in_small_blocks<<<launch.grid, launch.block>>>(d_x.data(), d_y.data());
    CHECK(course::same(d_y.front(), 0, "y"));
  });
}

TEST_CASE("throws in every launch") {
  course::in_launch({3, 512}, [](course::LaunchShape) { throw std::runtime_error("always"); });
}

TEST_CASE("fails with a message") { FAIL("the reason"); }

TEST_CASE("fails twice") {
  const int sum = 3;
  CHECK(sum == 4);
  INFO("a message of the second failure");
  CHECK(sum == 5);
}

TEST_CASE("throws") { throw std::runtime_error("out of ideas"); }

TEST_CASE("throws nothing") { CHECK_THROWS(std::abs(1)); }

TEST_CASE("makes a bad launch") {
  write_at<<<1, 2000>>>(nullptr, 0);
  CUDA_CHECK_LAUNCH();
}

TEST_CASE("launches twice") {
  auto d_x = course::DeviceBuffer<unsigned>::zeros(2);
  for (const int i : {0, 1}) write_at<<<1, 1>>>(d_x.data(), i);
  CHECK(d_x.download() == std::vector<unsigned>{1, 1});
}

/// The process that is counted is another one.
TEST_CASE("fails after launches") {
  auto d_sum = course::DeviceBuffer<unsigned>::zeros(1);
  for (const unsigned n : {1u, 2u}) {
    INFO("n = " << n);
    count_up<<<1, n>>>(d_sum.data());
    if (n == 2) count_up<<<dim3(2, 2), 32>>>(d_sum.data());
    CHECK(course::same(d_sum.front(), 1u, "sum"));
  }
}

__global__ void sum_part(const unsigned* x, unsigned n, unsigned* sum) {
  for (unsigned i = 0; i < n; i += 2) *sum += x[i];
}

TEST_CASE("reads a part") {
  const auto x = course::DeviceBuffer<unsigned>::from(std::vector<unsigned>(10, 1));
  const auto last = course::DeviceBuffer<unsigned>::from(std::vector<unsigned>(3, 1));
  auto d_sum = course::DeviceBuffer<unsigned>::zeros(1);
  sum_part<<<1, 1>>>(x.data(), 10, d_sum.data());
  sum_part<<<1, 1>>>(last.data(), 1, d_sum.data());
  CHECK(course::same(d_sum.front(), 13u, "sum"));
}

TEST_CASE("hangs when it is counted") {
  static const pid_t first = getpid();
  while (getpid() != first) pause();
  CHECK(1 + 1 == 2);
}

TEST_CASE("crashes when it is counted") {
  static const pid_t first = getpid();
  if (getpid() != first) std::raise(SIGSEGV);
  CHECK(1 + 1 == 2);
}

TEST_CASE("fails when it is counted") {
  static const pid_t first = getpid();
  CHECK(getpid() == first);
}

TEST_CASE("races") {
  auto d_sum = course::DeviceBuffer<unsigned>::zeros(1);
  INFO("two blocks");
  add_racy<<<2, 32>>>(d_sum.data());
  CHECK(course::same(d_sum.front(), 63, "sum"));  // wrong, but the race comes first
}

TEST_CASE("races in every launch") {
  for (const char* const launch : {"the first launch", "the second launch"}) {
    auto d_sum = course::DeviceBuffer<unsigned>::zeros(1);
    INFO(launch);
    add_racy<<<2, 32>>>(d_sum.data());
    CHECK(course::same(d_sum.front(), 63, "sum"));
  }
}

TEST_CASE("races, and does not wait") {
  static auto d_sum = course::DeviceBuffer<unsigned>::zeros(1);
  add_racy<<<2, 32>>>(d_sum.data());
}

TEST_CASE("shows what it counts") {
  auto d_sum = course::DeviceBuffer<unsigned>::zeros(1);
  for (const unsigned blocks : {2u, 40u}) {
    INFO("count_up, n = " << 32 * blocks);
    const auto c = course::count([&] { count_up<<<blocks, 32>>>(d_sum.data()); });
    if (!c) continue;
    CHECK(c->global_atomics == blocks);
    CHECK(course::same(c->global_atomic_lanes, 32 * blocks, "single atomics"));
  }
}

TEST_CASE("shows what is found") {
  auto d_sum = course::DeviceBuffer<unsigned>::zeros(1);
  INFO("add_racy, n = 64");
  CHECK(course::expect_race([&] { add_racy<<<2, 32>>>(d_sum.data()); }));
}

TEST_CASE("shows who waits where") {
  auto d_x = course::DeviceBuffer<unsigned>::zeros(1);
  INFO("shuffle_without_odd_lanes");
  const course::Findings findings = course::find_races([&] {
    shuffle_without_odd_lanes<<<1, 32>>>(d_x.data());
    static_cast<void>(cudaDeviceSynchronize());
  });
  CHECK(findings.others > 0);
}

TEST_CASE("shows what is claimed") {
  const std::vector<float> sums = {0.5f, 12345.0f};
  CHECK(course::same(sums, {0.5f, 12345.0f}, "sums"));
  CHECK(sums.back() > 2.0f * sums.front());
  CHECK(course::close(sums.back(), 12344.0, 1.0, "the last one"));
}

TEST_CASE("leaves its array") {
  course::DeviceBuffer<unsigned> d_x(4);
  write_at<<<1, 1>>>(d_x.data(), 4);
  CUDA_CHECK(cudaDeviceSynchronize());
}

TEST_CASE("depends on the order") {
  constexpr unsigned kThreads = 256;
  auto d_next = course::DeviceBuffer<unsigned>::zeros(1);
  course::DeviceBuffer<unsigned> d_order(kThreads);
  note_order<<<2, kThreads / 2>>>(d_next.data(), d_order.data());
  std::vector<unsigned> in_order(kThreads);
  for (unsigned i = 0; i < kThreads; ++i) in_order[i] = i;
  CHECK(course::same(d_order.download(), in_order, "order"));
}

TEST_CASE("tries other numbers under each schedule") { CHECK(course::seed() < 2); }

TEST_CASE("uses lanes that take no part") {
  auto d_x = course::DeviceBuffer<unsigned>::zeros(1);
  largest_of_five<<<1, 5>>>(d_x.data(), false);
  CHECK(course::same(d_x.front(), 4u, "largest"));
}

TEST_CASE("reads lanes that take no part, and uses none") {
  auto d_x = course::DeviceBuffer<unsigned>::zeros(1);
  largest_of_five<<<1, 5>>>(d_x.data(), true);
  CHECK(course::same(d_x.front(), 4u, "largest"));
}

TEST_CASE("fails in a case after one with a note") {
  course::DeviceBuffer<unsigned> d_x(1);
  for (const bool has_note : {true, false}) {
    INFO((has_note ? "the first case" : "the second case"));
    if (has_note) {
      largest_of_five<<<1, 5>>>(d_x.data(), true);
    } else {
      count_up<<<1, 4>>>(d_x.data());
    }
    CHECK(course::same(d_x.front(), 4u, "largest"));
  }
}

TEST_CASE("is skipped") { SKIP("no reason"); }
TEST_CASE("is skipped, too") { SKIP("no reason"); }

TEST_CASE("tells its environment") { FAIL(environment); }

TEST_CASE("uses a null pointer in host code") {
  volatile int* nowhere = nullptr;
  *nowhere = 1;
}

TEST_CASE("takes too long in host code") {
  for (volatile bool forever = true; forever;) {
  }
}

/// A checked copy of an inline function that plain C++ calls as well: the linker may take this one for both.
[[maybe_unused]] const std::size_t& (*volatile the_smaller)(
    const std::size_t&, const std::size_t&) = std::min<std::size_t>;

TEST_CASE("takes too long in a launch") {
  auto d_sum = course::DeviceBuffer<unsigned>::zeros(1);
  count_slowly<<<dim3(1, 2), 32>>>(d_sum.data());
  CHECK(course::same(d_sum.front(), 0u, "sum"));
}

TEST_CASE("takes a second") {
  std::this_thread::sleep_for(std::chrono::milliseconds(700));
  CHECK(1 + 1 == 2);
}
TEST_CASE("takes a second, too") {
  std::this_thread::sleep_for(std::chrono::milliseconds(700));
  CHECK(1 + 1 == 2);
}

TEST_CASE("ends the program under schedule 2") {
  if (course::seed() == 2) std::exit(0);
  CHECK(1 + 1 == 2);
}

TEST_CASE("is killed under schedule 3") {
  if (course::seed() == 3) std::raise(SIGKILL);
  CHECK(1 + 1 == 2);
}

TEST_CASE("crashes") { std::raise(SIGSEGV); }

TEST_CASE("hangs") {
  for (volatile bool forever = true; forever;) {
  }
}
