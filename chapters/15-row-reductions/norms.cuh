// How fast are a layer norm and an RMS norm?
// Rungs: norm_by_block, norm_in_registers. How many digits a variance keeps is the question of variance.cuh.
//
//   layer norm: y = (x - mean) / sqrt(variance + epsilon) * gamma + beta
//   RMS norm:   y = x / sqrt(mean of x^2 + epsilon) * gamma
//
// gamma and beta have an element for each column and the type of x, or are null pointers: then they are left out.
#pragma once

#include <cmath>
#include <course/collectives.cuh>
#include <course/launch.cuh>
#include <cstddef>
#include <vector>

#include "forms.cuh"
#include "teams.cuh"

constexpr unsigned kNormBlock = 256;  // threads that have a row, where a block has one

enum class Norm { layer, rms };

/// What a norm has beside its rows.
template <class T>
struct Affine {
  const T* d_gamma = nullptr;  // width
  const T* d_beta = nullptr;   // width; a layer norm alone has it
  float epsilon = 1e-5f;
};

/// Rung 0, in double.
template <Norm norm, class T>
std::vector<double> norm_reference(const std::vector<T>& x, std::size_t width,
                                   const std::vector<T>& gamma, const std::vector<T>& beta,
                                   double epsilon) {
  const auto number = [](const T& value) { return static_cast<double>(static_cast<float>(value)); };
  std::vector<double> y(x.size());
  for (std::size_t first = 0; first < x.size(); first += width) {
    double mean = 0, squares = 0;
    if (norm == Norm::layer) {
      for (std::size_t c = 0; c < width; ++c) mean += number(x[first + c]);
      mean /= static_cast<double>(width);
    }
    for (std::size_t c = 0; c < width; ++c) {
      squares += (number(x[first + c]) - mean) * (number(x[first + c]) - mean);
    }
    const double scale = 1 / std::sqrt(squares / static_cast<double>(width) + epsilon);
    for (std::size_t c = 0; c < width; ++c) {
      y[first + c] =
          (number(x[first + c]) - mean) * scale * (gamma.empty() ? 1 : number(gamma[c])) +
          (beta.empty() ? 0 : number(beta[c]));
    }
  }
  return y;
}

// ---- the fast kernels --------------------------------------------------------------------------

/// Where gamma and beta are while a block goes from row to row.
enum class Kept {
  nowhere,   // they are loaded for every row, from the L1 or L2 cache
  in_shared  // a thread keeps those of its columns in shared memory, for all rows of its team
};

/// A thread's part of gamma or beta.
template <class FormT, class T, Kept kept>
class Column {
 public:
  static constexpr unsigned kPacks = FormT::kPacks;
  static constexpr std::size_t kSharedBytes =
      kept == Kept::in_shared ? std::size_t{16} * kPacks * FormT::Team::kBlock : 0;

  /// s_packs: kSharedBytes of shared memory.
  __device__ __forceinline__ Column(const T* d_column, unsigned packs, uint4* s_packs)
      : d_column_(d_column), s_packs_(s_packs) {
    if constexpr (kept == Kept::in_shared) {
#pragma unroll
      for (unsigned k = 0; k < kPacks; ++k) {
        if (d_column == nullptr || Slice<FormT, T>::at(k) >= packs) continue;
        s_packs_[k * FormT::Team::kBlock + threadIdx.x] = from_global(k);
      }
    }
  }
  __device__ bool is_there() const { return d_column_ != nullptr; }
  /// The k-th pack.
  __device__ __forceinline__ void get(unsigned k, float* value) const {
    if constexpr (kept == Kept::nowhere) {
      to_floats<T>(from_global(k), value);
    } else {
      to_floats<T>(s_packs_[k * FormT::Team::kBlock + threadIdx.x], value);
    }
  }

 private:
  __device__ uint4 from_global(unsigned k) const {
    return *reinterpret_cast<const uint4*>(d_column_ +
                                           std::size_t{Slice<FormT, T>::at(k)} * kPack<T>);
  }

  const T* d_column_;
  uint4* s_packs_;
};

/// What a norm needs to know of a row: y = (x - mean) * scale.
struct MeanAndScale {
  float mean, scale;
};

/// By two reductions: the mean, and the squares of x - mean, which are exact to a few roundings.
template <Norm norm, class FormT, class T>
__device__ __forceinline__ MeanAndScale mean_and_scale(typename FormT::Team& team,
                                                       Slice<FormT, T>& slice, float width,
                                                       float epsilon) {
  float mean = 0, squares = 0;
  if constexpr (norm == Norm::layer) {
    float sum = 0;
    slice.for_each([&](float x) { sum += x; });
    mean = team.reduce(sum, course::Sum{}) / width;
  }
  slice.for_each([&](float x) { squares += (x - mean) * (x - mean); });
  squares = team.reduce(squares, course::Sum{});
  return {mean, rsqrtf(squares / width + epsilon)};
}

// Question: how fast is a norm that reads and writes every element once?
// Changes:  a team keeps its row in registers; the mean is known before the first square.
// Cost:     a read and a write of every element; gamma and beta for each row, unless they are kept.
template <Norm norm, class FormT, class T, Kept kept>
__global__ void __launch_bounds__(FormT::Team::kBlock, FormT::kPerSm)
    norm_in_registers(Rows<T> in, Affine<T> affine) {
  extern __shared__ __align__(128) uint4 s_packs[];  // the next row first, as Reader has it
  using ColumnT = Column<FormT, T, kept>;
  uint4* const s_gamma = s_packs + FormT::kSharedBytes / 16;
  const auto packs = static_cast<unsigned>(in.width / kPack<T>);
  const ColumnT gamma(affine.d_gamma, packs, s_gamma);
  const ColumnT beta(norm == Norm::layer ? affine.d_beta : nullptr, packs,
                     s_gamma + ColumnT::kSharedBytes / 16);  // an RMS norm has no room for it
  Reader<FormT, T> reader(in.d_x, in.rows, in.width);
  typename FormT::Team team;
  for_rows<FormT>(in.rows, [&](std::size_t first) {
    Slice<FormT, T> slices[FormT::kRows];
    reader.read(first, slices);
    MeanAndScale known[FormT::kRows];
#pragma unroll
    for (unsigned r = 0; r < FormT::kRows; ++r) {
      known[r] = mean_and_scale<norm, FormT, T>(team, slices[r], static_cast<float>(in.width),
                                                affine.epsilon);
    }
#pragma unroll
    for (unsigned k = 0; k < FormT::kPacks; ++k) {
      if (!slices[0].has(k)) continue;
      float factor[kPack<T>], offset[kPack<T>];  // of this pack's columns, for all rows
      for (unsigned e = 0; e < kPack<T>; ++e) factor[e] = 1, offset[e] = 0;
      if (gamma.is_there()) gamma.get(k, factor);
      if (norm == Norm::layer && beta.is_there()) beta.get(k, offset);
#pragma unroll
      for (unsigned r = 0; r < FormT::kRows; ++r) {
        if (!slices[r].has(k)) continue;  // nor has a row that is not there
        float x[kPack<T>];
        slices[r].get(k, x);
        for (unsigned e = 0; e < kPack<T>; ++e) {
          x[e] = (x[e] - known[r].mean) * known[r].scale * factor[e] + offset[e];
        }
        T* const d_row = in.d_y + reader.row_of(first, r) * in.width;
        __stcs(reinterpret_cast<uint4*>(d_row + std::size_t{slices[r].at(k)} * kPack<T>),
               to_bits<T>(x));
      }
    }
  });
}

/// Bytes of dynamic shared memory of a block.
template <Norm norm, class FormT, class T, Kept kept>
constexpr std::size_t kBytesOfNorm =
    FormT::kSharedBytes + (norm == Norm::layer ? 2 : 1) * Column<FormT, T, kept>::kSharedBytes;

/// One launch with this form; a row has no more elements than FormT::kWidest<T>.
template <Norm norm, class FormT, Kept kept, class T>
void launch_norm_in_registers(const Rows<T>& in, const Affine<T>& affine,
                              bool resident_only = FormT::kAhead || kept != Kept::nowhere) {
  constexpr auto kKernel = norm_in_registers<norm, FormT, T, kept>;
  constexpr std::size_t kBytes = kBytesOfNorm<norm, FormT, T, kept>;
  course::launch(kKernel, grid_for_rows<FormT, kKernel, kBytes>(in.rows, resident_only), in,
                 affine);
}

// Question: and for rows that do not consist of packs, or that no team can keep?
// Changes:  one element per load, a block for each row, which reads it for the mean, the squares, and the result.
// Cost:     three reads of every element, from the caches where these hold the row.
template <Norm norm, class T>
__global__ void __launch_bounds__(kNormBlock) norm_by_block(Rows<T> in, Affine<T> affine) {
  for (std::size_t row = blockIdx.x; row < in.rows; row += gridDim.x) {
    const T* const d_x = in.d_x + row * in.width;
    const auto width = static_cast<float>(in.width);
    float mean = 0, squares = 0;
    if constexpr (norm == Norm::layer) {
      float sum = 0;
      for (std::size_t c = threadIdx.x; c < in.width; c += kNormBlock) {
        sum += static_cast<float>(d_x[c]);
      }
      mean = course::block_reduce(sum, course::Sum{}) / width;
    }
    for (std::size_t c = threadIdx.x; c < in.width; c += kNormBlock) {
      const float apart = static_cast<float>(d_x[c]) - mean;
      squares += apart * apart;
    }
    squares = course::block_reduce(squares, course::Sum{});
    const float scale = rsqrtf(squares / width + affine.epsilon);
    for (std::size_t c = threadIdx.x; c < in.width; c += kNormBlock) {
      float y = (static_cast<float>(d_x[c]) - mean) * scale;
      if (affine.d_gamma != nullptr) y *= static_cast<float>(affine.d_gamma[c]);
      if (norm == Norm::layer && affine.d_beta != nullptr)
        y += static_cast<float>(affine.d_beta[c]);
      in.d_y[row * in.width + c] = T(y);
    }
  }
}

template <Norm norm, class T>
void launch_norm_by_block(const Rows<T>& in, const Affine<T>& affine) {
  constexpr std::size_t kMost = 65'536;  // blocks, which take one row after another
  const auto blocks = static_cast<unsigned>(std::min(in.rows, kMost));
  course::launch(norm_by_block<norm, T>, {blocks, kNormBlock}, in, affine);
}

/// Calls use.operator()<FormT, kept>() with the form for a norm of rows of `width` elements, of which can_be_kept(). Long
/// rows of several blocks have gamma and beta on chip: read for every row, these are as many bytes from the L2 as x and y.
template <Norm norm, class T, class Use>
void with_norm_form(std::size_t width, Use use) {
  constexpr bool kFull = true, kAhead = true;
  if (course::has_clusters()) {
    if constexpr (sizeof(T) == 4) {
      using Long = Form<BlockTeam<256, 8>, 4, 1, kFull, kAhead, course::CacheHint::none, 4>;
      if (norm == Norm::layer && width == Long::template kWidest<T>) {
        return use.template operator()<Long, Kept::in_shared>();
      }
      using Longest = Form<BlockTeam<512, 16>, 8, 1, kFull, kAhead>;
      static const bool is_allowed = course::allows_clusters_of_16(
          norm_in_registers<norm, Longest, T, Kept::in_shared>, Longest::Team::kBlock,
          kBytesOfNorm<norm, Longest, T, Kept::in_shared>);
      if (is_allowed && width == Longest::template kWidest<T>) {
        return use.template operator()<Longest, Kept::in_shared>();
      }
    } else {
      using Longest = Form<BlockTeam<512, 8>, 8, 1, kFull, kAhead>;
      if (width == Longest::template kWidest<T>) {
        return use.template operator()<Longest, Kept::in_shared>();
      }
    }
  }
  with_keeping_form<T>(width,
                       [&]<class FormT>() { use.template operator()<FormT, Kept::nowhere>(); });
}

template <Norm norm, class T>
void launch_norm(const Rows<T>& in, const Affine<T>& affine) {
  if (!fits_packs<T>(in.d_x, in.width) || !fits_packs<T>(in.d_y, in.width) ||
      !fits_packs<T>(affine.d_gamma, in.width) || !fits_packs<T>(affine.d_beta, in.width) ||
      !can_be_kept<T>(in.width)) {
    return launch_norm_by_block<norm>(in, affine);
  }
  with_norm_form<norm, T>(in.width, [&]<class FormT, Kept kept>() {
    launch_norm_in_registers<norm, FormT, kept>(in, affine);
  });
}

/// Sets in.d_y to the layer norm of each row, for rows of any length and start. in.d_y may be in.d_x.
template <class T>
void launch_layer_norm(const Rows<T>& in, const Affine<T>& affine) {
  launch_norm<Norm::layer>(in, affine);
}
/// The same for the RMS norm, which has no beta.
template <class T>
void launch_rms_norm(const Rows<T>& in, const Affine<T>& affine) {
  launch_norm<Norm::rms>(in, affine);
}
