// Lists of neighbours in the host's memory: where neighbour k of an atom is, and comparisons.
#pragma once

#include <algorithm>
#include <course/verdict.cuh>
#include <cstddef>
#include <string>
#include <vector>

/// Where neighbour k of atom n is: in a row of its own, or in column n, so that the threads of
/// n, n + 1, n + 2 ... write side by side. Code that reads a list has to know which it is.
enum class Layout { rows, columns };

/// The neighbours of `counts.size()` atoms. A list holds at most `capacity` of them; counts tells
/// all. Where a count is larger than the capacity, the list is not complete.
struct NeighborList {
  std::vector<int> counts;
  std::vector<int> list;
  std::size_t capacity = 0;
  Layout layout = Layout::rows;

  std::size_t atoms() const { return counts.size(); }
  std::size_t place(std::size_t n, std::size_t k) const {
    return layout == Layout::rows ? n * capacity + k : k * atoms() + n;
  }
  int neighbor(std::size_t n, std::size_t k) const { return list[place(n, k)]; }
  /// How many neighbours of atom n are listed.
  std::size_t listed(std::size_t n) const {
    return std::min(static_cast<std::size_t>(counts[n]), capacity);
  }
  std::vector<int> row(std::size_t n) const {
    std::vector<int> neighbors(listed(n));
    for (std::size_t k = 0; k < neighbors.size(); ++k) neighbors[k] = neighbor(n, k);
    return neighbors;
  }
  /// The sum of all counts: twice the number of bonds.
  long long ends() const {
    long long sum = 0;
    for (const int count : counts) sum += count;
    return sum;
  }
  /// The first atom whose neighbours do not fit into its list; atoms() if all do.
  std::size_t first_overflow() const {
    std::size_t n = 0;
    while (n < atoms() && listed(n) == static_cast<std::size_t>(counts[n])) ++n;
    return n;
  }
  /// The capacity that would suffice.
  int largest_count() const {
    return counts.empty() ? 0 : *std::max_element(counts.begin(), counts.end());
  }
  /// Brings each list into ascending order: threads that append come in any order.
  void sort() {
    for (std::size_t n = 0; n < atoms(); ++n) {
      std::vector<int> neighbors = row(n);
      if (std::is_sorted(neighbors.begin(), neighbors.end())) continue;
      std::sort(neighbors.begin(), neighbors.end());
      for (std::size_t k = 0; k < neighbors.size(); ++k) list[place(n, k)] = neighbors[k];
    }
  }
};

/// Ok if both say the same of every atom, in the same order. Of a list that is too short only the
/// count is compared.
inline course::Verdict same_neighbors(const NeighborList& found, const NeighborList& expected) {
  const course::Verdict counts = course::same(found.counts, expected.counts, "counts");
  if (!counts) return counts;
  for (std::size_t n = 0; n < expected.atoms(); ++n) {
    if (expected.listed(n) < static_cast<std::size_t>(expected.counts[n])) continue;
    for (std::size_t k = 0; k < expected.listed(n); ++k) {
      if (found.neighbor(n, k) != expected.neighbor(n, k)) {
        return course::same(found.row(n), expected.row(n),
                            "neighbours of atom " + std::to_string(n));
      }
    }
  }
  return {};
}
