// Runs the rungs of chapter 10: who is near whom in a sheet of graphene, by all pairs and by cells.
// The rows of other chapters end with a vendor's library; here is none: CUDA has no neighbour list.
#include <algorithm>
#include <course/buffer.cuh>
#include <course/data.cuh>
#include <course/ladder.cuh>
#include <cstddef>
#include <string>
#include <vector>

#include "cpu.cuh"
#include "inputs.cuh"
#include "neighbor_list.cuh"
#include "rungs.cuh"

namespace {

constexpr double kCutoff = 1.9;
constexpr std::size_t kCapacity = 10;
constexpr std::size_t kBook = 22'464;  // atoms of the data set in the book

/// Below this, blocks that race may get away with it.
constexpr std::size_t kEnoughToRace = 256;

/// Up to here all pairs take less than a fifth of a second, and not much more where every access
/// is checked.
std::size_t most_for_all_pairs() {
  return course::kCpuDevice ? 512 : course::skip_large() ? 4096 : 100'000;
}

/// Up to here the same atoms are numbered at random as well.
constexpr std::size_t kMostShuffled = 1'000'000;

/// Atoms on the device, their lists, and what is right.
template <class T>
struct Problem {
  explicit Problem(const HostAtoms<T>& atoms)
      : limit(squared_cutoff<T>(kCutoff)),
        expected(neighbors_cells_cpu(atoms.view(), limit, kCapacity)),
        d_x(course::DeviceBuffer<T>::from(atoms.x)),
        d_y(course::DeviceBuffer<T>::from(atoms.y)),
        d_counts(atoms.size()),
        d_list(kCapacity * atoms.size()),
        rungs(neighbor_rungs<T>(atoms.size())) {}

  Atoms<T> atoms() const { return {d_x.data(), d_y.data(), d_x.size()}; }
  Lists lists() { return {d_counts.data(), d_list.data(), kCapacity}; }
  double bonds() const { return 0.5 * static_cast<double>(expected.ends()); }
  NeighborList found(Layout layout) const {
    NeighborList found{d_counts.download(), d_list.download(), kCapacity, layout};
    found.sort();
    return found;
  }
  /// Every coordinate read, every count and every index written.
  std::size_t bytes() const {
    return d_x.bytes() + d_y.bytes() + d_counts.bytes() +
           static_cast<std::size_t>(expected.ends()) * sizeof(int);
  }

  /// A row of the ladder. Its lists begin with counts of 0: there are rungs that add to them.
  course::Rung row(const NeighborRung<T>& rung) {
    return {
        .name = rung.name,
        .changed = rung.changed,
        .reset =
            [this] {
              d_counts.fill_bytes(0);
              d_list.fill_bytes(0);
            },
        .launch = [this, rung] { rung.launch(atoms(), limit, lists()); },
        .result =
            [this] {
              double ends = 0;
              for (const int count : d_counts.download()) ends += count;
              return 0.5 * ends;
            },
        .check = [this, layout = rung.layout] { return same_neighbors(found(layout), expected); },
        .bytes = bytes(),
        .n = d_x.size()};
  }
  /// The row of the rung of this name in another group, where other words say what is new.
  course::Rung row(const std::string& name, const std::string& changed,
                   const std::string& suffix = "") {
    course::Rung renamed = row(course::rung_named(rungs, name));
    renamed.name += suffix;
    renamed.changed = changed;
    return renamed;
  }

  T limit;
  NeighborList expected;
  course::DeviceBuffer<T> d_x, d_y;
  course::DeviceBuffer<int> d_counts, d_list;
  std::vector<NeighborRung<T>> rungs;
};

/// Begins a group: the number of bonds is shown, and every list is checked.
template <class T>
void begin(course::Ladder& ladder, const Problem<T>& problem, const std::string& how) {
  ladder.reference("neighbors_cells_cpu", problem.bonds(), "bonds; one CPU thread, O(n); " + how,
                   problem.d_x.size());
}

/// All rungs of the lesson.
void all_methods(course::Ladder& ladder, std::size_t n) {
  Problem<float> p(graphene_atoms<float>(n));
  begin(ladder, p, "all methods");
  for (const NeighborRung<float>& rung : p.rungs) {
    const course::Rung row = p.row(rung);
    if (rung.because.empty()) {
      ladder.rung(row);
    } else if (n >= kEnoughToRace) {
      course::WrongRung wrong = course::wrong_rung(row, course::Expect::race, rung.because);
      wrong.check = nullptr;  // the number of bonds is compared
      ladder.wrong(wrong);
    }
  }
}

/// Where all pairs would take minutes.
void large(course::Ladder& ladder, std::size_t n) {
  const HostAtoms<float> atoms = graphene_atoms<float>(n);
  {
    Problem<float> p(atoms);
    begin(ladder, p, "in the order of the grains");
    ladder.rung(p.row("neighbors_cells", "build and list"));
  }
  if (n > kMostShuffled) return;  // it takes the CPU's reference longer than all the rest
  Problem<float> p(shuffled(atoms, 1));
  begin(ladder, p, "numbered at random");
  ladder.rung(p.row("neighbors_cells", "the same atoms in random order"));
}

/// What double precision costs.
void in_double(course::Ladder& ladder, std::size_t n) {
  Problem<double> p(graphene_atoms<double>(n));
  begin(ladder, p, "in double precision");
  if (n <= most_for_all_pairs()) {
    ladder.rung(p.row("neighbors_gather", "all pairs", "<double>"));
  }
  ladder.rung(p.row("neighbors_cells", "cells", "<double>"));
}

/// Time over n: two curves that rise with n * n, and one with n.
void over_n(course::Ladder& ladder, const std::vector<std::size_t>& sizes) {
  ladder.reference("lists that are wrong", 0, "atoms per ns over their number", sizes.back());
  for (const std::size_t n : sizes) {
    Problem<float> p(graphene_atoms<float>(n));
    const auto point = [&](const std::string& series, const std::string& name,
                           const std::string& changed) {
      course::Rung row = p.row(name, changed, "_of_" + std::to_string(n));
      row.series = series;
      row.x = static_cast<double>(n);
      row.operations = n;
      row.result = [check = row.check] { return check() ? 0.0 : 1.0; };
      ladder.rung(row);
    };
    point("cells", "neighbors_cells", "nine cells");
    if (n > most_for_all_pairs()) continue;
    point("gather", "neighbors_gather", "all pairs twice");
    point("atomic", "neighbors_atomic", "all pairs once");
  }
}

}  // namespace

int main(int argc, char** argv) {
  course::Ladder ladder("10-neighbor-list", argc, argv,
                        {.gpu_n = kBook, .cpu_n = 320, .max_n = 100'000'000, .n_means = "atoms"});
  return ladder.run([](course::Ladder& rungs) {
    for (const std::size_t n : rungs.sizes({kBook, 100'000})) {
      n <= most_for_all_pairs() ? all_methods(rungs, n) : large(rungs, n);
    }
    for (const std::size_t n : rungs.sizes({1'000'000, 10'000'000})) large(rungs, n);
    for (const std::size_t n : rungs.sizes({kBook, 1'000'000})) in_double(rungs, n);
    if (course::kCpuDevice) {
      const std::size_t n = std::max<std::size_t>(rungs.n(), 4);
      over_n(rungs, {n / 4, n / 2, n});
    } else {
      std::vector<std::size_t> sizes =
          rungs.sizes({1'000, 3'000, 10'000, 30'000, 100'000, 300'000});
      over_n(rungs, sizes);
    }
  });
}
