// What `./course score beat_sum` runs: your answer, the course's best rung, and the vendor's library.
#include "beat_sum.cuh"

#include "best_sum.cuh"
#include "score.cuh"
#include "task_sum.cuh"

int main(int argc, char** argv) {
  return run_score<SumAnswer>(argc, argv, sum_groups,
                              {{"beat_sum", "your answer", answer_of<BeatSum>()},
                               {"sum_pack_loads", "the course's best rung", answer_of<BestSum>()}});
}
