// How often must a row be read for its softmax?
// Rungs: softmax_three_passes, softmax_two_passes, softmax_in_shared, softmax_in_registers; softmax, which chooses
// the last one's team by the length of a row; logsumexp.
//
//   y[r][c] = exp(x[r][c] - max of row r) / sum over c of exp(x[r][c] - max of row r)
//
// T is float, __half or __nv_bfloat16; all arithmetic is in float. What becomes of a row: one with +inf or NaN, or with
// nothing but -inf, becomes NaN; any other -inf becomes 0.
#pragma once

#include <cmath>
#include <course/collectives.cuh>
#include <course/error.cuh>
#include <course/merge.cuh>
#include <limits>
#include <stdexcept>
#include <vector>

#include "forms.cuh"
#include "teams.cuh"

/// Rung 0, in double.
template <class T>
std::vector<double> softmax_reference(const std::vector<T>& x, std::size_t width) {
  std::vector<double> y(x.size());
  for (std::size_t first = 0; first < x.size(); first += width) {
    double max = -std::numeric_limits<double>::infinity(), sum = 0;
    for (std::size_t c = first; c < first + width; ++c) {
      max = std::fmax(max, static_cast<double>(static_cast<float>(x[c])));
    }
    for (std::size_t c = first; c < first + width; ++c) {
      y[c] = std::exp(static_cast<double>(static_cast<float>(x[c])) - max);
      sum += y[c];
    }
    for (std::size_t c = first; c < first + width; ++c) y[c] /= sum;
  }
  return y;
}

/// The logarithm of the sum of exp(x) of each row, in double.
template <class T>
std::vector<double> logsumexp_reference(const std::vector<T>& x, std::size_t width) {
  std::vector<double> y;
  for (std::size_t first = 0; first < x.size(); first += width) {
    double max = -std::numeric_limits<double>::infinity(), sum = 0;
    bool has_nan = false;
    for (std::size_t c = first; c < first + width; ++c) {
      const double value = static_cast<double>(static_cast<float>(x[c]));
      max = std::fmax(max, value);
      has_nan = has_nan || std::isnan(value);
    }
    for (std::size_t c = first; c < first + width && std::isfinite(max); ++c) {
      sum += std::exp(static_cast<double>(static_cast<float>(x[c])) - max);
    }
    y.push_back(has_nan              ? std::numeric_limits<double>::quiet_NaN()
                : std::isfinite(max) ? max + std::log(sum)
                                     : max);
  }
  return y;
}

constexpr unsigned kRowBlock = 256;  // threads that have a row, where a block has one

// Question: what does a softmax do, one step after another?
// Changes:  nothing yet: the block reads its row for the maximum, for the sum, and for the quotients.
// Cost:     three reads of every element, from the caches where these hold the row; two exp().
template <class T>
__global__ void __launch_bounds__(kRowBlock) softmax_three_passes(Rows<T> in) {
  for (std::size_t row = blockIdx.x; row < in.rows; row += gridDim.x) {
    const T* const d_x = in.d_x + row * in.width;
    float max = -INFINITY, sum = 0;
    for (std::size_t c = threadIdx.x; c < in.width; c += kRowBlock) {
      max = fmaxf(max, static_cast<float>(d_x[c]));
    }
    max = course::block_reduce(max, course::Max{});
    for (std::size_t c = threadIdx.x; c < in.width; c += kRowBlock) {
      sum += course::fast_exp(static_cast<float>(d_x[c]) - max);
    }
    sum = course::block_reduce(sum, course::Sum{});
    for (std::size_t c = threadIdx.x; c < in.width; c += kRowBlock) {
      in.d_y[row * in.width + c] = T(course::fast_exp(static_cast<float>(d_x[c]) - max) / sum);
    }
  }
}

/// By what exp(x - offset of `mine`) is multiplied to become an element of the softmax: `mine` is the (maximum, sum) of
/// some elements, `all` that of the row.
__device__ __forceinline__ float softmax_factor(float mine, course::MaxSum all) {
  if (all.max == INFINITY) return NAN;
  return course::rescale(mine, all.max) / all.sum;
}

/// The (maximum, sum) of the elements of a row that this thread of its block has: one read.
template <class T>
__device__ __forceinline__ course::MaxSum max_sum_of_row(const T* d_row, std::size_t width) {
  course::MaxSum mine;
  for (std::size_t c = threadIdx.x; c < width; c += blockDim.x) {
    const float x = static_cast<float>(d_row[c]);
    if (x > mine.max) {
      mine.sum *= course::rescale(mine.max, x);
      mine.max = x;
    }
    mine.sum += course::fast_exp(x - course::exp_offset(mine.max));
  }
  return mine;
}

// Question: must the maximum be known before the sum begins?
// Changes:  a thread keeps (maximum, sum), and rescales its sum when it meets a larger maximum; pairs are merged.
// Cost:     two reads of every element. A merge has two exp(); most elements have one.
template <class T>
__global__ void __launch_bounds__(kRowBlock) softmax_two_passes(Rows<T> in) {
  for (std::size_t row = blockIdx.x; row < in.rows; row += gridDim.x) {
    const T* const d_x = in.d_x + row * in.width;
    const course::MaxSum all =
        course::block_merge(max_sum_of_row(d_x, in.width), course::MergeMaxSum{});
    const float factor = softmax_factor(all.max, all);
    for (std::size_t c = threadIdx.x; c < in.width; c += kRowBlock) {
      const float x = static_cast<float>(d_x[c]);
      in.d_y[row * in.width + c] = T(course::fast_exp(x - course::exp_offset(all.max)) * factor);
    }
  }
}

// Question: can the second read come from shared memory?
// Changes:  the block copies its row there, as floats, while it reads the row for the maximum.
// Cost:     one read and one write of every element; 4 bytes of shared memory for each.
template <class T>
__global__ void __launch_bounds__(1024) softmax_in_shared(Rows<T> in) {
  extern __shared__ float s_row[];  // width floats; each thread reads what it has written
  for (std::size_t row = blockIdx.x; row < in.rows; row += gridDim.x) {
    float max = -INFINITY, sum = 0;
    for (std::size_t c = threadIdx.x; c < in.width; c += blockDim.x) {
      const float x = static_cast<float>(in.d_x[row * in.width + c]);
      s_row[c] = x;
      max = fmaxf(max, x);
    }
    max = course::block_reduce(max, course::Max{});
    for (std::size_t c = threadIdx.x; c < in.width; c += blockDim.x) {
      const float e = course::fast_exp(s_row[c] - max);
      s_row[c] = e;
      sum += e;
    }
    sum = course::block_reduce(sum, course::Sum{});
    for (std::size_t c = threadIdx.x; c < in.width; c += blockDim.x) {
      in.d_y[row * in.width + c] = T(s_row[c] / sum);
    }
  }
}

/// The (maximum, sum) of a slice, relative to its maximum or any larger number. exp(x - offset) takes the place of x if T
/// is float; the registers of a 16-bit element keep x, and exp() of it is taken again.
template <class FormT, class T>
__device__ __forceinline__ course::MaxSum exp_of_slice(Slice<FormT, T>& slice, float max) {
  const float offset = course::exp_offset(max);
  float sum = 0;
  slice.for_each([&](float& x) {
    x = course::fast_exp(x - offset);
    sum += x;
  });
  return {max, sum};
}

// Question: and if a team keeps its row in registers, 16 bytes per load?
// Changes:  a team for each row, as large as the row needs: lanes, a block, several blocks. `merged`: each thread takes
//           exp() relative to its own maximum, so that one reduction does for maximum and sum.
// Cost:     one read and one write of every element; one exp() for each, of 16-bit types two; two reductions of a team,
//           or one.
template <class FormT, class T, bool merged>
__global__ void __launch_bounds__(FormT::Team::kBlock, FormT::kPerSm)
    softmax_in_registers(Rows<T> in) {
  Reader<FormT, T> reader(in.d_x, in.rows, in.width);
  typename FormT::Team team;
  for_rows<FormT>(in.rows, [&](std::size_t first) {
    Slice<FormT, T> slices[FormT::kRows];
    reader.read(first, slices);
#pragma unroll
    for (unsigned r = 0; r < FormT::kRows; ++r) {
      Slice<FormT, T>& slice = slices[r];
      float max = slice.max();
      if constexpr (!merged) max = team.reduce(max, course::Max{});
      course::MaxSum all = exp_of_slice(slice, max);
      if constexpr (merged) {
        all = team.reduce(all, course::MergeMaxSum{});
      } else {
        all.sum = team.reduce(all.sum, course::Sum{});
      }
      const std::size_t row = reader.row_of(first, r);
      T* const d_row = in.d_y + row * in.width;  // a slice without packs: there is no such row
      if constexpr (sizeof(T) == 4) {
        const float factor = softmax_factor(max, all);
        store_slice(d_row, slice, [&](float x) { return x * factor; });
      } else {
        const float factor = softmax_factor(all.max, all), offset = course::exp_offset(all.max);
        store_slice(d_row, slice, [&](float x) { return course::fast_exp(x - offset) * factor; });
      }
    }
  });
}

/// One launch with this form; a row has no more elements than FormT::kWidest<T>.
template <class FormT, bool merged, class T>
void launch_softmax_in_registers(const Rows<T>& in, bool resident_only = FormT::kAhead) {
  constexpr auto kKernel = softmax_in_registers<FormT, T, merged>;
  course::launch(kKernel, grid_for_rows<FormT, kKernel>(in.rows, resident_only), in);
}

/// Blocks for a kernel whose blocks take one row after another.
constexpr unsigned kMostBlocks = 65'536;
inline unsigned blocks_of_rows(std::size_t rows) {
  return static_cast<unsigned>(std::min<std::size_t>(rows, kMostBlocks));
}

template <class T>
void launch_softmax_three_passes(const Rows<T>& in) {
  course::launch(softmax_three_passes<T>, {blocks_of_rows(in.rows), kRowBlock}, in);
}
template <class T>
void launch_softmax_two_passes(const Rows<T>& in) {
  course::launch(softmax_two_passes<T>, {blocks_of_rows(in.rows), kRowBlock}, in);
}

/// Throws std::invalid_argument if a block cannot have a row in its shared memory.
template <class T>
void launch_softmax_in_shared(const Rows<T>& in) {
  const std::size_t bytes = in.width * sizeof(float);
  if (!course::allows_shared_bytes(bytes)) {
    throw std::invalid_argument("softmax_in_shared: a row does not fit into shared memory");
  }
  course::raise_shared_limit(softmax_in_shared<T>, bytes);
  const auto warps = std::clamp<std::size_t>(in.width / (8 * course::kWarpSize), 1, 32);
  const auto threads = static_cast<unsigned>(warps) * course::kWarpSize;
  course::launch(softmax_in_shared<T>, {blocks_of_rows(in.rows), threads, bytes}, in);
}

/// Calls use.operator()<FormT>() with the form for a softmax of rows of `width` elements, of which can_be_kept().
template <class T, class Use>
void with_softmax_form(std::size_t width, Use use) {
  using Longest =
      std::conditional_t<sizeof(T) == 2,
                         Form<BlockTeam<512, 8>, 8, 1, true, true, course::CacheHint::none, 2>,
                         Form<BlockTeam<1024, 8>, 8, 1, true, true>>;
  if (width == Longest::template kWidest<T> && course::has_clusters()) {
    return use.template operator()<Longest>();
  }
  with_keeping_form<T>(width, use);
}

/// Sets row r of in.d_y to the softmax of row r, for rows of any length and start; rows that no team can keep are read
/// twice. in.d_y may be in.d_x.
template <class T>
void launch_softmax(const Rows<T>& in) {
  if (!fits_packs<T>(in.d_x, in.width) || !fits_packs<T>(in.d_y, in.width) ||
      !can_be_kept<T>(in.width)) {
    return launch_softmax_two_passes(in);
  }
  with_softmax_form<T>(in.width, [&]<class FormT>() {
    constexpr bool kHasBarriers = FormT::Team::kTeams == 1;  // one is better than two
    launch_softmax_in_registers<FormT, kHasBarriers>(in);
  });
}

// ---- logsumexp ---------------------------------------------------------------------------------

/// log(the sum of exp(x)): -inf and +inf stay what they are, and a NaN among the numbers is in the sum.
__device__ __forceinline__ float log_of(course::MaxSum all) {
  if (all.max == -INFINITY || all.max == INFINITY) return isnan(all.sum) ? all.sum : all.max;
  return all.max + logf(all.sum);
}

// Question: what does a softmax cost that writes one number per row?
// Changes:  log(sum) + maximum. Nothing is kept: a thread merges each round of packs into its (maximum, sum).
// Cost:     one read of every element, one exp() for each, and one for each round; one reduction per row.
template <class FormT, class T>
__global__ void __launch_bounds__(FormT::Team::kBlock, FormT::kPerSm)
    logsumexp_rows(Rows<T, float> in) {
  typename FormT::Team team;
  for_rows<FormT>(in.rows, [&](std::size_t first) {
    course::MaxSum mine[FormT::kRows];
    for_rounds<FormT, T>(in.d_x, in.rows, in.width, first, [&](auto& slice, unsigned r) {
      const float max = fmaxf(mine[r].max, slice.max());
      const float before = mine[r].sum * course::rescale(mine[r].max, max);
      mine[r] = exp_of_slice(slice, max);
      mine[r].sum += before;
    });
#pragma unroll
    for (unsigned r = 0; r < FormT::kRows; ++r) {
      const course::MaxSum all = team.reduce(mine[r], course::MergeMaxSum{});
      const std::size_t row = Reader<FormT, T>::row_of(first, r);
      if (row < in.rows && FormT::Team::rank() == 0) {
        in.d_y[row] = log_of(all);
      }
    }
  });
}

/// Sets in.d_y[r] to the logarithm of the sum of exp(x) of row r.
template <class FormT, class T>
void launch_logsumexp_rows(const Rows<T, float>& in, bool resident_only = false) {
  course::launch(logsumexp_rows<FormT, T>,
                 grid_for_rows<FormT, logsumexp_rows<FormT, T>>(in.rows, resident_only), in);
}

// Question: and for rows that do not consist of packs?
// Changes:  one element per load, a block for each row.
// Cost:     one read; one exp() for each element, and one for each larger maximum.
template <class T>
__global__ void __launch_bounds__(kRowBlock) logsumexp_by_block(Rows<T, float> in) {
  for (std::size_t row = blockIdx.x; row < in.rows; row += gridDim.x) {
    const course::MaxSum all = course::block_merge(
        max_sum_of_row(in.d_x + row * in.width, in.width), course::MergeMaxSum{});
    if (threadIdx.x == 0) in.d_y[row] = log_of(all);
  }
}

template <class T>
void launch_logsumexp_by_block(const Rows<T, float>& in) {
  course::launch(logsumexp_by_block<T>, {blocks_of_rows(in.rows), kRowBlock}, in);
}

/// Sets in.d_y[r] to the logarithm of the sum of exp(x) of row r, for rows of any length and start. -inf for rows
/// without elements.
template <class T>
void launch_logsumexp(const Rows<T, float>& in) {
  if (!fits_packs<T>(in.d_x, in.width)) return launch_logsumexp_by_block(in);
  const std::size_t packs = in.width / kPack<T>;
  if (sizeof(T) == 2 && packs <= 8) {
    return launch_logsumexp_rows<ReadingForm<LaneTeam<4, 128>, 2, 2>>(in);
  }
  if (sizeof(T) == 2 && packs > 8192) {
    return launch_logsumexp_rows<ReadingForm<BlockTeam<1024>, 2, 1, 2>>(in);
  }
  if (sizeof(T) == 2 && packs > 2048 && packs <= 4096) {  // one round: no load waits for exp()
    return launch_logsumexp_rows<ReadingForm<BlockTeam<1024>, 4, 1, 2>>(in);
  }
  with_reading_form<T>(in.width, [&]<class FormT>() { launch_logsumexp_rows<FormT>(in); });
}
