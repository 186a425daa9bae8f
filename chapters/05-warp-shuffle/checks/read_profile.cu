// Check of the exercise read_profile: the answers against what the numbers of the profile say. A
// wrong answer is told which row to look at, and not which answer is right.
#include "read_profile.cuh"

#include <catch2/catch_test_macros.hpp>
#include <course/check.cuh>
#include <cstddef>
#include <cstdio>
#include <string>

namespace read_profile_check {

// ---- the profile --------------------------------------------------------------------------------

// `common/dev generate` writes the rows from results/, and the same ones into the page.

/// A kernel that sums 2^24 floats: its time, and what ncu counted.
struct ProfileRow {
  char label;
  double microseconds, instructions, reductions, dram_percent;
};

// clang-format off
constexpr ProfileRow kRows[] = {
    // rows: A = sum_grid_stride, B = sum_shuffle_down, C = sum_loads_in_flight, D = sum_two_warp_reduces
    {'A', 38.6, 5238144, 1056, 45.3},
    {'B', 923.5, 16777216, 524288, 1.56},
    {'C', 24.6, 4689920, 1024, 76.34},
    {'D', 119.3, 20316160, 65536, 12.16},
    // rows end
};
// clang-format on

constexpr const ProfileRow& row_of(char label) {
  return kRows[static_cast<std::size_t>(label - 'A')];
}

constexpr double nanoseconds_per_reduction(const ProfileRow& row) {
  return 1000 * row.microseconds / row.reductions;
}

/// In B and D nearly all of the time is atomics: both show the time of one. That is why the
/// exercise can ask for it.
constexpr double kLeastPerAtomic = nanoseconds_per_reduction(row_of('B'));
constexpr double kMostPerAtomic = nanoseconds_per_reduction(row_of('D'));
static_assert(kLeastPerAtomic <= kMostPerAtomic && kMostPerAtomic < 1.1 * kLeastPerAtomic);

// ---- answers ------------------------------------------------------------------------------------

/// A number as the page shows it: four digits.
std::string digits(double value) {
  char text[64];
  static_cast<void>(std::snprintf(text, sizeof text, "%.4g", value));
  return text;
}

/// Answers are compared by these: an operator== of the answer's file decides nothing.
constexpr int number_of(Limit limit) { return static_cast<int>(limit); }
static_assert(number_of(Limit::not_answered) == 0 && number_of(Limit::atomics) == 1 &&
                  number_of(Limit::memory) == 2 && number_of(Limit::latency) == 3,
              "Limit has to stay as it was: not_answered, atomics, memory, latency");

/// What limits a kernel, by the exercise's rule.
Limit limit_of(const ProfileRow& row) {
  const double atomics = row.reductions * kMostPerAtomic / 1000;
  if (atomics > row.microseconds / 2) return Limit::atomics;
  return row.dram_percent >= 70 ? Limit::memory : Limit::latency;
}

/// Ok if the answer is what the row says; else a reason against the answer.
course::Verdict limits(char label, Limit answer) {
  const ProfileRow& row = row_of(label);
  if (number_of(answer) == number_of(limit_of(row))) return {};
  const std::string name = std::string("kLimitOf") + label, where = std::string(" Row ") + label;
  const std::string reductions = std::to_string(static_cast<long>(row.reductions)) + " reductions";
  switch (answer) {
    case Limit::atomics:
      return {false, name + " is not atomics." + where + ": what part of its " +
                         digits(row.microseconds) + " us do its " + reductions +
                         " take, at the time that one takes in row B?"};
    case Limit::memory:
      return {false, name + " is not memory." + where + ": DRAM runs at " +
                         digits(row.dram_percent) + " % of its peak. What about its " + reductions +
                         "?"};
    case Limit::latency:
      return {false, name + " is not latency, which is left when the other two are ruled out." +
                         where + ": " + reductions + " in " + digits(row.microseconds) +
                         " us, and DRAM at " + digits(row.dram_percent) + " % of its peak"};
    default:
      return {false, name + ": no answer yet"};
  }
}

/// Ok if least <= answer <= most. A wrong one is told `look`, or which slip it looks like.
course::Verdict number(const std::string& name, double answer, double least, double most,
                       const std::string& unit, const std::string& look) {
  const auto between = [&](double value) { return least <= value && value <= most; };
  if (between(answer)) return {};
  if (answer == 0) return {false, name + ": no answer yet"};
  const std::string wrong = name + " is not " + digits(answer) + ". ";
  for (const double factor : {1e-6, 1e-3, 1e3, 1e6}) {
    if (between(answer * factor)) {
      return {false, wrong + "The digits are right, the unit is not: the answer is " + unit};
    }
  }
  for (const double factor : {1.0, 1e-3, 1e3}) {
    if (between(factor / answer)) {
      return {false, wrong + "It is the reciprocal: which number is divided by which?"};
    }
  }
  return {false, wrong + look};
}

// Promise: the time of an atomic is asked in nanoseconds, to 5 % (rows B and D show times that
// differ by less than 10 %: a static_assert above).
// Promise: the time of all atomics of A is asked in microseconds, to 5 %.
// Promise: all answers follow from the numbers of the page (the check computes them from the rows,
// and `common/dev generate --check` compares rows and page with results/).
TEST_CASE("read_profile: the time of an atomic") {
  constexpr double kLeast = 0.95 * kLeastPerAtomic, kMost = 1.05 * kLeastPerAtomic;
  REQUIRE(number("kNanosecondsPerAtomic", kNanosecondsPerAtomic, kLeast, kMost, "in nanoseconds",
                 "Row B: nearly all of its time is atomics, one after the other."));
  const double reductions = row_of('A').reductions;
  REQUIRE(number("kMicrosecondsOfAtomicsOfA", kMicrosecondsOfAtomicsOfA, kLeast * reductions / 1000,
                 kMost * reductions / 1000, "in microseconds",
                 "Row A has the number of atomics; kNanosecondsPerAtomic says what one takes."));
}

// Promise: atomics limit where they take more than half of the time, memory where DRAM runs at 70
// % of its peak or more, else latency (A, C and D are one of each).
TEST_CASE("read_profile: what limits each kernel") {
  CHECK(limits('A', kLimitOfA));
  CHECK(limits('C', kLimitOfC));
  CHECK(limits('D', kLimitOfD));
}

// Promise: the factor for C is right to 2 %: how many times as fast would ncu's launch of C be with DRAM at its
// peak.
TEST_CASE("read_profile: how far memory could take C") {
  const double bound = 100 / row_of('C').dram_percent;
  REQUIRE(number("kMostSpeedupOfC", kMostSpeedupOfC, 0.98 * bound, 1.02 * bound,
                 "a factor, such as 1.5 for half as fast again",
                 "Row C: DRAM delivers " + digits(row_of('C').dram_percent) +
                     " % of what it can. How many times that is 100 %?"));
}

}  // namespace read_profile_check
