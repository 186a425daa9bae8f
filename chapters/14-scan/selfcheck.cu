// Every rung of this chapter is right at every awkward size and alignment.
#include <catch2/catch_test_macros.hpp>
#include <course/check.cuh>
#include <cstddef>
#include <limits>
#include <vector>

#include "testing.cuh"

using namespace scan_testing;

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

TEST_CASE("every scan of floats takes many tiles") {
  for (const ScanRung& rung : small_rungs()) {
    const std::size_t n = course::kCpuDevice ? 16'903 : course::kBigSize;  // 34 tiles: two groups
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
    INFO(describe(rung.name, 8195, 0, 0));
    check_scan(rung, 8195, 0, 0);
  }
}

TEST_CASE("scan_bulk: blocks that take tiles in turn") {
  for (const std::size_t n : {1u, 256u, 3'000u, 9'001u}) {
    INFO("n = " << n);
    check_scan({.name = "scan_bulk, in turn",
                .changed = "",
                .launch =
                    [](const float* d_x, std::size_t size, float* d_out, ScanMemory& memory) {
                      launch_scan_bulk_shaped<SmallBulkInTurn>(d_x, size, d_out, course::Sum{},
                                                               memory.look_back);
                    }},
               n, n % 4, n % 3);
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
