// What `./course score beat_histogram` runs: your answer, the course's best rung, and the vendor's library.
#include "beat_histogram.cuh"

#include <course/ladder.cuh>
#include <cstddef>

#include "best_histogram.cuh"
#include "task_histogram.cuh"

int main(int argc, char** argv) {
  course::Ladder ladder("14-beat-the-library", argc, argv,
                        {.gpu_n = std::size_t{1} << 28, .cpu_n = std::size_t{1} << 16});
  return ladder.run([](course::Ladder& rungs) {
    histogram_groups(rungs,
                     {{"beat_histogram", "your answer", answer_of<BeatHistogram>()},
                      {"histogram_words", "the course's best rung", answer_of<BestHistogram>()}});
  });
}
