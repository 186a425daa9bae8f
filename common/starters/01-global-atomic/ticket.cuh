// Exercise ticket: many threads append to one list.
//
// How many samples are too loud is not known before, nor in which order threads find them. So the
// list has a fixed capacity, and a counter deals out its places: each thread with a hit takes a
// ticket.
//
// Try it: meson test -C build ticket
#pragma once

#include <course/error.cuh>
#include <course/exercise.cuh>
#include <cstddef>

NOT_STARTED  // delete this line when you begin

/// Appends to hits[] the index i of every sample with samples[i] > limit (NaN is not above it).
/// - *required counts all hits, with or without a place: the capacity that would have sufficed.
/// - It appends: *required may hold earlier hits already, and their places are not written again.
/// - Places below `capacity` that are needed are filled, each once; the order is free.
/// - hits[capacity] and what follows is not written, however many hits there are.
/// - Right for every one-dimensional grid. The threads share the work.
__global__ void append_loud(const float* samples, std::size_t n, float limit, unsigned* hits,
                            unsigned capacity, unsigned* required) {
  // TODO(you): atomicAdd returns the value it found. No other thread gets the same one.
  (void)samples, (void)n, (void)limit, (void)hits, (void)capacity, (void)required;  // delete this
}
