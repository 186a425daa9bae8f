// The bytes of a copy.
#pragma once

#include <cstddef>
#include <cstdint>

namespace simt {

/// Rows of `width` bytes, `pitch` bytes apart, of the device or the host.
struct Rows {
  std::uintptr_t begin;
  std::size_t width, pitch, height;

  std::uintptr_t end() const { return begin + (height - 1) * pitch + width; }
};

/// The first byte of [begin, end) that the rows have; `end` if they have none of them.
std::uintptr_t first_common(const Rows& rows, std::uintptr_t begin, std::uintptr_t end);
/// The first byte that both have; 0 if there is none.
std::uintptr_t first_common(const Rows& a, const Rows& b);

}  // namespace simt
