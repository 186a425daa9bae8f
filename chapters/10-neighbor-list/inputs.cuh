// Inputs for tests and ladder: ordinary ones, and those that break methods.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "distance.cuh"
#include "graphene.cuh"
#include "neighbor_list.cuh"

/// Coordinates in the host's memory.
template <class T>
struct HostAtoms {
  std::vector<T> x, y;
  std::size_t size() const { return x.size(); }
  Atoms<T> view() const { return {x.data(), y.data(), x.size()}; }
};

template <class T>
HostAtoms<T> graphene_atoms(std::size_t n, std::uint64_t seed = 1) {
  const Sheet sheet = make_graphene(n, seed);
  return {std::vector<T>(sheet.x.begin(), sheet.x.end()),
          std::vector<T>(sheet.y.begin(), sheet.y.end())};
}

/// The same atoms under other numbers.
template <class T>
HostAtoms<T> shuffled(const HostAtoms<T>& atoms, std::uint32_t seed) {
  HostAtoms<T> mixed = atoms;
  std::mt19937 random(seed);
  for (std::size_t i = mixed.size(); i > 1; --i) {
    const std::size_t j = random() % i;
    std::swap(mixed.x[i - 1], mixed.x[j]);
    std::swap(mixed.y[i - 1], mixed.y[j]);
  }
  return mixed;
}

/// Where atoms may be.
enum class Scene {
  random,      // anywhere in a square
  lattice,     // at whole numbers: distances of exactly the cutoff are common
  clusters,    // a few crowds far away from each other
  line,        // all y are equal
  column,      // all x are equal
  diagonal,    // on one slanting line
  duplicates,  // a handful of points, each many times
  one_point,   // all the same
  far_away,    // a crowd, and a few atoms at enormous distances
  negative,    // around (0, 0), with zeros of both signs
  sheet        // polycrystalline graphene
};
inline constexpr Scene kScenes[] = {Scene::random,     Scene::lattice,   Scene::clusters,
                                    Scene::line,       Scene::column,    Scene::diagonal,
                                    Scene::duplicates, Scene::one_point, Scene::far_away,
                                    Scene::negative,   Scene::sheet};

inline const char* name_of(Scene scene) {
  constexpr const char* kNames[] = {"random",         "on a lattice",   "clusters",
                                    "on a line in x", "on a line in y", "on a diagonal",
                                    "duplicates",     "one point",      "a crowd and far away",
                                    "around zero",    "graphene"};
  return kNames[static_cast<int>(scene)];
}

/// n atoms, about 10 by 10 wide for 100 of them.
template <class T>
HostAtoms<T> make_scene(Scene scene, std::size_t n, std::uint32_t seed) {
  if (scene == Scene::sheet) return graphene_atoms<T>(n, seed);
  std::mt19937 random(seed);
  const auto uniform = [&](double low, double high) {
    return static_cast<T>(low + (high - low) * (random() * 0x1p-32));
  };
  const double width = std::sqrt(static_cast<double>(n));
  HostAtoms<T> atoms;
  for (std::size_t i = 0; i < n; ++i) {
    T x = uniform(0, width), y = uniform(0, width);
    if (scene == Scene::lattice || scene == Scene::negative) x = std::floor(x), y = std::floor(y);
    if (scene == Scene::negative) {
      x = (x - static_cast<T>(std::floor(width / 2))) * static_cast<T>(i % 2 == 0 ? 1 : -1);
      y = -y;
    }
    if (scene == Scene::clusters) {
      const double at = 1000.0 * (random() % 4);
      x = uniform(at, at + 3), y = uniform(-2 * at, -2 * at + 3);
    }
    if (scene == Scene::line) y = static_cast<T>(-7.25);
    if (scene == Scene::column) x = static_cast<T>(1e6);
    if (scene == Scene::diagonal) y = 2 * x;
    if (scene == Scene::duplicates)
      x = static_cast<T>(random() % 3), y = static_cast<T>(random() % 2);
    if (scene == Scene::one_point) x = static_cast<T>(3.7), y = static_cast<T>(-1e-3);
    if (scene == Scene::far_away && i % 8 == 0) {
      x = static_cast<T>((i % 16 == 0 ? 1 : -1) * 3e38 / static_cast<double>(1 + i * i));
      y = static_cast<T>(1e9 * static_cast<double>(i));
    }
    atoms.x.push_back(x);
    atoms.y.push_back(y);
  }
  return atoms;
}

/// The plainest way of all, and the judge of all others: no cells, no halves, no shared lists.
template <class T>
NeighborList neighbors_by_definition(Atoms<T> atoms, T limit, std::size_t capacity) {
  NeighborList out{std::vector<int>(atoms.n, 0), std::vector<int>(atoms.n * capacity), capacity,
                   Layout::rows};
  for (std::size_t n = 0; n < atoms.n; ++n) {
    for (std::size_t m = 0; m < atoms.n; ++m) {
      volatile T dx = atoms.x[m] - atoms.x[n], dy = atoms.y[m] - atoms.y[n];
      volatile T xx = dx * dx, yy = dy * dy;  // volatile: rounded, whatever the compiler may do
      if (m == n || !(xx + yy < limit)) continue;
      const auto place = static_cast<std::size_t>(out.counts[n]++);
      if (place < capacity) out.list[out.place(n, place)] = static_cast<int>(m);
    }
  }
  return out;
}
