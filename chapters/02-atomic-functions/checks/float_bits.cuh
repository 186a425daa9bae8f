// Floats as their bits, so that nothing on the way changes a NaN.
#pragma once

#include <course/check.cuh>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

namespace float_bits {

inline float float_of(unsigned bits) {
  float x;
  std::memcpy(&x, &bits, sizeof x);
  return x;
}
inline unsigned of(float x) {
  unsigned bits;
  std::memcpy(&bits, &x, sizeof bits);
  return bits;
}
inline std::vector<unsigned> of(const std::vector<float>& x) {
  std::vector<unsigned> bits(x.size());
  if (!x.empty()) std::memcpy(bits.data(), x.data(), x.size() * sizeof(float));
  return bits;
}
template <class Buffer>
void set(Buffer& buffer, const std::vector<unsigned>& bits) {
  if (bits.empty()) return;
  CUDA_CHECK(cudaMemcpy(buffer.data(), bits.data(), bits.size() * 4, cudaMemcpyHostToDevice));
}

inline bool is_nan(unsigned bits) { return (bits & 0x7FFF'FFFFu) > 0x7F80'0000u; }

/// "-0 (0x80000000)"
inline std::string text(unsigned bits) {
  const char* const digits = "0123456789ABCDEF";
  std::string hex;
  for (int shift = 28; shift >= 0; shift -= 4) hex += digits[bits >> shift & 15u];
  const std::string sign = bits == 0x8000'0000u ? "-" : "";
  return sign + course::number_text(bits == 0x8000'0000u ? 0.0f : float_of(bits)) + " (0x" + hex +
         ")";
}

inline course::Verdict same(const std::string& what, unsigned found, unsigned expected) {
  if (found == expected) return {};
  return {false, what + ": expected " + text(expected) + ", found " + text(found)};
}

/// The position of a float in the order of all of them; a NaN is above all.
inline std::int64_t position(unsigned bits) {
  if (is_nan(bits)) return INT64_MAX;
  const auto magnitude = static_cast<std::int64_t>(bits & 0x7FFF'FFFFu);
  return (bits & 0x8000'0000u) != 0 ? -1 - magnitude : magnitude;  // -0.0 is just below 0.0
}

inline const std::vector<unsigned> kNumbers = {
    0xFF80'0000,  // -infinity
    0xFF7F'FFFF,  // the lowest finite one
    0xC000'0000,  // -2
    0xBF80'0000,  // -1
    0x8080'0000,  // the largest normal one below zero
    0x8000'0001,  // the largest one below zero
    0x8000'0000,  // -0
    0x0000'0000,  // 0
    0x0000'0001,  // the smallest one above zero
    0x0080'0000,  // the smallest normal one
    0x3F80'0000,  // 1
    0x3F80'0001,  // next to 1
    0x4000'0000,  // 2
    0x7F7F'FFFF,  // the largest finite one
    0x7F80'0000,  // infinity
};

}  // namespace float_bits
