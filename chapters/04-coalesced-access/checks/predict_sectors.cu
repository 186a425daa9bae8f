// Check of the exercise predict_sectors: the eight predictions against what the CPU device counts.
// A GPU counts nothing here: there they are compared with the addresses of the lanes.
#include "predict_sectors.cuh"

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <course/check.cuh>
#include <cstddef>
#include <string>
#include <type_traits>
#include <vector>

#include "checks/predicted_loads.cuh"

namespace predict_sectors_check {

static_assert(std::is_same_v<decltype(Prediction::requests), unsigned> &&
                  std::is_same_v<decltype(Prediction::sectors), unsigned>,
              "the members of Prediction are unsigned");

/// In the order of prediction_checks::kKernels.
const Prediction kPredictions[] = {kShifted, kThirds,  kFours, kEvenLanes,
                                   kMembers, kEighths, kBytes, kFirstSeventy};

/// "lanes 0, 3 and 31": of the last request, the first active lane, the first one in another
/// sector, and the last one.
std::string lanes_to_write_down(const prediction_checks::Kernel& kernel) {
  const unsigned warp = kernel.threads / prediction_checks::kLanes - 1;
  std::vector<unsigned> active, elsewhere;
  for (unsigned lane = 0; lane < prediction_checks::kLanes; ++lane) {
    const prediction_checks::Bytes bytes =
        kernel.bytes(warp * prediction_checks::kLanes + lane, kernel.loads - 1);
    if (bytes.count == 0) continue;
    active.push_back(lane);
    const std::size_t last = bytes.first + bytes.count - 1;
    if (last / prediction_checks::kSector !=
        kernel.bytes(warp * prediction_checks::kLanes + active.front(), kernel.loads - 1).first /
            prediction_checks::kSector) {
      elsewhere.push_back(lane);
    }
  }
  std::string text = std::to_string(active.front());
  if (!elsewhere.empty() && elsewhere.front() != active.back()) {
    text += ", " + std::to_string(elsewhere.front());
  }
  return "lanes " + text + " and " + std::to_string(active.back());
}

/// What to do about a wrong prediction.
std::string advice(const prediction_checks::Kernel& kernel, Prediction prediction,
                   prediction_checks::Counts measured) {
  if (prediction.requests != measured.requests) {
    return "Requests: how many warps are " + std::to_string(kernel.threads) +
           " threads, and how many loads does the kernel's source have?";
  }
  const bool may_be_of_one = prediction.sectors * measured.requests == measured.sectors;
  return std::string("Sectors: ") +
         (may_be_of_one ? "if these are of one request, take the sum over all requests. Else, of "
                        : "of ") +
         "the last warp, write down which bytes of x " + lanes_to_write_down(kernel) + " load" +
         (kernel.loads == 1 ? "" : " each time") + ", and divide by 32.";
}

course::Verdict all_predictions() {
  std::vector<course::Prediction> predictions;
  for (std::size_t k = 0; k < std::size(kPredictions); ++k) {
    const prediction_checks::Kernel& kernel = prediction_checks::kKernels[k];
    const Prediction prediction = kPredictions[k];
    const prediction_checks::Counts measured = prediction_checks::counts_of(kernel);
    predictions.push_back({course::launch_text(kernel.name, {1, kernel.threads}),
                           {prediction.requests, prediction.sectors},
                           {measured.requests, measured.sectors},
                           advice(kernel, prediction, measured)});
  }
  return course::all_right(predictions, "sector");
}

// Promise: the eight constants are what the loads of each launch request (each is compared,
// whatever the other seven are).
// Promise: a request is one load of the source, executed by one warp with at least one active lane
// (load_members has two loads, load_first_seventy a warp with 6 active lanes).
// Promise: `sectors` is the sum over all requests: a sector that two requests touch counts twice
// (load_eighths and load_shifted have such sectors).
// Promise: x begins with a sector (it is a buffer of its own), and stores are not asked for.
TEST_CASE("predict_sectors: what each kernel's loads request") { REQUIRE(all_predictions()); }

}  // namespace predict_sectors_check
