// Runs the rungs of chapter 16: for each task the kernel to start from, the course's best rung, and
// the vendor's library.
#include <course/ladder.cuh>
#include <cstddef>

#include "rungs.cuh"
#include "task_filter.cuh"
#include "task_histogram.cuh"
#include "task_rows.cuh"
#include "task_scan.cuh"
#include "task_softmax.cuh"
#include "task_sum.cuh"

int main(int argc, char** argv) {
  course::Ladder ladder("16-beat-the-library", argc, argv,
                        {.gpu_n = std::size_t{1} << 28, .cpu_n = std::size_t{1} << 13});
  return ladder.run([](course::Ladder& rungs) {
    sum_groups(rungs, sum_rungs());
    histogram_groups(rungs, histogram_rungs());
    filter_groups(rungs, filter_rungs());
    rows_groups(rungs, rows_rungs());
    scan_groups(rungs, scan_rungs());
    softmax_groups(rungs, softmax_rungs());
  });
}
