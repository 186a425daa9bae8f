// The six tasks as types, and what a group of the ladder needs of an answer.
#pragma once

#include <cuda_fp16.h>

#include <course/ladder.cuh>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

/// Sets *d_y to x[0] + ... + x[n-1].
using SumAnswer = std::function<void(const float* d_x, std::size_t n, float* d_y)>;
/// Sets d_bins[0..255] to how often each byte occurs in d_bytes[0..n-1].
using HistogramAnswer =
    std::function<void(const unsigned char* d_bytes, std::size_t n, unsigned* d_bins)>;
/// Writes the positive numbers of x[0..n-1] to d_out, in their order, and their number to *d_count.
using FilterAnswer =
    std::function<void(const int* d_x, std::size_t n, int* d_out, unsigned long long* d_count)>;
/// Adds each source row r to row d_index[r] of the table.
using RowsAnswer = std::function<void(const __half* d_source, const int* d_index, std::size_t rows,
                                      std::size_t width, __half* d_table, std::size_t table_rows)>;
/// Sets d_out[i] to x[0] + ... + x[i].
using ScanAnswer = std::function<void(const float* d_x, std::size_t n, float* d_out)>;
/// Sets row r of d_y to the softmax of row r of d_x.
using SoftmaxAnswer =
    std::function<void(const float* d_x, std::size_t rows, std::size_t width, float* d_y)>;

/// One row of the ladder: an answer to a task.
template <class Answer>
struct Rung {
  std::string name, changed;
  Answer launch;
  std::size_t most = SIZE_MAX;  // elements for which it is timed: with more it takes seconds
};

/// Runs the rungs that are timed with n elements. `row` adds to a row what all of the group have in common; `call` calls an
/// answer with the group's arrays.
template <class Answer, class Row, class Call>
void answer_rungs(course::Ladder& ladder, const std::vector<Rung<Answer>>& rungs, std::size_t n,
                  Row row, Call call) {
  for (const Rung<Answer>& rung : rungs) {
    if (n > rung.most) continue;
    const auto launch = [&rung, call] { call(rung.launch); };
    ladder.rung(row({.name = rung.name, .changed = rung.changed, .launch = launch}));
  }
}

/// A new object of a struct that answers a task, as a function. It is kept as long as the function.
template <class T>
auto answer_of() {
  return [object = std::make_shared<T>()](auto&&... arguments) {
    (*object)(std::forward<decltype(arguments)>(arguments)...);
  };
}

/// A number for an index, in no order: all of its 32 bits depend on all bits of i.
inline std::uint32_t stirred(std::uint64_t i) {
  i = (i + 1) * 0x9E37'79B9'7F4A'7C15u;
  return static_cast<std::uint32_t>((i ^ i >> 29) * 0xBF58'476D'1CE4'E5B9u >> 32);
}

/// The same from 0 to below - 1, without a division: arrays have 2^28 of them.
inline unsigned stirred_below(std::uint64_t i, unsigned below) {
  return static_cast<unsigned>(std::uint64_t{stirred(i)} * below >> 32);
}
