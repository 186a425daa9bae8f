// A sheet of polycrystalline graphene, of any size: grains of the honeycomb lattice in random
// directions, and the defects where they meet.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <random>
#include <vector>

#include "cpu.cuh"
#include "distance.cuh"

/// Coordinates in Angstrom, 1e-10 m.
struct Sheet {
  std::vector<double> x, y;
};

namespace graphene {

inline constexpr double kBond = 1.42;     // from a carbon atom to the next
inline constexpr double kClosest = 1.2;   // atoms nearer than this do not exist
inline constexpr double kGrain = 60;      // from the middle of a grain to that of the next
inline constexpr double kTremble = 0.02;  // how far atoms are from their places, at most
inline constexpr double kPi = 3.14159265358979323846;

/// Numbers from 0 up to 1: the standard fixes mt19937_64, but no distribution.
class Random {
 public:
  explicit Random(std::uint64_t seed) : bits_(seed) {}
  double operator()() { return static_cast<double>(bits_() >> 11) * 0x1p-53; }
  double between(double low, double high) { return low + (high - low) * (*this)(); }

 private:
  std::mt19937_64 bits_;
};

struct Grain {
  double x, y;              // its middle: an atom belongs to the grain whose middle is nearest
  double angle;             // of the lattice
  double shift_x, shift_y;  // of the lattice
};

/// Squares of equal size, `count` by `count`, each with the middle of one grain somewhere in it. So
/// every point has a middle no further than a square's diagonal, and at most two squares away.
struct Grains {
  Grains(double half_width, double the_edge, Random& random)
      : edge(the_edge), count(static_cast<int>(std::ceil(2 * half_width / edge)) + 4) {
    for (int row = 0; row < count; ++row) {
      for (int column = 0; column < count; ++column) {
        Grain g{};
        g.x = (column - 0.5 * count + random()) * edge;
        g.y = (row - 0.5 * count + random()) * edge;
        g.angle = random() * kPi / 3;  // the lattice repeats after 60 degrees
        g.shift_x = random.between(-2, 2);
        g.shift_y = random.between(-2, 2);
        grains.push_back(g);
      }
    }
  }
  const Grain& at(int column, int row) const {
    return grains[static_cast<std::size_t>(row) * static_cast<std::size_t>(count) +
                  static_cast<std::size_t>(column)];
  }
  /// True if no other grain's middle is nearer to (x, y) than that of the grain at (column, row).
  bool owns(int column, int row, double x, double y) const {
    const auto distance = [&](const Grain& g) {
      return (g.x - x) * (g.x - x) + (g.y - y) * (g.y - y);
    };
    const double mine = distance(at(column, row));
    const int c = static_cast<int>(std::floor(x / edge + 0.5 * count));
    const int r = static_cast<int>(std::floor(y / edge + 0.5 * count));
    if (distance(at(c, r)) < mine) return false;  // most points need no more than this
    for (int i = std::max(r - 2, 0); i <= std::min(r + 2, count - 1); ++i) {
      for (int j = std::max(c - 2, 0); j <= std::min(c + 2, count - 1); ++j) {
        if (distance(at(j, i)) < mine) return false;
      }
    }
    return true;
  }

  double edge;
  int count;
  std::vector<Grain> grains;
};

/// Calls visit(x, y) for the places of the lattice around a grain's middle, up to `radius` away.
template <class Visit>
void visit_lattice(const Grain& grain, double radius, Visit visit) {
  const double cosine = std::cos(grain.angle), sine = std::sin(grain.angle);
  const double width = std::sqrt(3.0) * kBond, height = 1.5 * kBond;  // of the lattice's rows
  const int rows = static_cast<int>(radius / height) + 3;
  for (int row = -rows; row <= rows; ++row) {
    const double v = row * height;
    const double reach = radius * radius - v * v;
    const int columns = static_cast<int>(std::sqrt(std::max(reach, 0.0)) / width) + 3;
    for (int column = -columns; column <= columns; ++column) {
      const double u = (column + (row % 2 == 0 ? 0.0 : 0.5)) * width;
      for (const double up : {0.0, kBond}) {
        const double a = u + grain.shift_x, b = v + up + grain.shift_y;
        visit(grain.x + cosine * a - sine * b, grain.y + sine * a + cosine * b);
      }
    }
  }
}

/// All atoms of the square from -half to half, before any is taken out.
inline Sheet lay_out(double half, std::uint64_t seed, const std::function<void(double)>& done) {
  Random random(seed);
  const double edge = std::min(kGrain, std::max(half / 2, 8.0));
  const Grains grains(half, edge, random);
  Sheet sheet;
  for (int row = 0; row < grains.count; ++row) {
    done(static_cast<double>(row) / grains.count);
    for (int column = 0; column < grains.count; ++column) {
      const Grain& grain = grains.at(column, row);
      visit_lattice(grain, edge * std::sqrt(2.0), [&](double x, double y) {
        if (std::max(std::fabs(x), std::fabs(y)) > half) return;
        if (!grains.owns(column, row, x, y)) return;
        // Four decimals: a file with four decimals holds exactly what the memory holds.
        sheet.x.push_back(std::round(1e4 * (x + random.between(-kTremble, kTremble))) / 1e4);
        sheet.y.push_back(std::round(1e4 * (y + random.between(-kTremble, kTremble))) / 1e4);
      });
    }
  }
  return sheet;
}

/// The sheet without every atom that is too close to an earlier one that stays.
inline Sheet without_crowds(const Sheet& sheet, const std::function<void(double)>& done) {
  const std::size_t n = sheet.x.size();
  const double limit = kClosest * kClosest;
  Sheet kept;
  if (n == 0) return kept;
  const SortedAtoms<double> sorted({sheet.x.data(), sheet.y.data(), n}, limit);
  std::vector<std::size_t> place(n);
  for (std::size_t s = 0; s < n; ++s) place[static_cast<std::size_t>(sorted.indices[s])] = s;
  std::vector<char> gone(n, 0);  // by place
  for (std::size_t i = 0; i < n; ++i) {
    if (i % 4096 == 0) done(static_cast<double>(i) / static_cast<double>(n));
    sorted.visit_near(place[i], limit, [&](std::size_t s) {
      if (static_cast<std::size_t>(sorted.indices[s]) < i && !gone[s]) gone[place[i]] = 1;
    });
    if (gone[place[i]]) continue;
    kept.x.push_back(sheet.x[i]);
    kept.y.push_back(sheet.y[i]);
  }
  return kept;
}

}  // namespace graphene

/// Exactly n atoms of a square sheet, its lower left corner near (0, 0), in the order of the
/// grains. The same for the same n and seed. O(n). Calls done(part) now and then, with the part of
/// the work that is done, from 0 to 1.
inline Sheet make_graphene(
    std::size_t n, std::uint64_t seed, const std::function<void(double)>& done = [](double) {}) {
  using namespace graphene;
  if (n == 0) return {};
  const double area_of_an_atom = 0.75 * std::sqrt(3.0) * kBond * kBond;
  Sheet sheet;
  std::vector<double> distance;  // from the middle, as squares see it
  double half = 0.5 * std::sqrt(static_cast<double>(n) * area_of_an_atom) + kBond;
  for (; distance.size() < n; half = 1.02 * half) {
    sheet = without_crowds(lay_out(half, seed, [&](double part) { done(0.6 * part); }),
                           [&](double part) { done(0.6 + 0.4 * part); });
    distance.resize(sheet.x.size());
    for (std::size_t i = 0; i < distance.size(); ++i) {
      distance[i] = std::max(std::fabs(sheet.x[i]), std::fabs(sheet.y[i]));
    }
  }
  // The square that holds n of them; of atoms on its edge, the first ones.
  std::vector<double> sorted = distance;
  std::nth_element(sorted.begin(), sorted.begin() + static_cast<long>(n - 1), sorted.end());
  const double edge = sorted[n - 1];
  const auto inside =
      std::count_if(distance.begin(), distance.end(), [&](double d) { return d < edge; });
  std::size_t on_edge = n - static_cast<std::size_t>(inside);
  const double corner = std::ceil(edge);
  Sheet result;
  for (std::size_t i = 0; i < distance.size(); ++i) {
    if (distance[i] > edge || (distance[i] == edge && on_edge == 0)) continue;
    if (distance[i] == edge) --on_edge;
    result.x.push_back(std::round(1e4 * (sheet.x[i] + corner)) / 1e4);
    result.y.push_back(std::round(1e4 * (sheet.y[i] + corner)) / 1e4);
  }
  return result;
}
