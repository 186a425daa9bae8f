// What `./course score beat_histogram` runs: your answer, the course's best rung, and the vendor's library.
#include "beat_histogram.cuh"

#include "best_histogram.cuh"
#include "score.cuh"
#include "task_histogram.cuh"

int main(int argc, char** argv) {
  return run_score<HistogramAnswer>(
      argc, argv, histogram_groups,
      {{"beat_histogram", "your answer", answer_of<BeatHistogram>()},
       {"histogram_words", "the course's best rung", answer_of<BestHistogram>()}});
}
