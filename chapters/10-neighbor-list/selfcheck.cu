// Every method is right on every kind of input, to the last pair.
#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <course/check.cuh>
#include <cstddef>
#include <limits>
#include <stdexcept>
#include <vector>

#include "testing.cuh"

namespace neighbor_testing {

/// All methods against the definition.
template <class T>
void check_all(const HostAtoms<T>& atoms, double cutoff, std::size_t capacity) {
  INFO(atoms.size() << " atoms, cutoff " << cutoff << ", capacity " << capacity
                    << (sizeof(T) == 4 ? ", single" : ", double") << " precision");
  const T limit = squared_cutoff<T>(cutoff);
  const NeighborList expected = neighbors_by_definition(atoms.view(), limit, capacity);
  REQUIRE(same_neighbors(neighbors_cpu(atoms.view(), limit, capacity), expected));
  REQUIRE(same_neighbors(neighbors_cells_cpu(atoms.view(), limit, capacity), expected));
  for (const NeighborRung<T>& rung : right_rungs<T>(atoms.size())) {
    INFO(rung.name);
    REQUIRE(same_neighbors(run(rung, atoms, limit, capacity), expected));
  }
}

/// O(n) against O(n): for sizes at which all pairs take too long.
template <class T>
void check_cells(const HostAtoms<T>& atoms, double cutoff, std::size_t capacity) {
  INFO(atoms.size() << " atoms, cutoff " << cutoff << ", capacity " << capacity);
  const T limit = squared_cutoff<T>(cutoff);
  REQUIRE(same_neighbors(
      run(rung_named(right_rungs<T>(atoms.size()), "neighbors_cells"), atoms, limit, capacity),
      neighbors_cells_cpu(atoms.view(), limit, capacity)));
}

}  // namespace neighbor_testing

using namespace neighbor_testing;

TEST_CASE("four atoms are each other's neighbours") {
  const HostAtoms<float> square{{0, 1.2f, 0, 1.2f}, {0, 0, 1.2f, 1.2f}};
  const NeighborList found =
      neighbors_cpu(square.view(), squared_cutoff<float>(1.9), 3);  // the diagonal is 1.697
  REQUIRE(course::same(found.counts, {3, 3, 3, 3}, "counts"));
  REQUIRE(course::same(found.list, {1, 2, 3, 0, 2, 3, 0, 1, 3, 0, 1, 2}, "list"));
  check_all(square, 1.9, 3);
  check_all(square, 1.9, 2);  // too small: counts tell how much is needed
  check_all(square, 1.5, 3);
  check_all(square, 1.2, 3);  // strictly below: none
}

TEST_CASE("atoms with small integers as coordinates") {  // a picture of the lesson shows this run
  HostAtoms<float> atoms;
  for (int i = 0; i < 32; ++i) {
    atoms.x.push_back(static_cast<float>(7 * i % 13));
    atoms.y.push_back(static_cast<float>(5 * i % 11));
  }
  check_cells(atoms, 2.0, 12);
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
    REQUIRE(same_neighbors(run(cells_with(work), atoms, limit, 12),
                           neighbors_by_definition(atoms.view(), limit, 12)));
  }
  const HostAtoms<float> more = make_scene<float>(Scene::random, 301, 1);
  course::DeviceBuffer<int> nothing;
  REQUIRE_THROWS_AS(neighbors_cells(more.view(), 1.0f, {nullptr, nullptr, 0}, work, nullptr),
                    std::invalid_argument);
}

TEST_CASE("slices of the atoms are together all of them") {
  const HostAtoms<float> atoms = graphene_atoms<float>(100);
  const float limit = squared_cutoff<float>(1.9);
  const NeighborList expected = neighbors_by_definition(atoms.view(), limit, 5);
  for (NeighborRung<float> rung : right_rungs<float>(atoms.size())) {
    if (rung.name == "neighbors_cells") continue;  // it takes all atoms at once
    INFO(rung.name);
    rung.launch_slice = [slices = rung.launch_slice](Atoms<float> view, float square, Lists out,
                                                     Slice all) {
      for (std::size_t first = 0; first < all.last; first += 33) {
        slices(view, square, out, {first, std::min(first + 33, all.last)});
      }
    };
    REQUIRE(same_neighbors(run(rung, atoms, limit, 5), expected));
  }
}
