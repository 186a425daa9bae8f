// What the program writes: lists, pictures, coordinates.
#pragma once

#include <vector>

#include "../graphene.cuh"
#include "../neighbor_list.cuh"
#include "output_file.hpp"

/// One line an atom: the number of neighbours, then their indices, then NaN up to `capacity`.
void write_neighbors(const NeighborList& neighbors, std::size_t capacity, OutputFile& file);

/// Atoms as dots, bonds as lines, as an SVG picture. Atoms with three neighbours are dark, others
/// coloured: with one they are red, with two orange, with four or more blue, with none grey.
template <class T>
void write_picture(const NeighborList& neighbors, const std::vector<T>& x, const std::vector<T>& y,
                   OutputFile& file);

/// One line per atom, with four decimals.
void write_coordinates(const Sheet& sheet, OutputFile& file);
