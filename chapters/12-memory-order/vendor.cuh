// The same answers from Thrust and CUB, NVIDIA's own libraries. Only a GPU build has them
// (vendor.cu).
#pragma once

#include <course/ladder.cuh>
#include <cstddef>

/// A row that sorts d_pairs[0..n-1] and removes pairs that occur again: thrust::sort and
/// thrust::unique. *d_count is the number of pairs that remain. The ladder says what becomes of it.
course::Rung thrust_sort_unique(unsigned long long* d_pairs, std::size_t n, std::size_t* d_count);

/// The same by CUB, in memory that is allocated once, and by the 32 bits of the key alone: half as
/// many passes. The pairs that remain are in memory of its own.
course::Rung cub_sort_unique(const unsigned long long* d_pairs, std::size_t n,
                             std::size_t* d_count);
