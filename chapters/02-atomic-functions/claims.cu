// Every atomic function exists for the types that the lesson's table names, and does and returns
// what it says, on global and on shared memory, in all three scopes.
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <catch2/catch_test_macros.hpp>
#include <course/check.cuh>
#include <cstddef>
#include <limits>
#include <vector>

#include "rungs.cuh"
#include "testing.cuh"

// ---- which types there are ---------------------------------------------------------------------

namespace atomic_functions_claims {

template <class Operation, class T>
concept exists = requires(T* address, T value) {
  Operation::call(address, value);
};

// A call that the compiler looks up without instantiating anything: true if there is an
// overload for exactly this type.
#define COURSE_CALL(Name, function)                                                         \
  struct Name {                                                                             \
    template <class T>                                                                      \
    static __device__ auto call(T* address, T value) -> decltype(function(address, value)); \
  };
COURSE_CALL(CallAdd, atomicAdd)
COURSE_CALL(CallSub, atomicSub)
COURSE_CALL(CallExch, atomicExch)
COURSE_CALL(CallMin, atomicMin)
COURSE_CALL(CallMax, atomicMax)
COURSE_CALL(CallInc, atomicInc)
COURSE_CALL(CallDec, atomicDec)
COURSE_CALL(CallAnd, atomicAnd)
COURSE_CALL(CallOr, atomicOr)
COURSE_CALL(CallXor, atomicXor)
#undef COURSE_CALL
struct CallCas {
  template <class T>
  static __device__ auto call(T* address, T value) -> decltype(atomicCAS(address, value, value));
};

template <class Operation, class... T>
constexpr bool all = (exists<Operation, T> && ...);
template <class Operation, class... T>
constexpr bool none = (!exists<Operation, T> && ...);

static_assert(all<CallAdd, int, unsigned, ull, float, double>);
static_assert(all<CallAdd, __half, __half2, __nv_bfloat16, __nv_bfloat162>);
static_assert(none<CallAdd, char, short, long, long long>);
static_assert(all<CallSub, int, unsigned>);
static_assert(none<CallSub, long long, ull, float, double, __half>);
static_assert(all<CallExch, int, unsigned, ull, float>);
static_assert(none<CallExch, short, long long, double, __half>);
static_assert(all<CallMin, int, unsigned, long long, ull>);
static_assert(none<CallMin, short, float, double, __half>);
static_assert(all<CallMax, int, unsigned, long long, ull>);
static_assert(none<CallMax, short, float, double, __half>);
static_assert(all<CallInc, unsigned> && none<CallInc, int, ull, float>);
static_assert(all<CallDec, unsigned> && none<CallDec, int, ull, float>);
static_assert(all<CallAnd, int, unsigned, long long, ull> && none<CallAnd, short, float>);
static_assert(all<CallOr, int, unsigned, long long, ull> && none<CallOr, short, float>);
static_assert(all<CallXor, int, unsigned, long long, ull> && none<CallXor, short, float>);
static_assert(all<CallCas, unsigned short, int, unsigned, ull>);
static_assert(none<CallCas, short, long long, float, double, __half>);

// ---- what they do ------------------------------------------------------------------------------

// The functions of the other two scopes: the same, for fewer threads, or for more.
#define COURSE_SCOPES(Operation, function)            \
  struct Operation##Block : Operation {               \
    template <class T>                                \
    static __device__ T atomic(T* address, T value) { \
      return function##_block(address, value);        \
    }                                                 \
  };                                                  \
  struct Operation##System : Operation {              \
    template <class T>                                \
    static __device__ T atomic(T* address, T value) { \
      return function##_system(address, value);       \
    }                                                 \
  };
COURSE_SCOPES(Add, atomicAdd)
COURSE_SCOPES(Sub, atomicSub)
COURSE_SCOPES(Exchange, atomicExch)
COURSE_SCOPES(Min, atomicMin)
COURSE_SCOPES(Max, atomicMax)
COURSE_SCOPES(Inc, atomicInc)
COURSE_SCOPES(Dec, atomicDec)
COURSE_SCOPES(And, atomicAnd)
COURSE_SCOPES(Or, atomicOr)
COURSE_SCOPES(Xor, atomicXor)
#undef COURSE_SCOPES
struct CompareAndSwapBlock : CompareAndSwap {
  template <class T>
  static __device__ T atomic(T* address, T value) {
    return atomicCAS_block(address, static_cast<T>(value - 1), value);
  }
};
struct CompareAndSwapSystem : CompareAndSwap {
  template <class T>
  static __device__ T atomic(T* address, T value) {
    return atomicCAS_system(address, static_cast<T>(value - 1), value);
  }
};

/// The same check for several types, and in all three scopes. Block scope is for shared memory,
/// and for a grid of one block.
template <class Operation, class... T>
void check_types(T... start) {
  (check_many<Operation>(mixed<T>(kMany), start), ...);
}
template <class Operation, class... T>
void check_types_in_a_block(T... start) {
  (check_many<Operation>(mixed<T>(200), start), ...);
}

__global__ void make_keys(const float* d_x, unsigned n, unsigned* d_key) {
  if (threadIdx.x < n) d_key[threadIdx.x] = order_key(d_x[threadIdx.x]);
}

}  // namespace atomic_functions_claims

using namespace atomic_functions_claims;

TEST_CASE("the chain check tells possible returned values from impossible ones") {
  // What three threads found, and what they left.
  REQUIRE(one_chain<int>({5, 3, 0}, {6, 5, 3}, 0, 6).ok);   // the last one came first
  REQUIRE(!one_chain<int>({5, 3, 0}, {6, 5, 3}, 0, 5).ok);  // something else was left
  REQUIRE(!one_chain<int>({0, 0}, {1, 1}, 0, 1).ok);        // both found the same: one got lost
  REQUIRE(!one_chain<int>({0, 2}, {1, 3}, 0, 3).ok);        // no thread left a 2
  REQUIRE(one_chain<int>({4, 0, 0}, {4, 0, 4}, 0, 4).ok);   // two that changed nothing
  REQUIRE(!one_chain<int>({7, 0}, {7, 4}, 0, 4).ok);        // 7 was never there
  REQUIRE(one_chain<int>({}, {}, 3, 3).ok);
  REQUIRE(!one_chain<int>({}, {}, 3, 4).ok);
}

TEST_CASE("atomicAdd: integers wrap, floating-point types round once") {
  check_one<Add>(1, 2, 3);
  check_one<Add>(kIntMax, 1, kIntMin);
  check_one<Add>(kUintMax, 2u, 1u);
  check_one<Add>(ull{kUintMax}, 1ull, 1ull << 32);
  check_one<Add>(kUllMax, 2ull, 1ull);
  check_one<Add>(1.5f, 2.0f, 3.5f);
  check_one<Add>(0x1p24f, 1.0f, 0x1p24f);
  check_one<Add>(-0.0f, 0.0f, 0.0f);
  check_one<Add>(0x1p53, 1.0, 0x1p53);
  check_one<Add>(1.5, 0x1p-52, 1.5 + 0x1p-52);
  check_types<Add>(0, 0u, 0ull, 0.0f, 0.0, -1, kUintMax - 5);
  check_types<AddSystem>(0, 0u, 0ull, 0.0f, 0.0);
  check_types_in_a_block<AddBlock>(0, 0u, 0ull, 0.0f, 0.0);
}

TEST_CASE("atomicAdd: 16-bit types") {
  // Ones: sums stay exact in 11 bits of half and in 8 of bfloat16.
  check_one<Add>(__half(1.5f), __half(0.25f), __half(1.75f));
  check_one<Add>(__half(2048.0f), __half(1.0f), __half(2048.0f));
  check_one<Add>(__nv_bfloat16(1.5f), __nv_bfloat16(0.25f), __nv_bfloat16(1.75f));
  check_one<Add>(__nv_bfloat16(256.0f), __nv_bfloat16(1.0f), __nv_bfloat16(256.0f));
  check_many<Add>(std::vector<__half>(kMany, __half(1.0f)), __half(0.0f));
  check_many<Add>(std::vector<__nv_bfloat16>(200, __nv_bfloat16(1.0f)), __nv_bfloat16(0.0f));
}

TEST_CASE("atomicSub") {
  check_one<Sub>(1, 2, -1);
  check_one<Sub>(kIntMin, 1, kIntMax);
  check_one<Sub>(1u, 2u, kUintMax);
  check_types<Sub>(0, 5u);
  check_types<SubSystem>(0, 5u);
  check_types_in_a_block<SubBlock>(0, 5u);
}

TEST_CASE("atomicExch: each thread gets what the one before it left") {
  check_one<Exchange>(1, -2, -2);
  check_one<Exchange>(1.0f, -0.0f, -0.0f);
  check_one<Exchange>(std::numeric_limits<float>::quiet_NaN(), 1.0f, 1.0f);
  check_one<Exchange>(1ull << 40, 7ull, 7ull);
  check_types<Exchange>(0, 1u, 1ull, 0.5f);
  check_types<ExchangeSystem>(0, 1u, 1ull, 0.5f);
  check_types_in_a_block<ExchangeBlock>(0, 1u, 1ull, 0.5f);
}

TEST_CASE("atomicMin and atomicMax know signed from unsigned") {
  check_one<Min>(-1, 1, -1);
  check_one<Min>(kUintMax, 1u, 1u);
  check_one<Min>(0ll, kLlMin, kLlMin);
  check_one<Min>(1ull << 40, 1ull << 33, 1ull << 33);
  check_one<Max>(-1, 1, 1);
  check_one<Max>(kUintMax, 1u, kUintMax);
  check_one<Max>(kLlMin, -1ll, -1ll);
  check_one<Max>(1ull << 40, 1ull << 33, 1ull << 40);
  check_types<Min>(300, kUintMax, 300ll, kUllMax);
  check_types<MinSystem>(300, kUintMax, 300ll, kUllMax);
  check_types_in_a_block<MinBlock>(300, kUintMax, 300ll, kUllMax);
  check_types<Max>(-7, 100u, kLlMin, 0ull);
  check_types<MaxSystem>(-7, 100u, kLlMin, 0ull);
  check_types_in_a_block<MaxBlock>(-7, 100u, kLlMin, 0ull);
}

TEST_CASE("atomicInc starts again at 0 when it finds the limit, not one step later") {
  check_one<Inc>(0u, 3u, 1u);
  check_one<Inc>(2u, 3u, 3u);
  check_one<Inc>(3u, 3u, 0u);  // `old > limit` would give 4
  check_one<Inc>(4u, 3u, 0u);
  check_one<Inc>(0u, 0u, 0u);
  check_one<Inc>(kUintMax, kUintMax, 0u);
  check_many<Inc>(std::vector<unsigned>(kMany, 6u), 0u);
  check_many<Inc>(std::vector<unsigned>(kMany, 6u), 100u);
  check_many<IncSystem>(std::vector<unsigned>(kMany, 1u), 0u);
  check_many<IncBlock>(std::vector<unsigned>(200, kUintMax), 5u);
  check_many<Inc>(mixed<unsigned>(kMany), 0u);  // each thread with its own limit
}

TEST_CASE("atomicDec starts again at the limit when it finds 0, or more than the limit") {
  check_one<Dec>(3u, 3u, 2u);
  check_one<Dec>(1u, 3u, 0u);
  check_one<Dec>(0u, 3u, 3u);
  check_one<Dec>(4u, 3u, 3u);
  check_one<Dec>(0u, 0u, 0u);
  check_one<Dec>(0u, kUintMax, kUintMax);
  check_many<Dec>(std::vector<unsigned>(kMany, 6u), 0u);
  check_many<Dec>(std::vector<unsigned>(kMany, 6u), 100u);
  check_many<DecSystem>(std::vector<unsigned>(kMany, 1u), 0u);
  check_many<DecBlock>(std::vector<unsigned>(200, kUintMax), 5u);
  check_many<Dec>(mixed<unsigned>(kMany), 0u);
}

TEST_CASE("atomicCAS stores only where it finds what it expects") {
  check_one<CompareAndSwap>(4, 5, 5);
  check_one<CompareAndSwap>(3, 5, 3);
  check_one<CompareAndSwap>(kUintMax, 0u, 0u);
  check_one<CompareAndSwap>((1ull << 32) - 1, 1ull << 32, 1ull << 32);
  check_one<CompareAndSwap>(ull{kUintMax} << 32, 1ull, ull{kUintMax} << 32);
  check_one<CompareAndSwap>(static_cast<unsigned short>(9), static_cast<unsigned short>(10),
                            static_cast<unsigned short>(10));
  check_many<CompareAndSwap>(steps<int>(kMany), 0);
  check_many<CompareAndSwap>(steps<unsigned>(kMany), 0u);
  check_many<CompareAndSwap>(steps<ull>(kMany), 0ull);
  check_many<CompareAndSwap>(steps<unsigned short>(kMany), static_cast<unsigned short>(0));
  check_many<CompareAndSwapSystem>(steps<int>(kMany), 0);
  check_many<CompareAndSwapBlock>(steps<ull>(200), 0ull);
}

TEST_CASE("atomicAnd, atomicOr, atomicXor") {
  check_one<And>(0b1100, 0b1010, 0b1000);
  check_one<Or>(0b1100, 0b1010, 0b1110);
  check_one<Xor>(0b1100, 0b1010, 0b0110);
  check_one<And>(kUllMax, 1ull << 40, 1ull << 40);
  check_one<Or>(kLlMin, 1ll, kLlMin + 1);
  check_one<Xor>(kUllMax, 1ull << 63, kUllMax >> 1);
  check_types<And>(-1, kUintMax, -1ll, kUllMax);
  check_types<AndSystem>(-1, kUintMax, -1ll, kUllMax);
  check_types_in_a_block<AndBlock>(-1, kUintMax, -1ll, kUllMax);
  check_types<Or>(0, 0u, 0ll, 0ull);
  check_types<OrSystem>(0, 0u, 0ll, 0ull);
  check_types_in_a_block<OrBlock>(0, 0u, 0ll, 0ull);
  check_types<Xor>(0, 0u, 0ll, 0ull);
  check_types<XorSystem>(0, 0u, 0ll, 0ull);
  check_types_in_a_block<XorBlock>(0, 0u, 0ll, 0ull);
}

TEST_CASE("float atomicAdd flushes subnormals on global memory, and keeps them on shared memory") {
  for (const float sign : {1.0f, -1.0f}) {
    for (const float start : {kSubnormal, 0.0f, 1.0f}) {
      for (const SubnormalRung& rung : subnormal_rungs()) {
        INFO(rung.name << ": " << sign * start << " + " << sign * kSubnormal);
        auto y = course::DeviceBuffer<float>::from({sign * start});
        rung.launch(sign * kSubnormal, y.data());
        const float kept = sign * start + sign * kSubnormal;
        const float flushed = start == 1.0f ? sign : sign * 0.0f;  // the zero keeps the sign
        REQUIRE(bits_of(y.front()) == bits_of(rung.because.empty() ? kept : flushed));
      }
    }
  }
  // The smallest normal number is none of them, and double keeps its own.
  check_one<Add>(0.0f, 0x1p-126f, 0x1p-126f);
  check_one<Add>(0x1p-1070, 0x1p-1070, 0x1p-1069);
}

TEST_CASE("keys are ordered like floats, and the two zeros and NaN as the lesson says") {
  const float infinity = std::numeric_limits<float>::infinity(),
              nan = std::numeric_limits<float>::quiet_NaN();
  const std::vector<float> rising = {-nan,    -infinity, -3e38f,   -2.0f,  -1.0f,     -0x1p-126f,
                                     -1e-45f, -0.0f,     0.0f,     1e-45f, 0x1p-126f, 1.0f,
                                     2.0f,    3e38f,     infinity, nan};
  const auto d_x = course::DeviceBuffer<float>::from(rising);
  course::DeviceBuffer<unsigned> d_key(rising.size());
  course::launch(make_keys, {1, 32}, d_x.data(), static_cast<unsigned>(rising.size()),
                 d_key.data());
  const std::vector<unsigned> keys = d_key.download();
  for (std::size_t i = 0; i < keys.size(); ++i) {
    INFO(rising[i] << " has the key " << keys[i]);
    REQUIRE((i == 0 || keys[i - 1] < keys[i]));
    REQUIRE(bits_of(float_of_key(keys[i])) == bits_of(rising[i]));
  }
  REQUIRE(keys.front() > 0);  // 0 is the key of another negative NaN, and means: nothing yet
  REQUIRE(std::isnan(float_of_key(0)));
}

// ---- what only a GPU has -----------------------------------------------------------------------

#if !COURSE_CPU_DEVICE
namespace atomic_functions_claims {

/// 16 bytes at once, and vectors of floats: from sm_90 on.
__global__ void wide_functions(ulonglong2* d_wide, float4* d_vector, ulonglong2* d_returned) {
#if __CUDA_ARCH__ >= 900
  const ulonglong2 one = make_ulonglong2(1, 2), two = make_ulonglong2(3, 4);
  d_returned[0] = atomicCAS(&d_wide[0], one, two);  // finds one: stores two
  d_returned[1] = atomicCAS(&d_wide[0], one, one);  // finds two: stores nothing
  d_returned[2] = atomicExch(&d_wide[0], one);
  atomicAdd(&d_vector[0], make_float4(1, 2, 3, 4));
  atomicAdd(reinterpret_cast<float2*>(&d_vector[1]), make_float2(5, 6));
#endif
}

}  // namespace atomic_functions_claims
#endif

TEST_CASE("sm_90: atomicCAS and atomicExch of 16 bytes, atomicAdd of float2 and float4") {
#if !COURSE_CPU_DEVICE
  int major = 0;
  CUDA_CHECK(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, 0));
  if (major < 9) SKIP("this GPU is older than sm_90");
  auto wide = course::DeviceBuffer<ulonglong2>::from({ulonglong2{1, 2}});
  auto vector = course::DeviceBuffer<float4>::zeros(2);
  course::DeviceBuffer<ulonglong2> returned(3);
  course::launch(wide_functions, {1, 1}, wide.data(), vector.data(), returned.data());
  const std::vector<ulonglong2> found = returned.download();
  REQUIRE((found[0].x == 1 && found[0].y == 2));
  REQUIRE((found[1].x == 3 && found[1].y == 4));
  REQUIRE((found[2].x == 3 && found[2].y == 4));
  REQUIRE((wide.front().x == 1 && wide.front().y == 2));
  const std::vector<float4> sums = vector.download();
  REQUIRE((sums[0].x == 1 && sums[0].y == 2 && sums[0].z == 3 && sums[0].w == 4));
  REQUIRE((sums[1].x == 5 && sums[1].y == 6 && sums[1].z == 0 && sums[1].w == 0));
#else
  SKIP("the CPU device has no atomics of 16 bytes");
#endif
}
