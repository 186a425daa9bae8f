// Pictures of atoms and bonds, as SVG: readable on light and on dark pages, and when they are small.
#pragma once

#include <cstddef>
#include <ostream>

#include "../distance.cuh"
#include "../neighbor_list.cuh"

/// Atoms as dots, bonds as lines, and how many atoms have how many neighbours. Atoms with three are
/// grey; others are larger and coloured.
template <class T>
void write_picture(const NeighborList& neighbors, Atoms<T> atoms, std::ostream& out);

/// What `cells` does for one atom: the cells around it, the nine that are looked through, the atoms
/// in them by their places in the sorted array, the cutoff, and the neighbours that the list has.
template <class T>
void write_picture_of_cells(const NeighborList& neighbors, Atoms<T> atoms, T limit,
                            std::size_t atom, std::ostream& out);
