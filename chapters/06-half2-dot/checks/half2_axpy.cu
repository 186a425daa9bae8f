// Check of the exercise half2_axpy: every start on both sides, every length around a warp's, what
// is before and after, every kind of grid, and the bits of results that are easily rounded
// wrong; then how many requests it takes, and more than 2^32 halves.
#include "half2_axpy.cuh"

#include <cuda_fp16.h>

#include <catch2/catch_test_macros.hpp>
#include <course/check.cuh>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <random>
#include <string>
#include <vector>

namespace half2_axpy_check {

using Launch = course::LaunchShape;
using Bits = std::vector<unsigned short>;  // of halves

// ---- data --------------------------------------------------------------------------------------

/// The bits of an element of x and of y.
struct Element {
  unsigned short x, y;
};

/// A kind of data: a, and elements made of two random numbers of 32 bits. `plain` is an element
/// whose x and y are from 1/8 to 15/8.
struct Kind {
  std::string text;
  float a;
  Element (*element)(unsigned r, unsigned q, Element plain);
};

unsigned short cut(unsigned bits) { return static_cast<unsigned short>(bits); }

/// A half with any mantissa, from 1/4 up to 4, positive or negative.
unsigned short dense_bits(unsigned random) {
  return cut((random & 0x83ff) | (13 + random / 65'536 % 4) << 10);
}

/// Any halves, and often the awkward ones.
Element any_halves(unsigned r, unsigned q, Element) {
  Element e{cut(r >> 8), cut(q >> 8)};
  if (r % 8 == 0) e.x &= 0x83ff;                        // 0 and subnormals
  if (r % 8 == 1) e.x |= 0x7c00;                        // NaN
  if (r % 8 == 2) e.x &= 0x8000;                        // 0 and -0
  if (r % 32 == 3) e.x = cut((e.x & 0x8000) | 0x7c00);  // infinity
  if (q % 8 == 0) e.y &= 0x83ff;
  if (q % 8 == 1) e.y &= 0x8000;
  if (q % 32 == 2) e.y = 0xfc00;
  return e;
}

const Kind kPlain{"a = 2, x and y from 1/8 to 15/8", 2.0f,
                  [](unsigned, unsigned, Element plain) { return plain; }};
const Kind kDense{"a = 1.0224609375, x and y with all of their 11 bits", 1.0f + 23.0f / 1024,
                  [](unsigned r, unsigned q, Element) {
                    return Element{dense_bits(r >> 8), dense_bits(q >> 8)};
                  }};
/// a * x = 2^-11 (1 - 2^-20) or half of it, ...: less than half of y's last bit, which is a 1. In
/// float the sum is the middle between two halves, and goes to the wrong one.
const Kind kTie{"a = 1 + 1/1024, a * x just off the middle between two halves", 1.0f + 1.0f / 1024,
                [](unsigned r, unsigned q, Element) {
                  const unsigned exponent = 4 + r % 14, sign = (r >> 16 & 1) << 15;
                  return Element{cut(sign | exponent << 10 | 0x3fe),
                                 cut(sign | (exponent + 12) << 10 | (q % 512 * 2 + 1))};
                }};
const Kind kAll{"a = -1.5, x and y are any halves: subnormals, infinities, NaN, -0", -1.5f,
                any_halves};
/// a as the text names it: 0, -0, infinities and NaN, and what is next to them.
const Kind kExtremes[] = {
    {"a = 0, x and y are any halves", 0.0f, any_halves},
    {"a = 2^-24, the smallest half; x is any half, y a small one", 0x1p-24f,
     [](unsigned r, unsigned q, Element plain) {
       Element e = any_halves(r, q, plain);
       e.y &= 0x9fff;  // below 2^-7, as products are
       return e;
     }},
    {"a = 65504, the largest half; x and y are any halves", 65504.0f, any_halves},
    {"a = -0, x and y are any halves", -0.0f, any_halves},
    {"a is infinite, x and y are any halves", std::numeric_limits<float>::infinity(), any_halves},
    {"a = -inf, x and y are any halves", -std::numeric_limits<float>::infinity(), any_halves},
    {"a is NaN, x and y are any halves", std::numeric_limits<float>::quiet_NaN(), any_halves},
};
const Kind kKinds[] = {kPlain, kDense, kTie, kAll};

// ---- what y must be ----------------------------------------------------------------------------

__half half_of(unsigned short bits) {
  __half_raw raw;
  raw.x = bits;
  return __half(raw);
}
unsigned short bits_of(__half x) { return static_cast<__half_raw>(x).x; }

/// a * x + y in double, where it is exact or close enough to it, rounded to half once.
unsigned short axpy_bits(__half a, Element e) {
  const double product =
      static_cast<double>(__half2float(a)) * static_cast<double>(__half2float(half_of(e.x)));
  return bits_of(__double2half(product + static_cast<double>(__half2float(half_of(e.y)))));
}

struct Numbers {
  __half a;
  Bits x, y, expected;
};

Numbers make_numbers(const Kind& kind, std::size_t n) {
  std::mt19937 random(static_cast<std::uint32_t>(n + 1));
  Numbers numbers{__float2half_rn(kind.a), {}, {}, {}};
  const std::vector<__half> x = course::position_values<__half>(n, 1);
  const std::vector<__half> y = course::position_values<__half>(n, 2);
  for (std::size_t i = 0; i < n; ++i) {
    const auto r = static_cast<unsigned>(random()), q = static_cast<unsigned>(random());
    const Element e = kind.element(r, q, {bits_of(x[i]), bits_of(y[i])});
    numbers.x.push_back(e.x);
    numbers.y.push_back(e.y);
    numbers.expected.push_back(axpy_bits(numbers.a, e));
  }
  return numbers;
}

bool is_nan(unsigned short bits) { return (bits & 0x7fff) > 0x7c00; }

/// "1.5 (0x3e00)"
std::string half_text(unsigned short bits) {
  std::string hex;
  for (int shift = 12; shift >= 0; shift -= 4) hex += "0123456789abcdef"[bits >> shift & 15];
  return course::number_text(__half2float(half_of(bits))) + " (0x" + hex + ")";
}

/// "1 of 2 elements is wrong", or how many, and which.
std::string count_text(std::size_t wrong, std::size_t n, std::size_t first, std::size_t last) {
  if (n == 1) return "The only element is wrong";
  const std::string text = std::to_string(wrong) + " of " + std::to_string(n) + " elements";
  if (wrong == 1) return text + " is wrong";
  return text + " are wrong (first [" + std::to_string(first) + "], last [" + std::to_string(last) +
         "])";
}

/// What a found half is if it was rounded twice on its way; empty if it was not, or if that gives the right one.
std::string rounded_twice(const Numbers& numbers, std::size_t i, unsigned short found) {
  const float a = __half2float(numbers.a), x = __half2float(half_of(numbers.x[i])),
              y = __half2float(half_of(numbers.y[i]));
  const float product = __half2float(__float2half_rn(a * x));
  if (found == bits_of(__float2half_rn(a * x + y))) {
    return "\nWhat was found is a * x + y rounded to float, and that to half.";
  }
  if (found == bits_of(__float2half_rn(product + y))) {
    return "\nWhat was found is a * x rounded to half, plus y, rounded to half once more.";
  }
  return "";
}

/// Ok if the bits are the same, or both are NaN. Else the inputs of the first wrong element.
course::Verdict same_bits(const Numbers& numbers, const Bits& y) {
  std::size_t wrong = 0, unchanged = 0, first = 0, last = 0;
  for (std::size_t i = y.size(); i-- > 0;) {
    if (y[i] == numbers.expected[i] || (is_nan(y[i]) && is_nan(numbers.expected[i]))) continue;
    if (wrong++ == 0) last = i;
    if (y[i] == numbers.y[i]) ++unchanged;
    first = i;
  }
  if (wrong == 0) return {};
  return {false, "y[" + std::to_string(first) + "]: expected " +
                     half_text(numbers.expected[first]) + ", found " + half_text(y[first]) +
                     "\nIt is computed from a = " + half_text(bits_of(numbers.a)) + ", x[" +
                     std::to_string(first) + "] = " + half_text(numbers.x[first]) + " and y[" +
                     std::to_string(first) + "] = " + half_text(numbers.y[first]) + " before." +
                     rounded_twice(numbers, first, y[first]) + "\n" +
                     count_text(wrong, y.size(), first, last) +
                     (unchanged == wrong ? ", and unchanged: a * x was not added" : "")};
}

/// Ok if the halves from `first` on, counted from y[0] or x[0], still hold `before`.
course::Verdict unchanged(const std::string& name, long first, const Bits& now, const Bits& before,
                          const char* why) {
  for (std::size_t i = 0; i < now.size(); ++i) {
    if (now[i] == before[i]) continue;
    return {false, name + "[" + std::to_string(first + static_cast<long>(i)) + "], " + why +
                       ": expected " + half_text(before[i]) + " as before, found " +
                       half_text(now[i])};
  }
  return {};
}

// ---- one launch --------------------------------------------------------------------------------

/// Where the arrays begin: halves past a multiple of 16 bytes.
struct Starts {
  std::size_t x, y;
};

/// n halves from element `first` on; waits for the kernels before it.
Bits part(const course::DeviceBuffer<unsigned short>& x, std::size_t first, std::size_t n) {
  Bits bits(n);
  if (n > 0) CUDA_CHECK(cudaMemcpy(bits.data(), x.data() + first, 2 * n, cudaMemcpyDeviceToHost));
  return bits;
}

/// What is around x and y: ones around x and watched halves around y, which change if both are taken
/// for part of the arrays; or memory never written and the end of the allocation (the CPU device).
enum class Around { watched, nothing };
constexpr std::size_t kAfter = 24;

std::string describe(std::size_t n, Starts starts, Launch launch) {
  return "n = " + std::to_string(n) + (n == 1 ? " half; " : " halves; ") +
         course::launch_text("half2_axpy", launch) +
         course::too_few_threads(launch, n / 2, "pairs") + "; x and y begin " +
         std::to_string(2 * starts.x) + " and " + std::to_string(2 * starts.y) +
         " bytes past a multiple of 16";
}

void check_launch(const Numbers& numbers, Starts starts, Launch launch, Around around) {
  const std::size_t n = numbers.x.size(), after = around == Around::watched ? kAfter : 0;
  const auto mark = static_cast<unsigned short>(0x5aa5 ^ n);  // another one each time
  course::DeviceBuffer<unsigned short> x(starts.x + n + after), y(starts.y + n + after);
  if (around == Around::watched) {
    x.upload(Bits(x.size(), 0x3c00));
    y.upload(Bits(y.size(), mark));
  }
  if (n > 0) {
    CUDA_CHECK(cudaMemcpy(x.data() + starts.x, numbers.x.data(), 2 * n, cudaMemcpyHostToDevice));
    CUDA_CHECK(cudaMemcpy(y.data() + starts.y, numbers.y.data(), 2 * n, cudaMemcpyHostToDevice));
  }
  const auto* const d_x = reinterpret_cast<const __half*>(x.data() + starts.x);
  auto* const d_y = reinterpret_cast<__half*>(y.data() + starts.y);
  course::launch(half2_axpy, {launch.grid, launch.block}, numbers.a, d_x, n, d_y);
  REQUIRE(same_bits(numbers, part(y, starts.y, n)));
  REQUIRE(unchanged("x", 0, part(x, starts.x, n), numbers.x, "which is only read"));
  if (around == Around::nothing) return;
  REQUIRE(unchanged("y", -static_cast<long>(starts.y), part(y, 0, starts.y), Bits(starts.y, mark),
                    "before the array"));
  REQUIRE(unchanged("y", static_cast<long>(n), part(y, starts.y + n, after), Bits(after, mark),
                    "past the end of the array"));
}

void check(std::size_t n, Starts starts, Launch launch, const Kind& kind,
           Around around = Around::watched) {
  INFO(describe(n, starts, launch) << "; " << kind.text);
  check_launch(make_numbers(kind, n), starts, launch, around);
}

// Promise: y[i] becomes a * x[i] + y[i] for every i < n.
// Promise: x is only read.
TEST_CASE("half2_axpy: whole pairs") {
  for (const Kind& kind : kKinds) {
    for (const std::size_t n : {2u, 64u, 500u}) check(n, {0, 0}, {2, 64}, kind);
  }
}

// Promise: x and y begin at any multiple of 2 bytes (MISALIGNED ACCESS of a half2).
TEST_CASE("half2_axpy: every start on both sides") {
  const std::vector<std::size_t> sizes = {100, 1, 64, 31, 2, 17, 65, 3, 130};
  std::size_t turn = 0;  // another size and kind each time
  for (std::size_t x = 0; x < 8; ++x) {
    for (std::size_t y = 0; y < 8; ++y) {
      const Kind& kind = kKinds[turn % std::size(kKinds)];
      check(sizes[turn++ % sizes.size()], {x, y}, {2, 32}, kind);
    }
  }
}

// Promise: n is any number, 0 included.
TEST_CASE("half2_axpy: every length") {
  for (std::size_t n = 0; n < 70; n += n < 8 ? 1 : 3) {
    for (const Starts starts : {Starts{0, 0}, Starts{1, 1}, Starts{1, 0}}) {
      check(n, starts, {1, 32}, kDense);
    }
  }
}

// Promise: nothing before or after the n halves of x and of y is read or written (UNINITIALISED
// MEMORY, OUT OF BOUNDS, and halves around y that must stay).
TEST_CASE("half2_axpy: what is before and after y is not read, and not written") {
  for (const Starts starts :
       {Starts{0, 0}, Starts{1, 1}, Starts{0, 1}, Starts{3, 1}, Starts{1, 2}}) {
    for (const std::size_t n : {1u, 2u, 63u, 64u}) {
      check(n, starts, {1, 64}, kPlain, Around::nothing);
      check(n, starts, {1, 64}, kPlain, Around::watched);
    }
  }
}

// Promise: the kernel is right for every one-dimensional grid of blocks of whole warps.
TEST_CASE("half2_axpy: every size and grid") {
  const std::vector<Starts> starts = {{0, 0}, {1, 1}, {3, 5}, {0, 1}, {1, 2}, {7, 7}, {4, 6}};
  std::size_t turn = 0;  // other starts, another kind and another grid each time
  for (const std::size_t n : course::all_sizes()) {
    const std::vector<Launch> launches = course::launch_shapes(n / 2);
    for (int repeat = 0; repeat < 2; ++repeat) {
      course::in_launch(launches[turn * 5 % launches.size()], [&](Launch launch) {
        check(n, starts[turn % starts.size()], launch, kKinds[turn % std::size(kKinds)]);
      });
      ++turn;
    }
  }
}

// Promise: the kernel is right, too, if there are many more threads than pairs, more than 2^32.
TEST_CASE("half2_axpy: more than 2^32 threads, and few halves") {
  for (const std::size_t n : {1u, 2u, 3u, 150u}) {
    for (const Starts starts : {Starts{0, 0}, Starts{1, 1}, Starts{0, 1}}) {
      course::in_huge_grids(n, [&, n = n](Launch grid) { check(n, starts, grid, kPlain); });
    }
  }
}

// Promise: each result is rounded once: to the nearest half, ties to even (bit by bit, for sums
// next to the middle between two halves).
// Promise: x and y are any halves: subnormals, infinities, NaN and -0, too.
TEST_CASE("half2_axpy: rounded once") {
  for (const Kind& kind : {kDense, kTie, kAll}) {
    check(1999, {1, 1}, {2, 256}, kind);
    check(777, {0, 1}, {2, 96}, kind);
  }
}

// Promise: a is any half, 0, -0, infinities and NaN included: 0 times infinity is NaN, -0 + 0 is 0.
TEST_CASE("half2_axpy: a is 0, -0, tiny, huge, infinite, NaN") {
  for (const Kind& kind : kExtremes) {
    for (const std::size_t n : {1u, 333u}) {
      check(n, {1, 1}, {2, 64}, kind);
      check(n, {0, 1}, {2, 96}, kind);
    }
  }
}

// ---- how many loads and stores -----------------------------------------------------------------

/// Requests of all warps, and of the busiest one. The halves at either end go alone, each with a
/// request of its own.
struct Most {
  std::uint64_t loads, stores, sectors_of_loads, sectors_of_stores, of_a_warp;
};
constexpr std::uint64_t kEnds = 8;

void require_at_most(const course::Counters& c, Most most, const char* hint) {
  constexpr const char* kGaps = "are the lanes of a warp side by side?";
  REQUIRE(course::at_most(c.global_loads, most.loads, "loads of the whole grid", hint));
  REQUIRE(course::at_most(c.global_stores, most.stores, "stores of the whole grid", hint));
  REQUIRE(course::none(c.global_atomics, "atomics", "plain loads and stores will do"));
  REQUIRE(
      course::at_most(c.global_load_sectors, most.sectors_of_loads, "sectors of the loads", kGaps));
  REQUIRE(course::at_most(c.global_store_sectors, most.sectors_of_stores, "sectors of the stores",
                          kGaps));
  REQUIRE(course::work_is_shared(c, most.of_a_warp));
}

/// Requires one access for each pair of halves, and one for a half at either end.
void require_pairs(const course::Counters& c, std::size_t n, Starts starts) {
  const std::uint64_t most = n - (n - starts.y % 2) / 2;
  constexpr const char* kPairs = "one for each pair, and one for a half at either end";
  REQUIRE(course::at_most(c.global_load_lanes, 2 * most, "loads of x and y by threads", kPairs));
  REQUIRE(course::at_most(c.global_store_lanes, most, "stores by threads", kPairs));
  REQUIRE(course::at_least(c.global_store_sectors, n / 16, "sectors that are stored",
                           "each half of y is written, also where it stays the same"));
}

void check_requests(std::size_t n, Starts starts, Launch launch, Most most, const char* hint) {
  INFO(describe(n, starts, launch));
  require_at_most(*course::count([&] { check(n, starts, launch, kPlain); }), most, hint);
}

// Promise: if x and y are equally far from a multiple of 4 bytes, all but one half at either end go
// by half2 or wider, the lanes of a warp side by side (requests and sectors are counted).
// Promise: loads and stores are plain, without atomics.
TEST_CASE("half2_axpy: two halves at a time where both sides allow it") {
  course::skip_without_counters();
  struct Case {
    std::size_t n;
    Launch launch;
  };
  for (const Starts starts : {Starts{0, 0}, Starts{1, 1}, Starts{1, 3}, Starts{0, 2}}) {
    for (const auto [n, launch] :
         {Case{8192, {4, 128}}, Case{8191, {1, 1024}}, Case{999, {2, 96}}}) {
      const std::uint64_t wide = (n + 63) / 64;  // requests of 32 x 4 bytes
      const std::uint64_t turns = wide * 32 / (launch.grid * launch.block) + 1;
      // 128 bytes from a multiple of 4 on are in up to 5 sectors.
      check_requests(n, starts, launch,
                     {2 * wide + kEnds, wide + kEnds, 10 * wide + kEnds, 5 * wide + kEnds,
                      3 * turns + 2 * kEnds},
                     "one request of a warp moves 64 halves: 32 half2");
    }
  }
}

// Promise: each half of x and y is read once, and each half of y is written once.
TEST_CASE("half2_axpy: few halves go two at a time, too, and each of y is written") {
  course::skip_without_counters();
  for (const std::size_t n : {12u, 20u, 70u, 400u, 8192u}) {
    for (const Starts starts :
         {Starts{0, 0}, Starts{1, 1}, Starts{0, 2}, Starts{2, 2}, Starts{6, 2}, Starts{7, 7}}) {
      INFO(describe(n, starts, {4, 128}));
      require_pairs(*course::count([&] { check(n, starts, {4, 128}, kExtremes[0]); }), n, starts);
    }
  }
}

// Promise: if x and y are not equally far from a multiple of 4 bytes, single halves will do, the
// lanes of a warp side by side (each half of x may be read twice, to put pairs together).
// Promise: the threads share the work.
TEST_CASE("half2_axpy: the lanes share the work where x and y are not equally aligned") {
  course::skip_without_counters();
  constexpr std::size_t n = 4096, wide = n / 32;
  for (const Starts starts : {Starts{0, 1}, Starts{3, 2}}) {
    // Halves of x may be read twice, to put pairs together: that is 5 sectors for 32 halves of x, and 2 or
    // 3 for those of y. 64 bytes lie in up to 3 sectors.
    check_requests(
        n, starts, {4, 128},
        {3 * wide + kEnds, wide + kEnds, 8 * wide, 3 * wide + kEnds, 4 * n / (4 * 128) + 2 * kEnds},
        "one request of a warp moves 32 halves or more");
  }
}

// ---- large arrays ------------------------------------------------------------------------------

/// The last pairs of more than 2^32. Each array begins at a multiple of 4, and they do not begin alike at one of 8: no
/// access is wider than a pair.
void check_end() {
  constexpr std::size_t kAll = 2 * course::kHugeItems, kThere = 2 * course::kLastItems;
  const Numbers numbers = make_numbers(kDense, kThere);
  const course::Placed<unsigned short> x(numbers.x, 0);
  course::Placed<unsigned short> y(numbers.y, 2);
  INFO(describe(kAll, {0, 2}, course::kHugeGrid) << "; " << kDense.text);
  course::at_end_of_huge_grid([&](course::LaunchShape grid, std::size_t items) {
    const std::size_t n = 2 * items;
    const auto* const all_x = reinterpret_cast<const __half*>(x.data()) - (n - kThere);
    auto* const all_y = reinterpret_cast<__half*>(y.data()) - (n - kThere);
    course::launch(half2_axpy, {grid.grid, grid.block}, numbers.a, all_x, n, all_y);
    REQUIRE(same_bits(numbers, y.download()));
  });
}

// Promise: n may exceed 2^32, and so may the number of pairs (the CPU device runs the last two blocks of
// a grid that has a thread for each pair).
TEST_CASE("half2_axpy: more than 2^32 pairs, and 2^32 halves out of step") {
  if (course::kCpuDevice) return check_end();
  for (const std::size_t x_start : {1u, 2u}) {
    const std::size_t n = (std::size_t{x_start == 1 ? 2u : 1u} << 32) + 77;
    course::skip_without_memory(4 * (n + 2));
    INFO(describe(n, {x_start, 1}, {2048, 256}));
    course::DeviceBuffer<unsigned short> x(n + 2), y(n + 1);
    x.fill_bytes(0x3c);  // 0x3c3c: 1 + 60/1024
    y.fill_bytes(0);
    course::launch(half2_axpy, {2048, 256}, __float2half_rn(2.0f),
                   reinterpret_cast<const __half*>(x.data() + x_start), n,
                   reinterpret_cast<__half*>(y.data() + 1));
    const Bits expected(4096, 0x403c);  // 2 + 120/1024
    REQUIRE(course::same(part(y, 1, 4096), expected, "y, the bits of its first 4096 halves"));
    REQUIRE(course::same(part(y, n - 4095, 4096), expected, "y, the bits of its last 4096"));
  }
}

}  // namespace half2_axpy_check
