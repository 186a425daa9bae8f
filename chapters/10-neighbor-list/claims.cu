// What the lesson says of cells, of the scan, of races and of costs; and the generator.
#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <course/check.cuh>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <vector>

#include "testing.cuh"

using namespace neighbor_testing;

// ---- the parts of neighbors_cells ---------------------------------------------------------------

TEST_CASE("what has to be 0 before a run is 0 after it") {
  const HostAtoms<float> atoms = make_scene<float>(Scene::random, 1100, 6);
  CellWorkspace<float> work(atoms.size());
  REQUIRE(work.words.size() > 1);  // tiles
  run(cells_with(work), atoms, squared_cutoff<float>(0.5), 12);
  REQUIRE(course::same(work.counts.download(), std::vector<int>(work.counts.size()), "counts"));
  REQUIRE(course::same(work.words.download(), std::vector<unsigned long long>(work.words.size()),
                       "words"));
  REQUIRE(course::same(work.ticket.download().front(), 0u, "ticket"));
  REQUIRE(course::same(work.measured.download().front(), 0u, "measured"));
}

TEST_CASE("neighbours lie in adjacent cells, and no cell is visited twice") {
  for (const Scene scene : kScenes) {
    for (const double cutoff : {1e-5, 0.3, 2.0}) {
      INFO(name_of(scene) << ", cutoff " << cutoff);
      const HostAtoms<float> atoms = make_scene<float>(scene, 30, 9);
      const float limit = squared_cutoff<float>(cutoff);
      const CellGrid grid = make_cell_grid(box_of(atoms.view()), limit, most_cells(30));
      const auto cells =
          static_cast<std::size_t>(grid.columns) * static_cast<std::size_t>(grid.rows);
      REQUIRE(cells <= most_cells(30));
      std::vector<int> starts(cells + 1);
      std::iota(starts.begin(), starts.end(), 0);  // one atom a cell: runs are the cells themselves
      for (std::size_t n = 0; n < atoms.size(); ++n) {
        std::vector<int> visits(cells, 0);
        visit_near_cells(grid, starts.data(), cell_at(grid, atoms.x[n], atoms.y[n]),
                         [&](int first, int end) {
                           for (int c = first; c < end; ++c) ++visits[static_cast<std::size_t>(c)];
                         });
        REQUIRE(*std::max_element(visits.begin(), visits.end()) == 1);
        for (std::size_t m = 0; m < atoms.size(); ++m) {
          const Cell cell = cell_at(grid, atoms.x[m], atoms.y[m]);
          REQUIRE((cell.column >= 0 && cell.column < grid.columns));
          REQUIRE((cell.row >= 0 && cell.row < grid.rows));
          if (squared_distance(atoms.x[n], atoms.y[n], atoms.x[m], atoms.y[m]) < limit) {
            REQUIRE(visits[static_cast<std::size_t>(number_of(grid, cell))] == 1);
          }
        }
      }
    }
  }
}

TEST_CASE("neighbours lie in adjacent cells, wherever the edges of the cells are") {
  // Pairs a hair nearer than the cutoff, around each of many edges.
  const double cutoff = 1.9, left = -0.3;
  const auto limit = squared_cutoff<double>(cutoff);
  const CellGrid grid = make_cell_grid({left, 1e5, 0, 1}, limit, std::size_t{1} << 30);
  REQUIRE(grid.wraps_x == 0);
  std::size_t pairs = 0;
  for (int edge = 1; edge < 40'000; edge += 1 + edge / 7) {
    for (const double width :
         {cutoff, 2 / grid.per_half}) {  // cells as they could be, and as they are
      for (int step = -600; step <= 600; ++step) {
        const double x = left + width * edge + cutoff * 0x1p-18 * step * std::abs(step) / 40;
        double other = x + cutoff;
        while (!(squared_distance(x, 0.0, other, 0.0) < limit)) other = std::nextafter(other, x);
        if (x < left) continue;
        const int apart = cell_at(grid, other, 0.0).column - cell_at(grid, x, 0.0).column;
        if (apart != 0 && apart != 1) {
          FAIL(x << " and " << other << " are neighbours, and " << apart << " cells apart");
        }
        ++pairs;
      }
    }
  }
  REQUIRE(pairs > 10'000);
}

namespace neighbor_testing {

__global__ void look_back_once(ScanState scan, int tile, int total, int* d_before) {
  const int before = look_back(scan, tile, total);
  if (threadIdx.x == 0) *d_before = before;
}

}  // namespace neighbor_testing

TEST_CASE("look_back sums all tiles since the last prefix, however many they are") {
  constexpr int kTiles = 100;
  for (const int prefix :
       {0, 3, 4, 34, 35, 36, 66, 67, 98}) {  // the newest tile that knows its own
    INFO("tile 99 looks back to tile " << prefix);
    std::vector<unsigned long long> words;
    int expected = 0;
    for (int tile = 0; tile + 1 < kTiles; ++tile) {
      const int sum = tile < prefix ? 5000 : 1 + tile * tile;  // no tile looks before the prefix
      words.push_back(scan_word(tile == prefix ? kPrefix : kTotal, sum));
      if (tile >= prefix) expected += sum;
    }
    words.push_back(0);
    auto d_words = course::DeviceBuffer<unsigned long long>::from(words);
    course::DeviceBuffer<int> d_before(1);
    const ScanState scan{d_words.data(), nullptr};
    course::launch(look_back_once, {1, 32}, scan, kTiles - 1, 7, d_before.data());
    REQUIRE(course::same(d_before.download().front(), expected, "before"));
    const unsigned long long word = d_words.download().back();
    REQUIRE(state_of(word) == kPrefix);
    REQUIRE(sum_of(word) == expected + 7);
  }
}

namespace neighbor_testing {

struct SoMany {
  std::size_t cells;
  __device__ std::size_t operator()() const { return cells; }
};

}  // namespace neighbor_testing

TEST_CASE("scan_cells sums all counts before a cell") {
  const std::size_t big = course::kCpuDevice ? 5 * kScanTile : 100 * kScanTile;
  for (const std::size_t cells :
       {std::size_t{1}, std::size_t{255}, kScanTile - 1, kScanTile, kScanTile + 1, big + 17}) {
    const std::size_t tiles = scan_tiles(cells), size = tiles * kScanTile;
    INFO(cells << " cells, " << tiles << " tiles");
    std::vector<int> counts = course::position_values<int>(size);
    std::fill(counts.begin() + static_cast<long>(cells), counts.end(), 0);
    auto d_counts = course::DeviceBuffer<int>::from(counts);
    course::GuardedBuffer<int> starts(size);
    auto words = course::DeviceBuffer<unsigned long long>::zeros(tiles);
    auto ticket = course::DeviceBuffer<unsigned>::zeros(1);
    // Two blocks more than tiles: the launcher of neighbors_cells has spare ones as well.
    course::launch(scan_cells<SoMany>, {static_cast<unsigned>(tiles) + 2, kScanThreads},
                   d_counts.data(), starts.data(), SoMany{cells},
                   ScanState{words.data(), ticket.data()});
    std::vector<int> expected(size, 0);
    std::exclusive_scan(counts.begin(), counts.end(), expected.begin(), 0);
    REQUIRE(course::same(starts.download(), expected, "starts"));
    REQUIRE(starts.intact("starts"));
    REQUIRE(course::same(d_counts.download(), std::vector<int>(size, 0), "counts"));
  }
}

// ---- the generator ------------------------------------------------------------------------------

TEST_CASE("make_graphene makes as many atoms as asked, none too close, the same every time") {
  for (const std::size_t n : {0, 1, 2, 17, 100, 700}) {
    INFO(n << " atoms");
    const Sheet sheet = make_graphene(n, 5);
    REQUIRE(sheet.x.size() == n);
    REQUIRE(sheet.y.size() == n);
    const NeighborList close = neighbors_cpu(Atoms<double>{sheet.x.data(), sheet.y.data(), n},
                                             squared_cutoff<double>(1.19), 1);
    REQUIRE(close.ends() == 0);
    const Sheet again = make_graphene(n, 5), other = make_graphene(n, 6);
    REQUIRE(again.x == sheet.x);
    REQUIRE(again.y == sheet.y);
    if (n > 0) REQUIRE(other.x != sheet.x);
  }
}

// ---- what is wrong on purpose -------------------------------------------------------------------

TEST_CASE("a count that is zeroed inside the kernel, or read beside its atomicAdd, is a race") {
  const HostAtoms<float> atoms = graphene_atoms<float>(course::kCpuDevice ? 300 : 5000);
  const auto d_x = course::DeviceBuffer<float>::from(atoms.x);
  const auto d_y = course::DeviceBuffer<float>::from(atoms.y);
  const Atoms<float> view{d_x.data(), d_y.data(), atoms.size()};
  int races = 0;
  for (const NeighborRung<float>& rung : neighbor_rungs<float>(atoms.size())) {
    if (rung.because.empty()) continue;
    INFO(rung.name);
    auto counts = course::DeviceBuffer<int>::zeros(atoms.size());
    auto list = course::DeviceBuffer<int>::zeros(10 * atoms.size());
    const Lists out{counts.data(), list.data(), 10};
    REQUIRE(course::expect_race([&] { rung.launch(view, squared_cutoff<float>(1.9), out); }));
    ++races;
  }
  REQUIRE(races == 2);
}

// ---- what the lesson says about costs -----------------------------------------------------------

TEST_CASE("what a bond costs: two atomics, or none, or one per atom") {
  course::skip_without_counters();
  const std::size_t n = 128;
  const HostAtoms<float> atoms = graphene_atoms<float>(n);
  const float limit = squared_cutoff<float>(1.9);
  const auto ends =
      static_cast<std::uint64_t>(neighbors_by_definition(atoms.view(), limit, 10).ends());
  const auto counters_of = [&](const char* name) {
    const NeighborRung<float> rung = rung_named(right_rungs<float>(n), name);
    const auto d_x = course::DeviceBuffer<float>::from(atoms.x);
    const auto d_y = course::DeviceBuffer<float>::from(atoms.y);
    auto counts = course::DeviceBuffer<int>::zeros(n),
         list = course::DeviceBuffer<int>::zeros(10 * n);
    return *course::count([&] {
      rung.launch({d_x.data(), d_y.data(), n}, limit, {counts.data(), list.data(), 10});
    });
  };
  for (const NeighborRung<float>& rung : right_rungs<float>(n)) {
    if (rung.name == "neighbors_cells") continue;
    INFO(rung.name);
    REQUIRE(course::same(counters_of(rung.name.c_str()).global_atomic_lanes,
                         rung.atomics ? ends : 0, "atomics"));
  }
  const auto global = counters_of("gather_global_count"), rows = counters_of("gather_rows"),
             columns = counters_of("gather_distance_first"),
             tiles = counters_of("neighbors_gather"), cells = counters_of("neighbors_cells");
  // One per atom for its place, one per block of measure_box, one per tile.
  INFO("n = " << n);
  REQUIRE(cells.global_atomic_lanes == n + 1 + 1);
  REQUIRE(global.global_loads > rows.global_loads);    // the count is read again and again
  REQUIRE(global.global_stores > rows.global_stores);  // and written
  // A warp loads its own atoms, and all of them: one by one, or its share of the only tile.
  const std::size_t warps = n / course::kWarpSize;
  REQUIRE(columns.global_loads == warps * (2 + 2 * n));
  REQUIRE(tiles.global_loads == warps * (2 + 2));
  REQUIRE(cells.global_loads < columns.global_loads);
}

TEST_CASE("many neighbours cost two visits of the cells and a sort, not a visit for every eight") {
  course::skip_without_counters();
  const std::size_t n = 128;
  const auto atoms = make_scene<float>(Scene::one_point, n, 1);
  const auto d_x = course::DeviceBuffer<float>::from(atoms.x);
  const auto d_y = course::DeviceBuffer<float>::from(atoms.y);
  auto counts = course::DeviceBuffer<int>::zeros(n), list = course::DeviceBuffer<int>::zeros(n * n);
  CellWorkspace<float> work(n);
  const auto c = course::count([&] {
    cells_with(work).launch({d_x.data(), d_y.data(), n}, 1.0f, {counts.data(), list.data(), n});
  });
  // Of a lane: a point and an index for each candidate and visit, and a sort's two loads for each of
  // n numbers and at most log2(n) + 1 levels. A visit for every eight neighbours is 2 * n * n / 8.
  const std::size_t of_a_lane = 2 * 2 * n + 2 * n * 8;
  REQUIRE(of_a_lane < 2 * n * n / 8);
  REQUIRE(c->global_loads / (n / course::kWarpSize) <= of_a_lane + 100);
}
