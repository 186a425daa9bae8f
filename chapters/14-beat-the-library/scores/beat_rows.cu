// What `./course score beat_rows` runs: your answer, the course's best rung, and the vendor's library.
#include "beat_rows.cuh"

#include <course/ladder.cuh>
#include <cstddef>

#include "best_rows.cuh"
#include "task_rows.cuh"

int main(int argc, char** argv) {
  course::Ladder ladder("14-beat-the-library", argc, argv,
                        {.gpu_n = std::size_t{1} << 28, .cpu_n = std::size_t{1} << 16});
  return ladder.run([](course::Ladder& rungs) {
    rows_groups(rungs, {{"beat_rows", "your answer", answer_of<BeatRows>()},
                        {"rows_sorted", "the course's best rung", answer_of<BestRows>()}});
  });
}
