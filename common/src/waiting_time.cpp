#include "waiting_time.hpp"

#include <sys/time.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>

#include "check_result.hpp"

#if COURSE_CPU_DEVICE
#include <simt/testing.hpp>
#endif

namespace course::runner {
namespace {

constexpr long kTickMicroseconds = 500'000;
constexpr double kSecondsAfterFailure = 2;
constexpr const char* kClear = "\r\033[K";

// What the signal's handler reads: changed only while the signal is blocked.
bool shows_progress = false, is_shown = false, is_counting = false;
std::size_t case_number = 0, case_count = 0;
std::uint64_t schedule = 0;
double case_start = 0;
std::string last_words;
double last_moment = 0;  // 0: the check has not failed

/// Elapsed time in seconds.
double now() {
  timespec time{};
  clock_gettime(CLOCK_MONOTONIC, &time);
  constexpr double kNanosecond = 1e-9;
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * kNanosecond;
}

void write_all(int file, const char* text, std::size_t size) {
  for (ssize_t n = 0; size > 0; text += n, size -= static_cast<std::size_t>(n)) {
    n = ::write(file, text, size);
    if (n <= 0) return;
  }
}

/// Calls only what a handler may call.
void show_or_end() {
  if (last_moment > 0 && now() >= last_moment) {
    write_all(STDOUT_FILENO, last_words.data(), last_words.size());
    send_prepared_result();
    _exit(exit_code(Verdict::failed));
  }
  if (!shows_progress || case_number == 0) return;
  char line[128];
  const double seconds = now() - case_start;
  const int size = is_counting
                       ? std::snprintf(line, sizeof line,
                                       "%scounting what the kernels do (%.0f s)\r", kClear, seconds)
                       : std::snprintf(line, sizeof line,
                                       "%schecking: case %zu of %zu, schedule %llu (%.0f s)\r",
                                       kClear, case_number, case_count,
                                       static_cast<unsigned long long>(schedule), seconds);
  write_all(STDERR_FILENO, line, static_cast<std::size_t>(size));
  is_shown = true;
}

void tick(int) {
#if COURSE_CPU_DEVICE
  simt::call_unseen(show_or_end);
#else
  show_or_end();
#endif
}

void set_timer(long microseconds) {
  const itimerval every{.it_interval = {0, microseconds}, .it_value = {0, microseconds}};
  setitimer(ITIMER_REAL, &every, nullptr);
}

void start_ticks() {
  struct sigaction action {};
  action.sa_handler = tick;
  action.sa_flags = SA_ONSTACK | SA_RESTART;
  sigaction(SIGALRM, &action, nullptr);
  set_timer(kTickMicroseconds);
}

bool is_set(const char* name) {
  const char* const value = std::getenv(name);
  return value != nullptr && *value != '\0';
}

void block(int how) {
  sigset_t alarm;
  sigemptyset(&alarm);
  sigaddset(&alarm, SIGALRM);
  sigprocmask(how, &alarm, nullptr);
}

}  // namespace

Undisturbed::Undisturbed() { block(SIG_BLOCK); }
Undisturbed::~Undisturbed() { block(SIG_UNBLOCK); }

void start_waiting_time() {
  const char* const terminal = std::getenv("TERM");
  const bool rewrites =
      terminal != nullptr && *terminal != '\0' && std::strcmp(terminal, "dumb") != 0;
  if (!is_set("COURSE_PROGRESS") || !rewrites || isatty(STDERR_FILENO) == 0) return;
  shows_progress = true;
  start_ticks();
}

void show_test_case(std::size_t number, std::size_t count, std::uint64_t seed) {
  const Undisturbed undisturbed;
  case_number = number, case_count = count, schedule = seed;
  case_start = now();
}

void show_counting() {
  start_waiting_time();
  const Undisturbed undisturbed;
  is_counting = true;
  case_start = now();
}

void end_progress() {
  const Undisturbed undisturbed;
  if (is_shown) write_all(STDERR_FILENO, kClear, std::strlen(kClear));
  shows_progress = is_shown = is_counting = false;
}

void end_soon(std::string words) {
  if (!is_set("COURSE_RERUN") || is_set("COURSE_ALL") || is_set("SIMT_TRACE")) return;
  const Undisturbed undisturbed;
  last_words = std::move(words);
  if (last_moment > 0) return;
  last_moment = now() + kSecondsAfterFailure;
  start_ticks();
}

void end_in_time() {
  const Undisturbed undisturbed;
  last_moment = 0;
  set_timer(0);
}

}  // namespace course::runner
