// Around main() of a program of the reader's own: ./course run links it in, with -Wl,--wrap=main. What the
// CPU device finds and counts goes into a file, a line of JSON for each, for ./course run to show.
//
// Environment:
//   COURSE_RUN=FILE        the file; without it the program is left alone
//   COURSE_COUNT=1         counts what each kernel does, which makes it run in lockstep
//   COURSE_CPU_SECONDS=N   the processor time in seconds that the program may take
#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "simt/testing.hpp"

extern "C" int __real_main(int argc, char** argv, char** environment);
extern "C" int __wrap_main(int argc, char** argv, char** environment);

namespace course {
namespace {

using nlohmann::ordered_json;

int file = -1;
double cpu_seconds = 0;  // that the program may take

void tell(const ordered_json& record) {
  const std::string line =
      record.dump(-1, ' ', false, ordered_json::error_handler_t::replace) + "\n";
  // One write per line: what was told before a crash is complete.
  if (write(file, line.data(), line.size()) < 0) std::perror("COURSE_RUN");
}

// ---- what the CPU device says -------------------------------------------------------------------

void tell_finding(const simt::Report& report) {
  ordered_json accesses = ordered_json::array();
  for (const simt::ReportedAccess& access : report.accesses) {
    accesses.push_back({{"kind", access.kind},
                        {"file", access.file},
                        {"line", access.line},
                        {"block", access.block},
                        {"thread", access.thread},
                        {"device", access.device}});
  }
  tell({{"finding", report.text},
        {"kind", simt::identifier(report.kind)},
        {"kernel", report.kernel},
        {"object", report.object},
        {"file", report.file},
        {"line", report.line},
        {"accesses", accesses}});
}

void tell_refusal(const simt::Refusal& refusal) {
  tell({{"refused", refusal.text}, {"file", refusal.file}, {"line", refusal.line}});
  std::fflush(nullptr);  // what the program wrote before; it is ended now
}

void tell_notes() {
  simt::note_heap_leaks();
  for (const simt::Note& note : simt::take_notes()) {
    tell(
        {{"note", note.text}, {"is_clue", note.is_clue}, {"file", note.file}, {"line", note.line}});
  }
}

/// What a launch asked of memory, as common/simt/README.md has it.
ordered_json to_json(const simt::Counters& c) {
  return {{"launches", c.launches},
          {"loads", c.global_loads},
          {"stores", c.global_stores},
          {"sectors", c.global_load_sectors + c.global_store_sectors},
          {"shared", c.shared_loads + c.shared_stores},
          {"wavefronts", c.shared_load_wavefronts + c.shared_store_wavefronts},
          {"atomics", c.global_atomic_lanes + c.shared_atomic_lanes},
          {"addresses", c.global_atomic_addresses + c.shared_atomic_addresses},
          {"barriers", c.barriers}};
}

const simt::CountScope* counting = nullptr;

void tell_counts() {
  if (counting == nullptr) return;
  for (const simt::KernelCounters& k : counting->by_kernel()) {
    tell({{"kernel_counts", to_json(k.counters)}, {"kernel", k.kernel}});
  }
}

void end() {
  simt::report_unread_launch();
  tell_notes();
  tell_counts();
}

// ---- programs that end in the middle --------------------------------------------------------------

std::array<char, 64 * 1024> signal_stack;

/// Tells why the program stops, and then where it was. What ran may hold a lock that this needs, and names of
/// lines take their time on a busy machine: then the alarm ends it.
void tell_stop(const std::string& what, int number) {
  constexpr unsigned kSecondsForTheTexts = 10;
  std::signal(SIGALRM, SIG_DFL);
  alarm(kSecondsForTheTexts);
  const std::string launch =
      simt::give_up_launch();  // from here on no kernel runs, and memory is the host's
  ordered_json stop = {{"stopped", what},
                       {"signal", number},
                       {"seconds", cpu_seconds},
                       {"launch", launch},
                       {"lines", ordered_json::array()}};
  tell(stop);
  for (const auto& lines : {simt::lines_of_calls(), simt::lines_of_launch()}) {
    if (!stop["lines"].empty()) break;
    for (const std::string& line : lines) {
      const bool ours = line.starts_with("common/simt/src/") ||
                        line.find("common/src/own_program.cpp:") != std::string::npos ||
                        line.find("/own_program_unit.unit.cpp:") != std::string::npos;
      if (!ours) stop["lines"].push_back(line);
    }
  }
  tell(stop);
  end();
}

void stop_by_signal(int number) {
  std::signal(number, SIG_DFL);
  tell_stop("signal", number);
  std::raise(number);
}

void stop_out_of_time(int number) {
  tell_stop("time", number);
  _exit(1);
}

void handle(int number, void (*handler)(int)) {
  struct sigaction action {};
  action.sa_handler = handler;
  action.sa_flags = SA_ONSTACK | SA_RESETHAND;
  sigaction(number, &action, nullptr);
}

void handle_signals() {
  const stack_t stack{signal_stack.data(), 0, signal_stack.size()};
  sigaltstack(&stack, nullptr);
  for (const int number : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT}) {
    handle(number, stop_by_signal);
  }
}

/// Processor time, not elapsed time: on a busy machine a program takes longer.
void limit_time() {
  const char* const text = std::getenv("COURSE_CPU_SECONDS");
  cpu_seconds = text == nullptr ? 0 : std::strtod(text, nullptr);
  if (!(cpu_seconds > 0)) return;
  // A large launch is not endless: only the program as a whole is limited.
  simt::set_launch_seconds(static_cast<unsigned>(std::min(std::ceil(cpu_seconds), 1e9)));
  handle(SIGXCPU, stop_out_of_time);
  rlimit limit{};
  getrlimit(RLIMIT_CPU, &limit);
  limit.rlim_cur = std::min<rlim_t>(limit.rlim_max, static_cast<rlim_t>(std::ceil(cpu_seconds)));
  setrlimit(RLIMIT_CPU, &limit);
}

// ---- the beginning and the end --------------------------------------------------------------------

void begin(const char* name) {
  file = open(name, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
  if (file < 0) {
    std::perror(name);
    std::exit(2);
  }
  std::setvbuf(stdout, nullptr, _IOLBF, BUFSIZ);  // it is a pipe now, and was a terminal
  simt::show_paths_from(std::filesystem::current_path());
  simt::set_report_handler(tell_finding);
  simt::set_refusal_handler(tell_refusal);
  simt::report_absent_lanes(true);
  handle_signals();
  limit_time();
  if (std::getenv("COURSE_COUNT") != nullptr) counting = new simt::CountScope;
  std::atexit(end);
}

}  // namespace
}  // namespace course

int __wrap_main(int argc, char** argv, char** environment) {
  if (const char* const name = std::getenv("COURSE_RUN")) course::begin(name);
  return __real_main(argc, argv, environment);
}
