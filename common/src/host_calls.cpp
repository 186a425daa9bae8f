// What host code does: the CPU device's log of work, what is held, and a call that fails.
#include <course/host_calls.cuh>

#include <course/device.cuh>
#include <course/devices.cuh>

#include <algorithm>

#if COURSE_CPU_DEVICE
#include <fmt/format.h>
#include <simt/testing.hpp>

#include <chrono>
#include <unordered_set>
#endif

namespace course {

std::size_t steps_of(const std::vector<DeviceWork>& work) {
  constexpr std::size_t kNotYet = ~std::size_t{0};
  std::vector<std::size_t> step_of(work.size(), kNotYet);
  std::size_t step = 0;
  for (std::size_t done = 0; done < work.size(); ++step) {
    bool busy_with_kernel = false, busy_with_copy = false;
    for (std::size_t i = 0; i < work.size(); ++i) {
      bool& busy = work[i].is_kernel ? busy_with_kernel : busy_with_copy;
      const bool can_begin = std::all_of(work[i].after.begin(), work[i].after.end(),
                                         [&](std::size_t other) { return step_of[other] < step; });
      if (busy || step_of[i] != kNotYet || !can_begin) continue;
      busy = true;
      step_of[i] = step;
      ++done;
    }
  }
  return step;
}

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

/// The kernels and copies of a log, in the order of the host's calls.
std::vector<DeviceWork> work_of(const std::vector<simt::Work>& log) {
  using Kind = simt::Work::Kind;
  std::vector<std::size_t> called;  // indices in the log
  for (std::size_t i = 0; i < log.size(); ++i) {
    if (log[i].kind == Kind::kernel || log[i].kind == Kind::copy) called.push_back(i);
  }
  const auto call = [&](std::size_t i) { return log[i].order.clock.front(); };
  std::stable_sort(called.begin(), called.end(),
                   [&](std::size_t a, std::size_t b) { return call(a) < call(b); });
  std::vector<DeviceWork> work;
  for (const std::size_t own : called) {
    const simt::Work& w = log[own];
    work.push_back({w.kind == Kind::kernel, w.from, w.to, w.bytes});
    for (std::size_t i = 0; i < called.size(); ++i) {
      if (w.always_after(log[called[i]])) work.back().after.push_back(i);
      if (w.called_after(log[called[i]])) work.back().waited_for.push_back(i);
    }
  }
  return work;
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
  const std::vector<simt::Work> done = log.work();
  tell_kernels(done, began, ended, &run);
  run.work = work_of(done);
  for (const simt::Work& w : done) run.bytes_to_host += w.is_to_host ? w.bytes : 0;
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
