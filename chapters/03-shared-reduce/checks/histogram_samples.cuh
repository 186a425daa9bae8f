// The data of the check of shared_histogram: samples of every kind, and the counts of their levels.
#pragma once

#include <course/cases.cuh>
#include <cstddef>
#include <vector>

namespace histogram_samples {

inline constexpr unsigned kSampleLevels = 16384;  // values of a sample that is not broken

using Samples = std::vector<unsigned short>;

inline unsigned short sample(unsigned level) { return static_cast<unsigned short>(level); }

/// Some kinds are used by name: their indices.
enum Kind { mixed, few, broken, highest, neighbours };
inline const course::DataKind<unsigned short> kKinds[] = {
    {"all levels",
     [](course::Element e) {
       return sample((e.random * 7919u + static_cast<unsigned>(e.i) * 31) % kSampleLevels);
     }},
    {"a few levels, each many times",
     [](course::Element e) { return sample(5000u + e.random % 7); }},
    {"one in three is broken, from 16384 to 65535",
     [](course::Element e) {
       const unsigned r = e.random;
       return sample(r % 3 == 0   ? kSampleLevels + r * 49 % (65536 - kSampleLevels)
                     : r % 3 == 1 ? 65535 - r % 2
                                  : r * 16);
     }},
    {"the levels 0, 1, 16382, 16383, and the broken 16384",
     [](course::Element e) {
       constexpr unsigned kHighest[] = {0, 1, 16382, 16383, 16384};
       return sample(kHighest[e.random % 5]);
     }},
    {"levels that share a word, one far more often than the other", [](course::Element e) {
       return sample(8000u + (e.random % 40 == 0 ? 1 : 0) + 2 * (e.random % 2));
     }}};

inline std::vector<unsigned> reference(const Samples& samples, std::vector<unsigned> bins) {
  for (const unsigned v : samples) {
    if (v < kSampleLevels) ++bins[v];
  }
  return bins;
}

/// Bins that hold something already, different in each.
inline std::vector<unsigned> earlier_counts() {
  std::vector<unsigned> bins(kSampleLevels);
  for (unsigned v = 0; v < kSampleLevels; ++v) bins[v] = v % 1000 * 70'000;
  return bins;
}

}  // namespace histogram_samples
