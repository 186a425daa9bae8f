// Exercise tile_partition: a filter that drops nothing. Numbers below the pivot go to the front of
// the output, all others to its back, with one atomic per tile.
//
// It is a step of parallel quicksort, and of a renderer that sorts rays into hits and misses. Two
// counters would take two atomics.
//
// Try it: ./course check tile_partition
#pragma once

#include <cuda_runtime.h>

#include <course/collectives.cuh>
#include <course/exercise.cuh>
#include <cstddef>

NOT_STARTED  // delete this line when you begin

/// Copies x[0..n-1] to out, which has `capacity` places: those below the pivot to the front
/// (out[0], out[1], ...), the others to the back (out[capacity - 1], out[capacity - 2], ...). NaN
/// is not below anything. Any order within each of the two.
/// - *used is one word: its low 32 bits count the numbers at the front, its high 32 bits those at
///   the back. It may hold the counts of earlier launches; their places are taken. All numbers fit,
///   and capacity < 2^32.
/// - A tile is blockDim.x consecutive numbers: x[0..blockDim.x-1] is the first one. Blocks take
///   tiles in turn, so that any number of blocks is right: more than there are tiles, or fewer.
/// - A tile makes no more than one atomic on global memory, and none on shared memory.
/// - The threads share the work. Each number is read once and written once.
/// - The grid has one dimension, and blocks have 32, 64, ... or 1024 threads. n may be 0.
__global__ void tile_partition(const float* x, std::size_t n, float pivot, float* out,
                               std::size_t capacity, unsigned long long* used) {
  // TODO(you): copy the numbers of each tile to the front or to the back.
  (void)x, (void)n, (void)pivot, (void)out, (void)capacity, (void)used;  // delete this line
}
