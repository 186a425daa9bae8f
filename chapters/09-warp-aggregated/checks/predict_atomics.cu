// Check of the exercise predict_atomics: the predictions against what the CPU device counts. A GPU
// counts nothing here: there they are compared with what the input says.
#include "predict_atomics.cuh"

#include <catch2/catch_test_macros.hpp>
#include <course/check.cuh>
#include <cstddef>
#include <type_traits>
#include <vector>

#include "checks/predicted_launches.cuh"

namespace predict_atomics_check {

static_assert(std::is_same_v<decltype(Prediction::requests), unsigned> &&
                  std::is_same_v<decltype(Prediction::atomics), unsigned>,
              "the members of Prediction are unsigned");

/// In the order of prediction_checks::kLaunches.
const Prediction kPredictions[] = {kPlain,        kAggregated, kByVote, kFilterInTurns,
                                   kCountInTurns, kSplit,      kKeyed};

course::Verdict all_predictions() {
  std::vector<course::Prediction> predictions;
  for (std::size_t k = 0; k < std::size(kPredictions); ++k) {
    const prediction_checks::Launch& launch = prediction_checks::kLaunches[k];
    const prediction_checks::Counts measured = prediction_checks::counts_of(launch);
    predictions.push_back({launch.text,
                           {kPredictions[k].requests, kPredictions[k].atomics},
                           {measured.requests, measured.atomics},
                           launch.look});
  }
  return course::all_right(predictions, "atomic");
}

// Promise: each of the seven predictions is right, whatever the others are.
// Promise: a request is one atomic instruction of one warp, whatever number of its lanes
// take part, if any does (two warps of filter_plain keep nothing, and all leaders of
// places_keyed add together).
// Promise: `atomics` counts every lane that takes part: 32 lanes of one request are 32 atomics
// (filter_plain and places_keyed).
// Promise: a prediction counts what the source says, as the CPU device does (a GPU counts nothing:
// there the right number follows from the input).
TEST_CASE("predict_atomics: what each launch makes on global memory") {
  REQUIRE(all_predictions());
}

}  // namespace predict_atomics_check
