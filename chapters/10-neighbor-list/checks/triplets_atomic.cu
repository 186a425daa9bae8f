// Check of the exercise triplets_atomic: sheets and stars, lists that are too short, just long
// enough and too long, one that holds something already, every kind of grid, and how many atomics
// there are.
#include "triplets_atomic.cuh"

#include <course/check.cuh>
#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include "checks/molecules.cuh"

namespace {

using Launch = course::LaunchShape;
using namespace molecules;

/// A list in device memory, and its counter.
struct List {
  explicit List(unsigned places) : triplets(places), counter(1), capacity(places) {
    triplets.fill_bytes(0xff);
    counter.fill_bytes(0);
  }
  course::GuardedBuffer<Triplet> triplets;
  course::GuardedBuffer<unsigned> counter;
  unsigned capacity;
};

/// Launches the kernel, and checks all that it promises.
void append(List& list, Pattern kind, std::size_t n, Launch launch) {
  const Molecule molecule = make_molecule(kind, n);
  const unsigned before = list.counter.download().front();
  INFO(course::counted(n, "atom") << ", " << name_of(kind) << "; "
                                  << course::launch_text("append_triplets", launch) << "; capacity "
                                  << list.capacity << ", required holds " << before
                                  << " before the launch");
  const std::vector<Triplet> held = list.triplets.download();
  const std::map<Key, double> expected = reference(molecule);
  const auto x = course::DeviceBuffer<float>::from(molecule.x);
  const auto y = course::DeviceBuffer<float>::from(molecule.y);
  const auto counts = course::DeviceBuffer<int>::from(molecule.counts);
  const auto neighbors = course::DeviceBuffer<int>::from(molecule.list);
  Triplet* const triplets = list.triplets.data();
  unsigned* const required = list.counter.data();
  course::launch(append_triplets, {launch.grid, launch.block}, x.data(), y.data(), counts.data(),
                 neighbors.data(), n, triplets, list.capacity, required);
  std::vector<Triplet> found = list.triplets.download();
  const auto needed = static_cast<unsigned>(before + expected.size());
  REQUIRE(list.triplets.intact("triplets"));
  REQUIRE(list.counter.intact("required"));
  REQUIRE(course::same(list.counter.download().front(), needed, "required"));
  const std::size_t first = std::min(before, list.capacity), last = std::min(needed, list.capacity);
  for (std::size_t k = 0; k < found.size(); ++k) {
    if (k >= first && k < last) continue;
    REQUIRE(untouched(found[k], held[k], k, first, last));
  }
  found.resize(last);
  REQUIRE(all_right(found, first, expected));
}

}  // namespace

TEST_CASE("triplets_atomic: one atom with three neighbours, and so three triplets") {
  List list(10);
  append(list, Pattern::one, 4, {1, 32});
}

TEST_CASE("triplets_atomic: the list holds all triplets at every size") {
  std::size_t turn = 0;
  for (const std::size_t n : {0, 1, 2, 3, 31, 32, 33, 257}) {
    const std::vector<Launch> launches = course::launch_shapes(n);
    for (const Pattern kind : {Pattern::mixed, Pattern::pairs, Pattern::star}) {
      List list(static_cast<unsigned>(10 * n + 900));
      append(list, kind, n, launches[turn++ % launches.size()]);
    }
  }
}

TEST_CASE("triplets_atomic: the list holds all triplets for every grid, blocks of any size") {
  std::vector<Launch> launches = course::launch_shapes(150);
  launches.insert(launches.end(), {{2, 1}, {2, 33}, {2, 100}});
  for (const Launch launch : launches) {
    List list(1500);
    append(list, Pattern::mixed, 150, launch);
  }
}

TEST_CASE("triplets_atomic: a list that is too short is filled; required tells what it needs") {
  for (const Pattern kind : {Pattern::mixed, Pattern::star}) {
    const auto needed = static_cast<unsigned>(reference(make_molecule(kind, 60)).size());
    for (const unsigned capacity : {0u, 1u, 7u, needed / 2, needed - 1, needed, needed + 1}) {
      for (const Launch launch : {Launch{1, 32}, Launch{3, 96}}) {
        List list(capacity);
        append(list, kind, 60, launch);
      }
    }
  }
}

TEST_CASE("triplets_atomic: a second launch appends to the list") {
  const auto first = static_cast<unsigned>(reference(make_molecule(Pattern::mixed, 50)).size());
  for (const unsigned capacity : {2000u, first + 10, first, first - 10}) {
    List list(capacity);
    append(list, Pattern::mixed, 50, {4, 32});
    append(list, Pattern::star, 90, {2, 96});
  }
}

TEST_CASE("triplets_atomic: required is unsigned, and may be far beyond the capacity") {
  for (const unsigned before : {0x7fff'fff0u, 0x8000'0000u, 0xffff'0000u}) {
    List list(20);
    CUDA_CHECK(cudaMemcpy(list.counter.data(), &before, sizeof before, cudaMemcpyHostToDevice));
    append(list, Pattern::mixed, 50, {2, 32});
  }
}

TEST_CASE("triplets_atomic: more than 2^16 atoms") {
  if (course::has_run_before()) return;
  List list(20);
  append(list, Pattern::one, 70'000, {64, 128});
}

TEST_CASE("triplets_atomic: many atoms") {
  const std::size_t n = course::kCpuDevice ? 500 : 50'000;
  List list(static_cast<unsigned>(6 * n));
  append(list, Pattern::mixed, n, {static_cast<unsigned>(n + 127) / 128, 128});
}

TEST_CASE("triplets_atomic: one atomic per atom that has triplets") {
  course::skip_without_counters();
  for (const Pattern kind : {Pattern::mixed, Pattern::pairs, Pattern::star}) {
    constexpr std::size_t kAtoms = 512;
    std::uint64_t with_triplets = 0, most_loads = 0;
    for (const int count : make_molecule(kind, kAtoms).counts) {
      with_triplets += count > 1 ? 1 : 0;
      most_loads += static_cast<std::uint64_t>(count * count) * 8;
    }
    List list(8000);
    const auto counters = course::count([&] { append(list, kind, kAtoms, {8, 64}); });
    INFO(kAtoms << " atoms, " << name_of(kind) << "; append_triplets<<<8, 64>>>");
    REQUIRE(course::at_most(counters->global_atomic_lanes, with_triplets, "atomics"));
    if (kind == Pattern::mixed) {
      REQUIRE(course::at_most(counters->global_loads, most_loads / 2, "loads by a warp",
                              "each element that the source names counts, also in an `if`"));
      REQUIRE(course::work_is_shared(*counters,
                                     (counters->global_loads + counters->global_stores) / 4));
    }
  }
}

TEST_CASE("triplets_atomic: an atom with up to 2^15 - 1 neighbours") {
  if (course::seed() != 0) return;  // one thread: every schedule is like the first one
  // A GPU does not count atomics: there, one for each triplet has to end in time.
  constexpr int kMost = course::kCpuDevice ? 32'767 : 5'795;
  constexpr std::size_t kAtoms = 3;
  std::vector<int> lists(kAtoms * kMost);
  for (std::size_t k = 0; k < lists.size(); ++k) lists[k] = static_cast<int>(1 + k / kAtoms % 2);
  const auto x = course::DeviceBuffer<float>::from({0, 1, 1});
  const auto y = course::DeviceBuffer<float>::from({0, 0, 1});
  const auto neighbors = course::DeviceBuffer<int>::from(lists);
  for (const int count : {100, kMost}) {
    INFO("3 atoms, one with " << count << " neighbours; append_triplets<<<1, 32>>>; capacity 20");
    const auto counts = course::DeviceBuffer<int>::from({count, 0, 0});
    List list(20);
    Triplet* const triplets = list.triplets.data();
    unsigned* const required = list.counter.data();
    const auto launch = [&] {
      course::launch(append_triplets, {1, 32}, x.data(), y.data(), counts.data(), neighbors.data(),
                     kAtoms, triplets, list.capacity, required);
    };
    bool ended = false;  // by the CPU device, before all pairs were looked at
    if (count < kMost) {
      const auto counters = course::count(launch);
      if (counters) REQUIRE(course::at_most(counters->global_atomic_lanes, 1, "atomics"));
    } else {
      // An answer may go through all 2^29 pairs, although only 20 have room. The CPU device ends
      // that as an endless loop; the atomic that is looked at here was made before.
      const course::Findings found = course::find_races(launch);
      if (found.races + found.others > found.endless_loops) FAIL(found.texts.front());
      ended = found.endless_loops > 0;
    }
    const auto needed = static_cast<unsigned>(count) * static_cast<unsigned>(count - 1) / 2;
    REQUIRE(course::same(list.counter.download().front(), needed, "required"));
    for (const Triplet& t : list.triplets.download()) {
      if (ended && t.middle == -1) continue;  // those that have room may come last
      INFO("a triplet is " << text(t));
      REQUIRE(course::same(t.middle, 0, "its middle"));
    }
  }
}
