// What the check of host_program calls it with, and what it expects of a call: values, errors,
// and everything given back.
#pragma once

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <course/check.cuh>
#include <course/host_calls.cuh>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "checks/host_memory.cuh"

namespace host_runs {

using Program = std::function<double(const std::uint32_t* x, std::size_t n, unsigned steps,
                                     unsigned block, std::uint64_t* y)>;

struct Call {
  std::size_t n;
  unsigned steps, block;
};

inline std::string text(const Call& call) {
  return "host_program(x, n = " + std::to_string(call.n) + ", steps " + std::to_string(call.steps) +
         ", block " + std::to_string(call.block) + ", y)";
}

/// What a call that is made to fail returns: no program throws it by chance.
constexpr cudaError_t kInjected = cudaErrorECCUncorrectable;

/// How a call ended.
struct Ending {
  std::optional<double> microseconds;      // what it returned, if it did
  std::optional<cudaError_t> thrown;       // the code of the CudaError that it threw, if it did
  cudaError_t left = cudaSuccess;          // what cudaGetLastError() found after it
  std::optional<course::HostRun> run;      // what the CPU device saw
  std::optional<std::string> failed_line;  // where the CUDA call was that was made to fail
};

/// Calls the program. `failing` is the number of the CUDA call that is to fail, 0 for none. `at_end`
/// runs when the program returns, before anything waits for the device.
inline Ending call(const Program& program, const std::uint32_t* x, const Call& c, std::uint64_t* y,
                   std::uint64_t failing = 0, const std::function<void()>& at_end = {}) {
  Ending ending;
  const auto work = [&] {
    try {
      ending.microseconds = program(x, c.n, c.steps, c.block, y);
    } catch (const course::CudaError& error) {
      ending.thrown = error.code();
    }
    if (at_end) at_end();
    ending.left = cudaGetLastError();
  };
  try {
    ending.run = course::watch_host([&] {
      if (failing == 0) return work();
      ending.failed_line = course::with_failing_call(failing, kInjected, work);
    });
  } catch (const course::CudaError& error) {  // of what the program has not waited for
    if (!ending.thrown) ending.thrown = error.code();
  }
  return ending;
}

// ---- values -------------------------------------------------------------------------------------

/// Other numbers in every call: what an earlier call left in the device's memory is wrong.
inline std::vector<std::uint32_t> fresh_numbers(std::size_t n) {
  static std::uint32_t calls = 0;
  return course::position_values<std::uint32_t>(n, ++calls);
}

inline std::uint64_t state_after(std::uint32_t x, unsigned steps) {
  std::uint64_t state = x;
  for (unsigned step = 0; step < steps; ++step) {
    state = state * 6364136223846793005u + 1442695040888963407u;
  }
  return state;
}

constexpr std::uint64_t kUntouched = 0x7777'7777'7777'7777;
inline bool is_partly_untouched(std::uint64_t y) {
  return static_cast<std::uint32_t>(y) == 0x7777'7777 || y >> 32 == 0x7777'7777;
}
constexpr std::size_t kGuard = 64;  // elements before and after y

/// Calls the program with fresh numbers, and throws y away.
inline Ending call_once(const Program& program, const Call& c, std::uint64_t failing = 0) {
  const LastNumbers x(fresh_numbers(c.n));
  std::vector<std::uint64_t> memory(c.n + 2 * kGuard);
  return call(program, x.data(), c, memory.data() + kGuard, failing);
}

/// Ok if a call writes the states into y, when it returns and nowhere else.
inline course::Verdict writes_states(const Program& program, const Call& c) {
  const std::vector<std::uint32_t> x = fresh_numbers(c.n), x_before = x;
  std::vector<std::uint64_t> memory(c.n + 2 * kGuard, kUntouched), at_end;
  const Ending ending =
      call(program, x.data(), c, memory.data() + kGuard, 0, [&] { at_end = memory; });
  if (ending.thrown) {
    return {false, std::string("expected no exception, found course::CudaError with ") +
                       cudaGetErrorName(*ending.thrown)};
  }
  const auto first = at_end.begin() + kGuard, last = at_end.end() - kGuard;
  const std::vector<std::uint64_t> y(first, last);
  std::vector<std::uint64_t> expected;
  for (const std::uint32_t number : x_before) expected.push_back(state_after(number, c.steps));
  const auto untouched = [](std::uint64_t value) { return value == kUntouched; };
  const auto inputs = [&](std::size_t i) {
    const std::string numbers = "x[" + std::to_string(i) + "] = " + std::to_string(x[i]) + " and " +
                                course::counted(c.steps, "step");
    if (!is_partly_untouched(y[i])) return numbers;
    return numbers +
           ";\nit holds, at least in part, what it held before the call: are all bytes of y "
           "copied back\nbefore host_program returns?";
  };
  if (const auto verdict = course::same(y, expected, "y", inputs); !verdict) return verdict;
  if (!std::all_of(at_end.begin(), first, untouched) ||
      !std::all_of(last, at_end.end(), untouched)) {
    return {false, "y: the host's memory before or after its n elements was overwritten"};
  }
  return course::same(x, x_before, "x", "x is the caller's, and only to be read");
}

// ---- what is given back -------------------------------------------------------------------------

inline course::Verdict gives_everything_back(const Ending& ending) {
  if (!ending.run || ending.run->not_given_back.empty()) return {};
  std::string list;
  for (const std::string& item : ending.run->not_given_back) list += "\n  " + item;
  return {false, "host_program has not given back:" + list +
                     (ending.thrown ? "\nIt threw an exception: what comes after a throw does not "
                                      "run, but destructors do."
                                    : "")};
}

inline course::Verdict leaves_no_error(const Ending& ending) {
  if (ending.left == cudaSuccess) return {};
  return {false, std::string("CUDA holds an error that host_program left: ") +
                     cudaGetErrorName(ending.left) +
                     ".\nThe next check after a launch would report it: cudaGetLastError() reads "
                     "and clears it."};
}

/// Ok if the program told of the error with this code, if there is one, and gave everything
/// back.
inline course::Verdict tells_of(std::optional<cudaError_t> code, const Ending& ending,
                                const std::string& hint) {
  if (!ending.thrown) return {false, "expected course::CudaError, found no exception\n" + hint};
  if (code && *ending.thrown != *code) {
    return {false, std::string("expected course::CudaError with ") + cudaGetErrorName(*code) +
                       ", found " + cudaGetErrorName(*ending.thrown) + "\n" + hint};
  }
  if (const auto verdict = gives_everything_back(ending); !verdict) return verdict;
  return leaves_no_error(ending);
}

/// Ok if the program tells of every CUDA call that fails, whichever it is.
inline course::Verdict tells_of_every_failing_call(const Program& program, const Call& c) {
  for (std::uint64_t number = 1;; ++number) {
    const Ending ending = call_once(program, c, number);
    if (!ending.failed_line || ending.failed_line->empty()) return {};
    const auto verdict = tells_of(kInjected, ending,
                                  "CUDA_CHECK(...) around every call and CUDA_CHECK_LAUNCH() after "
                                  "the launch throw it.");
    if (!verdict) {
      return {false, verdict.text + "\nOn purpose, the CUDA call at " + *ending.failed_line +
                         " failed with " + cudaGetErrorName(kInjected) + "."};
    }
  }
}

}  // namespace host_runs
