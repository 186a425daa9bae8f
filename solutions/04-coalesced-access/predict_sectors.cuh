// Exercise predict_sectors: how many requests and sectors? Predict, then measure.
//
// The eight kernels are in chapters/04-coalesced-access/predicted.cuh and on the chapter's page.
// Each is launched with one block, and its threads load from x. Predict the numbers on paper, before
// you run anything. The check then counts what the loads request, and compares.
//
// Try it: ./course check predict_sectors
#pragma once

#include <course/exercise.cuh>

/// What the loads of a whole launch request, that is of all its warps together.
/// - A request is one load of the source, executed by one warp with at least one active lane.
/// - Each request touches some sectors of 32 bytes. `sectors` is the sum over all requests: a sector
///   that two requests touch counts twice.
/// - x begins with a sector. Stores are not asked for.
struct Prediction {
  unsigned requests, sectors;
};

constexpr Prediction kShifted = {2, 10};      // load_shifted<<<1, 64>>>
constexpr Prediction kThirds = {2, 24};       // load_thirds<<<1, 64>>>
constexpr Prediction kFours = {2, 32};        // load_fours<<<1, 64>>>
constexpr Prediction kEvenLanes = {2, 8};     // load_even_lanes<<<1, 64>>>
constexpr Prediction kMembers = {4, 32};      // load_members<<<1, 64>>>
constexpr Prediction kEighths = {2, 2};       // load_eighths<<<1, 64>>>
constexpr Prediction kBytes = {2, 4};         // load_bytes<<<1, 64>>>
constexpr Prediction kFirstSeventy = {3, 9};  // load_first_seventy<<<1, 96>>>
