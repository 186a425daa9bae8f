#include "check_result.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>
#include <course/device.cuh>
#include <course/error.cuh>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string_view>

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

/// Where the result goes: to the runner of an answer, which holds the other end of a socket, or into a
/// file, if Meson itself has started the program.
[[gnu::init_priority(101)]] const std::string result_file = take("COURSE_RESULT");

constexpr std::string_view kSocket = "socket:";

/// The number of the socket, or -1.
int result_socket() {
  return result_file.starts_with(kSocket) ? std::atoi(result_file.c_str() + kSocket.size()) : -1;
}

[[gnu::init_priority(101)]] const std::string first_word = take("COURSE_TRANSCRIPT");
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

Json as_json(const std::shared_ptr<const WrongValues>& values) {
  if (!values) return nullptr;
  Json facts = Json::array();
  for (const WrongValues::Fact& fact : values->facts) {
    facts.push_back({{"kind", fact.kind}, {"text", fact.text}});
  }
  return {{"name", values->name},   {"size", values->size}, {"wrong", values->wrong},
          {"first", values->first}, {"last", values->last}, {"expected", values->expected},
          {"found", values->found}, {"facts", facts}};
}

Json as_json(const Failure& failure) {
  return {{"test", failure.test},
          {"kind", failure.kind},
          {"text", failure.text},
          {"details", failure.details},
          {"file", failure.file},
          {"line", failure.line},
          {"finding", as_json(failure.finding)},
          {"values", as_json(failure.values)},
          {"nearest_passed", failure.nearest_passed}};
}

Json as_json(const Count& count) {
  return {
      {"name", count.name}, {"what", count.what}, {"costs", count.costs}, {"value", count.value}};
}

std::string environment(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? "" : value;
}

std::string prepared;  // a result that may have to be sent at any moment
bool is_sent = true;   // or goes nowhere

/// What runs the kernels: its name, or nothing where there is none.
std::string device_name() {
  if (kCpuDevice) return "CPU device";
  cudaDeviceProp properties;
  return cudaGetDeviceProperties(&properties, 0) == cudaSuccess ? properties.name : "";
}

}  // namespace

Transcript::Transcript() { add(first_word); }

void Transcript::add(std::string_view text) {
  constexpr std::uint64_t kPrime = 1'099'511'628'211;  // of the hash FNV-1a
  for (const char c : text) value_ = (value_ ^ static_cast<unsigned char>(c)) * kPrime;
  value_ = (value_ ^ text.size()) * kPrime;
}

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
  if (!result_file.empty() && result_socket() < 0) std::filesystem::remove(result_file, none);
}

void prepare_result(const Run& run, const std::string& program, Verdict verdict,
                    const std::string& reason) {
  if (result_file.empty()) return;
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
  Json failures = Json::array(), skips = Json::array(), counts = Json::array();
  for (const Failure& failure : run.failures) failures.push_back(as_json(failure));
  for (const auto& [test, why] : run.skips) skips.push_back({{"test", test}, {"reason", why}});
  for (const Count& count : run.counts) counts.push_back(as_json(count));
  const Json result = {{"schema", "course.result"},
                       {"version", 1},
                       {"program", program},
                       {"device", device_name()},
                       {"verdict", verdict},
                       {"reason", reason},
                       {"seed", kCpuDevice ? Json(run.seed) : Json(nullptr)},
                       {"schedules", run.schedules},
                       {"seconds", seconds.count()},
                       {"transcript", fmt::format("{:016x}", run.transcript.value())},
                       {"checks",
                        {{"passed", run.passed},
                         {"failed", run.failed},
                         {"skipped", run.skipped},
                         {"comparisons", run.comparisons}}},
                       {"failures", failures},
                       {"skips", skips},
                       {"counts", counts},
                       {"edit", environment("COURSE_EDIT")},
                       {"rerun", environment("COURSE_RERUN")}};
  // A value of a learner's array may be no text at all.
  prepared = result.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
  if (result_socket() >= 0) return;
  std::error_code none;
  std::filesystem::create_directories(std::filesystem::path(result_file).parent_path(), none);
}

void send_prepared_result() {
  if (prepared.empty() || !is_sent) return;
  int out = result_socket();
  if (out < 0) out = ::open(result_file.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  for (std::size_t sent = 0; sent < prepared.size();) {
    const ssize_t n = ::write(out, prepared.data() + sent, prepared.size() - sent);
    if (n <= 0) break;
    sent += static_cast<std::size_t>(n);
  }
  ::close(out);
}

void send_no_result() { is_sent = false; }

void write_result(const Run& run, const std::string& program, Verdict verdict,
                  const std::string& reason) {
  prepare_result(run, program, verdict, reason);
  send_prepared_result();
}

}  // namespace course::runner
