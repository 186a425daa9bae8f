// What the tests of this chapter share: a method, what it leaves, and what is right.
#pragma once

#include <catch2/catch_test_macros.hpp>
#include <course/check.cuh>
#include <cstddef>
#include <vector>

#include "cpu.cuh"
#include "inputs.cuh"
#include "rungs.cuh"

namespace neighbor_testing {

/// What a launch leaves, complete or not; elements that no thread wrote are not read.
template <class T>
NeighborList run(const NeighborRung<T>& rung, const HostAtoms<T>& atoms, T limit,
                 std::size_t capacity) {
  const auto d_x = course::DeviceBuffer<T>::from(atoms.x);
  const auto d_y = course::DeviceBuffer<T>::from(atoms.y);
  course::GuardedBuffer<int> counts(atoms.size()), list(atoms.size() * capacity);
  counts.fill_bytes(0);
  list.fill_bytes(0xff);  // -1 is no neighbour
  rung.launch({d_x.data(), d_y.data(), atoms.size()}, limit,
              {counts.data(), list.data(), capacity});
  NeighborList found{counts.download(), list.download(), capacity, rung.layout};
  REQUIRE(counts.intact("counts"));
  REQUIRE(list.intact("list"));
  for (std::size_t n = 0; n < found.atoms(); ++n) {
    for (std::size_t k = found.listed(n); k < capacity; ++k) REQUIRE(found.neighbor(n, k) == -1);
  }
  found.sort();
  return found;
}

/// neighbors_cells with a workspace of the caller's.
template <class T>
NeighborRung<T> cells_with(CellWorkspace<T>& work) {
  return {"neighbors_cells", "", Layout::columns,
          [&work](Atoms<T> atoms, T limit, Lists out, Slice) {
            neighbors_cells(atoms, limit, out, work, nullptr);
          }};
}

}  // namespace neighbor_testing
