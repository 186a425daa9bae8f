// Check of the exercise half2_axpy: every start on both sides, every length around a warp's, what
// lies before and behind, every kind of grid, and the bits of results that are easily rounded
// wrong; then how many requests it takes, and more than 2^32 halves.
#include "half2_axpy.cuh"

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <course/check.cuh>
#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

namespace {

using Launch = course::LaunchShape;
using Bits = std::vector<unsigned short>;  // of halves

/// Where the arrays begin: halves past a multiple of 16 bytes.
struct Starts {
  std::size_t x, y;
};

enum class Kind { plain, dense, tie, all, zero, tiny, huge };
constexpr Kind kKinds[] = {Kind::plain, Kind::dense, Kind::tie, Kind::all};

std::string to_string(Kind kind) {
  switch (kind) {
    case Kind::plain:
      return "a = 2, x and y from 1/8 to 15/8";
    case Kind::dense:
      return "a = 1.0224609375, x and y with all of their 11 bits";
    case Kind::tie:
      return "a = 1 + 1/1024, a * x just off the middle between two halves";
    case Kind::all:
      return "a = -1.5, x and y are any halves: subnormals, infinities, NaN, -0";
    case Kind::zero:
      return "a = 0, x and y are any halves: subnormals, infinities, NaN, -0";
    case Kind::tiny:
      return "a = 2^-24, the smallest half; x is any half, y a small one";
    case Kind::huge:
      return "a = 65504, the largest half; x and y are any halves";
  }
  return "";
}

__half half_of(unsigned short bits) {
  __half_raw raw;
  raw.x = bits;
  return __half(raw);
}

/// A half with any mantissa, from 1/4 up to 4, positive or negative.
unsigned short dense_bits(unsigned random) {
  return static_cast<unsigned short>((random & 0x83ff) | (13 + random / 65'536 % 4) << 10);
}

struct Numbers {
  __half a;
  Bits x, y, expected;
};

/// a * x + y in double, where it is exact or close enough to it, rounded to half once.
unsigned short axpy_bits(__half a, unsigned short x, unsigned short y) {
  const double product =
      static_cast<double>(__half2float(a)) * static_cast<double>(__half2float(half_of(x)));
  const double sum = product + static_cast<double>(__half2float(half_of(y)));
  return static_cast<__half_raw>(__double2half(sum)).x;
}

Numbers make_numbers(Kind kind, std::size_t n) {
  std::mt19937 random(static_cast<std::uint32_t>(n + 1));
  Numbers numbers;
  const float a = kind == Kind::plain   ? 2.0f
                  : kind == Kind::dense ? 1.0f + 23.0f / 1024
                  : kind == Kind::tie   ? 1.0f + 1.0f / 1024
                  : kind == Kind::zero  ? 0.0f
                  : kind == Kind::tiny  ? 0x1p-24f
                  : kind == Kind::huge  ? 65504.0f
                                        : -1.5f;
  numbers.a = __float2half_rn(a);
  const std::vector<__half> x = course::position_values<__half>(n, 1);
  const std::vector<__half> y = course::position_values<__half>(n, 2);
  for (std::size_t i = 0; i < n; ++i) {
    const auto r = static_cast<unsigned>(random()), q = static_cast<unsigned>(random());
    unsigned short x_bits = static_cast<__half_raw>(x[i]).x,
                   y_bits = static_cast<__half_raw>(y[i]).x;
    if (kind == Kind::dense) {
      x_bits = dense_bits(r >> 8);
      y_bits = dense_bits(q >> 8);
    } else if (kind == Kind::tie) {
      // a * x = 2^-11 (1 - 2^-20) or half of it, ...: less than half of y's last bit, which is a 1.
      // In float the sum is the middle between two halves, and goes to the wrong one.
      const unsigned exponent = 4 + r % 14;
      const unsigned sign = (r >> 16 & 1) << 15;
      x_bits = static_cast<unsigned short>(sign | exponent << 10 | 0x3fe);
      y_bits = static_cast<unsigned short>(sign | (exponent + 12) << 10 | (q % 512 * 2 + 1));
    } else if (kind != Kind::plain) {
      x_bits = static_cast<unsigned short>(r >> 8);
      y_bits = static_cast<unsigned short>(q >> 8);
      if (r % 8 == 0) x_bits &= 0x83ff;  // 0 and subnormals
      if (r % 8 == 1) x_bits |= 0x7c00;  // NaN
      if (r % 8 == 2) x_bits &= 0x8000;  // 0 and -0
      if (r % 32 == 3)
        x_bits = static_cast<unsigned short>((x_bits & 0x8000) | 0x7c00);  // infinity
      if (q % 8 == 0) y_bits &= 0x83ff;
      if (q % 8 == 1) y_bits &= 0x8000;
      if (q % 32 == 2) y_bits = 0xfc00;
      if (kind == Kind::tiny) y_bits &= 0x9fff;  // below 2^-7, as products are
    }
    numbers.x.push_back(x_bits);
    numbers.y.push_back(y_bits);
    numbers.expected.push_back(axpy_bits(numbers.a, x_bits, y_bits));
  }
  return numbers;
}

bool is_nan(unsigned short bits) { return (bits & 0x7fff) > 0x7c00; }

/// Ok if the bits are the same, or both are NaN.
course::Verdict same_bits(const Numbers& numbers, const Bits& y) {
  std::size_t wrong = 0, unchanged = 0, first = 0, last = 0;
  for (std::size_t i = y.size(); i-- > 0;) {
    if (y[i] == numbers.expected[i] || (is_nan(y[i]) && is_nan(numbers.expected[i]))) continue;
    if (wrong++ == 0) last = i;
    if (y[i] == numbers.y[i]) ++unchanged;
    first = i;
  }
  if (wrong == 0) return {};
  const auto text = [](unsigned short bits) {
    constexpr char kDigits[] = "0123456789abcdef";
    std::string hex;
    for (int shift = 12; shift >= 0; shift -= 4) hex += kDigits[bits >> shift & 15];
    return course::number_text(__half2float(half_of(bits))) + " (0x" + hex + ")";
  };
  return {false, "y[" + std::to_string(first) + "]: x = " + text(numbers.x[first]) + ", y was " +
                     text(numbers.y[first]) + ": expected " + text(numbers.expected[first]) +
                     ", found " + text(y[first]) + "\n" + std::to_string(wrong) + " of " +
                     std::to_string(y.size()) + " elements are wrong (first [" +
                     std::to_string(first) + "], last [" + std::to_string(last) + "])" +
                     (unchanged == wrong ? ": nothing was added to any of these" : "")};
}

/// What lies around x and y: ones around x and halves that are watched around y, so that y changes
/// where both are taken for part of the arrays; or (on the CPU device) memory that nobody has
/// written, and the end of the allocation, so that reading it is reported.
enum class Around { watched, nothing };
constexpr std::size_t kBehind = 24;

void check_launch(const Numbers& numbers, Starts starts, Launch launch, Around around) {
  const std::size_t n = numbers.x.size(), behind = around == Around::watched ? kBehind : 0;
  const auto mark = static_cast<unsigned short>(0x5aa5 ^ n);  // another one each time
  course::DeviceBuffer<unsigned short> x(starts.x + n + behind), y(starts.y + n + behind);
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
  half2_axpy<<<launch.grid, launch.block>>>(numbers.a, d_x, n, d_y);
  CUDA_CHECK_LAUNCH();
  Bits found(n), before(starts.y), after(behind), x_after(n);
  const auto fetch = [](Bits& to, const unsigned short* from) {
    if (to.empty()) return;
    CUDA_CHECK(cudaMemcpy(to.data(), from, 2 * to.size(), cudaMemcpyDeviceToHost));
  };
  fetch(found, y.data() + starts.y);
  REQUIRE(same_bits(numbers, found));
  fetch(x_after, x.data() + starts.x);
  REQUIRE(course::same(x_after, numbers.x, "x, the bits of its halves"));
  if (around == Around::nothing) return;
  fetch(before, y.data());
  fetch(after, y.data() + starts.y + n);
  REQUIRE(course::same(before, Bits(starts.y, mark), "the halves before y[0], as bits"));
  REQUIRE(course::same(after, Bits(behind, mark), "the halves behind y[n-1], as bits"));
}

std::string describe(std::size_t n, Starts starts, Launch launch) {
  return "n = " + std::to_string(n) + " halves; half2_axpy<<<" + std::to_string(launch.grid) +
         ", " + std::to_string(launch.block) + ">>>" +
         course::too_few_threads(launch, n / 2, "pairs") + "; x and y begin " +
         std::to_string(2 * starts.x) + " and " + std::to_string(2 * starts.y) +
         " bytes behind a multiple of 16";
}

void check(std::size_t n, Starts starts, Launch launch, Kind kind,
           Around around = Around::watched) {
  INFO(describe(n, starts, launch) << "; " << to_string(kind));
  check_launch(make_numbers(kind, n), starts, launch, around);
}

/// Ok if there are at most as many requests, or sectors.
course::Verdict at_most(const char* what, std::uint64_t found, std::uint64_t most,
                        const char* hint) {
  if (found <= most) return {};
  return {false, std::string(what) + ": expected at most " + std::to_string(most) +
                     " for the whole grid, found " + std::to_string(found) + "; " + hint};
}

/// The halves at either end go alone, each with a request of its own.
constexpr std::uint64_t kEnds = 8;

}  // namespace

TEST_CASE("half2_axpy: whole pairs") {
  for (const Kind kind : kKinds) {
    for (const std::size_t n : {2u, 64u, 500u}) check(n, {0, 0}, {2, 64}, kind);
  }
}

TEST_CASE("half2_axpy: every start on both sides") {
  const std::vector<std::size_t> sizes = {100, 1, 64, 31, 2, 17, 65, 3, 130};
  std::size_t turn = 0;  // another size and kind each time
  for (std::size_t x = 0; x < 8; ++x) {
    for (std::size_t y = 0; y < 8; ++y) {
      const Kind kind = kKinds[turn % std::size(kKinds)];
      check(sizes[turn++ % sizes.size()], {x, y}, {2, 32}, kind);
    }
  }
}

TEST_CASE("half2_axpy: every length") {
  for (std::size_t n = 0; n < 70; n += n < 8 ? 1 : 3) {
    for (const Starts starts : {Starts{0, 0}, Starts{1, 1}, Starts{1, 0}}) {
      check(n, starts, {1, 32}, Kind::dense);
    }
  }
}

TEST_CASE("half2_axpy: what lies before and behind y is not read, and not written") {
  for (const Starts starts :
       {Starts{0, 0}, Starts{1, 1}, Starts{0, 1}, Starts{3, 1}, Starts{1, 2}}) {
    for (const std::size_t n : {1u, 2u, 63u, 64u}) {
      check(n, starts, {1, 64}, Kind::plain, Around::nothing);
      check(n, starts, {1, 64}, Kind::plain, Around::watched);
    }
  }
}

TEST_CASE("half2_axpy: every size and grid") {
  const std::vector<Starts> starts = {{0, 0}, {1, 1}, {3, 5}, {0, 1}, {1, 2}, {7, 7}, {4, 6}};
  std::size_t turn = 0;  // other starts, another kind and another grid each time
  for (const std::size_t n : course::all_sizes()) {
    const std::vector<Launch> launches = course::launch_shapes(n / 2);
    for (int repeat = 0; repeat < 2; ++repeat) {
      check(n, starts[turn % starts.size()], launches[turn * 5 % launches.size()],
            kKinds[turn % std::size(kKinds)]);
      ++turn;
    }
  }
}

TEST_CASE("half2_axpy: many blocks, and a half or two") {
  const Launch launch{course::kCpuDevice ? 12u : 20'000u, 32};  // more than run at once
  for (const std::size_t n : {1u, 2u, 3u}) {
    for (const Starts starts : {Starts{0, 0}, Starts{1, 1}, Starts{0, 1}}) {
      check(n, starts, launch, Kind::plain);
    }
  }
}

TEST_CASE("half2_axpy: rounded once") {
  for (const Kind kind : {Kind::dense, Kind::tie, Kind::all}) {
    check(1999, {1, 1}, {2, 256}, kind);
    check(777, {0, 1}, {2, 96}, kind);
  }
}

TEST_CASE("half2_axpy: a is 0, tiny or huge") {
  for (const Kind kind : {Kind::zero, Kind::tiny, Kind::huge}) {
    for (const std::size_t n : {1u, 333u}) {
      check(n, {1, 1}, {2, 64}, kind);
      check(n, {0, 1}, {2, 96}, kind);
    }
  }
}

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
      INFO(describe(n, starts, launch));
      const auto c = course::count([&] { check(n, starts, launch, Kind::plain); });
      constexpr const char* kWidth = "one request of a warp moves 64 halves: 32 half2";
      REQUIRE(at_most("loads", c->global_loads, 2 * wide + kEnds, kWidth));
      REQUIRE(at_most("stores", c->global_stores, wide + kEnds, kWidth));
      REQUIRE(at_most("atomics", c->global_atomics, 0, "plain loads and stores will do"));
      // 128 bytes from a multiple of 4 on lie in up to 5 sectors.
      constexpr const char* kGaps = "are the lanes of a warp side by side?";
      REQUIRE(at_most("sectors of the loads", c->global_load_sectors, 10 * wide + kEnds, kGaps));
      REQUIRE(at_most("sectors of the stores", c->global_store_sectors, 5 * wide + kEnds, kGaps));
      const std::uint64_t turns = wide * 32 / (launch.grid * launch.block) + 1;
      REQUIRE(course::work_is_shared(*c, 3 * turns + 2 * kEnds));
    }
  }
}

TEST_CASE("half2_axpy: the lanes share the work where the sides are out of step") {
  course::skip_without_counters();
  constexpr std::size_t n = 4096;
  for (const Starts starts : {Starts{0, 1}, Starts{3, 2}}) {
    INFO(describe(n, starts, {4, 128}));
    const auto c = course::count([&] { check(n, starts, {4, 128}, Kind::plain); });
    constexpr const char* kShare = "one request of a warp moves 32 halves or more";
    // Halves of x may be read twice, to put pairs together.
    REQUIRE(at_most("loads", c->global_loads, 3 * n / 32 + kEnds, kShare));
    REQUIRE(at_most("stores", c->global_stores, n / 32 + kEnds, kShare));
    REQUIRE(at_most("atomics", c->global_atomics, 0, "plain loads and stores will do"));
    constexpr const char* kGaps = "are the lanes of a warp side by side?";
    REQUIRE(at_most("sectors of the loads", c->global_load_sectors, 10 * n / 32, kGaps));
    REQUIRE(at_most("sectors of the stores", c->global_store_sectors, 5 * n / 32, kGaps));
    REQUIRE(course::work_is_shared(*c, 4 * n / (4 * 128) + 2 * kEnds));
  }
}

TEST_CASE("half2_axpy: more than 2^32 halves") {
  constexpr std::size_t n = (std::size_t{1} << 32) + 77;
  course::skip_without_memory(4 * (n + 1));
  INFO(describe(n, {1, 1}, {2048, 256}));
  course::DeviceBuffer<unsigned short> x(n + 1), y(n + 1);
  x.fill_bytes(0x3c);  // 0x3c3c: 1 + 60/1024
  y.fill_bytes(0);
  half2_axpy<<<2048, 256>>>(__float2half_rn(2.0f), reinterpret_cast<const __half*>(x.data() + 1), n,
                            reinterpret_cast<__half*>(y.data() + 1));
  CUDA_CHECK_LAUNCH();
  Bits found(4096);
  const Bits expected(found.size(), 0x403c);  // 2 + 120/1024
  CUDA_CHECK(cudaMemcpy(found.data(), y.data() + 1, 2 * found.size(), cudaMemcpyDeviceToHost));
  REQUIRE(course::same(found, expected, "y, the bits of its first 4096 halves"));
  CUDA_CHECK(cudaMemcpy(found.data(), y.data() + 1 + n - found.size(), 2 * found.size(),
                        cudaMemcpyDeviceToHost));
  REQUIRE(course::same(found, expected, "y, the bits of its last 4096 halves"));
}
