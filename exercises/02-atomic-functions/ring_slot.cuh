// Exercise ring_slot: many threads write to one ring buffer.
//
// A flight recorder keeps the latest events. They fill its slots in order, and after the last slot
// comes the first one again. Each launch goes on where the launch before stopped.
//
// Try it: ./course check ring_slot
#pragma once

#include <course/error.cuh>
#include <course/exercise.cuh>
#include <cstddef>

NOT_STARTED  // delete this line when you begin

/// What a slot holds before any event is written to it. No event has this number, but every other
/// number may be an event, 0 too.
constexpr unsigned kEmpty = 0xFFFF'FFFF;

/// Writes n events to the ring buffer ring[0..capacity-1]; capacity is at least 1. Several events
/// may have the same number: each of them counts.
/// - *next is the slot of the next event. Each event takes the slot that it finds there, and moves
///   *next on: by one, and from the last slot to the first. So *next is always below capacity.
/// - It starts with what *next holds, which an earlier launch may have left there.
/// - The events of a launch may come in any order. If there are more events than slots, several
///   events get the same slot. One of them stays; which one is unspecified.
/// - *overwritten grows by one for every event that is lost: every event, from this launch or from
///   an earlier one, that was in a slot when another event was written there.
/// - Right for every one-dimensional grid, and for block sizes that are not multiples of 32, too.
/// - The threads share the work: each lane of a warp writes events of its own.
__global__ void log_events(const unsigned* events, std::size_t n, unsigned* ring, unsigned capacity,
                           unsigned* next, unsigned* overwritten) {
  // TODO(you): write the events.
  (void)events, (void)n, (void)ring, (void)capacity, (void)next, (void)overwritten;  // delete this
}
