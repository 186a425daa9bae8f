// Runs the rungs of chapter 15.
#include <course/ladder.cuh>

#include "rungs.cuh"

int main(int argc, char** argv) {
  course::Ladder ladder("15-row-reductions", argc, argv, {});
  return ladder.run([](course::Ladder&) {});
}
