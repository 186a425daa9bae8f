// The rungs of this chapter, each named once. ladder.cu times them, selfcheck.cu proves them right,
// races.cu and counts.cu show what else is said of them.
#pragma once

#include <algorithm>
#include <course/ladder.cuh>
#include <course/rungs.cuh>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "divergence.cuh"
#include "fast_atomic_max.cuh"
#include "index_add.cuh"
#include "inputs.cuh"
#include "scatter.cuh"
#include "segmented.cuh"
#include "sorted.cuh"
#include "wrong.cuh"

using course::rung_named;

/// The groups of the ladder.
enum class Group {
  few_slow,        // few targets, and few updates: scatter_half takes long
  few,             // few targets
  cached,          // a table that fits into the L2 cache
  uncached,        // and one that does not
  rounding,        // sums that are rounded
  stagnation,      // sums of ones
  divergence,      // warps of one alignment and of both
  negative_zeros,  // a table of -0.0
  lost_updates,
  rows,
  rows_rounding,
  maxima,     // maxima instead of sums
  no_values,  // a table of NaN
};

/// A rung, which adds to a table of halves or of floats. A rung whose `changed` is another one in
/// another group has a row for each.
template <template <class> class Launch>
struct TableRung {
  std::string name;           // of its kernel, or of the function that launches several
  std::string changed;        // what is new, in a few words
  std::vector<Group> groups;  // in which the ladder shows it
  std::variant<Launch<__half>, Launch<float>> launch;
  Sums sums = Sums::in_half;                  // how it rounds
  bool sorted = false;                        // takes updates that are sorted by target
  std::optional<course::Expect> expect = {};  // if it is wrong on purpose,
  std::string because = {};                   // why
};

/// Adds to d_table[d_index[i]] the values d_values[i], i < n. The table has `targets` elements.
template <class Table>
using Scatter = std::function<void(const __half* d_values, const int* d_index, std::size_t n,
                                   Table* d_table, std::size_t targets, cudaStream_t stream)>;
using ScatterRung = TableRung<Scatter>;

inline std::vector<ScatterRung> scatter_rungs() {
  using enum Group;
  constexpr bool kSorted = true, kAnyOrder = false;
  constexpr unsigned kBits = course::kCpuDevice ? 10 : kPartBits;  // small tables have parts, too
  // clang-format off
  return {
      {"scatter_half", "atomicAdd(__half*)", {few_slow, cached, uncached}, launch_scatter_half},
      {"scatter_float", "the table has floats", {cached, uncached},
       launch_scatter_float, Sums::in_float},
      {"scatter_fast", "fast_atomic_add: a pair, one RED", {few_slow, few, cached, uncached},
       launch_scatter_fast<__half>},
      {"scatter_fast", "summed in half", {rounding}, launch_scatter_fast<__half>},
      {"scatter_fast", "summed in half: stagnates at 2048", {stagnation},
       launch_scatter_fast<__half>},
      {"scatter_privatized", "in float within a block", {rounding, stagnation},
       launch_scatter_privatized, Sums::in_blocks},
      {"scatter_float", "the table has floats", {few, rounding, stagnation},
       launch_scatter_float, Sums::in_float},
      {"scatter_privatized", "each block sums in shared memory first", {few},
       launch_scatter_privatized, Sums::in_blocks},
      {"sum_sorted", "sorted before (not timed); in float, in a fixed order", {rounding},
       launch_sum_sorted, Sums::in_float_once, kSorted},
      {"sum_sorted", "sorted before (not timed); in float", {stagnation},
       launch_sum_sorted, Sums::in_float_once, kSorted},
      {"scatter_in_parts", "one part of the table after the other", {uncached},
       launch_scatter_in_parts<kBits>},
      {"add_by_branch", "an if for each", {divergence}, launch_add_by_branch},
      {"add_by_select", "one RED for all", {divergence}, launch_add_by_select},
      {"scatter_fast", "adds -0.0 to the partner", {negative_zeros}, launch_scatter_fast<__half>},
      {"scatter_plus_zero", "adds +0.0 to the partner", {negative_zeros}, launch_scatter_plus_zero,
       Sums::in_half, kAnyOrder, course::Expect::wrong_value,
       "(-0.0) + (+0.0) is +0.0: the partner has lost its sign"},
      {"scatter_plain", "a plain +=", {lost_updates}, launch_scatter_plain,
       Sums::in_half, kAnyOrder, course::Expect::race_and_wrong_value,
       "another thread stores between this thread's load and its store"},
  };
  // clang-format on
}

/// Raises d_table[d_index[i]] to d_values[i], i < n.
inline std::vector<ScatterRung> max_rungs() {
  using enum Group;
  constexpr bool kAnyOrder = false;
  // clang-format off
  return {
      {"scatter_max_cas", "a loop of atomicCAS on 16 bits, if the value is larger", {maxima},
       launch_scatter_max_cas<__half>},
      {"scatter_max_fast", "fast_atomic_max: a pair, one RED", {maxima},
       launch_scatter_max_fast<__half>},
      {"scatter_max_looking", "looks first: one RED if the value is larger", {maxima},
       launch_scatter_max_looking<__half>},
      {"scatter_max_fast", "a NaN for the partner", {no_values}, launch_scatter_max_fast<__half>},
      {"scatter_max_infinity", "-infinity for the partner", {no_values},
       launch_scatter_max_infinity, Sums::in_half, kAnyOrder, course::Expect::wrong_value,
       "the maximum of a NaN and -infinity is -infinity: the partner has got a value"},
  };
  // clang-format on
}

/// scatter_fast of one type.
template <class T>
struct TypeRung {
  std::string name;
  std::string changed = kAddsInPairs<T> ? "in a pair, with nothing for the partner" : "atomicAdd";
  void (*launch)(const T* d_values, const int* d_index, std::size_t n, T* d_table,
                 std::size_t targets, cudaStream_t stream) = launch_scatter_fast<T>;
};

/// Calls f with the rung of each type that fast_atomic_add takes.
template <class F>
void for_each_type_rung(F f) {
  f(TypeRung<double>{"scatter_fast<double>"});
  f(TypeRung<float>{"scatter_fast<float>"});
  f(TypeRung<__nv_bfloat16>{"scatter_fast<__nv_bfloat16>"});
  f(TypeRung<__half>{"scatter_fast<__half>"});
}

/// Adds every source row to its row of the table.
template <class Table>
using AddRows = std::function<void(const Rows& in, Table* d_table, std::size_t table_rows,
                                   cudaStream_t stream)>;
using RowsRung = TableRung<AddRows>;

/// rows_sorted with a workspace, which is kept as long as the returned function.
template <unsigned kPerThread = 20>
AddRows<__half> launch_rows_sorted() {
  return [workspace = std::make_shared<SortWorkspace>()](
             const Rows& in, __half* d_table, std::size_t table_rows, cudaStream_t stream) {
    rows_sorted<kPerThread>(in, d_table, table_rows, *workspace, stream);
  };
}

inline std::vector<RowsRung> rows_rungs() {
  using enum Group;
  // clang-format off
  return {
      {"rows_half", "atomicAdd(__half*)", {rows}, launch_rows_scalar<__half>},
      {"rows_fast", "fast_atomic_add: one RED per half", {rows}, launch_rows_fast},
      {"rows_red_v4", "summed in half", {rows_rounding}, launch_rows_red_v4},
      {"rows_float", "the table has floats", {rows_rounding}, launch_rows_float, Sums::in_float},
      {"rows_float", "the table has floats: one RED for four", {rows},
       launch_rows_float, Sums::in_float},
      {"rows_half2", "one RED for two", {rows}, launch_rows_half2},
      {"rows_red_v4", "one RED for eight", {rows}, launch_rows_red_v4},
      {"rows_sorted", "sorted first: no atomic on the table", {rows},
       launch_rows_sorted(), Sums::in_float_once},
      {"rows_sorted", "in float, rounded to half once", {rows_rounding},
       launch_rows_sorted(), Sums::in_float_once},
  };
  // clang-format on
}

/// The rungs of a group, in their order.
template <class Rung>
std::vector<Rung> of_group(std::vector<Rung> rungs, Group group) {
  std::erase_if(rungs, [=](const Rung& rung) {
    return std::find(rung.groups.begin(), rung.groups.end(), group) == rung.groups.end();
  });
  return rungs;
}

/// Every rung that is right, once. Without those that want sorted updates, if `sorted` is false.
template <class Rung>
std::vector<Rung> right_rungs(const std::vector<Rung>& rungs, bool sorted = false) {
  std::vector<Rung> result;
  for (const Rung& rung : rungs) {
    const bool known = std::any_of(result.begin(), result.end(),
                                   [&](const Rung& other) { return other.name == rung.name; });
    if (!known && !rung.expect && (sorted || !rung.sorted)) result.push_back(rung);
  }
  return result;
}
