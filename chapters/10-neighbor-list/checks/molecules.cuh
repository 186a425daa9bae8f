// For the check of triplets_atomic: atoms with lists of neighbours, and all triplets of them.
#pragma once

#include <algorithm>
#include <cmath>
#include <course/data.cuh>
#include <cstddef>
#include <map>
#include <string>
#include <tuple>
#include <vector>

namespace molecules {

/// Atoms, and lists of up to `longest` neighbours: neighbour k of atom m in list[k * n + m].
struct Molecule {
  std::vector<float> x, y;
  std::vector<int> counts, list;
};

enum class Pattern { mixed, pairs, star, one };

inline const char* name_of(Pattern kind) {
  constexpr const char* kNames[] = {"0 to 5 neighbours", "at most one neighbour",
                                    "one atom with many neighbours, the others with two",
                                    "one atom with three neighbours, the others with none"};
  return kNames[static_cast<int>(kind)];
}

/// Lists that need not be a real molecule's: the kernel believes what they say.
inline Molecule make_molecule(Pattern kind, std::size_t n) {
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
inline std::map<Key, double> reference(const Molecule& molecule) {
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

}  // namespace molecules
