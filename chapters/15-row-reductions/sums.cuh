// Which threads sum the elements of a row?
// Rungs: sum_rows_by_thread, sum_rows_by_warp, sum_rows_in_packs, which has any team: lanes, a warp, a block, a
// cluster.
//
//   y[r] = the sum of row r; T is float, __half or __nv_bfloat16, the sums are floats.
#pragma once

#include <course/collectives.cuh>
#include <course/launch.cuh>
#include <cstddef>
#include <vector>

#include "forms.cuh"
#include "teams.cuh"

/// Rung 0, in double.
template <class T>
std::vector<double> row_sums_reference(const std::vector<T>& x, std::size_t width) {
  std::vector<double> sums(width == 0 ? 0 : x.size() / width);
  for (std::size_t i = 0; i < x.size(); ++i) {
    sums[i / width] += static_cast<double>(static_cast<float>(x[i]));
  }
  return sums;
}

constexpr unsigned kSumBlock = 256;  // threads

// Question: what does the plainest loop cost?
// Changes:  nothing yet: a thread for each row.
// Cost:     neighbouring lanes are a row apart: a sector for each of their loads, until a row ends.
template <class T>
__global__ void sum_rows_by_thread(Rows<T, float> in) {
  const std::size_t row = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (row >= in.rows) return;
  float sum = 0;
  for (std::size_t c = 0; c < in.width; ++c) sum += static_cast<float>(in.d_x[row * in.width + c]);
  in.d_y[row] = sum;
}

// Question: which threads load neighbouring elements?
// Changes:  a warp for each row: its lanes take neighbouring columns, and shuffles add what they have.
// Cost:     one element per load and lane; five shuffles per row, however short it is.
template <class T>
__global__ void sum_rows_by_warp(Rows<T, float> in) {
  const unsigned lane = threadIdx.x % course::kWarpSize;
  const std::size_t warp = (std::size_t{blockIdx.x} * blockDim.x + threadIdx.x) / course::kWarpSize;
  if (warp >= in.rows) return;
  float sum = 0;
  for (std::size_t c = lane; c < in.width; c += course::kWarpSize) {
    sum += static_cast<float>(in.d_x[warp * in.width + c]);
  }
  sum = course::warp_reduce(sum, course::Sum{});
  if (lane == 0) in.d_y[warp] = sum;
}

// Question: how many threads should a row have?
// Changes:  16 bytes per load, several loads in flight; the team is a parameter: lanes, a warp, a block, a cluster.
// Cost:     one read; a reduction of the team per row.
template <class FormT, class T>
__global__ void __launch_bounds__(FormT::Team::kBlock, FormT::kPerSm)
    sum_rows_in_packs(Rows<T, float> in) {
  typename FormT::Team team;
  for_rows<FormT>(in.rows, [&](std::size_t first) {
    float sum[FormT::kRows] = {};
    for_rounds<FormT, T>(in.d_x, in.rows, in.width, first, [&](auto& slice, unsigned r) {
      slice.for_each([&](float x) { sum[r] += x; });
    });
#pragma unroll
    for (unsigned r = 0; r < FormT::kRows; ++r) {
      const float all = team.reduce(sum[r], course::Sum{});
      const std::size_t row = Reader<FormT, T>::row_of(first, r);
      if (row < in.rows && FormT::Team::rank() == 0) in.d_y[row] = all;
    }
  });
}

template <class T>
void launch_sum_rows_by_thread(const Rows<T, float>& in) {
  course::launch(sum_rows_by_thread<T>, {course::blocks_for(in.rows, kSumBlock), kSumBlock}, in);
}
template <class T>
void launch_sum_rows_by_warp(const Rows<T, float>& in) {
  constexpr unsigned kWarps = kSumBlock / course::kWarpSize;
  course::launch(sum_rows_by_warp<T>, {course::blocks_for(in.rows, kWarps), kSumBlock}, in);
}
/// One launch with this form.
template <class FormT, class T>
void launch_sum_rows_in_packs(const Rows<T, float>& in, bool resident_only = false) {
  course::launch(sum_rows_in_packs<FormT, T>,
                 grid_for_rows<FormT, sum_rows_in_packs<FormT, T>>(in.rows, resident_only), in);
}

/// Sets in.d_y[r] to the sum of row r, for rows of any length and start. The same bits in every run.
template <class T>
void sum_rows(const Rows<T, float>& in) {
  if (!fits_packs<T>(in.d_x, in.width)) return launch_sum_rows_by_warp(in);
  with_reading_form<T>(in.width, [&]<class FormT>() { launch_sum_rows_in_packs<FormT>(in); });
}
