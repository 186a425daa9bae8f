// The runtime API: sticky and last error, calls that a test makes fail, the texts of errors.
#include "api/errors.hpp"

#include <fmt/format.h>

#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "base/program.hpp"
#include "report/reports.hpp"
#include "report/source_lines.hpp"
#include "simt/runtime.hpp"
#include "simt/testing.hpp"

namespace simt {
namespace {

struct Errors {
  cudaError_t sticky = cudaSuccess;
  cudaError_t last = cudaSuccess;
  bool in_host_function = false;
};
Errors errors;

/// The first launch that was refused since the program asked for the last error.
struct RefusedLaunch {
  std::string kernel, text;
  std::vector<const void*> calls;
};
std::optional<RefusedLaunch>& unread_launch() {
  static auto& launch = *new std::optional<RefusedLaunch>;
  return launch;
}

/// What the FailingCall that lives has planned.
struct Plan {
  bool exists = false;
  std::uint64_t calls_left = 0;  // up to the call that fails, that one included
  cudaError_t error = cudaSuccess;
  bool lasts = false;              // all calls after it fail, too
  std::vector<const void*> calls;  // that led to the one that failed; empty before
};
Plan& plan() {
  static Plan& p = *new Plan;
  return p;
}

cudaError_t planned_failure(const void* caller) {
  Plan& p = plan();
  if (p.calls_left == 0 || --p.calls_left > 0) return cudaSuccess;
  p.calls = calls_behind(caller);
  if (p.lasts) set_sticky_error(p.error);
  return failed(p.error);
}

}  // namespace

FailingCall::FailingCall(std::uint64_t number, cudaError_t error, bool lasts) {
  if (plan().exists) throw std::logic_error("simt::FailingCall: there is one already");
  plan() = {true, number, error, lasts, {}};
}

FailingCall::~FailingCall() {
  if (plan().lasts && !plan().calls.empty()) reset_errors();
  plan() = {};
}

std::string FailingCall::line() const {
  return plan().calls.empty() ? "" : source_line(plan().calls).text();
}

cudaError_t enter(const void* caller) {
  if (const cudaError_t error = enter_to_give_back(caller)) return error;
  return planned_failure(caller);
}

cudaError_t enter_to_give_back(const void* caller) {
  refuse_other_threads(
      "a call of the CUDA runtime from a second thread of the host: make all calls from one thread",
      caller);
  if (in_kernel()) {
    trap("a kernel calls a function of the CUDA runtime that only the host has",
         cudaErrorLaunchFailure, caller);
  }
  if (errors.in_host_function) return failed(cudaErrorNotPermitted);
  return sticky_error();
}

cudaError_t failed(cudaError_t error) { return errors.last = error; }

cudaError_t sticky_error() {
  return errors.sticky == cudaSuccess ? cudaSuccess : failed(errors.sticky);
}

void set_sticky_error(cudaError_t error) {
  if (errors.sticky == cudaSuccess) errors.sticky = error;
}

void launch_refused(const char* kernel, std::string text, std::vector<const void*> calls) {
  if (!unread_launch()) unread_launch() = {kernel, std::move(text), std::move(calls)};
}

void report_unread_launch() {
  if (!unread_launch()) return;
  const RefusedLaunch launch = *std::exchange(unread_launch(), std::nullopt);
  const SourceLine line = source_line(launch.calls);
  deliver(
      {ReportKind::not_started, launch.kernel, line.file, line.line,
       fmt::format("KERNEL NOT STARTED: {}\n  at {}\n  {}\n"
                   "  Nothing of the kernel has run, and the program has not asked for the error:\n"
                   "  cudaGetLastError() after the launch returns it.",
                   launch.kernel, line.text(), launch.text)});
}

void reset_errors() {
  errors = {};
  unread_launch().reset();
}

void run_host_function(const std::function<void()>& call) {
  errors.in_host_function = true;
  call();
  errors.in_host_function = false;
}

}  // namespace simt

// ---- the runtime API ----------------------------------------------------------------------------

cudaError_t cudaPeekAtLastError() {
  simt::unread_launch().reset();
  return simt::errors.last;
}

cudaError_t cudaGetLastError() {
  simt::unread_launch().reset();
  return std::exchange(simt::errors.last, cudaSuccess);
}

const char* cudaGetErrorName(cudaError_t error) {
  switch (error) {
#define SIMT_ERROR(code, name, text) \
  case name:                         \
    return #name;
#include "simt/error_codes.def"
#undef SIMT_ERROR
  }
  return "unrecognized error code";
}

const char* cudaGetErrorString(cudaError_t error) {
  switch (error) {
#define SIMT_ERROR(code, name, text) \
  case name:                         \
    return text;
#include "simt/error_codes.def"
#undef SIMT_ERROR
  }
  return "unrecognized error code";
}
