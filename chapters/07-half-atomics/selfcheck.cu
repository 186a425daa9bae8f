// Every rung of this chapter is right at every awkward size, and what is wrong on purpose is wrong
// in the way that the lesson says.
#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <course/check.cuh>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <string>
#include <type_traits>
#include <vector>

#include "add_half.cuh"
#include "add_half2.cuh"
#include "article.cuh"
#include "cas16.cuh"
#include "half_bits.cuh"
#include "pack.cuh"
#include "packing_ways.cuh"
#include "stagnation.cuh"
#include "table.cuh"

namespace half_atomics {

template <class T>
using AddToTable = void (*)(const T*, std::size_t, std::size_t, T*, cudaStream_t);

/// A rung that adds to a table.
template <class T>
struct Rung {
  std::string name;
  AddToTable<T> add;
  std::vector<std::size_t> starts;  // elements behind a multiple of 256 bytes, where tables begin
};

/// The launchers have their kernels' names; a function pointer asks for one of the two.
template <class T>
Rung<T> rung(std::string name, AddToTable<T> add, std::vector<std::size_t> starts) {
  return {std::move(name), add, std::move(starts)};
}

const std::vector<Rung<__half>> kHalfRungs = {
    rung<__half>("add_half", add_half, {0, 1}),
    rung<__half>("add_half_cas", add_half_cas, {0, 1}),
    rung<__half>("add_half_cas16", add_half_cas16, {0, 1}),
    rung<__half>("add_padded_pair", add_padded_pair, {0, 1}),
    rung<__half>("add_half2", add_half2, {0, 2}),
    rung<__half>("red_half2", red_half2, {0, 2}),
    rung<__half>("red_half8", red_half8, {0, 1, 2, 3, 4, 8}),
    rung<__half>("add_packs<__half, 1>", add_packs<__half, 1>, {0, 1}),
    rung<__half>("add_packs<__half, 2>", add_packs<__half, 2>, {0, 2}),
    rung<__half>("add_packs<__half, 8>", add_packs<__half, 8>, {0, 8}),
};
const std::vector<Rung<__nv_bfloat16>> kBfloat16Rungs = {
    rung<__nv_bfloat16>("add_packs<__nv_bfloat16, 1>", add_packs<__nv_bfloat16, 1>, {0, 1}),
    rung<__nv_bfloat16>("add_packs<__nv_bfloat16, 2>", add_packs<__nv_bfloat16, 2>, {0, 2}),
};
const std::vector<Rung<float>> kFloatRungs = {
    rung<float>("add_packs<float, 1>", add_packs<float, 1>, {0, 1}),
    rung<float>("add_packs<float, 4>", add_packs<float, 4>, {0, 4}),
};

/// 0 and 1 in an order without a pattern: counts of them are exact up to 2^11 in half, and up to
/// 2^8 in bfloat16.
template <class T>
std::vector<T> zeros_and_ones(std::size_t n) {
  std::vector<T> x(n);
  const std::vector<int> random = course::position_values<int>(n);
  for (std::size_t i = 0; i < n; ++i) x[i] = T(random[i] > 500 ? 1.0f : 0.0f);
  return x;
}

/// Adds x to a table of `rows` rows, `start` elements behind a multiple of 256 bytes, twice. All
/// sums are exact, so each cell must be; what lies around the table must keep its bits.
template <class T>
void check_table(const Rung<T>& rung, const std::vector<T>& x, std::size_t rows,
                 std::size_t start) {
  INFO(rung.name << ", n = " << x.size() << ", " << rows << " rows, the table begins "
                 << start * sizeof(T) << " bytes behind a multiple of 256");
  const std::size_t cells = rows * kRow;
  const auto d_x = course::DeviceBuffer<T>::from(x);
  course::GuardedBuffer<T> memory(start + cells + start);
  std::vector<T> before(start + cells + start, T(-0.0f));  // around the table: minus zeros
  std::vector<double> expected = table_reference(x, rows);
  for (std::size_t c = 0; c < cells; ++c) {
    before[start + c] = c % 3 == 0 ? T(-0.0f) : T(static_cast<float>(c % 3));
    expected[c] = 2 * expected[c] + static_cast<double>(c % 3);
  }
  std::vector<bool> alone(cells, true);  // nothing is added to it, not even 0.0
  for (std::size_t i = 0; i < x.size(); ++i) alone[cell_of(i, rows - 1)] = false;
  CUDA_CHECK(cudaMemcpy(memory.data(), before.data(), memory.bytes(), cudaMemcpyHostToDevice));
  rung.add(d_x.data(), x.size(), rows, memory.data() + start, nullptr);
  rung.add(d_x.data(), x.size(), rows, memory.data() + start, nullptr);
  const std::vector<T> after = memory.download();
  const auto first = after.begin() + static_cast<std::ptrdiff_t>(start);
  const std::vector<T> table(first, first + static_cast<std::ptrdiff_t>(cells));
  REQUIRE(course::close(table, expected, 0.0, "table"));
  for (std::size_t c = 0; c < cells; ++c) {
    if (alone[c]) REQUIRE(std::memcmp(&after[start + c], &before[start + c], sizeof(T)) == 0);
  }
  for (std::size_t k = 0; k < start; ++k) {
    REQUIRE(std::memcmp(&after[k], &before[k], sizeof(T)) == 0);
    REQUIRE(std::memcmp(&after[start + cells + k], &before[k], sizeof(T)) == 0);
  }
  REQUIRE(memory.intact("table"));
}

/// Every size and start in a table so large that sums stay exact; and many threads at few cells.
template <class T>
void check_rung(const Rung<T>& rung) {
  const std::vector<std::size_t> sizes = course::all_sizes();
  for (std::size_t k = 0; k < sizes.size(); ++k) {
    const std::size_t n = sizes[k];
    std::size_t rows = 1;
    while (rows * kRow * 4 < n) rows *= 2;  // at most 8 elements of at most 15/8 a cell
    // On the CPU device another start for each size; all of them where it is short.
    for (std::size_t s = 0; s < rung.starts.size(); ++s) {
      if (course::kCpuDevice && n > 64 && s != k % rung.starts.size()) continue;
      check_table(rung, course::position_values<T>(n), rows, rung.starts[s]);
    }
  }
  const std::size_t n = std::is_same_v<T, __nv_bfloat16> ? 1'025 : 4'099;
  check_table(rung, zeros_and_ones<T>(n), 1, rung.starts.back());
}

// ---- kernels that only the checks need ---------------------------------------------------------

/// Element i gets the minimum of itself and values[i]; what was there goes to returned[i].
__global__ void min_each(const __half* values, std::size_t n, std::size_t step, __half* x,
                         __half* returned) {
  const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < n) returned[i] = atomic_min_half(&x[step * i], values[i]);
}

/// Threads of a block bring values to both halves of a word of shared memory.
__global__ void min_shared(const __half* values, unsigned n, const __half* start, __half* left,
                           __half* returned) {
  __shared__ __align__(4) __half s_x[4];
  if (threadIdx.x < 4) s_x[threadIdx.x] = start[threadIdx.x];
  __syncthreads();
  if (threadIdx.x < n) {
    returned[threadIdx.x] = atomic_min_half(&s_x[threadIdx.x % 2], values[threadIdx.x]);
  }
  __syncthreads();
  if (threadIdx.x < 4) left[threadIdx.x] = s_x[threadIdx.x];
}

/// All threads add 1 to x[place]; which function does it?
enum class How { atomic_add, cas, cas16, padded };
__global__ void add_one_to(How how, std::size_t n, __half* x, __half* returned) {
  const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const __half one = __float2half(1.0f);
  const auto plus_one = [=](__half old) { return old + one; };
  if (how == How::atomic_add) returned[i] = atomicAdd(x, one);
  if (how == How::cas) returned[i] = atomic_update_half(x, plus_one);
  if (how == How::cas16) returned[i] = atomic_update_half_cas16(x, plus_one);
  if (how == How::padded) add_to_one_of_pair(x, one);
}

/// Every thread adds (1, 2) to one pair and keeps what it found.
__global__ void add_one_two(std::size_t n, __half2* x, __half2* returned) {
  const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < n) returned[i] = atomicAdd(x, __floats2half2_rn(1.0f, 2.0f));
}

__global__ void add_pair_once(__half2* x, __half2 v) { atomicAdd(x, v); }
__global__ void add_half_once(__half* x, __half v) { atomicAdd(x, v); }
__global__ void add_eight_once(__half* x, course::Pack<__half, 8> v) { red_add_eight(x, v); }
__global__ void add_to_all_once(course::Pack<__half, 2>* x, __half v) { atomic_add_to_all(x, v); }

/// x[0] + value by atomicAdd on global and on shared memory.
__global__ void add_in_both(__half value, __half* x, __half* y) {
  __shared__ __align__(4) __half s_x[2];
  s_x[0] = y[0], s_x[1] = y[1];  // one thread: no barrier needed
  atomicAdd(x, value);
  atomicAdd(&s_x[0], value);
  y[0] = s_x[0];
}

// ---- helpers -----------------------------------------------------------------------------------

/// Zeros of both signs, subnormals, numbers, infinities, and NaN of several kinds.
const std::vector<Bits> kAwkward = {0x0000, 0x8000, 0x0001, 0x8001, 0x3C00, 0xBC00, 0x3C01, 0x7BFF,
                                    0xFBFF, 0x7C00, 0xFC00, 0x7FFF, 0x7E00, 0xFE00, 0x7D01, 0xFFFF};

/// The smaller one: a NaN loses, and -0.0 is below 0.0.
Bits minimum(Bits a, Bits b) {
  const auto position = [](Bits bits) {
    if (is_nan(bits)) return 0x10000;
    const int magnitude = bits & 0x7FFF;
    return (bits & 0x8000) != 0 ? -1 - magnitude : magnitude;
  };
  return position(b) < position(a) ? b : a;
}

std::vector<__half> halves(const std::vector<Bits>& bits) {
  std::vector<__half> x(bits.size());
  if (!bits.empty()) std::memcpy(static_cast<void*>(x.data()), bits.data(), 2 * bits.size());
  return x;
}

__half half_of(Bits bits) { return halves({bits}).front(); }

/// Two arrays of n times the article's 0.1.
template <class T>
struct Article {
  explicit Article(std::size_t n)
      : a(course::DeviceBuffer<T>::from(std::vector<T>(n, T(0.1)))),
        b(course::DeviceBuffer<T>::from(std::vector<T>(n, T(0.1)))) {}
  course::DeviceBuffer<T> a, b;
};

}  // namespace half_atomics

using namespace half_atomics;

// ---- the rungs on a table ----------------------------------------------------------------------

TEST_CASE("each rung adds every half to its cell, and to nothing else") {
  for (const Rung<__half>& rung : kHalfRungs) check_rung(rung);
}

TEST_CASE("so do the rungs of bfloat16 and of float") {
  for (const Rung<__nv_bfloat16>& rung : kBfloat16Rungs) check_rung(rung);
  for (const Rung<float>& rung : kFloatRungs) check_rung(rung);
}

TEST_CASE("every row of a table gets its turn, and neighbours stay together") {
  for (const std::size_t rows : {1u, 2u, 64u, 1024u}) {
    std::vector<int> hits(rows * kRow, 0);
    for (std::size_t i = 0; i < 3 * rows * kRow; ++i) {
      const std::size_t cell = cell_of(i, rows - 1);
      REQUIRE(cell < rows * kRow);
      REQUIRE(cell % kRow == i % kRow);
      if (i % kRow != 0) REQUIRE(cell == cell_of(i - 1, rows - 1) + 1);
      ++hits[cell];
    }
    REQUIRE(course::same(hits, std::vector<int>(rows * kRow, 3), "hits"));
  }
}

TEST_CASE("pairs make half of the atomics, eights an eighth") {
  course::skip_without_counters();
  constexpr std::size_t kN = 4096, kRows = 128;
  const auto d_x = course::DeviceBuffer<__half>::from(course::position_values<__half>(kN));
  auto d_table = course::DeviceBuffer<__half>::zeros(kRows * kRow + 8);
  const auto atomics = [&](AddToTable<__half> add, std::size_t start) {
    return course::count([&] { add(d_x.data(), kN, kRows, d_table.data() + start, nullptr); })
        ->global_atomic_lanes;
  };
  CHECK(course::same(atomics(add_half, 0), kN, "atomics of add_half"));
  CHECK(course::same(atomics(add_padded_pair, 0), kN, "atomics of add_padded_pair"));
  CHECK(course::same(atomics(add_half2, 0), kN / 2, "atomics of add_half2"));
  CHECK(course::same(atomics(red_half2, 0), kN / 2, "atomics of red_half2"));
  CHECK(course::same(atomics(red_half8, 0), kN / 8, "atomics of red_half8"));
  CHECK(course::same(atomics(red_half8, 2), kN / 2, "atomics of red_half8 at a multiple of 4"));
  CHECK(course::same(atomics(red_half8, 1), kN / 8 * 5, "atomics of red_half8 at an odd half"));
  CHECK(course::same(atomics(add_packs<__half, 2>, 0), kN / 2, "atomics of add_packs<__half, 2>"));
  const auto d_floats = course::DeviceBuffer<float>::from(course::position_values<float>(kN));
  auto d_float_table = course::DeviceBuffer<float>::zeros(kRows * kRow);
  const auto of_floats = course::count(
      [&] { add_packs<float, 4>(d_floats.data(), kN, kRows, d_float_table.data(), nullptr); });
  CHECK(course::same(of_floats->global_atomic_lanes, kN / 4, "atomics of add_packs<float, 4>"));
  const auto d_bf =
      course::DeviceBuffer<__nv_bfloat16>::from(course::position_values<__nv_bfloat16>(kN));
  auto d_bf_table = course::DeviceBuffer<__nv_bfloat16>::zeros(kRows * kRow);
  const auto of_bf = course::count(
      [&] { add_packs<__nv_bfloat16, 2>(d_bf.data(), kN, kRows, d_bf_table.data(), nullptr); });
  CHECK(course::same(of_bf->global_atomic_lanes, kN / 2, "atomics of add_packs<__nv_bfloat16, 2>"));
  const auto of_moments = course::count([&] {
    moments_pair(d_x.data(), kN, 512, reinterpret_cast<__half2*>(d_table.data()), nullptr);
  });
  CHECK(course::same(of_moments->global_atomic_lanes, kN, "atomics of moments_pair"));
  const auto of_columns = course::count([&] {  // 64 rows of 64 columns
    columns_pair(reinterpret_cast<const __half2*>(d_x.data()), 64, 64,
                 reinterpret_cast<__half2*>(d_table.data()), nullptr);
  });
  CHECK(course::same(of_columns->global_atomic_lanes, 32u, "atomics of columns_pair"));
}

TEST_CASE("a compare-and-swap loop swaps more than once where the halves of a word meet") {
  course::skip_without_counters();
  constexpr std::size_t kN = 4096, kRows = 512;
  const auto d_x = course::DeviceBuffer<__half>::from(course::position_values<__half>(kN));
  auto d_table = course::DeviceBuffer<__half>::zeros(kRows * kRow);
  const auto counters =
      course::count([&] { add_half_cas(d_x.data(), kN, kRows, d_table.data(), nullptr); });
  // No cell gets two elements. But two lanes of a warp share a word and go in step, so one of them
  // is too late and comes again: 3 swaps for 2 elements.
  CHECK(course::same(counters->global_atomic_lanes, kN * 3 / 2, "atomics of add_half_cas"));
}

TEST_CASE("more than 2^31 elements") {
  constexpr std::size_t kN = (std::size_t{1} << 31) + 9;
  course::skip_without_memory(kN * sizeof(__half));
  auto d_x = course::DeviceBuffer<__half>::zeros(kN);
  const std::vector<__half> tail(9, __half(1.5f));
  CUDA_CHECK(cudaMemcpy(d_x.data() + (kN - 9), tail.data(), 18, cudaMemcpyHostToDevice));
  constexpr std::size_t kRows = std::size_t{1} << 20;
  for (const Rung<__half>& rung : kHalfRungs) {
    INFO(rung.name << ", n = 2^31 + 9");
    auto d_table = course::DeviceBuffer<__half>::zeros(kRows * kRow);
    rung.add(d_x.data(), kN, kRows, d_table.data(), nullptr);
    std::vector<double> expected(kRows * kRow, 0.0);
    for (std::size_t i = kN - 9; i < kN; ++i) expected[cell_of(i, kRows - 1)] += 1.5;
    REQUIRE(course::close(d_table.download(), expected, 0.0, "table"));
  }
}

TEST_CASE("a sum that moves costs the loop many more swaps than one that stands still") {
  using Alternate = void (*)(std::size_t, __half*, cudaStream_t);
  const Alternate kWays[] = {alternate<Way::atomic_add>, alternate<Way::cas>,
                             alternate<Way::padded_pair>};
  course::GuardedBuffer<__half> y(2);
  for (const std::size_t n : {1u, 33u, 200u}) {
    for (const Alternate run : kWays) {
      INFO("n = " << n);
      set_bits(y.data(), {0, kMinusZero});
      run(n, y.data(), nullptr);
      const Bits sum = bits_of(static_cast<float>(n % 2));
      REQUIRE(same_bits("y", get_bits(y.data(), 2), {sum, kMinusZero}));
    }
  }
  course::skip_without_counters();
  const auto swaps = [&](float start) {
    set_bits(y.data(), {bits_of(start), 0});
    return course::count([&] { alternate<Way::cas>(32, y.data(), nullptr); })->global_atomic_lanes;
  };
  // From 4096 on halves are 4 apart: adding 1 or -1 is rounded away, and every first swap succeeds.
  CHECK(course::same(swaps(8192.0f), 32u, "swaps of 32 lanes, a sum that stands still"));
  CHECK(course::same(swaps(0.0f), 528u, "swaps of 32 lanes, a sum that moves"));  // 32 + 31 + ...
}

// ---- one half, and its neighbour ---------------------------------------------------------------

TEST_CASE("four ways to add to one half: no update is lost, and the neighbour keeps its bits") {
  const std::size_t n = course::kCpuDevice ? 600 : 2'000;
  for (const How how : {How::atomic_add, How::cas, How::cas16, How::padded}) {
    for (const std::size_t place : {0u, 1u}) {
      for (const Bits beside : {kMinusZero, bits_of(3.0f), Bits{0x8001}, Bits{0x7D01}}) {
        INFO("way " << static_cast<int>(how) << ", element " << place << " of two, beside "
                    << half_text(beside));
        std::vector<Bits> start(2, bits_of(10.0f));
        start[place ^ 1] = beside;
        course::GuardedBuffer<__half> x(2);
        course::DeviceBuffer<__half> returned(n);
        set_bits(x.data(), start);
        add_one_to<<<blocks_for(n), kBlockSize>>>(how, n, x.data() + place, returned.data());
        CUDA_CHECK_LAUNCH();
        const std::vector<Bits> after = get_bits(x.data(), 2);
        const Bits last = bits_of(10.0f + static_cast<float>(n));
        REQUIRE(same_bits("x", after[place], last));
        // The hardware's pair adds -0.0 to the neighbour: a NaN stays one, maybe with other bits.
        REQUIRE(same_bits("neighbour", after[place ^ 1], beside, how == How::padded));
        if (how == How::padded) continue;
        const std::vector<Bits> found = get_bits(returned.data(), n);
        std::vector<Bits> left(n);
        for (std::size_t i = 0; i < n; ++i) left[i] = bits_of(float_of(found[i]) + 1.0f);
        REQUIRE(one_chain(found, left, bits_of(10.0f), last));
      }
    }
  }
}

TEST_CASE("padding with -0.0 leaves every number alone, padding with 0.0 does not") {
  auto x = course::DeviceBuffer<__half2>::zeros(1);
  auto* const first = reinterpret_cast<__half*>(x.data());
  for (const Bits beside : kAwkward) {
    set_bits(first, {0x3C00, beside});
    add_pair_once<<<1, 1>>>(x.data(), __half2(half_of(0x3C00), half_of(kMinusZero)));
    CUDA_CHECK_LAUNCH();
    REQUIRE(same_bits("padded with -0.0", get_bits(first, 2), {0x4000, beside}, true));
  }
  set_bits(first, {0x3C00, kMinusZero});
  add_pair_once<<<1, 1>>>(x.data(), __half2(half_of(0x3C00), half_of(0x0000)));
  CUDA_CHECK_LAUNCH();
  REQUIRE(same_bits("padded with 0.0", get_bits(first, 2), {0x4000, 0x0000}));
}

TEST_CASE("atomic_min_half finds the smaller of every pair, and leaves the neighbour's bits") {
  for (const std::size_t place : {0u, 1u}) {
    std::vector<Bits> start(place, kMinusZero), values;
    for (const Bits cell : kAwkward) {
      for (const Bits value : kAwkward) {
        start.push_back(cell), start.push_back(kAwkward[values.size() * 7 % kAwkward.size()]);
        values.push_back(value);
      }
    }
    start.resize((start.size() + 1) / 2 * 2, kMinusZero);
    const std::size_t n = values.size();
    const auto d_values = course::DeviceBuffer<__half>::from(halves(values));
    course::GuardedBuffer<__half> x(start.size()), returned(n);
    set_bits(x.data(), start);
    min_each<<<blocks_for(n), kBlockSize>>>(d_values.data(), n, 2, x.data() + place,
                                            returned.data());
    CUDA_CHECK_LAUNCH();
    const std::vector<Bits> after = get_bits(x.data(), start.size());
    const std::vector<Bits> found = get_bits(returned.data(), n);
    for (std::size_t i = 0; i < n; ++i) {
      const std::size_t at = place + 2 * i;
      INFO("cell " << half_text(start[at]) << ", value " << half_text(values[i]) << ", beside "
                   << half_text(start[at ^ 1]));
      REQUIRE(same_bits("cell", after[at], minimum(start[at], values[i]), true));
      REQUIRE(same_bits("neighbour", after[at ^ 1], start[at ^ 1]));
      REQUIRE(same_bits("returned", found[i], start[at]));
    }
  }
}

TEST_CASE("atomic_min_half in shared memory, both halves of a word at once") {
  constexpr unsigned kN = 200;
  std::vector<Bits> values(kN);
  for (unsigned i = 0; i < kN; ++i) values[i] = bits_of(static_cast<float>(i * 37 % 101) - 60.0f);
  const auto d_values = course::DeviceBuffer<__half>::from(halves(values));
  const std::vector<Bits> start = {kInfinity, 0x7E00, kMinusZero, 0x7D01};
  const auto d_start = course::DeviceBuffer<__half>::from(halves(start));
  course::DeviceBuffer<__half> left(4), returned(kN);
  min_shared<<<1, 224>>>(d_values.data(), kN, d_start.data(), left.data(), returned.data());
  CUDA_CHECK_LAUNCH();
  std::vector<Bits> expected = start;
  for (unsigned i = 0; i < kN; ++i) expected[i % 2] = minimum(expected[i % 2], values[i]);
  REQUIRE(same_bits("s_x", get_bits(left.data(), 4), expected));
}

TEST_CASE("min_half lowers every cell to the smallest that it gets") {
  for (const std::size_t n : course::all_sizes()) {
    constexpr std::size_t kRows = 4;
    std::vector<Bits> values(n), expected(kRows * kRow, kInfinity);
    for (std::size_t i = 0; i < n; ++i) {
      values[i] = i % 11 == 3 ? kAwkward[i % kAwkward.size()]
                              : bits_of(static_cast<float>(i * 7919 % 1009) - 300.0f);
      Bits& cell = expected[cell_of(i, kRows - 1)];
      cell = minimum(cell, values[i]);
    }
    INFO("n = " << n);
    const auto d_values = course::DeviceBuffer<__half>::from(halves(values));
    course::GuardedBuffer<__half> table(kRows * kRow);
    set_bits(table.data(), std::vector<Bits>(kRows * kRow, kInfinity));
    min_half(d_values.data(), n, kRows, table.data(), nullptr);
    REQUIRE(same_bits("table", get_bits(table.data(), kRows * kRow), expected));
    REQUIRE(table.intact("table"));
  }
}

TEST_CASE("a loop that looks at its own half alone loses additions") {
  constexpr std::size_t kN = 1024;
  course::GuardedBuffer<__half> y(2);
  const auto run = [&] {
    set_bits(y.data(), {0, 0});
    add_half_own_bits(kN, y.data(), nullptr);
    const std::vector<Bits> sums = get_bits(y.data(), 2);
    return float_of(sums[0]) + float_of(sums[1]);
  };
  float sum = 0.0f;
  course::count([&] { sum = run(); });  // lanes go in step, as on a GPU
  INFO("added " << kN << " times 1 to two halves of a word, found " << sum);
  REQUIRE(sum < static_cast<float>(kN));
  REQUIRE(sum > 0.0f);
}

TEST_CASE("a loop that compares halves ends too late at NaN, and too early at -0.0") {
  constexpr int kMost = 1000;
  course::GuardedBuffer<__half> y(2);
  course::DeviceBuffer<int> turns(1);
  const auto run = [&](Bits there, Bits guess, Bits value) {
    set_bits(y.data(), {there, 0});
    add_half_by_value(half_of(guess), half_of(value), kMost, y.data(), turns.data(), nullptr);
    return get_bits(y.data(), 2)[0];
  };
  REQUIRE(same_bits("2 + 1", run(0x4000, 0x4000, 0x3C00), 0x4200));
  REQUIRE(course::same(turns.front(), 1, "turns at a number"));
  REQUIRE(same_bits("2 + 1 after a wrong guess", run(0x4000, 0x4400, 0x3C00), 0x4200));
  REQUIRE(course::same(turns.front(), 2, "turns after a wrong guess"));
  REQUIRE(is_nan(run(0x7E00, 0x7E00, 0x3C00)));
  REQUIRE(course::same(turns.front(), kMost, "turns at a NaN"));
  // The guess 0.0 equals the -0.0 that is there, so the loop believes that it has stored.
  REQUIRE(same_bits("-0.0 + 1 after the guess 0.0", run(kMinusZero, 0x0000, 0x3C00), kMinusZero));
  REQUIRE(course::same(turns.front(), 1, "turns"));
}

TEST_CASE("the word around the last half of three reaches beyond the array") {
  course::DeviceBuffer<__half> x(3);  // 6 bytes
  set_bits(x.data(), {0, 0, 0x3C00});
  add_half_once<<<1, 1>>>(x.data() + 2, half_of(0x3C00));  // CUDA's function: may be called there
  CUDA_CHECK_LAUNCH();
  REQUIRE(same_bits("x", get_bits(x.data(), 3), {0, 0, 0x4000}));
  course::DeviceBuffer<__half> returned(1);
  add_one_to<<<1, 1>>>(How::cas16, 1, x.data() + 2, returned.data());  // and so may this one
  CUDA_CHECK_LAUNCH();
  REQUIRE(same_bits("x", get_bits(x.data(), 3), {0, 0, 0x4200}));
  course::skip_without_checker();
  const course::Findings findings =
      course::find_races([&] { add_one_to<<<1, 1>>>(How::cas, 1, x.data() + 2, returned.data()); });
  REQUIRE(findings.others == 1);
  INFO(findings.texts.front());
  REQUIRE(findings.texts.front().find("OUT OF BOUNDS") != std::string::npos);
}

// ---- pairs and packs ---------------------------------------------------------------------------

TEST_CASE("a pair is added half by half: each one has a chain of its own") {
  const std::size_t n = course::kCpuDevice ? 500 : 1'000;
  course::GuardedBuffer<__half2> x(1);
  course::DeviceBuffer<__half2> returned(n);
  auto* const first = reinterpret_cast<__half*>(x.data());
  set_bits(first, {0, 0});
  add_one_two<<<blocks_for(n), kBlockSize>>>(n, x.data(), returned.data());
  CUDA_CHECK_LAUNCH();
  const std::vector<Bits> last = get_bits(first, 2);
  const std::vector<Bits> all = get_bits(reinterpret_cast<__half*>(returned.data()), 2 * n);
  for (std::size_t lane = 0; lane < 2; ++lane) {
    INFO((lane == 0 ? ".x" : ".y"));
    const float step = lane == 0 ? 1.0f : 2.0f;
    std::vector<Bits> found(n), left(n);
    for (std::size_t i = 0; i < n; ++i) {
      found[i] = all[2 * i + lane];
      left[i] = bits_of(float_of(found[i]) + step);
    }
    REQUIRE(same_bits("sum", last[lane], bits_of(step * static_cast<float>(n))));
    REQUIRE(one_chain(found, left, 0, last[lane]));
  }
}

TEST_CASE("a pack is aligned to all of its bytes, and so must its address be") {
  STATIC_REQUIRE(alignof(course::Pack<__half, 2>) == 4);
  STATIC_REQUIRE(alignof(course::Pack<__half, 8>) == 16);
  STATIC_REQUIRE(alignof(course::Pack<float, 4>) == 16);
  STATIC_REQUIRE(sizeof(course::Pack<__half, 2>) == sizeof(__half2));
  course::skip_without_checker();  // on a GPU both end the program
  const auto text_of = [](const std::function<void()>& work) {
    const course::Findings findings = course::find_races(work);
    REQUIRE(findings.others == 1);
    return findings.texts.front();
  };
  auto two = course::DeviceBuffer<__half>::zeros(4);
  const std::string misaligned = text_of([&] {
    auto* const pack = reinterpret_cast<course::Pack<__half, 2>*>(two.data() + 1);
    add_to_all_once<<<1, 1>>>(pack, half_of(0x3C00));
  });
  INFO(misaligned);
  REQUIRE(misaligned.find("MISALIGNED") != std::string::npos);
  auto one = course::DeviceBuffer<__half>::zeros(1);  // a result of one half, as the code had first
  const std::string outside = text_of([&] {
    auto* const pack = reinterpret_cast<course::Pack<__half, 2>*>(one.data());
    add_to_all_once<<<1, 1>>>(pack, half_of(0x3C00));
  });
  INFO(outside);
  REQUIRE(outside.find("OUT OF BOUNDS") != std::string::npos);
}

TEST_CASE("red_add_eight adds eight halves at every address") {
  course::Pack<__half, 8> v;
  for (int k = 0; k < 8; ++k) v.elem[k] = __half(static_cast<float>(k + 1));
  for (std::size_t start = 0; start < 16; ++start) {
    INFO("address: " << 2 * start << " bytes behind a multiple of 256");
    course::GuardedBuffer<__half> x(start + 8);
    std::vector<Bits> expected(start + 8, kMinusZero);
    set_bits(x.data(), expected);
    add_eight_once<<<1, 1>>>(x.data() + start, v);
    CUDA_CHECK_LAUNCH();
    for (std::size_t k = 0; k < 8; ++k) expected[start + k] = bits_of(static_cast<float>(k + 1));
    REQUIRE(same_bits("x", get_bits(x.data(), start + 8), expected));
    REQUIRE(x.intact("x"));
  }
}

TEST_CASE("the 16-bit atomics keep subnormals, in global and in shared memory") {
  auto x = course::DeviceBuffer<__half>::zeros(2), y = course::DeviceBuffer<__half>::zeros(2);
  for (const Bits value : {Bits{0x0001}, Bits{0x8001}, Bits{0x03FF}}) {
    set_bits(x.data(), {0x0001});
    set_bits(y.data(), {0x0001});
    add_in_both<<<1, 1>>>(half_of(value), x.data(), y.data());
    CUDA_CHECK_LAUNCH();
    const Bits expected = bits_of(float_of(0x0001) + float_of(value));
    INFO("0x0001 + " << half_text(value));
    REQUIRE(same_bits("global", get_bits(x.data(), 1), {expected}));
    REQUIRE(same_bits("shared", get_bits(y.data(), 1), {expected}));
  }
}

TEST_CASE("two results, or two columns, share an atomic") {
  for (const std::size_t n : course::all_sizes()) {
    INFO("n = " << n);
    std::size_t bins = 16;
    while (bins * 128 < n) bins *= 2;  // 128 squares of at most 9: all sums are exact
    std::vector<__half> x(n);
    const std::vector<int> random = course::position_values<int>(n);
    for (std::size_t i = 0; i < n; ++i) x[i] = __half(static_cast<float>(random[i] % 4));
    const auto d_x = course::DeviceBuffer<__half>::from(x);
    std::vector<double> both(2 * bins, 0.0), sums(bins, 0.0), squares(bins, 0.0);
    for (std::size_t i = 0; i < n; ++i) {
      const double value = static_cast<double>(static_cast<float>(x[i]));
      both[2 * (i % bins)] += value, both[2 * (i % bins) + 1] += value * value;
      sums[i % bins] += value, squares[i % bins] += value * value;
    }
    auto d_sums = course::DeviceBuffer<__half>::zeros(bins);
    auto d_squares = course::DeviceBuffer<__half>::zeros(bins);
    auto d_bins = course::DeviceBuffer<__half>::zeros(2 * bins);
    moments_apart(d_x.data(), n, bins, d_sums.data(), d_squares.data(), nullptr);
    moments_pair(d_x.data(), n, bins, reinterpret_cast<__half2*>(d_bins.data()), nullptr);
    REQUIRE(course::close(d_sums.download(), sums, 0.0, "sums"));
    REQUIRE(course::close(d_squares.download(), squares, 0.0, "squares"));
    REQUIRE(course::close(d_bins.download(), both, 0.0, "bins"));
  }
}

TEST_CASE("the columns of a matrix, one by one and in pairs") {
  struct Shape {
    std::size_t rows, columns;
  };
  for (const Shape shape : {Shape{0, 4}, Shape{3, 0}, Shape{1, 2}, Shape{63, 2}, Shape{65, 510},
                            Shape{129, 34}, Shape{5, 1026}}) {
    INFO(shape.rows << " rows of " << shape.columns << " columns");
    const std::size_t n = shape.rows * shape.columns;
    const std::vector<__half> x = course::position_values<__half>(n);
    std::vector<double> sums(shape.columns, 0.0);
    for (std::size_t i = 0; i < n; ++i) {
      sums[i % shape.columns] += static_cast<double>(static_cast<float>(x[i]));
    }
    const auto d_x = course::DeviceBuffer<__half>::from(x);
    auto apart = course::DeviceBuffer<__half>::zeros(shape.columns);
    auto pairs = course::DeviceBuffer<__half>::zeros(shape.columns);
    columns_apart(d_x.data(), shape.rows, shape.columns, apart.data(), nullptr);
    columns_pair(reinterpret_cast<const __half2*>(d_x.data()), shape.rows, shape.columns,
                 reinterpret_cast<__half2*>(pairs.data()), nullptr);
    REQUIRE(course::close(apart.download(), sums, 0.0, "sums"));
    REQUIRE(course::close(pairs.download(), sums, 0.0, "sums of pairs"));
  }
}

TEST_CASE("the columns of a block's rows are added up in float, and rounded once") {
  // 64 times 1 + 3/1024 is 64.1875, a half. Added up in half it would be 64.0625.
  const auto d_x = course::DeviceBuffer<__half>::from(halves(std::vector<Bits>(64 * 2, 0x3C03)));
  course::GuardedBuffer<__half> apart(2), pairs(2);
  set_bits(apart.data(), {0, 0}), set_bits(pairs.data(), {0, 0});
  columns_apart(d_x.data(), 64, 2, apart.data(), nullptr);
  columns_pair(reinterpret_cast<const __half2*>(d_x.data()), 64, 2,
               reinterpret_cast<__half2*>(pairs.data()), nullptr);
  const std::vector<Bits> expected(2, bits_of(64.1875f));
  REQUIRE(same_bits("sums", get_bits(apart.data(), 2), expected));
  REQUIRE(same_bits("sums of pairs", get_bits(pairs.data(), 2), expected));
}

// ---- the article's puzzle ----------------------------------------------------------------------

TEST_CASE("the article's results follow from the rounding alone") {
  const __half p = article_product();
  const __half twice = __half(2.0f * static_cast<float>(p));
  REQUIRE(static_cast<float>(p) == 1310.0f / 131072.0f);

  const auto by_ones = [&](std::size_t n) { return add_in_steps(__half(0.0f), p, n); };
  const auto by_twos = [&](std::size_t n) { return add_in_steps(__half(0.0f), twice, n / 2); };
  const auto sum = [](const Steps<__half>& steps) { return static_cast<float>(steps.sum); };
  CHECK(sum(by_ones(2048)) == 20.28125f);
  CHECK(sum(by_twos(2048)) == 20.28125f);
  CHECK(sum(by_ones(4096)) == 32.0f);
  CHECK(sum(by_twos(4096)) == 40.5625f);
  CHECK(sum(by_ones(kArticleN)) == 32.0f);
  CHECK(sum(by_twos(kArticleN)) == 64.0f);
  CHECK(by_ones(kArticleN).moved == 2798);      // each after that is rounded away
  CHECK(by_twos(kArticleN).moved == 2798);      // twice the step, twice the limit
  for (std::size_t n = 0; n < 8192; n += 62) {  // so kernel 1 is kernel 0 at half of n, doubled
    REQUIRE(sum(by_twos(n)) == 2.0f * sum(by_ones(n / 2)));
  }
  CHECK(article_reference(kArticleN) == 335380.5);
}

TEST_CASE("the article's kernels do what the prediction says") {
  std::vector<std::size_t> sizes = {0, 1, 31, 257, 2048, 4096, 4097};
  sizes.push_back(course::skip_large() ? 6'000 : kArticleN);
  const __half p = article_product(), zero(0.0f);
  const __half twice = __half(2.0f * static_cast<float>(p));
  for (const std::size_t n : sizes) {
    INFO("n = " << n);
    const Article<__half> halves_of(n);
    const __half *const a = halves_of.a.data(), *const b = halves_of.b.data();
    course::GuardedBuffer<__half> y(2);
    const auto run = [&](const std::function<void()>& launch, Bits beside) {
      set_bits(y.data(), {0, beside});
      launch();
      REQUIRE(y.intact("y"));
      return get_bits(y.data(), 2);
    };
    auto* const pack = reinterpret_cast<course::Pack<__half, 2>*>(y.data());
    auto* const pair = reinterpret_cast<__half2*>(y.data());
    const Bits by_ones = bits_of(static_cast<float>(add_in_steps(zero, p, n).sum));
    // An odd n ends with a thread that has a single product.
    __half sum = add_in_steps(zero, twice, n / 2).sum;
    if (n % 2 == 1) sum = rounded_sum(sum, p);
    const Bits by_twos = bits_of(static_cast<float>(sum));
    const Bits even = bits_of(static_cast<float>(add_in_steps(zero, p, (n + 1) / 2).sum));
    // A single product has no partner, and its neighbour stays as it is: -0.0.
    const Bits odd =
        n < 2 ? kMinusZero : bits_of(static_cast<float>(add_in_steps(zero, p, n / 2).sum));
    if (n % 2 == 0 || n == 1) {  // else it depends on when the single product comes
      REQUIRE(same_bits("dot_pack", run([&] { dot_pack(a, b, n, pack, nullptr); }, 0),
                        {by_twos, by_twos}));
    }
    REQUIRE(same_bits("dot_each", run([&] { dot_each(a, b, n, y.data(), nullptr); }, 0x7D01),
                      {by_ones, 0x7D01}));
    REQUIRE(same_bits("dot_padded",
                      run([&] { dot_padded(a, b, n, y.data(), nullptr); }, kMinusZero),
                      {by_ones, kMinusZero}));
    REQUIRE(same_bits("dot_two_lanes",
                      run([&] { dot_two_lanes(a, b, n, pair, nullptr); }, kMinusZero),
                      {even, odd}));
  }
}

TEST_CASE("in double the article's sum is right") {
  const std::size_t n = course::kCpuDevice ? 4096 : std::size_t{1} << 20;
  const Article<double> doubles(n);
  auto y = course::DeviceBuffer<double>::zeros(1);
  dot_each(doubles.a.data(), doubles.b.data(), n, y.data(), nullptr);
  const double expected = add_in_steps(0.0, 0.1 * 0.1, n).sum;
  REQUIRE(course::same(y.front(), expected, "sum"));  // all addends are equal: the same bits
  REQUIRE(std::fabs(expected - 0.01 * static_cast<double>(n)) < 1e-7 * static_cast<double>(n));
}

TEST_CASE("a counter of ones stands still at 2048 in half, at 256 in bfloat16") {
  for (const std::size_t n : {0u, 200u, 256u, 257u, 2048u, 2500u}) {
    INFO("n = " << n);
    auto h = course::DeviceBuffer<__half>::zeros(2);  // whole words
    auto b = course::DeviceBuffer<__nv_bfloat16>::zeros(2);
    auto f = course::DeviceBuffer<float>::zeros(1);
    add_ones(n, h.data(), nullptr);
    add_ones(n, b.data(), nullptr);
    add_ones(n, f.data(), nullptr);
    const auto as_float = static_cast<float>(n);
    REQUIRE(course::same(static_cast<float>(h.front()), std::min(as_float, 2048.0f), "half"));
    REQUIRE(course::same(static_cast<float>(b.front()), std::min(as_float, 256.0f), "bfloat16"));
    REQUIRE(course::same(f.front(), as_float, "float"));
  }
}
