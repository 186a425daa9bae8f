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

NOT_STARTED  // delete this line when you begin

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
  // TODO(you): add the weighted rows to the table.
  (void)source, (void)index, (void)weight, (void)rows, (void)width;  // delete this
  (void)table_rows, (void)table;                                     // and this
}
