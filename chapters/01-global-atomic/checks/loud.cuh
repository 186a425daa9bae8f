// Samples for the check of ticket, and what it says of a list of hits.
#pragma once

#include <algorithm>
#include <cmath>
#include <course/check.cuh>
#include <course/guarded.cuh>
#include <cstddef>
#include <map>
#include <string>
#include <vector>

namespace loud {

constexpr float kLimit = 1.25f, kLoud = 9.0f;
constexpr unsigned kUnwritten = 0xA5A5'A5A5;  // what the list holds where no thread wrote

/// k/8, with k from 1 to 15, some at the limit.
inline float eighths(course::Element e) { return static_cast<float>(1 + e.random % 15) / 8; }

inline const float kSpecial[] = {
    NAN, INFINITY, -INFINITY, kLimit, kLimit + 0x1p-23f, kLimit - 0x1p-23f, -2.0f, 0.0f};

/// Some kinds are used by name: their indices.
enum Kind { some, all_loud, none_loud, only_last, specials };
inline const course::DataKind<float> kKinds[] = {
    {"some are loud", eighths},
    {"all are loud", [](course::Element e) { return eighths(e) + 2.0f; }},
    {"none is loud", [](course::Element e) { return eighths(e) - 2.0f; }},
    {"only the last one is loud", [](course::Element e) { return e.i + 1 == e.n ? kLoud : 0.0f; }},
    {"NaN, infinities, zeros, and values next to 1.25",
     [](course::Element e) { return kSpecial[e.i % std::size(kSpecial)]; }}};

/// What to call some kinds where the limit is another one.
inline const std::map<Kind, std::string> kMixedTexts = {{some, "k/8, with k from 1 to 15"},
                                                        {none_loud, "k/8 - 2, with k from 1 to 15"},
                                                        {specials, kKinds[specials].text}};

inline std::vector<unsigned> indices_above(const std::vector<float>& samples, float limit) {
  std::vector<unsigned> hits;
  for (std::size_t i = 0; i < samples.size(); ++i) {
    if (samples[i] > limit) hits.push_back(static_cast<unsigned>(i));
  }
  return hits;
}

inline std::vector<unsigned> part(const std::vector<unsigned>& v, std::size_t first,
                                  std::size_t last) {
  const auto at = [&](std::size_t i) { return v.begin() + static_cast<std::ptrdiff_t>(i); };
  return {at(first), at(last)};
}

/// "samples[7] = 1.5 is not above the limit"
inline std::string about(unsigned i, const std::vector<float>& samples) {
  const std::string name = "samples[" + std::to_string(i) + "]";
  if (i >= samples.size()) return "there is no " + name;
  return name + " = " + course::number_text(samples[i]) + " is not above the limit";
}

/// Ok if the places from hits[first] on hold each an index of its own out of `expected`: all of
/// them where there are as many places.
inline course::Verdict filled_with(const std::vector<unsigned>& added, std::size_t first,
                                   const std::vector<unsigned>& expected,
                                   const std::vector<float>& samples) {
  std::map<unsigned, std::size_t> place_of;
  for (std::size_t k = 0; k < added.size(); ++k) {
    const std::string place = "hits[" + std::to_string(first + k) + "]: ";
    const std::string value = std::to_string(added[k]);
    if (added[k] == kUnwritten) {
      return {false, place + "no index was written to this element"};
    }
    if (!std::binary_search(expected.begin(), expected.end(), added[k])) {
      return {false, place + "found " + value + ", but " + about(added[k], samples)};
    }
    const auto [earlier, is_new] = place_of.emplace(added[k], first + k);
    if (!is_new) {
      return {false, place + "found " + value + ", which is in hits[" +
                         std::to_string(earlier->second) + "] already"};
    }
  }
  return {};
}

/// A list in device memory, and its counter. (nvcc 13.0 never finishes with a REQUIRE in a member
/// function, so the functions that check are free ones.)
struct List {
  explicit List(unsigned places) : hits(places), counter(1), capacity(places) {
    hits.fill_bytes(kUnwritten & 0xFF);
    counter.fill_bytes(0);
  }
  unsigned required() const { return counter.download().front(); }

  course::GuardedBuffer<unsigned> hits, counter;
  unsigned capacity;
};

}  // namespace loud
