// What an answer that has passed did, in numbers: for the learner, who compares them with the solution's.
#pragma once

#include <functional>

#include "check_result.hpp"

namespace course::runner {

/// Counts what the launches of `run_tests` do, on the CPU device, in a process of its own: a run that is counted goes in
/// lockstep, and whatever it does, the verdict stands. Empty if `run_tests` returns false, or has not returned after
/// `seconds` of elapsed time. On a GPU it times course::launch(), and `seconds` is no limit.
AnswerCounts count_answer(const std::function<bool()>& run_tests, double seconds);

}  // namespace course::runner
