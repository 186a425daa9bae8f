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

NOT_STARTED  // delete this line when you begin

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
  // TODO(you): which atomic function counts 0, 1, ..., capacity - 1, 0, 1, ...?
  (void)events, (void)n, (void)ring, (void)capacity, (void)next, (void)overwritten;  // delete this
}
