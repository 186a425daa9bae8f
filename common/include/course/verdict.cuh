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
#include <functional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace course {

/// The outcome of a comparison. CHECK(course::same(...)) prints `text` if it fails.
struct Verdict {
  bool ok = true;
  std::string text;  // empty if there is nothing to say
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

/// Which elements of an answer are wrong; filled in by the templates below.
struct Differences {
  std::string_view name = {};
  std::size_t size = 0;
  std::vector<std::size_t> wrong = {};    // their indices, ascending
  std::string expected = {}, found = {};  // of the first of them
  std::size_t small = 0, large = 0;       // how many of them are below or above the expected value
  bool left_out = false, inserted = false;  // an element, so that the next ones are out of place
  void add(std::size_t index, const std::string& expected_text, const std::string& found_text) {
    if (wrong.empty()) {
      expected = expected_text;
      found = found_text;
    }
    wrong.push_back(index);
  }
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
Verdict explain_sizes(std::string_view name, std::size_t expected, std::size_t found);
Verdict explain_set(std::string_view name, std::size_t expected, std::size_t found,
                    const std::vector<std::string>& missing,
                    const std::vector<std::string>& duplicated,
                    const std::vector<std::string>& foreign, std::string_view hint);
Verdict explain_scalar(std::string_view name, const std::string& expected, const std::string& found,
                       std::string_view hint);
std::string list_elements(std::string_view name, std::size_t first, std::size_t end,
                          std::size_t stride, const std::function<std::string(std::size_t)>& text);

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

/// The inputs of an element, as a message shows them: "x[4] = 3, x[36] = 7". A comparison calls it
/// with the index of the first wrong element, and says what that one is computed from.
using Inputs = std::function<std::string(std::size_t index)>;

/// "x[4] = 3, x[36] = 7, x[68] = 1": the elements first, first + stride, ... below `end` and the
/// array's end. Of more than six it shows the first five, and says how many there are.
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
  detail::Differences differences{.name = name, .size = expected.size()};
  for (std::size_t i = 0; i < expected.size(); ++i) {
    if (found[i] == expected[i]) continue;
    differences.add(i, number_text(expected[i]), number_text(found[i]));
    differences.small += found[i] < expected[i] ? 1 : 0;
    differences.large += found[i] > expected[i] ? 1 : 0;
  }
  detail::find_shift(found, expected, differences);
  return detail::explain(differences, hint);
}

/// The same for one number.
///   sum: expected 4, found 3
template <class T, std::enable_if_t<std::is_arithmetic_v<T>, int> = 0>
Verdict same(T found, std::type_identity_t<T> expected, std::string_view name,
             std::string_view hint = "") {
  if (found == expected) return {};
  return detail::explain_scalar(name, number_text(expected), number_text(found), hint);
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
  detail::Differences differences{.name = name, .size = expected.size()};
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const double value = static_cast<double>(found[i]);
    if (std::fabs(value - expected[i]) <= tolerance) continue;  // false for NaN
    differences.add(i, number_text(expected[i]) + " +- " + number_text(tolerance),
                    number_text(found[i]));
    differences.small += value < expected[i] ? 1 : 0;
    differences.large += value > expected[i] ? 1 : 0;
  }
  return detail::explain(differences, hint);
}

}  // namespace course
