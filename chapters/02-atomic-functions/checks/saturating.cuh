// What the check of atomic_add_saturating adds, and which answers some order of the threads
// explains.
#pragma once

#include <algorithm>
#include <course/check.cuh>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "chain.cuh"

namespace saturating {

/// What the exercise promises, with 64 bits.
inline unsigned saturated(unsigned old, unsigned value, unsigned limit) {
  if (old > limit) return old;
  const std::uint64_t sum = std::uint64_t{old} + value;
  return static_cast<unsigned>(std::min<std::uint64_t>(sum, limit));
}

struct Input {
  std::vector<unsigned> values, limits;
};

/// What many threads add: the values, and how the limit follows from n and the sum of all.
struct Kind {
  std::string text;
  unsigned (*value)(unsigned random);
  std::uint64_t (*limit)(std::uint64_t sum, std::size_t n);
  void (*own_limits)(Input& input, std::uint64_t sum) = nullptr;  // one per thread
};

inline unsigned as_it_is(unsigned random) { return random; }

inline const Kind kJustFits{"the sum is the limit", as_it_is,
                            [](std::uint64_t sum, std::size_t) { return sum; }};
inline const Kind kOverflows{"the limit is half of the sum", as_it_is,
                             [](std::uint64_t sum, std::size_t) { return sum / 2; }};
inline const Kind kOnes{
    "ones, and a limit of n - 10", [](unsigned) { return 1u; },
    [](std::uint64_t sum, std::size_t n) { return sum - std::min<std::uint64_t>(n, 10); }};
inline const Kind kManyLimits{"each thread has its own limit, some a limit of 0, some a value of 0",
                              as_it_is, [](std::uint64_t sum, std::size_t) { return sum; },
                              [](Input& input, std::uint64_t sum) {
                                for (std::size_t i = 0; i < input.limits.size(); ++i) {
                                  input.limits[i] = static_cast<unsigned>(sum * (i % 7) / 8);
                                  if (i % 5 == 2) input.values[i] = 0;  // and returns what is there
                                }
                              }};
inline const Kind kFills{"each value alone fills the cell up to its thread's own limit", as_it_is,
                         [](std::uint64_t sum, std::size_t) { return sum; },
                         [](Input& input, std::uint64_t) {
                           for (std::size_t i = 0; i < input.limits.size(); ++i) {
                             input.values[i] = input.limits[i] =
                                 static_cast<unsigned>(10 * (i + 1));
                           }
                         }};
inline const Kind kKinds[] = {
    {"the limit is not reached", as_it_is,
     [](std::uint64_t sum, std::size_t) { return sum + 1'000'000; }},
    kJustFits,
    kOverflows,
    kOnes,
    {"values beyond 2^31, and the largest limit",
     [](unsigned random) { return 0x8000'0000u + random; },
     [](std::uint64_t, std::size_t) { return std::uint64_t{0xFFFF'FFFF}; }},
    kManyLimits,
    kFills,
    {"the limit is 0", as_it_is, [](std::uint64_t, std::size_t) { return std::uint64_t{0}; }}};

constexpr unsigned kFirst = 5;  // what the cell holds before

inline Input make_input(const Kind& kind, std::size_t n) {
  Input input{course::position_values<unsigned>(n), {}};
  std::uint64_t sum = kFirst;
  for (unsigned& value : input.values) sum += value = kind.value(value);
  input.limits.assign(n, static_cast<unsigned>(kind.limit(sum, n)));
  if (kind.own_limits != nullptr) kind.own_limits(input, sum);
  return input;
}

/// Ok if some order of the threads explains what they found, and what is left.
inline course::Verdict explained(const Input& input, const std::vector<unsigned>& found,
                                 std::size_t begin, unsigned last) {
  std::vector<unsigned> left(found.size());
  unsigned most = kFirst;
  for (std::size_t i = 0; i < found.size(); ++i) {
    left[i] = saturated(found[i], input.values[begin + i], input.limits[begin + i]);
    most = std::max(most, input.limits[begin + i]);
  }
  for (std::size_t i = 0; i < found.size(); ++i) {
    if (found[i] > most) {
      return {false, "returned[" + std::to_string(begin + i) + "]: a thread found " +
                         std::to_string(found[i]) + ", more than the limit of " +
                         std::to_string(most)};
    }
  }
  if (last > most) {
    return {false, "the cell holds " + std::to_string(last) + ", more than the limit of " +
                       std::to_string(most)};
  }
  return one_chain(found, left, kFirst, last);
}

}  // namespace saturating
