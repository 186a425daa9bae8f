// How often the rungs of this chapter read, write and add.
#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <course/check.cuh>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "testing.cuh"

using namespace scan_testing;

namespace scan_testing {

constexpr std::size_t kSector = 32;  // bytes

/// What a rung does with n floats that begin at a multiple of 64 bytes.
inline course::Counters count_scan(const ScanRung& rung, std::size_t n) {
  const auto d_x = course::DeviceBuffer<float>::from(exact_input(n));
  course::DeviceBuffer<float> out(n);
  ScanMemory memory;
  return *course::count([&] { rung.launch(d_x.data(), n, out.data(), memory); });
}

}  // namespace scan_testing

TEST_CASE("how often each rung reads and writes every element") {
  course::skip_without_counters();
  constexpr std::size_t n = 32'768;
  for (const ScanRung& rung : scan_rungs()) {
    if (rung.most < ~std::size_t{0}) continue;  // one lane alone: a sector for each element
    INFO(rung.name << ", n = " << n);
    const course::Counters counters = count_scan(rung, n);
    const std::size_t sectors = n * sizeof(float) / kSector;
    // Less: what the first block has written needs no addition. More: totals, and words of tiles.
    const std::size_t slack = sectors / 4;
    const std::size_t loaded = counters.global_load_sectors;
    REQUIRE(course::at_least(loaded, rung.reads * sectors - slack, "sectors loaded"));
    REQUIRE(course::at_most(loaded, rung.reads * sectors + slack, "sectors loaded"));
    REQUIRE(course::at_least(counters.global_store_sectors, rung.writes * sectors - slack,
                             "sectors stored"));
    REQUIRE(course::at_most(counters.global_store_sectors, rung.writes * sectors + slack,
                            "sectors stored"));
  }
}

TEST_CASE("the tree's bank conflicts, and none with padding") {
  course::skip_without_counters();
  const std::vector<ScanRung> rungs = scan_rungs();
  const auto plain = count_scan(course::rung_named(rungs, "scan_tree"), 4 * kTreeShare);
  const auto padded = count_scan(course::rung_named(rungs, "scan_tree_padded"), 4 * kTreeShare);
  REQUIRE(course::at_least(plain.bank_conflicts(), 1'000, "bank conflicts of scan_tree"));
  REQUIRE(course::at_most(padded.bank_conflicts(), plain.bank_conflicts() / 10,
                          "bank conflicts of scan_tree_padded"));
}

TEST_CASE("a ticket for each tile, and no other atomic but the words of the tiles") {
  course::skip_without_counters();
  const std::vector<ScanRung> rungs = small_rungs();
  constexpr std::size_t n = 20 * SmallShape::kPacks * kPack<float>;
  for (const char* name : {"scan_thread_looks_back, small tiles",
                           "scan_warp_looks_back, small tiles", "scan_groups, small tiles"}) {
    INFO(name << ", 20 tiles");
    const auto counters = count_scan(course::rung_named(rungs, name), n);
    REQUIRE(course::same(counters.global_atomic_lanes, 20, "atomics"));
  }
}
