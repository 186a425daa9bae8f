// Check of the exercise predict_atomics: the predictions against what the CPU device counts. A GPU
// counts nothing here: there they are compared with what the input says.
#include "predict_atomics.cuh"

#include <catch2/catch_test_macros.hpp>
#include <course/check.cuh>
#include <cstddef>
#include <string>

#include "checks/predicted_launches.cuh"

namespace {

/// In the order of predicted::kLaunches.
const Prediction kPredictions[] = {kPlain,        kAggregated, kByVote, kFilterInTurns,
                                   kCountInTurns, kSplit,      kKeyed};

/// A line or two for each prediction that is wrong.
course::Verdict all_predictions() {
  std::string text;
  std::size_t wrong = 0;
  for (std::size_t k = 0; k < std::size(kPredictions); ++k) {
    const predicted::Launch& launch = predicted::kLaunches[k];
    const Prediction prediction = kPredictions[k];
    const predicted::Counts measured = predicted::counts_of(launch);
    if (measured == predicted::Counts{prediction.requests, prediction.atomics}) continue;
    ++wrong;
    text += "\n" + launch.text + ": ";
    if (prediction.requests == 0 && prediction.atomics == 0) {
      text += "no prediction yet";
      continue;
    }
    text += "predicted " + course::counted(prediction.requests, "request") + " and " +
            course::counted(prediction.atomics, "atomic") +
            (course::kCpuDevice ? ", measured " : ", expected ") +
            std::to_string(measured.requests) + " and " + std::to_string(measured.atomics) +
            "\n  " + launch.look;
  }
  if (wrong == 0) return {};
  return {false, std::to_string(std::size(kPredictions) - wrong) + " of " +
                     std::to_string(std::size(kPredictions)) + " predictions are right" + text};
}

}  // namespace

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
