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
#include "limits.cuh"
#include "norms.cuh"
#include "softmax.cuh"
#include "sums.cuh"
#include "top_k.cuh"
#include "variance.cuh"
#include "wrong.cuh"

// ---- limits ------------------------------------------------------------------------------------

/// A rung that does nothing with the rows but read them, or copy them to in.d_y.
template <class T, class Result>
struct LimitRung {
  std::string name, changed;
  void (*launch)(const Rows<T, Result>& in);
};

template <class T>
LimitRung<T, float> reading() {
  return {"read_rows", "the loads alone: no sum", launch_read_rows<T>};
}
template <class T>
LimitRung<T, T> copying() {
  return {"copy_rows", "the loads and the stores alone", launch_copy_rows<T>};
}

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
  return {
      {"sum_rows_by_thread", "a thread for each row", launch_sum_rows_by_thread<T>},
      {"sum_rows_by_warp", "a warp for each row, an element per load", launch_sum_rows_by_warp<T>},
      {"sum_rows_in_packs", "eight lanes, 16 bytes per load",
       sum_rows_of_form<Form<LaneTeam<8>, 2, 4>, T>, true},
      {"sum_rows_in_packs", "a warp", sum_rows_of_form<Form<LaneTeam<32>, 4>, T>, true},
      {"sum_rows_in_packs", "a block", sum_rows_of_form<Form<BlockTeam<256>, 4>, T>, true},
      {"sum_rows_in_packs", "a cluster of eight blocks",
       sum_rows_of_form<Form<BlockTeam<512, 8>, 4>, T>, true, true},
      {"sum_rows", "the team that the length asks for", sum_rows<T>}};
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
          {"sum_columns", "tiles of 16-byte packs; the last block of a tile waits for the others",
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

/// A rung that sets in.d_y[r] to the logarithm of the sum of exp(x) of row r.
template <class T>
struct LogRung {
  std::string name, changed;
  void (*launch)(const Rows<T, float>& in);
};

template <class T>
std::vector<LogRung<T>> logsumexp_rungs() {
  return {{"logsumexp_by_block", "a block for each row, an element per load",
           launch_logsumexp_by_block<T>},
          {"logsumexp_rows", "packs of 16 bytes, by the team that the length asks for",
           launch_logsumexp<T>}};
}

// ---- norms and variances -----------------------------------------------------------------------

/// A rung that sets in.d_y to the norm of each row.
template <class T>
struct NormRung {
  std::string name, changed;
  void (*launch)(const Rows<T>& in, const Affine<T>& affine);
};

template <Norm norm, class T>
std::vector<NormRung<T>> norm_rungs() {
  return {{"norm_by_block", "a block for each row, which is read three times",
           launch_norm_by_block<norm, T>},
          {"norm_in_registers", "the row is kept in a team's registers", launch_norm<norm, T>}};
}

/// A rung that sets in.d_y[r] to the variance of row r.
struct VarianceRung {
  std::string name, changed;
  void (*launch)(const Rows<float>& in);
  bool keeps_digits = true;  // where the mean is thousands of times the deviation
};

inline std::vector<VarianceRung> variance_rungs() {
  return {
      {"variance_of_squares", "the mean of x^2 minus the square of the mean",
       launch_variance_of_squares, false},
      {"variance_two_passes", "the mean first", launch_variance_two_passes},
      {"variance_shifted", "one read, of x - x[0]", launch_variance_shifted},
      {"variance_welford", "one read: count, mean and squares, merged", launch_variance_welford}};
}

// ---- accurate sums -----------------------------------------------------------------------------

/// A rung that sets in.d_y[r] to the sum of row r.
struct AccurateRung {
  std::string name, changed;
  void (*launch)(const Rows<float, double>& in);
};

inline std::vector<AccurateRung> accurate_rungs() {
  return {{"PlainSum", "float", launch_sum_rows_accurately<PlainSum>},
          {"PairwiseSum", "a tree of floats", launch_sum_rows_accurately<PairwiseSum>},
          {"KahanSum", "and what the last addition lost", launch_sum_rows_accurately<KahanSum>},
          {"NeumaierSum", "and what all additions lost", launch_sum_rows_accurately<NeumaierSum>},
          {"TwoFloatSum", "two floats, some 48 bits", launch_sum_rows_accurately<TwoFloatSum>},
          {"DoubleSum", "double", launch_sum_rows_accurately<DoubleSum>},
          {"FixedPointSum", "chapter 05's multiples of 2^-32",
           launch_sum_rows_accurately<FixedPointSum>}};
}

// ---- argmax and top-k --------------------------------------------------------------------------

/// A rung that sets in.d_y[r] to the column of the largest element of row r.
template <class T>
struct ArgmaxRung {
  std::string name, changed;
  void (*launch)(const Rows<T, unsigned>& in);
};

template <class T>
std::vector<ArgmaxRung<T>> argmax_rungs() {
  return {
      {"argmax_by_block", "a block for each row, an element per load", launch_argmax_by_block<T>},
      {"argmax_rows", "packs of 16 bytes, by the team that the length asks for", launch_argmax<T>}};
}

/// A rung that sets columns and values of the eight largest elements of each row.
template <class T>
struct TopRung {
  std::string name, changed;
  void (*launch)(const TopRows<T>& in);
};

template <class T>
std::vector<TopRung<T>> top_rungs() {
  return {{"top_k", "eight maxima, or a comparison with the eighth largest so far", top_k<T>}};
}

// ---- wrong on purpose --------------------------------------------------------------------------

/// A softmax that is wrong on purpose.
struct WrongSoftmax {
  std::string name, changed, because;
  void (*launch)(const Rows<float>& in);
};

inline std::vector<WrongSoftmax> wrong_softmaxes() {
  return {{"softmax_without_max", "exp(x) / sum of exp(x)",
           "exp(89) is more than the largest float: infinite / infinite is NaN",
           [](const Rows<float>& in) {
             course::launch(softmax_without_max<float>, {blocks_of_rows(in.rows), kRowBlock}, in);
           }}};
}
