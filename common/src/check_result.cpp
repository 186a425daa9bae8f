#include "check_result.hpp"

#include <course/device.cuh>
#include <course/error.cuh>

#include <chrono>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

namespace course::runner {

// What the file calls them.
NLOHMANN_JSON_SERIALIZE_ENUM(Verdict, {{Verdict::passed, "passed"},
                                       {Verdict::failed, "failed"},
                                       {Verdict::rejected, "rejected"},
                                       {Verdict::not_rejected, "not_rejected"},
                                       {Verdict::skipped, "skipped"},
                                       {Verdict::not_started, "not_started"}})
NLOHMANN_JSON_SERIALIZE_ENUM(FailureKind, {{FailureKind::check, "check"},
                                           {FailureKind::finding, "finding"},
                                           {FailureKind::exception, "exception"},
                                           {FailureKind::crash, "crash"},
                                           {FailureKind::time_out, "time_out"}})

namespace {

/// The value of an environment variable, which is wiped out: no other code needs it.
std::string take(const char* name) {
  char* const value = std::getenv(name);
  if (value == nullptr) return "";
  std::string taken = value;
  std::memset(value, 0, taken.size());
  unsetenv(name);
  return taken;
}

/// 101: before the initialisers of an answer.
[[gnu::init_priority(101)]] const std::string result_file = take("COURSE_RESULT");
[[gnu::init_priority(101)]] const std::string proof = take("COURSE_PROOF");
const auto start = std::chrono::steady_clock::now();

using Json = nlohmann::ordered_json;

Json as_json(const Finding& finding) {
  if (finding.kind.empty()) return nullptr;
  Json accesses = Json::array();
  for (const Access& access : finding.accesses) {
    accesses.push_back({{"kind", access.kind},
                        {"file", access.file},
                        {"line", access.line},
                        {"block", access.block},
                        {"thread", access.thread}});
  }
  return {{"kind", finding.kind},
          {"kernel", finding.kernel},
          {"object", finding.object},
          {"accesses", accesses}};
}

Json as_json(const Failure& failure) {
  return {{"test", failure.test},
          {"kind", failure.kind},
          {"text", failure.text},
          {"details", failure.details},
          {"file", failure.file},
          {"line", failure.line},
          {"finding", as_json(failure.finding)}};
}

std::string environment(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? "" : value;
}

/// What runs the kernels: its name, or nothing where there is none.
std::string device_name() {
  if (kCpuDevice) return "CPU device";
  cudaDeviceProp properties;
  return cudaGetDeviceProperties(&properties, 0) == cudaSuccess ? properties.name : "";
}

}  // namespace

int exit_code(Verdict verdict) {
  switch (verdict) {
    case Verdict::passed:
    case Verdict::rejected:
      return 0;
    case Verdict::skipped:
    case Verdict::not_started:
      return 77;
    default:
      return 1;
  }
}

std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

void remove_result() {
  std::error_code none;
  if (!result_file.empty()) std::filesystem::remove(result_file, none);
}

void write_result(const Run& run, const std::string& program, Verdict verdict,
                  const std::string& reason) {
  if (result_file.empty()) return;
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
  Json failures = Json::array(), skips = Json::array();
  for (const Failure& failure : run.failures) failures.push_back(as_json(failure));
  for (const auto& [test, why] : run.skips) skips.push_back({{"test", test}, {"reason", why}});
  const Json result = {{"schema", "course.result"},
                       {"version", 1},
                       {"program", program},
                       {"device", device_name()},
                       {"verdict", verdict},
                       {"reason", reason},
                       {"seed", kCpuDevice ? Json(run.seed) : Json(nullptr)},
                       {"schedules", run.schedules},
                       {"seconds", seconds.count()},
                       {"proof", proof},
                       {"checks",
                        {{"passed", run.passed},
                         {"failed", run.failed},
                         {"skipped", run.skipped},
                         {"comparisons", run.comparisons}}},
                       {"failures", failures},
                       {"skips", skips},
                       {"edit", environment("COURSE_EDIT")},
                       {"rerun", environment("COURSE_RERUN")}};
  std::error_code none;
  std::filesystem::create_directories(std::filesystem::path(result_file).parent_path(), none);
  // A value of a learner's array may be no text at all.
  std::ofstream(result_file) << result.dump(1, ' ', false, Json::error_handler_t::replace) << "\n";
}

}  // namespace course::runner
