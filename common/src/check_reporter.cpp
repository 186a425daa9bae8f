#include "check_reporter.hpp"

#include <fmt/format.h>
#include <unistd.h>
#include <course/check.cuh>
#include <course/error.cuh>

#include <algorithm>
#include <catch2/catch_test_case_info.hpp>
#include <catch2/catch_test_spec.hpp>
#include <catch2/catch_translate_exception.hpp>
#include <catch2/interfaces/catch_interfaces_config.hpp>
#include <catch2/interfaces/catch_interfaces_reporter.hpp>
#include <catch2/internal/catch_test_case_registry_impl.hpp>
#include <catch2/reporters/catch_reporter_event_listener.hpp>
#include <catch2/reporters/catch_reporter_registrars.hpp>
#include <catch2/reporters/catch_reporter_streaming_base.hpp>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "failure_text.hpp"
#include "observer.hpp"
#include "passed_cases.hpp"
#include "repo_relative_path.hpp"
#include "report_text.hpp"
#include "shown_claims.hpp"
#include "waiting_time.hpp"
#include "wrong_elements.hpp"

namespace course::runner {
namespace {

Run the_run;
std::string program;
course::Verdict last_verdict;
PassedCases passed_cases;                    // under this schedule
ShownClaims shown_claims;                    // of this test case
bool shows = false;                          // under this schedule
bool speaks = false, first_is_over = false;  // the reporter below prints; the first schedule
std::size_t case_count = 0, begun = 0;       // test cases of this schedule

/// The test case that runs.
struct Test {
  std::vector<std::string> sections = {};  // its name and those of the open sections
  bool is_open = false;
  bool has_failed = false;
  bool has_crashed = false;
  bool leaves_out = false;           // from here on it depends on the answer which cases are tried
  bool awaits_messages = false;      // of the FAIL_CHECK that follows a report
  unsigned message_of_case = 0;      // its sequence number; 0: no message yet
  std::string notes = {};            // of that case
  LaunchMark begin = {}, next = {};  // of that case, and after its last comparison
  std::uint64_t times_seed_was_told = 0;  // before it began
  cudaError_t thrown = cudaSuccess;       // by the exception that was translated last
};
Test test;
bool device_lost = false;

/// Keeps the first failure of a test case: those that follow are mostly its consequences.
void record(Failure failure) {
  if (std::exchange(test.has_failed, true)) return;
  for (const std::string& section : test.sections) {
    failure.test += (failure.test.empty() ? "" : " / ") + section;
  }
  failure.follows_seed = course::detail::times_seed_was_told() > test.times_seed_was_told;
  the_run.failures.push_back(std::move(failure));
}

// ---- the device under test ---------------------------------------------------------------------

#if COURSE_CPU_DEVICE

/// A report fails the running test. It can come in the middle of an assertion, whose download
/// waits for the kernel.
void take_report(const simt::Report& report) {
  const bool is_first = !test.has_failed;
  const std::string text = text_for_learner(report);
  record({.text = text,
          .file = repo_relative_path(report.file),
          .line = report.line,
          .kind = FailureKind::finding,
          .is_rejection = true,
          .finding = {.kind = simt::identifier(report.kind),
                      .kernel = report.kernel,
                      .object = report.object,
                      .accesses = accesses_of(report)}});
  if (!test.is_open) return;
  test.awaits_messages = is_first;
  FAIL_CHECK(text);
}

/// A line for each remark since the last call. They are worth reading only next to a failure of the same case.
std::vector<std::string> take_notes() {
  std::vector<std::string> notes;
  for (const simt::Note& note : simt::take_notes()) notes.push_back("note: " + note.text + "\n");
  return notes;
}

/// Every test begins its schedule anew, so that it runs the same alone and among others.
void begin_test(const std::string& name) {
  take_notes();
  simt::name_test(name);
  simt::set_seed(the_run.seed);
}
/// Runs what is still queued; a new test finds a device without errors.
void end_test() { static_cast<void>(course::detail::reset_devices()); }

/// The innermost line of the answer or the check that led here.
std::string running_line() {
  for (const auto& lines : {simt::lines_of_calls(), simt::lines_of_launch()}) {
    for (const std::string& line : lines) {
      const bool is_ours =
          line.starts_with("common/") &&
          (line.find("/src/") != std::string::npos || line.find("/include/") != std::string::npos);
      const bool is_in_repository = line.starts_with("exercises/") ||
                                    line.starts_with("solutions/") ||
                                    line.starts_with("chapters/") || line.starts_with("common/");
      if (is_in_repository && !is_ours) return line;
    }
  }
  return "";
}
std::string give_up_launch() { return simt::give_up_launch(); }

#else

std::string running_line() { return ""; }
std::string give_up_launch() { return ""; }
std::vector<std::string> take_notes() { return {}; }
void begin_test(const std::string&) {}
/// A kernel that the test did not wait for may still fail, and after some errors no device is usable.
void end_test() {
  const cudaError_t error = course::detail::reset_devices();
  device_lost = is_sticky(error);
  if (device_lost) {
    record({.text = fmt::format("a kernel failed: {} ({})", cudaGetErrorName(error),
                                cudaGetErrorString(error)),
            .kind = FailureKind::finding,
            .is_rejection = true});
  }
}

#endif

// ---- what Catch2 tells us ----------------------------------------------------------------------

CATCH_TRANSLATE_EXCEPTION(const CudaError& error) {
  test.thrown = error.code();
  return error.what();
}

/// True for the error of a launch that cannot be, which no device gives because it is full or absent.
bool is_refusal(cudaError_t error) {
  return error == cudaErrorInvalidValue || error == cudaErrorInvalidConfiguration;
}

std::string expression_text(const Catch::AssertionResult& result) {
  const std::string expanded = result.getExpandedExpression();
  if (expanded == last_verdict.text) return expanded;
  const std::string expression = result.getExpression();
  return fmt::format("expected: {}\nfound:    {}", expression, expanded);
}

void remember_passed(const Catch::AssertionStats& stats) {
  if (stats.infoMessages.empty() || test.has_failed) return;
  passed_cases.add(stats.infoMessages.back().sequence, case_messages(stats),
                   place_of(stats.assertionResult));
}

/// The remarks on the launches of the running case. Its assertions have one message in common, the first one's last.
std::string notes_of_case(const Catch::AssertionStats& stats) {
  const std::vector<Catch::MessageInfo>& messages = stats.infoMessages;
  const bool is_same = std::any_of(messages.begin(), messages.end(), [](const auto& message) {
    return message.sequence == test.message_of_case;
  });
  if (!messages.empty() && !is_same) {
    test.message_of_case = messages.back().sequence;
    test.notes.clear();
    test.begin = test.next;
  }
  test.next = launch_mark();
  for (const std::string& note : take_notes()) {
    if (test.notes.find(note) == std::string::npos) test.notes += note;
  }
  return test.notes;
}

/// Keeps what a comparison that holds shows a reader of the lesson.
void show(const Catch::AssertionStats& stats) {
  const Catch::AssertionResult& result = stats.assertionResult;
  last_verdict = {};
  const std::string expanded = result.hasExpression() ? result.getExpandedExpression() : "";
  shown_claims.add(case_messages(stats),
                   compared(result.getExpression(), expanded, last_verdict.figure));
}

/// A failed assertion in the learner's words.
Failure describe(const Catch::AssertionStats& stats) {
  const Catch::AssertionResult& result = stats.assertionResult;
  const cudaError_t thrown = std::exchange(test.thrown, cudaSuccess);
  Failure failure;
  const std::vector<std::string> messages = case_messages(stats);
  for (const std::string& message : messages) failure.details += message + "\n";
  failure.file = repo_relative_path(result.getSourceInfo().file);
  failure.line = static_cast<int>(result.getSourceInfo().line);
  switch (result.getResultType()) {
    case Catch::ResultWas::ThrewException:
      failure.text = "an exception was thrown: " + std::string(result.getMessage());
      // On a GPU, the hardware's own memory check shows as the error of a later call.
      failure.kind =
          !kCpuDevice && is_sticky(thrown) ? FailureKind::finding : FailureKind::exception;
      failure.is_rejection = failure.kind == FailureKind::finding || is_refusal(thrown);
      break;
    case Catch::ResultWas::FatalErrorCondition:
      failure.text = "the program crashed: " + std::string(result.getMessage());
      if (const std::string line = running_line(); !line.empty()) {
        failure.text += fmt::format(
            "\n  at {}, in host code\n  Is a pointer null or invalid there, or is an index outside "
            "its array?",
            line);
      }
      failure.kind = FailureKind::crash;
      break;
    case Catch::ResultWas::DidntThrowException:
      failure.text = "an exception was expected from " + result.getExpression();
      failure.is_rejection = true;
      break;
    default:
      failure.text =
          result.hasExpression() ? expression_text(result) : std::string(result.getMessage());
      if (failure.text == last_verdict.text) failure.values = last_verdict.values;
      failure.is_rejection = true;
  }
  const bool is_report = test.awaits_messages;
  failure.nearest_passed = passed_cases.nearest(messages, is_report ? "" : place_of(result));
  return failure;
}

/// Follows the tests, whichever reporter prints.
class Listener : public Catch::EventListenerBase {
 public:
  explicit Listener(const Catch::IConfig* config) : EventListenerBase(config) {
    m_preferences.shouldReportAllAssertions = true;  // for the cases that have passed
  }

  void testRunStarting(const Catch::TestRunInfo&) override { skipped_before_ = the_run.skipped; }
  void testCaseStarting(const Catch::TestCaseInfo& info) override {
    test = {.is_open = true, .times_seed_was_told = course::detail::times_seed_was_told()};
    test.begin = test.next = launch_mark();
    course::detail::begin_case(test.begin.ran);
    shown_claims.begin(info.name, program == "races");
    begin_test(info.name);
  }
  void sectionStarting(const Catch::SectionInfo& info) override {
    test.sections.push_back(info.name);
  }
  void sectionEnded(const Catch::SectionStats&) override {
    if (test.sections.size() > 1) test.sections.pop_back();  // a late report still needs the first
  }
  void assertionEnded(const Catch::AssertionStats& stats) override {
    const Catch::AssertionResult& result = stats.assertionResult;
    test.has_crashed = result.getResultType() == Catch::ResultWas::FatalErrorCondition;
    if (!test.leaves_out) {
      for (const std::string& section : test.sections) the_run.transcript.add(section);
      the_run.transcript.add(fmt::format("{} {}", result.getSourceInfo().line, result.isOk()));
    }
    if (result.getResultType() == Catch::ResultWas::ExplicitSkip) {
      the_run.skips[test.sections.front()] = std::string(result.getMessage());
      ++the_run.skipped;
    } else if (result.isOk()) {
      remember_passed(stats);
      notes_of_case(stats);
      if (shows) show(stats);
    } else {
      Failure failure = describe(stats);
      failure.details += notes_of_case(stats);
      failure.details += launches_text(test.begin);
      const bool is_first_comparison = failure.kind == FailureKind::check && !test.has_failed;
      if (is_first_comparison) failure.details += unread_text(test.begin);
      // A report was recorded when it came in; now its FAIL_CHECK brings the messages of the test. A
      // later launch may well make the same report.
      if (std::exchange(test.awaits_messages, false)) {
        the_run.failures.back().details = failure.details;
        the_run.failures.back().nearest_passed = failure.nearest_passed;
      }
      record(std::move(failure));
    }
  }
  void testCaseEnded(const Catch::TestCaseStats&) override {
    test.is_open = false;
    if (!test.has_crashed) end_test();
    test.sections.clear();
  }
  void testRunEnded(const Catch::TestRunStats& stats) override {
    const Catch::Counts& tests = stats.totals.testCases;
    the_run.passed += tests.passed + tests.failedButOk;
    the_run.failed += tests.failed;
    the_run.skipped = skipped_before_ + tests.skipped;
    the_run.comparisons += stats.totals.assertions.total();
    the_run.has_compared = the_run.has_compared || the_run.comparisons > 0;
  }

 private:
  std::size_t skipped_before_ = 0;  // of test cases that have run in sessions of their own
};
CATCH_REGISTER_LISTENER(Listener)

/// What is known after a test case; Catch2 tells its numbers at the end.
Run so_far() {
  Run known = the_run;
  known.failed = known.failures.size();
  known.passed = begun - known.failed - known.skipped;
  return known;
}
/// For a check that is ended after a failure.
std::string not_run() {
  return case_count == begun ? ""
                             : fmt::format(
                                   "{} of {} cases had not ended 2 s after the failure; "
                                   "./course check {} --all runs all of them\n",
                                   case_count - begun, case_count, program);
}

/// One screen: the first failure in full, the names of the others, what to do next.
class Reporter : public Catch::StreamingReporterBase {
 public:
  using StreamingReporterBase::StreamingReporterBase;
  static std::string getDescription() { return "What is wrong with an answer, on one screen"; }

  void testRunStarting(const Catch::TestRunInfo& info) override {
    const auto& all = Catch::getAllTestCasesSorted(*m_config);
    case_count = Catch::filterTests(all, m_config->testSpec(), *m_config).size();
    case_count = std::max<std::size_t>(case_count, m_config->shardCount());  // one in each
    speaks = true;
    if (shows && kCpuDevice && begun == 0) {
      m_stream << fmt::format("Under schedule {} of the CPU device:\n\n", the_run.seed);
    }
    StreamingReporterBase::testRunStarting(info);
  }
  void testCaseStarting(const Catch::TestCaseInfo& info) override {
    const bool is_decided = the_run.expects_rejection && !the_run.failures.empty();
    if (device_lost || is_decided) stop();
    show_test_case(++begun, case_count, the_run.seed);
    StreamingReporterBase::testCaseStarting(info);
  }
  void testCaseEnded(const Catch::TestCaseStats& stats) override {
    if (shows && stats.totals.testCases.allPassed() && stats.totals.assertions.skipped == 0) {
      end_progress();
      m_stream << shown_claims.text() << std::flush;
    }
    if (!the_run.failures.empty() && !the_run.expects_rejection) {
      print_first();
      prepare_result(so_far(), program, Verdict::failed, first_line(the_run.failures.front().text));
      end_soon(others(the_run) + not_run() + next_steps(the_run, program));
    }
    StreamingReporterBase::testCaseEnded(stats);
  }

 private:
  void print_first() {
    end_progress();
    if (the_run.failures.size() == 1 && test.has_failed) {
      const Undisturbed undisturbed;
      const Failure& failure = the_run.failures.front();
      m_stream << "FAILED: " << failure.test << "\n" << indented(failure.text);
      if (!failure.details.empty()) m_stream << indented(failure.details);
      if (!failure.nearest_passed.empty()) m_stream << indented(failure.nearest_passed);
      if (failure.finding.kind.empty() && !failure.file.empty()) {  // a report names its own places
        m_stream << indented(fmt::format("at {}:{}", failure.file, failure.line));
      }
      m_stream << std::flush;
    }
  }
  [[noreturn]] void stop() {
    if (the_run.expects_rejection) std::exit(finish(judge_rejection()));
    m_stream << "The GPU cannot be used after this error: the remaining checks did not run.\n";
    m_stream << next_steps(the_run, program) << std::flush;
    std::exit(finish({Verdict::failed, first_line(the_run.failures.front().text)}));
  }
};
CATCH_REGISTER_REPORTER("course", Reporter)

}  // namespace

const Run& run() { return the_run; }

void begin_schedule(std::uint64_t seed, std::size_t count, bool expects_rejection) {
  const Transcript transcript = count > 1 ? the_run.transcript : Transcript();
  const bool has_compared = count > 1 && the_run.has_compared;
  the_run = {.expects_rejection = expects_rejection, .seed = seed, .schedules = count};
  the_run.has_compared = has_compared;
  the_run.transcript = transcript;
  passed_cases.clear();
  begun = 0;
  first_is_over = first_is_over || count > 1;
  shows = count == 1 && !expects_rejection && shows_claims(program);
  detail::set_observer(shows ? [](const detail::Observation& seen) { shown_claims.observe(seen); }
                             : detail::Observer());
}

void end_schedule() {
  first_is_over = true;
  if (!speaks || the_run.failures.empty() || the_run.expects_rejection) return;
  end_in_time();
  std::cout << others(the_run) << next_steps(the_run, program) << std::flush;
}

bool lacks_near_case() {
  return the_run.failures.size() == 1 && the_run.failures.front().nearest_passed.empty();
}
void tell_near_case(const std::string& text) { the_run.failures.front().nearest_passed = text; }

void keep_next_failure() { test.has_failed = false; }

bool is_first_schedule() { return !first_is_over; }

void note_case(const CaseOutcome& outcome) {
  show_test_case(++begun, case_count, the_run.seed);
  outcome.add_to(the_run);
}

void remember_counts(AnswerCounts counts) { the_run.counts = std::move(counts); }

void install_report_handler() {
#if COURSE_CPU_DEVICE
  simt::set_report_handler(take_report);
#endif
}

Ending judge_rejection() {
  const auto said = [](Verdict verdict, const std::string& line) {
    fmt::print("{}\n", line);
    return Ending{verdict, line};
  };
  if (the_run.failures.empty() && course::detail::devices_were_missing()) {
    return said(Verdict::skipped,
                "not rejected, but some checks need more GPUs than there are here");
  }
  if (the_run.failures.empty()) {
    return said(Verdict::not_rejected,
                fmt::format("not rejected: {} checks passed, {} were skipped", the_run.passed,
                            the_run.skipped));
  }
  const Failure& failure = the_run.failures.front();
  const std::string what = first_line(failure.text);
  if (!failure.is_rejection) {
    return said(Verdict::not_rejected,
                fmt::format("no verdict, and so no rejection, in '{}': {}", failure.test, what));
  }
  fmt::print("rejected by '{}': {}\n", failure.test, what);
  return {Verdict::rejected, what};
}

void end_out_of_time(double seconds) {
  const std::string launch = give_up_launch(),
                    line = running_line();  // in this order: no thread runs any more
  const std::string where = launch.empty() ? "in host code" : "in the launch " + launch;
  const std::string text = fmt::format(
      "the check takes too long: after {:g} s of processor time it was {}{}{}\n"
      "  Does a loop never end, or does the answer do far more work than it needs to?",
      seconds, where, line.empty() ? "" : ",\n  at ", line);
  test.has_failed = false;  // what failed before is there already
  record({.text = text, .kind = FailureKind::time_out});
  const Failure& failure = the_run.failures.back();
  if (!the_run.expects_rejection) {
    fmt::print("FAILED: {}\n{}{}", failure.test, indented(text), next_steps(the_run, program));
  }
  const int code =
      finish(the_run.expects_rejection ? judge_rejection()
                                       : Ending{Verdict::failed, first_line(failure.text)});
  std::fflush(nullptr);
  _exit(code);
}

int finish(const Ending& ending) {
  write_result(the_run, program, ending.verdict, ending.reason);
  return exit_code(ending.verdict);
}

void remember_verdict(const course::Verdict& verdict) { last_verdict = verdict; }
void remember_left_out(const std::string& reason) {
  the_run.skips.try_emplace(test.sections.front(), reason);
}
void set_program(const std::string& name) { program = name; }

}  // namespace course::runner

void course::detail::remember_verdict(const Verdict& verdict) { runner::remember_verdict(verdict); }
void course::detail::may_leave_out() { runner::test.leaves_out = true; }

void course::detail::remember_left_out(const std::string& reason) {
  runner::remember_left_out(reason);
}
