// What host code does: the CPU device's log of work, what is held, and a call that fails.
#include <course/host_calls.cuh>

#include <course/device.cuh>
#include <course/devices.cuh>

#if COURSE_CPU_DEVICE
#include <fmt/format.h>
#include <simt/testing.hpp>

#include <algorithm>
#include <chrono>
#include <unordered_set>
#endif

namespace course {

#if COURSE_CPU_DEVICE

namespace {

using HostTime = std::chrono::steady_clock::time_point;

double microseconds_between(HostTime begin, HostTime end) {
  return std::chrono::duration<double, std::micro>(end - begin).count();
}

std::string holding_text(const simt::Holding& holding) {
  using Kind = simt::Holding::Kind;
  const auto memory = [&](const char* kind) {
    return fmt::format("{} bytes of {} memory, allocated at {}", holding.bytes, kind,
                       holding.line());
  };
  switch (holding.kind) {
    case Kind::device_memory:
      return memory("device");
    case Kind::managed_memory:
      return memory("managed");
    case Kind::pinned_memory:
      return memory("pinned");
    case Kind::stream:
      return "a stream, made at " + holding.line();
    case Kind::event:
      return "an event, made at " + holding.line();
  }
  return "";
}

/// Fills in the kernels and their times; the work began and ended at these times.
void tell_kernels(const std::vector<simt::Work>& log, HostTime began, HostTime ended,
                  HostRun* run) {
  const auto is_kernel = [](const simt::Work& work) {
    return work.kind == simt::Work::Kind::kernel;
  };
  const auto first = std::find_if(log.begin(), log.end(), is_kernel);
  if (first == log.end()) return;
  const auto last = std::find_if(log.rbegin(), log.rend(), is_kernel);
  const HostTime before = first == log.begin() ? began : std::prev(first)->end;
  const HostTime after = last == log.rbegin() ? ended : std::prev(last)->begin;
  run->kernels = static_cast<std::size_t>(std::count_if(log.begin(), log.end(), is_kernel));
  run->kernel_microseconds = microseconds_between(first->begin, last->end);
  run->room_microseconds = microseconds_between(before, after);
}

}  // namespace

std::optional<HostRun> watch_host(const std::function<void()>& work) {
  detail::synchronize_devices();
  std::unordered_set<const void*> held_before;
  for (const simt::Holding& holding : simt::holdings()) held_before.insert(holding.handle);
  HostRun run;
  const simt::WorkLog log;
  const HostTime began = std::chrono::steady_clock::now();
  work();
  const HostTime ended = std::chrono::steady_clock::now();
  tell_kernels(log.work(), began, ended, &run);
  for (const simt::Holding& holding : simt::holdings()) {
    if (held_before.count(holding.handle) == 0) run.not_given_back.push_back(holding_text(holding));
  }
  return run;
}

std::optional<std::string> with_failing_call(std::uint64_t number, cudaError_t error,
                                             const std::function<void()>& work) {
  const simt::FailingCall failing(number, error);
  work();
  return failing.line();
}

std::optional<std::string> with_lasting_error(std::uint64_t number, cudaError_t error,
                                              const std::function<void()>& work) {
  const simt::FailingCall failing(number, error, true);
  work();
  return failing.line();
}

#else

std::optional<HostRun> watch_host(const std::function<void()>& work) {
  work();
  detail::synchronize_devices();
  return std::nullopt;
}

std::optional<std::string> with_failing_call(std::uint64_t, cudaError_t,
                                             const std::function<void()>&) {
  return std::nullopt;
}

std::optional<std::string> with_lasting_error(std::uint64_t, cudaError_t,
                                              const std::function<void()>&) {
  return std::nullopt;
}

#endif

}  // namespace course
