#include "answer_counts.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <iostream>

#if COURSE_CPU_DEVICE
#include <simt/counters.hpp>
#include <simt/testing.hpp>
#else
#include <optional>

#include "launch_times.hpp"
#endif

namespace course::runner {

#if COURSE_CPU_DEVICE

namespace {

/// The process that is counted. What it prints was printed before.
[[noreturn]] void count_and_send(const std::function<bool()>& run_tests, int out) {
  const int nowhere = ::open("/dev/null", O_WRONLY);
  dup2(nowhere, STDOUT_FILENO);
  dup2(nowhere, STDERR_FILENO);
  const simt::CountAll all;
  if (run_tests()) {
    const simt::Counters counters = all.counters();
    static_cast<void>(!::write(out, &counters, sizeof counters));
  }
  _exit(0);
}

/// Whether all of it came in time. The line at the terminal is written meanwhile, by a signal's handler.
bool receive(int in, simt::Counters& counters, double seconds) {
  using Clock = std::chrono::steady_clock;
  const Clock::time_point end = Clock::now() + std::chrono::duration_cast<Clock::duration>(
                                                   std::chrono::duration<double>(seconds));
  pollfd wanted{.fd = in, .events = POLLIN, .revents = 0};
  int found = 0;
  do {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(end - Clock::now()).count();
    found = poll(&wanted, 1, static_cast<int>(std::max<std::int64_t>(left, 0)));
  } while (found < 0 && errno == EINTR);
  return found == 1 && ::read(in, &counters, sizeof counters) == sizeof counters;
}

}  // namespace

AnswerCounts count_answer(const std::function<bool()>& run_tests, double seconds) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return {};
  std::cout.flush();
  std::fflush(nullptr);
  const pid_t child = fork();
  if (child == 0) count_and_send(run_tests, ends[1]);
  ::close(ends[1]);
  simt::Counters counters;
  const bool is_there = child > 0 && receive(ends[0], counters, seconds);
  ::close(ends[0]);
  if (child > 0) {
    kill(child, SIGKILL);
    waitpid(child, nullptr, 0);
  }
  AnswerCounts counts;
  for (const simt::Counter& counter : simt::kCounters) {
    if (!is_there || *counter.costs == '\0') continue;
    counts.push_back({counter.name, counter.what, counter.costs, counters.*counter.value});
  }
  return counts;
}

#else

AnswerCounts count_answer(const std::function<bool()>& run_tests, double) {
  begin_launch_times();
  const bool have_passed = run_tests();
  const std::optional<std::uint64_t> longest = end_launch_times();
  if (!have_passed || !longest) return {};
  return {{"longest_launch", "longest launch, in ns", "", *longest}};
}

#endif

}  // namespace course::runner
