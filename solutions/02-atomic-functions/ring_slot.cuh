// Exercise ring_slot: many threads write to one ring buffer.
//
// A flight recorder keeps the last events: place follows place, and behind the last one comes the
// first again. Each event needs a place, and the recorder goes on where it stopped.
//
// Try it: meson test -C build ring_slot
#pragma once

#include <course/error.cuh>
#include <course/exercise.cuh>
#include <cstddef>

/// What a place holds that no event was written to. No event has this number, but every other
/// number may be one, 0 too.
constexpr unsigned kEmpty = 0xFFFF'FFFF;

/// Writes n events to the ring buffer ring[0..capacity-1]; capacity is at least 1. Events may have
/// equal numbers: each of them is an event.
/// - *next is the place of the next event. Each event takes the place that it finds there, and
///   moves *next on: by one, and from the last place to the first. So *next is always below
///   capacity.
/// - It goes on where *next stands at the start: an earlier launch may have left it there.
/// - The events of a launch may come in any order. Where more events come than there are places,
///   several get the same place; one of them stays, and which one is free.
/// - *overwritten grows by one for every event that is lost: that stood in a place, from this
///   launch or from an earlier one, when another one was written there.
/// - Right for every one-dimensional grid, also for blocks that are no whole warps.
/// - The threads share the work: each lane of a warp writes events of its own.
__global__ void log_events(const unsigned* events, std::size_t n, unsigned* ring, unsigned capacity,
                           unsigned* next, unsigned* overwritten) {
  const std::size_t stride = std::size_t{gridDim.x} * blockDim.x;
  for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < n; i += stride) {
    const unsigned place = atomicInc(next, capacity - 1);  // the last place, not how many there are
    // Two events may have the same place. Each thread gets back what it wrote over.
    const unsigned before = atomicExch(&ring[place], events[i]);
    if (before != kEmpty) atomicAdd(overwritten, 1u);
  }
}
