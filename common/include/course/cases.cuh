// What the cases of a check are made of: kinds of test data with the words for them, and the text
// of a launch for its messages. Only checks use it; CONTRIBUTING.md says how to write one.
//
// Example (common/tests/examples_test.cu):
//
//   const course::DataKind<float> kinds[] = {
//       {"all below zero", [](course::Element e) { return -0.5f * static_cast<float>(e.random); }},
//       {"the last one counts", [](course::Element e) { return e.i + 1 == e.n ? 1.0f : 0.0f; }},
//   };
//   for (const auto& kind : kinds) {
//     INFO(course::case_text(n, kind.text, "scale",
//                            launch));  // n = 100: all below zero; scale<<<4, 32>>>
//     const std::vector<float> x = kind.values(n);
#pragma once

#include <course/data.cuh>
#include <course/verdict.cuh>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <iterator>
#include <string>
#include <type_traits>
#include <vector>

namespace course {

/// Where an element of test data is, and a number for it.
struct Element {
  std::size_t i;  // its index
  std::size_t n;  // how many there are
  int random;     // 1 to 1000, depends on i: position_values<int>(n)[i]
};

/// A kind of test data: what a message calls it, and how its elements are made.
template <class T>
struct DataKind {
  std::string text;
  std::function<T(Element)> element;

  /// n elements of this kind, the same ones every time.
  std::vector<T> values(std::size_t n) const {
    const std::vector<int> random = position_values<int>(n);
    std::vector<T> result(n);
    for (std::size_t i = 0; i < n; ++i) result[i] = element({i, n, random[i]});
    return result;
  }
};

/// A size, a launch and a kind of data that are tried together.
template <class Kind>
struct SizedCase {
  std::size_t n;
  LaunchShape launch;
  Kind kind;
};

/// A case for each size and each kind, with another one of launch_shapes(n) each time: all of them
/// for each would take minutes on the CPU device.
template <class Kinds>
auto cases_of(const std::vector<std::size_t>& sizes, const Kinds& kinds) {
  std::vector<SizedCase<std::remove_cvref_t<decltype(*std::begin(kinds))>>> cases;
  for (const std::size_t n : sizes) {
    const std::vector<LaunchShape> launches = launch_shapes(n);
    for (const auto& kind : kinds)
      cases.push_back({n, launches[cases.size() % launches.size()], kind});
  }
  return cases;
}

/// "1 row", "2 rows"; what does not end in s in the plural is named: counted(n, "half", "halves").
std::string counted(std::uint64_t n, const std::string& one, const std::string& many = "");

/// "sum<<<4, 256>>>", or "sum<<<4, 256, 1024>>>" with 1024 bytes of dynamic shared memory.
std::string launch_text(const std::string& kernel, LaunchShape launch,
                        std::size_t shared_bytes = 0);

/// "n = 1025: all below zero; sum<<<4, 256>>>": what a check says of a case before it tries it.
std::string case_text(std::size_t n, const std::string& data, const std::string& kernel,
                      LaunchShape launch, std::size_t shared_bytes = 0);

/// What an exercise has a learner predict of a launch: requests of warps, and parts that these have.
struct Prediction {
  struct Counts {
    std::uint64_t requests, parts;
    friend bool operator==(const Counts&, const Counts&) = default;
  };
  std::string launch;  // its text
  Counts predicted;    // 0 and 0: not yet
  Counts found;        // counted on the CPU device; on a GPU, which counts nothing, what is right
  std::string advice;  // where to look, if the two differ
};

/// Ok if all are right; else a line or two for each that is wrong. `part`: "sector", "atomic".
Verdict all_right(const std::vector<Prediction>& predictions, const std::string& part);

/// Of calls of which number i brought values[i] to a cell that held cells[i]: how many with the cell of the wrong call `wrong`
/// are right, and how many with its value. "\nOf 9 calls for a cell that held this 8 are right, of 9 with this value 1."
template <class T, class IsRight>
std::string alike_text(const std::vector<T>& cells, const std::vector<T>& values, std::size_t wrong,
                       IsRight is_right) {
  std::size_t with_cell = 0, with_value = 0, right_with_cell = 0, right_with_value = 0;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    const bool is_cell = cells[i] == cells[wrong], is_value = values[i] == values[wrong];
    const bool counts = (is_cell || is_value) && is_right(i);
    with_cell += is_cell, with_value += is_value;
    right_with_cell += is_cell && counts, right_with_value += is_value && counts;
  }
  return "\nOf " + counted(with_cell, "call") + " for a cell that held this " +
         std::to_string(right_with_cell) + (right_with_cell == 1 ? " is" : " are") + " right, of " +
         std::to_string(with_value) + " with this value " + std::to_string(right_with_value) + ".";
}

}  // namespace course
