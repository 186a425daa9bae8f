// What `./course score beat_filter` runs: your answer, the course's best rung, and the vendor's library.
#include "beat_filter.cuh"

#include <course/ladder.cuh>
#include <cstddef>

#include "best_filter.cuh"
#include "task_filter.cuh"

int main(int argc, char** argv) {
  course::Ladder ladder("14-beat-the-library", argc, argv,
                        {.gpu_n = std::size_t{1} << 28, .cpu_n = std::size_t{1} << 16});
  return ladder.run([](course::Ladder& rungs) {
    filter_groups(rungs, {{"beat_filter", "your answer", answer_of<BeatFilter>()},
                          {"filter_pipelined", "the course's best rung", answer_of<BestFilter>()}});
  });
}
