// The vector types: size and alignment as CUDA's, the same ways to write them, one access a copy.
#include <cuda_runtime.h>

#include <catch2/catch_test_macros.hpp>
#include <course/buffer.cuh>
#include <course/device.cuh>
#include <string>
#include <type_traits>
#include <vector>

#include "results.cuh"

// To leave out elements is one of the things to test.
#pragma GCC diagnostic ignored "-Wmissing-field-initializers"

namespace vector_types_test {

using course::DeviceBuffer;
using simt_test::results_of;

template <class V, std::size_t size, std::size_t alignment>
constexpr bool is_laid_out = sizeof(V) == size && alignof(V) == alignment;

static_assert(is_laid_out<char1, 1, 1> && is_laid_out<char2, 2, 2>);
static_assert(is_laid_out<char3, 3, 1> && is_laid_out<char4, 4, 4>);
static_assert(is_laid_out<uchar1, 1, 1> && is_laid_out<uchar2, 2, 2>);
static_assert(is_laid_out<uchar3, 3, 1> && is_laid_out<uchar4, 4, 4>);
static_assert(is_laid_out<short1, 2, 2> && is_laid_out<short2, 4, 4>);
static_assert(is_laid_out<short3, 6, 2> && is_laid_out<short4, 8, 8>);
static_assert(is_laid_out<ushort1, 2, 2> && is_laid_out<ushort2, 4, 4>);
static_assert(is_laid_out<ushort3, 6, 2> && is_laid_out<ushort4, 8, 8>);
static_assert(is_laid_out<int1, 4, 4> && is_laid_out<int2, 8, 8>);
static_assert(is_laid_out<int3, 12, 4> && is_laid_out<int4, 16, 16>);
static_assert(is_laid_out<uint1, 4, 4> && is_laid_out<uint2, 8, 8>);
static_assert(is_laid_out<uint3, 12, 4> && is_laid_out<uint4, 16, 16>);
static_assert(is_laid_out<long1, 8, 8> && is_laid_out<long2, 16, 16>);
static_assert(is_laid_out<ulong3, 24, 8> && is_laid_out<ulong2, 16, 16>);
static_assert(is_laid_out<longlong1, 8, 8> && is_laid_out<longlong2, 16, 16>);
static_assert(is_laid_out<ulonglong3, 24, 8> && is_laid_out<ulonglong2, 16, 16>);
static_assert(is_laid_out<float1, 4, 4> && is_laid_out<float2, 8, 8>);
static_assert(is_laid_out<float3, 12, 4> && is_laid_out<float4, 16, 16>);
static_assert(is_laid_out<double1, 8, 8> && is_laid_out<double2, 16, 16>);
static_assert(is_laid_out<double3, 24, 8>);
static_assert(std::is_same_v<decltype(char2::x), signed char>);
static_assert(std::is_same_v<decltype(uint4::w), unsigned>);

// A number is no vector.
static_assert(!std::is_convertible_v<float, float4> && !std::is_convertible_v<int, int2>);
static_assert(!std::is_convertible_v<float4, float2> && !std::is_convertible_v<int4, float4>);

static_assert(std::is_convertible_v<uint3, dim3> && std::is_convertible_v<int, dim3>);
static_assert(std::is_trivially_default_constructible_v<float4>);
static_assert(std::is_trivially_destructible_v<float4>);

union Bits {
  float4 vector;
  float element[4];
};

TEST_CASE("vectors are written as in CUDA", "[vector_types]") {
  const float4 full = {1, 2, 3, 4};
  CHECK((full.x == 1 && full.y == 2 && full.z == 3 && full.w == 4));
  const float4 braced{1, 2, 3, 4};
  CHECK(braced.w == 4);
  const int4 first = {7};
  CHECK((first.x == 7 && first.y == 0 && first.z == 0 && first.w == 0));
  const uint3 two = {7, 8};
  CHECK((two.y == 8 && two.z == 0));
  const double2 nothing{};
  CHECK((nothing.x == 0 && nothing.y == 0));
  float4 later;
  later.x = 5;
  later = make_float4(later.x, 6, 7, 8);
  CHECK((later.x == 5 && later.w == 8));
  const float4 copy = later;
  CHECK(copy.z == 7);
  const float2 table[2] = {{1, 2}, {3, 4}};
  CHECK(table[1].x == 3);
  const auto [x, y] = table[0];
  CHECK((x == 1 && y == 2));
  Bits bits;
  bits.vector = full;
  CHECK(bits.element[2] == 3);
  std::vector<int2> list(3, make_int2(1, 2));
  list.push_back({3, 4});
  CHECK((list[2].y == 2 && list[3].x == 3));
  constexpr short4 constant{1, 2, 3, 4};
  static_assert(constant.z == 3);
}

TEST_CASE("every make function fills in order", "[vector_types]") {
  CHECK(make_char1(1).x == 1);
  CHECK(make_uchar2(1, 2).y == 2);
  CHECK(make_char3(1, 2, 3).z == 3);
  CHECK(make_uchar4(1, 2, 3, 255).w == 255);
  CHECK(make_short2(1, -2).y == -2);
  CHECK(make_ushort4(1, 2, 3, 65535).w == 65535);
  CHECK(make_int1(-1).x == -1);
  CHECK(make_int3(1, 2, 3).z == 3);
  CHECK(make_uint4(1, 2, 3, 4u).w == 4);
  CHECK(make_long2(1, 1l << 40).y == 1l << 40);
  CHECK(make_ulonglong2(1, 1ull << 63).y == 1ull << 63);
  CHECK(make_longlong3(1, 2, -3).z == -3);
  CHECK(make_float3(1, 2, 3).z == 3);
  CHECK(make_double1(0.1).x == 0.1);
  CHECK(make_double3(1, 2, 0.1).z == 0.1);
}

TEST_CASE("dim3 fills up with 1", "[vector_types]") {
  constexpr dim3 grid(4, 2), one;
  static_assert(grid.x == 4 && grid.y == 2 && grid.z == 1 && one.x * one.y * one.z == 1);
  const dim3 from_number = 7;
  CHECK((from_number.x == 7 && from_number.z == 1));
  const dim3 from_vector = make_uint3(1, 2, 3);
  CHECK(from_vector.z == 3);
  const uint3 back = from_vector;
  CHECK(back.y == 2);
}

// ---- in kernels ---------------------------------------------------------------------------------

template <class V>
__device__ V pass_through(V v) {
  return v;
}

template <class V>
__global__ void copy_vectors(const V* in, V* out) {
  __shared__ V staged[64];
  const unsigned i = threadIdx.x;
  staged[i] = pass_through(in[i]);
  __syncthreads();
  const V v = staged[63 - i];
  out[i] = v;
}

template <class V>
void check_copies(const std::string& name) {
  INFO(name);
  std::vector<V> in(64);
  for (int i = 0; i < 64; ++i) {
    in[i].x = static_cast<decltype(V::x)>(i);
    in[i].y = static_cast<decltype(V::x)>(i + 1);
  }
  const std::vector<V> out = results_of(copy_vectors<V>, in, 64, 64);
  int wrong = 0;
  for (int i = 0; i < 64; ++i) wrong += out[i].x != in[63 - i].x || out[i].y != in[63 - i].y;
  CHECK(wrong == 0);
}

TEST_CASE("vectors of each size travel through global and shared memory", "[vector_types]") {
  check_copies<uchar2>("uchar2");
  check_copies<char3>("char3");
  check_copies<uchar4>("uchar4");
  check_copies<short3>("short3");
  check_copies<ushort4>("ushort4");
  check_copies<int2>("int2");
  check_copies<float3>("float3");
  check_copies<float4>("float4");
  check_copies<double2>("double2");
  check_copies<double3>("double3");
  check_copies<ulonglong2>("ulonglong2");
}

template <class V>
__global__ void copy_only(const V* in, V* out) {
  out[threadIdx.x] = in[threadIdx.x];
}

template <class V>
course::Counters count_copy() {
  const auto in = DeviceBuffer<V>::zeros(32);
  DeviceBuffer<V> out(32);
  return *course::count([&] {
    copy_only<<<1, 32>>>(in.data(), out.data());
    CUDA_CHECK_LAUNCH();
  });
}

TEST_CASE("a copy is one request unless its size has no instruction", "[vector_types]") {
  if (!course::kCpuDevice) SKIP(course::kNoCounters);
  const course::Counters pairs = count_copy<float2>(), quads = count_copy<float4>();
  CHECK((pairs.global_loads == 1 && pairs.global_load_sectors == 8));
  CHECK((pairs.global_stores == 1 && pairs.global_store_sectors == 8));
  CHECK((quads.global_loads == 1 && quads.global_load_sectors == 16));
  CHECK((quads.global_stores == 1 && quads.global_store_sectors == 16));
  const course::Counters bytes = count_copy<uchar4>();
  CHECK((bytes.global_loads == 1 && bytes.global_load_sectors == 4));
  // 12 bytes are three loads of 4, and each touches all 12 sectors.
  const course::Counters triples = count_copy<float3>();
  CHECK((triples.global_loads == 3 && triples.global_load_sectors == 36));
}

#if COURSE_CPU_DEVICE
constexpr int kMisalignedLine = __LINE__ + 2;
__global__ void copy_quad(const float* in, float4* out, int offset) {
  out[0] = *reinterpret_cast<const float4*>(in + offset);
}

TEST_CASE("a misaligned float4 is reported at the line that loads it", "[vector_types]") {
  const auto in = DeviceBuffer<float>::zeros(8);
  DeviceBuffer<float4> out(1);
  const course::Findings findings = course::find_races([&] {
    copy_quad<<<1, 1>>>(in.data(), out.data(), 1);
    CUDA_CHECK_LAUNCH();
    CUDA_CHECK(cudaDeviceSynchronize());
  });
  REQUIRE(findings.texts.size() == 1);
  const std::string line = std::to_string(kMisalignedLine);
  CHECK(findings.texts[0].find("vector_types_test.cu:" + line) != std::string::npos);
}
#endif

// ---- as plain bytes -----------------------------------------------------------------------------

template <class... Vectors>
constexpr bool are_trivial = (... && (std::is_trivially_copyable_v<Vectors> &&
                                      std::is_trivial_v<Vectors>));
static_assert(
    are_trivial<float1, float2, float3, float4, char3, uchar4, int2, ulonglong2, double4_32a>);

/// Two ways to see 16 bytes.
union Word {
  float4 vector;
  float number[4];
};

__global__ void reverse(const float* x, float* y) {
  Word w;
  w.vector = reinterpret_cast<const float4*>(x)[threadIdx.x];
  const Word copy{.vector = w.vector};
  for (int i = 0; i < 4; ++i) w.number[i] = copy.number[3 - i];
  reinterpret_cast<int4*>(y)[threadIdx.x] = __builtin_bit_cast(int4, w.vector);
}

TEST_CASE("vectors are bytes: in a union, and cast to another vector", "[vector_types]") {
  std::vector<float> numbers(128), reversed(128);
  for (int i = 0; i < 128; ++i) {
    numbers[i] = static_cast<float>(i);
    reversed[i] = static_cast<float>(i ^ 3);
  }
  CHECK(results_of(reverse, numbers, 128, 32) == reversed);
}

struct Body {
  float4 position;
  float2 velocity;
};
__global__ void copy_bodies(const Body* from, Body* to) {
  const Body body = from[threadIdx.x];
  to[threadIdx.x] = body;
}

TEST_CASE("structs of vectors are copied, const ones, too", "[vector_types]") {
  std::vector<Body> bodies(32);
  for (int i = 0; i < 32; ++i) {
    const float f = static_cast<float>(i);
    bodies[i] = Body{make_float4(f, 1, 2, 3), make_float2(-f, 4)};
  }
  const std::vector<Body> copies = results_of(copy_bodies, bodies, 32, 32);
  for (int i = 0; i < 32; ++i) {
    CHECK(copies[i].position.x == static_cast<float>(i));
    CHECK(copies[i].position.w == 3);
    CHECK(copies[i].velocity.x == -static_cast<float>(i));
  }
}

}  // namespace vector_types_test
