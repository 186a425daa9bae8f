// The atomic functions: each one, for each type, on global and on shared memory; and the types that
// CUDA does not have.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <course/buffer.cuh>
#include <course/device.cuh>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

namespace atomics_test {

using course::DeviceBuffer;

// ---- which types there are ----------------------------------------------------------------------

#define ATOMIC_FUNCTION(name)                          \
  template <class T>                                   \
  concept has_##name = requires(T * address, T val) {  \
    name(address, val);                                \
  };                                                   \
  struct call_##name {                                 \
    template <class T>                                 \
    __device__ T operator()(T* address, T val) const { \
      return name(address, val);                       \
    }                                                  \
  };
#define ATOMIC_FUNCTIONS(name)  \
  ATOMIC_FUNCTION(name)         \
  ATOMIC_FUNCTION(name##_block) \
  ATOMIC_FUNCTION(name##_system)

ATOMIC_FUNCTIONS(atomicAdd)
ATOMIC_FUNCTIONS(atomicSub)
ATOMIC_FUNCTIONS(atomicExch)
ATOMIC_FUNCTIONS(atomicMin)
ATOMIC_FUNCTIONS(atomicMax)
ATOMIC_FUNCTIONS(atomicInc)
ATOMIC_FUNCTIONS(atomicDec)
ATOMIC_FUNCTIONS(atomicAnd)
ATOMIC_FUNCTIONS(atomicOr)
ATOMIC_FUNCTIONS(atomicXor)

template <class T>
concept has_atomicCAS = requires(T* address, T val) {
  atomicCAS(address, val, val);
};
template <class T>
concept has_atomicCAS_block = requires(T* address, T val) {
  atomicCAS_block(address, val, val);
};
template <class T>
concept has_atomicCAS_system = requires(T* address, T val) {
  atomicCAS_system(address, val, val);
};

// One name for a set of types is true if the function takes all of them, the other if it takes
// none.
#define ATOMIC_SETS(name)                               \
  template <class... T>                                 \
  constexpr bool all_##name = (has_##name<T> && ...);   \
  template <class... T>                                 \
  constexpr bool none_##name = (!has_##name<T> && ...); \
  template <class... T>                                 \
  constexpr bool all_scopes_##name =                    \
      ((has_##name<T> && has_##name##_block<T> && has_##name##_system<T>)&&...);
ATOMIC_SETS(atomicAdd)
ATOMIC_SETS(atomicSub)
ATOMIC_SETS(atomicExch)
ATOMIC_SETS(atomicMin)
ATOMIC_SETS(atomicMax)
ATOMIC_SETS(atomicInc)
ATOMIC_SETS(atomicDec)
ATOMIC_SETS(atomicAnd)
ATOMIC_SETS(atomicOr)
ATOMIC_SETS(atomicXor)
ATOMIC_SETS(atomicCAS)

using ull = unsigned long long;
using ushort_t = unsigned short;

static_assert(all_scopes_atomicAdd<int, unsigned, ull, float, double, float2, float4>);
static_assert(all_atomicAdd<__half, __half2, __nv_bfloat16, __nv_bfloat162>);
static_assert(none_atomicAdd<char, short, ushort_t, long, unsigned long, long long, double2, int2,
                             uint2, float3, int*>);
static_assert(!has_atomicAdd_block<__half> && !has_atomicAdd_system<__half2>);
static_assert(!has_atomicAdd_block<__nv_bfloat16> && !has_atomicAdd_system<__nv_bfloat162>);

static_assert(all_scopes_atomicSub<int, unsigned>);
static_assert(none_atomicSub<short, long, long long, ull, float, double, __half, __half2, float2>);

static_assert(all_scopes_atomicExch<int, unsigned, ull, float>);
static_assert(none_atomicExch<char, short, ushort_t, long, long long, double, __half, float2>);

static_assert(all_scopes_atomicMin<int, unsigned, long long, ull>);
static_assert(none_atomicMin<char, short, long, unsigned long, float, double, __half, __half2>);
static_assert(all_scopes_atomicMax<int, unsigned, long long, ull>);
static_assert(none_atomicMax<char, short, long, unsigned long, float, double, __half, __half2>);

static_assert(all_scopes_atomicInc<unsigned>);
static_assert(none_atomicInc<int, ushort_t, ull, float>);
static_assert(all_scopes_atomicDec<unsigned>);
static_assert(none_atomicDec<int, ushort_t, ull, float>);

static_assert(all_scopes_atomicAnd<int, unsigned, long long, ull>);
static_assert(none_atomicAnd<char, short, ushort_t, long, float, double>);
static_assert(all_scopes_atomicOr<int, unsigned, long long, ull>);
static_assert(none_atomicOr<char, short, ushort_t, long, float, double>);
static_assert(all_scopes_atomicXor<int, unsigned, long long, ull>);
static_assert(none_atomicXor<char, short, ushort_t, long, float, double>);

static_assert(all_scopes_atomicCAS<int, unsigned, ull>);
static_assert(all_atomicCAS<ushort_t> && !has_atomicCAS_block<ushort_t>);
static_assert(none_atomicCAS<char, short, long, unsigned long, long long, float, double, __half>);

// ---- what they do -------------------------------------------------------------------------------

template <class T>
struct Case {
  T old, val, next;
};

/// Thread i applies the function to its own element, in global memory and in shared memory.
/// memory: n old values, which become the new ones, then n new values of shared memory.
template <class Function, class T>
__global__ void apply(T* memory, const T* val, T* returned, unsigned n) {
  __shared__ T staged[32];
  const unsigned i = threadIdx.x;
  if (i >= n) return;
  staged[i] = memory[i];
  returned[i] = Function()(&memory[i], val[i]);
  returned[n + i] = Function()(&staged[i], val[i]);
  memory[n + i] = staged[i];
}

template <class T>
bool same_bits(const T& a, const T& b) {
  return std::memcmp(&a, &b, sizeof(T)) == 0;
}

/// How many of the results are wrong; 0 if all are right.
template <class Function, class T>
int wrong(const std::vector<Case<T>>& cases) {
  const std::size_t n = cases.size();
  std::vector<T> memory, val;
  for (const Case<T>& c : cases) {
    memory.push_back(c.old);
    val.push_back(c.val);
  }
  memory.resize(2 * n, T{});
  auto d_memory = DeviceBuffer<T>::from(memory);
  const auto d_val = DeviceBuffer<T>::from(val);
  DeviceBuffer<T> d_returned(2 * n);
  apply<Function>
      <<<1, 32>>>(d_memory.data(), d_val.data(), d_returned.data(), static_cast<unsigned>(n));
  CUDA_CHECK_LAUNCH();
  const std::vector<T> found = d_memory.download(), returned = d_returned.download();
  int count = 0;
  for (std::size_t i = 0; i < 2 * n; ++i) {
    const Case<T>& c = cases[i % n];
    count += !same_bits(returned[i], c.old) || !same_bits(found[i], c.next);
  }
  return count;
}

#define CHECK_SCOPES(name, T, ...)                                             \
  CHECK(wrong<call_##name, T>(std::vector<Case<T>> __VA_ARGS__) == 0);         \
  CHECK(wrong<call_##name##_block, T>(std::vector<Case<T>> __VA_ARGS__) == 0); \
  CHECK(wrong<call_##name##_system, T>(std::vector<Case<T>> __VA_ARGS__) == 0)

constexpr int kIntMax = std::numeric_limits<int>::max();
constexpr int kIntMin = std::numeric_limits<int>::min();
constexpr unsigned kUintMax = std::numeric_limits<unsigned>::max();
constexpr ull kUllMax = std::numeric_limits<ull>::max();
constexpr long long kLlMin = std::numeric_limits<long long>::min();

TEST_CASE("atomicAdd of integers wraps", "[atomics]") {
  CHECK_SCOPES(atomicAdd, int,
               {{1, 2, 3}, {5, -7, -2}, {kIntMax, 1, kIntMin}, {kIntMin, -1, kIntMax}});
  CHECK_SCOPES(atomicAdd, unsigned, {{1, 2, 3}, {kUintMax, 1, 0}, {0, kUintMax, kUintMax}});
  CHECK_SCOPES(atomicAdd, ull, {{1, 2, 3}, {kUintMax, 1, 1ull << 32}, {kUllMax, 2, 1}});
}

TEST_CASE("atomicAdd of float and double rounds once", "[atomics]") {
  const float infinity = std::numeric_limits<float>::infinity();
  CHECK_SCOPES(atomicAdd, float,
               {{1, 2, 3},
                {0x1p24f, 1, 0x1p24f},
                {0x1p24f, 3, 0x1.000004p24f},
                {-0.0f, -0.0f, -0.0f},
                {-0.0f, 0.0f, 0.0f},
                {infinity, 1, infinity},
                {3e38f, 3e38f, infinity}});
  CHECK_SCOPES(atomicAdd, double,
               {{1, 2, 3},
                {0x1p53, 1, 0x1p53},
                {0x1p53, 3, 0x1p53 + 4},
                {-0.0, -0.0, -0.0},
                {5e-324, 5e-324, 1e-323}});
}

__global__ void add_floats(float* global, float* from_shared, const float* val) {
  __shared__ float staged[32];
  const unsigned i = threadIdx.x;
  staged[i] = global[i];
  atomicAdd(&staged[i], val[i]);
  atomicAdd(&global[i], val[i]);
  from_shared[i] = staged[i];
}

TEST_CASE("float adds flush subnormal numbers in global memory and keep them in shared",
          "[atomics]") {
  std::vector<float> old(32, 1e-40f), val(32, 1e-40f);
  old[1] = -1e-40f;
  val[1] = -1e-40f;
  old[2] = 0x1p-126f;  // the smallest normal number, and an argument that is flushed
  val[2] = 0x1p-140f;
  old[3] = 0x1p-125f;  // a result that is flushed
  val[3] = -0x1.4p-125f;
  old[4] = NAN;
  auto global = DeviceBuffer<float>::from(old);
  const auto d_val = DeviceBuffer<float>::from(val);
  DeviceBuffer<float> from_shared(32);
  add_floats<<<1, 32>>>(global.data(), from_shared.data(), d_val.data());
  CUDA_CHECK_LAUNCH();
  const std::vector<float> found = global.download(), kept = from_shared.download();
  CHECK(same_bits(found[0], 0.0f));
  CHECK(same_bits(kept[0], 1e-40f + 1e-40f));
  CHECK(same_bits(found[1], -0.0f));
  CHECK(same_bits(kept[1], -1e-40f - 1e-40f));
  CHECK(found[2] == 0x1p-126f);
  CHECK(kept[2] == 0x1p-126f + 0x1p-140f);
  CHECK(same_bits(found[3], -0.0f));
  CHECK(kept[3] == -0x1p-127f);
  CHECK(std::isnan(found[4]));
  CHECK(std::isnan(kept[4]));
}

TEST_CASE("atomicSub wraps", "[atomics]") {
  CHECK_SCOPES(atomicSub, int, {{3, 5, -2}, {kIntMin, 1, kIntMax}, {7, -1, 8}});
  CHECK_SCOPES(atomicSub, unsigned, {{3, 5, kUintMax - 1}, {0, 1, kUintMax}, {9, 9, 0}});
}

TEST_CASE("atomicExch stores its argument", "[atomics]") {
  CHECK_SCOPES(atomicExch, int, {{3, -5, -5}, {kIntMin, 0, 0}});
  CHECK_SCOPES(atomicExch, unsigned, {{3, kUintMax, kUintMax}, {7, 7, 7}});
  CHECK_SCOPES(atomicExch, ull, {{3, kUllMax, kUllMax}, {1ull << 40, 0, 0}});
  CHECK_SCOPES(atomicExch, float, {{3, -0.0f, -0.0f}, {1, 1e-40f, 1e-40f}});
}

TEST_CASE("atomicMin and atomicMax compare with the sign of their type", "[atomics]") {
  CHECK_SCOPES(atomicMin, int, {{3, -5, -5}, {-5, 3, -5}, {kIntMin, kIntMax, kIntMin}});
  CHECK_SCOPES(atomicMin, unsigned, {{3, kUintMax, 3}, {kUintMax, 3, 3}});
  CHECK_SCOPES(atomicMin, long long, {{1ll << 40, -1, -1}, {kLlMin, 0, kLlMin}});
  CHECK_SCOPES(atomicMin, ull, {{1ull << 40, kUllMax, 1ull << 40}, {kUllMax, 5, 5}});
  CHECK_SCOPES(atomicMax, int, {{3, -5, 3}, {-5, 3, 3}, {kIntMin, kIntMax, kIntMax}});
  CHECK_SCOPES(atomicMax, unsigned, {{3, kUintMax, kUintMax}, {kUintMax, 3, kUintMax}});
  CHECK_SCOPES(atomicMax, long long, {{1ll << 40, -1, 1ll << 40}, {kLlMin, 0, 0}});
  CHECK_SCOPES(atomicMax, ull, {{1ull << 40, kUllMax, kUllMax}, {kUllMax, 5, kUllMax}});
}

TEST_CASE("atomicInc and atomicDec count in a ring", "[atomics]") {
  // atomicInc is old >= val ? 0 : old + 1: "old > val" would let the counter reach val + 1.
  CHECK_SCOPES(atomicInc, unsigned,
               {{0, 3, 1},
                {2, 3, 3},
                {3, 3, 0},
                {4, 3, 0},
                {0, 0, 0},
                {7, kUintMax, 8},
                {kUintMax, kUintMax, 0}});
  CHECK_SCOPES(
      atomicDec, unsigned,
      {{3, 3, 2}, {1, 3, 0}, {0, 3, 3}, {7, 3, 3}, {0, 0, 0}, {kUintMax, kUintMax, kUintMax - 1}});
}

TEST_CASE("atomicAnd and atomicOr and atomicXor", "[atomics]") {
  CHECK_SCOPES(atomicAnd, int, {{0b1100, 0b1010, 0b1000}, {-1, kIntMin, kIntMin}});
  CHECK_SCOPES(atomicAnd, unsigned, {{0b1100, 0b1010, 0b1000}});
  CHECK_SCOPES(atomicAnd, long long, {{-1, 1ll << 40, 1ll << 40}});
  CHECK_SCOPES(atomicAnd, ull, {{kUllMax, 1ull << 63, 1ull << 63}});
  CHECK_SCOPES(atomicOr, int, {{0b1100, 0b1010, 0b1110}, {0, kIntMin, kIntMin}});
  CHECK_SCOPES(atomicOr, unsigned, {{0b1100, 0b1010, 0b1110}});
  CHECK_SCOPES(atomicOr, long long, {{1, 1ll << 40, (1ll << 40) + 1}});
  CHECK_SCOPES(atomicOr, ull, {{1, 1ull << 63, (1ull << 63) + 1}});
  CHECK_SCOPES(atomicXor, int, {{0b1100, 0b1010, 0b0110}, {-1, -1, 0}});
  CHECK_SCOPES(atomicXor, unsigned, {{0b1100, 0b1010, 0b0110}});
  CHECK_SCOPES(atomicXor, long long, {{1, (1ll << 40) + 1, 1ll << 40}});
  CHECK_SCOPES(atomicXor, ull, {{kUllMax, 1, kUllMax - 1}});
}

struct call_atomicCAS {
  template <class T>
  __device__ T operator()(T* address, T val) const {
    return atomicCAS(address, T(5), val);
  }
};
struct call_atomicCAS_block {
  template <class T>
  __device__ T operator()(T* address, T val) const {
    return atomicCAS_block(address, T(5), val);
  }
};
struct call_atomicCAS_system {
  template <class T>
  __device__ T operator()(T* address, T val) const {
    return atomicCAS_system(address, T(5), val);
  }
};

TEST_CASE("atomicCAS stores only if it finds what it compares with", "[atomics]") {
  CHECK_SCOPES(atomicCAS, int, {{5, -1, -1}, {4, -1, 4}, {5, 5, 5}});
  CHECK_SCOPES(atomicCAS, unsigned, {{5, 9, 9}, {6, 9, 6}});
  CHECK_SCOPES(atomicCAS, ull, {{5, kUllMax, kUllMax}, {(1ull << 32) + 5, 9, (1ull << 32) + 5}});
  // Neighbours share a 32-bit word and stay what they are.
  CHECK(wrong<call_atomicCAS, ushort_t>({{5, 9, 9}, {6, 9, 6}, {5, 0xFFFF, 0xFFFF}, {0, 1, 0}}) ==
        0);
}

// ---- half and bfloat16 --------------------------------------------------------------------------

__half half_of(unsigned bits) { return __ushort_as_half(static_cast<unsigned short>(bits)); }
__nv_bfloat16 bfloat16_of(unsigned bits) {
  return __ushort_as_bfloat16(static_cast<unsigned short>(bits));
}

TEST_CASE("atomicAdd of half rounds once and keeps subnormal numbers", "[atomics]") {
  CHECK(wrong<call_atomicAdd, __half>({{half_of(0x3C00), half_of(0x4000), half_of(0x4200)},
                                       {half_of(0x6800), half_of(0x3C00), half_of(0x6800)},
                                       {half_of(0x0001), half_of(0x0001), half_of(0x0002)},
                                       {half_of(0x8001), half_of(0x8001), half_of(0x8002)},
                                       {half_of(0x8000), half_of(0x8000), half_of(0x8000)},
                                       {half_of(0x7BFF), half_of(0x7BFF), half_of(0x7C00)}}) == 0);
  CHECK(wrong<call_atomicAdd, __nv_bfloat16>(
            {{bfloat16_of(0x3F80), bfloat16_of(0x4000), bfloat16_of(0x4040)},
             {bfloat16_of(0x4380), bfloat16_of(0x3F80), bfloat16_of(0x4380)},
             {bfloat16_of(0x0001), bfloat16_of(0x0001), bfloat16_of(0x0002)},
             {bfloat16_of(0x7F7F), bfloat16_of(0x7F7F), bfloat16_of(0x7F80)}}) == 0);
}

TEST_CASE("atomicAdd of a pair adds each element by itself", "[atomics]") {
  const __half2 a = __halves2half2(half_of(0x7BFF), half_of(0x0001));
  const __half2 sum = __halves2half2(half_of(0x7C00), half_of(0x0002));
  CHECK(wrong<call_atomicAdd, __half2>({{a, a, sum}}) == 0);
  const __nv_bfloat162 b = __halves2bfloat162(bfloat16_of(0x7F7F), bfloat16_of(0x0001));
  const __nv_bfloat162 b_sum = __halves2bfloat162(bfloat16_of(0x7F80), bfloat16_of(0x0002));
  CHECK(wrong<call_atomicAdd, __nv_bfloat162>({{b, b, b_sum}}) == 0);
}

// ---- float2 and float4 --------------------------------------------------------------------------

__global__ void add_vectors(float2* pairs, float4* quads) {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
  atomicAdd(&pairs[threadIdx.x % 2], make_float2(1, 2));
  const float4 old = atomicAdd(&quads[threadIdx.x], make_float4(1, 2, 3, 1e-40f));
  atomicAdd_block(&quads[threadIdx.x], old);
#endif
}

bool has_vector_atomics() {
  cudaDeviceProp properties;
  CUDA_CHECK(cudaGetDeviceProperties(&properties, 0));
  return properties.major >= 9;
}

TEST_CASE("atomicAdd of float2 and float4 in global memory", "[atomics]") {
  if (!has_vector_atomics()) SKIP("atomicAdd(float4*) needs compute capability 9.0");
  auto pairs = DeviceBuffer<float2>::zeros(2);
  auto quads = DeviceBuffer<float4>::from(std::vector<float4>(32, make_float4(10, 20, 30, 1e-40f)));
  add_vectors<<<1, 32>>>(pairs.data(), quads.data());
  CUDA_CHECK_LAUNCH();
  const std::vector<float2> pair = pairs.download();
  CHECK((pair[0].x == 16 && pair[0].y == 32 && pair[1].x == 16 && pair[1].y == 32));
  const float4 quad = quads.download()[31];
  CHECK((quad.x == 21 && quad.y == 42 && quad.z == 63));
  CHECK(same_bits(quad.w, 0.0f));
}

#if COURSE_CPU_DEVICE
__global__ void add_vector_in_shared(float* sum) {
  __shared__ float2 pair;
  pair = make_float2(0, 0);
  atomicAdd(&pair, make_float2(1, 2));
  *sum = pair.x;
}

TEST_CASE("atomicAdd of float2 in shared memory stops the kernel", "[atomics]") {
  auto sum = DeviceBuffer<float>::zeros(1);
  const course::Findings findings = course::find_races([&] {
    add_vector_in_shared<<<1, 1>>>(sum.data());
    CUDA_CHECK_LAUNCH();
    CUDA_CHECK(cudaDeviceSynchronize());
  });
  REQUIRE(findings.texts.size() == 1);
  CHECK(findings.texts[0].find("works on global memory only") != std::string::npos);
  CHECK(findings.texts[0].find("atomics_test.cu") != std::string::npos);
}
#endif

// ---- many threads -------------------------------------------------------------------------------

__global__ void take_tickets(unsigned* counter, unsigned* ticket) {
  ticket[blockIdx.x * blockDim.x + threadIdx.x] = atomicAdd(counter, 1);
}

TEST_CASE("the returned old values are all different", "[atomics]") {
  auto counter = DeviceBuffer<unsigned>::zeros(1);
  DeviceBuffer<unsigned> tickets(1000);
  take_tickets<<<4, 250>>>(counter.data(), tickets.data());
  CUDA_CHECK_LAUNCH();
  CHECK(counter.front() == 1000);
  std::vector<unsigned> ticket = tickets.download();
  std::sort(ticket.begin(), ticket.end());
  int wrong_tickets = 0;
  for (unsigned i = 0; i < 1000; ++i) wrong_tickets += ticket[i] != i;
  CHECK(wrong_tickets == 0);
}

/// What CUDA does not have, built from atomicCAS.
__device__ float atomic_max(float* address, float value) {
  int* const bits = reinterpret_cast<int*>(address);
  int old = *bits, assumed;
  do {
    assumed = old;
    old = atomicCAS(bits, assumed, __float_as_int(fmaxf(value, __int_as_float(assumed))));
  } while (assumed != old);
  return __int_as_float(old);
}
__global__ void find_max(float* maximum) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  atomic_max(maximum, static_cast<float>(i * 37 % 1000) - 500.0f);
}

TEST_CASE("a float maximum made of atomicCAS", "[atomics]") {
  auto maximum = DeviceBuffer<float>::from({-1000.0f});
  find_max<<<4, 250>>>(maximum.data());
  CUDA_CHECK_LAUNCH();
  CHECK(maximum.front() == 499.0f);
}

__global__ void convert(int* i, unsigned* u, float* f, double* d, ull* l, double x) {
  atomicAdd(i, x);
  atomicAdd(u, x);
  atomicAdd(f, 1);
  atomicAdd(d, 0.5f);
  atomicAdd(l, 3);
  atomicMax(i, 7u);
}

TEST_CASE("arguments convert to the type of the memory", "[atomics]") {
  auto i = DeviceBuffer<int>::zeros(1);
  auto u = DeviceBuffer<unsigned>::zeros(1);
  auto f = DeviceBuffer<float>::zeros(1);
  auto d = DeviceBuffer<double>::zeros(1);
  auto l = DeviceBuffer<ull>::zeros(1);
  convert<<<1, 1>>>(i.data(), u.data(), f.data(), d.data(), l.data(), 2.9);
  CUDA_CHECK_LAUNCH();
  CHECK(i.front() == 7);
  CHECK(u.front() == 2);
  CHECK(f.front() == 1.0f);
  CHECK(d.front() == 0.5);
  CHECK(l.front() == 3);
}

// ---- one request each ---------------------------------------------------------------------------

__global__ void add_each_kind(float* f, __half2* h, float4* v, float* unused) {
  __shared__ float s;
  if (threadIdx.x == 0) s = 0;
  __syncthreads();
  atomicAdd(f, 1.0f);
  atomicAdd(&h[threadIdx.x], __float2half2_rn(1.0f));
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
  atomicAdd(&v[threadIdx.x], make_float4(1, 1, 1, 1));
#endif
  atomicAdd(&s, 1.0f);
  __syncthreads();
  if (threadIdx.x == 0) *unused = s;
}

TEST_CASE("an atomic of a warp is one request whatever its type", "[atomics]") {
  auto f = DeviceBuffer<float>::zeros(1);
  auto h = DeviceBuffer<__half2>::zeros(32);
  auto v = DeviceBuffer<float4>::zeros(32);
  DeviceBuffer<float> sum(1);
  const auto counters = course::count([&] {
    add_each_kind<<<1, 32>>>(f.data(), h.data(), v.data(), sum.data());
    CUDA_CHECK_LAUNCH();
  });
  CHECK(sum.front() == 32);
  if (!counters) SKIP(course::kNoCounters);
  CHECK(counters->global_atomics == 3);
  CHECK(counters->global_atomic_lanes == 96);
  CHECK(counters->global_atomic_addresses == 1 + 32 + 32);
  CHECK(counters->shared_atomics == 1);
  CHECK(counters->shared_atomic_lanes == 32);
  CHECK(counters->shared_atomic_addresses == 1);
}

}  // namespace atomics_test
