// Every atomic function does and returns what the lesson's table says, on global and on shared
// memory; every rung is right at every awkward size; and what is wrong on purpose is wrong in the
// way that the lesson says.
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <course/check.cuh>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numeric>
#include <set>
#include <string>
#include <vector>

#include "chain.cuh"
#include "contention.cuh"
#include "functions.cuh"
#include "inputs.cuh"
#include "maximum.cuh"
#include "message.cuh"
#include "missing.cuh"
#include "orders.cuh"
#include "return_value.cuh"
#include "subnormals.cuh"

// ---- which types there are ----------------------------------------------------------------------

namespace atomic_functions_selfcheck {

using ull = unsigned long long;

template <class Operation, class T>
concept exists = requires(T* address, T value) {
  Operation::call(address, value);
};

// A call for which the compiler looks before anybody instantiates anything: true if there is an
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

// ---- what they do -------------------------------------------------------------------------------

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

template <class T>
T number(int i) {
  if constexpr (std::is_arithmetic_v<T>) {
    return static_cast<T>(i);
  } else {
    return T(static_cast<float>(i));
  }
}

/// An operation on a type, as functions: what does not depend on the operation is compiled once.
template <class T>
struct Calls {
  using Apply = void (*)(const T*, std::size_t, T*, T*, cudaStream_t);
  const char* name;
  Apply global, shared;
  T (*next)(T, T);
};
template <class Operation, class T>
Calls<T> calls() {
  return {Operation::kName, apply_global<Operation, T>, apply_shared<Operation, T>,
          [](T old, T value) { return Operation::next(old, value); }};
}

template <class T>
void check_one_call(const Calls<T>& operation, T old, T value, T expected) {
  INFO(operation.name << ": finds " << course::number_text(old) << ", value "
                      << course::number_text(value));
  const auto values = course::DeviceBuffer<T>::from({value});
  for (const bool shared : {false, true}) {
    INFO((shared ? "shared" : "global") << " memory");
    auto cell = course::DeviceBuffer<T>::from({old});
    course::DeviceBuffer<T> returned(1);
    (shared ? operation.shared : operation.global)(values.data(), 1, cell.data(), returned.data(),
                                                   nullptr);
    REQUIRE(bits_of(cell.front()) == bits_of(expected));
    REQUIRE(bits_of(returned.front()) == bits_of(old));
  }
}

template <class T>
void check_many_calls(const Calls<T>& operation, const std::vector<T>& values, T start) {
  const std::size_t n = values.size();
  INFO(operation.name << " by " << n << " threads, " << sizeof(T) << " bytes, starting at "
                      << course::number_text(start));
  const auto d_values = course::DeviceBuffer<T>::from(values);
  course::DeviceBuffer<T> returned(n);
  for (const bool shared : {false, true}) {
    INFO((shared ? "shared" : "global") << " memory");
    // In shared memory every block has a cell, and so a chain, of its own.
    const std::size_t cells = shared ? blocks_for(n) : 1, per_cell = shared ? kBlockSize : n;
    auto cell = course::DeviceBuffer<T>::from(std::vector<T>(cells, start));
    (shared ? operation.shared : operation.global)(d_values.data(), n, cell.data(), returned.data(),
                                                   nullptr);
    const std::vector<T> all_found = returned.download(), last = cell.download();
    for (std::size_t c = 0; c < cells; ++c) {
      std::vector<T> found, left;
      for (std::size_t i = c * per_cell; i < std::min(n, (c + 1) * per_cell); ++i) {
        found.push_back(all_found[i]);
        left.push_back(operation.next(all_found[i], values[i]));
      }
      INFO("cell " << c);
      REQUIRE(one_chain(found, left, start, last[c]));
    }
  }
}

/// One thread, one cell: what is left in it, and what is returned.
template <class Operation, class T>
void check_one(T old, T value, T expected) {
  check_one_call(calls<Operation, T>(), old, value, expected);
}

/// Many threads at one cell (one for each block in shared memory): some order of them explains
/// what is returned and what is left.
template <class Operation, class T>
void check_many(const std::vector<T>& values, T start) {
  check_many_calls(calls<Operation, T>(), values, start);
}

/// Different values for n threads, without order; the largest is n + 1.
template <class T>
std::vector<T> mixed(std::size_t n) {
  std::vector<T> values(n);
  for (std::size_t i = 0; i < n; ++i) {
    values[i] = number<T>(static_cast<int>((i * 577 + 11) % n) + 2);
  }
  return values;
}

/// n threads that shall count from 0: each value from 1 to n, shuffled.
template <class T>
std::vector<T> steps(std::size_t n) {
  std::vector<T> values(n);
  for (std::size_t i = 0; i < n; ++i) values[i] = static_cast<T>((i * 577 + 11) % n + 1);
  return values;
}

constexpr std::size_t kMany =
    601;  // three blocks, the last one not full; shares no factor with 577

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

}  // namespace atomic_functions_selfcheck

using namespace atomic_functions_selfcheck;

constexpr int kIntMin = std::numeric_limits<int>::min(), kIntMax = std::numeric_limits<int>::max();
constexpr unsigned kUintMax = std::numeric_limits<unsigned>::max();
constexpr ull kUllMax = std::numeric_limits<ull>::max();
constexpr long long kLlMin = std::numeric_limits<long long>::min();

TEST_CASE("the chain check tells possible returned values from impossible ones") {
  // What three threads found, and what they left.
  REQUIRE(one_chain<int>({5, 3, 0}, {6, 5, 3}, 0, 6).ok);   // the last one came first
  REQUIRE(!one_chain<int>({5, 3, 0}, {6, 5, 3}, 0, 5).ok);  // something else was left
  REQUIRE(!one_chain<int>({0, 0}, {1, 1}, 0, 1).ok);        // both found the same: one got lost
  REQUIRE(!one_chain<int>({0, 2}, {1, 3}, 0, 3).ok);        // nobody left a 2
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

TEST_CASE("block scope is too small for a grid of several blocks") {
  const std::vector<int> values = mixed<int>(kMany);
  const auto d_values = course::DeviceBuffer<int>::from(values);
  auto cell = course::DeviceBuffer<int>::zeros(1);
  course::DeviceBuffer<int> returned(kMany);
  REQUIRE(course::expect_race([&] {
    apply_global<AddBlock>(d_values.data(), kMany, cell.data(), returned.data(), nullptr);
    CUDA_CHECK(cudaDeviceSynchronize());
  }));
}

TEST_CASE("float atomicAdd flushes subnormals on global memory, and keeps them on shared memory") {
  for (const float sign : {1.0f, -1.0f}) {
    for (const float start : {kSubnormal, 0.0f, 1.0f}) {
      INFO(sign * start << " + " << sign * kSubnormal);
      auto y = course::DeviceBuffer<float>::from({sign * start});
      add_subnormal_global(sign * kSubnormal, y.data(), nullptr);
      const float flushed = start == 1.0f ? sign : sign * 0.0f;  // the zero keeps the sign
      REQUIRE(bits_of(y.front()) == bits_of(flushed));
      y.upload({sign * start});
      add_subnormal_shared(sign * kSubnormal, y.data(), nullptr);
      REQUIRE(bits_of(y.front()) == bits_of(sign * start + sign * kSubnormal));
    }
  }
  // The smallest normal number is none of them, and double keeps its own.
  check_one<Add>(0.0f, 0x1p-126f, 0x1p-126f);
  check_one<Add>(0x1p-1070, 0x1p-1070, 0x1p-1069);
}

// ---- the missing ones ---------------------------------------------------------------------------

namespace atomic_functions_selfcheck {

struct MaxByCas {
  static constexpr const char* kName = "atomic_max";
  template <class T>
  static __device__ T atomic(T* address, T value) {
    return atomic_max(address, value);
  }
  template <class T>
  static T next(T old, T value) {  // in other words than larger()
    if (std::isnan(value)) return old;
    if (std::isnan(old) || value > old) return value;
    return value == old && !std::signbit(value) ? value : old;
  }
};
struct MultiplyByCas {
  static constexpr const char* kName = "atomic_multiply";
  template <class T>
  static __device__ T atomic(T* address, T value) {
    return atomic_multiply(address, value);
  }
  template <class T>
  static T next(T old, T value) {
    return old * value;
  }
};
struct AddByCas {
  static constexpr const char* kName = "atomic_add_by_cas";
  static __device__ double atomic(double* address, double value) {
    return atomic_add_by_cas(address, value);
  }
  static double next(double old, double value) { return old + value; }
};
/// A type and an operation that nobody thought of: bytes counted down in half a word.
struct HalveByCas {
  static constexpr const char* kName = "atomic_update of 16 bits";
  static __device__ unsigned short atomic(unsigned short* address, unsigned short value) {
    return atomic_update(
        address, [=](unsigned short old) { return static_cast<unsigned short>(old / 2 + value); });
  }
  static unsigned short next(unsigned short old, unsigned short value) {
    return static_cast<unsigned short>(old / 2 + value);
  }
};

}  // namespace atomic_functions_selfcheck

TEST_CASE("atomic_max decides for -0, NaN and infinity as it says") {
  const float nan = std::numeric_limits<float>::quiet_NaN(),
              infinity = std::numeric_limits<float>::infinity();
  check_one<MaxByCas>(-2.0f, -1.0f, -1.0f);
  check_one<MaxByCas>(-1.0f, -2.0f, -1.0f);
  check_one<MaxByCas>(-0.0f, 0.0f, 0.0f);
  check_one<MaxByCas>(0.0f, -0.0f, 0.0f);
  check_one<MaxByCas>(-0.0f, -0.0f, -0.0f);
  check_one<MaxByCas>(-5.0f, -0.0f, -0.0f);
  check_one<MaxByCas>(nan, -infinity, -infinity);
  check_one<MaxByCas>(-infinity, nan, -infinity);
  check_one<MaxByCas>(-nan, 1.0f, 1.0f);
  check_one<MaxByCas>(1.0f, infinity, infinity);
  check_one<MaxByCas>(1e-45f, 0.0f, 1e-45f);
  check_one<MaxByCas>(-2.0, -1.0, -1.0);
  check_one<MaxByCas>(-0.0, 0.0, 0.0);
  check_one<MaxByCas>(double{nan}, -1e300, -1e300);

  std::vector<double> values(kMany);
  for (std::size_t i = 0; i < kMany; ++i) {
    const double special[] = {-0.0, 0.0, double{nan}, -double{infinity}};
    values[i] = i % 3 == 0 ? special[i / 3 % 4] : static_cast<double>(i * 577 % kMany) - 700.0;
  }
  check_many<MaxByCas>(values, -double{infinity});
  check_many<MaxByCas>(std::vector<float>(values.begin(), values.end()), -nan);
}

TEST_CASE("the functions made from atomicCAS lose nothing, and return what was there") {
  check_one<MultiplyByCas>(3.0f, -0.5f, -1.5f);
  check_one<MultiplyByCas>(3.0, 1e-310, 3e-310);
  check_many<MultiplyByCas>(factors(kMany), 3.0f);
  check_many<AddByCas>(mixed<double>(kMany), 0.5);
  check_many<HalveByCas>(mixed<unsigned short>(kMany), static_cast<unsigned short>(77));
}

TEST_CASE("a compare-and-swap loop in step takes a quadratic number of turns") {
  course::skip_without_counters();
  auto y = course::DeviceBuffer<double>::zeros(64);
  const auto by_cas = course::count([&] { add_double_cas(32, 1, y.data(), nullptr); });
  INFO("32 lanes at one address");
  REQUIRE(course::same(by_cas->global_atomics, 32u, "requests"));
  REQUIRE(course::same(by_cas->global_atomic_lanes, 32u * 33 / 2, "single atomics"));
  const auto native = course::count([&] { add_double_native(32, 1, y.data(), nullptr); });
  REQUIRE(course::same(native->global_atomics, 1u, "requests of atomicAdd"));
  REQUIRE(course::same(native->global_atomic_lanes, 32u, "single atomics of atomicAdd"));
  const auto apart = course::count([&] { add_double_cas(32, 32, y.data(), nullptr); });
  REQUIRE(course::same(apart->global_atomics, 1u, "requests, each lane at its own address"));
}

TEST_CASE("sum_double_stale loses updates, and has no race") {
  const std::vector<double> x = course::position_values<double>(1024);
  const double sum = std::accumulate(x.begin(), x.end(), 0.0);
  const auto d_x = course::DeviceBuffer<double>::from(x);
  auto y = course::DeviceBuffer<double>::zeros(1);
  course::count([&] { sum_double_stale(d_x.data(), x.size(), y.data(), nullptr); });
  INFO("sum_double_stale gave " << y.front() << ", the sum is " << sum);
  REQUIRE(y.front() < sum);
  REQUIRE(y.front() > 0.0);
}

TEST_CASE("the rungs made from atomicCAS are right at every size") {
  for (const std::size_t n : course::all_sizes()) {
    // At one address a GPU's time grows with the square of n.
    const std::size_t addresses = n <= 1025 ? 1 : 4096;
    INFO("n = " << n << ", " << addresses << " addresses");
    auto y = course::DeviceBuffer<double>::from(std::vector<double>(addresses, 0.0));
    const std::vector<double> counts = counts_of<double>(n, addresses);
    add_double_cas(n, addresses, y.data(), nullptr);
    REQUIRE(course::same(y.download(), counts, "add_double_cas"));
    y.fill_bytes(0);
    add_double_native(n, addresses, y.data(), nullptr);
    REQUIRE(course::same(y.download(), counts, "add_double_native"));

    const std::vector<float> x = factors(n);
    std::vector<float> expected(addresses, 3.0f);
    for (std::size_t i = 0; i < n; ++i) expected[i % addresses] *= x[i];
    const auto d_x = course::DeviceBuffer<float>::from(x);
    auto products = course::DeviceBuffer<float>::from(std::vector<float>(addresses, 3.0f));
    multiply_cas(d_x.data(), n, addresses, products.data(), nullptr);
    REQUIRE(course::same(products.download(), expected, "multiply_cas"));

    if (n == 0) continue;
    const std::vector<float> values = negative_values(n);
    const auto d_values =
        course::DeviceBuffer<double>::from(std::vector<double>(values.begin(), values.end()));
    course::GuardedBuffer<double> max(1);
    max.fill_bytes(0xFF);
    max_double_cas(d_values.data(), n, max.data(), nullptr);
    REQUIRE(course::same(max.download().front(), max_reference(values), "max_double_cas"));
    REQUIRE(max.intact("max"));
  }
}

// ---- the maximum of n floats --------------------------------------------------------------------

namespace atomic_functions_selfcheck {

using MaxByKey = void (*)(const float*, std::size_t, unsigned*, cudaStream_t);
struct KeyRung {
  const char* name;
  MaxByKey run;
};
const KeyRung kKeyRungs[] = {{"max_key", max_key},
                             {"max_look_first", max_look_first},
                             {"max_per_thread", max_per_thread},
                             {"max_vectorized", max_vectorized},
                             {"max_block", max_block}};

/// All rungs on the same n floats, which begin `offset` floats behind an address that is a multiple
/// of 16.
void check_maximum(const std::vector<float>& x, std::size_t offset) {
  const std::size_t n = x.size();
  std::vector<float> padded(offset, 1e30f);  // found by a kernel that reads before its array
  padded.insert(padded.end(), x.begin(), x.end());
  padded.insert(padded.end(), 4, 1e30f);  // or behind it
  const auto d_x = course::DeviceBuffer<float>::from(padded);
  const float* const begin = d_x.data() + offset;
  const float expected = n == 0 ? 0.0f : max_reference(x);

  course::GuardedBuffer<float> max(1);
  max_cas(begin, n, max.data(), nullptr);
  const float found = max.download().front();
  REQUIRE((n == 0 ? course::Verdict{std::isnan(found), "max_cas: not NaN"}
                  : course::same(found, expected, "max_cas")));
  REQUIRE(max.intact("max_cas"));
  for (const KeyRung& rung : kKeyRungs) {
    course::GuardedBuffer<unsigned> key(1);
    rung.run(begin, n, key.data(), nullptr);
    const unsigned found_key = key.download().front();
    REQUIRE((n == 0 ? course::same(found_key, 0u, rung.name)
                    : course::same(float_of_key(found_key), expected, rung.name)));
    REQUIRE(key.intact(rung.name));
  }
}

}  // namespace atomic_functions_selfcheck

TEST_CASE("every rung finds the maximum at every size") {
  for (const std::size_t n : course::all_sizes()) {
    for (const bool below_zero : {false, true}) {
      INFO("n = " << n << (below_zero ? ", all below zero" : ""));
      check_maximum(below_zero ? negative_values(n) : signed_values(n), 0);
    }
  }
}

TEST_CASE("every rung finds the maximum in every place, wherever the array begins") {
  for (const std::size_t n : {1, 2, 3, 4, 5, 7, 17, 40, 1025}) {
    for (const std::size_t offset : {0, 1, 2, 3}) {
      for (const std::size_t place : {std::size_t{0}, n / 2, n - 1}) {
        INFO("n = " << n << ", begins " << offset << " floats late, maximum at " << place);
        std::vector<float> x(n, -3.0f);
        x[place] = -2.5f;
        check_maximum(x, offset);
      }
    }
  }
}

TEST_CASE("the maximum of numbers that rise or fall all the way") {
  std::vector<float> x(1025);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i) - 600.0f;
  check_maximum(x, 0);
  std::reverse(x.begin(), x.end());
  check_maximum(x, 0);
}

namespace atomic_functions_selfcheck {

__global__ void make_keys(const float* d_x, unsigned n, unsigned* d_key) {
  if (threadIdx.x < n) d_key[threadIdx.x] = order_key(d_x[threadIdx.x]);
}

}  // namespace atomic_functions_selfcheck

TEST_CASE("keys are ordered like floats, and the two zeros and NaN as the lesson says") {
  const float infinity = std::numeric_limits<float>::infinity(),
              nan = std::numeric_limits<float>::quiet_NaN();
  const std::vector<float> rising = {-nan,    -infinity, -3e38f,   -2.0f,  -1.0f,     -0x1p-126f,
                                     -1e-45f, -0.0f,     0.0f,     1e-45f, 0x1p-126f, 1.0f,
                                     2.0f,    3e38f,     infinity, nan};
  const auto d_x = course::DeviceBuffer<float>::from(rising);
  course::DeviceBuffer<unsigned> d_key(rising.size());
  make_keys<<<1, 32>>>(d_x.data(), static_cast<unsigned>(rising.size()), d_key.data());
  CUDA_CHECK_LAUNCH();
  const std::vector<unsigned> keys = d_key.download();
  for (std::size_t i = 0; i < keys.size(); ++i) {
    INFO(rising[i] << " has the key " << keys[i]);
    REQUIRE((i == 0 || keys[i - 1] < keys[i]));
    REQUIRE(bits_of(float_of_key(keys[i])) == bits_of(rising[i]));
  }
  REQUIRE(keys.front() > 0);  // 0 is the key of another negative NaN, and means: nothing yet
  REQUIRE(std::isnan(float_of_key(0)));
}

TEST_CASE("max_as_int finds the smallest of negative numbers") {
  const std::vector<float> x = negative_values(1025);
  const auto d_x = course::DeviceBuffer<float>::from(x);
  auto max = course::DeviceBuffer<float>::from({x.front()});
  max_as_int(d_x.data(), x.size(), max.data(), nullptr);
  REQUIRE(course::same(max.front(), *std::min_element(x.begin(), x.end()), "max"));
  // One positive number hides it.
  const std::vector<float> y = signed_values(1025);
  const auto d_y = course::DeviceBuffer<float>::from(y);
  max.upload({y.front()});
  max_as_int(d_y.data(), y.size(), max.data(), nullptr);
  REQUIRE(course::same(max.front(), max_reference(y), "max"));
}

TEST_CASE("each rung of the maximum makes fewer global atomics than the one before") {
  course::skip_without_counters();
  constexpr std::size_t n = std::size_t{1} << 14;
  const auto d_x = course::DeviceBuffer<float>::from(signed_values(n));
  course::DeviceBuffer<float> max(1);
  course::DeviceBuffer<unsigned> key(1);
  const auto lanes = [&](MaxByKey run) {
    return course::count([&] { run(d_x.data(), n, key.data(), nullptr); })->global_atomic_lanes;
  };
  const auto by_cas = course::count([&] { max_cas(d_x.data(), n, max.data(), nullptr); });
  INFO("n = " << n);
  REQUIRE(by_cas->global_atomic_lanes >= n);
  REQUIRE(course::same(lanes(max_key), n, "atomics of max_key"));
  REQUIRE(lanes(max_look_first) < n / 10);
  const std::size_t threads = std::size_t{resident_blocks_for(n)} * kBlockSize;
  REQUIRE(course::same(lanes(max_per_thread), threads, "atomics of max_per_thread"));
  REQUIRE(course::same(lanes(max_vectorized), n / 16, "atomics of max_vectorized"));
  REQUIRE(course::same(lanes(max_block), n / 16 / kBlockSize, "atomics of max_block"));
}

// ---- messages, orders, contention ---------------------------------------------------------------

namespace atomic_functions_selfcheck {

struct Mail {
  explicit Mail(std::size_t n)
      : message(course::DeviceBuffer<int>::zeros(n)),
        flag(course::DeviceBuffer<int>::zeros(n)),
        received(n) {
    received.fill_bytes(0);
  }
  course::DeviceBuffer<int> message, flag;
  course::GuardedBuffer<int> received;
};

std::vector<int> messages(std::size_t n) {
  std::vector<int> expected(n);
  for (std::size_t i = 0; i < n; ++i) expected[i] = message_number(i);
  return expected;
}

template <Fences fences>
course::Verdict loses_mail(course::Findings* findings) {
  constexpr std::size_t n = 40;
  Mail mail(n);
  return course::expect_race(
      [&] {
        hand_over<fences>(n, mail.message.data(), mail.flag.data(), mail.received.data(), nullptr);
        CUDA_CHECK(cudaDeviceSynchronize());
      },
      findings);
}

}  // namespace atomic_functions_selfcheck

TEST_CASE("messages arrive with a fence on both sides, and with release and acquire") {
  for (const std::size_t n : {0, 1, 31, 33, 257, 600}) {
    INFO("n = " << n);
    Mail fenced(n), ordered(n);
    hand_over<Fences::both>(n, fenced.message.data(), fenced.flag.data(), fenced.received.data(),
                            nullptr);
    REQUIRE(course::same(fenced.received.download(), messages(n), "received"));
    REQUIRE(fenced.received.intact("received"));
    hand_over_release_acquire(n, ordered.message.data(), ordered.flag.data(),
                              ordered.received.data(), nullptr);
    REQUIRE(course::same(ordered.received.download(), messages(n), "received"));
    REQUIRE(ordered.received.intact("received"));
  }
}

TEST_CASE("an atomic flag is no fence: without one on each side there is a race") {
  course::Findings findings;
  REQUIRE(loses_mail<Fences::none>(&findings));
  if (findings.checked) {
    INFO(findings.texts.front());
    REQUIRE(findings.texts.front().find("__threadfence() is missing") != std::string::npos);
  }
  REQUIRE(loses_mail<Fences::writer_only>(&findings));
  if (findings.checked) {
    INFO(findings.texts.front());
    REQUIRE(findings.texts.front().find("the reader has none") != std::string::npos);
  }
}

TEST_CASE("cuda::atomic_ref counts like atomicAdd, in every scope and order") {
  constexpr auto device = cuda::thread_scope_device, system = cuda::thread_scope_system;
  constexpr auto relaxed = cuda::std::memory_order_relaxed,
                 seq_cst = cuda::std::memory_order_seq_cst;
  const auto check = [](const char* name, auto run, std::size_t n, std::size_t addresses) {
    INFO(name << ", n = " << n << ", " << addresses << " addresses");
    course::GuardedBuffer<unsigned> y(addresses);
    y.fill_bytes(0);
    run(n, addresses, y.data(), cudaStream_t{});
    const bool right = course::same(y.download(), counts_of<unsigned>(n, addresses), name).ok;
    return right && y.intact(name).ok;
  };
  for (const std::size_t n : course::all_sizes()) {
    for (const std::size_t addresses : {1, 64, 2048}) {
      REQUIRE(check(
          "atomicAdd", [](auto... a) { count_plain(a...); }, n, addresses));
      REQUIRE(check(
          "relaxed, device", [](auto... a) { count_ref<device, relaxed>(a...); }, n, addresses));
      REQUIRE(check(
          "relaxed, system", [](auto... a) { count_ref<system, relaxed>(a...); }, n, addresses));
      if (course::kCpuDevice && n > 300) continue;  // fences are slow there
      REQUIRE(check(
          "seq_cst, device", [](auto... a) { count_ref<device, seq_cst>(a...); }, n, addresses));
      REQUIRE(check(
          "seq_cst, system", [](auto... a) { count_ref<system, seq_cst>(a...); }, n, addresses));
    }
  }
}

TEST_CASE("count_and_see finds the last arrival at each door, count_arrivals only counts") {
  for (const std::size_t n : course::all_sizes()) {
    for (const std::size_t doors : {1, 16, 512}) {
      INFO("n = " << n << ", " << doors << " doors");
      const std::vector<unsigned> expected = counts_of<unsigned>(n, doors);
      course::GuardedBuffer<unsigned> count(doors), last(doors);
      count.fill_bytes(0);
      count_arrivals(n, doors, count.data(), nullptr);
      REQUIRE(course::same(count.download(), expected, "count"));
      count.fill_bytes(0);
      last.fill_bytes(0xFF);
      count_and_see(n, doors, count.data(), last.data(), nullptr);
      REQUIRE(course::same(count.download(), expected, "count"));
      REQUIRE(count.intact("count"));
      REQUIRE(last.intact("last"));
      const std::vector<unsigned> found = last.download();
      for (std::size_t d = 0; d < doors; ++d) {
        INFO("door " << d);
        REQUIRE((n < doors ? found[d] == kUintMax : found[d] < n && found[d] % doors == d));
      }
    }
  }
}

TEST_CASE("the contention rungs add to the addresses that they name") {
  for (const std::size_t n : course::all_sizes()) {
    for (const std::size_t addresses : {1, 2, 32, 4096}) {
      INFO("n = " << n << ", " << addresses << " addresses");
      course::GuardedBuffer<float> floats(addresses);
      course::GuardedBuffer<int> ints(addresses);
      floats.fill_bytes(0);
      ints.fill_bytes(0);
      add_to_addresses<float>(n, addresses, floats.data(), nullptr);
      add_to_addresses<int>(n, addresses, ints.data(), nullptr);
      REQUIRE(course::same(floats.download(), counts_of<float>(n, addresses), "floats"));
      REQUIRE(course::same(ints.download(), counts_of<int>(n, addresses), "ints"));
      REQUIRE(floats.intact("floats"));
      REQUIRE(ints.intact("ints"));
      if (addresses > 1) continue;
      add_to_one_known<float>(n, floats.data(), nullptr);
      add_to_one_known<int>(n, ints.data(), nullptr);
      REQUIRE(course::same(floats.download().front(), static_cast<float>(2 * n), "floats"));
      REQUIRE(course::same(ints.download().front(), static_cast<int>(2 * n), "ints"));
    }
  }
}

// ---- what only a GPU has ------------------------------------------------------------------------

#if defined(__CUDACC__)
namespace atomic_functions_selfcheck {

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

}  // namespace atomic_functions_selfcheck
#endif

TEST_CASE("sm_90: atomicCAS and atomicExch of 16 bytes, atomicAdd of float2 and float4") {
#if defined(__CUDACC__)
  int major = 0;
  CUDA_CHECK(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, 0));
  if (major < 9) SKIP("this GPU is older than sm_90");
  auto wide = course::DeviceBuffer<ulonglong2>::from({ulonglong2{1, 2}});
  auto vector = course::DeviceBuffer<float4>::zeros(2);
  course::DeviceBuffer<ulonglong2> returned(3);
  wide_functions<<<1, 1>>>(wide.data(), vector.data(), returned.data());
  CUDA_CHECK_LAUNCH();
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
