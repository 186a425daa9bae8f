// Bytes for the check of sum_bytes, and what it says of a wrong sum.
#pragma once

#include <algorithm>
#include <course/cases.cuh>
#include <course/data.cuh>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace summed {

using Bytes = course::DataKind<unsigned char>;
inline const Bytes kRandom{
    "0 to 255, in no order", [](course::Element e) {
      return static_cast<unsigned char>((static_cast<unsigned>(e.random) * 7 + e.i) % 256);
    }};
inline const Bytes kWhite{"all are 255",
                          [](course::Element) { return static_cast<unsigned char>(255); }};
inline const Bytes kEdges{"1 to 64 at both ends, 0 between them", [](course::Element e) {
                            const std::size_t from_end = std::min(e.i, e.n - 1 - e.i);
                            return static_cast<unsigned char>(from_end < 64 ? from_end + 1 : 0);
                          }};

/// What the difference says: bytes read as signed numbers, sums that are too narrow, or words that
/// were not taken apart.
inline std::string what_went_wrong(const std::vector<unsigned char>& x, unsigned long long found,
                                   unsigned long long expected) {
  const unsigned long long missing = expected - found;  // modulo 2^64
  const auto above =
      std::count_if(x.begin(), x.end(), [](unsigned char byte) { return byte > 127; });
  if (missing > 0 && missing % 65'536 == 0 && missing <= expected) {
    return "Too small by " + std::to_string(missing / 65'536) +
           " * 65536: a sum that is kept in 16 bits loses so much at each overflow.";
  }
  if (missing > 0 && missing % 256 == 0 && missing / 256 <= static_cast<std::uint64_t>(above)) {
    return "Too small by " + std::to_string(missing / 256) + " * 256, and x has " +
           course::counted(static_cast<std::size_t>(above), "byte") +
           " above 127. Read as a signed char, such a byte counts as its value - 256. (A sum that "
           "is kept in a byte loses 256 at each overflow, too.)";
  }
  if (found / 256 >= expected && found < 1ull << 63) {
    return "Far too large: x, y, z and w of a uint4 are four bytes each, and are to be taken apart.";
  }
  return x.empty() ? "" : "sum is computed from " + course::elements_text("x", x, 0, x.size());
}

inline std::string describe(std::size_t n, std::size_t offset, course::LaunchShape launch,
                            const Bytes& kind) {
  return course::case_text(
      n, "x is " + std::to_string(offset) + " bytes past a multiple of 16: " + kind.text,
      "sum_bytes", launch);
}

}  // namespace summed
