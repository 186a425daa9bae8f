// What the chapters' tables of rungs (chapters/NN-topic/rungs.cuh) have in common. A table holds
// each rung once: its name, what changed, its launch, and what is known of it. ladder.cu,
// selfcheck.cu and the programs beside them read it, so that a rung is added in one place. Chapter
// 03 (03-shared-reduce) is a model.
//
// Example (common/tests/examples_test.cu):
//
//   struct CountRung {
//     std::string name, changed;
//     void (*launch)(unsigned n, int* d_count);
//   };
//   const std::vector<CountRung> rungs = {
//       {"count_up", "one atomicAdd per block", [](unsigned n, int* d_count) {
//          course::set_zero(d_count);
//          course::launch(count_up, {n, 1}, d_count);
//        }}};
//   course::rung_named(rungs, "count_up").launch(5, d_count);
#pragma once

#include <course/error.cuh>
#include <course/grid.cuh>
#include <course/ladder.cuh>

#include <cstddef>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace course {

/// The rung of this name. Throws std::out_of_range, with the names that there are, if it is none
/// of them.
template <class R>
R rung_named(const std::vector<R>& rungs, const std::string& name) {
  std::string names;
  for (const R& rung : rungs) {
    if (rung.name == name) return rung;
    names += " " + std::string(rung.name);
  }
  throw std::out_of_range("there is no rung " + name + " among" + names);
}

/// Sets d_y[0..n-1] to zeros in a stream, such as that of the kernel that adds to them: this is
/// part of the rung's time. Throws CudaError.
template <class T>
void set_zero(T* d_y, std::size_t n = 1, cudaStream_t stream = nullptr) {
  CUDA_CHECK(cudaMemsetAsync(d_y, 0, n * sizeof(T), stream));
}

/// course::resident_blocks() of a kernel, which is computed once and kept; a table can hold this
/// function. Throws CudaError.
template <auto kernel, unsigned block_size>
unsigned resident() {
  static const unsigned blocks = resident_blocks(kernel, block_size);
  return blocks;
}

/// The row of a rung that is wrong on purpose, from the row that it would be if it were right.
inline WrongRung wrong_rung(const Rung& rung, Expect expect, std::string because,
                            std::optional<double> exactly = {}) {
  return {.name = rung.name,
          .changed = rung.changed,
          .expect = expect,
          .because = std::move(because),
          .reset = rung.reset,
          .launch = rung.launch,
          .result = rung.result,
          .tolerance = rung.tolerance,
          .check = rung.check,
          .exactly = exactly,
          .n = rung.n};
}

}  // namespace course
