// For the check of fast_atomic_add_u16: counters of 16 bits, what is added to them, and how many
// atomics that may take.
#pragma once

#include <course/cases.cuh>
#include <course/data.cuh>
#include <course/device.cuh>
#include <course/verdict.cuh>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace small_counters {

using u16 = unsigned short;

/// What the counters hold before: `first` and up to `spread` - 1 more; and what is added.
struct Kind {
  unsigned first, spread;
  course::DataKind<u16> values;
};
inline const Kind kOnes{0, 1, {"ones, to counters that hold 0", [](auto) { return u16{1}; }}};
inline const Kind kSmall{65000, 536, {"0 to 999, to counters that hold 65000 and more", [](auto e) {
                                        return static_cast<u16>(e.random - 1);
                                      }}};
inline const Kind kLarge{1, 1, {"40000 to 65535, to counters that hold 1", [](auto e) {
                                  return static_cast<u16>(40000 + e.random * 25);
                                }}};
inline const Kind kFull{65535, 1, {"ones, to counters that hold 65535", kOnes.values.element}};

struct Input {
  std::vector<u16> first, values;
  std::vector<unsigned> index;
};
/// n additions to counters in no order.
inline Input make_input(const Kind& kind, std::size_t length, std::size_t n) {
  Input input{{}, kind.values.values(n), course::position_values<unsigned>(n, 2)};
  for (const unsigned r : course::position_values<unsigned>(length, 3)) {
    input.first.push_back(static_cast<u16>(kind.first + r % kind.spread));
  }
  for (unsigned& index : input.index) index %= static_cast<unsigned>(length);
  return input;
}

/// What the counters hold after, without the wrap at 65536.
inline std::vector<std::uint64_t> sums(const Input& input, unsigned launches = 1) {
  std::vector<std::uint64_t> sums(input.first.begin(), input.first.end());
  for (std::size_t i = 0; i < input.index.size(); ++i)
    sums[input.index[i]] += launches * input.values[i];
  return sums;
}

/// "its first value 65000 and 3 added values: 17, 25, 4".
inline std::string inputs_text(const Input& input, std::size_t counter) {
  std::string list;
  std::size_t count = 0;
  for (std::size_t i = 0; i < input.index.size(); ++i) {
    if (input.index[i] != counter || ++count > 6) continue;
    list += (count > 1 ? ", " : ": ") + std::to_string(input.values[i]);
  }
  const std::string first = "its first value " + std::to_string(input.first[counter]);
  if (count == 0) return first + " alone: nothing is added to it";
  return first + " and " + course::counted(count, "added value") + list +
         (count > 6 ? ", ..." : "");
}

inline std::string place_text(std::size_t length, bool odd) {
  return course::counted(length, "counter") + ", base is " + (odd ? "no" : "a") +
         " multiple of 4; ";
}
inline std::string describe(std::size_t length, bool odd, std::size_t n, course::LaunchShape launch,
                            const Kind& kind) {
  return place_text(length, odd) + course::case_text(n, kind.values.text, "add_all", launch);
}

/// Ok if there is one atomic per addition, and one more for each time that a counter passes 65535.
inline course::Verdict few_atomics(const course::Counters& counters, const Input& input) {
  std::uint64_t most = input.index.size();
  for (const std::uint64_t sum : sums(input)) most += sum / 65536;
  const std::string hint = "one per call, and one more where 65535 is passed";
  const char* const loop =
      ".\nThat many come from a loop: does an atomicCAS work on a counter whose word lies in the "
      "array?\nThe first and the last counter mostly share theirs with a neighbour, too";
  const bool loops = counters.global_atomic_lanes > 2 * most;
  return course::at_most(counters.global_atomic_lanes, most, "atomics", loops ? hint + loop : hint);
}

}  // namespace small_counters
