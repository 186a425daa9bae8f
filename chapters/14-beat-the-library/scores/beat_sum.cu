// What `./course score beat_sum` runs: your answer, the course's best rung, and the vendor's library.
#include "beat_sum.cuh"

#include <course/ladder.cuh>
#include <cstddef>

#include "best_sum.cuh"
#include "task_sum.cuh"

int main(int argc, char** argv) {
  course::Ladder ladder("14-beat-the-library", argc, argv,
                        {.gpu_n = std::size_t{1} << 28, .cpu_n = std::size_t{1} << 16});
  return ladder.run([](course::Ladder& rungs) {
    sum_groups(rungs, {{"beat_sum", "your answer", answer_of<BeatSum>()},
                       {"sum_pack_loads", "the course's best rung", answer_of<BestSum>()}});
  });
}
