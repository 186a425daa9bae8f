// Where the arrays of a case begin: each at every place, also where a wide load or store may begin, and not all at the same one.
#pragma once

#include <array>
#include <course/check.cuh>
#include <cstddef>
#include <string>

namespace scan_checks {

/// So many elements after a multiple of 64 bytes four arrays begin, for n elements.
inline std::array<std::size_t, 4> starts_of(std::size_t n) {
  return {n % 4, (n + n / 4) % 4, (n + n / 8) % 4, (n + n / 16) % 4};
}

/// "x begins 4 bytes after a multiple of 64".
inline std::string start_text(const std::string& name, std::size_t elements, std::size_t size) {
  return name + " begins " + course::counted(elements * size, "byte") + " after a multiple of 64";
}

}  // namespace scan_checks
