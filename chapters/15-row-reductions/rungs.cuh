// The rungs of chapter 15, each once: ladder.cu and the self-checks read these tables.
#pragma once

#include <course/ladder.cuh>
#include <course/rungs.cuh>
#include <string>
#include <type_traits>
#include <vector>

#include "accurate.cuh"
#include "argmax.cuh"
#include "columns.cuh"
#include "norms.cuh"
#include "softmax.cuh"
#include "sums.cuh"
#include "top_k.cuh"
#include "variance.cuh"
#include "wrong.cuh"

// ---- sums --------------------------------------------------------------------------------------

/// A rung that sets in.d_y[r] to the sum of row r.
template <class T>
struct RowSumRung {
  std::string name, changed;
  void (*launch)(const Rows<T, float>& in);
  bool packs = false;     // rows have to consist of packs of 16 bytes
  bool clusters = false;  // it is launched in clusters
};

template <class FormT, class T>
void sum_rows_of_form(const Rows<T, float>& in) {
  launch_sum_rows_in_packs<FormT>(in);
}

template <class T>
std::vector<RowSumRung<T>> row_sum_rungs() {
  return {{"sum_rows_by_thread", "a thread for each row", launch_sum_rows_by_thread<T>},
          {"sum_rows_by_warp", "a warp for each row, an element per load", launch_sum_rows_by_warp<T>},
          {"sum_rows_in_packs", "eight lanes, 16 bytes per load",
           sum_rows_of_form<Form<LaneTeam<8>, 2, 4>, T>, true},
          {"sum_rows_in_packs", "a warp", sum_rows_of_form<Form<LaneTeam<32>, 4>, T>, true},
          {"sum_rows_in_packs", "a block", sum_rows_of_form<Form<BlockTeam<256>, 4>, T>, true},
          {"sum_rows_in_packs", "a cluster of eight blocks",
           sum_rows_of_form<Form<BlockTeam<512, 8>, 4>, T>, true, true},
          {"launch_sum_rows", "the team that the length asks for", launch_sum_rows<T>}};
}

/// A rung that sets in.d_y[c] to the sum of column c.
template <class T>
struct ColumnSumRung {
  std::string name, changed;
  void (*launch)(const Rows<T, float>& in, ColumnWorkspace& workspace);
};

template <class T>
std::vector<ColumnSumRung<T>> column_sum_rungs() {
  return {{"sum_columns_by_thread", "a thread for each column",
           [](const Rows<T, float>& in, ColumnWorkspace&) { launch_sum_columns_by_thread(in); }},
          {"sum_columns", "tiles of 16-byte packs; the last block of a tile finishes",
           launch_sum_columns<T>}};
}

// ---- softmax -----------------------------------------------------------------------------------

/// A rung that sets in.d_y to the softmax of each row.
template <class T>
struct SoftmaxRung {
  std::string name, changed;
  void (*launch)(const Rows<T>& in);
  std::size_t widest = ~std::size_t{0};  // the longest row that it takes
};

template <class T>
std::vector<SoftmaxRung<T>> softmax_rungs() {
  return {{"softmax_three_passes", "maximum, sum, quotients", launch_softmax_three_passes<T>},
          {"softmax_two_passes", "maximum and sum in one read", launch_softmax_two_passes<T>},
          {"softmax_in_shared", "the row is kept in shared memory", launch_softmax_in_shared<T>,
           32'768},
          {"softmax_in_registers", "the row is kept in a team's registers", launch_softmax<T>}};
}
