// The rungs of this chapter, each named once: for each task the kernel to start from, and the best
// rung of another chapter. ladder.cu times them, selfcheck.cu proves them right.
#pragma once

#include <cstddef>
#include <vector>

#include "best_filter.cuh"
#include "best_histogram.cuh"
#include "best_rows.cuh"
#include "best_scan.cuh"
#include "best_softmax.cuh"
#include "best_sum.cuh"
#include "naive.cuh"
#include "tasks.cuh"

inline constexpr std::size_t kMostOfNaive = std::size_t{1} << 24;

inline std::vector<Rung<SumAnswer>> sum_rungs() {
  return {{"sum_naive", "one atomic per number", answer_of<NaiveSum>(), kMostOfNaive},
          {"sum_pack_loads", "the best rung of chapter 05", answer_of<BestSum>()}};
}

inline std::vector<Rung<HistogramAnswer>> histogram_rungs() {
  return {
      {"histogram_naive", "one atomic per byte", answer_of<NaiveHistogram>(), kMostOfNaive},
      {"histogram_words", "wide loads and copies, from chapter 03", answer_of<BestHistogram>()}};
}

inline std::vector<Rung<FilterAnswer>> filter_rungs() {
  return {{"filter_naive", "one block", answer_of<NaiveFilter>(), kMostOfNaive},
          {"filter_pipelined", "the best rung of chapter 09", answer_of<BestFilter>()}};
}

inline std::vector<Rung<RowsAnswer>> rows_rungs() {
  return {{"rows_naive", "one atomic per half", answer_of<NaiveRows>()},
          {"rows_sorted", "the best rung of chapter 08", answer_of<BestRows>()}};
}

inline std::vector<Rung<ScanAnswer>> scan_rungs() {
  return {{"scan_naive", "one block", answer_of<NaiveScan>(), kMostOfNaive},
          {"launch_scan", "the best rungs of chapter 14", answer_of<BestScan>()}};
}

inline std::vector<Rung<SoftmaxAnswer>> softmax_rungs() {
  return {{"softmax_naive", "three reads of each row", answer_of<NaiveSoftmax>()},
          {"launch_softmax", "the best rung of chapter 15", answer_of<BestSoftmax>()}};
}
