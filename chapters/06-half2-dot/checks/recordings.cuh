// The data of the check of fix_half2_dot: pairs of stereo recordings of every kind.
#pragma once

#include <cuda_fp16.h>

#include <cmath>
#include <course/data.cuh>
#include <course/guarded.cuh>
#include <course/verdict.cuh>
#include <cstddef>
#include <string>
#include <vector>

namespace recordings {

/// One sample of both recordings, each with a left (x) and a right (y) channel.
struct Sample {
  float2 a, b;
};

/// A kind of recordings: how the noise of sample i of n, 1/8 to 15/8 and in the right channel of b
/// below zero, becomes a sample.
struct Kind {
  std::string text;
  Sample (*sample)(std::size_t i, std::size_t n, Sample noise);
  bool rounded = false;  // float sums of the exact products are rounded
};

inline Sample level(float value) {
  const float2 both = make_float2(value, value);
  return {both, both};
}
inline Sample silent(Sample noise) { return {make_float2(0.0f, 0.0f), noise.b}; }

using Index = std::size_t;
inline const Kind kNoise{"multiples of 1/8 from 1/8 to 15/8 in no order",
                         [](Index, Index, Sample noise) { return noise; }};
inline const Kind kTone{"all samples are 1", [](Index, Index, Sample) { return level(1.0f); }};
/// Loud in one part alone.
inline const Kind kParts[] = {
    {"a is 0 except for the last 7 samples",
     [](Index i, Index n, Sample noise) { return i + 7 < n ? silent(noise) : noise; }},
    {"a is 0 from sample 7 on",
     [](Index i, Index, Sample noise) { return i >= 7 ? silent(noise) : noise; }},
    {"a is 0 except for sample n / 2",
     [](Index i, Index n, Sample noise) { return i != n / 2 ? silent(noise) : noise; }},
};
/// Products that a half cannot hold.
inline const Kind kExactness[] = {
    {"all samples are 1 + 511/1024: their products have 22 bits",
     [](Index, Index, Sample) { return level(1.0f + 511.0f / 1024); }, true},
    {"300 times 300: more than a half can hold",
     [](Index, Index, Sample) { return level(300.0f); }},
    {"65504 times 65504: the largest product of two halves",
     [](Index, Index, Sample) { return level(65504.0f); }, true},
    {"2^-13 times 2^-13: less than a half can hold",
     [](Index, Index, Sample) { return level(0x1p-13f); }},
    {"2^-24 times 2^-24: the smallest product of two halves",
     [](Index, Index, Sample) { return level(0x1p-24f); }},
};

/// Every kind but the tone.
inline std::vector<Kind> all_kinds() {
  std::vector<Kind> kinds = {kNoise};
  kinds.insert(kinds.end(), std::begin(kParts), std::end(kParts));
  kinds.insert(kinds.end(), std::begin(kExactness), std::end(kExactness));
  return kinds;
}

/// Where the recordings begin: samples past a multiple of 64 bytes.
struct Starts {
  std::size_t a, b;
};

/// Two recordings, and what their channels' dot products are.
struct Recordings {
  std::vector<__half2> a, b;
  double left = 0, right = 0;
  double tolerance = 0;  // of float sums of exact products, in any order
};

inline Recordings record(const Kind& kind, std::size_t n) {
  const std::vector<float> left_a = course::position_values<float>(n, 1);
  const std::vector<float> left_b = course::position_values<float>(n, 2);
  const std::vector<float> right_a = course::position_values<float>(n, 3);
  const std::vector<float> right_b = course::position_values<float>(n, 4);
  Recordings r;
  for (std::size_t i = 0; i < n; ++i) {
    const Sample noise{make_float2(left_a[i], right_a[i]), make_float2(left_b[i], -right_b[i])};
    const auto [a, b] = kind.sample(i, n, noise);
    r.a.push_back(__floats2half2_rn(a.x, a.y));
    r.b.push_back(__floats2half2_rn(b.x, b.y));
    r.left += static_cast<double>(a.x) * static_cast<double>(b.x);
    r.right += static_cast<double>(a.y) * static_cast<double>(b.y);
  }
  if (kind.rounded) r.tolerance = static_cast<double>(n) * course::kFloatRoundoff * r.left;
  return r;
}

constexpr const char* kLeft = "the left channel (.x), summed over all blocks";
constexpr const char* kRight = "the right channel (.y), summed over all blocks";

/// Both channels of the results of all blocks, summed.
struct Sums {
  double left = 0, right = 0;
};

inline Sums sums_of(const course::GuardedBuffer<float2>& results) {
  Sums sums;
  for (const float2& part : results.download()) {
    sums.left += static_cast<double>(part.x);
    sums.right += static_cast<double>(part.y);
  }
  return sums;
}

/// A recording with itself; its squares are exact in float.
inline Recordings with_itself(const std::vector<__half2>& x) {
  Recordings r{x, x};
  for (const __half2& sample : x) {
    const float2 both = __half22float2(sample);
    r.left += static_cast<double>(both.x * both.x);
    r.right += static_cast<double>(both.y * both.y);
  }
  return r;
}

/// Ok if both are NaN, or the same number or infinity.
inline course::Verdict same_or_nan(double found, double expected, const std::string& channel) {
  if (std::isnan(expected) && std::isnan(found)) return {};
  return course::same(found, expected, channel);
}

}  // namespace recordings
