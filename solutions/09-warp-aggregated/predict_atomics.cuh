// Exercise predict_atomics: how many atomics does a launch make? Predict, then measure.
//
// Seven launches take the same 256 numbers: x[i] is 1 where i % 96 < 40, and else -1. A number is
// kept if it is positive. The keys of the last launch are keys[i] = i / 20. The kernels are in
// chapters/09-warp-aggregated: filter_plain in filter.cuh, filter_agg_inc and places_keyed in
// aggregate.cuh, the others in predicted.cuh. Do not run anything: write down what each warp does,
// and count. Lanes that take the same branch stay together in these launches. The check then counts
// the atomics, and compares.
//
// Try it: ./course check predict_atomics
#pragma once

#include <course/exercise.cuh>

/// What a whole launch makes on global memory.
/// - A request is one atomic instruction of one warp, whatever number of its lanes take part, if
///   any does.
/// - `atomics` counts every lane that takes part: 32 lanes of one request are 32 atomics.
/// - Count what the source says, as the CPU device does: nvcc may aggregate the atomics of
///   filter_plain.
struct Prediction {
  unsigned requests, atomics;
};

constexpr Prediction kPlain = {6, 120};        // filter_plain<<<2, 128>>>
constexpr Prediction kAggregated = {6, 6};     // filter_agg_inc<<<2, 128>>>
constexpr Prediction kByVote = {8, 8};         // filter_by_vote<<<2, 128>>>
constexpr Prediction kFilterInTurns = {6, 6};  // filter_in_turns<<<1, 64>>>
constexpr Prediction kCountInTurns = {2, 2};   // count_in_turns<<<1, 64>>>
constexpr Prediction kSplit = {11, 11};        // split_in_two<<<2, 128>>>
constexpr Prediction kKeyed = {8, 19};         // places_keyed<<<2, 128>>>
