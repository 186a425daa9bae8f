// CUDA's own syntax in every form that a kernel file may use: launches, __shared__ and extern
// __shared__ memory, __device__ and __constant__ variables. On the CPU device all of it goes
// through common/build/rewriter; nvcc compiles the same file.
#include <cuda_runtime.h>

#include <catch2/catch_test_macros.hpp>
#include <string>
#include <vector>

namespace {

/// Integers in device memory, all 0 at first.
class Numbers {
 public:
  explicit Numbers(int n) : n_(n) {
    REQUIRE(cudaMalloc(&data_, n * sizeof(int)) == cudaSuccess);
    REQUIRE(cudaMemset(data_, 0, n * sizeof(int)) == cudaSuccess);
  }
  ~Numbers() { static_cast<void>(cudaFree(data_)); }
  Numbers(const Numbers&) = delete;
  int* data() const { return data_; }
  std::vector<int> values() const {
    std::vector<int> copy(n_);
    REQUIRE(cudaGetLastError() == cudaSuccess);
    REQUIRE(cudaMemcpy(copy.data(), data_, n_ * sizeof(int), cudaMemcpyDeviceToHost) ==
            cudaSuccess);
    return copy;
  }
  /// The only element; 0 again afterwards.
  int take() {
    const int value = values().at(0);
    REQUIRE(cudaMemset(data_, 0, n_ * sizeof(int)) == cudaSuccess);
    return value;
  }

 private:
  int n_;
  int* data_ = nullptr;
};

}  // namespace

// ---- Launches -----------------------------------------------------------------------------------

__global__ void count(int* out) { atomicAdd(out, 1); }
// An overload, and a function of the host with the same name.
__global__ void count(int* out, int step) { atomicAdd(out, step); }
int count(const std::vector<int>& v) { return static_cast<int>(v.size()); }

template <class T, int N>
__global__ void count_by(T* out) {
  atomicAdd(out, N);
}

namespace outer {
__global__ void count(int* out) { atomicAdd(out, 100); }
namespace inner {
template <int A, int B>
__global__ void sum(int* out, int c = 5) {
  atomicAdd(out, A + B + c);
}
}  // namespace inner
}  // namespace outer

__device__ int runs;
__global__ void no_arguments() { atomicAdd(&runs, 1); }

struct Pair {
  int first, second;
};
__global__ void by_value(int* out, Pair pair, const int (*table)[2], bool subtract) {
  out[0] = subtract ? pair.first - pair.second : pair.first + pair.second;
  out[1] = table == nullptr ? -1 : table[0][1];
}

TEST_CASE("a launch runs every thread of its configuration") {
  Numbers n(1);
  count<<<2, 64>>>(n.data());
  CHECK(n.take() == 128);
  count<<<dim3((1 << 4) >> 2, 2), dim3(8, (5 > 4 ? 2 : 1), 2)>>>(n.data());
  CHECK(n.take() == 8 * 32);
  count<<<dim3{3}, 1 << 5>>>(n.data());
  CHECK(n.take() == 96);
  const int blocks = 100;
  count<<<dim3(blocks >> 4), dim3(blocks < 50 ? 32 : 64), 0, nullptr>>>(n.data());
  CHECK(n.take() == 6 * 64);
}

TEST_CASE("the kernel's name: templates, namespaces, overloads, default arguments") {
  Numbers n(1);
  count_by<int, (3 > 2 ? 5 : 6)><<<1, 32>>>(n.data());
  CHECK(n.take() == 160);
  count_by<unsigned, (8 >> 1)><<<1, 32>>>(reinterpret_cast<unsigned*>(n.data()));
  CHECK(n.take() == 128);
  count<<<1, 32>>>(n.data(), 3);
  CHECK(n.take() == 96);
  CHECK(count(std::vector<int>(7)) == 7);
  outer::count<<<1, 2>>>(n.data());
  CHECK(n.take() == 200);
  ::outer::inner::sum<1, 2><<<1, 1>>>(n.data());
  CHECK(n.take() == 8);
  outer::inner::sum<1, 2><<<1, 1>>>(n.data(), 6);
  CHECK(n.take() == 9);
}

// clang-format off
TEST_CASE("a launch over several lines, with comments") {
  Numbers n(1);
  outer::inner::sum<1,  // not >>>
                    2>
      <<<2 /* blocks, of ( */,
         32  // threads )
         >>>(n.data(),
             // the default would be 5;
             7);
  CHECK(n.take() == 640);
}
// clang-format on

TEST_CASE("a launch through a function pointer") {
  Numbers n(1);
  void (*kernel)(int*) = count_by<int, 4>;
  kernel<<<1, 32>>>(n.data());
  CHECK(n.take() == 128);
  (*kernel)<<<1, 2>>>(n.data());
  CHECK(n.take() == 8);
  void (*const table[])(int*) = {count, outer::count, count_by<int, 7>};
  for (int i = 0; i < 3; ++i) table[i]<<<1, 1>>>(n.data());
  CHECK(n.take() == 108);
  struct {
    void (*kernel)(int*);
  } entry{count};
  entry.kernel<<<1, 3>>>(n.data());
  CHECK(n.take() == 3);
  auto* const p = &entry;
  p->kernel<<<1, 4>>>(n.data());
  CHECK(n.take() == 4);
  (count_by<int, 2>)<<<1, 1>>>(n.data());
  CHECK(n.take() == 2);
}

TEST_CASE("the kernel's expression is evaluated once") {
  Numbers n(1);
  void (*const table[])(int*) = {count, outer::count};
  int i = 0;
  table[i++]<<<1, 32>>>(n.data());
  CHECK(i == 1);
  CHECK(n.take() == 32);
}

TEST_CASE("no arguments, and arguments of many types") {
  int found = 0;  // every schedule runs this case again in the same process
  REQUIRE(cudaMemcpyToSymbol(runs, &found, sizeof found) == cudaSuccess);
  no_arguments<<<3, 5>>>();
  REQUIRE(cudaMemcpyFromSymbol(&found, runs, sizeof found) == cudaSuccess);
  CHECK(found == 15);
  Numbers out(2), table(2);
  count<<<1, 9>>>(table.data() + 1);
  by_value<<<1, 1>>>(out.data(), Pair{7, 3}, reinterpret_cast<const int(*)[2]>(table.data()), true);
  CHECK(out.values() == std::vector<int>{4, 9});
  by_value<<<1, 1>>>(out.data(), Pair{1, 2}, nullptr, false);
  CHECK(out.values() == std::vector<int>{3, -1});
}

TEST_CASE("a braced list and a literal 0 as arguments") {
  Numbers out(2);
  by_value<<<1, 1>>>(out.data(), {7, 3}, 0, true);
  CHECK(out.values() == std::vector<int>{4, -1});
  by_value<<<1, 1>>>(out.data(), {7, 3}, NULL, false);
  CHECK(out.values() == std::vector<int>{10, -1});
}

namespace {
int launched_by(int how, int* out) {
  if (how == 0) count<<<1, 1>>>(out);
  if (how == 1)
    count<<<1, 2>>>(out);
  else
    count<<<1, 3>>>(out);
  for (int i = 0; i < how; ++i) count<<<1, 10>>>(out);
  do count<<<1, 100>>>(out);
  while (how-- > 2);
  switch (how) {
    case 1:
      count<<<1, 500>>>(out);
      break;
    default:
      ::count<<<1, 1000>>>(out);
  }
  return how;
}
void returns_launch(int* out) { return count<<<1, 32>>>(out); }
template <class Work>
void run(Work work) {
  work();
}
template <class T, int N>
void launch_from_template(T* out) {
  count_by<T, N + 1><<<N, N * 2>>>(out);
}
}  // namespace

#define RUN_IT(statement) statement

TEST_CASE("a launch as any statement or expression") {
  Numbers n(1);
  CHECK(launched_by(0, n.data()) == -1);
  CHECK(n.take() == 1 + 3 + 100 + 1000);
  CHECK(launched_by(1, n.data()) == 0);
  CHECK(n.take() == 2 + 10 + 100 + 1000);
  CHECK(launched_by(2, n.data()) == 1);
  CHECK(n.take() == 3 + 20 + 100 + 500);
  returns_launch(n.data());
  CHECK(n.take() == 32);
  int* const out = n.data();
  run([=] { count<<<1, 5>>>(out); });
  run([&] { return count<<<1, 6>>>(out); });
  CHECK(n.take() == 11);
  true ? count<<<1, 1>>>(out) : count<<<1, 2>>>(out);
  count<<<1, 10>>>(out), count<<<1, 20>>>(out);
  CHECK(n.take() == 31);
  RUN_IT((count<<<1, 32>>>(out)));
  REQUIRE_NOTHROW((count_by<int, 2><<<1, 32>>>(out)));
  CHECK(n.take() == 96);
  launch_from_template<int, 3>(out);
  CHECK(n.take() == 3 * 6 * 4);
}

// ---- __shared__ memory --------------------------------------------------------------------------

namespace cub_like {
template <class T, int N>
struct Reduce {
  struct Temp {
    T values[N];
  };
};
}  // namespace cub_like

__global__ void shared_forms(int* out) {
  __shared__ int scalar, row[32], square[4][(3 + 1) * 2];
  __shared__ unsigned long long wide[32];
  static __shared__ short small[32];
  volatile __shared__ int changing[32];
  int __shared__ behind[32];
  alignas(16) __shared__ char front_aligned[32];
  __shared__ __align__(8) char back_aligned[32];
  __shared__ int* pointer;
  __shared__ typename cub_like::Reduce<int, 32>::Temp temp;
  __shared__ cub_like::Reduce<cub_like::Reduce<int, 1>::Temp, 32>::Temp nested;
  __shared__ Pair pairs[sizeof(int) > 2 ? 32 : 1];
  const int t = static_cast<int>(threadIdx.x);
  if (t == 0) {
    scalar = 1;
    pointer = out;
  }
  const int next = (t + 1) % 32;
  row[t] = square[t / 8][t % 8] = behind[t] = t;
  wide[t] = 1ull << t;
  small[t] = static_cast<short>(t);
  changing[t] = t;
  front_aligned[t] = back_aligned[t] = static_cast<char>(t);
  temp.values[t] = nested.values[t].values[0] = t;
  pairs[t] = {t, -t};
  __syncthreads();
  // Each of these is t + 1, or 0 in the last thread.
  int sum = row[next] + square[next / 8][next % 8] + behind[next] + small[next] + changing[next] +
            front_aligned[next] + back_aligned[next] + temp.values[next] +
            nested.values[next].values[0] + pairs[next].first + pairs[next].second;
  sum -= 9 * next;
  sum += wide[next] == 1ull << next ? scalar : 0;
  pointer[t] = sum + static_cast<int>(sizeof square + sizeof wide) +
               (reinterpret_cast<std::size_t>(front_aligned) % 16 == 0 ? 0 : 1000);
}

TEST_CASE("__shared__ variables of every form") {
  Numbers n(32);
  shared_forms<<<1, 32>>>(n.data());
  CHECK(n.values() == std::vector<int>(32, 1 + 128 + 256));
}

template <class T, int N>
__global__ void reverse_in_shared(T* values) {
  __shared__ T staged[N < 64 ? N : 64], *end;
  {
    __shared__ T shadow;  // its own variable, in a scope of its own
    if (threadIdx.x == 0) shadow = T(N), end = staged + int(shadow) - 1;
  }
  staged[threadIdx.x] = values[blockIdx.x * N + threadIdx.x];
  __syncthreads();
  values[blockIdx.x * N + threadIdx.x] = *(end - threadIdx.x);
}

__global__ void number(int* out) {
  out[blockIdx.x * blockDim.x + threadIdx.x] = static_cast<int>(threadIdx.x);
}

TEST_CASE("__shared__ arrays of a template: one per block and per instance") {
  Numbers n(64);
  number<<<2, 32>>>(n.data());
  reverse_in_shared<int, 32><<<2, 32>>>(n.data());
  std::vector<int> expected;
  for (int i = 0; i < 64; ++i) expected.push_back(31 - i % 32);
  CHECK(n.values() == expected);
  reverse_in_shared<int, 16><<<4, 16>>>(n.data());
  expected.clear();
  for (int i = 0; i < 64; ++i) expected.push_back(i % 32 < 16 ? 16 + i % 16 : i % 16);
  CHECK(n.values() == expected);
}

template <class T>
__global__ void reverse_in_dynamic(T* values) {
  extern __shared__ __align__(16) unsigned char bytes[];
  T* staged = reinterpret_cast<T*>(bytes);
  staged[threadIdx.x] = values[threadIdx.x];
  __syncthreads();
  values[threadIdx.x] = staged[blockDim.x - 1 - threadIdx.x];
}

__global__ void sum_rows(int* out) {
  extern __shared__ int rows[][4];
  for (int i = 0; i < 4; ++i) rows[threadIdx.x][i] = static_cast<int>(threadIdx.x) * i;
  __syncthreads();
  const int* row = rows[(threadIdx.x + 1) % blockDim.x];
  out[threadIdx.x] = row[1] + row[2] + row[3];
}

TEST_CASE("extern __shared__ memory") {
  Numbers n(32);
  number<<<1, 32>>>(n.data());
  reverse_in_dynamic<<<1, 32, 32 * sizeof(int)>>>(n.data());
  std::vector<int> expected;
  for (int i = 0; i < 32; ++i) expected.push_back(31 - i);
  CHECK(n.values() == expected);
  sum_rows<<<1, 32, 32 * sizeof(int[4])>>>(n.data());
  expected.clear();
  for (int i = 0; i < 32; ++i) expected.push_back((i + 1) % 32 * 6);
  CHECK(n.values() == expected);
}

// ---- __device__ and __constant__ variables ------------------------------------------------------

__device__ int total, per_thread[4] = {1, 2, 3, 4}, *last;
static __device__ unsigned long long big = 1ull << 40;
int __device__ behind_type = 5;
static inline __device__ int of_this_file = 6;
__constant__ int weights[4] = {10, 20, 30, 40};
__constant__ Pair offset = {1, 2};
__device__ constexpr int primes[4] = {2, 3, 5, 7};
static __device__ const char* word = nullptr;
namespace outer {
__device__ int total = 70;
}

__device__ int twice(int x);
__device__ int twice(int x) { return 2 * x; }
__device__ int with_default(int x, int y = 1) { return x + y; }

__global__ void use_variables(int* out) {
  const int t = static_cast<int>(threadIdx.x);
  atomicAdd(&total, weights[t] * per_thread[t] + primes[t]);
  out[t] = twice(with_default(offset.second)) + static_cast<int>(big >> 40) + behind_type +
           of_this_file + outer::total + (word == nullptr ? 0 : 1000);
  if (t == 3) last = out + t;
}

TEST_CASE("__device__ and __constant__ variables") {
  Numbers n(4);
  use_variables<<<1, 4>>>(n.data());
  CHECK(n.values() == std::vector<int>(4, 6 + 1 + 5 + 6 + 70));
  int sum = 0;
  REQUIRE(cudaMemcpyFromSymbol(&sum, total, sizeof sum) == cudaSuccess);
  CHECK(sum == 10 + 40 + 90 + 160 + 17);
  int* pointer = nullptr;
  REQUIRE(cudaMemcpyFromSymbol(&pointer, last, sizeof pointer) == cudaSuccess);
  CHECK(pointer == n.data() + 3);
  const int other[4] = {1, 1, 1, 1};
  REQUIRE(cudaMemcpyToSymbol(weights, other, sizeof other) == cudaSuccess);
  sum = 0;
  REQUIRE(cudaMemcpyToSymbol(total, &sum, sizeof sum) == cudaSuccess);
  use_variables<<<1, 4>>>(n.data());
  REQUIRE(cudaMemcpyFromSymbol(&sum, total, sizeof sum) == cudaSuccess);
  CHECK(sum == 10 + 17);
  // As they were: every schedule runs this case again in the same process.
  const int first[4] = {10, 20, 30, 40};
  sum = 0;
  REQUIRE(cudaMemcpyToSymbol(weights, first, sizeof first) == cudaSuccess);
  REQUIRE(cudaMemcpyToSymbol(total, &sum, sizeof sum) == cudaSuccess);
}

// ---- Text that looks like code ------------------------------------------------------------------

TEST_CASE("comments, strings and digit separators stay as they are") {
  // count<<<1, 32>>>(nothing); __shared__ int s;
  /* __device__ int x;
     count<<<1, 32>>>(nothing); */
  const std::string text = "count<<<1, 32>>>(x); __shared__ int \"s\";";
  CHECK(text.size() == 40);
  const std::string raw = R"(count<<<1, "32>>>)"
                          R"x(__shared__ )" int s;)x";
  CHECK(raw.size() == 37);
  CHECK(1'000'000 == 1000 * 1000);
  CHECK('"' != '\'');
  Numbers n(1);
  count<<<1, 1'00>>>(n.data());  // don't
  CHECK(n.take() == 100);
}

// clang-format off
constexpr int kLine = __LINE__;
__global__ void store_line(int* out, int line) {
  __shared__ int kept[2],
      shared_line;
  if (threadIdx.x == 0) kept[0] = line, shared_line = __LINE__;
  __syncthreads();
  out[0] = kept[0] - kLine;
  out[1] = shared_line - kLine;
  out[2] = __LINE__ - kLine;
}

TEST_CASE("lines keep their numbers") {
  Numbers n(3);
  const int here = __LINE__;
  store_line<<<1,
               1>>>(n.data(),
                    __LINE__);
  CHECK(__LINE__ == here + 4);
  CHECK(n.values() == std::vector<int>{here + 3 - kLine, 4, 8});
}
// clang-format on

// ---- Attributes ---------------------------------------------------------------------------------

__device__ __noinline__ int doubled_apart(int x) {
  __builtin_assume(x > 0);
  return 2 * x;
}
__global__ void __launch_bounds__(64, 2) bounded_by_threads(int* out) {
  atomicAdd(out, doubled_apart(1));
}
__global__ void __maxnreg__(32) bounded_by_registers(int* out) { atomicAdd(out, doubled_apart(2)); }

TEST_CASE("attributes of functions") {
  Numbers n(1);
  bounded_by_threads<<<1, 64>>>(n.data());
  CHECK(n.take() == 128);
  bounded_by_registers<<<1, 64>>>(n.data());
  CHECK(n.take() == 256);
}

// ---- __CUDA_ARCH__ ------------------------------------------------------------------------------

// Older GPUs had no such function; where __CUDA_ARCH__ is new enough, or the host's, there is one.
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 600
__device__ double atomicAdd(double* address, double value) { return *address += value; }
#endif
#ifdef __CUDA_ARCH__
#define WHERE 2
#else
#define WHERE 1
#endif

namespace {

__host__ __device__ int by_condition(int x) {
#ifdef __CUDA_ARCH__
  return x + __CUDA_ARCH__ / 100;
#else
  return x + 1;
#endif
}
__host__ __device__ constexpr int by_macro() { return WHERE; }

__global__ void call_both(int* out, double* sum) {
  atomicAdd(out, by_condition(10));
  atomicAdd(out, 1000 * by_macro());
  atomicAdd(sum, 0.5);
}

}  // namespace

TEST_CASE("__CUDA_ARCH__ is defined in device code, and in functions for both when a kernel runs") {
  Numbers sum(1), halves(2);
  call_both<<<1, 32>>>(sum.data(), reinterpret_cast<double*>(halves.data()));
#ifdef SIMT_CPU_DEVICE
  REQUIRE(sum.take() == 32 * (10 + 9 + 2000));
#else
  REQUIRE(sum.take() >= 32 * (10 + 7 + 2000));
#endif
  REQUIRE(by_condition(10) == 11);
  REQUIRE(by_macro() == 1);
  REQUIRE(halves.values().at(1) == 0x40300000);  // 16.0
}

// ---- Launches and variables in macros -----------------------------------------------------------

#define LAUNCH(kernel, blocks, ...)      \
  do {                                   \
    kernel<<<blocks, 32>>>(__VA_ARGS__); \
  } while (0)
#define TILE(T, name, n) __shared__ T name[n]

namespace {

__global__ void sum_tiles(int* out) {
  TILE(int, s_a, 32);
  TILE(int, s_b, 32);
  s_a[threadIdx.x] = 1;
  s_b[threadIdx.x] = 2;
  __syncwarp();
  atomicAdd(out, s_a[31 - threadIdx.x] + s_b[31 - threadIdx.x]);
}

template <void (*kernel)(int*)>
void launch_argument(int* out) {
  kernel<<<1, 32>>>(out);
}

}  // namespace

TEST_CASE("launches and shared variables in macros, kernels as template arguments and pointers") {
  Numbers sum(1);
  LAUNCH(sum_tiles, 2, sum.data());
  REQUIRE(sum.take() == 2 * 32 * 3);
  LAUNCH((count_by<int, 7>), 1, sum.data());
  REQUIRE(sum.take() == 32 * 7);
  launch_argument<sum_tiles>(sum.data());
  REQUIRE(sum.take() == 32 * 3);
  void (*const pointer)(int*) = sum_tiles;
  pointer<<<1, 32>>>(sum.data());
  REQUIRE(sum.take() == 32 * 3);
}
