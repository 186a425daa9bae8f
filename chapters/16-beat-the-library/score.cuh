// What the programs of `./course score` have in common: the learner's answer and the course's best
// rung, in the groups of the task's ladder, which end with the vendor's library.
#pragma once

#include <course/ladder.cuh>
#include <cstddef>
#include <vector>

#include "tasks.cuh"

/// Runs groups(ladder, rungs), and returns main's exit code.
template <class Answer>
int run_score(int argc, char** argv,
              void (*groups)(course::Ladder&, const std::vector<Rung<Answer>>&),
              const std::vector<Rung<Answer>>& rungs) {
  course::Ladder ladder("16-beat-the-library", argc, argv,
                        {.gpu_n = std::size_t{1} << 28, .cpu_n = std::size_t{1} << 16});
  return ladder.run([&](course::Ladder& all) { groups(all, rungs); });
}
