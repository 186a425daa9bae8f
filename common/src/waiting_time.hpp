// What a learner sees while a check runs, and how soon a check ends that has failed.
//
// Environment, apart from what main.cpp lists:
//   COURSE_PROGRESS   if set, a line at the terminal says how far the check is
//   COURSE_ALL        if set, all test cases run, however long they take after a failure
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace course::runner {

/// From half a second on a line at the terminal says which test case runs, and for how long.
void start_waiting_time();

/// The `number`-th of `count` test cases begins, under the schedule `seed`.
void show_test_case(std::size_t number, std::size_t count, std::uint64_t seed);

/// The test cases have passed, and the answer runs once more, to be counted: a line says so.
void show_counting();

/// The line at the terminal goes.
void end_progress();

/// While one lives, no line is written and the check is not ended.
class Undisturbed {
 public:
  Undisturbed();
  ~Undisturbed();
  Undisturbed(const Undisturbed&) = delete;
  Undisturbed& operator=(const Undisturbed&) = delete;
};

/// A test case has failed. Two seconds after the first one the program ends, if it still runs: with this text on
/// standard output, what send_prepared_result() sends, and the exit code 1. Only for a learner's answer, which has a
/// command to rerun it; not if COURSE_ALL is set, and not while lanes are recorded.
void end_soon(std::string last_words);

/// What was to come did come in time.
void end_in_time();

}  // namespace course::runner
