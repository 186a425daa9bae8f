// What `./course score beat_filter` runs: your answer, the course's best rung, and the vendor's library.
#include "beat_filter.cuh"

#include "best_filter.cuh"
#include "score.cuh"
#include "task_filter.cuh"

int main(int argc, char** argv) {
  return run_score<FilterAnswer>(
      argc, argv, filter_groups,
      {{"beat_filter", "your answer", answer_of<BeatFilter>()},
       {"filter_pipelined", "the course's best rung", answer_of<BestFilter>()}});
}
