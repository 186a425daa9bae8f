// The first byte that two copies have in common.
#include "checker/rows.hpp"

#include <algorithm>

namespace simt {

std::uintptr_t first_common(const Rows& rows, std::uintptr_t begin, std::uintptr_t end) {
  if (end <= rows.begin || begin >= rows.end()) return end;
  if (begin < rows.begin) return rows.begin;
  const std::size_t row = (begin - rows.begin) / rows.pitch;
  const std::uintptr_t start = rows.begin + row * rows.pitch;
  if (begin < start + rows.width) return begin;
  const bool is_last = row + 1 == rows.height;
  return is_last ? end : std::min(end, start + rows.pitch);
}

std::uintptr_t first_common(const Rows& a, const Rows& b) {
  if (a.end() <= b.begin || b.end() <= a.begin) return 0;
  for (std::size_t row = 0; row < a.height; ++row) {
    const std::uintptr_t begin = a.begin + row * a.pitch, end = begin + a.width;
    const std::uintptr_t common = first_common(b, begin, end);
    if (common < end) return common;
  }
  return 0;
}

}  // namespace simt
