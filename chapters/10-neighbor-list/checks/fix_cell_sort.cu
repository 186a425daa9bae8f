// Check of the exercise fix_cell_sort: any number of atoms, any number of cells, and cells with more
// atoms than 16 bits can number, and more pairs than 32 bits can; then whether the threads share the work.
#include "fix_cell_sort.cuh"

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <course/check.cuh>
#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

namespace fix_cell_sort_check {

/// The most cells that there are. The check's own number: the answer may change its kMostCells.
constexpr unsigned kCells = 4096;

/// Which cell an atom is in.
enum class Kind { spread, crowd, few, two };
constexpr Kind kKinds[] = {Kind::spread, Kind::crowd, Kind::few};

const char* name_of(Kind kind) {
  constexpr const char* kNames[] = {"spread over all cells", "all in the last cell",
                                    "most in every 7th cell", "half in each of the last two cells"};
  return kNames[static_cast<int>(kind)];
}

std::vector<unsigned> make_cells(Kind kind, std::size_t n, unsigned cells) {
  std::mt19937 random(5);
  std::vector<unsigned> cell(n);
  for (std::size_t i = 0; i < n; ++i) {
    unsigned& c = cell[i];
    c = random() % cells;
    if (kind == Kind::crowd) c = cells - 1;
    if (kind == Kind::two) c = cells - 1 - i % 2;
    if (kind == Kind::few && random() % 8 != 0) c -= c % 7;
  }
  return cell;
}

/// What a sort should write.
struct Expected {
  std::vector<unsigned> counts, starts, atoms;  // the atoms of a cell ascend
  unsigned long long pairs = 0;
};

Expected expected_of(const std::vector<unsigned>& cell, unsigned cells) {
  Expected expected{std::vector<unsigned>(cells), std::vector<unsigned>(cells + 1), {}, 0};
  std::vector<std::vector<unsigned>> members(cells);
  for (std::size_t i = 0; i < cell.size(); ++i) members[cell[i]].push_back(unsigned(i));
  for (unsigned c = 0; c < cells; ++c) {
    const std::size_t count = members[c].size();
    expected.counts[c] = static_cast<unsigned>(count);
    expected.starts[c + 1] = expected.starts[c] + expected.counts[c];
    if (count > 1) expected.pairs += count * (count - 1) / 2;
    expected.atoms.insert(expected.atoms.end(), members[c].begin(), members[c].end());
  }
  return expected;
}

/// The arrays of a sort.
template <template <class> class Buffer>
struct Arrays {
  Arrays(std::size_t n, unsigned cells)
      : counts(cells), starts(cells + 1), taken(cells), atoms(n), pairs(1) {}

  Buffer<unsigned> counts, starts, taken, atoms;
  Buffer<unsigned long long> pairs;
};

/// Sorts with these arrays; those that the kernels count in are 0 before.
template <template <class> class Buffer>
void sort(const course::DeviceBuffer<unsigned>& cell_of, unsigned cells, Arrays<Buffer>& a) {
  a.counts.fill_bytes(0);
  a.taken.fill_bytes(0);
  a.pairs.fill_bytes(0);
  sort_by_cell(cell_of.data(), cell_of.size(), cells,
               {a.counts.data(), a.starts.data(), a.taken.data(), a.atoms.data(), a.pairs.data()});
  CUDA_CHECK(cudaDeviceSynchronize());
}

/// Runs one sort, and checks all that it promises.
void check(std::size_t n, unsigned cells, Kind kind) {
  INFO(course::counted(n, "atom") << ", " << name_of(kind) << "; "
                                  << course::counted(cells, "cell"));
  const std::vector<unsigned> cell = make_cells(kind, n, cells);
  const Expected expected = expected_of(cell, cells);
  const auto cell_of = course::DeviceBuffer<unsigned>::from(cell);
  Arrays<course::GuardedBuffer> a(n, cells);
  fix_cell_sort_check::sort(cell_of, cells, a);
  REQUIRE(course::same(a.counts.download(), expected.counts, "counts"));
  REQUIRE(course::same(a.starts.download(), expected.starts, "starts"));
  std::vector<unsigned> found = a.atoms.download();
  for (unsigned c = 0; c < cells; ++c) {  // any order within a cell
    std::sort(found.begin() + expected.starts[c], found.begin() + expected.starts[c + 1]);
  }
  REQUIRE(course::same(found, expected.atoms, "atoms (those of each cell sorted)"));
  REQUIRE(course::same(a.pairs.download().front(), expected.pairs, "*pairs"));
  REQUIRE(a.counts.intact("counts"));
  REQUIRE(a.starts.intact("starts"));
  REQUIRE(a.taken.intact("taken"));
  REQUIRE(a.atoms.intact("atoms"));
  REQUIRE(a.pairs.intact("pairs"));
}

// Promise: counts[c] is how many atoms are in cell c, starts[c] how many are in the cells before c,
// and *pairs the number of pairs of two atoms of the same cell.
// Promise: the atoms of cell c are atoms[starts[c]] and following, in any order; taken
// may hold anything afterwards.
// Promise: starts and atoms may hold anything before (they are poisoned).
TEST_CASE("fix_cell_sort: 256 atoms in 32 cells") {
  for (const Kind kind : kKinds) check(256, 32, kind);
}

// Promise: n is any number, 0 too (DATA RACE on counts; a grid that is
// rounded down leaves atoms out).
TEST_CASE("fix_cell_sort: any number of atoms") {
  std::size_t turn = 0;  // another kind each time
  for (const std::size_t n : course::kSizes) check(n, 64, kKinds[turn++ % std::size(kKinds)]);
  check(course::kCpuDevice ? 5'003 : course::kBigSize, 64, Kind::spread);
}

// Promise: there are 1 to 4096 cells, as many as kMostCells says (WRONG MASK in a warp whose last lanes have no cell,
// DATA RACE on s_sums from 257 cells on).
TEST_CASE("fix_cell_sort: any number of cells") {
  std::size_t turn = 0;  // another kind each time
  for (const unsigned cells : {1u, 2u, 31u, 32u, 33u, 96u, 100u, 255u, 256u, 257u, 700u}) {
    check(512, cells, kKinds[turn++ % std::size(kKinds)]);
  }
  check(course::kCpuDevice ? 1'000 : course::kBigSize, kCells, Kind::spread);
}

// Promise: counts, starts and *pairs are exact, however many atoms a cell has (100,000
// have more than 2^32 pairs).
TEST_CASE("fix_cell_sort: cells with very many atoms") {
  if (course::has_run_before()) return;
  check(100'000, 32, Kind::crowd);  // more than 2^32 pairs
  check(140'000, 32, Kind::two);    // fewer in each cell, and more in both
  if (!course::kCpuDevice) check(3'000'000, 3, Kind::crowd);
}

// Promise: each call sorts the atoms that are there now.
TEST_CASE("fix_cell_sort: the same memory, with other atoms") {
  constexpr std::size_t n = 700;
  constexpr unsigned cells = 40;
  course::DeviceBuffer<unsigned> cell_of(n);
  Arrays<course::DeviceBuffer> a(n, cells);
  for (const Kind kind : kKinds) {
    INFO(n << " atoms, " << name_of(kind) << "; 40 cells; the arrays of the call before, cleared");
    const std::vector<unsigned> cell = make_cells(kind, n, cells);
    const Expected expected = expected_of(cell, cells);
    cell_of.upload(cell);
    fix_cell_sort_check::sort(cell_of, cells, a);
    REQUIRE(course::same(a.counts.download(), expected.counts, "counts"));
    REQUIRE(course::same(a.starts.download(), expected.starts, "starts"));
    REQUIRE(course::same(a.pairs.front(), expected.pairs, "*pairs"));
  }
}

// Promise: the kernels do the work.
TEST_CASE("fix_cell_sort: kernels read the atoms, and find the starts") {
  course::skip_without_counters();
  constexpr std::size_t n = 8'192;
  const auto many_atoms = course::count([] { check(n, 300, Kind::spread); });
  INFO(n << " atoms in 300 cells, then 3 atoms in " << kCells << " cells");
  REQUIRE(course::kernels_load(*many_atoms, n * sizeof(unsigned)));
  const auto many_cells = course::count([] { check(3, kCells, Kind::spread); });
  REQUIRE(course::at_least(many_cells->global_store_sectors, kCells * sizeof(unsigned) / 32,
                           "sectors of 32 bytes that kernels store to",
                           "a kernel finds the starts"));
}

// Promise: the threads share the work (the busiest warp, of global and of shared memory).
TEST_CASE("fix_cell_sort: the threads share the work") {
  course::skip_without_counters();
  // A warp counts in 2 turns; finds the starts of 300 cells in 2; has 300 cells to add to in 2.
  const auto counters = course::count([] { check(8'192, 300, Kind::spread); });
  REQUIRE(course::work_is_shared(*counters, 24));
  // A tree over 256 sums, up and down, takes up to 133; one thread that goes through 300 cells far more.
  REQUIRE(course::shared_work_is_shared(*counters, 140));
}

}  // namespace fix_cell_sort_check
