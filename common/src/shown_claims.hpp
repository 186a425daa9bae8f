// What a lesson's programs races, counts and claims show a reader: for each test case its name, which is what the lesson
// says, and below it what the program found: the cases, the launches, the numbers compared, the findings of the checker.
//
// Environment, apart from what main.cpp lists:
//   COURSE_QUIET   if set, nothing of it is shown: for tests
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "observer.hpp"

namespace course::runner {

/// Whether a program of this name shows anything, in this environment.
bool shows_claims(const std::string& program);

/// What a comparison that holds shows: its figure, and how the program computes what it expects, such as "= 4 * kBlocks";
/// empty if that says no more than the figure.
struct Compared {
  Figure figure;
  std::string expected;
};
/// From the text of an assertion, the same with its values, and the figure of the verdict if it is one. Empty if it
/// compares no numbers.
Compared compared(const std::string& assertion, const std::string& expanded, const Figure& figure);

/// What one test case has shown.
class ShownClaims {
 public:
  /// A test case begins. Of one of `races`, a case without a finding is said to have no race.
  void begin(const std::string& name, bool is_of_races);
  /// Launches of the comparison that comes next.
  void observe(const detail::Observation& observation);
  /// A comparison has held in the case that `messages` describe.
  void add(const std::vector<std::string>& messages, const Compared& compared);
  /// The text, with lines of at most 100 columns.
  std::string text() const;

 private:
  struct Shown {
    std::string name, value, expected;
    std::size_t more = 0;  // values that are not shown
  };
  struct Case {
    std::string name;           // empty if no message describes it
    std::string launches = {};  // "64 blocks of 256 threads"
    std::uint64_t blocks = 0;
    std::string finding = {};
    std::vector<std::string> said = {};  // of the finding
    std::vector<Shown> figures = {};
  };
  Case& case_of(const std::vector<std::string>& lines);
  std::string table() const;
  std::string list() const;

  std::string name_;
  bool is_of_races_ = false;
  std::vector<Case> cases_;
  detail::Observation launches_;  // since the last comparison
  std::string finding_;
};

}  // namespace course::runner
