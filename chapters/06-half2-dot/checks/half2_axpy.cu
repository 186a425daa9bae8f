// Check of the exercise half2_axpy: every start on both sides, every length around a warp's, what
// is before and after, every kind of grid, and the bits of results that are easily rounded
// wrong; then how many requests it takes, and more than 2^32 halves.
#include "half2_axpy.cuh"

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <course/check.cuh>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "checks/axpy.cuh"
#include "checks/axpy_requests.cuh"

namespace {

using Launch = course::LaunchShape;
using namespace axpy;

/// What is around x and y: ones around x and watched halves around y, which change if both are taken
/// for part of the arrays; or memory never written and the end of the allocation (the CPU device).
enum class Around { watched, nothing };
constexpr std::size_t kAfter = 24;

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

void check_requests(std::size_t n, Starts starts, Launch launch, Most most, const char* hint) {
  INFO(describe(n, starts, launch));
  require_at_most(*course::count([&] { check(n, starts, launch, kPlain); }), most, hint);
}

}  // namespace

TEST_CASE("half2_axpy: whole pairs") {
  for (const Kind& kind : kKinds) {
    for (const std::size_t n : {2u, 64u, 500u}) check(n, {0, 0}, {2, 64}, kind);
  }
}

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

TEST_CASE("half2_axpy: every length") {
  for (std::size_t n = 0; n < 70; n += n < 8 ? 1 : 3) {
    for (const Starts starts : {Starts{0, 0}, Starts{1, 1}, Starts{1, 0}}) {
      check(n, starts, {1, 32}, kDense);
    }
  }
}

TEST_CASE("half2_axpy: what is before and after y is not read, and not written") {
  for (const Starts starts :
       {Starts{0, 0}, Starts{1, 1}, Starts{0, 1}, Starts{3, 1}, Starts{1, 2}}) {
    for (const std::size_t n : {1u, 2u, 63u, 64u}) {
      check(n, starts, {1, 64}, kPlain, Around::nothing);
      check(n, starts, {1, 64}, kPlain, Around::watched);
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

TEST_CASE("half2_axpy: many blocks, more than 2^32 threads on a GPU, and few halves") {
  const bool few = course::kCpuDevice || course::skip_large();
  const Launch launch = few ? Launch{12, 32} : Launch{(1u << 22) + 2, 1024};
  for (const std::size_t n : {1u, 2u, 3u, 5000u}) {
    for (const Starts starts : {Starts{0, 0}, Starts{1, 1}, Starts{0, 1}}) {
      check(n, starts, launch, kPlain);
    }
  }
}

TEST_CASE("half2_axpy: rounded once") {
  for (const Kind& kind : {kDense, kTie, kAll}) {
    check(1999, {1, 1}, {2, 256}, kind);
    check(777, {0, 1}, {2, 96}, kind);
  }
}

TEST_CASE("half2_axpy: a is 0, -0, tiny, huge, infinite, NaN") {
  for (const Kind& kind : kExtremes) {
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
      const std::uint64_t turns = wide * 32 / (launch.grid * launch.block) + 1;
      // 128 bytes from a multiple of 4 on are in up to 5 sectors.
      check_requests(n, starts, launch,
                     {2 * wide + kEnds, wide + kEnds, 10 * wide + kEnds, 5 * wide + kEnds,
                      3 * turns + 2 * kEnds},
                     "one request of a warp moves 64 halves: 32 half2");
    }
  }
}

TEST_CASE("half2_axpy: few halves go two at a time, too, and each of y is written") {
  course::skip_without_counters();
  for (const std::size_t n : {70u, 400u, 8192u}) {
    for (const Starts starts : {Starts{0, 0}, Starts{1, 1}, Starts{0, 2}}) {
      INFO(describe(n, starts, {4, 128}));
      require_pairs(*course::count([&] { check(n, starts, {4, 128}, kExtremes[0]); }), n, starts);
    }
  }
}

TEST_CASE("half2_axpy: the lanes share the work where x and y are not equally aligned") {
  course::skip_without_counters();
  constexpr std::size_t n = 4096, wide = n / 32;
  for (const Starts starts : {Starts{0, 1}, Starts{3, 2}}) {
    // Halves of x may be read twice, to put pairs together.
    check_requests(
        n, starts, {4, 128},
        {3 * wide + kEnds, wide + kEnds, 10 * wide, 5 * wide, 4 * n / (4 * 128) + 2 * kEnds},
        "one request of a warp moves 32 halves or more");
  }
}

TEST_CASE("half2_axpy: more than 2^32 pairs, and 2^32 halves out of step") {
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
