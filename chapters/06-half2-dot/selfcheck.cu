// Every rung of this chapter is right at every awkward size and start, or wrong by exactly as much
// as half arithmetic makes it; and what is wrong on purpose is wrong in the way that the lesson
// says.
#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <course/check.cuh>
#include <course/host_memory.cuh>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numeric>
#include <set>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "conversions.cuh"
#include "dot_float.cuh"
#include "dot_half.cuh"
#include "dot_pack.cuh"
#include "inputs.cuh"
#include "pinned.cuh"
#include "prediction.cuh"
#include "read_both.cuh"
#include "wrong.cuh"

namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

/// On the CPU device this program runs under four schedules. Large experiments in which the order
/// of threads plays no part come once.
bool seen_before(bool& done) { return course::kCpuDevice && std::exchange(done, true); }

/// n halves in device memory that begin `offset` halves behind an address of 256 bytes. What stands
/// in front is never written: to read it is an error.
struct Misaligned {
  Misaligned(const std::vector<__half>& x, std::size_t offset)
      : memory(x.size() + offset), first(memory.data() + offset) {
    if (!x.empty()) {
      CUDA_CHECK(cudaMemcpy(static_cast<void*>(first), x.data(), x.size() * sizeof(__half),
                            cudaMemcpyHostToDevice));
    }
  }
  course::DeviceBuffer<__half> memory;
  __half* first;
};

course::GuardedBuffer<float> output(float value) {
  course::GuardedBuffer<float> buffer(1);
  CUDA_CHECK(cudaMemcpy(buffer.data(), &value, sizeof value, cudaMemcpyHostToDevice));
  return buffer;
}

/// A rung that adds to *d_y.
struct Adder {
  std::string name;
  void (*launch)(const __half*, const __half*, std::size_t, float*, cudaStream_t);
  std::size_t lanes;  // that add up in half; 0: it adds up in float
};
const std::vector<Adder> kAdders = {
    {"dot_half_scalar",
     [](const __half* a, const __half* b, std::size_t n, float* y, cudaStream_t s) {
       dot_half_scalar(a, b, n, y, s);
     },
     1},
    {"dot_half2_operators",
     [](const __half* a, const __half* b, std::size_t n, float* y, cudaStream_t s) {
       dot_half2_operators(a, b, n, y, s);
     },
     2},
    {"dot_half2_intrinsics",
     [](const __half* a, const __half* b, std::size_t n, float* y, cudaStream_t s) {
       dot_half2_intrinsics(a, b, n, y, s);
     },
     2},
    {"dot_half2_products", dot_half2_products, 0},
    {"dot_float", dot_float, 0},
};

/// What the rung adds for whole numbers a and b, in units of a product.
long long expected_of(const Adder& rung, const SmallNumbers& a, const SmallNumbers& b) {
  if (rung.lanes == 0 || a.empty()) return exact_dot(a, b);
  return predicted_dot(a, b, rung.lanes, blocks_for(a.size() / rung.lanes));
}

/// The result of one rung on two arrays of floats, as halves.
float run(const Adder& rung, const std::vector<float>& a, const std::vector<float>& b) {
  const std::vector<__half> half_a(a.begin(), a.end()), half_b(b.begin(), b.end());
  const auto d_a = course::DeviceBuffer<__half>::from(half_a);
  const auto d_b = course::DeviceBuffer<__half>::from(half_b);
  auto y = output(0.0f);
  rung.launch(d_a.data(), d_b.data(), a.size(), y.data(), nullptr);
  return y.download().front();
}

/// The result of dot_half2_any_block on n times `value`, with one block of `block_size` threads.
float sum_of_equals(std::size_t n, float value, unsigned block_size) {
  const auto d_a = course::DeviceBuffer<__half>::from(std::vector<__half>(n, __half(value)));
  const auto d_b = course::DeviceBuffer<__half>::from(std::vector<__half>(n, __half(1.0f)));
  auto y = output(0.0f);
  dot_half2_any_block(d_a.data(), d_b.data(), n, y.data(), nullptr, 1, block_size);
  return y.download().front();
}

/// dot_pack, with a Tuning of its own choice or of the test's, on arrays that begin off a multiple
/// of 256 bytes.
template <class TuningT = void>
void check_pack(std::size_t n, std::size_t offset_a, std::size_t offset_b, Workspace& workspace) {
  INFO("dot_pack, n = " << n << ", a + " << offset_a << ", b + " << offset_b << " halves");
  const SmallNumbers a = balanced_numbers(n, n + 1), b = balanced_numbers(n, n + 2);
  const Misaligned d_a(to_halves(a, 0.125f), offset_a), d_b(to_halves(b, 0.125f), offset_b);
  const auto expected = static_cast<float>(exact_dot(a, b)) / 64;
  course::GuardedBuffer<float> y(1);
  for (int launch = 0; launch < (n < 300 && offset_a == offset_b ? 2 : 1); ++launch) {
    y.fill_bytes(0xFF);  // a NaN, which an addition would keep
    if constexpr (std::is_void_v<TuningT>) {
      dot_pack(d_a.first, d_b.first, n, y.data(), workspace, nullptr);
    } else {
      launch_dot_pack<TuningT>(d_a.first, d_b.first, shared_packs(d_a.first, d_b.first, n),
                               y.data(), workspace, nullptr);
    }
    REQUIRE(course::same(y.download().front(), expected, "y"));
    REQUIRE(y.intact("y"));
    REQUIRE(course::same(workspace.ticket.front(), 0u, "ticket after the launch"));
  }
}

/// Small blocks: many of them, also on the CPU device.
template <unsigned loads, course::CacheHint hint = course::CacheHint::none>
using Small = Tuning<loads, 32, hint>;

using Launcher = void (*)(const __half*, const __half*, std::size_t, float*, cudaStream_t);

/// What a kernel makes of two arrays of the article's size.
double article_result(Launcher launch, const SmallNumbers& a, const SmallNumbers& b) {
  const auto d_a = course::DeviceBuffer<__half>::from(to_halves(a, 1.0f));
  const auto d_b = course::DeviceBuffer<__half>::from(to_halves(b, 1.0f));
  auto y = output(0.0f);
  launch(d_a.data(), d_b.data(), kArticlePairs, y.data(), nullptr);
  return static_cast<double>(y.download().front());
}

/// The article's launch with its index mended.
void mended(const __half* d_a, const __half* d_b, std::size_t pairs, float* d_y,
            cudaStream_t stream) {
  dot_half2_intrinsics(d_a, d_b, 2 * pairs, d_y, stream, kArticleBlocks);
}

}  // namespace

// ---- half and half2 ----------------------------------------------------------------------------

TEST_CASE("round_to_half: four ways to round, and the gaps between halves") {
  struct Row {
    float x;
    Rounded expected;
  };
  const float tiny = 0x1p-24f;  // the smallest half above 0
  const std::vector<Row> rows = {
      {2048, {2048, 2048, 2048, 2048}},
      {2049, {2048, 2048, 2048, 2050}},  // half-way: to the one whose last bit is 0
      {2051, {2052, 2050, 2050, 2052}},
      {-2049, {-2048, -2048, -2050, -2048}},
      {4098, {4096, 4096, 4096, 4100}},  // 4 apart from 4096 on
      {4099, {4100, 4096, 4096, 4100}},
      {0.1f, {0.0999755859375f, 0.0999755859375f, 0.0999755859375f, 0.10003662109375f}},
      {65504, {65504, 65504, 65504, 65504}},  // the largest
      {65519, {65504, 65504, 65504, kInfinity}},
      {65520, {kInfinity, 65504, 65504, kInfinity}},
      {-70000, {-kInfinity, -65504, -kInfinity, -65504}},
      {0x1p-25f, {0, 0, 0, tiny}},
      {0x1.8p-25f, {tiny, 0, 0, tiny}},
      {0x1.004p-15f, {0x1p-15f, 0x1p-15f, 0x1p-15f, 0x1.008p-15f}},  // below 2^-14: 10 bits, 9, ...
      {0, {0, 0, 0, 0}},
  };
  std::vector<float> x;
  for (const Row& row : rows) x.push_back(row.x);
  const auto d_x = course::DeviceBuffer<float>::from(x);
  course::GuardedBuffer<Rounded> rounded(x.size());
  round_to_half(d_x.data(), x.size(), rounded.data(), nullptr);
  const std::vector<Rounded> found = rounded.download();
  REQUIRE(rounded.intact("rounded"));
  for (std::size_t i = 0; i < rows.size(); ++i) {
    INFO("x = " << x[i]);
    CHECK(course::same(found[i].to_nearest, rows[i].expected.to_nearest, "__float2half_rn"));
    CHECK(course::same(found[i].to_zero, rows[i].expected.to_zero, "__float2half_rz"));
    CHECK(course::same(found[i].down, rows[i].expected.down, "__float2half_rd"));
    CHECK(course::same(found[i].up, rows[i].expected.up, "__float2half_ru"));
    CHECK(course::same(__half2float(__float2half(x[i])), rows[i].expected.to_nearest,
                       "__float2half, on the host"));
  }
  round_to_half(d_x.data(), 0, nullptr, nullptr);
}

TEST_CASE("split_and_join: which half goes where") {
  course::GuardedBuffer<Joined> joined(1);
  split_and_join(1.5f, -2.0f, joined.data(), nullptr);
  const Joined j = joined.download().front();
  const auto is = [](float2 found, float x, float y) { return found.x == x && found.y == y; };
  CHECK(j.low == 1.5f);
  CHECK(j.high == -2.0f);
  CHECK(is(j.both, 1.5f, -2.0f));
  CHECK(is(j.low_twice, 1.5f, 1.5f));
  CHECK(is(j.high_twice, -2.0f, -2.0f));
  CHECK(is(j.swapped, -2.0f, 1.5f));
  CHECK(is(j.from_halves, -2.0f, 1.5f));
  CHECK(is(j.lows, 1.5f, -2.0f));
  CHECK(is(j.highs, -2.0f, 1.5f));
  CHECK(is(j.one_float_twice, 1.5f, 1.5f));
  CHECK(joined.intact("joined"));
}

TEST_CASE("rounded_to_half is what a half does to an integer") {
  for (int k = 0; k <= 65504; ++k) {
    if (rounded_to_half(k) != static_cast<int>(__half2float(__int2half_rn(k)))) {
      FAIL("rounded_to_half(" << k << ") = " << rounded_to_half(k));
    }
    if (rounded_to_half(-k) != -rounded_to_half(k)) FAIL("rounded_to_half(" << -k << ")");
  }
}

// ---- rungs -------------------------------------------------------------------------------------

TEST_CASE("every rung adds every product once, or what half makes of it") {
  for (const std::size_t n : course::all_sizes()) {
    const SmallNumbers a = balanced_numbers(n, 11), b = balanced_numbers(n, 12);
    const std::vector<__half> half_a = to_halves(a, 0.125f), half_b = to_halves(b, 0.125f);
    REQUIRE(dot_reference(half_a, half_b) == static_cast<double>(exact_dot(a, b)) / 64);
    const auto d_a = course::DeviceBuffer<__half>::from(half_a);
    const auto d_b = course::DeviceBuffer<__half>::from(half_b);
    for (const Adder& rung : kAdders) {
      INFO(rung.name << ", n = " << n << ": multiples of 1/8, from -7/8 to 7/8");
      const int launches = n < 300 ? 2 : 1;
      auto y = output(0.5f);
      for (int launch = 0; launch < launches; ++launch) {
        rung.launch(d_a.data(), d_b.data(), n, y.data(), nullptr);
      }
      const auto sum = static_cast<float>(expected_of(rung, a, b)) / 64;
      REQUIRE(course::same(y.download().front(), static_cast<float>(launches) * sum + 0.5f, "y"));
      REQUIRE(y.intact("y"));
    }
  }
}

TEST_CASE("rungs in half are off by exactly as much as 11 bits make them") {
  constexpr std::size_t kN = 20'001;
  SmallNumbers a = article_numbers(kN, 5), b = article_numbers(kN, 6);
  const auto d_a = course::DeviceBuffer<__half>::from(to_halves(a, 1.0f));
  const auto d_b = course::DeviceBuffer<__half>::from(to_halves(b, 1.0f));
  for (const unsigned blocks : {1u, 2u, 5u}) {
    INFO("n = 20001: numbers from 0 to 3, " << blocks << " blocks of 128 threads");
    auto scalar = output(0.0f), operators = output(0.0f), intrinsics = output(0.0f);
    dot_half_scalar(d_a.data(), d_b.data(), kN, scalar.data(), nullptr, blocks);
    dot_half2_operators(d_a.data(), d_b.data(), kN, operators.data(), nullptr, blocks);
    dot_half2_intrinsics(d_a.data(), d_b.data(), kN, intrinsics.data(), nullptr, blocks);
    const auto by_halves = static_cast<float>(predicted_dot(a, b, 1, blocks));
    const auto by_pairs = static_cast<float>(predicted_dot(a, b, 2, blocks));
    REQUIRE(course::same(scalar.download().front(), by_halves, "y of dot_half_scalar"));
    REQUIRE(course::same(operators.download().front(), by_pairs, "y of dot_half2_operators"));
    REQUIRE(course::same(intrinsics.download().front(), by_pairs, "y of dot_half2_intrinsics"));
    REQUIRE(by_pairs != static_cast<float>(exact_dot(a, b)));
  }
}

TEST_CASE("dot_half2_any_block takes blocks of any size") {
  constexpr std::size_t kN = 5'001;
  const SmallNumbers a = article_numbers(kN, 7), b = article_numbers(kN, 8);
  const auto d_a = course::DeviceBuffer<__half>::from(to_halves(a, 1.0f));
  const auto d_b = course::DeviceBuffer<__half>::from(to_halves(b, 1.0f));
  for (const unsigned block : {1u, 2u, 3u, 32u, 96u, 127u, 128u, 1000u, 1024u}) {
    INFO("n = 5001, 2 blocks of " << block);
    auto y = output(0.0f);
    dot_half2_any_block(d_a.data(), d_b.data(), kN, y.data(), nullptr, 2, block);
    const auto expected = static_cast<float>(predicted_dot(a, b, 2, 2, block));
    REQUIRE(course::same(y.download().front(), expected, "y"));
    REQUIRE(y.intact("y"));
  }
}

TEST_CASE("a NaN stays") {
  std::vector<float> a(500, 1.0f);
  a[333] = std::numeric_limits<float>::quiet_NaN();
  for (const Adder& rung : kAdders) {
    INFO(rung.name);
    REQUIRE(std::isnan(run(rung, a, std::vector<float>(500, 1.0f))));
  }
  const auto d_a = course::DeviceBuffer<__half>::from(std::vector<__half>(a.begin(), a.end()));
  Workspace workspace;
  course::GuardedBuffer<float> y(1);
  dot_pack(d_a.data(), d_a.data(), a.size(), y.data(), workspace, nullptr);
  REQUIRE(std::isnan(y.download().front()));
}

// ---- dot_pack ----------------------------------------------------------------------------------

TEST_CASE("dot_pack: every size") {
  Workspace workspace;
  // Blocks of 1024 threads are slow on the CPU device; small ones go through more sizes below.
  const std::vector<std::size_t> few = {0, 1, 33, 1025, course::kBigSize};
  for (const std::size_t n : course::kCpuDevice ? few : course::all_sizes()) {
    check_pack(n, 0, 0, workspace);
  }
}

TEST_CASE("dot_pack: every start of either array") {
  Workspace workspace;
  std::size_t turn = 0;  // another size each time
  const std::vector<std::size_t> sizes = {100, 1, 7, 31, 8, 260, 15, 3, 64};
  for (std::size_t offset_a = 0; offset_a < 8; ++offset_a) {
    for (std::size_t offset_b = 0; offset_b < 8; ++offset_b) {
      check_pack<Small<2>>(sizes[turn++ % sizes.size()], offset_a, offset_b, workspace);
    }
  }
  for (const std::size_t offset : {0u, 1u, 2u, 4u}) {  // blocks of 1024 threads, every width
    check_pack(3'001 * (offset == 0 ? 8 : offset), 3, 3 + offset, workspace);
  }
}

TEST_CASE("dot_pack: every tuning, many blocks, more rounds than blocks") {
  Workspace workspace;
  for (const std::size_t n : {33u, 1'025u, 9'001u}) {
    check_pack<Small<1>>(n, 1, 1, workspace);
    check_pack<Small<2, course::CacheHint::no_allocate>>(n, 3, 3, workspace);
    check_pack<Small<4, course::CacheHint::streaming>>(n, 5, 1, workspace);
  }
  const SmallNumbers a = balanced_numbers(9'001, 1), b = balanced_numbers(9'001, 2);
  const Misaligned d_a(to_halves(a, 0.125f), 1), d_b(to_halves(b, 0.125f), 1);
  const SharedPacks split = shared_packs(d_a.first, d_b.first, a.size());
  for (const unsigned blocks : {1u, 2u, 3u, 7u}) {
    INFO("n = 9001, " << blocks << " blocks");
    course::GuardedBuffer<float> y(1);
    dot_pack<Small<2>, 8><<<blocks, 32>>>(d_a.first, d_b.first, split, workspace.partials.data(),
                                          workspace.ticket.data(), y.data());
    CUDA_CHECK_LAUNCH();
    const auto expected = static_cast<float>(exact_dot(a, b)) / 64;
    REQUIRE(course::same(y.download().front(), expected, "y"));
  }
}

TEST_CASE("shared_packs: as wide as both arrays allow") {
  const auto at = [](std::uintptr_t address) { return reinterpret_cast<const __half*>(address); };
  for (std::uintptr_t a = 0; a < 8; ++a) {
    for (std::uintptr_t b = 0; b < 8; ++b) {
      for (const std::size_t n : {0u, 1u, 5u, 8u, 9u, 40u}) {
        INFO("a + " << a << ", b + " << b << ", n = " << n);
        const SharedPacks s = shared_packs(at(256 + 2 * a), at(512 + 2 * b), n);
        const auto width = static_cast<std::size_t>(s.width);
        REQUIRE(s.head + s.packs * width + s.tail == n);
        REQUIRE((s.head < width && s.tail < width));
        if (s.packs > 0) {
          REQUIRE((a + s.head) % width == 0);
          REQUIRE((b + s.head) % width == 0);
        }
        const std::uintptr_t apart = a > b ? a - b : b - a;
        REQUIRE(width == (apart == 0 ? 8u : apart == 4 ? 4u : apart % 2 == 0 ? 2u : 1u));
      }
    }
  }
}

TEST_CASE("dot_pack gives the same bits in every run") {
  std::vector<__half> a(6'000);
  for (std::size_t i = 0; i < a.size(); ++i) a[i] = __half(1.0f / static_cast<float>(i + 1));
  const auto d_a = course::DeviceBuffer<__half>::from(a);
  Workspace workspace;
  std::set<float> results;
  for (std::uint64_t seed = 0; seed < 4; ++seed) {
    course::with_seed(seed, [&] {
      course::GuardedBuffer<float> y(1);
      launch_dot_pack<Small<2>>(d_a.data(), d_a.data(),
                                shared_packs(d_a.data(), d_a.data(), a.size()), y.data(), workspace,
                                nullptr);
      results.insert(y.download().front());
    });
  }
  REQUIRE(results.size() == 1);
  const double expected = dot_reference(a, a);
  REQUIRE(
      course::close(*results.begin(), expected, expected * 6'000 * course::kFloatRoundoff, "y"));
}

TEST_CASE("read_both reads both arrays, and writes nothing") {
  for (const std::size_t n : {0u, 7u, 8u, 1025u, 40'000u}) {
    INFO("n = " << n);
    const auto d_a = course::DeviceBuffer<__half>::from(to_halves(balanced_numbers(n, 1), 0.125f));
    const auto d_b = course::DeviceBuffer<__half>::from(to_halves(balanced_numbers(n, 2), 0.125f));
    course::GuardedBuffer<unsigned> sink(1);
    sink.fill_bytes(0x11);
    const auto counters =
        course::count([&] { read_both(d_a.data(), d_b.data(), n, sink.data(), nullptr); });
    REQUIRE(course::same(sink.download().front(), 0x1111'1111u, "sink"));
    const std::uint64_t sectors = 2 * ((n / 8 + 1) / 2);  // of 32 bytes: two packs
    if (counters) REQUIRE(course::same(counters->global_load_sectors, sectors, "sectors"));
  }
}

// ---- what half and float cannot do -------------------------------------------------------------

TEST_CASE("ones: exact up to 2048 a lane, then rounded, then standing still, then infinite") {
  static bool done = false;
  if (seen_before(done)) return;
  // A block of 128: 2048 in each lane is the last sum that can be one more.
  CHECK(course::same(sum_of_equals(4096, 1.0f, 128), 4096.0f, "4096 ones, 128 threads"));
  CHECK(course::same(sum_of_equals(4098, 1.0f, 128), 4096.0f, "4098 ones, 128 threads"));
  // One thread: 2048 + 1 is 2048, as often as one likes.
  CHECK(course::same(sum_of_equals(4096, 1.0f, 1), 4096.0f, "4096 ones, one thread"));
  CHECK(course::same(sum_of_equals(4098, 1.0f, 1), 4096.0f, "4098 ones, one thread"));
  CHECK(course::same(sum_of_equals(20'000, 1.0f, 1), 4096.0f, "20000 ones, one thread"));
  // The value does not matter: 2048 of any one and the same are the end.
  CHECK(course::same(sum_of_equals(20'000, 0.125f, 1), 512.0f, "20000 eighths, one thread"));
  // 65504 is the largest half, and 65520 is rounded to infinity.
  CHECK(course::same(sum_of_equals(2 * 128 * 511, 1.0f, 128), 130'816.0f, "511 a lane"));
  CHECK(course::same(sum_of_equals(2 * 128 * 512, 1.0f, 128), kInfinity, "512 a lane"));
  // 128 products of 512 are as many.
  CHECK(course::same(sum_of_equals(2 * 128, 512.0f, 128), kInfinity, "256 times 512"));
}

TEST_CASE("float sums go on where half stands still") {
  static bool done = false;
  if (seen_before(done)) return;
  for (const Adder& rung : kAdders) {
    if (rung.lanes > 0) continue;
    INFO(rung.name);
    REQUIRE(run(rung, std::vector<float>(131'072, 1.0f), std::vector<float>(131'072, 1.0f)) ==
            131'072.0f);
  }
}

TEST_CASE("products in half are rounded, infinite or 0; products in float are exact") {
  const float x = 1.0f + 23.0f / 1024;  // its square lies between two halves
  struct Case {
    float factor, half_product;
  };
  for (const Case c :
       {Case{x, 1.0f + 47.0f / 1024}, Case{300.0f, kInfinity}, Case{0x1p-13f, 0.0f}}) {
    INFO(c.factor << " * " << c.factor);
    for (const std::size_t n : {1u, 2u}) {
      const std::vector<float> a(n, c.factor);
      const auto count = static_cast<float>(n);
      CHECK(course::same(run(kAdders[3], a, a), count * c.half_product, "dot_half2_products"));
      CHECK(course::same(run(kAdders[4], a, a), count * c.factor * c.factor, "dot_float"));
    }
  }
}

TEST_CASE("a * b + c is rounded once; by operators twice or once") {
  // Halves 0 and 1 are 1, halves 256 and 257 are x. Of the only block's 128 threads one has 0 and
  // 256, and adds x * x to 1; n = 257 leaves half 256 in no pair.
  const float x = 1.0f + 23.0f / 1024;
  const float once = 2.0f + 46.0f / 1024, twice = 2.0f + 48.0f / 1024;
  std::vector<float> a(2 * 129, 0.0f);
  a[0] = a[1] = 1.0f;
  a[256] = a[257] = x;
  const std::vector<__half> halves(a.begin(), a.end());
  const auto d_a = course::DeviceBuffer<__half>::from(halves);
  for (const std::size_t n : {257u, 258u}) {
    INFO("n = " << n);
    auto scalar = output(0.0f), operators = output(0.0f), intrinsics = output(0.0f),
         any_block = output(0.0f);
    dot_half_scalar(d_a.data(), d_a.data(), n, scalar.data(), nullptr, 1);
    dot_half2_operators(d_a.data(), d_a.data(), n, operators.data(), nullptr, 1);
    dot_half2_intrinsics(d_a.data(), d_a.data(), n, intrinsics.data(), nullptr, 1);
    dot_half2_any_block(d_a.data(), d_a.data(), n, any_block.data(), nullptr, 1, kBlockSize);
    const auto check = [n](auto& y, float sum, const char* name) {
      CHECK(course::same(y.download().front(), n == 257 ? sum + 1 : 2 * sum, name));
    };
    check(scalar, once, "y of dot_half_scalar");
    check(intrinsics, once, "y of dot_half2_intrinsics");
    check(any_block, once, "y of dot_half2_any_block");
    // nvcc makes one __hfma2 of the two operators; the CPU device does what the source says.
    check(operators, course::kCpuDevice ? twice : once, "y of dot_half2_operators");
  }
}

// ---- the article's index -----------------------------------------------------------------------

TEST_CASE("two kernels agree, and both are wrong") {
  static bool done = false;
  if (seen_before(done)) return;
  const SmallNumbers a = article_numbers(2 * kArticlePairs, 3);
  const SmallNumbers b = article_numbers(2 * kArticlePairs, 4);
  const auto expected = static_cast<double>(exact_dot(a, b));
  const double operators = article_result(dot_wrong_index_operators, a, b);
  const double intrinsics = article_result(dot_wrong_index_intrinsics, a, b);
  const double with_own_index = article_result(mended, a, b);
  INFO("operators " << operators << ", intrinsics " << intrinsics << ", mended " << with_own_index
                    << ", exact " << expected);
  REQUIRE(operators == intrinsics);  // the article's test: PASSED
  REQUIRE(operators != expected);    // a test against the exact sum
  // A tolerance of 5 % would not have helped: all products are drawn from the same hat.
  REQUIRE(std::fabs(operators - expected) > 1e-3 * expected);
  REQUIRE(std::fabs(operators - expected) < 0.05 * expected);
  // The index mended, what is left is rounding: block sums above 2048.
  REQUIRE(with_own_index != expected);
  REQUIRE(std::fabs(with_own_index - expected) < 1e-4 * expected);
}

TEST_CASE("the article's index reads 4,080 of 262,144 pairs") {
  static bool done = false;
  if (seen_before(done)) return;
  auto d_visits = course::DeviceBuffer<unsigned>::zeros(kArticlePairs);
  count_visits(kArticlePairs, d_visits.data(), nullptr);
  const std::vector<unsigned> visits = d_visits.download();
  std::size_t pairs = 0;
  for (std::size_t i = 0; i < visits.size(); ++i) {
    pairs += visits[i] > 0 ? 1 : 0;
    // 16 patches of 255 pairs, 16,384 apart: pair 255 of each is read by 128 threads, its
    // neighbours by 127, and so on down to pairs 128 and 382, which one thread reads.
    const std::size_t at = i % 16'384;
    const std::size_t from_peak = at > 255 ? at - 255 : 255 - at;
    const std::size_t expected = from_peak < 128 ? 128 - from_peak : 0;
    if (visits[i] != expected) FAIL("pair " << i << ": " << visits[i] << " visits");
  }
  REQUIRE(course::same(pairs, 4'080, "pairs that are read"));
  // As many visits as there are pairs: this is what hides it.
  REQUIRE(course::same(std::accumulate(visits.begin(), visits.end(), 0u), 262'144u, "visits"));
}

TEST_CASE("data that do not depend on the position hide the wrong index") {
  static bool done = false;
  if (seen_before(done)) return;
  const std::size_t n = 2 * kArticlePairs;
  const SmallNumbers ones(n, 1);
  SmallNumbers pattern(n), elsewhere(n, 0);
  for (std::size_t i = 0; i < n; ++i) {
    // Repeats itself every 128 pairs, and each of the 128 is visited equally often.
    pattern[i] = static_cast<signed char>(i / 2 % 128 % 5 % 2);
    elsewhere[i] = i / 2 % 16'384 >= 512 ? 1 : 0;
  }
  // Right, to the last digit:
  CHECK(article_result(dot_wrong_index_operators, ones, ones) == 524'288.0);
  CHECK(article_result(dot_wrong_index_intrinsics, pattern, ones) ==
        static_cast<double>(exact_dot(pattern, ones)));
  // 97 % of all pairs are 1, and the sum is 0:
  CHECK(exact_dot(elsewhere, ones) == 507'904);
  CHECK(article_result(dot_wrong_index_intrinsics, elsewhere, ones) == 0.0);
}

// ---- the host's side ---------------------------------------------------------------------------

TEST_CASE("dot_of_host_arrays: from pinned and from ordinary memory") {
  for (const std::size_t n : {0u, 1u, 1025u, 10'007u}) {
    INFO("n = " << n);
    const SmallNumbers a = balanced_numbers(n, 21), b = balanced_numbers(n, 22);
    const std::vector<__half> h_a = to_halves(a, 0.125f), h_b = to_halves(b, 0.125f);
    course::PinnedBuffer<__half> pinned_a(n), pinned_b(n);
    std::copy(h_a.begin(), h_a.end(), pinned_a.data());
    std::copy(h_b.begin(), h_b.end(), pinned_b.data());
    const auto expected = static_cast<float>(exact_dot(a, b)) / 64;
    REQUIRE(course::same(dot_of_host_arrays(h_a.data(), h_b.data(), n, nullptr), expected, "y"));
    cudaStream_t stream;
    CUDA_CHECK(cudaStreamCreate(&stream));
    const float y = dot_of_host_arrays(pinned_a.data(), pinned_b.data(), n, stream);
    CUDA_CHECK(cudaStreamDestroy(stream));
    REQUIRE(course::same(y, expected, "y, from pinned memory"));
  }
  course::PinnedBuffer<int> first(3);
  first[2] = 7;
  course::PinnedBuffer<int> second = std::move(first);
  REQUIRE(second[2] == 7);
  REQUIRE(second.size() == 3);
  REQUIRE(first.data() == nullptr);
}

TEST_CASE("more than 2^31 halves: no index is too short") {
  constexpr std::size_t kHalves = (std::size_t{1} << 31) + 77;
  course::skip_without_memory(kHalves * sizeof(__half));
  auto d_a = course::DeviceBuffer<__half>::zeros(kHalves);
  float expected = 0.0f;
  int k = 0;
  for (const std::size_t place : {std::size_t{0}, kHalves / 2, (std::size_t{1} << 31) - 1,
                                  std::size_t{1} << 31, kHalves - 2, kHalves - 1}) {
    const float root = std::ldexp(1.0f, k++);  // its square is what is added
    const __half value = __float2half(root);
    CUDA_CHECK(cudaMemcpy(static_cast<void*>(d_a.data() + place), &value, sizeof value,
                          cudaMemcpyHostToDevice));
    expected += root * root;
  }
  for (const Adder& rung : kAdders) {
    INFO(rung.name << ", n = 2^31 + 77");
    auto y = output(0.0f);
    rung.launch(d_a.data(), d_a.data(), kHalves, y.data(), nullptr);
    CHECK(course::same(y.download().front(), expected, "y"));
  }
  Workspace workspace;
  for (const std::size_t offset : {0u, 1u}) {
    INFO("dot_pack, from a + " << offset << " on");
    course::GuardedBuffer<float> y(1);
    dot_pack(d_a.data() + offset, d_a.data() + offset, kHalves - offset, y.data(), workspace,
             nullptr);
    CHECK(course::same(y.download().front(), offset == 0 ? expected : expected - 1, "y"));
  }
}

// ---- what is counted ---------------------------------------------------------------------------

TEST_CASE("what the rungs cost, counted") {
  course::skip_without_counters();
  static bool done = false;
  if (seen_before(done)) return;
  constexpr std::size_t kN = 8192;
  const auto d_a = course::DeviceBuffer<__half>::from(to_halves(balanced_numbers(kN, 1), 0.125f));
  const auto d_b = course::DeviceBuffer<__half>::from(to_halves(balanced_numbers(kN, 2), 0.125f));
  course::DeviceBuffer<float> y = course::DeviceBuffer<float>::zeros(1);
  const auto counted = [&](const Adder& rung) {
    return *course::count([&] { rung.launch(d_a.data(), d_b.data(), kN, y.data(), nullptr); });
  };
  const course::Counters scalar = counted(kAdders[0]), operators = counted(kAdders[1]),
                         intrinsics = counted(kAdders[2]), in_float = counted(kAdders[4]);
  CHECK(course::same(scalar.global_loads, 2 * kN / 32, "loads of dot_half_scalar"));
  CHECK(course::same(scalar.global_load_sectors, 2 * kN / 16, "its sectors"));
  CHECK(course::same(operators.global_loads, 2 * kN / 64, "loads of dot_half2_operators"));
  CHECK(course::same(intrinsics.global_loads, 2 * kN / 64, "loads of dot_half2_intrinsics"));
  CHECK(course::same(operators.global_load_sectors, 2 * kN / 16, "its sectors"));
  CHECK(course::same(operators.barriers, 8 * operators.blocks, "barriers of an unrolled tree"));
  CHECK(course::same(in_float.barriers, 2 * in_float.blocks, "barriers of block_reduce"));
  CHECK(course::same(operators.bank_conflicts(), 0, "bank conflicts of a tree of half2"));

  Workspace workspace;
  const course::Counters pack =
      *course::count([&] { dot_pack(d_a.data(), d_b.data(), kN, y.data(), workspace, nullptr); });
  const std::uint64_t finish = 1 + pack.blocks;  // the last block loads the partial sums
  CHECK(pack.global_loads <= 2 * kN / 256 + finish);
  CHECK(course::same(pack.global_atomics, pack.blocks, "atomics of dot_pack: a ticket a block"));
  CHECK(course::same(pack.launches, 1, "its launches"));
}
