// What `./course score beat_scan` runs: your answer, the course's best rung, and the vendor's library.
#include "beat_scan.cuh"

#include "best_scan.cuh"
#include "score.cuh"
#include "task_scan.cuh"

int main(int argc, char** argv) {
  return run_score<ScanAnswer>(argc, argv, scan_groups,
                               {{"beat_scan", "your answer", answer_of<BeatScan>()},
                                {"launch_scan", "the course's best rung", answer_of<BestScan>()}});
}
