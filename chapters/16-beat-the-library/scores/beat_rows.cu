// What `./course score beat_rows` runs: your answer, the course's best rung, and the vendor's library.
#include "beat_rows.cuh"

#include "best_rows.cuh"
#include "score.cuh"
#include "task_rows.cuh"

int main(int argc, char** argv) {
  return run_score<RowsAnswer>(argc, argv, rows_groups,
                               {{"beat_rows", "your answer", answer_of<BeatRows>()},
                                {"rows_sorted", "the course's best rung", answer_of<BestRows>()}});
}
