// Exercise index_add_rows: weighted rows of bfloat16, of any width, at any address.
//
// This is the gradient of an embedding again, with a weight for each row and rows of any width.
// With 7 columns, every second row of the table begins in the middle of a word.
//
// Try it: ./course check index_add_rows
#pragma once

#include <cuda_bf16.h>

#include <course/error.cuh>
#include <course/exercise.cuh>
#include <cstddef>
#include <cstdint>

/// table[index[r]][c] += weight[r] * source[r][c] for all rows r < rows and columns c < width.
/// - `source` has rows x width elements, `table` has table_rows x width, both row by row without
///   gaps. 0 <= index[r] < table_rows; several rows may have the same index.
/// - `source` and `table` begin at multiples of 2 bytes, perhaps not of 4. The width may be odd.
///   The table may have more than 2^32 elements.
/// - What is added is weight * element, computed in float and rounded once, by __float2bfloat16_rn.
///   It is always added, even if it is 0 or NaN. Additions to the same element come in any order.
/// - No other element changes, not even the sign of a zero. Memory outside of the table is neither
///   read nor written.
/// - A row makes no more than one atomic for each word (4 bytes at a multiple of 4) of the table in
///   which it has elements: atomicAdd(__nv_bfloat162*, __nv_bfloat162) adds to both halves.
///   atomicAdd(__nv_bfloat16*, __nv_bfloat16), which is a loop, is only for a word that is partly
///   outside of the table.
/// - The grid has one dimension and any number of blocks of any size; its threads share the work,
///   and neighbouring threads take neighbouring words of a row.
__global__ void index_add_rows(const __nv_bfloat16* source, const int* index, const float* weight,
                               std::size_t rows, std::size_t width, std::size_t table_rows,
                               __nv_bfloat16* table) {
  const std::size_t words = width / 2 + 1, length = table_rows * width;  // words: of a row, at most
  const std::size_t stride = std::size_t{gridDim.x} * blockDim.x;
  for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < rows * words;
       i += stride) {
    const std::size_t r = i / words;
    const std::size_t begin = static_cast<std::size_t>(index[r]) * width;  // the row's elements
    const std::size_t odd = reinterpret_cast<std::uintptr_t>(table + begin) / sizeof(table[0]) % 2;
    // The word holds the columns `column - 1` and `column` of this row, as far as it has them.
    const std::size_t column = 2 * (i % words) + 1 - odd;
    const bool has_low = column > 0 && column - 1 < width, has_high = column < width;
    if (!has_low && !has_high) continue;

    const __nv_bfloat16* const x = source + r * width;
    __nv_bfloat16 low = __ushort_as_bfloat16(0x8000), high = low;  // -0.0: adds nothing to anything
    if (has_low) low = __float2bfloat16_rn(weight[r] * __bfloat162float(x[column - 1]));
    if (has_high) high = __float2bfloat16_rn(weight[r] * __bfloat162float(x[column]));
    const std::size_t at = begin + column;  // of the word's upper half
    if (at > 0 && at < length) {
      atomicAdd(reinterpret_cast<__nv_bfloat162*>(table + (at - 1)), __halves2bfloat162(low, high));
    } else {  // half of the word lies outside of the table
      atomicAdd(table + (has_low ? at - 1 : at), has_low ? low : high);
    }
  }
}
