// The same lists without a GPU: every pair once, and O(n) with cells.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "cell_grid.cuh"
#include "distance.cuh"
#include "neighbor_list.cuh"

/// Calls done(n) now and then, with the number of atoms that are done.
struct NoReport {
  void operator()(std::size_t) const {}
};

/// Rung 0. Each pair once: n1 < n2, so both lists grow in ascending order.
template <class T, class Report = NoReport>
NeighborList neighbors_cpu(Atoms<T> atoms, T limit, std::size_t capacity, Report done = {}) {
  NeighborList out{std::vector<int>(atoms.n, 0), std::vector<int>(atoms.n * capacity), capacity,
                   Layout::rows};
  const auto append = [&](std::size_t n, std::size_t neighbor) {
    const auto place = static_cast<std::size_t>(out.counts[n]++);  // the value before
    if (place < capacity) out.list[n * capacity + place] = static_cast<int>(neighbor);
  };
  for (std::size_t n1 = 0; n1 < atoms.n; ++n1) {
    const T x1 = atoms.x[n1], y1 = atoms.y[n1];
    for (std::size_t n2 = n1 + 1; n2 < atoms.n; ++n2) {
      if (squared_distance(x1, y1, atoms.x[n2], atoms.y[n2]) < limit) {
        append(n1, n2);
        append(n2, n1);
      }
    }
    if (n1 % 64 == 0) done(n1);
  }
  return out;
}

/// The smallest rectangle around the atoms, of which there is one at least.
template <class T>
Box box_of(Atoms<T> atoms) {
  const auto [left, right] = std::minmax_element(atoms.x, atoms.x + atoms.n);
  const auto [bottom, top] = std::minmax_element(atoms.y, atoms.y + atoms.n);
  return {*left, *right, *bottom, *top};
}

/// Atoms sorted by cell. Those of a cell keep their order.
template <class T>
struct SortedAtoms {
  /// For pairs whose squared distance is below `limit`.
  SortedAtoms(Atoms<T> atoms, T limit)
      : grid(make_cell_grid(box_of(atoms), limit, most_cells(atoms.n))),
        starts(static_cast<std::size_t>(grid.columns) * static_cast<std::size_t>(grid.rows) + 1),
        x(atoms.n),
        y(atoms.n),
        indices(atoms.n) {
    const auto cell_of = [&](std::size_t n) {
      return static_cast<std::size_t>(number_of(grid, cell_at(grid, atoms.x[n], atoms.y[n])));
    };
    for (std::size_t n = 0; n < atoms.n; ++n) ++starts[cell_of(n) + 1];
    for (std::size_t c = 1; c < starts.size(); ++c) starts[c] += starts[c - 1];
    std::vector<int> next(starts.begin(), starts.end() - 1);
    for (std::size_t n = 0; n < atoms.n; ++n) {
      const auto place = static_cast<std::size_t>(next[cell_of(n)]++);
      x[place] = atoms.x[n];
      y[place] = atoms.y[n];
      indices[place] = static_cast<int>(n);
    }
  }

  /// Calls visit(j) for the sorted atoms j near the sorted atom `me`, itself excepted.
  template <class Visit>
  void visit_near(std::size_t me, T limit, Visit visit) const {
    visit_near_cells(grid, starts.data(), cell_at(grid, x[me], y[me]), [&](int first, int end) {
      for (auto j = static_cast<std::size_t>(first); j < static_cast<std::size_t>(end); ++j) {
        if (squared_distance(x[me], y[me], x[j], y[j]) < limit && j != me) visit(j);
      }
    });
  }

  CellGrid grid;
  std::vector<int> starts;
  std::vector<T> x, y;
  std::vector<int> indices;
};

/// The reference of large inputs: O(n), as neighbors_cells does it.
template <class T, class Report = NoReport>
NeighborList neighbors_cells_cpu(Atoms<T> atoms, T limit, std::size_t capacity, Report done = {}) {
  NeighborList out{std::vector<int>(atoms.n, 0), std::vector<int>(atoms.n * capacity), capacity,
                   Layout::rows};
  if (atoms.n == 0) return out;
  const SortedAtoms<T> sorted(atoms, limit);
  std::vector<int> near;
  for (std::size_t s = 0; s < atoms.n; ++s) {
    near.clear();
    sorted.visit_near(s, limit, [&](std::size_t j) { near.push_back(sorted.indices[j]); });
    std::sort(near.begin(), near.end());
    const auto n = static_cast<std::size_t>(sorted.indices[s]);
    out.counts[n] = static_cast<int>(near.size());
    std::copy_n(near.begin(), out.listed(n), out.list.begin() + static_cast<long>(n * capacity));
    if (s % 64 == 0) done(s);
  }
  return out;
}
