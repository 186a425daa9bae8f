// For the check of ordered_filter: numbers in runs.
#pragma once

#include <climits>
#include <course/cases.cuh>
#include <cstddef>
#include <string>
#include <vector>

namespace runs {

/// Numbers that are equal to their neighbour, or differ from it, one by one.
struct Kind {
  std::string text;
  int (*number)(course::Element e, int before);  // `before` is the number before this one

  std::vector<int> values(std::size_t n) const {
    int before = 0;
    const auto next = [&](course::Element e) { return before = number(e, before); };
    return course::DataKind<int>{text, next}.values(n);
  }
};

using E = course::Element;
const Kind kShortRuns{"runs of 1 to 4 equal numbers", [](E e, int before) {
                        return e.i == 0 || e.random % 5 < 2 ? e.random : before;
                      }};
const Kind kAllDiffer{"no two neighbours are equal",
                      [](E e, int) { return static_cast<int>(e.i * 5 % 10'007); }};
const Kind kTwoValues{"INT_MIN and INT_MAX in no order",
                      [](E e, int) { return e.random % 2 == 0 ? INT_MIN : INT_MAX; }};
const Kind kKinds[] = {
    {"all are 0", [](E, int) { return 0; }},
    kAllDiffer,
    kShortRuns,
    {"runs of 100 equal numbers", [](E e, int) { return -static_cast<int>(e.i / 100); }},
    kTwoValues,
    {"the last one alone differs", [](E e, int) { return e.i + 1 == e.n ? -1 : 7; }},
    {"runs of 32 equal numbers", [](E e, int) { return static_cast<int>(e.i / 32 % 2); }},
    {"neighbours are equal, differ in one bit, or in their sign", [](E e, int before) {
       const unsigned last = e.i == 0 ? 0x4000'0001u : static_cast<unsigned>(before);
       const unsigned next[] = {last, last ^ 1u << e.i / 4 % 32, 0u - last, last ^ 1u};
       return static_cast<int>(next[e.i % 4]);
     }}};

}  // namespace runs
