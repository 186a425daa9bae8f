// For the check of triplets_atomic: atoms with lists of neighbours, all triplets of them, and what a
// list of triplets must hold.
#pragma once

#include <algorithm>
#include <cmath>
#include <course/data.cuh>
#include <course/verdict.cuh>
#include <cstddef>
#include <cstring>
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

template <class Triplet>
std::string text(const Triplet& t) {
  return "{" + std::to_string(t.first) + ", " + std::to_string(t.middle) + ", " +
         std::to_string(t.last) + "}";
}

/// Ok if places from `first` on hold different triplets of `expected`, with their cosines.
template <class Triplet>
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
template <class Triplet>
course::Verdict untouched(const Triplet& found, const Triplet& held, std::size_t k,
                          std::size_t first, std::size_t last) {
  if (std::memcmp(&found, &held, sizeof(Triplet)) == 0) return {};
  const std::string place = "triplets[" + std::to_string(k) + "]: found " + text(found);
  if (k < first) return {false, place + ", but it held a triplet before the launch"};
  return {false, place + ", but there are only " + std::to_string(last - first) +
                     " triplets to write, from triplets[" + std::to_string(first) + "] on"};
}

}  // namespace molecules
