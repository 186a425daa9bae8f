// Where is the largest element of a row?
// Rungs: argmax_by_block, argmax_rows; argmax_packs, which launch_argmax() takes for rows of a warp or more.
//
// Of equal elements the first one counts (-0 and +0 are equal), and a NaN is larger than any number, as for
// torch.argmax. The answer is a column, an unsigned; rows are shorter than 2^32.
#pragma once

#include <cmath>
#include <course/collectives.cuh>
#include <course/launch.cuh>
#include <cstdint>
#include <vector>

#include "forms.cuh"
#include "teams.cuh"

/// Rung 0.
template <class T>
std::vector<unsigned> argmax_reference(const std::vector<T>& x, std::size_t width) {
  std::vector<unsigned> columns;
  for (std::size_t first = 0; first < x.size(); first += width) {
    std::size_t best = 0;
    for (std::size_t c = 1; c < width; ++c) {
      const float value = static_cast<float>(x[first + c]);
      const float most = static_cast<float>(x[first + best]);
      if (value > most || (std::isnan(value) && !std::isnan(most))) best = c;
    }
    columns.push_back(static_cast<unsigned>(best));
  }
  return columns;
}

constexpr unsigned kArgmaxBlock = 256;  // threads

/// Bits that have the order of the floats: of all NaNs the same ones, above those of +inf; of both zeros the same ones.
__device__ __forceinline__ unsigned ordered_bits(float x) {
  const unsigned bits = __float_as_uint(x + 0.0f);  // -0 + 0 is +0
  const unsigned ordered = bits ^ ((bits >> 31) != 0 ? 0xFFFF'FFFFu : 0x8000'0000u);
  return isnan(x) ? 0xFFFF'FFFFu : ordered;
}

/// A value and its column as one number, whose maximum is the answer: of two equal values that of the smaller column
/// is larger. 0 is below every key.
__device__ __forceinline__ unsigned long long key_of(unsigned ordered, unsigned column) {
  return static_cast<unsigned long long>(ordered) << 32 | ~column;
}
__device__ __forceinline__ unsigned column_of(unsigned long long key) {
  return ~static_cast<unsigned>(key);
}

// Question: can a maximum say where it is?
// Changes:  the sum of a row becomes a maximum of keys of 64 bits: value above, column below. A thread compares
//           values alone, since its columns only grow; keys meet in the reduction of the team.
// Cost:     one read; some five instructions for each element, and shuffles of two words.
template <class FormT, class T>
__global__ void __launch_bounds__(FormT::Team::kBlock) argmax_rows(Rows<T, unsigned> in) {
  typename FormT::Team team;
  for_rows<FormT>(in.rows, [&](std::size_t first) {
    // At first a thread has its first element, which may be -inf; without elements, the column after all others.
    float most[FormT::kRows];
    unsigned column[FormT::kRows];
    const unsigned pack = Slice<FormT, T>::at(0);
    for (unsigned r = 0; r < FormT::kRows; ++r) {
      most[r] = -INFINITY;
      column[r] = pack < in.width / kPack<T> ? pack * kPack<T> : 0xFFFF'FFFFu;
    }
    unsigned base = 0;  // the first pack of the round
    for_rounds<FormT, T>(in.d_x, in.rows, in.width, first, [&](auto& slice, unsigned r) {
#pragma unroll
      for (unsigned k = 0; k < FormT::kPacks; ++k) {
        if (!slice.has(k)) continue;
        float value[kPack<T>];
        slice.get(k, value);
        for (unsigned e = 0; e < kPack<T>; ++e) {
          const float x = value[e];
          if (x > most[r] || (isnan(x) && !isnan(most[r]))) {
            most[r] = x;
            column[r] = (base + slice.at(k)) * kPack<T> + e;
          }
        }
      }
      if (r + 1 == FormT::kRows) base += FormT::kPacks * FormT::Team::kThreads;
    });
#pragma unroll
    for (unsigned r = 0; r < FormT::kRows; ++r) {
      const unsigned long long all =
          team.reduce(key_of(ordered_bits(most[r]), column[r]), course::Max{});
      const std::size_t row = Reader<FormT, T>::row_of(first, r);
      if (row < in.rows && FormT::Team::rank() == 0) in.d_y[row] = column_of(all);
    }
  });
}

/// Sets in.d_y[r] to the column of the largest element of row r.
template <class FormT, class T>
void launch_argmax_rows(const Rows<T, unsigned>& in, bool resident_only = false) {
  course::launch(argmax_rows<FormT, T>,
                 grid_for_rows<FormT, argmax_rows<FormT, T>>(in.rows, resident_only), in);
}

/// The largest element of a pack, or NaN if there is one.
template <class T>
__device__ __forceinline__ float max_of_pack(const uint4& bits) {
  if constexpr (sizeof(T) == 4) {
    float x[kPack<T>];
    to_floats<T>(bits, x);
    const auto max = [](float a, float b) { return a > b || isnan(a) ? a : b; };
    return max(max(x[0], x[1]), max(x[2], x[3]));
  } else {  // two at a time
    PairOf<T> x[kPack<T> / 2];
    memcpy(static_cast<void*>(x), &bits, sizeof x);
    const PairOf<T> most = __hmax2_nan(__hmax2_nan(x[0], x[1]), __hmax2_nan(x[2], x[3]));
    return static_cast<float>(__hmax_nan(most.x, most.y));
  }
}

// Question: must every element be compared with the largest so far?
// Changes:  a thread keeps the largest element and the first pack that has it, one comparison for each pack. The team
//           reduces the maximum, then the pack; the one thread that has it loads it again, for the column.
// Cost:     one read, and 16 bytes of each row again; some two instructions for each element; two reductions.
template <class FormT, class T>
__global__ void __launch_bounds__(FormT::Team::kBlock, FormT::kPerSm)
    argmax_packs(Rows<T, unsigned> in) {
  typename FormT::Team team;
  const auto packs = static_cast<unsigned>(in.width / kPack<T>);
  for_rows<FormT>(in.rows, [&](std::size_t first) {
    float most[FormT::kRows];
    unsigned pack[FormT::kRows];  // the first one that has it
#pragma unroll
    for (unsigned r = 0; r < FormT::kRows; ++r) {
      most[r] = -INFINITY;
      pack[r] = Slice<FormT, T>::at(0);
    }
    unsigned base = 0;  // the first pack of the round
    for_rounds<FormT, T>(in.d_x, in.rows, in.width, first, [&](auto& slice, unsigned r) {
#pragma unroll
      for (unsigned k = 0; k < FormT::kPacks; ++k) {
        if (!slice.has(k)) continue;
        const float x = max_of_pack<T>(slice.bits[k]);
        if (x > most[r] || (isnan(x) && !isnan(most[r]))) {
          most[r] = x;
          pack[r] = base + slice.at(k);
        }
      }
      if (r + 1 == FormT::kRows) base += FormT::kPacks * FormT::Team::kThreads;
    });
#pragma unroll
    for (unsigned r = 0; r < FormT::kRows; ++r) {
      const std::size_t row = Reader<FormT, T>::row_of(first, r);
      const unsigned mine = ordered_bits(most[r]);
      const bool is_largest = team.reduce(mine, course::Max{}) == mine && pack[r] < packs;
      // Of packs with equal elements the first one counts: one thread has it.
      const unsigned first_pack = team.reduce(is_largest ? pack[r] : packs, course::Min{});
      if (!is_largest || pack[r] != first_pack || row >= in.rows) continue;
      const T* const d_pack = in.d_x + row * in.width + std::size_t{first_pack} * kPack<T>;
      float x[kPack<T>];
      to_floats<T>(course::load_16_bytes<FormT::kHint>(d_pack), x);
      unsigned column = 0;
      for (unsigned e = kPack<T>; e-- > 0;) {  // a NaN is there only if it is the largest
        if (x[e] == most[r] || isnan(x[e])) column = first_pack * kPack<T> + e;
      }
      in.d_y[row] = column;
    }
  });
}

/// Sets in.d_y[r] to the column of the largest element of row r.
template <class FormT, class T>
void launch_argmax_packs(const Rows<T, unsigned>& in, bool resident_only = false) {
  course::launch(argmax_packs<FormT, T>,
                 grid_for_rows<FormT, argmax_packs<FormT, T>>(in.rows, resident_only), in);
}

// Question: and for rows that do not consist of packs?
// Changes:  one element per load, a block for each row.
// Cost:     one read, in more loads.
template <class T>
__global__ void __launch_bounds__(kArgmaxBlock) argmax_by_block(Rows<T, unsigned> in) {
  const T* const d_row = in.d_x + std::size_t{blockIdx.x} * in.width;
  unsigned most = 0, column = 0;
  for (std::size_t c = threadIdx.x; c < in.width; c += kArgmaxBlock) {
    const unsigned ordered = ordered_bits(static_cast<float>(d_row[c]));
    if (ordered > most) {
      most = ordered;
      column = static_cast<unsigned>(c);
    }
  }
  const unsigned long long all = course::block_reduce(key_of(most, column), course::Max{});
  if (threadIdx.x == 0) in.d_y[blockIdx.x] = column_of(all);
}

template <class T>
void launch_argmax_by_block(const Rows<T, unsigned>& in) {
  course::launch(argmax_by_block<T>, {static_cast<unsigned>(in.rows), kArgmaxBlock}, in);
}

/// Sets in.d_y[r] to the column of the largest element of row r, for rows of any length from 1 on, and any start.
template <class T>
void launch_argmax(const Rows<T, unsigned>& in) {
  if (!fits_packs<T>(in.d_x, in.width)) return launch_argmax_by_block(in);
  with_reading_form<T>(in.width, [&]<class FormT>() {
    // A short row has few packs for each thread, and two reductions and a load take longer than it.
    if constexpr (FormT::Team::kThreads < course::kWarpSize) {
      launch_argmax_rows<FormT>(in);
    } else {
      launch_argmax_packs<FormT>(in);
    }
  });
}
