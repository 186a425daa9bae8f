// main() of every check: runs Catch2, on the CPU device once per schedule. check_reporter.cpp says on
// one screen what is wrong, check_result.cpp says it in a file. What a lesson's programs show their readers is in
// shown_claims.cpp. Exit codes, as Meson understands them:
// 0 passed, 1 failed, 77 skipped.
//
// Environment:
//   SIMT_SEED=k                 the CPU device's schedule k only
//   COURSE_SEEDS=0,2            some of the CPU device's schedules; without it 0,1,2,3
//   COURSE_FIRST_SEED=k         of the CPU device's schedules this one first, such as the one that found something last time
//   SIMT_TRACE=FILE             records what the lanes do, under one schedule: SIMT_SEED, else 0
//   COURSE_EDIT, COURSE_RERUN   the file to edit and the command to rerun, shown below a failure
//   COURSE_WARNINGS             the compiler's, shown below a failure
//   COURSE_EXPECT=rejection     for known-wrong answers: passes if a check, or the CPU device's
//                               checker, rejects the answer; no crash, skip or exception counts.
//                               The first test case that fails decides, and is the last one that runs.
//                               Any other word, such as acceptance, changes nothing here
//   COURSE_RESULT=socket:N      the socket to send the result through (common/docs/schemas.md): an answer
//                               that ends the program itself sends none. Where Meson itself starts this
//                               program: a file
//   COURSE_TRANSCRIPT=WORD      what the number that follows from all comparisons begins with
//   COURSE_WAITING=FILE         exists while this program waits for its turn on the GPU: its runner's
//                               time limit is suspended until then
//   COURSE_CPU_SECONDS=N        the processor time in seconds that the check may take on the CPU device
//   COURSE_PROCESSES=N          how many processes run the test cases on the CPU device at the same time; without it 1
//   COURSE_COUNT_SECONDS=N      an answer that has passed runs once more: on the CPU device counted, in at most N s of
//                               elapsed time, on a GPU timed; its result then has its counts
//   COURSE_GPU_TURNS=N          how many programs of the course may use a GPU at the same time (gpu_turn.hpp)
#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>
#include <course/device.cuh>
#include <course/error.cuh>
#include <course/exercise.cuh>

#include <algorithm>
#include <catch2/catch_session.hpp>
#include <catch2/catch_test_case_info.hpp>
#include <catch2/catch_test_spec.hpp>
#include <catch2/internal/catch_test_case_registry_impl.hpp>
#include <cmath>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "answer_counts.hpp"
#include "check_reporter.hpp"
#include "gpu_turn.hpp"
#include "shared_cases.hpp"
#include "waiting_time.hpp"

namespace course::runner {
namespace {

/// The numbers of a setting, with commas between them.
std::vector<std::uint64_t> seeds_of(const char* setting) {
  std::vector<std::uint64_t> seeds;
  for (const char* text = std::getenv(setting);; ++text) {
    char* end = nullptr;
    seeds.push_back(std::strtoull(text, &end, 10));
    if (end == text || (*end != '\0' && *end != ','))
      throw std::invalid_argument(fmt::format("{} must be seeds such as 0,2", setting));
    if (*end == '\0') return seeds;
    text = end;
  }
}

/// The seeds of the schedules to run; on a GPU one seed, which has no effect.
std::vector<std::uint64_t> schedules() {
  if (!kCpuDevice) return {0};
  if (std::getenv("SIMT_SEED") != nullptr) return seeds_of("SIMT_SEED");
  const char* const trace = std::getenv("SIMT_TRACE");
  if (trace != nullptr && *trace != '\0') return {0};
  if (std::getenv("COURSE_SEEDS") != nullptr) return seeds_of("COURSE_SEEDS");
  std::vector<std::uint64_t> seeds = {0, 1, 2, 3};
  const char* const first = std::getenv("COURSE_FIRST_SEED");
  if (first == nullptr) return seeds;
  std::stable_partition(seeds.begin(), seeds.end(),
                        [&](std::uint64_t seed) { return std::to_string(seed) == first; });
  return seeds;
}

// ---- time ---------------------------------------------------------------------------------------

double cpu_seconds = 0;  // that the check may take; 0 is no limit

/// The code that takes so long may hold a lock that the message needs: then the alarm ends the program.
void stop_out_of_time(int) {
  constexpr unsigned kSecondsForTheTexts = 10;
  std::signal(SIGALRM, SIG_DFL);
  alarm(kSecondsForTheTexts);
  end_out_of_time(cpu_seconds);
}

/// The limit is on processor time, not on elapsed time: on a busy machine a check takes longer, and
/// must not fail for that.
void limit_time() {
  const char* const text = std::getenv("COURSE_CPU_SECONDS");
  if (!kCpuDevice || text == nullptr) return;
  cpu_seconds = std::strtod(text, nullptr);
  if (!(cpu_seconds > 0))
    throw std::invalid_argument("COURSE_CPU_SECONDS must be a number above 0");
  struct sigaction action {};
  action.sa_handler = stop_out_of_time;
  action.sa_flags = SA_ONSTACK | SA_RESETHAND;
  sigaction(SIGXCPU, &action, nullptr);
  rlimit limit{};
  getrlimit(RLIMIT_CPU, &limit);
  limit.rlim_cur = std::min<rlim_t>(limit.rlim_max, static_cast<rlim_t>(std::ceil(cpu_seconds)));
  setrlimit(RLIMIT_CPU, &limit);
}

/// Why no kernel can run here; empty if one can.
std::string missing_device() {
  int count = 0;
  const cudaError_t error = cudaGetDeviceCount(&count);
  if (error != cudaSuccess) return cudaGetErrorString(error);
  return count == 0 ? "there is no GPU" : "";
}

/// Waits for a turn on the GPU, and lets the runner know that it waits.
std::optional<Turn> wait_for_turn() {
  const char* const text = std::getenv("COURSE_WAITING");
  const std::filesystem::path file = text == nullptr ? "" : text;
  if (!file.empty()) std::ofstream(file).close();
  auto turn = take_gpu_turn(
      [] { fmt::print(stderr, "waiting: other programs of the course use this GPU\n"); });
  std::error_code ignored;
  if (!file.empty()) std::filesystem::remove(file, ignored);
  return turn;
}

/// Runs the selected tests once; true if nothing failed.
bool run_schedule(Catch::Session& session, std::uint64_t seed, std::size_t count,
                  bool expects_rejection) {
  begin_schedule(seed, count, expects_rejection);
  const int code = session.run();
  end_schedule();
  // Catch2's code also tells of bad arguments, and that every test was skipped.
  const bool only_skips = run().failed == 0 && run().skipped > 0;
  return run().failures.empty() && run().failed == 0 && (code == 0 || only_skips);
}

Ending said(Verdict verdict, const std::string& line) {
  fmt::print("{}\n", line);
  return {verdict, line};
}

/// One line for each reason why test cases were skipped.
std::vector<std::string> skipped_tests() {
  constexpr std::size_t kMostNames = 2;
  std::map<std::string, std::vector<std::string>> tests_of;
  for (const auto& [test, why] : run().skips) tests_of[why].push_back(test);
  std::vector<std::string> lines;
  for (const auto& [why, tests] : tests_of) {
    lines.push_back(fmt::format("{}: {}",
                                tests.size() > kMostNames
                                    ? fmt::format("{} and {} more", tests[0], tests.size() - 1)
                                    : fmt::format("{}", fmt::join(tests, "; ")),
                                why));
  }
  return lines;
}

/// How a run without failures ended; prints its lines.
Ending judge_success(std::size_t schedule_count) {
  const std::vector<std::string> skipped = skipped_tests();
  for (const std::string& line : skipped) {
    fmt::print("{}: {}\n", run().passed > 0 ? "not tried here" : "skipped", line);
  }
  if (run().passed == 0 && run().skipped == 0) return said(Verdict::failed, "FAILED: no check ran");
  if (run().passed == 0) return {Verdict::skipped, skipped.empty() ? "" : skipped.front()};
  if (!run().has_compared) {  // an answer that defines REQUIRE as nothing
    return said(Verdict::failed,
                fmt::format("FAILED: {} checks ran, and compared nothing", run().passed));
  }
  return said(
      Verdict::passed,
      fmt::format("{}{} {} passed{}", run().passed > 1 ? "all " : "", run().passed,
                  run().passed > 1 ? "checks" : "check",
                  schedule_count > 1 ? fmt::format(" under {} schedules", schedule_count) : ""));
}

/// The same for a run whose own reporter has printed the lines.
Ending judge_silently(bool passed) {
  if (!passed) return {Verdict::failed};
  return {run().passed > 0    ? Verdict::passed
          : run().skipped > 0 ? Verdict::skipped
                              : Verdict::failed};
}

Ending judge(bool passed, bool own_reporter, std::size_t schedule_count) {
  if (run().expects_rejection) return judge_rejection();
  if (!own_reporter) return judge_silently(passed);
  if (passed) return judge_success(schedule_count);
  const auto& failures = run().failures;
  return {Verdict::failed, failures.empty() ? "" : first_line(failures.front().text)};
}

/// What the answer did under schedule 0, if that is wanted; empty if nothing was counted.
AnswerCounts count_passed(Catch::Session& session) {
  const char* const text = std::getenv("COURSE_COUNT_SECONDS");
  const double seconds = text == nullptr ? 0 : std::strtod(text, nullptr);
  if (run().expects_rejection || !(seconds > 0)) return {};
  if (!kCpuDevice && skip_large()) return {};  // a sanitizer decides how long a launch takes
  show_counting();
  AnswerCounts counts = count_answer([&] { return run_schedule(session, 0, 1, false); }, seconds);
  end_in_time();
  end_progress();
  return counts;
}

/// Runs one of the selected tests alone: Catch2 divides them into as many shards as there are.
void run_case(Catch::Session& session, std::size_t number, std::size_t cases) {
  const Catch::ConfigData all = session.configData();
  Catch::ConfigData config = all;
  config.shardCount = static_cast<unsigned>(cases);
  config.shardIndex = static_cast<unsigned>(number);
  session.useConfigData(config);
  session.run();
  session.useConfigData(all);
}

bool has_failed() { return !run().failures.empty() || run().failed > 0; }

/// The work of a helper: test cases from the last one on, until one fails.
void help(Catch::Session& session, const std::vector<std::uint64_t>& seeds, SharedCases& shared) {
  for (std::size_t i = 0; i < seeds.size(); ++i) {
    begin_schedule(seeds[i], i + 1, false);
    for (std::size_t number = shared.cases(); number-- > 0;) {
      if (!shared.take(i, number)) continue;
      const Run before = run();
      run_case(session, number, shared.cases());
      if (has_failed()) return;
      shared.tell(i, number, outcome_between(before, run()));
    }
  }
}

/// Runs the selected tests under each schedule, beside helpers that take some of them; true if nothing failed.
bool run_with_helpers(Catch::Session& session, const std::vector<std::uint64_t>& seeds,
                      std::size_t cases, std::size_t processes) {
  SharedCases shared(seeds.size(), cases);
  for (std::size_t k = 1; k < processes; ++k) {
    shared.start_helper([&] { help(session, seeds, shared); });
  }
  start_waiting_time();
  for (std::size_t i = 0; i < seeds.size(); ++i) {
    begin_schedule(seeds[i], i + 1, false);
    for (std::size_t number = 0; number < cases; ++number) {
      const CaseOutcome* const outcome =
          shared.take(i, number) ? nullptr : shared.wait_for(i, number);
      if (outcome != nullptr) {
        note_case(*outcome);
      } else {
        run_case(session, number, cases);
      }
    }
    end_schedule();
    if (has_failed()) return false;
  }
  return true;
}

/// Runs the selected tests under each schedule until one fails; true if none did.
bool run_alone(Catch::Session& session, const std::vector<std::uint64_t>& seeds,
               bool expects_rejection) {
  start_waiting_time();
  bool passed = true;
  for (std::size_t i = 0; i < seeds.size() && passed; ++i) {
    passed = run_schedule(session, seeds[i], i + 1, expects_rejection);
  }
  return passed;
}

/// How many tests are selected.
std::size_t selected_cases(Catch::Session& session) {
  const Catch::Config& config = session.config();
  return Catch::filterTests(Catch::getAllTestCasesSorted(config), config.testSpec(), config).size();
}

/// Runs the checks; returns the exit code.
int run_checks(int argc, char** argv) {
  Catch::Session session;
  if (session.applyCommandLine(argc, argv) != 0) return 1;
  Catch::ConfigData& config = session.configData();
  if (config.showHelp || config.libIdentify || config.listTests || config.listTags ||
      config.listReporters || config.listListeners) {
    return session.run() == 0 ? 0 : 1;
  }
  const bool own_reporter = config.reporterSpecifications.empty();
  if (own_reporter) config.reporterSpecifications.push_back({"course", {}, {}, {}});
  const char* const expected = std::getenv("COURSE_EXPECT");
  const bool expects_rejection = expected != nullptr && std::string_view(expected) == "rejection";
  if (exercise_not_started) {
    const std::string reason =
        "the exercise is not started: delete its NOT_STARTED line when you begin";
    fmt::print("skipped: {}\n", reason);
    return finish({expects_rejection ? Verdict::not_rejected : Verdict::not_started, reason});
  }
  if (const std::string missing = missing_device(); !missing.empty()) {
    const std::string reason = "no kernel can run here: " + missing;
    fmt::print("skipped: {}\n", reason);
    return finish({Verdict::skipped, reason});
  }
  const std::optional<Turn> turn = wait_for_turn();
  install_report_handler();
  limit_time();
  const std::vector<std::uint64_t> seeds = schedules();
  const std::size_t cases = own_reporter ? selected_cases(session) : 1;
  const std::size_t processes =
      kCpuDevice && !expects_rejection ? std::min(processes_of_check(), cases) : 1;
  const bool passed = processes > 1 ? run_with_helpers(session, seeds, cases, processes)
                                    : run_alone(session, seeds, expects_rejection);
  end_in_time();
  end_progress();
  const Ending ending = judge(passed, own_reporter, seeds.size());
  if (ending.verdict == Verdict::passed) remember_counts(count_passed(session));
  return finish(ending);
}

}  // namespace
}  // namespace course::runner

int main(int argc, char** argv) {
  using namespace course::runner;
  remove_result();
  set_program(std::filesystem::path(argv[0]).filename().string());
  try {
    return run_checks(argc, argv);
  } catch (const std::exception& error) {
    fmt::print(stderr, "{}\n", error.what());
    return finish({Verdict::failed, error.what()});
  }
}
