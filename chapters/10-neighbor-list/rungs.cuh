// The rungs of this chapter, each named once. ladder.cu times them, selfcheck.cu proves them right,
// claims.cu shows that what is wrong on purpose races, and what a bond costs.
#pragma once

#include <course/launch.cuh>
#include <course/rungs.cuh>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "atomic.cuh"
#include "cells.cuh"
#include "gather.cuh"
#include "neighbor_list.cuh"
#include "wrong.cuh"

using course::rung_named;

/// A method on the device: what it launches, and where it puts neighbour k. The caller sets counts
/// to 0 before the first slice.
template <class T>
struct NeighborRung {
  std::string name, changed;
  Layout layout;
  std::function<void(Atoms<T> atoms, T limit, Lists out, Slice slice)> launch_slice;
  bool atomics = false;      // two for each bond
  std::string because = {};  // why it is wrong, if it is wrong on purpose: all of these race

  void launch(Atoms<T> atoms, T limit, Lists out) const {
    launch_slice(atoms, limit, out, {0, atoms.n});
  }
};

/// All rungs, for up to `most_atoms` atoms. neighbors_cells takes all atoms, whatever the slice.
template <class T>
std::vector<NeighborRung<T>> neighbor_rungs(std::size_t most_atoms) {
  const auto work = std::make_shared<CellWorkspace<T>>(most_atoms);
  // clang-format off
  return {
      {"atomic_zeroed_inside", "counts[n1] = 0 inside the kernel", Layout::rows,
       [](Atoms<T> atoms, T limit, Lists out, Slice slice) {
         course::launch(atomic_zeroed_inside<T>, {blocks_for(atoms, slice), kBlockSize}, atoms,
                        limit, out);
       }, true, "another block may have appended to that list already"},
      {"atomic_value_ignored", "list[counts[n1]], and then atomicAdd", Layout::rows,
       [](Atoms<T> atoms, T limit, Lists out, Slice slice) {
         course::launch(atomic_value_ignored<T>, {blocks_for(atoms, slice), kBlockSize}, atoms,
                        limit, out);
       }, true, "another thread appends between the look and the addition"},
      {"neighbors_atomic", "pairs once, the value that atomicAdd returns", Layout::rows,
       [](Atoms<T> atoms, T limit, Lists out, Slice slice) {
         launch_neighbors_atomic(atoms, limit, out, slice);
       }, true},
      {"gather_global_count", "pairs twice, no atomics; count in global memory", Layout::rows,
       [](Atoms<T> atoms, T limit, Lists out, Slice slice) {
         course::launch(gather_global_count<T>, {blocks_for(atoms, slice), kBlockSize}, atoms,
                        limit, out, slice);
       }},
      {"gather_restrict", "__restrict__: counts and list do not overlap", Layout::rows,
       [](Atoms<T> atoms, T limit, Lists out, Slice slice) {
         course::launch(gather_restrict<T>, {blocks_for(atoms, slice), kBlockSize}, atoms, limit,
                        out, slice);
       }},
      {"gather_rows", "count in a register", Layout::rows,
       [](Atoms<T> atoms, T limit, Lists out, Slice slice) {
         course::launch(gather_rows<T>, {blocks_for(atoms, slice), kBlockSize}, atoms, limit, out,
                        slice);
       }},
      {"gather_self_first", "lists in columns; n2 != n1 && near", Layout::columns,
       [](Atoms<T> atoms, T limit, Lists out, Slice slice) {
         course::launch(gather_columns<First::self, T>, {blocks_for(atoms, slice), kBlockSize},
                        atoms, limit, out, slice);
       }},
      {"gather_distance_first", "near && n2 != n1", Layout::columns,
       [](Atoms<T> atoms, T limit, Lists out, Slice slice) {
         course::launch(gather_columns<First::distance, T>,
                        {blocks_for(atoms, slice), kBlockSize}, atoms, limit, out, slice);
       }},
      {"neighbors_gather", "tiles of atoms in shared memory", Layout::columns,
       [](Atoms<T> atoms, T limit, Lists out, Slice slice) {
         launch_neighbors_gather(atoms, limit, out, slice);
       }},
      {"neighbors_cells", "sorted into cells: nine cells instead of all atoms", Layout::columns,
       [work](Atoms<T> atoms, T limit, Lists out, Slice) {
         neighbors_cells(atoms, limit, out, *work, nullptr);
       }},
  };
  // clang-format on
}

/// The rungs that are not wrong on purpose.
template <class T>
std::vector<NeighborRung<T>> right_rungs(std::size_t most_atoms) {
  std::vector<NeighborRung<T>> rungs = neighbor_rungs<T>(most_atoms);
  std::erase_if(rungs, [](const NeighborRung<T>& rung) { return !rung.because.empty(); });
  return rungs;
}
