// Check of the exercise triplets_atomic: sheets and stars, lists that are too short, just long
// enough and too long, one that holds something already, every kind of grid, and how many atomics
// there are.
#include "triplets_atomic.cuh"

#include <algorithm>
#include <cmath>
#include <course/check.cuh>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <string>
#include <tuple>
#include <type_traits>
#include <vector>

namespace triplets_atomic_check {

using Launch = course::LaunchShape;

static_assert(std::is_same_v<decltype(Triplet::first), int> &&
                  std::is_same_v<decltype(Triplet::middle), int> &&
                  std::is_same_v<decltype(Triplet::last), int> &&
                  std::is_same_v<decltype(Triplet::cosine), float>,
              "Triplet has first, middle and last, which are int, and a cosine that is a float");

// ---- molecules, and their triplets -------------------------------------------------------------

/// Atoms, and lists of up to `longest` neighbours: neighbour k of atom m in list[k * n + m].
struct Molecule {
  std::vector<float> x, y;
  std::vector<int> counts, list;
};

enum class Pattern { mixed, pairs, star, one };

const char* name_of(Pattern kind) {
  constexpr const char* kNames[] = {"0 to 5 neighbours", "at most one neighbour",
                                    "one atom with many neighbours, the others with two",
                                    "one atom with three neighbours, the others with none"};
  return kNames[static_cast<int>(kind)];
}

/// Lists that need not be a real molecule's: the kernel believes what they say.
Molecule make_molecule(Pattern kind, std::size_t n) {
  const std::vector<int> draws = course::position_values<int>(n, 9);
  Molecule molecule;
  std::size_t longest = 0;
  for (std::size_t m = 0; m < n; ++m) {
    const double angle = 2.399963 * static_cast<double>(m);  // on a spiral: no two at one place
    molecule.x.push_back(static_cast<float>(std::sqrt(m + 1.0) * std::cos(angle)));
    molecule.y.push_back(static_cast<float>(std::sqrt(m + 1.0) * std::sin(angle)));
    int count = draws[m] % 6;
    if (kind == Pattern::pairs) count = draws[m] % 2;
    if (kind == Pattern::star) count = m == n / 2 ? 33 : 2;
    if (kind == Pattern::one) count = m == 0 ? 3 : 0;
    molecule.counts.push_back(std::min(count, static_cast<int>(n) - 1));
    longest = std::max(longest, static_cast<std::size_t>(molecule.counts[m]));
  }
  molecule.list.assign(longest * n, -1);  // -1: not a neighbour, and not an atom
  for (std::size_t m = 0; m < n; ++m) {
    for (int k = 0; k < molecule.counts[m]; ++k) {  // not ascending, so that the order shows
      const std::size_t step = n - 1 - static_cast<std::size_t>(k);
      molecule.list[static_cast<std::size_t>(k) * n + m] = static_cast<int>((m + step) % n);
    }
  }
  return molecule;
}

using Key = std::tuple<int, int, int>;  // middle, first, last

/// All triplets and their cosines, in double.
std::map<Key, double> reference(const Molecule& molecule) {
  const std::size_t n = molecule.x.size();
  std::map<Key, double> triplets;
  for (std::size_t m = 0; m < n; ++m) {
    for (int j = 0; j < molecule.counts[m]; ++j) {
      for (int k = j + 1; k < molecule.counts[m]; ++k) {
        const int a = molecule.list[static_cast<std::size_t>(j) * n + m];
        const int b = molecule.list[static_cast<std::size_t>(k) * n + m];
        const auto at = [&](const std::vector<float>& v, int atom) {
          return static_cast<double>(v[static_cast<std::size_t>(atom)]) - static_cast<double>(v[m]);
        };
        const double ax = at(molecule.x, a), ay = at(molecule.y, a), bx = at(molecule.x, b),
                     by = at(molecule.y, b);
        triplets[{static_cast<int>(m), a, b}] =
            (ax * bx + ay * by) / std::sqrt((ax * ax + ay * ay) * (bx * bx + by * by));
      }
    }
  }
  return triplets;
}

// ---- what a list must hold ---------------------------------------------------------------------

std::string text(const Triplet& t) {
  return "{" + std::to_string(t.first) + ", " + std::to_string(t.middle) + ", " +
         std::to_string(t.last) + "}";
}

/// Ok if places from `first` on hold different triplets of `expected`, with their cosines.
course::Verdict all_right(const std::vector<Triplet>& found, std::size_t first,
                          const std::map<Key, double>& expected) {
  std::map<Key, std::size_t> place_of;
  for (std::size_t k = first; k < found.size(); ++k) {
    const Triplet& t = found[k];
    const std::string place = "triplets[" + std::to_string(k) + "]: ";
    if (t.first == -1 && t.middle == -1 && t.last == -1) {
      return {false, place + "nothing was written to this place"};
    }
    const Key key{t.middle, t.first, t.last};
    const auto right = expected.find(key);
    if (right == expected.end()) {
      const bool swapped = expected.count({t.middle, t.last, t.first}) > 0;
      return {false,
              place + "found " + text(t) +
                  (swapped ? ", whose ends are the wrong way round" : ", which is no triplet")};
    }
    const auto [earlier, is_new] = place_of.emplace(key, k);
    if (!is_new) {
      return {false, place + "found " + text(t) + ", which is in triplets[" +
                         std::to_string(earlier->second) + "] already"};
    }
    const course::Verdict cosine =
        course::close(t.cosine, right->second, 1e-4, place + "the cosine of " + text(t));
    if (!cosine) return cosine;
  }
  return {};
}

/// Ok if place k holds what it held before the launch.
course::Verdict untouched(const Triplet& found, const Triplet& held, std::size_t k,
                          std::size_t first, std::size_t last) {
  if (std::memcmp(&found, &held, sizeof(Triplet)) == 0) return {};
  const std::string place = "triplets[" + std::to_string(k) + "]: found " + text(found);
  if (k < first) return {false, place + ", but it held a triplet before the launch"};
  return {false, place + ", but there are only " + std::to_string(last - first) +
                     " triplets to write, from triplets[" + std::to_string(first) + "] on"};
}

// ---- one launch --------------------------------------------------------------------------------

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
    REQUIRE(triplets_atomic_check::untouched(found[k], held[k], k, first, last));
  }
  found.resize(last);
  REQUIRE(triplets_atomic_check::all_right(found, first, expected));
}

// Promise: neighbour k of atom m is list[k * n + m] (OUT OF BOUNDS).
TEST_CASE("triplets_atomic: one atom with three neighbours, and so three triplets") {
  List list(10);
  append(list, Pattern::one, 4, {1, 32});
}

// Promise: there is a triplet for every two positions j < k of an atom's list: {neighbour j, m,
// neighbour k, cosine_at(...)} (lists do not ascend, so that the order shows).
// Promise: elements below `capacity` that are needed are filled, each once, in any order.
TEST_CASE("triplets_atomic: the list holds all triplets at every size") {
  const Pattern kinds[] = {Pattern::mixed, Pattern::pairs, Pattern::star};
  for (const auto& [n, launch, kind] : course::cases_of({0, 1, 2, 3, 31, 32, 33, 257}, kinds)) {
    course::in_launch(launch, [n = n, kind = kind](Launch tried) {
      List list(static_cast<unsigned>(10 * n + 900));
      append(list, kind, n, tried);
    });
  }
}

// Promise: the kernel is right for every one-dimensional grid, with blocks of any
// size from 1 to 1024 threads.
TEST_CASE("triplets_atomic: the list holds all triplets for every grid, blocks of any size") {
  std::vector<Launch> launches = course::launch_shapes(150);
  launches.insert(launches.end(), {{2, 1}, {2, 33}, {2, 100}});
  for (const Launch launch : launches) {
    List list(1500);
    append(list, Pattern::mixed, 150, launch);
  }
}

// Promise: a grid may have more than 2^32 threads.
TEST_CASE("triplets_atomic: the list holds all triplets in a grid of more than 2^32 threads") {
  course::skip_under_sanitizer("compute-sanitizer takes minutes for so many threads");
  constexpr std::size_t kAtoms = 65;
  INFO("the grid has 2^32 + 32 threads, a number that is 32 in 32 bits"
       << (course::kCpuDevice ? "; of its blocks the first 65 and the last 65 run" : ""));
  // An answer may take the blocks from either end.
  course::with_some_blocks(kAtoms, kAtoms, [] {
    List list(1500);
    append(list, Pattern::mixed, kAtoms, course::kHugeGrid);
  });
}

// Promise: k * n + m may be more than 2^32 (GPU only).
TEST_CASE("triplets_atomic: 2^31 - 1 atoms") {
  constexpr std::size_t n = (std::size_t{1} << 31) - 1, kLongest = 4;
  course::skip_without_memory((3 + kLongest) * n * sizeof(int));
  const course::DeviceBuffer<float> x(n), y(n);
  const auto counts = course::DeviceBuffer<int>::zeros(n);
  const course::DeviceBuffer<int> neighbors(kLongest * n);
  const auto put = [](const auto* d_array, std::size_t i, auto value) {
    CUDA_CHECK(cudaMemcpy(const_cast<decltype(value)*>(d_array) + i, &value, sizeof value,
                          cudaMemcpyHostToDevice));
  };
  std::map<Key, double> expected;
  for (const std::size_t m : {std::size_t{0}, n - 1}) {
    put(counts.data(), m, static_cast<int>(kLongest));
    put(x.data(), m, 0.0f);
    put(y.data(), m, 0.0f);
    for (std::size_t k = 0; k < kLongest;
         ++k) {  // the neighbours are at (0, 1), (1, 1), (2, 1), (3, 1)
      put(neighbors.data(), k * n + m, static_cast<int>(10 + k));
      put(x.data(), 10 + k, static_cast<float>(k));
      put(y.data(), 10 + k, 1.0f);
      for (std::size_t j = 0; j < k; ++j) {
        const double a = static_cast<double>(j), b = static_cast<double>(k);
        expected[{static_cast<int>(m), static_cast<int>(10 + j), static_cast<int>(10 + k)}] =
            (a * b + 1) / std::sqrt((a * a + 1) * (b * b + 1));
      }
    }
  }
  INFO(n << " atoms, the first and the last with 4 neighbours, the others with none; "
         << "append_triplets<<<4096, 256>>>; capacity 20");
  List list(20);
  Triplet* const triplets = list.triplets.data();
  unsigned* const required = list.counter.data();
  course::launch(append_triplets, {4096, 256}, x.data(), y.data(), counts.data(), neighbors.data(),
                 n, triplets, list.capacity, required);
  REQUIRE(course::same(list.counter.download().front(), 12u, "required"));
  std::vector<Triplet> found = list.triplets.download();
  found.resize(12);
  REQUIRE(triplets_atomic_check::all_right(found, 0, expected));
}

// Promise: an atom may have many neighbours: here 5000, whose 12,497,500 triplets a float cannot number (GPU only).
TEST_CASE("triplets_atomic: an atom with 5000 neighbours") {
  constexpr int kNeighbors = 5000;
  constexpr std::size_t n = kNeighbors + 1;
  constexpr unsigned kTriplets = kNeighbors * (kNeighbors - 1) / 2;
  course::skip_without_memory(kTriplets * sizeof(Triplet));
  Molecule molecule = make_molecule(Pattern::one, n);
  molecule.counts[0] = kNeighbors;
  molecule.list.assign(kNeighbors * n, -1);
  for (int k = 0; k < kNeighbors; ++k) {
    molecule.list[static_cast<std::size_t>(k) * n] = kNeighbors - k;
  }
  const auto x = course::DeviceBuffer<float>::from(molecule.x);
  const auto y = course::DeviceBuffer<float>::from(molecule.y);
  const auto counts = course::DeviceBuffer<int>::from(molecule.counts);
  const auto neighbors = course::DeviceBuffer<int>::from(molecule.list);
  INFO(n << " atoms, the first with 5000 neighbours, the others with none; "
         << "append_triplets<<<8, 64>>>; capacity " << kTriplets);
  List list(kTriplets);
  Triplet* const triplets = list.triplets.data();
  unsigned* const required = list.counter.data();
  course::launch(append_triplets, {8, 64}, x.data(), y.data(), counts.data(), neighbors.data(), n,
                 triplets, kTriplets, required);
  REQUIRE(course::same(list.counter.download().front(), kTriplets, "required"));
  // Each is there once if all are triplets and no two are the same one.
  std::vector<bool> is_there(n * n);
  for (const Triplet& t : list.triplets.download()) {
    const bool is_triplet = t.middle == 0 && t.last > 0 && t.first > t.last && t.first < int{n};
    const std::size_t pair = is_triplet ? static_cast<std::size_t>(t.first) * n + t.last : 0;
    if (!is_triplet || is_there[pair]) {
      FAIL("found " << text(t) << (is_triplet ? " twice" : ", which is no triplet"));
    }
    is_there[pair] = true;
  }
}

// Promise: *required counts all triplets, whether there is room for them or not.
// Promise: triplets[capacity] and what follows is not written (OUT OF BOUNDS; on a
// GPU the guard bands show it).
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

// Promise: *required may count earlier triplets already, which are not overwritten.
TEST_CASE("triplets_atomic: a second launch appends to the list") {
  const auto first = static_cast<unsigned>(reference(make_molecule(Pattern::mixed, 50)).size());
  for (const unsigned capacity : {2000u, first + 10, first, first - 10}) {
    List list(capacity);
    append(list, Pattern::mixed, 50, {4, 32});
    append(list, Pattern::star, 90, {2, 96});
  }
}

// Promise: *required may be far larger than `capacity`, and stays below 2^32.
TEST_CASE("triplets_atomic: required is unsigned, and may be far beyond the capacity") {
  for (const unsigned before : {0x7fff'fff0u, 0x8000'0000u, 0xffff'0000u}) {
    List list(20);
    CUDA_CHECK(cudaMemcpy(list.counter.data(), &before, sizeof before, cudaMemcpyHostToDevice));
    append(list, Pattern::mixed, 50, {2, 32});
  }
}

// Promise: there may be more than 2^16 atoms.
TEST_CASE("triplets_atomic: more than 2^16 atoms") {
  if (course::has_run_before()) return;
  List list(20);
  append(list, Pattern::one, 70'000, {64, 128});
}

// Promise: no triplet gets lost if many threads append at the same time.
TEST_CASE("triplets_atomic: many atoms") {
  const std::size_t n = course::kCpuDevice ? 500 : 50'000;
  List list(static_cast<unsigned>(6 * n));
  append(list, Pattern::mixed, n, {static_cast<unsigned>(n + 127) / 128, 128});
}

// Promise: there is at most one atomic per atom that has triplets, and no other.
// Promise: the threads share the work.
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
      // 16 warps have the atoms. Where a block takes one atom at a time, for which its threads meet, its first warp has
      // most of the pairs.
      const unsigned share = counters->barriers > 0 ? 4 : 9;
      REQUIRE(course::work_is_shared(*counters,
                                     (counters->global_loads + counters->global_stores) / share));
      // A load of one lane costs a warp what one of 32 does. Right answers have 5 lanes and more on average.
      REQUIRE(course::at_least(counters->global_load_lanes, 3 * counters->global_loads,
                               "lanes that load",
                               "3 for each of " + std::to_string(counters->global_loads) +
                                   " loads by a warp; do all lanes of a warp get atoms?"));
    }
  }
}

// Promise: an atom has fewer than 2^15 neighbours, and no list is cut short (5795 on a GPU, where
// an answer with an atomic for each triplet has to end in time).
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
      course::Findings found;
      course::with_launch_seconds(1, [&] { found = course::find_races(launch); });
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

}  // namespace triplets_atomic_check
