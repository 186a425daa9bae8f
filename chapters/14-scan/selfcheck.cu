// Every rung of this chapter is right at every awkward size and alignment.
#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <course/check.cuh>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "testing.cuh"

using namespace scan_testing;

namespace scan_testing {
/// 34 small tiles: two groups.
constexpr unsigned kManyTiles = 16'903;
}  // namespace scan_testing

// ---- sums of floats -----------------------------------------------------------------------------

TEST_CASE("every scan of floats is right, at every size") {
  std::size_t turn = 0;  // of alignments
  for (const ScanRung& rung : small_rungs()) {
    for (const std::size_t n : course::kSizes) {
      const std::size_t offset_x = turn % 4, offset_out = turn / 2 % 4;
      turn += 3;
      INFO(describe(rung.name, n, offset_x, offset_out));
      check_scan(rung, n, offset_x, offset_out);
    }
  }
}

TEST_CASE("a block scans small integers") {  // pictures of the lesson show this run
  for (const auto& [name, n] : {std::pair{"scan_two_buffers", 256}, std::pair{"scan_tree", 512}}) {
    INFO(name);
    std::vector<float> x(static_cast<std::size_t>(n));
    for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>((3 + 5 * i) % 7);
    const auto d_x = course::DeviceBuffer<float>::from(x);
    course::GuardedBuffer<float> out(x.size());
    ScanMemory memory;
    course::rung_named(scan_rungs(), name).launch(d_x.data(), x.size(), out.data(), memory);
    REQUIRE(course::same(out.download(), exact_sums(x), "out"));
  }
}

TEST_CASE("every scan of floats takes many tiles") {
  for (const ScanRung& rung : small_rungs()) {
    const std::size_t n = course::kCpuDevice ? kManyTiles : course::kBigSize;
    INFO(describe(rung.name, n, 1, 1));
    check_scan(rung, n, 1, 1);
  }
}

TEST_CASE("every scan of floats may write to the array that it reads, in launch after launch") {
  for (const ScanRung& rung : small_rungs()) {
    ScanMemory memory;
    for (const std::size_t n : {300u, 1'300u, 0u, 700u}) {
      INFO(rung.name << ": n = " << n << ", in place");
      const std::vector<float> x = exact_input(n);
      course::Placed<float> d_x(x, n % 3);
      rung.launch(d_x.data(), n, d_x.data(), memory);
      REQUIRE(course::same(d_x.download(), exact_sums(x), "out in place of x"));
      REQUIRE(d_x.intact("x"));
    }
  }
}

TEST_CASE("the tiles of the ladder: one, and a bit of another one") {
  for (const ScanRung& rung : scan_rungs()) {
    if (rung.most < ~std::size_t{0} || rung.reads > 2) continue;  // they have no tiles
    INFO(describe(rung.name, 16'387, 0, 0));
    check_scan(rung, 16'387, 0, 0);
  }
}

// ---- any operation ------------------------------------------------------------------------------

TEST_CASE("a scan takes any operation with an identity") {
  check_any<Scan::inclusive, float, course::Max>("maximum of floats", [](std::size_t i) {
    return static_cast<float>(static_cast<int>(course::mixed(i) % 100'000) - 90'000 +
                              static_cast<int>(i));
  });
  check_any<Scan::exclusive, unsigned, course::Sum>(
      "sum of unsigned", [](std::size_t i) { return static_cast<unsigned>(course::mixed(i)); });
  check_any<Scan::inclusive, unsigned long long, course::Sum>(
      "sum of 64 bits", [](std::size_t i) { return 0ull + course::mixed(i); });
}

TEST_CASE("the operation need not commute") {
  const auto make = [](std::size_t i) {
    return Affine<unsigned>{static_cast<unsigned>(course::mixed(i)) | 1u,
                            static_cast<unsigned>(course::mixed(i) >> 32)};
  };
  check_any<Scan::inclusive, Affine<unsigned>, Compose>("x -> a x + b, modulo 2^32", make);
  check_any<Scan::exclusive, Affine<unsigned>, Compose>("x -> a x + b, modulo 2^32", make);
}

// ---- segments, runs, digits ---------------------------------------------------------------------

namespace scan_testing {

/// Keys in runs of 1 to `longest`.
inline std::vector<unsigned> keys_in_runs(std::size_t n, unsigned longest) {
  std::vector<unsigned> keys;
  for (unsigned run = 0; keys.size() < n; ++run) {
    const std::size_t length = 1 + course::mixed(run) % longest;
    keys.resize(std::min(n, keys.size() + length), run * 7 % 251);
  }
  return keys;
}

/// Sums of the segments of keys, by small tiles; then in place, by another launch with the same memory.
template <class Where, class Element>
void check_segments(const std::vector<float>& x, const std::vector<Element>& where,
                    const std::vector<double>& expected, std::size_t offset) {
  const course::Placed<float> d_x(x, offset);
  const course::Placed<Element> d_where(where, offset % 2 == 0 ? offset : 3);
  course::Placed<float> out(std::vector<float>(x.size(), -77), offset), in_place(x, offset);
  course::LookBackMemory<float> memory;
  const auto launch = [&](const float* from, float* to) {
    launch_scan_segments_shaped<SegmentsInGroups<1>, SmallShape>(from, x.size(),
                                                                 Where{d_where.data()}, to, memory);
  };
  launch(d_x.data(), out.data());
  launch(in_place.data(), in_place.data());
  const std::vector<float> sums(expected.begin(), expected.end());
  REQUIRE(course::same(out.download(), sums, "out"));
  REQUIRE(course::same(in_place.download(), sums, "out in place of x"));
  REQUIRE(out.intact("out"));
  REQUIRE(in_place.intact("x"));
}

}  // namespace scan_testing

TEST_CASE("sums of segments, by flags and by keys, of any length") {
  std::size_t offset = 0;
  for (const unsigned longest : {1u, 5u, 700u, 100'000u}) {
    for (const std::size_t n : {1u, 259u, kManyTiles}) {
      INFO("segments of 1 to " << longest << ", n = " << n);
      const std::vector<float> x = exact_input(n);
      const std::vector<unsigned> keys = keys_in_runs(n, longest);
      std::vector<std::uint8_t> flags(n), small(keys.begin(), keys.end());
      for (std::size_t i = 1; i < n; ++i) flags[i] = keys[i] != keys[i - 1] ? 1 + i % 200 : 0;
      const auto sums = segments_reference(x, [&](std::size_t i) { return flags[i] != 0; });
      check_segments<ByFlag>(x, flags, sums, offset % 4);
      check_segments<ByKey<unsigned>>(x, keys, sums, offset % 4);
      check_segments<ByKey<std::uint8_t>>(x, small, sums, offset % 4);
      ++offset;
    }
  }
}

namespace scan_testing {

/// The runs of x by tiles of a shape.
template <class ShapeT>
void check_runs(const std::vector<unsigned>& x, std::size_t offset) {
  const Encoded expected = encode_reference(x);
  const course::Placed<unsigned> d_x(x, offset);
  course::GuardedBuffer<unsigned> keys(expected.keys.size()), lengths(expected.keys.size()),
      count(1);
  course::LookBackMemory<Runs> memory;
  launch_encode_runs<InGroups<1>, ShapeT>(d_x.data(), x.size(),
                                          {keys.data(), lengths.data(), count.data()}, memory);
  REQUIRE(course::same(count.download().front(), expected.keys.size(), "count"));
  REQUIRE(course::same(keys.download(), expected.keys, "keys"));
  REQUIRE(course::same(lengths.download(), expected.lengths, "lengths"));
  REQUIRE(keys.intact("keys"));
  REQUIRE(lengths.intact("lengths"));
}

}  // namespace scan_testing

TEST_CASE("the runs of an array, and their lengths") {
  for (const unsigned longest : {1u, 4u, 900u, 100'000u}) {
    for (const std::size_t n : {0u, 1u, 258u, kManyTiles}) {
      INFO("runs of 1 to " << longest << ", n = " << n);
      const std::vector<unsigned> x = keys_in_runs(n, longest);
      check_runs<SmallShape>(x, n % 4);
      check_runs<RunShape>(x, longest % 4);  // more than four packs per lane
    }
  }
}

TEST_CASE("a pass sorts by one digit and keeps the order, four passes sort") {
  using ShapeT = RadixShape<256, 2, 1>;
  RadixMemory memory;
  for (const std::size_t n : {0u, 1u, 511u, 1'600u}) {
    for (const std::uint64_t mask : {0xffff'ffffull, 0x0003'0201ull, 0ull}) {
      INFO("n = " << n << ", keys & " << mask);
      std::vector<unsigned> keys(n);
      for (std::size_t i = 0; i < n; ++i) keys[i] = static_cast<unsigned>(course::mixed(i) & mask);
      const auto d_keys = course::DeviceBuffer<unsigned>::from(keys);
      course::GuardedBuffer<unsigned> out(n);
      launch_radix_passes<Peers::by_match, ShapeT>(d_keys.data(), n, out.data(), 1, 2, memory);
      std::vector<unsigned> expected = keys;
      std::stable_sort(expected.begin(), expected.end(),
                       [](unsigned a, unsigned b) { return digit_of(a, 1) < digit_of(b, 1); });
      REQUIRE(course::same(out.download(), expected, "keys by digit 1"));
      launch_radix_sort<Peers::by_votes, ShapeT>(d_keys.data(), n, out.data(), memory);
      std::sort(expected.begin(), expected.end());
      REQUIRE(course::same(out.download(), expected, "sorted keys"));
      REQUIRE(out.intact("out"));
    }
  }
}

TEST_CASE("the scan for any size takes the fastest rung for it") {
  for (const std::size_t n : {1u, 10'000u, course::kCpuDevice ? 20'000u : 5'000'000u}) {
    INFO("launch_scan, n = " << n);
    const std::vector<float> x = exact_input(n);
    const auto d_x = course::DeviceBuffer<float>::from(x);
    course::GuardedBuffer<float> out(n);
    course::LookBackMemory<float> memory;
    launch_scan(d_x.data(), n, out.data(), course::Sum{}, memory);
    REQUIRE(course::same(out.download(), exact_sums(x), "out"));
    REQUIRE(out.intact("out"));
  }
}
