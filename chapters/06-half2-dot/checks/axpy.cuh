// The data of the check of half2_axpy: where arrays begin, halves that are easily rounded wrong,
// and the bits of the results.
#pragma once

#include <cuda_fp16.h>

#include <course/buffer.cuh>
#include <course/cases.cuh>
#include <course/data.cuh>
#include <course/verdict.cuh>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <random>
#include <string>
#include <vector>

namespace axpy {

using Bits = std::vector<unsigned short>;  // of halves

/// The bits of an element of x and of y.
struct Element {
  unsigned short x, y;
};

/// A kind of data: a, and elements made of two random numbers of 32 bits. `plain` is an element
/// whose x and y are from 1/8 to 15/8.
struct Kind {
  std::string text;
  float a;
  Element (*element)(unsigned r, unsigned q, Element plain);
};

inline unsigned short cut(unsigned bits) { return static_cast<unsigned short>(bits); }

/// A half with any mantissa, from 1/4 up to 4, positive or negative.
inline unsigned short dense_bits(unsigned random) {
  return cut((random & 0x83ff) | (13 + random / 65'536 % 4) << 10);
}

/// Where the arrays begin: halves past a multiple of 16 bytes.
struct Starts {
  std::size_t x, y;
};

/// n halves from element `first` on; waits for the kernels before it.
inline Bits part(const course::DeviceBuffer<unsigned short>& x, std::size_t first, std::size_t n) {
  Bits bits(n);
  if (n > 0) CUDA_CHECK(cudaMemcpy(bits.data(), x.data() + first, 2 * n, cudaMemcpyDeviceToHost));
  return bits;
}

/// Any halves, and often the awkward ones.
inline Element any_halves(unsigned r, unsigned q, Element) {
  Element e{cut(r >> 8), cut(q >> 8)};
  if (r % 8 == 0) e.x &= 0x83ff;                        // 0 and subnormals
  if (r % 8 == 1) e.x |= 0x7c00;                        // NaN
  if (r % 8 == 2) e.x &= 0x8000;                        // 0 and -0
  if (r % 32 == 3) e.x = cut((e.x & 0x8000) | 0x7c00);  // infinity
  if (q % 8 == 0) e.y &= 0x83ff;
  if (q % 8 == 1) e.y &= 0x8000;
  if (q % 32 == 2) e.y = 0xfc00;
  return e;
}

inline const Kind kPlain{"a = 2, x and y from 1/8 to 15/8", 2.0f,
                         [](unsigned, unsigned, Element plain) { return plain; }};
inline const Kind kDense{"a = 1.0224609375, x and y with all of their 11 bits", 1.0f + 23.0f / 1024,
                         [](unsigned r, unsigned q, Element) {
                           return Element{dense_bits(r >> 8), dense_bits(q >> 8)};
                         }};
/// a * x = 2^-11 (1 - 2^-20) or half of it, ...: less than half of y's last bit, which is a 1. In
/// float the sum is the middle between two halves, and goes to the wrong one.
inline const Kind kTie{"a = 1 + 1/1024, a * x just off the middle between two halves",
                       1.0f + 1.0f / 1024, [](unsigned r, unsigned q, Element) {
                         const unsigned exponent = 4 + r % 14, sign = (r >> 16 & 1) << 15;
                         return Element{cut(sign | exponent << 10 | 0x3fe),
                                        cut(sign | (exponent + 12) << 10 | (q % 512 * 2 + 1))};
                       }};
inline const Kind kAll{"a = -1.5, x and y are any halves: subnormals, infinities, NaN, -0", -1.5f,
                       any_halves};
/// a as the text names it: 0, -0, infinities and NaN, and what is next to them.
inline const Kind kExtremes[] = {
    {"a = 0, x and y are any halves", 0.0f, any_halves},
    {"a = 2^-24, the smallest half; x is any half, y a small one", 0x1p-24f,
     [](unsigned r, unsigned q, Element plain) {
       Element e = any_halves(r, q, plain);
       e.y &= 0x9fff;  // below 2^-7, as products are
       return e;
     }},
    {"a = 65504, the largest half; x and y are any halves", 65504.0f, any_halves},
    {"a = -0, x and y are any halves", -0.0f, any_halves},
    {"a is infinite, x and y are any halves", std::numeric_limits<float>::infinity(), any_halves},
    {"a = -inf, x and y are any halves", -std::numeric_limits<float>::infinity(), any_halves},
    {"a is NaN, x and y are any halves", std::numeric_limits<float>::quiet_NaN(), any_halves},
};
inline const Kind kKinds[] = {kPlain, kDense, kTie, kAll};

inline __half half_of(unsigned short bits) {
  __half_raw raw;
  raw.x = bits;
  return __half(raw);
}
inline unsigned short bits_of(__half x) { return static_cast<__half_raw>(x).x; }

/// a * x + y in double, where it is exact or close enough to it, rounded to half once.
inline unsigned short axpy_bits(__half a, Element e) {
  const double product =
      static_cast<double>(__half2float(a)) * static_cast<double>(__half2float(half_of(e.x)));
  return bits_of(__double2half(product + static_cast<double>(__half2float(half_of(e.y)))));
}

struct Numbers {
  __half a;
  Bits x, y, expected;
};

inline Numbers make_numbers(const Kind& kind, std::size_t n) {
  std::mt19937 random(static_cast<std::uint32_t>(n + 1));
  Numbers numbers{__float2half_rn(kind.a), {}, {}, {}};
  const std::vector<__half> x = course::position_values<__half>(n, 1);
  const std::vector<__half> y = course::position_values<__half>(n, 2);
  for (std::size_t i = 0; i < n; ++i) {
    const auto r = static_cast<unsigned>(random()), q = static_cast<unsigned>(random());
    const Element e = kind.element(r, q, {bits_of(x[i]), bits_of(y[i])});
    numbers.x.push_back(e.x);
    numbers.y.push_back(e.y);
    numbers.expected.push_back(axpy_bits(numbers.a, e));
  }
  return numbers;
}

inline bool is_nan(unsigned short bits) { return (bits & 0x7fff) > 0x7c00; }

/// "1.5 (0x3e00)"
inline std::string half_text(unsigned short bits) {
  std::string hex;
  for (int shift = 12; shift >= 0; shift -= 4) hex += "0123456789abcdef"[bits >> shift & 15];
  return course::number_text(__half2float(half_of(bits))) + " (0x" + hex + ")";
}

/// "1 of 2 elements is wrong", or how many, and which.
inline std::string count_text(std::size_t wrong, std::size_t n, std::size_t first,
                              std::size_t last) {
  if (n == 1) return "The only element is wrong";
  const std::string text = std::to_string(wrong) + " of " + std::to_string(n) + " elements";
  if (wrong == 1) return text + " is wrong";
  return text + " are wrong (first [" + std::to_string(first) + "], last [" + std::to_string(last) +
         "])";
}

/// Ok if the bits are the same, or both are NaN. Else the inputs of the first wrong element.
inline course::Verdict same_bits(const Numbers& numbers, const Bits& y) {
  std::size_t wrong = 0, unchanged = 0, first = 0, last = 0;
  for (std::size_t i = y.size(); i-- > 0;) {
    if (y[i] == numbers.expected[i] || (is_nan(y[i]) && is_nan(numbers.expected[i]))) continue;
    if (wrong++ == 0) last = i;
    if (y[i] == numbers.y[i]) ++unchanged;
    first = i;
  }
  if (wrong == 0) return {};
  return {false, "y[" + std::to_string(first) + "]: expected " +
                     half_text(numbers.expected[first]) + ", found " + half_text(y[first]) +
                     "\nIt is computed from a = " + half_text(bits_of(numbers.a)) + ", x[" +
                     std::to_string(first) + "] = " + half_text(numbers.x[first]) + " and y[" +
                     std::to_string(first) + "] = " + half_text(numbers.y[first]) + " before.\n" +
                     count_text(wrong, y.size(), first, last) +
                     (unchanged == wrong ? ", and unchanged: a * x was not added" : "")};
}

/// Ok if the halves from `first` on, counted from y[0] or x[0], still hold `before`.
inline course::Verdict unchanged(const std::string& name, long first, const Bits& now,
                                 const Bits& before, const char* why) {
  for (std::size_t i = 0; i < now.size(); ++i) {
    if (now[i] == before[i]) continue;
    return {false, name + "[" + std::to_string(first + static_cast<long>(i)) + "], " + why +
                       ": expected " + half_text(before[i]) + " as before, found " +
                       half_text(now[i])};
  }
  return {};
}

inline std::string describe(std::size_t n, Starts starts, course::LaunchShape launch) {
  return "n = " + std::to_string(n) + (n == 1 ? " half; " : " halves; ") +
         course::launch_text("half2_axpy", launch) +
         course::too_few_threads(launch, n / 2, "pairs") + "; x and y begin " +
         std::to_string(2 * starts.x) + " and " + std::to_string(2 * starts.y) +
         " bytes past a multiple of 16";
}

}  // namespace axpy
