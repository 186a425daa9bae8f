// Launches: indices in 1 to 3 dimensions, arguments, shared memory of every block, templates,
// streams of kernels; and the program's own code beside them.
#include <cuda_runtime.h>

#include <catch2/catch_test_macros.hpp>
#include <iterator>
#include <map>
#include <string>
#include <unordered_map>

#include "testing.hpp"

using namespace simt_test;

// ---- indices ------------------------------------------------------------------------------------

namespace {

__global__ void write_indices(int* out) {
  const unsigned block = (blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
  const unsigned thread = (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
  const unsigned threads = blockDim.x * blockDim.y * blockDim.z;
  const unsigned digits = threadIdx.x + 10 * threadIdx.y + 100 * threadIdx.z + 1000 * blockIdx.x +
                          10000 * blockIdx.y + 100000 * blockIdx.z;
  out[block * threads + thread] = static_cast<int>(digits);
}

__global__ void count_threads(unsigned* total) { atomicAdd(total, 1u); }

}  // namespace

TEST_CASE("indices in three dimensions") {
  const dim3 grid(2, 3, 4), block(5, 2, 3);
  Array<int> out(24 * 30);
  CHECK(first_complaint(
            [&] {
              write_indices<<<grid, block>>>(out.data());
              const std::vector<int> digits = out.values();
              std::size_t i = 0;
              bool right = true;
              for (int bz = 0; bz < 4; ++bz)
                for (int by = 0; by < 3; ++by)
                  for (int bx = 0; bx < 2; ++bx)
                    for (int tz = 0; tz < 3; ++tz)
                      for (int ty = 0; ty < 2; ++ty)
                        for (int tx = 0; tx < 5; ++tx)
                          right &= digits[i++] ==
                                   tx + 10 * ty + 100 * tz + 1000 * bx + 10000 * by + 100000 * bz;
              return right;
            },
            3) == "");
}

TEST_CASE("every thread of every block runs once, whatever the shape") {
  for (const dim3 block : {dim3(1), dim3(31), dim3(33), dim3(1024), dim3(7, 5), dim3(4, 4, 4)}) {
    for (const unsigned blocks : {1u, 7u, 8u, 9u, 40u}) {
      auto total = Array<unsigned>::zeros(1);
      const Outcome outcome =
          observe([&] { count_threads<<<blocks, block>>>(total.data()); }, blocks);
      INFO(outcome.text());
      CHECK(outcome.clean());
      CHECK(total.front() == blocks * block.x * block.y * block.z);
    }
  }
}

// ---- some blocks of a grid ----------------------------------------------------------------------

namespace {

__global__ void list_blocks(unsigned* count, uint3* blocks, dim3* grids) {
  if (threadIdx.x > 0) return;
  const unsigned place = atomicAdd(count, 1u);
  blocks[place] = blockIdx;
  grids[place] = gridDim;
}

__global__ void write_one_word(unsigned* word) { *word = blockIdx.x; }

struct BlocksThatRan {
  unsigned count;
  std::vector<uint3> blocks;
  std::vector<dim3> grids;
};

BlocksThatRan run_some_blocks(std::uint64_t first, std::uint64_t last, dim3 grid) {
  auto count = Array<unsigned>::zeros(1);
  Array<uint3> blocks(std::vector<uint3>(20));
  Array<dim3> grids(std::vector<dim3>(20));
  const simt::SomeBlocks some(first, last);
  list_blocks<<<grid, 32>>>(count.data(), blocks.data(), grids.data());
  return {count.front(), blocks.values(), grids.values()};
}

}  // namespace

TEST_CASE("some blocks of a grid of more than 2^32 threads") {
  constexpr unsigned kBlocks = (1u << 27) + 1;
  const BlocksThatRan ran = run_some_blocks(2, 3, kBlocks);
  REQUIRE(ran.count == 5);
  const unsigned expected[] = {0, 1, kBlocks - 3, kBlocks - 2, kBlocks - 1};
  for (unsigned i = 0; i < 5; ++i) {
    CHECK(ran.blocks[i].x == expected[i]);
    CHECK(ran.grids[i].x == kBlocks);
  }
  const BlocksThatRan last = run_some_blocks(0, 1, dim3(3, 5, 65'535));
  REQUIRE(last.count == 1);
  CHECK((last.blocks[0].x == 2 && last.blocks[0].y == 4 && last.blocks[0].z == 65'534));
}

TEST_CASE("some blocks of a grid that has no more are all of them") {
  CHECK(run_some_blocks(2, 3, 4).count == 4);
  CHECK(run_some_blocks(2, 3, 5).count == 5);
  CHECK(run_some_blocks(~std::uint64_t{0}, 1, 5).count == 5);
  CHECK(run_some_blocks(1, ~std::uint64_t{0}, 5).count == 5);
}

TEST_CASE("no block of a launch runs, and all are counted") {
  auto count = Array<unsigned>::zeros(1);
  const simt::CountScope scope;
  const simt::SomeBlocks none(0, 0);
  count_threads<<<(1u << 27) + 1, 32>>>(count.data());
  CHECK(scope.counters().launches == 1);
  CHECK(scope.counters().blocks == (1u << 27) + 1);
  CHECK(scope.counters().threads == (1ull << 32) + 32);
  CHECK(count.front() == 0);
}

TEST_CASE("blocks have the numbers of the whole grid in reports, and all blocks run afterwards") {
  auto word = Array<unsigned>::zeros(1);
  const Outcome outcome = observe([&] {
    const simt::SomeBlocks some(1, 1);
    write_one_word<<<(1u << 27) + 1, 1>>>(word.data());
  });
  INFO(outcome.text());
  CHECK(simt_test::lacks(outcome.text(), {"by block 134217728 thread 0", "by block 0 thread 0"}) ==
        "");
  auto total = Array<unsigned>::zeros(1);
  count_threads<<<9, 32>>>(total.data());
  CHECK(total.front() == 9 * 32);
}

// ---- arguments ----------------------------------------------------------------------------------

namespace {

struct Line {
  double slope, offset;
  __device__ double at(double x) const { return slope * x + offset; }
};

template <class Function>
__global__ void tabulate(Function function, double* y) {
  y[threadIdx.x] = function.at(threadIdx.x);
}

__global__ void many_arguments(char a, short b, long long c, bool d, float e, const int* f, dim3 g,
                               int* out) {
  *out = a + b + static_cast<int>(c) + (d ? 1000 : 0) + static_cast<int>(e) + *f +
         static_cast<int>(g.z);
}

/// With a pointer beside it as large as a launch's arguments may be: 32,764 bytes.
struct Table {
  int values[(32764 - 8) / sizeof(int) - 1];
};
__global__ void look_up(Table table, int* out) {
  table.values[threadIdx.x] += 1;
  out[threadIdx.x] = table.values[threadIdx.x] + table.values[std::size(table.values) - 1];
}
__global__ void look_up_const(const Table table, int* out) {
  const Table copy = table;
  out[threadIdx.x] = copy.values[threadIdx.x];
}

__global__ void change_own_copy(int n, int* out) {
  for (; n > 0; --n) out[threadIdx.x] += 1;
}

template <int factor, class T>
__global__ void multiply(T* x) {
  x[threadIdx.x] *= factor;
}

__global__ void overloaded(int* out) { *out = 1; }
__global__ void overloaded(float* out) { *out = 2; }

}  // namespace

TEST_CASE("arguments of every kind reach each thread in a copy of its own") {
  Array<double> y(40);
  Array<int> out(1);
  const Array<int> five(std::vector<int>{5});
  auto counts = Array<int>::zeros(64);
  const Outcome outcome = observe([&] {
    tabulate<<<1, 40>>>(Line{2, 1}, y.data());
    many_arguments<<<1, 1>>>('\1', 20, 300LL, true, 7.5f, five.data(), dim3(1, 2, 3), out.data());
    change_own_copy<<<1, 64>>>(4, counts.data());
  });
  INFO(outcome.text());
  CHECK(outcome.clean());
  CHECK(y.values()[39] == 79);
  CHECK(out.front() == 1 + 20 + 300 + 1000 + 7 + 5 + 3);
  CHECK(counts.values() == std::vector<int>(64, 4));
}

TEST_CASE("arguments as large as they may be") {
  static Table table;
  table.values[3] = 30;
  table.values[std::size(table.values) - 1] = 5;
  Array<int> out(8), more(8);
  const Outcome outcome = observe([&] {
    look_up<<<1, 8>>>(table, out.data());
    look_up_const<<<1, 8>>>(table, more.data());
  });
  INFO(outcome.text());
  CHECK(outcome.clean());
  CHECK(out.values() == std::vector<int>{6, 6, 6, 36, 6, 6, 6, 6});
  CHECK(more.values() == std::vector<int>{0, 0, 0, 30, 0, 0, 0, 0});
}

TEST_CASE("templates and overloads") {
  const Array<int> ints(std::vector<int>(8, 2));
  const Array<double> doubles(std::vector<double>(8, 2));
  Array<int> one(1);
  Array<float> two(1);
  const Outcome outcome = observe([&] {
    multiply<3><<<1, 8>>>(ints.data());
    multiply<5, double><<<1, 8>>>(doubles.data());
    overloaded<<<1, 1>>>(one.data());
    overloaded<<<1, 1>>>(two.data());
  });
  CHECK(outcome.clean());
  CHECK(ints.values()[7] == 6);
  CHECK(doubles.values()[7] == 10);
  CHECK(one.front() == 1);
  CHECK(two.front() == 2);
}

// ---- shared memory ------------------------------------------------------------------------------

namespace {

template <class T>
__device__ T* block_scratch() {
  __shared__ T s_scratch[32];
  return s_scratch;
}

__global__ void several_shared_variables(int* out) {
  __shared__ int s_a[32], s_b[2][16];
  __shared__ double s_c;
  extern __shared__ int s_dynamic[];
  const unsigned t = threadIdx.x;
  s_a[t] = 1;
  s_b[t / 16][t % 16] = 10;
  s_dynamic[t] = 100;
  block_scratch<int>()[t] = 1000;
  block_scratch<float>()[t] = 10000;
  if (t == 0) s_c = 100000;
  __syncthreads();
  const unsigned u = 31 - t;
  out[blockIdx.x * 32 + t] = s_a[u] + s_b[u / 16][u % 16] + s_dynamic[u] + block_scratch<int>()[u] +
                             static_cast<int>(block_scratch<float>()[u] + s_c);
}

// Blocks that run at the same time have shared memory of their own.
__global__ void own_number_in_shared(int* out) {
  __shared__ int s_block;
  if (threadIdx.x == 0) s_block = static_cast<int>(blockIdx.x);
  __syncthreads();
  if (threadIdx.x == 63) out[blockIdx.x] = s_block;
}

}  // namespace

TEST_CASE("shared variables are distinct, and every block has its own") {
  Array<int> out(64);
  Array<int> numbers(20);
  CHECK(first_complaint(
            [&] {
              several_shared_variables<<<2, 32, 32 * sizeof(int)>>>(out.data());
              return out.values() == std::vector<int>(64, 111111);
            },
            10) == "");
  CHECK(first_complaint(
            [&] {
              own_number_in_shared<<<20, 64>>>(numbers.data());
              const std::vector<int> values = numbers.values();
              bool right = true;
              for (int block = 0; block < 20; ++block) {
                right &= values[static_cast<std::size_t>(block)] == block;
              }
              return right;
            },
            10) == "");
}

// Outside of functions, as many programs have them.
extern __shared__ float s_floats[];
extern __shared__ __align__(8) double2 s_pairs[];
__shared__ int s_common[32];

namespace {

__device__ int common_of(unsigned t) { return s_common[t]; }

template <class T>
__device__ T first_of() {
  return reinterpret_cast<T*>(s_floats)[0];
}

__global__ void shared_outside(int* out) {
  extern __shared__ int s_ints[];
  const unsigned t = threadIdx.x;
  s_common[t] = static_cast<int>(t);
  if (t == 0) s_floats[0] = 1.0f;
  if (t == 1) s_pairs[1] = {2, 3};
  __syncthreads();
  const int same = (void*)s_floats == (void*)s_pairs && (void*)s_ints == (void*)s_floats;
  out[t] = common_of(31 - t) + 100 * (s_ints[0] == 0x3f800000) + 1000 * same +
           10000 * static_cast<int>(first_of<float>()) + 100000 * static_cast<int>(s_pairs[1].y);
}

__global__ void has_its_own(float* out) {
  float s_floats[2] = {5, 6};
  out[0] = s_floats[1];
}

}  // namespace

TEST_CASE("__shared__ variables outside of functions are the block's, too") {
  Array<int> out(32);
  Array<float> own(1);
  CHECK(first_complaint(
            [&] {
              shared_outside<<<1, 32, 64>>>(out.data());
              has_its_own<<<1, 1>>>(own.data());
              return out.values()[31] == 311100 && out.values()[0] == 311131 && own.front() == 6;
            },
            10) == "");
}

// ---- clocks -------------------------------------------------------------------------------------

namespace {

__global__ void wait_a_while(long long ticks, int* out) {
  const clock_t begin = clock();
  clock_t passed = 0;
  while (passed < ticks) passed = clock() - begin;
  const long long begin_64 = clock64();
  while (clock64() - begin_64 < ticks) __nanosleep(100);
  out[threadIdx.x] = 1;
}

__global__ void measure(long long* out) {
  const long long begin = clock64();
  long long sum = 0;
  for (int i = 0; i < 100; ++i) sum += i * out[1];
  out[0] = clock64() - begin + 0 * sum;
}

}  // namespace

TEST_CASE("a loop that waits for a clock ends soon") {
  Array<int> out(64);
  for (const bool counts : {false, true}) {
    CHECK(first_complaint(
              [&] {
                if (counts) {
                  const simt::CountScope counting;
                  wait_a_while<<<2, 32>>>(2'000'000'000, out.data());
                  cudaDeviceSynchronize();
                } else {
                  wait_a_while<<<2, 32>>>(2'000'000'000, out.data());
                }
                return out.front() == 1;
              },
              3) == "");
  }
  const Array<long long> time(std::vector<long long>{0, 1});
  const Outcome outcome = observe([&] { measure<<<1, 1>>>(time.data()); });
  CHECK(outcome.clean());
  CHECK(time.front() > 0);
  CHECK(clock() >= 0);  // of the host
}

// ---- the stack of a thread ----------------------------------------------------------------------

namespace {

__device__ __attribute__((noinline)) int depth_of(int n) {
  return n == 0 ? 0 : 1 + depth_of(n - 1);
}

__global__ void recurse(int* out) { out[threadIdx.x] = depth_of(50); }

__global__ void sort_own_numbers(int* out) {
  int numbers[128];
  for (int i = 0; i < 128; ++i) numbers[i] = (i * 77 + static_cast<int>(threadIdx.x)) % 128;
  for (int i = 0; i < 128; ++i) {
    for (int k = i; k > 0 && numbers[k] < numbers[k - 1]; --k) {
      const int swap = numbers[k];
      numbers[k] = numbers[k - 1];
      numbers[k - 1] = swap;
    }
  }
  out[threadIdx.x] = numbers[64];
}

}  // namespace

TEST_CASE("local arrays and recursion") {
  Array<int> depth(32), middle(4);
  const Outcome outcome = observe([&] {
    recurse<<<1, 32>>>(depth.data());
    sort_own_numbers<<<1, 4>>>(middle.data());
  });
  INFO(outcome.text());
  CHECK(outcome.clean());
  CHECK(depth.values() == std::vector<int>(32, 50));
  CHECK(middle.values() == std::vector<int>(4, 64));
}

// ---- beside the kernels -------------------------------------------------------------------------

namespace {

__global__ void publish(int* data, int* flag) {
  if (blockIdx.x == 0) {
    *data = 7;
    __threadfence();
    atomicExch(flag, 1);
  } else {
    while (atomicAdd(flag, 0) == 0) {
    }
    __threadfence();
    atomicAdd(flag, *data);
  }
}

}  // namespace

// The program and the device's runtime library are linked together: containers of the same type
// must not be mixed up, because only the program's are compiled with the checker's hooks.
TEST_CASE("the program's own containers do not disturb the device") {
  std::unordered_map<unsigned long, unsigned> clocks;
  std::unordered_map<std::uint64_t, std::uint32_t> counts;
  std::map<unsigned long, std::string> names;
  for (unsigned long i = 0; i < 100; ++i) {
    clocks[i * i] += 1;
    counts[i % 7] += 1;
    names[i] = std::to_string(i);
  }
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    const Outcome outcome = observe(
        [&] {
          auto data = Array<int>::zeros(1);
          auto flag = Array<int>::zeros(1);
          publish<<<8, 1>>>(data.data(), flag.data());
          cudaDeviceSynchronize();
        },
        seed);
    INFO(outcome.text());
    CHECK(outcome.clean());
  }
  CHECK(clocks.size() == 100);
  CHECK(counts[3] == 14);
  CHECK(names[99] == "99");
}
