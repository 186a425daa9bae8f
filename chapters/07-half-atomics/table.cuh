// The job that most rungs of this chapter do: n numbers are added to the cells of a table.
// Rows of eight numbers go to rows of eight cells, one after another in x, far apart in the table.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>
#include <vector>

/// Cells of a row. Eight halves are 16 bytes, the most that one atomic adds.
constexpr std::size_t kRow = 8;

/// The cell that x[i] is added to. The table has row_mask + 1 rows, a power of two. Computed, not
/// read: the rungs shall differ in their atomics alone.
__host__ __device__ inline std::size_t cell_of(std::size_t i, std::size_t row_mask) {
  constexpr std::uint64_t kScatter = 0x9E37'79B9'7F4A'7C15;  // odd: every row is used
  return ((i / kRow * kScatter) & row_mask) * kRow + i % kRow;
}

/// Rung 0: the sums in double, which hold sums of halves and of floats without any rounding here.
template <class T>
std::vector<double> table_reference(const std::vector<T>& x, std::size_t rows) {
  std::vector<double> table(rows * kRow, 0.0);
  for (std::size_t i = 0; i < x.size(); ++i) {
    table[cell_of(i, rows - 1)] += static_cast<double>(static_cast<float>(x[i]));
  }
  return table;
}
