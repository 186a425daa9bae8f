// main() of every check: runs Catch2, on the CPU device once per schedule, and says on one screen
// what is wrong. Exit codes, as Meson understands them: 0 passed, 1 failed, 77 skipped.
//
// Environment:
//   SIMT_SEED=k                 the CPU device's schedule k only
//   SIMT_TRACE=FILE             records what the lanes do, under one schedule: SIMT_SEED, else 0
//   COURSE_EDIT, COURSE_RERUN   the file to edit and the command to rerun, shown below a failure
//   COURSE_WARNINGS             the compiler's, shown below a failure
//   COURSE_EXPECT=rejection     for known-wrong answers: passes if a check, or the CPU device's
//                               checker, rejects the answer; no crash, skip or exception counts
//   COURSE_PROOF=FILE           a file to write the exit code into: an answer that ends the program
//                               itself, with whatever code, leaves none
#include <fmt/format.h>
#include <course/check.cuh>
#include <course/error.cuh>
#include <course/exercise.cuh>

#include <catch2/catch_session.hpp>
#include <catch2/catch_test_case_info.hpp>
#include <catch2/catch_translate_exception.hpp>
#include <catch2/interfaces/catch_interfaces_reporter.hpp>
#include <catch2/reporters/catch_reporter_event_listener.hpp>
#include <catch2/reporters/catch_reporter_registrars.hpp>
#include <catch2/reporters/catch_reporter_streaming_base.hpp>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "short_path.hpp"

#if COURSE_CPU_DEVICE
#include <simt/testing.hpp>
#endif

namespace {

constexpr int kPassed = 0, kFailed = 1, kSkipped = 77;

/// A failed assertion or a report, as the learner gets to see it.
struct Failure {
  std::string test = {};      // name of the test case, and of the sections in it
  std::string text = {};      // what was expected and found
  std::string details = {};   // INFO messages and remarks of the CPU device
  std::string place = {};     // file:line of the check; empty for reports, which name their own
  bool is_rejection = false;  // a check or the checker found it: no crash, no stray exception
};

/// What is known about the schedule that runs.
struct Run {
  bool expects_rejection = false;
  std::uint64_t seed = 0;

  std::size_t passed = 0, failed = 0, skipped = 0;  // test cases
  std::size_t comparisons = 0;                      // REQUIREs and CHECKs in them
  std::vector<Failure> failures;                    // the first one of each test case
  std::map<std::string, std::string> skips;         // test case, reason

  // The test case that runs.
  std::vector<std::string> sections;  // its name and those of the open sections
  bool in_test = false;
  bool test_failed = false;
  bool crashed = false;
  cudaError_t thrown = cudaSuccess;  // by the exception that was translated last
  bool device_lost = false;
};
Run run;

std::string last_verdict;

/// The value of COURSE_PROOF, which is wiped from the environment: nobody else needs it.
std::string take_proof() {
  char* const value = std::getenv("COURSE_PROOF");
  if (value == nullptr) return "";
  std::string proof = value;
  std::memset(value, 0, proof.size());
  unsetenv("COURSE_PROOF");
  return proof;
}
/// 101: before the initialisers of an answer.
[[gnu::init_priority(101)]] const std::string proof = take_proof();

/// Says in the file of COURSE_PROOF that it was main that ended with this code, and returns it.
int proven(int code) {
  if (!proof.empty()) std::ofstream(proof) << code;
  return code;
}

std::string indented(const std::string& text) {
  std::string lines;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    lines += "  " + text.substr(at, end - at) + "\n";
    at = end + 1;
  }
  return lines;
}

/// Keeps the first failure of a test case: those that follow are mostly its consequences.
void record(Failure failure) {
  if (std::exchange(run.test_failed, true)) return;
  for (const std::string& section : run.sections) {
    failure.test += (failure.test.empty() ? "" : " / ") + section;
  }
  run.failures.push_back(std::move(failure));
}

// ---- the device under test ---------------------------------------------------------------------

#if COURSE_CPU_DEVICE

/// A report fails the running test. It can come in the middle of an assertion, whose download
/// waits for the kernel.
void take_report(const simt::Report& report) {
  record({.text = report.text, .is_rejection = true});
  if (run.in_test) FAIL_CHECK(report.text);
}

/// Remarks are worth reading only next to a failure, so those of earlier tests are dropped.
std::string take_notes() {
  std::string text;
  for (const std::string& note : simt::take_notes()) text += "note: " + note + "\n";
  return text;
}

/// Every test begins its schedule anew, so that it runs the same alone and among others.
void begin_test(const std::string& name) {
  take_notes();
  simt::name_test(name);
  simt::set_seed(run.seed);
}
/// Runs what is still queued; a new test finds a device without errors.
void end_test() { static_cast<void>(course::detail::reset_devices()); }
void install_report_handler() { simt::set_report_handler(take_report); }

#else

std::string take_notes() { return ""; }
void begin_test(const std::string&) {}
/// A kernel that nobody waited for may still fail, and some errors leave no usable device behind.
void end_test() {
  const cudaError_t error = course::detail::reset_devices();
  run.device_lost = course::is_sticky(error);
  if (run.device_lost) {
    record({.text = fmt::format("a kernel failed: {} ({})", cudaGetErrorName(error),
                                cudaGetErrorString(error)),
            .is_rejection = true});
  }
}
void install_report_handler() {}

#endif

// ---- what Catch2 tells us ----------------------------------------------------------------------

CATCH_TRANSLATE_EXCEPTION(const course::CudaError& error) {
  run.thrown = error.code();
  return error.what();
}

std::string expression_text(const Catch::AssertionResult& result) {
  const std::string expanded = result.getExpandedExpression();
  if (expanded == last_verdict) return expanded;
  const std::string expression = result.getExpression();
  return fmt::format("expected: {}\nfound:    {}", expression, expanded);
}

/// A failed assertion in the learner's words.
Failure describe(const Catch::AssertionStats& stats) {
  const Catch::AssertionResult& result = stats.assertionResult;
  const cudaError_t thrown = std::exchange(run.thrown, cudaSuccess);
  Failure failure;
  for (const Catch::MessageInfo& message : stats.infoMessages) {
    if (message.type == Catch::ResultWas::Info) failure.details += message.message + "\n";
  }
  failure.place = fmt::format("{}:{}", course::short_path(result.getSourceInfo().file),
                              result.getSourceInfo().line);
  switch (result.getResultType()) {
    case Catch::ResultWas::ThrewException:
      failure.text = "an exception was thrown: " + std::string(result.getMessage());
      // On a GPU, the hardware's own memory check shows as the error of a later call.
      failure.is_rejection = !course::kCpuDevice && course::is_sticky(thrown);
      break;
    case Catch::ResultWas::FatalErrorCondition:
      failure.text = "the program crashed: " + std::string(result.getMessage());
      break;
    case Catch::ResultWas::DidntThrowException:
      failure.text = "an exception was expected from " + result.getExpression();
      failure.is_rejection = true;
      break;
    default:
      failure.text =
          result.hasExpression() ? expression_text(result) : std::string(result.getMessage());
      failure.is_rejection = true;
  }
  return failure;
}

/// Follows the tests, whichever reporter prints.
class Listener : public Catch::EventListenerBase {
 public:
  using EventListenerBase::EventListenerBase;

  void testCaseStarting(const Catch::TestCaseInfo& info) override {
    run.in_test = true;
    run.test_failed = false;
    begin_test(info.name);
  }
  void sectionStarting(const Catch::SectionInfo& info) override {
    run.sections.push_back(info.name);
  }
  void sectionEnded(const Catch::SectionStats&) override {
    if (run.sections.size() > 1) run.sections.pop_back();  // a late report still needs the first
  }
  void assertionEnded(const Catch::AssertionStats& stats) override {
    const Catch::AssertionResult& result = stats.assertionResult;
    run.crashed = result.getResultType() == Catch::ResultWas::FatalErrorCondition;
    if (result.getResultType() == Catch::ResultWas::ExplicitSkip) {
      run.skips[run.sections.front()] = std::string(result.getMessage());
    } else if (!result.isOk()) {
      Failure failure = describe(stats);
      failure.details += take_notes();
      // A report was recorded when it came in; now its FAIL_CHECK brings the messages of the test.
      const bool is_report = run.test_failed && run.failures.back().text == failure.text;
      if (is_report) run.failures.back().details = failure.details;
      record(std::move(failure));
    }
  }
  void testCaseEnded(const Catch::TestCaseStats&) override {
    run.in_test = false;
    if (!run.crashed) end_test();
    run.sections.clear();
  }
  void testRunEnded(const Catch::TestRunStats& stats) override {
    const Catch::Counts& tests = stats.totals.testCases;
    run.passed = tests.passed + tests.failedButOk;
    run.failed = tests.failed;
    run.skipped = tests.skipped;
    run.comparisons = stats.totals.assertions.total();
  }
};
CATCH_REGISTER_LISTENER(Listener)

/// For known-wrong answers: was the first thing that went wrong a check's verdict?
int judge_rejection() {
  if (run.failures.empty() && course::detail::devices_were_missing()) {
    fmt::print("not rejected, but some checks need more GPUs than there are here\n");
    return kSkipped;
  }
  if (run.failures.empty()) {
    fmt::print("not rejected: {} checks passed, {} were skipped\n", run.passed, run.skipped);
    return kFailed;
  }
  const Failure& failure = run.failures.front();
  const std::string what = failure.text.substr(0, failure.text.find('\n'));
  if (!failure.is_rejection) {
    fmt::print("no verdict, and so no rejection, in '{}': {}\n", failure.test, what);
    return kFailed;
  }
  fmt::print("rejected by '{}': {}\n", failure.test, what);
  return kPassed;
}

/// One screen: the first failure in full, the names of the others, what to do next.
class Reporter : public Catch::StreamingReporterBase {
 public:
  using StreamingReporterBase::StreamingReporterBase;
  static std::string getDescription() { return "What is wrong with an answer, on one screen"; }

  void testCaseStarting(const Catch::TestCaseInfo& info) override {
    if (run.device_lost) stop();
    StreamingReporterBase::testCaseStarting(info);
  }
  void testCaseEnded(const Catch::TestCaseStats& stats) override {
    if (run.test_failed && run.failures.size() == 1 && !run.expects_rejection) {
      const Failure& failure = run.failures.front();
      m_stream << "FAILED: " << failure.test << "\n" << indented(failure.text);
      if (!failure.details.empty()) m_stream << indented(failure.details);
      if (!failure.place.empty()) m_stream << indented("at " + failure.place);
      m_stream << std::flush;
    }
    StreamingReporterBase::testCaseEnded(stats);
  }
  void testRunEnded(const Catch::TestRunStats& stats) override {
    if (!run.failures.empty() && !run.expects_rejection) {
      print_others();
      print_next_steps();
    }
    StreamingReporterBase::testRunEnded(stats);
  }

 private:
  [[noreturn]] void stop() {
    if (run.expects_rejection) std::exit(proven(judge_rejection()));
    m_stream
        << "The GPU cannot be used after this error: the checks behind this one did not run.\n";
    print_next_steps();
    std::exit(kFailed);
  }
  void print_others() {
    constexpr std::size_t kMost = 5;
    const std::size_t count = run.failures.size();
    for (std::size_t i = 1; i < count && i <= kMost; ++i) {
      m_stream << "also failed: " << run.failures[i].test << "\n";
    }
    if (count > kMost + 1) m_stream << "and " << count - kMost - 1 << " more\n";
  }
  void print_next_steps() {
    const char* const edit = std::getenv("COURSE_EDIT");
    const char* const rerun = std::getenv("COURSE_RERUN");
    const char* const warnings = std::getenv("COURSE_WARNINGS");
    if (warnings != nullptr && *warnings != '\0') {
      m_stream << "\nThe compiler has a warning, too:\n" << indented(warnings);
    }
    if (run.seed != 0 && std::getenv("SIMT_SEED") != nullptr) {  // nobody tried the others
      m_stream << "\nThis is the shuffled schedule of SIMT_SEED=" << run.seed << ".\n";
    } else if (run.seed != 0) {
      m_stream << "\nOnly a shuffled schedule shows this; SIMT_SEED=" << run.seed
               << " replays it.\n";
    }
    if (edit != nullptr) m_stream << "\nedit:  " << edit << "\n";
    if (rerun != nullptr) m_stream << (edit == nullptr ? "\n" : "") << "rerun: " << rerun << "\n";
    m_stream << std::flush;
  }
};
CATCH_REGISTER_REPORTER("course", Reporter)

// ---- schedules and exit codes ------------------------------------------------------------------

/// The seeds of the schedules to run; on a GPU one that means nothing.
std::vector<std::uint64_t> schedules() {
  const char* const text = std::getenv("SIMT_SEED");
  if (!course::kCpuDevice) return {0};
  const char* const trace = std::getenv("SIMT_TRACE");
  const bool is_traced = trace != nullptr && *trace != '\0';
  if (text == nullptr && is_traced) return {0};
  if (text == nullptr) return {0, 1, 2, 3};
  char* end = nullptr;
  const std::uint64_t seed = std::strtoull(text, &end, 10);
  if (end == text || *end != '\0') throw std::invalid_argument("SIMT_SEED must be a number");
  return {seed};
}

/// Why no kernel can run here; empty if one can.
std::string missing_device() {
  int count = 0;
  const cudaError_t error = cudaGetDeviceCount(&count);
  if (error != cudaSuccess) return cudaGetErrorString(error);
  return count == 0 ? "there is no GPU" : "";
}

/// Runs the selected tests once; true if nothing failed.
bool run_schedule(Catch::Session& session, std::uint64_t seed) {
  Run fresh;
  fresh.expects_rejection = run.expects_rejection;
  fresh.seed = seed;
  run = std::move(fresh);
  const int code = session.run();
  // Catch2's code also tells of bad arguments, and that every test was skipped.
  const bool only_skips = run.failed == 0 && run.skipped > 0;
  return run.failures.empty() && run.failed == 0 && (code == 0 || only_skips);
}

/// Prints the lines of a run without failures, and returns main's exit code.
int judge(bool passed, std::size_t schedule_count) {
  if (run.expects_rejection) return judge_rejection();
  if (!passed) return kFailed;
  for (const auto& [test, reason] : run.skips) fmt::print("skipped: {}: {}\n", test, reason);
  if (run.passed == 0) {
    if (run.skipped == 0) fmt::print("FAILED: no check ran\n");
    return run.skipped > 0 ? kSkipped : kFailed;
  }
  if (run.comparisons == 0) {  // an answer that defines REQUIRE as nothing
    fmt::print("FAILED: {} checks ran, and compared nothing\n", run.passed);
    return kFailed;
  }
  fmt::print("{}{} {} passed{}\n", run.passed > 1 ? "all " : "", run.passed,
             run.passed > 1 ? "checks" : "check",
             schedule_count > 1 ? fmt::format(" under {} schedules", schedule_count) : "");
  return kPassed;
}

int run_checks(int argc, char** argv) {
  Catch::Session session;
  if (session.applyCommandLine(argc, argv) != 0) return kFailed;
  Catch::ConfigData& config = session.configData();
  if (config.showHelp || config.libIdentify || config.listTests || config.listTags ||
      config.listReporters || config.listListeners) {
    return session.run() == 0 ? kPassed : kFailed;
  }
  const bool own_reporter = config.reporterSpecifications.empty();
  if (own_reporter) config.reporterSpecifications.push_back({"course", {}, {}, {}});
  const char* const expected = std::getenv("COURSE_EXPECT");
  run.expects_rejection = expected != nullptr && std::string_view(expected) == "rejection";
  if (course::exercise_not_started) {
    fmt::print(
        "skipped: the exercise is not started: delete its NOT_STARTED line when you begin\n");
    return run.expects_rejection ? kFailed : kSkipped;
  }
  if (const std::string reason = missing_device(); !reason.empty()) {
    fmt::print("skipped: no kernel can run here: {}\n", reason);
    return kSkipped;
  }
  install_report_handler();
  const std::vector<std::uint64_t> seeds = schedules();
  bool passed = true;
  for (std::size_t i = 0; i < seeds.size() && passed; ++i) {
    passed = run_schedule(session, seeds[i]);
  }
  if (!own_reporter && !run.expects_rejection) {  // it has printed its own summaries
    return !passed ? kFailed : run.passed > 0 ? kPassed : run.skipped > 0 ? kSkipped : kFailed;
  }
  return judge(passed, seeds.size());
}

}  // namespace

void course::detail::remember_verdict(const std::string& text) { last_verdict = text; }

int main(int argc, char** argv) {
  try {
    return proven(run_checks(argc, argv));
  } catch (const std::exception& error) {
    fmt::print(stderr, "{}\n", error.what());
    return kFailed;
  }
}
