// Comparisons that explain themselves: what was expected, what was found, and where they differ.
// Never a dump: a million wrong elements fit in two lines. CONTRIBUTING.md says how checks use
// them.
//
// Example (common/tests/examples_test.cu):
//
//   const course::Verdict verdict = course::same(std::vector<int>{7, 7}, {7, 8}, "count");
//   CHECK(verdict.text == "count[1]: expected 8, found 7; the other element is right");
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace course {

/// What a comparison that failed has found; the result of a check has it beside the text.
struct WrongValues {
  /// A sentence, and what it is about: "elements", which are wrong; "places", where the found values belong; "value", what
  /// they are; "difference", how far they are from the expected ones.
  struct Fact {
    std::string kind = {}, text = {};
  };
  std::string name = {};
  std::size_t size = 0, wrong = 0;        // elements: all, and the wrong ones
  std::size_t first = 0, last = 0;        // of the wrong ones
  std::string expected = {}, found = {};  // of the first one
  std::vector<Fact> facts = {};
};

/// What a comparison that holds has compared: "atomics" and "16".
struct Figure {
  std::string name = {}, value = {};
};

/// The outcome of a comparison. CHECK(course::same(...)) prints `text` if it fails.
struct Verdict {
  bool ok = true;
  std::string text = {};                           // empty if there is nothing to say
  std::shared_ptr<const WrongValues> values = {};  // of arrays and numbers that differ
  Figure figure = {};                              // of what is as expected; a lesson shows it
  explicit operator bool() const { return ok; }
};

/// A number as messages show it: with as many digits as tell it from its neighbours, and
/// characters as numbers.
std::string number_text(double value);
std::string number_text(float value);
template <class T>
std::string number_text(const T& value) {
  if constexpr (std::is_integral_v<T>) {
    return std::to_string(value);
  } else {
    return number_text(static_cast<float>(value));  // __half and __nv_bfloat16
  }
}

namespace detail {

/// A number as figures show it: a whole one with all of its digits, a double with ten at most.
std::string figure_text(double value);
std::string figure_text(float value);
template <class T>
std::string figure_text(const T& value) {
  if constexpr (std::is_integral_v<T>) {
    return std::to_string(value);
  } else {
    return figure_text(static_cast<float>(value));  // __half and __nv_bfloat16
  }
}

/// The numbers of an array, of whatever type.
struct Elements {
  std::size_t size = 0, bytes = 0;  // bytes of one number
  bool is_integer = false, is_signed = false;
  const void* first = nullptr;  // the number at [0], if each has bytes of its own
  const void* numbers = nullptr;
  long double (*read)(const void* numbers, std::size_t i) = nullptr;
  long double operator[](std::size_t i) const { return read(numbers, i); }
  std::string (*text)(const void* bytes) = nullptr;  // of a number with these bytes
};

/// long double holds every value of the types that are compared.
template <class T>
long double exact_value(const T& value) {
  if constexpr (std::is_arithmetic_v<T>) {
    return static_cast<long double>(value);
  } else {
    return static_cast<float>(value);  // __half and __nv_bfloat16
  }
}

template <class T>
Elements elements_of(const std::vector<T>& values) {
  const void* first = nullptr;
  if constexpr (!std::is_same_v<T, bool>) first = values.data();
  return {.size = values.size(),
          .bytes = sizeof(T),
          .is_integer = std::is_integral_v<T>,
          .is_signed = !std::is_integral_v<T> || std::is_signed_v<T>,
          .first = first,
          .numbers = &values,
          .read =
              [](const void* numbers, std::size_t i) {
                return exact_value<T>((*static_cast<const std::vector<T>*>(numbers))[i]);
              },
          .text =
              [](const void* bytes) {
                T number;
                std::memcpy(&number, bytes, sizeof number);
                return number_text(number);
              }};
}

/// Which elements of an answer are wrong; filled in by the templates below.
struct Differences {
  std::string_view name = {};
  std::size_t size = 0;
  Elements found_values = {}, expected_values = {};
  double tolerance = 0;
  std::vector<std::size_t> wrong = {};      // their indices, ascending
  std::string expected = {}, found = {};    // of the first of them
  bool left_out = false, inserted = false;  // an element, so that the next ones are out of place
};
Verdict explain(const Differences& differences, std::string_view hint);
Verdict explain(const Differences& differences,
                const std::function<std::string(std::size_t)>& inputs);

/// Sets left_out or inserted, if all is wrong from some index on, and the next elements (up to 8)
/// are those of the next or of the previous index.
template <class T>
void find_shift(const std::vector<T>& found, const std::vector<T>& expected, Differences& d) {
  if (d.wrong.size() < 3 || d.wrong.front() + d.wrong.size() != d.size) return;
  const auto f = found.begin() + static_cast<std::ptrdiff_t>(d.wrong.front());
  const auto e = expected.begin() + static_cast<std::ptrdiff_t>(d.wrong.front());
  const auto length = std::min<std::ptrdiff_t>(8, static_cast<std::ptrdiff_t>(d.wrong.size()) - 1);
  d.left_out = std::equal(f, f + length, e + 1);
  d.inserted = std::equal(e, e + length, f + 1);
}
template <class T, class U>
Differences differences_of(const std::vector<T>& found, const std::vector<U>& expected,
                           std::string_view name) {
  return {.name = name,
          .size = expected.size(),
          .found_values = elements_of(found),
          .expected_values = elements_of(expected)};
}
/// "\nThe first atomic that has left 28692 anywhere is atomicAdd of block 0 thread 5 at a/b.cuh:20." of a number of `size` bytes that
/// is told as `text`, if an atomic of this case has left it; else empty.
std::string left_by_text(const void* number, std::size_t size, const std::string& text);
/// "Atomics have changed keys[5] once: from 0 to 28 by atomicExch of block 0 thread 5 at a/b.cuh:20." of element i, told as `name`, of an
/// array that was copied from the device, if the last atomic on it has left what the copy holds; else empty.
std::string atomics_text(const Elements& copy, std::size_t i, const std::string& name);
/// "\nIts thread, block 2 thread 63, has made 2 atomics, the last of them atomicCAS at a/b.cuh:20. It found 5 and changed nothing." of
/// the thread of this number in a grid; `text` tells a value of so many bytes.
using ValueText = std::function<std::string(const unsigned char* bytes)>;
std::string last_atomic_text(std::size_t number, unsigned per_block, std::size_t bytes,
                             const ValueText& text);
Verdict explain_sizes(std::string_view name, std::size_t expected, std::size_t found);
Verdict explain_set(std::string_view name, std::size_t expected, std::size_t found,
                    const std::vector<std::string>& missing,
                    const std::vector<std::string>& duplicated,
                    const std::vector<std::string>& foreign, std::string_view hint);
Verdict explain_scalar(const Differences& differences, std::string_view hint);
std::string list_elements(std::string_view name, std::size_t first, std::size_t end,
                          std::size_t stride, const std::function<std::string(std::size_t)>& text);

/// The verdict on an array that is as expected: its figure is the numbers themselves, if they are few.
template <class T>
Verdict agreed(const std::vector<T>& found, std::string_view name) {
  constexpr std::size_t kMostShown = 4;
  std::string value;
  if (found.size() > kMostShown) {
    value = "all " + std::to_string(found.size()) + " elements as expected";
  } else {
    for (const auto& x : found) value += (value.empty() ? "" : " ") + figure_text(x);
  }
  return {.figure = {std::string(name), std::move(value)}};
}

/// NaN is unequal to itself; exact integers never are.
template <class T>
bool is_nan(const T& value) {
  if constexpr (std::is_integral_v<T>) {
    return false;
  } else {
    return std::isnan(static_cast<double>(static_cast<float>(value)));
  }
}

}  // namespace detail

/// A sentence on its own line on the atomic that has left this value first in the running case, told as `text`; empty if none is
/// known, and on a GPU.
template <class T>
std::string left_by(const T& value, const std::string& text) {
  return detail::left_by_text(&value, sizeof value, text);
}

/// A sentence on its own line on the last atomics that have changed element i of what was downloaded to `copy`, and which `name` calls;
/// empty if the last change was none of an atomic, and on a GPU.
template <class T>
std::string atomics_of(const std::vector<T>& copy, std::size_t i, const std::string& name) {
  const std::string text = detail::atomics_text(detail::elements_of(copy), i, name);
  return text.empty() ? "" : "\n" + text;
}

/// A sentence on its own line on the last atomic of the thread of this number in the last launch, whose blocks have `per_block` threads:
/// how many it has made, and what the last one found, as `text` tells a T. Empty if it is not known, and on a GPU.
template <class T, class Text>
std::string last_atomic_of(std::size_t number, unsigned per_block, Text text) {
  return detail::last_atomic_text(number, per_block, sizeof(T), [&](const unsigned char* bytes) {
    T value;
    std::memcpy(&value, bytes, sizeof value);
    return text(value);
  });
}

/// The inputs of an element, as a message shows them: "x[4] = 3, x[36] = 7". A comparison calls it
/// with the index of the first wrong element, and says what that one is computed from.
using Inputs = std::function<std::string(std::size_t index)>;

/// "x[4] = 3, x[36] = 7, x[68] = 1": the elements first, first + stride, ... below `end` and the
/// array's end. Of more than six it shows the first five and the last, and says how many there are.
template <class T>
std::string elements_text(std::string_view name, const std::vector<T>& x, std::size_t first,
                          std::size_t end, std::size_t stride = 1) {
  return detail::list_elements(name, first, std::min(end, x.size()), stride,
                               [&](std::size_t i) { return number_text(x[i]); });
}

/// Ok if found == expected, element by element. NaN is always wrong.
/// `name` is what the learner calls the array. `hint` is appended if the comparison fails; pass an
/// `Inputs` function instead to show what the first wrong element is computed from.
///   count[97]: expected 1203, found 1190; 37 of 256 elements are wrong (first [97], last [122])
template <class T, class Hint = std::string_view>
Verdict same(const std::vector<T>& found, const std::vector<T>& expected, std::string_view name,
             const Hint& hint = {}) {
  if (found.size() != expected.size()) {
    return detail::explain_sizes(name, expected.size(), found.size());
  }
  detail::Differences differences = detail::differences_of(found, expected, name);
  for (std::size_t i = 0; i < expected.size(); ++i) {
    if (!(found[i] == expected[i])) differences.wrong.push_back(i);
  }
  if (differences.wrong.empty()) return detail::agreed(found, name);
  const std::size_t first = differences.wrong.front();
  differences.expected = number_text(expected[first]);
  differences.found = number_text(found[first]);
  detail::find_shift(found, expected, differences);
  return detail::explain(differences, hint);
}

/// The same for one number.
///   sum: expected 4, found 3
template <class T, std::enable_if_t<std::is_arithmetic_v<T>, int> = 0>
Verdict same(T found, std::type_identity_t<T> expected, std::string_view name,
             std::string_view hint = "") {
  if (found == expected) return {.figure = {std::string(name), detail::figure_text(found)}};
  const std::vector<T> found_values{found}, expected_values{expected};
  detail::Differences differences = detail::differences_of(found_values, expected_values, name);
  differences.wrong = {0};
  differences.expected = number_text(expected), differences.found = number_text(found);
  return detail::explain_scalar(differences, hint);
}

/// Ok if `found` holds the elements of `expected` in any order, each as often.
///   kept: 1 missing (7), 2 too often (3, 5); expected 100 elements in any order, found 101
template <class T>
Verdict same_set(const std::vector<T>& found, const std::vector<T>& expected, std::string_view name,
                 std::string_view hint = "") {
  std::vector<T> f = found;
  std::vector<T> e = expected;
  std::vector<std::string> missing, duplicated, foreign;
  // NaN has no place in an order, and is never right.
  const auto nans =
      std::stable_partition(f.begin(), f.end(), [](const T& x) { return !detail::is_nan(x); });
  foreign.assign(static_cast<std::size_t>(f.end() - nans), "NaN");
  f.erase(nans, f.end());
  std::sort(f.begin(), f.end());
  std::sort(e.begin(), e.end());
  auto i = f.begin();
  auto j = e.begin();
  while (i != f.end() || j != e.end()) {
    if (i == f.end() || (j != e.end() && *j < *i)) {
      missing.push_back(number_text(*j++));
    } else if (j == e.end() || *i < *j) {
      // A value that was matched just before occurs once too often; any other is not expected.
      const bool known = j != e.begin() && *(j - 1) == *i;
      (known ? duplicated : foreign).push_back(number_text(*i++));
    } else {
      ++i;
      ++j;
    }
  }
  return detail::explain_set(name, expected.size(), found.size(), missing, duplicated, foreign,
                             hint);
}

/// Ok if found <= most: for what a kernel may not do more often.
///   atomics on *sum: expected at most 4, found 128; one per block is enough
Verdict at_most(std::uint64_t found, std::uint64_t most, std::string_view name,
                std::string_view hint = "");

/// Ok if found >= least.
///   the size of piece 2: expected at least 3, found 2; sizes differ by one at most
Verdict at_least(std::uint64_t found, std::uint64_t least, std::string_view name,
                 std::string_view hint = "");

/// Ok if found is 0: for what a kernel may not do at all.
///   barriers: expected none, found 4; the lanes of a warp need none
Verdict none(std::uint64_t found, std::string_view name, std::string_view hint = "");

/// Ok if |found - expected| <= tolerance; NaN is never close. data.cuh derives tolerances.
///   sum: expected 500012.5 +- 0.03, found 33554432 (off by 3.3e+07)
Verdict close(double found, double expected, double tolerance, std::string_view name,
              std::string_view hint = "");

/// The same, element by element; `hint` may be an `Inputs` function, as in same().
template <class T, class Hint = std::string_view>
Verdict close(const std::vector<T>& found, const std::vector<double>& expected, double tolerance,
              std::string_view name, const Hint& hint = {}) {
  if (found.size() != expected.size()) {
    return detail::explain_sizes(name, expected.size(), found.size());
  }
  detail::Differences differences = detail::differences_of(found, expected, name);
  differences.tolerance = tolerance;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const bool is_near = std::fabs(static_cast<double>(found[i]) - expected[i]) <= tolerance;
    if (!is_near) differences.wrong.push_back(i);  // NaN is not near
  }
  if (differences.wrong.empty()) return detail::agreed(found, name);
  const std::size_t first = differences.wrong.front();
  differences.expected = number_text(expected[first]) + " +- " + number_text(tolerance);
  differences.found = number_text(found[first]);
  return detail::explain(differences, hint);
}

}  // namespace course
