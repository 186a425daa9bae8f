// Packs: one access of the right size each, in every element type; and where they may begin.
#include <cuda_fp16.h>
#include <course/check.cuh>
#include <course/pack.cuh>

#include <catch2/catch_test_macros.hpp>
#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>
#include <vector>

namespace pack_test {

using course::Pack;

template <class T, int N, std::size_t bytes>
constexpr bool is_laid_out = sizeof(Pack<T, N>) == bytes &&
                             alignof(Pack<T, N>) == bytes&& std::is_trivial_v<Pack<T, N>>;

static_assert(is_laid_out<unsigned char, 1, 1> && is_laid_out<unsigned char, 2, 2>);
static_assert(is_laid_out<unsigned char, 16, 16> && is_laid_out<short, 4, 8>);
static_assert(is_laid_out<float, 1, 4> && is_laid_out<float, 2, 8> && is_laid_out<float, 4, 16>);
static_assert(is_laid_out<double, 1, 8> && is_laid_out<double, 2, 16>);
static_assert(sizeof(Pack<__half, 8>) == 16 && alignof(Pack<__half, 8>) == 16);
static_assert(course::kWidestPack<float> == 4 && course::kWidestPack<__half> == 8);
static_assert(course::kWidestPack<unsigned char> == 16 && course::kWidestPack<double> == 2);

/// Packs of N elements, their elements in reverse order.
template <int N, class T>
__global__ void reverse_packs(const T* x, T* y, bool once) {
  const std::size_t i = N * (std::size_t{blockIdx.x} * blockDim.x + threadIdx.x);
  const Pack<T, N> in = once ? course::load_pack_once<N>(x + i) : course::load_pack<N>(x + i);
  Pack<T, N> out;
  for (int k = 0; k < N; ++k) out.elem[k] = in.elem[N - 1 - k];
  if (once) {
    course::store_pack_once(y + i, out);
  } else {
    course::store_pack(y + i, out);
  }
}

/// Two warps of packs: the values, and on the CPU device the requests.
template <int N, class T>
void check(const char* type, bool once) {
  INFO("packs of " << N << " " << type << (once ? ", with a cache hint" : ""));
  constexpr std::size_t n = 64 * N;
  const std::vector<T> x = course::position_values<T>(n);
  std::vector<T> expected(n);
  for (std::size_t i = 0; i < n; ++i) expected[i] = x[i - i % N + N - 1 - i % N];
  const auto d_x = course::DeviceBuffer<T>::from(x);
  course::GuardedBuffer<T> y(n);
  const auto counters = course::count([&] {
    reverse_packs<N><<<1, 64>>>(d_x.data(), y.data(), once);
    CUDA_CHECK_LAUNCH();
  });
  CHECK(course::same(y.download(), expected, "y"));
  CHECK(y.intact("y"));
  if (!counters) return;
  CHECK(counters->global_loads == 2);
  CHECK(counters->global_load_sectors == n * sizeof(T) / 32);
  CHECK(counters->global_stores == 2);
  CHECK(counters->global_store_sectors == n * sizeof(T) / 32);
}

template <int N, class T>
void check(const char* type) {
  check<N, T>(type, false);
  check<N, T>(type, true);
}

}  // namespace pack_test

using pack_test::check;

TEST_CASE("a pack is one load and one store") {
  check<1, unsigned char>("bytes");
  check<2, unsigned char>("bytes");
  check<4, unsigned char>("bytes");
  check<8, unsigned char>("bytes");
  check<16, unsigned char>("bytes");
  check<4, short>("shorts");
  check<8, __half>("halves");
  check<2, __half>("halves");
  check<1, float>("floats");
  check<2, float>("floats");
  check<4, float>("floats");
  check<4, int>("ints");
  check<1, double>("doubles");
  check<2, double>("doubles");
  check<2, unsigned long long>("unsigned long longs");
}

TEST_CASE("a pack at an address that is no multiple of its size is found") {
  course::skip_without_checker();  // on a GPU it ends the process's CUDA
  const auto d_x = course::DeviceBuffer<float>::zeros(1024);
  course::DeviceBuffer<float> d_y(1024);
  const course::Findings findings = course::find_races([&] {
    pack_test::reverse_packs<4><<<1, 64>>>(d_x.data() + 1, d_y.data(), false);
    CUDA_CHECK_LAUNCH();
    CUDA_CHECK(cudaDeviceSynchronize());
  });
  REQUIRE(findings.others == 1);
  INFO(findings.texts.front());
  CHECK(findings.texts.front().find("MISALIGNED") != std::string::npos);
}

TEST_CASE("the head is what lies before the first whole pack") {
  alignas(64) static const float x[64] = {};
  CHECK(course::head_before_packs(x, 60, 16) == 0);
  CHECK(course::head_before_packs(x + 1, 60, 16) == 3);
  CHECK(course::head_before_packs(x + 3, 60, 16) == 1);
  CHECK(course::head_before_packs(x + 1, 2, 16) == 2);
  CHECK(course::head_before_packs(x + 1, 0, 16) == 0);
  CHECK(course::head_before_packs(x + 1, 60, 8) == 1);
  CHECK(course::head_before_packs(x + 1, 60, 4) == 0);
  const auto* const bytes = reinterpret_cast<const unsigned char*>(x);
  for (std::size_t past = 0; past < 32; ++past) {
    CHECK(course::head_before_packs(bytes + past, 100, 16) == (32 - past) % 16);
  }
}
