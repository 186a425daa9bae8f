// The same answers from CUB, NVIDIA's own library. Only a GPU build has it (vendor.cu). The launch of each row owns
// the memory that CUB works in; the ladder says what becomes of the result.
#pragma once

#include <course/ladder.cuh>
#include <cstddef>
#include <cstdint>

#include "operators.cuh"

/// Sets out[i] to x[0] + ... + x[i].
course::Rung cub_scan(const float* d_x, std::size_t n, float* d_out);

/// The inclusive scan by Compose.
course::Rung cub_any(const Affine<unsigned>* d_x, std::size_t n, Affine<unsigned>* d_out);
/// The exclusive sums.
course::Rung cub_any(const unsigned* d_x, std::size_t n, unsigned* d_out);

/// Sums that begin anew where the key changes.
course::Rung cub_scan_by_key(const std::uint8_t* d_keys, const float* d_x, std::size_t n,
                             float* d_out);

/// The keys and lengths of runs, and their number.
course::Rung cub_encode_runs(const unsigned* d_x, std::size_t n, unsigned* d_keys,
                             unsigned* d_lengths, unsigned* d_count);

/// Sorts by the lowest bits.
course::Rung cub_sort(const unsigned* d_keys, std::size_t n, unsigned* d_out, unsigned bits);
