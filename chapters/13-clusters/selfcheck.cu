// Every rung of this chapter is right at every awkward size, and costs what the lesson says.
#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>
#include <course/check.cuh>
#include <course/data.cuh>
#include <course/guarded.cuh>
#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "first_clusters.cuh"
#include "inputs.cuh"
#include "rungs.cuh"

using namespace cluster_checks;

TEST_CASE("the first clusters sum and count") {  // the pictures of the lesson show this run
  if (!course::has_clusters()) SKIP(course::kNoClusters);
  const std::vector<int> x{3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8, 9, 7, 9, 3};
  REQUIRE(course::same(launch_sum_of_cluster(x), 80, "the sum"));
  REQUIRE(course::same(launch_count_at_owner({3, 1, 4, 1, 5, 7, 2, 6, 5, 3, 5, 0, 4, 1, 6, 2}),
                       {1, 3, 2, 2, 2, 3, 2, 1}, "bins"));
}

TEST_CASE("every sum is exact, again and again") {
  if (!course::has_clusters()) SKIP(course::kNoClusters);
  for (const std::size_t n :
       {std::size_t{0}, std::size_t{1}, std::size_t{33}, std::size_t{1025},
        std::size_t{4 * TunedForSmall::kRound + 5}, std::size_t{kTileBytes + 20}}) {
    const std::vector<float> x = course::position_values<float>(n);  // sums of these are exact
    Summing input(x);
    for (const SumRung& rung : sum_rungs()) {
      if (!rung.sums) continue;
      INFO(rung.name << ", n = " << n);
      input.reset();
      for (int launch = 1; launch <= 2; ++launch) {
        input.launch(rung);
        REQUIRE(course::same(input.sum(), static_cast<float>(sum_reference(x)), "the sum"));
      }
    }
  }
}

TEST_CASE("the sums of long arrays are exact for short ones, too") {
  if (!course::has_clusters()) SKIP(course::kNoClusters);
  const SumRung rungs[] = {{"sum_block_atomics", "", launch_sum_block_atomics_tuned<TunedForLarge>},
                           {"sum_cluster", "", launch_sum_cluster_tuned<TunedForLarge>}};
  for (const std::size_t n : {std::size_t{3}, std::size_t{4 * TunedForLarge::kRound + 5}}) {
    const std::vector<float> x = course::position_values<float>(n);
    Summing input(x);
    for (const SumRung& rung : rungs) {
      INFO(rung.name << ", n = " << n);
      input.reset();
      input.launch(rung);
      REQUIRE(course::same(input.sum(), static_cast<float>(sum_reference(x)), "the sum"));
    }
  }
}

TEST_CASE("a sum has one atomic per block, or per cluster") {
  if (!course::has_clusters()) SKIP(course::kNoClusters);
  course::skip_without_counters();
  const std::size_t n = 16 * 4 * TunedForSmall::kRound;
  Summing input(course::position_values<float>(n));
  for (const SumRung& rung : sum_rungs()) {
    if (!rung.sums || rung.name == "sum_bulk") continue;
    INFO(rung.name);
    const auto c = course::count([&] { input.launch(rung); });
    REQUIRE(course::same(c->global_atomic_lanes, 16 / rung.blocks_of_atomic, "atomics"));
    REQUIRE(course::same(c->cluster_barriers,
                         rung.cluster_barriers * 16 / course::kMostBlocksOfCluster, "barriers"));
  }
  for (const FloorRung& rung : floor_rungs()) {
    INFO(rung.name);
    const auto c = course::count(rung.launch);
    REQUIRE(course::same(c->launches, 1, "launches"));
    REQUIRE(course::none(c->global_loads + c->global_stores + c->global_atomics,
                         "accesses to global memory"));
  }
}

TEST_CASE("sum_bulk loads each tile with one instruction") {
  course::skip_without_counters();
  const std::size_t n = 5 * kTileBytes / sizeof(float);
  Summing input(course::position_values<float>(n));
  const auto c = course::count([&] { input.launch(course::rung_named(sum_rungs(), "sum_bulk")); });
  REQUIRE(course::same(c->bulk_loads, 5, "bulk loads"));
  REQUIRE(course::same(c->global_loads, 0, "loads by warps"));
}

TEST_CASE("every sum in two steps is exact, again and again") {
  if (!course::has_clusters()) SKIP(course::kNoClusters);
  constexpr std::size_t kRoundSize = 4 * TunedForSteps::kRound;
  for (const std::size_t n : {std::size_t{0}, std::size_t{3}, std::size_t{1025}, kRoundSize,
                              16 * kRoundSize, 19 * kRoundSize + 5}) {  // 16 blocks are resident
    const std::vector<float> x = course::position_values<float>(n);
    StepsMemory memory(x);
    for (const StepsRung& rung : steps_rungs()) {
      for (int launch = 1; launch <= 2; ++launch) {
        INFO(rung.name << ", n = " << n << ", launch " << launch);
        memory.parts.fill_bytes(0xFF);  // NaN
        memory.sum.fill_bytes(0xFF);
        rung.launch(memory);
        REQUIRE(course::same(memory.sum.front(), static_cast<float>(sum_reference(x)), "the sum"));
        REQUIRE(course::same(memory.ticket.front(), 0u, "the ticket"));
      }
    }
  }
}

TEST_CASE("a sum in two steps has the same bits in every run") {
  if (!course::has_clusters()) SKIP(course::kNoClusters);
  if (course::has_run_before()) return;  // it chooses its schedules itself: once is enough
  std::vector<float> x(8 * 4 * TunedForSteps::kRound);
  for (std::size_t i = 0; i < x.size(); ++i)
    x[i] = 1.0f / static_cast<float>(i + 1);  // sums are rounded
  StepsMemory memory(x);
  std::set<float> sums;  // of all rungs: they add in the same order
  for (const StepsRung& rung : steps_rungs()) {
    for (std::uint64_t seed = 0; seed < 4; ++seed) {
      course::with_seed(seed, [&] {
        rung.launch(memory);
        sums.insert(memory.sum.front());
      });
    }
  }
  REQUIRE(course::same(sums.size(), std::size_t{1}, "different sums"));
}

TEST_CASE("a sum in two steps has two kernels, or one, and loads every element once") {
  if (!course::has_clusters()) SKIP(course::kNoClusters);
  course::skip_without_counters();
  constexpr unsigned kBlocks = 8;
  const std::size_t n = std::size_t{kBlocks} * 4 * TunedForSteps::kRound;
  StepsMemory memory(course::position_values<float>(n));
  REQUIRE(course::same(memory.blocks, kBlocks, "blocks"));
  for (const StepsRung& rung : steps_rungs()) {
    INFO(rung.name);
    const auto c = course::count([&] { rung.launch(memory); });
    REQUIRE(course::same(c->launches, rung.kernels, "kernels"));
    REQUIRE(course::same(c->blocks, kBlocks + rung.kernels - 1, "blocks of them"));
    REQUIRE(course::same(c->global_atomic_lanes, rung.tickets * kBlocks, "atomics"));
    REQUIRE(course::same(c->global_load_lanes, n / 4 + kBlocks, "loads: of packs and of parts"));
    REQUIRE(course::same(c->global_store_lanes, kBlocks + 1, "stores: of parts and of the sum"));
  }
}

TEST_CASE("every chain is exact, again and again") {
  if (!course::has_clusters()) SKIP(course::kNoClusters);
  if (course::has_run_before()) return;  // it chooses its schedules itself: once is enough
  for (const std::size_t n :
       {std::size_t{1}, std::size_t{11}, std::size_t{kChainBlock}, std::size_t{2 * kChainBlock + 1},
        std::size_t{19 * kChainBlock - 5}}) {
    const std::vector<float> x = course::position_values<float>(n);  // eighths: the sums are exact
    const std::vector<float> expected = chain_reference(x);
    ChainMemory memory(x);
    for (const ChainRung& rung : chain_rungs()) {
      for (std::uint64_t seed = 0; seed < 3; ++seed) {
        INFO(rung.name << ", n = " << n << ", launch " << seed + 1);
        memory.forget();
        course::with_seed(seed, [&] { rung.launch(memory); });
        REQUIRE(course::same(memory.result(), expected, "numbers"));
      }
    }
  }
}

TEST_CASE(
    "a chain has ten kernels, or one; the fused one loads each number once and its ends twice") {
  if (!course::has_clusters()) SKIP(course::kNoClusters);
  course::skip_without_counters();
  constexpr unsigned kTiles = 4;
  constexpr std::size_t n = std::size_t{kTiles} * kChainBlock;
  ChainMemory memory(course::position_values<float>(n));
  for (const ChainRung& rung : chain_rungs()) {
    INFO(rung.name);
    const auto c = course::count([&] { rung.launch(memory); });
    REQUIRE(course::same(c->launches, rung.kernels, "kernels"));
    REQUIRE(course::same(c->blocks, rung.kernels * kTiles, "blocks of them"));
    const bool is_queue = rung.name == "chain_queue", is_fused = rung.name == "chain_fused";
    REQUIRE(course::same(c->global_store_lanes,
                         (is_fused ? 1 : kChainSteps) * n + (is_queue ? kChainSteps * kTiles : 0),
                         "stores: of numbers, and of what is done"));
    if (is_fused) {
      REQUIRE(course::same(c->global_load_lanes, n + 2 * (kTiles - 1) * kChainSteps, "loads"));
    }
    if (is_queue) {
      REQUIRE(course::same(c->global_atomic_lanes, kChainSteps * kTiles + kTiles,
                           "atomics: one for each item, and one for the end of each block"));
    }
  }
}

TEST_CASE("every histogram counts every value once") {
  if (!course::has_clusters()) SKIP(course::kNoClusters);
  constexpr unsigned kBins = 1024;
  for (const std::size_t n :
       {std::size_t{0}, std::size_t{7}, std::size_t{1025}, course::kBigSize}) {
    const std::vector<Value> values = even_values(n, kBins);
    const auto d_values = course::DeviceBuffer<Value>::from(values);
    for (const HistogramRung& rung : histogram_rungs()) {
      INFO(rung.name << ", n = " << n);
      course::GuardedBuffer<unsigned> found(kBins);
      found.fill_bytes(0x5A);
      rung.launch({d_values.data(), n, found.data(), kBins});
      REQUIRE(course::same(found.download(), histogram_reference(values, kBins), "bins"));
      REQUIRE(found.intact("bins"));
    }
  }
}

TEST_CASE("a carry of histogram_halves comes just in time") {
  if (!course::has_clusters()) SKIP(course::kNoClusters);
  for (const std::size_t n : {std::size_t{kCarry} - 1, std::size_t{kCarry} + 9}) {
    INFO("n = " << n << ", all of them 1");
    const auto d_values =
        course::DeviceBuffer<Value>::from(std::vector<Value>(n, static_cast<Value>(1)));
    course::DeviceBuffer<unsigned> bins(8);
    launch_histogram_halves({d_values.data(), n, bins.data(), 8});
    REQUIRE(course::same(bins.download(), {0, static_cast<unsigned>(n), 0, 0, 0, 0, 0, 0}, "bins"));
  }
}

TEST_CASE("histograms in shared memory have a shared atomic per value") {
  course::skip_without_counters();
  constexpr unsigned kBins = 256;
  const std::size_t n = 8 * 2048;
  const auto d_values = course::DeviceBuffer<Value>::from(even_values(n, kBins));
  course::DeviceBuffer<unsigned> bins(kBins);
  for (const HistogramRung& rung : histogram_rungs()) {
    INFO(rung.name);
    const auto c = course::count([&] { rung.launch({d_values.data(), n, bins.data(), kBins}); });
    REQUIRE(course::same(c->shared_atomic_lanes, rung.is_shared ? n : 0, "shared atomics"));
    const std::size_t reads = rung.name == "histogram_passes" ? 2 : 1;
    REQUIRE(course::same(c->global_load_lanes, reads * n / kValuesPerPack, "loads of 16 bytes"));
  }
}

TEMPLATE_TEST_CASE("rows are added exactly, of any width that is a multiple of 16 bytes", "", float,
                   __half, __nv_bfloat16) {
  if (!course::has_clusters()) SKIP(course::kNoClusters);
  using T = TestType;
  for (const unsigned width : {16u, 64u, 1024u}) {
    for (const std::size_t count : {0, 95, 97, 193}) {
      if (width == 1024 && count > 97) continue;
      const std::vector<T> source = coin_flips<T>(count * width);
      const std::vector<int> index = random_index(count, 7);
      const auto d_source = course::DeviceBuffer<T>::from(source);
      const auto d_index = course::DeviceBuffer<int>::from(index);
      const std::vector<double> expected = rows_reference(source, index, width, 7);
      for (const RowsRung<T>& rung : rows_rungs<T>()) {
        INFO(rung.name << ", " << count << " rows of " << width);
        course::GuardedBuffer<T> table(std::size_t{7} * width);
        table.fill_bytes(0);
        rung.launch({d_source.data(), d_index.data(), count, width, table.data()});
        const std::vector<T> found = table.download();
        for (std::size_t i = 0; i < found.size(); ++i) {
          REQUIRE(course::same(static_cast<double>(static_cast<float>(found[i])), expected[i],
                               "table[" + std::to_string(i) + "]"));
        }
        REQUIRE(table.intact("table"));
      }
    }
  }
}

TEST_CASE("rows_bulk has one bulk addition per row, and one bulk load per tile") {
  course::skip_without_counters();
  constexpr unsigned kWidth = 64, kCount = 2 * kRowsOfTile;
  const auto d_source = course::DeviceBuffer<__half>::from(coin_flips<__half>(kCount * kWidth));
  const auto d_index = course::DeviceBuffer<int>::from(random_index(kCount, 7));
  auto table = course::DeviceBuffer<__half>::zeros(7 * kWidth);
  std::vector<RowsRung<__half>> rungs = parts_of_rows<__half>();
  rungs.push_back(course::rung_named(rows_rungs<__half>(), "rows_bulk"));
  for (const RowsRung<__half>& rung : rungs) {
    if (rung.work == Work::adds) continue;  // it adds what no load brought: a finding
    INFO(rung.name);
    const auto c = course::count([&] {
      rung.launch({d_source.data(), d_index.data(), kCount, kWidth, table.data()});
    });
    REQUIRE(course::same(c->bulk_loads, 2, "bulk loads"));
    REQUIRE(
        course::same(c->bulk_additions, rung.work == Work::loads ? 0 : kCount, "bulk additions"));
    REQUIRE(course::same(c->global_atomic_lanes, 0, "atomics by threads"));
  }
}
