// Check of the exercise cell_counts: atoms in and outside of the box, cells that hold something
// already, every kind of grid, and how many atomics there are.
#include "cell_counts.cuh"

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <course/check.cuh>
#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <type_traits>
#include <vector>

namespace cell_counts_check {

using Launch = course::LaunchShape;

static_assert(std::is_same_v<decltype(Box::edge), float> &&
                  std::is_same_v<decltype(Box::columns), int> &&
                  std::is_same_v<decltype(Box::rows), int>,
              "Box has an edge that is a float, and columns and rows that are int");

enum class Kind { spread, outside, crowd, two_cells };
constexpr Kind kKinds[] = {Kind::spread, Kind::outside, Kind::crowd, Kind::two_cells};

const char* name_of(Kind kind) {
  constexpr const char* kNames[] = {"spread over the box", "up to three boxes away",
                                    "all in one cell", "most in the last cell"};
  return kNames[static_cast<int>(kind)];
}

struct Points {
  std::vector<float> x, y;
};

constexpr Box kBox{2.0f, 5, 7};

std::size_t cells_of(Box box) {
  return static_cast<std::size_t>(box.columns) * static_cast<std::size_t>(box.rows);
}

Points make_points(Kind kind, std::size_t n) {
  std::mt19937 random(17);
  Points points;
  for (std::size_t i = 0; i < n; ++i) {
    const auto whole = [&](int below) { return static_cast<float>(random() % below); };
    float x = whole(80) / 8, y = whole(112) / 8;  // in the box: 10 wide, 14 high; also on edges
    if (kind == Kind::outside) x += 10 * (whole(7) - 3), y += 14 * (whole(7) - 3);
    if (kind == Kind::crowd) x = 4.5f, y = 9.25f;
    if (kind == Kind::two_cells && i % 16 != 0) x = 9.5f, y = -0.5f;
    points.x.push_back(x);
    points.y.push_back(y);
  }
  return points;
}

/// The cell of a point, in other words than the exercise's.
std::size_t expected_cell(Box box, float x, float y) {
  const double edge = static_cast<double>(box.edge), width = edge * box.columns,
               height = edge * box.rows;
  const double across = x - width * std::floor(x / width), up = y - height * std::floor(y / height);
  return static_cast<std::size_t>(up / edge) * static_cast<std::size_t>(box.columns) +
         static_cast<std::size_t>(across / edge);
}

/// Device memory of a few launches. (nvcc 13.0 never finishes with a REQUIRE in a member function.)
struct Cells {
  explicit Cells(Box the_box) : box(the_box), expected(cells_of(box)), counts(cells_of(box)) {}
  Box box;
  std::vector<int> expected;
  course::GuardedBuffer<int> counts, fullest{1};
  int expected_fullest = 0;
};

Cells make_cells(int first, int step, int fullest, Box box = kBox) {
  Cells cells(box);
  for (std::size_t c = 0; c < cells_of(box); ++c)
    cells.expected[c] = first + step * static_cast<int>(c % 3);
  cells.expected_fullest = fullest;
  CUDA_CHECK(cudaMemcpy(cells.counts.data(), cells.expected.data(), cells.counts.bytes(),
                        cudaMemcpyHostToDevice));
  CUDA_CHECK(cudaMemcpy(cells.fullest.data(), &fullest, sizeof fullest, cudaMemcpyHostToDevice));
  return cells;
}

/// Launches the kernel, and checks all that it promises. Before the points are `before_them` others that are not in
/// memory, and whose blocks do not run.
void check(Cells& cells, const Points& points, Launch launch, Kind kind,
           std::size_t before_them = 0) {
  const std::size_t n = points.x.size();
  const Box box = cells.box;
  INFO(course::counted(before_them + n, "atom")
       << ", " << name_of(kind) << "; a box of " << box.columns << " * " << box.rows
       << " cells with edge " << box.edge << "; " << course::launch_text("cell_counts", launch)
       << course::too_few_threads(launch, before_them + n, "atoms") << "; *fullest is "
       << cells.expected_fullest << " before");
  const std::vector<int> before = cells.expected;
  std::vector<std::vector<int>> places_of(cells_of(box));
  std::vector<std::size_t> cell(n);
  for (std::size_t i = 0; i < n; ++i) {
    cell[i] = expected_cell(box, points.x[i], points.y[i]);
    places_of[cell[i]].push_back(cells.expected[cell[i]]++);
  }
  for (std::size_t c = 0; c < cells_of(box); ++c) {
    if (cells.expected[c] > before[c]) {
      cells.expected_fullest = std::max(cells.expected_fullest, cells.expected[c]);
    }
  }
  // x and y begin at no multiple of 8 bytes, and are not in step: what lies before them is no atom's.
  const course::Placed<float> all_x(points.x, 1), all_y(points.y, 3);
  const float* const x = all_x.data() - before_them;
  const float* const y = all_y.data() - before_them;
  course::GuardedBuffer<int> all_places(n);
  all_places.fill_bytes(0xff);
  int* const counts = cells.counts.data();
  int* const places = all_places.data() - before_them;
  int* const fullest = cells.fullest.data();
  course::launch(cell_counts, {launch.grid, launch.block}, x, y, before_them + n, box, counts,
                 places, fullest);
  REQUIRE(course::same(cells.counts.download(), cells.expected, "counts"));
  const std::vector<int> found = all_places.download();
  std::vector<std::vector<int>> found_of(cells_of(box));
  for (std::size_t i = 0; i < n; ++i) found_of[cell[i]].push_back(found[i]);
  for (std::size_t c = 0; c < cells_of(box); ++c) {
    const std::string name = "places of the atoms in cell " + std::to_string(c);
    REQUIRE(course::same_set(found_of[c], places_of[c], name));
  }
  REQUIRE(course::same(cells.fullest.download().front(), cells.expected_fullest, "*fullest"));
  REQUIRE(cells.counts.intact("counts"));
  REQUIRE(all_places.intact("places"));
  REQUIRE(cells.fullest.intact("fullest"));
}

// Promise: counts[c] grows by the number of atoms in cell c, wherever they
// are (up to three boxes away).
// Promise: places[i] is the place of atom i in its cell: those of the new atoms begin at counts[c]
// before the launch, each comes once, in any order.
TEST_CASE("cell_counts: right at every size") {
  for (const auto& [n, launch, kind] : course::cases_of(course::kSizes, kKinds)) {
    course::in_launch(launch, [n = n, kind = kind](Launch tried) {
      Cells cells = make_cells(0, 0, 0);
      check(cells, make_points(kind, n), tried, kind);
    });
  }
}

// Promise: the kernel is right for every one-dimensional grid, in blocks
// of a multiple of 32 threads.
TEST_CASE("cell_counts: right for every grid") {
  const Points points = make_points(Kind::outside, 300);
  for (const Launch launch : course::launch_shapes(300)) {
    Cells cells = make_cells(0, 0, 0);
    check(cells, points, launch, Kind::outside);
  }
}

// Promise: a grid may have more than 2^32 threads.
TEST_CASE("cell_counts: right in a grid of more than 2^32 threads") {
  course::in_huge_grids(65, [](course::LaunchShape grid) {
    Cells cells = make_cells(3, 2, 4);
    check(cells, make_points(Kind::outside, 65), grid, Kind::outside);
  });
}

// Promise: n is any number that fits in std::size_t (the last atoms, for which the CPU device runs the last two blocks).
TEST_CASE("cell_counts: the last of more than 2^32 atoms") {
  if (!course::kCpuDevice) SKIP("a GPU runs all blocks, and has no memory for x, y and places");
  Cells cells = make_cells(3, 2, 4);
  const Points points = make_points(Kind::outside, course::kLastItems);
  course::at_end_of_huge_grid([&](Launch grid, std::size_t items) {
    check(cells, points, grid, Kind::outside, items - course::kLastItems);
  });
}

// Promise: the box has any number of columns and rows, and cells of any size.
TEST_CASE("cell_counts: right for every box") {
  for (const Box box : {Box{2.0f, 1, 1}, Box{0.25f, 40, 56}, Box{4.0f, 3, 1}, Box{8.0f, 2, 9},
                        Box{0.03125f, 320, 448}}) {
    Cells cells = make_cells(0, 0, 0, box);
    check(cells, make_points(Kind::outside, 300), {3, 96}, Kind::outside);
  }
}

// Promise: counts[c] may count the atoms of earlier launches.
// Promise: *fullest becomes the largest count, after the launch, of a cell that got an atom in it;
// if it is larger already, it stays as it is.
TEST_CASE("cell_counts: cells and *fullest may hold something") {
  for (const int fullest : {0, 5, 21, 1000, -1}) {
    for (const Kind kind : kKinds) {
      Cells cells = make_cells(3, 2, fullest);  // 3, 5 or 7 atoms in each cell
      check(cells, make_points(kind, 200), {3, 96}, kind);
    }
  }
  Cells cells = make_cells(3, 2, -1);
  check(cells, make_points(Kind::spread, 0), {1, 32}, Kind::spread);
  Cells large = make_cells(2'000'000'000, 70'000'000, 40'000);
  check(large, make_points(Kind::spread, 200), {3, 96}, Kind::spread);
}

// Promise: a launch goes on with the counts and with *fullest of the launch before.
TEST_CASE("cell_counts: a second launch goes on where the first one stopped") {
  Cells cells = make_cells(0, 0, 0);
  check(cells, make_points(Kind::crowd, 33), {2, 32}, Kind::crowd);
  check(cells, make_points(Kind::spread, 100), {4, 32}, Kind::spread);
  check(cells, make_points(Kind::crowd, 65), {1, 128}, Kind::crowd);
}

// Promise: no atom gets lost, and no place is given twice, if many threads count
// at the same time (DATA RACE).
TEST_CASE("cell_counts: many atoms") {
  const std::size_t n = course::kCpuDevice ? 2003 : course::kBigSize;
  for (const Kind kind : {Kind::spread, Kind::crowd}) {
    Cells cells = make_cells(0, 0, 0);
    check(cells, make_points(kind, n), {16, 128}, kind);
  }
}

// Promise: there is at most one atomic per atom on counts, and at most one per warp on
// *fullest (their sum is counted).
// Promise: the threads share the work.
TEST_CASE("cell_counts: one atomic per atom, and one per warp for *fullest") {
  course::skip_without_counters();
  for (const Kind kind : kKinds) {
    constexpr std::uint64_t kAtoms = 2048, kWarps = 32;  // 2 turns for each warp
    Cells cells = make_cells(0, 0, 0);
    const auto counters = course::count([&] {
      check(cells, make_points(kind, kAtoms), {8, 128}, kind);
    });
    INFO(kAtoms << " atoms, " << name_of(kind) << "; cell_counts<<<8, 128>>>");
    REQUIRE(course::at_most(counters->global_atomic_lanes, kAtoms + kWarps,
                            "atomics: one per atom and one per warp"));
    // Lanes that a shuffle has parted may load and store one after the other, but not each alone.
    REQUIRE(course::at_most(counters->global_loads, kAtoms / 4, "loads by a warp"));
    REQUIRE(course::at_most(counters->global_stores, kAtoms / 8, "stores by a warp"));
    REQUIRE(course::work_is_shared(*counters, 20));
  }
}

}  // namespace cell_counts_check
