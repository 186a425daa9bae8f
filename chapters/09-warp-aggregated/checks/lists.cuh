// For the check of agg_inc_keyed: kinds of keys, lists with an end, and the places that their calls
// must get.
#pragma once

#include <algorithm>
#include <array>
#include <climits>
#include <course/cases.cuh>
#include <course/verdict.cuh>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "checks/callers.cuh"

namespace lists {

constexpr int kKeys = 80;                 // in each of the two sets of lists
constexpr unsigned kFull = 0xffff'ffffu;  // the exercise's kNoPlace

using Kind = course::DataKind<int>;
using E = course::Element;
const Kind kOne{"all have key 5", [](E) { return 5; }};
const Kind kFew{"keys 0 to 3, in no order", [](E e) { return e.random % 4; }};
const Kind kOwn{"each lane has a key of its own",
                [](E e) { return static_cast<int>(e.i * 7 % kKeys); }};
const Kind kHalfNegative{"half of the keys are negative, of several kinds; others are 0, 1 and 79",
                         [](E e) { return std::array{-1, 0, -7, 79, INT_MIN, 1}[e.random % 6]; }};
const Kind kNegative{"all keys are negative", [](E e) { return -1 - e.random % 60; }};
const Kind kNeighbors{"eight neighbours have the same key",
                      [](E e) { return static_cast<int>(e.i / 8 % 9); }};
const Kind kKinds[] = {kOne, kFew, kOwn, kHalfNegative, kNegative, kNeighbors};

const Kind kOneBit{"keys 5, and those that differ from it in one bit, as 7, 69, 261 and 65541",
                   [](E e) {  // with bit 0, ..., 16 or 31 changed
                     if (e.i % 3 == 0) return 5;
                     return e.i % 18 == 17 ? INT_MIN + 5 : 5 ^ 1 << e.i % 17;
                   }};

struct Lists {
  unsigned capacity, start;  // list k holds `start` + k items already
  std::size_t number = 2 * kKeys;
};

/// The answers of all calls for one list: all places that were free, and kFull for the others.
inline course::Verdict places_of(const std::vector<unsigned>& found, std::size_t list,
                                 unsigned start, unsigned capacity) {
  std::vector<unsigned> expected;
  for (std::size_t k = 0; k < found.size(); ++k) {
    const std::uint64_t place = std::uint64_t{start} + k;
    expected.push_back(place < capacity ? static_cast<unsigned>(place) : kFull);
  }
  const auto full = [](const auto& places) { return std::ranges::count(places, kFull); };
  const char* const hint =
      full(found) > full(expected)
          ? "4294967295 is kNoPlace: a call got it although the list had free places."
      : full(expected) > 0 ? "4294967295 is kNoPlace."
                           : "";
  return course::same_set(found, expected, "places of list " + std::to_string(list), hint);
}

constexpr Lists kRoomy{100'000, 0};

inline std::string list_text(callers::Caller caller, const Kind& kind, std::size_t n,
                             const callers::Shape& shape, const Lists& lists) {
  return case_text(caller, kind.text, n, shape) + "; capacity " + std::to_string(lists.capacity) +
         ", list k holds " + std::to_string(lists.start) + " + k";
}

}  // namespace lists
