// What the program writes: lists and coordinates. Pictures: picture.hpp.
#pragma once

#include <ostream>

#include "../graphene.cuh"
#include "../neighbor_list.cuh"

/// One line an atom: the number of neighbours, then their indices, then NaN up to `capacity`.
void write_neighbors(const NeighborList& neighbors, std::size_t capacity, std::ostream& out);

/// One line per atom, with four decimals.
void write_coordinates(const Sheet& sheet, std::ostream& out);
