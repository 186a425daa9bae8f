// Follows Catch2 through a run of a check, and prints on one screen what is wrong.
#pragma once

#include <cstdint>
#include <string>

#include "check_result.hpp"
#include "shared_cases.hpp"

namespace course::runner {

/// What is known about the schedule that runs.
const Run& run();

/// Forgets the schedule before, and begins one: `seed`, the `count`-th.
void begin_schedule(std::uint64_t seed, std::size_t count, bool expects_rejection);

/// Ends it: says what else is to be said of a failure.
void end_schedule();
/// True while the first schedule runs.
bool is_first_schedule();

/// True after the first failure, if no case that has passed is told beside it; tell_near_case() says what is told in its place.
bool lacks_near_case();
void tell_near_case(const std::string& text);

/// The next failure of the running test case is kept, too, though it is not the first.
void keep_next_failure();

/// Notes a test case of this schedule that a helper has run.
void note_case(const CaseOutcome& outcome);

/// Keeps what an answer that has passed did.
void remember_counts(AnswerCounts counts);

/// Takes the reports of the CPU device from here on; a GPU makes none.
void install_report_handler();

/// How a run ended, and one line that says why.
struct Ending {
  Verdict verdict = Verdict::failed;
  std::string reason = {};
};

/// For known-wrong answers: was the first thing that went wrong a check's verdict? Prints a line.
Ending judge_rejection();

/// Ends a check that has used this many seconds of processor time, in a signal's handler: says which
/// test case and which launch ran.
[[noreturn]] void end_out_of_time(double seconds);

/// Writes the result, and returns the exit code.
int finish(const Ending& ending);

/// The text of the last comparison, which is shown without the expression around it.
void remember_verdict(const course::Verdict& verdict);
void remember_left_out(const std::string& reason);
/// What the program is called in its result.
void set_program(const std::string& name);

}  // namespace course::runner
