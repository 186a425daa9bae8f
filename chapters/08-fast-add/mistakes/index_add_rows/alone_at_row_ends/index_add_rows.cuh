// Adds alone what shares its word with another row, to leave that one in peace: a compare-and-swap
// loop at the ends of the rows, where -0.0 for the other row would do.
//
// GPU: may slip through: the table is right; only the atomics are slow ones.
#pragma once

#include <cuda_bf16.h>

#include <course/error.cuh>
#include <course/exercise.cuh>
#include <cstddef>
#include <cstdint>

__global__ void index_add_rows(const __nv_bfloat16* source, const int* index, const float* weight,
                               std::size_t rows, std::size_t width, std::size_t table_rows,
                               __nv_bfloat16* table) {
  const std::size_t words = width / 2 + 1;  // of a row, at most
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
    __nv_bfloat16 low = __ushort_as_bfloat16(0x8000), high = low;
    if (has_low) low = __float2bfloat16_rn(weight[r] * __bfloat162float(x[column - 1]));
    if (has_high) high = __float2bfloat16_rn(weight[r] * __bfloat162float(x[column]));
    const std::size_t at = begin + column;  // of the word's upper half
    if (has_low && has_high) {
      atomicAdd(reinterpret_cast<__nv_bfloat162*>(table + (at - 1)), __halves2bfloat162(low, high));
    } else {  // half of the word lies outside of the row
      atomicAdd(table + (has_low ? at - 1 : at), has_low ? low : high);
    }
  }
}
