// Every rung of this chapter is right at every awkward size and start, and what is wrong on purpose
// is wrong in the way that the lesson says.
#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <course/check.cuh>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <set>
#include <string>
#include <type_traits>
#include <vector>

#include "block_reduce.cuh"
#include "compute_type.cuh"
#include "finish.cuh"
#include "loads_in_flight.cuh"
#include "pack_reduce.cuh"
#include "prefix_sum.cuh"
#include "warp_reduce.cuh"
#include "wrong.cuh"

namespace {

using course::CacheHint;

/// A rung that adds to *d_y, and what it is called.
struct Adder {
  std::string name;
  void (*launch)(const float*, std::size_t, float*, cudaStream_t);
};

void two_warp_reduces(const float* d_x, std::size_t n, float* d_y, cudaStream_t stream) {
  sum_two_warp_reduces(d_x, n, d_y, stream);
}

/// Rungs that read element by element: any start is aligned.
const std::vector<Adder> kElementAdders = {
    {"sum_syncwarp_tree", sum_syncwarp_tree},   {"sum_shuffle_down", sum_shuffle_down},
    {"sum_shuffle_xor", sum_shuffle_xor},       {"sum_cooperative_groups", sum_cooperative_groups},
    {"sum_two_warp_reduces", two_warp_reduces}, {"sum_grid_stride", sum_grid_stride},
};
/// Rungs that read 16 bytes at a time.
const std::vector<Adder> kPackAdders = {
    {"sum_pack", sum_pack<float>},
    {"sum_loads_in_flight", sum_loads_in_flight<TunedForLarge, float>},
};

/// Rungs that set *d_y.
struct Setter {
  std::string name;
  void (*launch)(const float*, std::size_t, float*, Workspace<float>&, cudaStream_t);
};
void loads_and_memset(const float* d_x, std::size_t n, float* d_y, Workspace<float>&,
                      cudaStream_t stream) {
  sum_loads_and_memset(d_x, n, d_y, stream);
}
const std::vector<Setter> kSetters = {
    {"sum_loads_and_memset", loads_and_memset},
    {"sum_second_kernel", sum_second_kernel<TunedForLarge, float, float>},
    {"sum_pack_loads", sum_pack_loads<float, float>},
};

/// n elements in device memory that begin `offset` elements behind an address of 256 bytes. What
/// stands in front is never written: to read it is an error.
template <class T>
struct Misaligned {
  Misaligned(const std::vector<T>& x, std::size_t offset)
      : memory(x.size() + offset), first(memory.data() + offset) {
    if (!x.empty()) {
      CUDA_CHECK(cudaMemcpy(first, x.data(), x.size() * sizeof(T), cudaMemcpyHostToDevice));
    }
  }
  course::DeviceBuffer<T> memory;
  T* first;
};

template <class T>
course::GuardedBuffer<T> output(std::size_t n, T value) {
  course::GuardedBuffer<T> buffer(n);
  const std::vector<T> values(n, value);
  CUDA_CHECK(cudaMemcpy(buffer.data(), values.data(), buffer.bytes(), cudaMemcpyHostToDevice));
  return buffer;
}

/// Starts of an array: on and off a multiple of 16 bytes. On the CPU device, where blocks of 1024
/// threads are slow, another one for each size.
std::vector<std::size_t> starts(std::size_t n) {
  if (course::kCpuDevice) return {n % 4};
  return {0, 1, 3};
}

/// What stands at an address of device memory; waits for the kernels before it.
template <class T>
T value_at(const T* d_value) {
  T value;
  CUDA_CHECK(cudaMemcpy(&value, d_value, sizeof value, cudaMemcpyDeviceToHost));
  return value;
}

void check_adder(const Adder& rung, const std::vector<float>& x, std::size_t offset) {
  INFO(rung.name << ", n = " << x.size() << ", the array begins " << 4 * offset
                 << " bytes behind a multiple of 256");
  const Misaligned<float> d_x(x, offset);
  auto y = output(1, 0.5f);
  rung.launch(d_x.first, x.size(), y.data(), nullptr);
  rung.launch(d_x.first, x.size(), y.data(), nullptr);
  REQUIRE(course::same(y.download().front(), static_cast<float>(2 * sum_reference(x)) + 0.5f,
                       "y after two launches"));
  REQUIRE(y.intact("y"));
}

void check_setter(const Setter& rung, const std::vector<float>& x, std::size_t offset,
                  Workspace<float>& workspace) {
  INFO(rung.name << ", n = " << x.size() << ", the array begins " << 4 * offset
                 << " bytes behind a multiple of 256");
  const Misaligned<float> d_x(x, offset);
  course::GuardedBuffer<float> y(1);
  for (int launch = 0; launch < 2; ++launch) {
    y.fill_bytes(0xFF);  // a NaN, which an addition would keep
    rung.launch(d_x.first, x.size(), y.data(), workspace, nullptr);
    REQUIRE(course::same(y.download().front(), static_cast<float>(sum_reference(x)), "y"));
    REQUIRE(y.intact("y"));
    REQUIRE(course::same(workspace.ticket.front(), 0u, "ticket after the launch"));
  }
}

/// A reduction by the top rung with a Tuning of the test's.
template <class TuningT, class T, class Operation, class Accumulator>
course::Verdict reduces_to(const std::vector<T>& x, std::size_t offset, Operation op,
                           Accumulator expected) {
  const Misaligned<T> d_x(x, offset);
  Workspace<Accumulator> workspace;
  course::GuardedBuffer<Accumulator> y(1);
  launch_pack_loads<TuningT>(static_cast<const T*>(d_x.first), x.size(), y.data(), op, workspace,
                             nullptr);
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

template <class T, class Accumulator>
void check_type(const std::string& name) {
  Workspace<Accumulator> workspace;
  // On the CPU device a few sizes do: float has gone through all of them, and the code is the same.
  const std::vector<std::size_t> few = {0, 33, 1025, 5003};
  for (const std::size_t n : course::kCpuDevice ? few : course::all_sizes()) {
    const std::vector<T> x = course::position_values<T>(n);
    for (const std::size_t offset : starts(n)) {
      INFO("sum_pack_loads of " << name << ", n = " << n << ", x + " << offset);
      const Misaligned<T> d_x(x, offset);
      course::GuardedBuffer<Accumulator> y(1);
      sum_pack_loads(static_cast<const T*>(d_x.first), n, y.data(), workspace, nullptr);
      REQUIRE(course::same(y.download().front(), static_cast<Accumulator>(sum_reference(x)), "y"));
      REQUIRE(y.intact("y"));
    }
  }
}

}  // namespace

// ---- sums that are added to *d_y ---------------------------------------------------------------

TEST_CASE("rungs that read elements add every one once") {
  for (const std::size_t n : course::all_sizes()) {
    const std::vector<float> x = course::position_values<float>(n);  // sums of these are exact
    for (const Adder& rung : kElementAdders) check_adder(rung, x, n % 2);
  }
}

TEST_CASE("rungs that read packs add every element once, wherever the array begins") {
  for (const std::size_t n : course::all_sizes()) {
    const std::vector<float> x = course::position_values<float>(n);
    for (const std::size_t offset : starts(n)) {
      for (const Adder& rung : kPackAdders) check_adder(rung, x, offset);
    }
  }
}

TEST_CASE("arrays shorter than head, pack and tail") {
  Workspace<float> workspace;
  for (const std::size_t n : {1u, 2u, 3u, 4u, 5u, 7u, 8u, 9u}) {
    const std::vector<float> x = course::position_values<float>(n);
    for (const std::size_t offset : {1u, 3u}) {
      for (const Adder& rung : kPackAdders) check_adder(rung, x, offset);
      for (const Setter& rung : kSetters) check_setter(rung, x, offset, workspace);
    }
  }
}

TEST_CASE("sum_two_warp_reduces takes every block of whole warps") {
  const std::vector<float> x = course::position_values<float>(2500);
  const auto d_x = course::DeviceBuffer<float>::from(x);
  for (const unsigned block : {32u, 64u, 96u, 224u, 512u, 992u, 1024u}) {
    INFO("n = 2500, blocks of " << block);
    auto y = output(1, 0.0f);
    sum_two_warp_reduces(d_x.data(), x.size(), y.data(), nullptr, block);
    REQUIRE(course::same(y.download().front(), static_cast<float>(sum_reference(x)), "y"));
  }
}

TEST_CASE("sum_reduce_add_sync and the packs add integers, negative ones, too") {
  for (const std::size_t n : course::all_sizes()) {
    INFO("n = " << n);
    std::vector<int> x = course::position_values<int>(n);
    for (std::size_t i = 0; i < n; i += 3) x[i] = -2 * x[i];
    const auto d_x = course::DeviceBuffer<int>::from(x);
    auto y = output(1, 7), packs = output(1, 7);
    sum_reduce_add_sync(d_x.data(), n, y.data(), nullptr);
    sum_pack(d_x.data(), n, packs.data(), nullptr);
    const int expected = 7 + static_cast<int>(sum_reference(x));
    REQUIRE(course::same(y.download().front(), expected, "y"));
    REQUIRE(course::same(packs.download().front(), expected, "y of sum_pack"));
    REQUIRE(y.intact("y"));
  }
}

// ---- sums that *d_y is set to ------------------------------------------------------------------

TEST_CASE("rungs that set the sum do so at every size, and again") {
  Workspace<float> workspace;
  for (const std::size_t n : course::all_sizes()) {
    const std::vector<float> x = course::position_values<float>(n);
    for (const std::size_t offset : starts(n)) {
      for (const Setter& rung : kSetters) check_setter(rung, x, offset, workspace);
    }
  }
}

TEST_CASE("sum_pack_loads: every type with its compute type") {
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
  check_tuning<TunedForLarge>("TunedForLarge");
  check_tuning<Small<CacheHint::none, 1>>("1 load");
  check_tuning<Small<CacheHint::none, 2>>("2 loads");
  check_tuning<Small<CacheHint::streaming, 4>>("4 loads, streaming");
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
  const Misaligned<float> d_x(x, 1);
  const Packs split = split_packs(static_cast<const float*>(d_x.first), x.size());
  for (const unsigned blocks : {1u, 2u, 3u, 7u}) {
    INFO("n = 4099, x + 1, rounds of 64 packs, " << blocks << " blocks");
    Workspace<float> workspace;
    course::GuardedBuffer<float> y(1);
    reduce_pack_loads<Small<CacheHint::none, 2>, float, float, course::Sum><<<blocks, 32>>>(
        d_x.first, split, workspace.partials.data(), workspace.ticket.data(), y.data());
    CUDA_CHECK_LAUNCH();
    REQUIRE(course::same(y.download().front(), static_cast<float>(sum_reference(x)), "y"));
    REQUIRE(y.intact("y"));
  }
}

TEST_CASE("sum_two_cells: launch after launch, nobody zeroes anything") {
  TwoCells<float> cells;
  TwoCells<unsigned long long> wide;
  for (const std::size_t n : course::all_sizes()) {
    const std::vector<float> x = course::position_values<float>(n);
    const std::vector<unsigned char> bytes = course::position_values<unsigned char>(n);
    for (const std::size_t offset : starts(n)) {
      INFO("n = " << n << ", x + " << offset);
      const Misaligned<float> d_x(x, offset);
      const Misaligned<unsigned char> d_bytes(bytes, offset);
      const float* const d_sum =
          sum_two_cells(static_cast<const float*>(d_x.first), n, cells, nullptr);
      REQUIRE(course::same(value_at(d_sum), static_cast<float>(sum_reference(x)), "sum"));
      REQUIRE(course::same(value_at(sum_two_cells(static_cast<const unsigned char*>(d_bytes.first),
                                                  n, wide, nullptr)),
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
    max_pack_loads(d_x.data(), n, y.data(), workspace, nullptr);
    max_pack_loads(d_k.data(), n, z.data(), ints, nullptr);
    const float largest =
        n == 0 ? -std::numeric_limits<float>::infinity() : *std::max_element(x.begin(), x.end());
    const int largest_int =
        n == 0 ? std::numeric_limits<int>::min() : *std::max_element(k.begin(), k.end());
    REQUIRE(course::same(y.download().front(), largest, "y"));
    REQUIRE(course::same(z.download().front(), largest_int, "z"));
    if (n == 0) continue;
    x[n / 2] = std::numeric_limits<float>::quiet_NaN();
    const auto d_nan = course::DeviceBuffer<float>::from(x);
    max_pack_loads(d_nan.data(), n, y.data(), workspace, nullptr);
    REQUIRE(std::isnan(y.download().front()));
  }
}

TEST_CASE("sum_pack_loads gives the same bits in every run, an atomic finish need not") {
  std::vector<float> x(6'000);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = 1.0f / static_cast<float>(i + 1);
  const auto d_x = course::DeviceBuffer<float>::from(x);
  Workspace<float> workspace;
  std::set<float> by_last_block, by_atomics;
  for (std::uint64_t seed = 0; seed < 4; ++seed) {
    course::with_seed(seed, [&] {
      course::GuardedBuffer<float> y(1);
      launch_pack_loads<Small<CacheHint::none, 2>>(static_cast<const float*>(d_x.data()), x.size(),
                                                   y.data(), course::Sum{}, workspace, nullptr);
      by_last_block.insert(y.download().front());
      auto z = output(1, 0.0f);
      sum_shuffle_down(d_x.data(), x.size(), z.data(), nullptr);
      by_atomics.insert(z.download().front());
    });
  }
  REQUIRE(by_last_block.size() == 1);
  REQUIRE(course::close(*by_last_block.begin(), sum_reference(x), course::sum_tolerance(x), "y"));
  if (course::kCpuDevice) REQUIRE(by_atomics.size() > 1);  // a GPU's order cannot be chosen
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
    const unsigned long long expected = 3ull * kElements + 247ull * places.size();
    Workspace<unsigned long long> workspace;
    course::GuardedBuffer<unsigned long long> y(1);
    sum_pack_loads(static_cast<const unsigned char*>(d_x.data()), kElements, y.data(), workspace,
                   nullptr);
    REQUIRE(course::same(y.download().front(), expected, "y"));
    sum_second_kernel(static_cast<const unsigned char*>(d_x.data()), kElements, y.data(), workspace,
                      nullptr);
    REQUIRE(course::same(y.download().front(), expected, "y of sum_second_kernel"));
    sum_pack_loads(static_cast<const unsigned char*>(d_x.data() + 3), kElements - 3, y.data(),
                   workspace, nullptr);
    REQUIRE(course::same(y.download().front(), expected - 2 * 3 - 250, "y, from x + 3 on"));
    TwoCells<unsigned long long> cells;
    const auto* const d_sum =
        sum_two_cells(static_cast<const unsigned char*>(d_x.data()), kElements, cells, nullptr);
    REQUIRE(course::same(value_at(d_sum), expected, "sum of sum_two_cells"));
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
  std::vector<Adder> adders = kElementAdders;
  adders.insert(adders.end(), kPackAdders.begin(), kPackAdders.end());
  for (const Adder& rung : adders) {
    INFO(rung.name);
    auto y = output(1, 0.0f);
    rung.launch(d_x.data(), kElements, y.data(), nullptr);
    REQUIRE(course::same(y.download().front(), expected, "y"));
  }
  Workspace<float> workspace;
  for (const Setter& rung : kSetters) {
    INFO(rung.name);
    course::GuardedBuffer<float> y(1);
    rung.launch(d_x.data(), kElements, y.data(), workspace, nullptr);
    REQUIRE(course::same(y.download().front(), expected, "y"));
  }
  TwoCells<float> cells;
  const float* const d_sum =
      sum_two_cells(static_cast<const float*>(d_x.data()), kElements, cells, nullptr);
  REQUIRE(course::same(value_at(d_sum), expected, "sum of sum_two_cells"));
}

// ---- what single lanes hold --------------------------------------------------------------------

TEST_CASE("warp_sum_down leaves the sum in lane 0 alone, warp_sum_xor in all lanes") {
  const std::vector<float> x = course::position_values<float>(1024);
  const auto d_x = course::DeviceBuffer<float>::from(x);
  course::GuardedBuffer<float> down(x.size()), all(x.size());
  lane_sums_down(d_x.data(), x.size(), down.data(), nullptr);
  lane_sums_xor(d_x.data(), x.size(), all.data(), nullptr);
  std::vector<float> expected_down = x, expected_all(x.size());
  std::size_t right = 0;  // of the lanes other than 0
  for (std::size_t first = 0; first < x.size(); first += 32) {
    float* const lanes = expected_down.data() + first;
    for (std::size_t distance = 16; distance > 0; distance /= 2) {
      for (std::size_t l = 0; l < 32; ++l) {  // upwards: lane l + distance still has its old value
        lanes[l] += l + distance < 32 ? lanes[l + distance] : lanes[l];
      }
    }
    float sum = 0.0f;
    for (std::size_t l = 0; l < 32; ++l) sum += x[first + l];
    REQUIRE(lanes[0] == sum);
    for (std::size_t l = 0; l < 32; ++l) {
      expected_all[first + l] = sum;
      right += l > 0 && lanes[l] == sum ? 1 : 0;
    }
  }
  REQUIRE(course::same(down.download(), expected_down, "what the lanes hold after shfl_down"));
  REQUIRE(course::same(all.download(), expected_all, "what the lanes hold after shfl_xor"));
  INFO(right << " of " << x.size() - x.size() / 32 << " other lanes have the sum, by chance");
  REQUIRE(right < x.size() / 20);
}

// ---- compute types -----------------------------------------------------------------------------

TEST_CASE("half stands still at 2048, and ends at 65504; float does neither") {
  const auto ones = course::DeviceBuffer<__half>::from(std::vector<__half>(4096, __half(1.0f)));
  const auto large = course::DeviceBuffer<__half>::from(std::vector<__half>(64, __half(1024.0f)));
  auto y = output(1, 0.0f);
  sum_in_order<__half>(ones.data(), 4096, y.data(), nullptr);
  REQUIRE(course::same(y.download().front(), kHalfStagnatesAt, "4096 ones in half"));
  sum_in_order<float>(ones.data(), 4096, y.data(), nullptr);
  REQUIRE(course::same(y.download().front(), 4096.0f, "4096 ones in float"));
  sum_in_order<__half>(large.data(), 64, y.data(), nullptr);
  REQUIRE(std::isinf(y.download().front()));  // 65536 is above the largest half, 65504
  sum_in_order<float>(large.data(), 64, y.data(), nullptr);
  REQUIRE(course::same(y.download().front(), 65536.0f, "64 times 1024 in float"));
  sum_in_order<float>(ones.data(), 0, y.data(), nullptr);
  REQUIRE(course::same(y.download().front(), 0.0f, "nothing"));
  Workspace<float> workspace;
  sum_pack_loads(static_cast<const __half*>(ones.data()), 4096, y.data(), workspace, nullptr);
  REQUIRE(course::same(y.download().front(), 4096.0f, "4096 ones by sum_pack_loads"));
}

// ---- prefix sums -------------------------------------------------------------------------------

TEST_CASE("prefix sums of warps and blocks") {
  for (const std::size_t n : course::all_sizes()) {
    INFO("n = " << n);
    const std::vector<float> x = course::position_values<float>(n);
    const auto d_x = course::DeviceBuffer<float>::from(x);
    const std::size_t blocks = blocks_for(n);
    std::vector<float> warp_sums(n), before(n), totals(blocks, 0.0f);
    for (std::size_t i = 0; i < n; ++i) {
      warp_sums[i] = x[i] + (i % 32 == 0 ? 0.0f : warp_sums[i - 1]);
      before[i] = totals[i / kBlockSize];
      totals[i / kBlockSize] += x[i];
    }
    course::GuardedBuffer<float> sums(n), d_before(n), d_totals(blocks);
    prefix_sum_warp(d_x.data(), n, sums.data(), nullptr);
    REQUIRE(course::same(sums.download(), warp_sums, "sums"));
    REQUIRE(sums.intact("sums"));
    prefix_sum_block(d_x.data(), n, d_before.data(), d_totals.data(), nullptr);
    REQUIRE(course::same(d_before.download(), before, "before"));
    REQUIRE(course::same(d_totals.download(), totals, "totals"));
    REQUIRE(d_before.intact("before"));
    REQUIRE(d_totals.intact("totals"));
    d_before.fill_bytes(0xFF);
    d_totals.fill_bytes(0xFF);
    prefix_block<course::Sum>(d_x.data(), n, d_before.data(), d_totals.data(), nullptr);
    REQUIRE(course::same(d_before.download(), before, "before, by prefix_block"));
    REQUIRE(course::same(d_totals.download(), totals, "totals, by prefix_block"));
  }
}

TEST_CASE("prefix_block: a running maximum of integers, in every block of whole warps") {
  const std::vector<int> x = course::position_values<int>(3000);
  const auto d_x = course::DeviceBuffer<int>::from(x);
  for (const unsigned block : {32u, 96u, 256u, 1024u}) {
    INFO("n = 3000, blocks of " << block);
    const std::size_t blocks = (x.size() + block - 1) / block;
    constexpr int kLowest = std::numeric_limits<int>::min();
    std::vector<int> before(x.size()), totals(blocks, kLowest);
    for (std::size_t i = 0; i < x.size(); ++i) {
      before[i] = totals[i / block];
      totals[i / block] = std::max(totals[i / block], x[i]);
    }
    course::GuardedBuffer<int> d_before(x.size()), d_totals(blocks);
    prefix_block<course::Max>(d_x.data(), x.size(), d_before.data(), d_totals.data(), nullptr,
                              block);
    REQUIRE(course::same(d_before.download(), before, "before"));
    REQUIRE(course::same(d_totals.download(), totals, "totals"));
  }
}

// ---- what is counted ---------------------------------------------------------------------------

TEST_CASE("what the rungs cost, counted") {
  course::skip_without_counters();
  constexpr std::size_t kN = 4096, kBlocks = kN / kBlockSize, kWarps = kN / 32;
  const std::vector<float> x = course::position_values<float>(kN);
  const auto d_x = course::DeviceBuffer<float>::from(x);
  course::DeviceBuffer<float> y(1);
  const auto counted = [&](const std::function<void()>& launch) {
    y.fill_bytes(0);
    return *course::count(launch);
  };
  using Launcher = void (*)(const float*, std::size_t, float*, cudaStream_t);
  const auto of = [&](Launcher rung) {
    return counted([&] { rung(d_x.data(), kN, y.data(), nullptr); });
  };

  const course::Counters tree = of(sum_syncwarp_tree);
  CHECK(course::same(tree.barriers, 4 * kBlocks, "barriers of sum_syncwarp_tree"));
  CHECK(course::same(tree.warp_barriers, 5 * kBlocks, "its warp barriers"));
  CHECK(course::same(tree.global_atomics, kBlocks, "its atomics"));
  CHECK(course::same(tree.bank_conflicts(), 0, "its bank conflicts"));

  for (const Launcher rung :
       {Launcher{sum_shuffle_down}, Launcher{sum_shuffle_xor}, Launcher{sum_cooperative_groups}}) {
    const course::Counters shuffle = of(rung);
    CHECK(course::same(shuffle.shared_loads + shuffle.shared_stores, 0, "use of shared memory"));
    CHECK(course::same(shuffle.barriers + shuffle.warp_barriers, 0, "barriers of a warp's sum"));
    CHECK(course::same(shuffle.global_atomics, kWarps, "atomics of a warp's sum"));
  }

  const course::Counters block = of(two_warp_reduces);
  CHECK(course::same(block.barriers, kBlocks, "barriers of sum_two_warp_reduces"));
  CHECK(course::same(block.global_atomics, kBlocks, "its atomics"));
  CHECK(course::same(block.shared_stores, kWarps, "its stores to shared memory"));

  CHECK(course::same(of(sum_grid_stride).global_loads, kWarps, "loads of sum_grid_stride"));
  const course::Counters pack = of(sum_pack<float>);
  CHECK(course::same(pack.global_loads, kWarps / 4, "loads of sum_pack"));
  CHECK(course::same(pack.global_load_sectors, 4 * kN / 32, "its sectors"));

  Workspace<float> workspace;
  const course::Counters top = counted([&] {
    sum_pack_loads(static_cast<const float*>(d_x.data()), kN, y.data(), workspace, nullptr);
  });
  CHECK(course::same(top.launches, 1, "launches of sum_pack_loads"));
  CHECK(course::same(top.global_atomics, top.blocks, "its atomics: a ticket for each block"));
  CHECK(top.global_load_sectors <= 4 * kN / 32 + 2 * top.blocks);
  const course::Counters two = counted([&] {
    sum_second_kernel(static_cast<const float*>(d_x.data()), kN, y.data(), workspace, nullptr);
  });
  CHECK(course::same(two.launches, 2, "launches of sum_second_kernel"));
  CHECK(course::same(two.global_atomics, 0, "its atomics"));
}

// ---- wrong on purpose --------------------------------------------------------------------------

TEST_CASE("a tree's tail without __syncwarp races") {
  const std::vector<float> x = course::position_values<float>(1000);
  const auto d_x = course::DeviceBuffer<float>::from(x);
  auto y = course::DeviceBuffer<float>::zeros(1);
  course::Findings findings;
  REQUIRE(course::expect_race(
      [&] {
        sum_tail_without_syncwarp(d_x.data(), x.size(), y.data(), nullptr);
        y.front();
      },
      &findings));
  if (findings.checked) {
    INFO(findings.texts.front());
    REQUIRE(findings.texts.front().find("wrong.cuh") != std::string::npos);
  }
}

TEST_CASE("two block reductions without a barrier between them race") {
  const std::vector<float> x = course::position_values<float>(1000);
  const auto d_x = course::DeviceBuffer<float>::from(x);
  auto y = course::DeviceBuffer<float>::zeros(2);
  course::Findings findings;
  REQUIRE(course::expect_race(
      [&] {
        sums_without_second_barrier(d_x.data(), x.size(), y.data(), nullptr);
        y.front();
      },
      &findings));
  if (findings.checked) {
    INFO(findings.texts.front());
    REQUIRE(findings.texts.front().find("s_warp") != std::string::npos);
  }
}

TEST_CASE("the result of __shfl_down_sync is wrong in lane 1") {
  const std::vector<float> x = course::position_values<float>(1024);
  const auto d_x = course::DeviceBuffer<float>::from(x);
  auto y = output(1, 0.0f);
  sum_down_by_lane_1(d_x.data(), x.size(), y.data(), nullptr);
  INFO("the sum is " << sum_reference(x) << ", and lane 1 gave " << y.download().front());
  REQUIRE(y.download().front() != static_cast<float>(sum_reference(x)));
}

TEST_CASE("a shuffle whose mask names lanes that stay away never ends") {
  course::skip_without_checker();  // a GPU may hang
  const std::vector<float> x = course::position_values<float>(40);
  const auto d_x = course::DeviceBuffer<float>::from(x);
  auto y = course::DeviceBuffer<float>::zeros(1);
  const course::Findings findings = course::find_races([&] {
    sum_divergent_shuffle(d_x.data(), x.size(), y.data(), nullptr);
    CUDA_CHECK(cudaDeviceSynchronize());
  });
  REQUIRE(findings.races == 0);
  REQUIRE(findings.others > 0);
  INFO(findings.texts.front());
  REQUIRE(findings.texts.front().find("__shfl_down_sync") != std::string::npos);
}
