// What `./course score beat_softmax` runs: your answer, the course's best rung, and the vendor's library.
#include "beat_softmax.cuh"

#include "best_softmax.cuh"
#include "score.cuh"
#include "task_softmax.cuh"

int main(int argc, char** argv) {
  return run_score<SoftmaxAnswer>(
      argc, argv, softmax_groups,
      {{"beat_softmax", "your answer", answer_of<BeatSoftmax>()},
       {"launch_softmax", "the course's best rung", answer_of<BestSoftmax>()}});
}
