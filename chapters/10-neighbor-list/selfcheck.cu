// Every method is right on every kind of input, to the last pair, and what is wrong on purpose is
// wrong in the way that the lesson says.
#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <course/check.cuh>
#include <cstddef>
#include <functional>
#include <limits>
#include <numeric>
#include <string>
#include <vector>

#include "atomic.cuh"
#include "cell_grid.cuh"
#include "cell_scan.cuh"
#include "cells.cuh"
#include "cpu.cuh"
#include "gather.cuh"
#include "graphene.cuh"
#include "inputs.cuh"
#include "neighbor_list.cuh"
#include "wrong.cuh"

namespace neighbor_selfcheck {

/// A method on the device: what it launches, and where it puts neighbour k.
template <class T>
struct DeviceRung {
  const char* name;
  Layout layout;
  std::function<void(Atoms<T>, T, Lists)> launch;
};

template <class T>
std::vector<DeviceRung<T>> device_rungs() {
  const auto all = [](const Atoms<T>& atoms) { return Slice{0, atoms.n}; };
  return {{"neighbors_atomic", Layout::rows,
           [=](Atoms<T> atoms, T limit, Lists out) {
             neighbors_atomic(atoms, limit, out, all(atoms), nullptr);
           }},
          {"gather_global_count", Layout::rows,
           [=](Atoms<T> atoms, T limit, Lists out) {
             gather_global_count(atoms, limit, out, all(atoms), nullptr);
           }},
          {"gather_rows", Layout::rows,
           [=](Atoms<T> atoms, T limit, Lists out) {
             gather_rows(atoms, limit, out, all(atoms), nullptr);
           }},
          {"gather_self_first", Layout::columns,
           [=](Atoms<T> atoms, T limit, Lists out) {
             gather_self_first(atoms, limit, out, all(atoms), nullptr);
           }},
          {"gather_distance_first", Layout::columns,
           [=](Atoms<T> atoms, T limit, Lists out) {
             gather_distance_first(atoms, limit, out, all(atoms), nullptr);
           }},
          {"neighbors_gather", Layout::columns,
           [=](Atoms<T> atoms, T limit, Lists out) {
             neighbors_gather(atoms, limit, out, all(atoms), nullptr);
           }},
          {"neighbors_cells", Layout::columns, [](Atoms<T> atoms, T limit, Lists out) {
             CellWorkspace<T> work(atoms.n);
             neighbors_cells(atoms, limit, out, work, nullptr);
           }}};
}

/// What a launch leaves, complete or not; places that nobody wrote are not read.
template <class T>
NeighborList run(const DeviceRung<T>& rung, const HostAtoms<T>& atoms, T limit,
                 std::size_t capacity) {
  const auto d_x = course::DeviceBuffer<T>::from(atoms.x);
  const auto d_y = course::DeviceBuffer<T>::from(atoms.y);
  course::GuardedBuffer<int> counts(atoms.size()), list(atoms.size() * capacity);
  counts.fill_bytes(0);
  list.fill_bytes(0xff);  // -1 is nobody's neighbour
  rung.launch({d_x.data(), d_y.data(), atoms.size()}, limit,
              {counts.data(), list.data(), capacity});
  NeighborList found{counts.download(), list.download(), capacity, rung.layout};
  REQUIRE(counts.intact("counts"));
  REQUIRE(list.intact("list"));
  for (std::size_t n = 0; n < found.atoms(); ++n) {
    for (std::size_t k = found.listed(n); k < capacity; ++k) REQUIRE(found.neighbor(n, k) == -1);
  }
  found.sort();
  return found;
}

/// All methods against the definition.
template <class T>
void check_all(const HostAtoms<T>& atoms, double cutoff, std::size_t capacity) {
  INFO(atoms.size() << " atoms, cutoff " << cutoff << ", capacity " << capacity
                    << (sizeof(T) == 4 ? ", single" : ", double") << " precision");
  const T limit = squared_cutoff<T>(cutoff);
  const NeighborList expected = neighbors_by_definition(atoms.view(), limit, capacity);
  REQUIRE(same_neighbors(neighbors_cpu(atoms.view(), limit, capacity), expected));
  REQUIRE(same_neighbors(neighbors_cells_cpu(atoms.view(), limit, capacity), expected));
  for (const DeviceRung<T>& rung : device_rungs<T>()) {
    INFO(rung.name);
    REQUIRE(same_neighbors(run(rung, atoms, limit, capacity), expected));
  }
}

/// O(n) against O(n): for sizes at which all pairs take too long.
template <class T>
void check_cells(const HostAtoms<T>& atoms, double cutoff, std::size_t capacity) {
  INFO(atoms.size() << " atoms, cutoff " << cutoff << ", capacity " << capacity);
  const T limit = squared_cutoff<T>(cutoff);
  REQUIRE(same_neighbors(run(device_rungs<T>().back(), atoms, limit, capacity),
                         neighbors_cells_cpu(atoms.view(), limit, capacity)));
}

}  // namespace neighbor_selfcheck

using namespace neighbor_selfcheck;

TEST_CASE("four atoms are each other's neighbours") {
  const HostAtoms<float> square{{0, 1.2f, 0, 1.2f}, {0, 0, 1.2f, 1.2f}};
  const NeighborList found =
      neighbors_cpu(square.view(), squared_cutoff<float>(1.9), 3);  // the diagonal is 1.697
  REQUIRE(course::same(found.counts, {3, 3, 3, 3}, "counts"));
  REQUIRE(course::same(found.list, {1, 2, 3, 0, 2, 3, 0, 1, 3, 0, 1, 2}, "list"));
  check_all(square, 1.9, 3);
  check_all(square, 1.9, 2);  // too small: counts tell how much is needed
  check_all(square, 1.5, 3);
  check_all(square, 1.2, 3);  // strictly below: nobody
}

TEST_CASE("all methods agree, whatever the atoms look like") {
  const std::size_t n = course::kCpuDevice ? 14 : 1500;
  for (const Scene scene : kScenes) {
    for (const double cutoff : {1e-3, 1.5}) {
      INFO(name_of(scene));
      check_all(make_scene<float>(scene, n, 7), cutoff, n);
    }
    INFO(name_of(scene));
    check_all(make_scene<double>(scene, n, 8), 1e6, n);  // larger than most boxes
  }
}

TEST_CASE("the number of atoms may be any") {
  for (const std::size_t n : {0, 1, 31, 33}) {
    check_all(make_scene<float>(Scene::random, n, 3), 1.9, 4);
    check_all(make_scene<float>(Scene::sheet, n, 3), 1.9, 10);
  }
}

TEST_CASE("the smallest and the largest cutoffs, and coordinates at the end of the range") {
  for (const double cutoff : {1.1e-19, 1e10, 1.8e19}) {
    check_all(make_scene<float>(Scene::far_away, 20, 5), cutoff, 20);
    check_all(make_scene<float>(Scene::duplicates, 10, 5), cutoff, 12);
  }
  const HostAtoms<double> ends{{-1.7e308, 1.7e308, 0.0, 4.9e-324, -0.0, 1e-200},
                               {1.7e308, -1.7e308, 0.0, -4.9e-324, 0.0, 1e-200}};
  for (const double cutoff : {1.5e-154, 1.0, 1.3e154}) check_all(ends, cutoff, 6);
}

TEST_CASE("cutoffs whose squares are no numbers are refused") {
  for (const double cutoff : {0.0, -1.0, 1e-23, 1e20, std::numeric_limits<double>::infinity(),
                              std::numeric_limits<double>::quiet_NaN()}) {
    INFO("cutoff " << cutoff);
    REQUIRE_THROWS_AS(squared_cutoff<float>(cutoff), std::domain_error);
  }
  REQUIRE(squared_cutoff<double>(1e20) == 1e20 * 1e20);
}

TEST_CASE("a pair at exactly the cutoff is none") {
  for (const float cutoff : {1.9f, 0.1f, 3.3f}) {
    const HostAtoms<float> pair{{0, cutoff, 0}, {0, 0, std::nextafter(cutoff, 0.0f)}};
    const NeighborList found = neighbors_cpu(pair.view(), squared_cutoff<float>(cutoff), 2);
    REQUIRE(course::same(found.counts, {1, 0, 1}, "counts"));
    check_all(pair, cutoff, 2);
  }
}

TEST_CASE("the squared distance has one rounding an operation, on the host and on the device") {
  // With an FMA, whichever product it leaves unrounded, some of these pairs change sides.
  const std::size_t n = course::kCpuDevice ? 30 : 2000;
  HostAtoms<float> atoms = make_scene<float>(Scene::random, n, 11);
  std::size_t fused = 0, pairs = 0;
  for (std::size_t i = 1; i < n; ++i) {
    const float dx = atoms.x[i] - atoms.x[0], dy = atoms.y[i] - atoms.y[0];
    const float limit = squared_distance(atoms.x[0], atoms.y[0], atoms.x[i], atoms.y[i]);
    volatile float xx = dx * dx, yy = dy * dy;
    REQUIRE(limit == xx + yy);
    fused += std::fma(dx, dx, yy) != limit ? 1 : 0;
    if (++pairs % (n / 3) == 0) check_all(atoms, std::sqrt(static_cast<double>(limit)), n);
  }
  REQUIRE(fused > 0);  // so the data can tell
}

TEST_CASE("cells find the same where atoms are many") {
  for (const std::size_t n : {257, 1025}) {
    check_cells(graphene_atoms<float>(n), 1.9, 10);
  }
  check_cells(make_scene<float>(Scene::clusters, 200, 2), 0.1, 40);
  check_cells(make_scene<float>(Scene::line, 600, 2), 0.02, 40);     // wraps in x
  check_cells(make_scene<double>(Scene::column, 300, 2), 0.02, 40);  // and in y
  if (course::kCpuDevice) return;
  for (const Scene scene : kScenes) {
    INFO(name_of(scene));
    check_cells(make_scene<float>(scene, 20'007, 4), scene == Scene::clusters ? 0.05 : 0.5, 16);
  }
  check_cells(graphene_atoms<float>(course::kBigSize), 1.9, 10);
  check_cells(shuffled(graphene_atoms<float>(course::kBigSize), 1), 1.9, 10);
  check_cells(graphene_atoms<double>(course::kBigSize), 5.0, 40);
}

TEST_CASE("a workspace serves any number of atoms up to its own, again and again") {
  CellWorkspace<float> work(300);
  for (const std::size_t n : {300, 0, 45, 1}) {
    INFO(n << " atoms");
    const HostAtoms<float> atoms = make_scene<float>(Scene::random, n, static_cast<unsigned>(n));
    const float limit = squared_cutoff<float>(1.0);
    const DeviceRung<float> rung{"neighbors_cells", Layout::columns,
                                 [&](Atoms<float> view, float square, Lists out) {
                                   neighbors_cells(view, square, out, work, nullptr);
                                 }};
    REQUIRE(same_neighbors(run(rung, atoms, limit, 12),
                           neighbors_by_definition(atoms.view(), limit, 12)));
  }
  const HostAtoms<float> more = make_scene<float>(Scene::random, 301, 1);
  course::DeviceBuffer<int> nothing;
  REQUIRE_THROWS_AS(neighbors_cells(more.view(), 1.0f, {nullptr, nullptr, 0}, work, nullptr),
                    std::invalid_argument);
}

TEST_CASE("what has to be 0 before a run is 0 after it") {
  const HostAtoms<float> atoms = make_scene<float>(Scene::random, 1100, 6);
  CellWorkspace<float> work(atoms.size());
  REQUIRE(work.words.size() > 1);  // tiles
  const DeviceRung<float> rung{"neighbors_cells", Layout::columns,
                               [&](Atoms<float> view, float limit, Lists out) {
                                 neighbors_cells(view, limit, out, work, nullptr);
                               }};
  run(rung, atoms, squared_cutoff<float>(0.5), 12);
  REQUIRE(course::same(work.counts.download(), std::vector<int>(work.counts.size()), "counts"));
  REQUIRE(course::same(work.words.download(), std::vector<unsigned long long>(work.words.size()),
                       "words"));
  REQUIRE(course::same(work.ticket.download().front(), 0u, "ticket"));
  REQUIRE(course::same(work.measured.download().front(), 0u, "measured"));
}

TEST_CASE("slices of the atoms add up to all of them") {
  const HostAtoms<float> atoms = graphene_atoms<float>(100);
  const float limit = squared_cutoff<float>(1.9);
  const NeighborList expected = neighbors_by_definition(atoms.view(), limit, 5);
  const auto sliced = [](auto launch) {
    return [launch](Atoms<float> view, float square, Lists out) {
      for (std::size_t first = 0; first < view.n; first += 33) {
        launch(view, square, out, Slice{first, std::min(first + 33, view.n)}, cudaStream_t{});
      }
    };
  };
  const DeviceRung<float> rungs[] = {
      {"neighbors_atomic", Layout::rows,
       sliced([](auto... arguments) { neighbors_atomic(arguments...); })},
      {"neighbors_gather", Layout::columns,
       sliced([](auto... arguments) { neighbors_gather(arguments...); })}};
  for (const DeviceRung<float>& rung : rungs) {
    INFO(rung.name);
    REQUIRE(same_neighbors(run(rung, atoms, limit, 5), expected));
  }
}

// ---- the parts of neighbors_cells ---------------------------------------------------------------

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

namespace neighbor_selfcheck {

__global__ void look_back_once(ScanState scan, int tile, int total, int* d_before) {
  const int before = look_back(scan, tile, total);
  if (threadIdx.x == 0) *d_before = before;
}

}  // namespace neighbor_selfcheck

TEST_CASE("look_back adds up all tiles since the last prefix, however many they are") {
  constexpr int kTiles = 100;
  for (const int prefix :
       {0, 3, 4, 34, 35, 36, 66, 67, 98}) {  // the newest tile that knows its own
    INFO("tile 99 looks back to tile " << prefix);
    std::vector<unsigned long long> words;
    int expected = 0;
    for (int tile = 0; tile + 1 < kTiles; ++tile) {
      const int sum = tile < prefix ? 5000 : 1 + tile * tile;  // before the prefix nobody looks
      words.push_back(scan_word(tile == prefix ? kPrefix : kTotal, sum));
      if (tile >= prefix) expected += sum;
    }
    words.push_back(0);
    auto d_words = course::DeviceBuffer<unsigned long long>::from(words);
    course::DeviceBuffer<int> d_before(1);
    const ScanState scan{d_words.data(), nullptr};
    int* const before = d_before.data();
    look_back_once<<<1, 32>>>(scan, kTiles - 1, 7, before);
    CUDA_CHECK_LAUNCH();
    REQUIRE(course::same(d_before.download().front(), expected, "before"));
    const unsigned long long word = d_words.download().back();
    REQUIRE(state_of(word) == kPrefix);
    REQUIRE(sum_of(word) == expected + 7);
  }
}

namespace neighbor_selfcheck {

struct SoMany {
  std::size_t cells;
  __device__ std::size_t operator()() const { return cells; }
};

}  // namespace neighbor_selfcheck

TEST_CASE("scan_cells adds up all counts before a cell") {
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
    scan_cells<<<static_cast<unsigned>(tiles) + 2, kScanThreads>>>(
        d_counts.data(), starts.data(), SoMany{cells}, ScanState{words.data(), ticket.data()});
    CUDA_CHECK_LAUNCH();
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
  auto counts = course::DeviceBuffer<int>::zeros(atoms.size());
  auto list = course::DeviceBuffer<int>::zeros(10 * atoms.size());
  const Lists out{counts.data(), list.data(), 10};
  const float limit = squared_cutoff<float>(1.9);
  REQUIRE(course::expect_race([&] { atomic_zeroed_inside(view, limit, out, nullptr); }));
  counts.fill_bytes(0);
  REQUIRE(course::expect_race([&] { atomic_value_ignored(view, limit, out, nullptr); }));
}

// ---- what the lesson says about costs -----------------------------------------------------------

TEST_CASE("what a bond costs: two atomics, or none, or one an atom") {
  course::skip_without_counters();
  const std::size_t n = 128;
  const HostAtoms<float> atoms = graphene_atoms<float>(n);
  const float limit = squared_cutoff<float>(1.9);
  const auto ends =
      static_cast<std::uint64_t>(neighbors_by_definition(atoms.view(), limit, 10).ends());
  const auto counters_of = [&](const DeviceRung<float>& rung) {
    const auto d_x = course::DeviceBuffer<float>::from(atoms.x);
    const auto d_y = course::DeviceBuffer<float>::from(atoms.y);
    auto counts = course::DeviceBuffer<int>::zeros(n),
         list = course::DeviceBuffer<int>::zeros(10 * n);
    return *course::count([&] {
      rung.launch({d_x.data(), d_y.data(), n}, limit, {counts.data(), list.data(), 10});
    });
  };
  const auto rungs = device_rungs<float>();
  const auto atomic = counters_of(rungs[0]), global = counters_of(rungs[1]),
             rows = counters_of(rungs[2]), columns = counters_of(rungs[4]),
             tiles = counters_of(rungs[5]), cells = counters_of(rungs[6]);
  REQUIRE(atomic.global_atomic_lanes == ends);  // two a bond
  REQUIRE(global.global_atomic_lanes == 0);
  REQUIRE(rows.global_atomic_lanes == 0);
  REQUIRE(columns.global_atomic_lanes == 0);
  REQUIRE(tiles.global_atomic_lanes == 0);
  // One an atom for its place, one a block for measure_box, one a tile.
  REQUIRE(cells.global_atomic_lanes == n + 1 + 1);
  REQUIRE(global.global_loads > rows.global_loads);    // the count is read again and again
  REQUIRE(global.global_stores > rows.global_stores);  // and written
  // A warp loads its own atoms, and all of them: one by one, or its share of the only tile.
  const std::size_t warps = n / course::kWarpSize;
  REQUIRE(columns.global_loads == warps * (2 + 2 * n));
  REQUIRE(tiles.global_loads == warps * (2 + 2));
  REQUIRE(cells.global_loads < columns.global_loads);
}
