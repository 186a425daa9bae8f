// Every rung of this chapter is right at every awkward size and start, for every type and tuning.
#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <course/check.cuh>
#include <cstddef>
#include <limits>
#include <string>
#include <type_traits>
#include <vector>

#include "rungs.cuh"

namespace {

using course::CacheHint;

/// Starts of an array: on and off a multiple of 16 bytes. On the CPU device, where blocks of 1024
/// threads are slow, another one for each size.
std::vector<std::size_t> starts(std::size_t n) {
  if (course::kCpuDevice) return {n % 4};
  return {0, 1, 3};
}

/// The value at an address of device memory; waits for the kernels before it.
template <class T>
T value_at(const T* d_value) {
  T value;
  CUDA_CHECK(cudaMemcpy(&value, d_value, sizeof value, cudaMemcpyDeviceToHost));
  return value;
}

/// Two launches of a rung on n elements, whose sum is `sum`; what it promises beyond that, too.
template <class T, class Accumulator>
void check_launches(const SumRung<T, Accumulator>& rung, const T* d_x, std::size_t n,
                    Accumulator sum, SumMemory<Accumulator>& memory) {
  const bool adds = rung.finish == Finish::adds;
  const auto before = static_cast<Accumulator>(adds ? 7.5 : 0.0);
  course::GuardedBuffer<Accumulator> y(1);
  y.fill_bytes(0xFF);  // a NaN, which an addition would keep
  if (adds) CUDA_CHECK(cudaMemcpy(y.data(), &before, sizeof before, cudaMemcpyHostToDevice));
  for (int launch = 1; launch <= 2; ++launch) {
    INFO("launch " << launch);
    const Accumulator* const d_sum = rung.launch(d_x, n, y.data(), memory);
    const Accumulator all = adds ? static_cast<Accumulator>(launch) * sum : sum;
    REQUIRE(course::same(value_at(d_sum), before + all, "y"));
    REQUIRE(y.intact("y"));
    REQUIRE(course::same(memory.workspace.ticket.front(), 0u, "ticket after the launch"));
    const TwoCells<Accumulator>& cells = memory.cells;
    REQUIRE(course::same(value_at(cells.sums.data() + cells.zeroed), Accumulator{0}, "next cell"));
    if (rung.finish != Finish::two_cells) REQUIRE(d_sum == y.data());
  }
}

template <class T, class Accumulator>
void check_rung(const SumRung<T, Accumulator>& rung, const std::vector<T>& x, std::size_t offset,
                SumMemory<Accumulator>& memory) {
  INFO(rung.name << ", n = " << x.size() << ", the array begins " << sizeof(T) * offset
                 << " bytes past a multiple of 64");
  const course::Placed<T> d_x(x, offset);
  check_launches(rung, d_x.data(), x.size(), static_cast<Accumulator>(sum_reference(x)), memory);
}

/// A reduction by the top rung with a Tuning of the test's.
template <class TuningT, class T, class Operation, class Accumulator>
course::Verdict reduces_to(const std::vector<T>& x, std::size_t offset, Operation op,
                           Accumulator expected) {
  const course::Placed<T> d_x(x, offset);
  Workspace<Accumulator> workspace;
  course::GuardedBuffer<Accumulator> y(1);
  launch_pack_loads<TuningT>(d_x.data(), x.size(), y.data(), op, workspace);
  const course::Verdict verdict = course::same(y.download().front(), expected, "y");
  return verdict ? y.intact("y") : verdict;
}

/// Small blocks: many of them, also on the CPU device.
template <CacheHint hint, unsigned loads>
using Small = Tuning<loads, 32, hint>;

template <class TuningT>
void check_tuning(const std::string& name) {
  for (const std::size_t n : {1u, 33u, 1025u, 9'001u}) {
    for (const std::size_t offset : {0u, 3u}) {
      INFO(name << ", n = " << n << ", x + " << offset);
      const std::vector<float> x = course::position_values<float>(n);
      REQUIRE(reduces_to<TuningT>(x, offset, course::Sum{}, static_cast<float>(sum_reference(x))));
    }
  }
}

/// The rungs that every type has, at every start.
template <class T, class Accumulator>
void check_type(const std::string& name) {
  SumMemory<Accumulator> memory;
  // On the CPU device a few sizes do: float has gone through all of them, and the code is the same.
  const std::vector<std::size_t> few = {0, 33, 1025, 5003};
  for (const std::size_t n : course::kCpuDevice ? few : course::all_sizes()) {
    const std::vector<T> x = course::position_values<T>(n);
    for (const std::size_t offset : starts(n)) {
      for (const auto& rung : sums_of_any_type<T, Accumulator>(name)) {
        INFO(name);
        check_rung(rung, x, offset, memory);
      }
    }
  }
}

}  // namespace

TEST_CASE("a warp adds small integers") {  // pictures of the lesson show this run
  const std::vector<float> x{3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8, 9, 7, 9, 3,
                             2, 3, 8, 4, 6, 2, 6, 4, 3, 3, 8, 3, 2, 7, 9, 5};
  const auto d_x = course::DeviceBuffer<float>::from(x);
  auto d_y = course::DeviceBuffer<float>::zeros(1);
  SumMemory<float> memory;
  course::rung_named(sum_rungs<float>(), "sum_shuffle_down")
      .launch(d_x.data(), x.size(), d_y.data(), memory);
  REQUIRE(course::same(d_y.front(), 155.0f, "y"));
  course::DeviceBuffer<float> d_sums(x.size());
  course::rung_named(kPrefixRungs, "prefix_sum_warp")
      .launch(d_x.data(), x.size(), d_sums.data(), nullptr);
  REQUIRE(course::same(d_sums.download(), prefix_reference(x, 32).inclusive, "sums"));
}

// ---- sums --------------------------------------------------------------------------------------

TEST_CASE("each rung sums every element once, at every size and start, and again") {
  SumMemory<float> memory;
  for (const std::size_t n : course::all_sizes()) {
    const std::vector<float> x = course::position_values<float>(n);  // sums of these are exact
    for (const SumRung<float>& rung : sum_rungs<float>()) {
      const std::vector<std::size_t> one = {n % 2};  // for rungs that read element by element
      for (const std::size_t offset : rung.packs ? starts(n) : one) {
        check_rung(rung, x, offset, memory);
      }
    }
  }
}

TEST_CASE("arrays shorter than head, pack and tail") {
  SumMemory<float> memory;
  for (const std::size_t n : {1u, 2u, 3u, 4u, 5u, 7u, 8u, 9u}) {
    const std::vector<float> x = course::position_values<float>(n);
    for (const std::size_t offset : {1u, 3u}) {
      for (const SumRung<float>& rung : sum_rungs<float>()) {
        if (rung.packs) check_rung(rung, x, offset, memory);
      }
    }
  }
}

TEST_CASE("sum_fixed_point: every size and start, and no launch needs a memset") {
  TwoCells<unsigned long long> cells;
  for (const std::size_t n : course::all_sizes()) {
    std::vector<float> x = course::position_values<float>(n);
    for (std::size_t i = 0; i < n; i += 2) x[i] = -x[i];
    for (const std::size_t offset : starts(n)) {
      const course::Placed<float> d_x(x, offset);
      for (const FixedPointRung& rung : kFixedPointRungs) {
        INFO(rung.name << ", n = " << n << ", x + " << offset);
        REQUIRE(course::same(fixed_point_sum(rung.launch(d_x.data(), n, cells)), sum_reference(x),
                             "the sum"));
      }
    }
  }
}

TEST_CASE("sum_two_warp_reduces takes every block of whole warps") {
  const std::vector<float> x = course::position_values<float>(2500);
  const auto d_x = course::DeviceBuffer<float>::from(x);
  for (const unsigned block : {32u, 64u, 96u, 224u, 512u, 992u, 1024u}) {
    INFO("n = 2500, blocks of " << block);
    course::Placed<float> y({0.0f}, 0);
    course::launch(sum_two_warp_reduces, {course::blocks_for(x.size(), block), block}, d_x.data(),
                   x.size(), y.data());
    REQUIRE(course::same(y.download().front(), static_cast<float>(sum_reference(x)), "y"));
  }
}

TEST_CASE("the rungs of integers add negative ones, too") {
  SumMemory<int> memory;
  auto rungs = sum_rungs<int>();
  rungs.push_back({"sum_pack<int>", "", [](const int* d_x, std::size_t n, int* d_y, auto&) {
                     launch_sum_pack(d_x, n, d_y);
                     return static_cast<const int*>(d_y);
                   }});
  for (const std::size_t n : course::all_sizes()) {
    std::vector<int> x = course::position_values<int>(n);
    for (std::size_t i = 0; i < n; i += 3) x[i] = -2 * x[i];
    for (const SumRung<int>& rung : rungs) check_rung(rung, x, 0, memory);
  }
}

TEST_CASE("every type with its compute type") {
  check_type<float, float>("float");
  check_type<double, double>("double");
  check_type<int, int>("int");
  check_type<unsigned, unsigned>("unsigned");
  check_type<__half, float>("half, in float");
  check_type<unsigned char, unsigned long long>("unsigned char, in 64 bits");
  for (std::size_t offset = 0; offset < 16; ++offset) {
    INFO("61 bytes, x + " << offset);
    const std::vector<unsigned char> x = course::position_values<unsigned char>(61);
    REQUIRE(reduces_to<Small<CacheHint::none, 4>>(
        x, offset, course::Sum{}, static_cast<unsigned long long>(sum_reference(x))));
  }
  STATIC_REQUIRE(std::is_same_v<course::ComputeType<__half>, float>);
}

TEST_CASE("sum_pack_loads: every tuning") {
  check_tuning<TunedForSmall>("TunedForSmall");
  check_tuning<TunedForLarge>("TunedForLarge");
  check_tuning<Small<CacheHint::none, 1>>("1 load");
  check_tuning<Small<CacheHint::none, 2>>("2 loads");
  check_tuning<Small<CacheHint::read_once, 4>>("4 loads, read once");
  check_tuning<Small<CacheHint::no_allocate, 8>>("8 loads, no_allocate");
}

TEST_CASE("a block for every round, and no more than are allowed") {
  using TuningT = Small<CacheHint::none, 4>;  // 128 packs a round
  for (std::size_t packs = 0; packs < 2000; packs = packs < 300 ? packs + 1 : packs + 97) {
    INFO(packs << " packs");
    const std::size_t rounds = (packs + 127) / 128;
    REQUIRE(blocks_for_rounds<TuningT>({0, packs, 0}) == std::max<std::size_t>(rounds, 1));
    REQUIRE(blocks_for_rounds<TuningT>({0, packs, 0}, 3) == std::clamp<std::size_t>(rounds, 1, 3));
  }
}

TEST_CASE("with fewer blocks than rounds, blocks take several") {
  const std::vector<float> x = course::position_values<float>(4099);
  const course::Placed<float> d_x(x, 1);
  const Packs split = split_packs(d_x.data(), x.size());
  for (const unsigned blocks : {1u, 2u, 3u, 7u}) {
    INFO("n = 4099, x + 1, rounds of 64 packs, " << blocks << " blocks");
    Workspace<float> workspace;
    course::GuardedBuffer<float> y(1);
    course::launch(reduce_pack_loads<Small<CacheHint::none, 2>, float, float, course::Sum>,
                   {blocks, 32}, d_x.data(), split, workspace.partials.data(),
                   workspace.ticket.data(), y.data());
    REQUIRE(course::same(y.download().front(), static_cast<float>(sum_reference(x)), "y"));
    REQUIRE(y.intact("y"));
  }
}

TEST_CASE("sum_two_cells: one pair of cells for all sizes, and no launch needs a memset") {
  TwoCells<float> cells;
  TwoCells<unsigned long long> wide;
  for (const std::size_t n : course::all_sizes()) {
    const std::vector<float> x = course::position_values<float>(n);
    const std::vector<unsigned char> bytes = course::position_values<unsigned char>(n);
    for (const std::size_t offset : starts(n)) {
      INFO("n = " << n << ", x + " << offset);
      const course::Placed<float> d_x(x, offset);
      const course::Placed<unsigned char> d_bytes(bytes, offset);
      REQUIRE(course::same(value_at(launch_sum_two_cells(d_x.data(), n, cells)),
                           static_cast<float>(sum_reference(x)), "sum"));
      REQUIRE(course::same(value_at(launch_sum_two_cells(d_bytes.data(), n, wide)),
                           static_cast<unsigned long long>(sum_reference(bytes)), "sum of bytes"));
      REQUIRE(course::same(value_at(cells.sums.data() + cells.zeroed), 0.0f, "the other cell"));
    }
  }
}

TEST_CASE("the maximum: the same kernel, another operation") {
  Workspace<float> workspace;
  Workspace<int> ints;
  for (const std::size_t n : course::all_sizes()) {
    INFO("n = " << n);
    std::vector<float> x = course::position_values<float>(n);
    std::vector<int> k = course::position_values<int>(n);
    for (float& value : x) value = -value;  // all below 0: a forgotten identity shows
    for (int& value : k) value -= 2000;
    const auto d_x = course::DeviceBuffer<float>::from(x);
    const auto d_k = course::DeviceBuffer<int>::from(k);
    course::GuardedBuffer<float> y(1);
    course::GuardedBuffer<int> z(1);
    max_pack_loads(d_x.data(), n, y.data(), workspace);
    max_pack_loads(d_k.data(), n, z.data(), ints);
    const float largest =
        n == 0 ? -std::numeric_limits<float>::infinity() : *std::max_element(x.begin(), x.end());
    const int largest_int =
        n == 0 ? std::numeric_limits<int>::min() : *std::max_element(k.begin(), k.end());
    REQUIRE(course::same(y.download().front(), largest, "y"));
    REQUIRE(course::same(z.download().front(), largest_int, "z"));
    if (n == 0) continue;
    x[n / 2] = std::numeric_limits<float>::quiet_NaN();
    const auto d_nan = course::DeviceBuffer<float>::from(x);
    max_pack_loads(d_nan.data(), n, y.data(), workspace);
    REQUIRE(std::isnan(y.download().front()));
  }
}

// ---- more than 2^31 elements -------------------------------------------------------------------

TEST_CASE("more than 2^31 elements: no index is too short") {
  constexpr std::size_t kElements = (std::size_t{1} << 31) + 77;
  course::skip_without_memory(kElements * sizeof(float));
  {
    INFO("2^31 + 77 bytes of 3, some of them 250");
    course::DeviceBuffer<unsigned char> d_x(kElements);
    d_x.fill_bytes(3);
    const std::vector<std::size_t> places = {
        0, 77, kElements / 2, (std::size_t{1} << 31) - 1, std::size_t{1} << 31, kElements - 1};
    for (const std::size_t place : places) CUDA_CHECK(cudaMemset(d_x.data() + place, 250, 1));
    using Sum = unsigned long long;
    const Sum expected = 3ull * kElements + 247ull * places.size();
    const unsigned char* const first = d_x.data();
    SumMemory<Sum> memory;
    for (const auto& rung : sums_of_any_type<unsigned char, Sum>("of bytes")) {
      INFO(rung.name);
      check_launches(rung, first, kElements, expected, memory);
      INFO("from x + 3 on");
      check_launches(rung, first + 3, kElements - 3, expected - 2 * 3 - 250, memory);
    }
    course::GuardedBuffer<Sum> y(1);
    sum_second_kernel(first, kElements, y.data(), memory.workspace);
    REQUIRE(course::same(y.download().front(), expected, "y of sum_second_kernel"));
  }
  INFO("2^31 + 77 floats of 0, some of them powers of 2");
  auto d_x = course::DeviceBuffer<float>::zeros(kElements);
  float expected = 0.0f;
  std::size_t k = 0;
  for (const std::size_t place : {std::size_t{0}, kElements / 2, (std::size_t{1} << 31) - 1,
                                  std::size_t{1} << 31, kElements - 2, kElements - 1}) {
    const float value = std::ldexp(1.0f, static_cast<int>(++k));
    CUDA_CHECK(cudaMemcpy(d_x.data() + place, &value, sizeof value, cudaMemcpyHostToDevice));
    expected += value;
  }
  SumMemory<float> memory;
  for (const SumRung<float>& rung : sum_rungs<float>()) {
    INFO(rung.name);
    check_launches(rung, static_cast<const float*>(d_x.data()), kElements, expected, memory);
  }
}

// ---- prefix sums -------------------------------------------------------------------------------

TEST_CASE("prefix sums of warps and blocks") {
  for (const std::size_t n : course::all_sizes()) {
    const std::vector<float> x = course::position_values<float>(n);
    const auto d_x = course::DeviceBuffer<float>::from(x);
    for (const PrefixRung& rung : kPrefixRungs) {
      INFO(rung.name << ", n = " << n);
      const PrefixSums expected = prefix_reference(x, rung.of_warps ? 32 : kBlockSize);
      course::GuardedBuffer<float> sums(n), totals(blocks_for(n));
      rung.launch(d_x.data(), n, sums.data(), totals.data());
      REQUIRE(course::same(sums.download(), rung.of_warps ? expected.inclusive : expected.before,
                           "sums"));
      REQUIRE(sums.intact("sums"));
      if (!rung.of_warps) REQUIRE(course::same(totals.download(), expected.totals, "totals"));
      REQUIRE(totals.intact("totals"));
    }
  }
}

TEST_CASE("prefix_block: a running maximum of integers, in every block of whole warps") {
  const std::vector<int> x = course::position_values<int>(3000);
  const auto d_x = course::DeviceBuffer<int>::from(x);
  for (const unsigned block : {32u, 96u, 256u, 1024u}) {
    INFO("n = 3000, blocks of " << block);
    const unsigned blocks = course::blocks_for(x.size(), block);
    std::vector<int> before(x.size()), totals(blocks, std::numeric_limits<int>::min());
    for (std::size_t i = 0; i < x.size(); ++i) {
      before[i] = totals[i / block];
      totals[i / block] = std::max(totals[i / block], x[i]);
    }
    course::GuardedBuffer<int> d_before(x.size()), d_totals(blocks);
    course::launch(prefix_block<int, course::Max>, {blocks, block}, d_x.data(), x.size(),
                   d_before.data(), d_totals.data());
    REQUIRE(course::same(d_before.download(), before, "before"));
    REQUIRE(course::same(d_totals.download(), totals, "totals"));
  }
}
