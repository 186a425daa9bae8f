// Every rung of this chapter is right at every awkward size and alignment.
#include <catch2/catch_test_macros.hpp>
#include <course/check.cuh>
#include <cstddef>
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
    const std::size_t n = course::kCpuDevice ? 17'003 : course::kBigSize;  // 34 tiles: two groups
    INFO(describe(rung.name, n, 1, 1));
    check_scan(rung, n, 1, 1);
  }
}

TEST_CASE("the tiles of the ladder: one, and a bit more") {
  for (const ScanRung& rung : scan_rungs()) {
    if (rung.most < ~std::size_t{0} || rung.reads > 2) continue;  // they have no tiles
    for (const std::size_t n : {8192u, 8195u}) {
      INFO(describe(rung.name, n, 0, n % 2));
      check_scan(rung, n, 0, n % 2);
    }
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
