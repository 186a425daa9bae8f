// Handles the signals of the processor and of the timer while a kernel runs.
#include "scheduler/signals.hpp"

#include <fmt/format.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <string>
#include <unordered_map>
#include <utility>

#include "kernel/findings.hpp"
#include "scheduler/repetition.hpp"
#include "scheduler/schedule.hpp"
#include "simt/api.hpp"
#include "simt/runtime.hpp"
#include "simt/testing.hpp"

namespace simt {
namespace {

// In which no thread ends and no barrier is passed, in seconds of the processor's time: a busy machine makes no launch
// fail, nor does a large grid.
constexpr unsigned kLaunchSeconds = 10;
unsigned launch_seconds = kLaunchSeconds;
// A thread that begins no basic block for so long is in a loop that has none.
constexpr unsigned kSilentSeconds = 2;

constexpr std::size_t kSignalStack = 64 * 1024;
alignas(64) char signal_stack[kSignalStack];

// ---- a launch that does not end -----------------------------------------------------------------

struct Clock {
  unsigned all_seconds = 0;
  unsigned seconds = 0;  // since a thread has ended or a barrier was passed
  unsigned silent = 0;   // seconds in a row in which no basic block began
  const Thread* thread = nullptr;
  std::uint64_t steps_left = 0, watched = 0, ticks = 0, progress = 0;
};
Clock launch_clock;
timer_t launch_timer;

const void* interrupted_at(void* context) {
  const auto* const c = static_cast<const ucontext_t*>(context);
#if defined(__x86_64__)
  const auto pc = static_cast<std::uintptr_t>(c->uc_mcontext.gregs[REG_RIP]);
  constexpr std::uintptr_t kFirstPage = 4096;  // a call of a null function: where it was called
  if (pc < kFirstPage) return *reinterpret_cast<void* const*>(c->uc_mcontext.gregs[REG_RSP]);
#elif defined(__aarch64__)
  const auto pc = static_cast<std::uintptr_t>(c->uc_mcontext.pc);
#else
#error "where does this machine keep the program counter?"
#endif
  return reinterpret_cast<const void*>(pc + 1);  // as a return address, after the instruction
}

/// The frame of the function that was interrupted, or of its caller.
char** frame_at(void* context) {
  const auto* const c = static_cast<const ucontext_t*>(context);
#if defined(__x86_64__)
  return reinterpret_cast<char**>(c->uc_mcontext.gregs[REG_RBP]);
#else
  return reinterpret_cast<char**>(c->uc_mcontext.regs[29]);
#endif
}

/// Once a second. It may come anywhere, in the runtime's own code, too: so it asks the next basic block
/// to end the launch. Only where none comes does it end the launch itself.
void count_second(int, siginfo_t*, void* context) {
  Clock& c = launch_clock;
  Engine& e = engine;
  ++c.all_seconds;
  c.seconds = e.progress == c.progress ? c.seconds + 1 : 0;
  const bool is_silent = e.current != nullptr && e.current == c.thread &&
                         e.steps_left == c.steps_left && steps_watched() == c.watched &&
                         e.ticks == c.ticks;
  c.silent = is_silent ? c.silent + 1 : 0;
  if (c.silent >= kSilentSeconds) stop_long_loop(interrupted_at(context));
  if (launch_is_out_of_time() && e.current != nullptr) e.steps_left = 1;
  c.thread = e.current;
  c.steps_left = e.steps_left;
  c.watched = steps_watched();
  c.ticks = e.ticks;
  c.progress = e.progress;
}

/// Counts the processor's time of this thread, and interrupts no other: that one may be the program's own, on which there is
/// no kernel to stop.
void start_timer() {
  sigevent event{};
  event.sigev_notify = SIGEV_THREAD_ID;
  event.sigev_signo = SIGPROF;
  event._sigev_un._tid = static_cast<pid_t>(syscall(SYS_gettid));
  const itimerspec period{{1, 0}, {1, 0}};
  if (timer_create(CLOCK_THREAD_CPUTIME_ID, &event, &launch_timer) != 0 ||
      timer_settime(launch_timer, 0, &period, nullptr) != 0) {
    std::perror("simt: no timer for loops without an end");
    std::abort();
  }
}

// ---- what the processor refuses -----------------------------------------------------------------

[[noreturn]] void stop_division(int, siginfo_t* info, void*) {
  // The address is that of the division itself, not of the next instruction.
  trap("an integer is divided by zero: a GPU goes on with an undefined result",
       cudaErrorLaunchFailure, static_cast<const char*>(info->si_addr) + 1);
}

/// The handlers of before, for host code.
const struct sigaction* before_segmentation = nullptr;
const struct sigaction* before_bus_error = nullptr;

/// What fills a stack: the call that is there again and again, or the local variables.
std::string stack_text(const Thread& t, char** frame) {
  std::unordered_map<const void*, unsigned> times;
  const void* again = nullptr;
  const auto* const p = reinterpret_cast<char*>(frame);
  if (p < t.fiber.bottom || p >= t.fiber.top()) frame = nullptr;
  for (; frame != nullptr; frame = calling_frame(t.fiber, frame)) {
    if (++times[frame[1]] > std::max(times[again], 1u)) again = frame[1];
  }
  if (again == nullptr) {
    return "No call is on its stack twice: the local variables fill it. A large local array belongs in\n"
           "  shared or global memory.";
  }
  return fmt::format(
      "The call at {} is on its stack {} times:\n  which condition ends this recursion?",
      source_line(again).text(), times[again]);
}

/// An address that no check has seen, as that of a full stack.
void stop_at_memory(int number, siginfo_t* info, void* context) {
  if (engine.current == nullptr) {  // the instruction is tried again
    sigaction(number, number == SIGBUS ? before_bus_error : before_segmentation, nullptr);
    return;
  }
  const Thread& t = *engine.current;
  const auto address = reinterpret_cast<std::uintptr_t>(info->si_addr);
  const auto bottom = reinterpret_cast<std::uintptr_t>(t.fiber.bottom);
  const bool is_overflow = address < bottom && address >= bottom - kStackGuard;
  const void* const place = interrupted_at(context);
  char** const frame = frame_at(context);
  on_host_stack([&] {
    const SourceLine where = source_line(place);
    const std::string text =
        is_overflow
            ? fmt::format(
                  "STACK OVERFLOW in kernel {0}: {1} needs more than {2} KiB for local variables\n"
                  "  at {3}\n"
                  "  {4}\n"
                  "  (A GPU gives a thread up to 512 KiB of local memory; for recursion 1 KiB,\n"
                  "  unless cudaDeviceSetLimit(cudaLimitStackSize, ...) raises it.)",
                  engine.launch->kernel, thread_name(t), kStackSize / 1024, where.text(),
                  stack_text(t, frame))
            : fmt::format(
                  "KERNEL STOPPED in {}: an access to address {:#x}, where no memory is\n"
                  "  at {} by {}\n"
                  "  Is a pointer, or a pointer to a function, null or uninitialised?",
                  engine.launch->kernel, address, where.text(), thread_name(t));
    fail_launch(finding_by(t.id, "stop", ReportKind::trap, where, text),
                is_overflow ? cudaErrorLaunchFailure : cudaErrorIllegalAddress);
  });
  std::abort();  // a failed launch never resumes its threads
}

void handle(int number, void (*handler)(int, siginfo_t*, void*), int flags,
            struct sigaction& before) {
  struct sigaction action {};
  action.sa_sigaction = handler;
  action.sa_flags = SA_SIGINFO | flags;
  sigaction(number, &action, &before);
}

}  // namespace

KernelSignals::KernelSignals() {
  const stack_t stack{signal_stack, 0, sizeof signal_stack};
  sigaltstack(&stack, &stack_before_);
  constexpr int kNeverReturns = SA_NODEFER;
  handle(SIGFPE, stop_division, kNeverReturns, division_before_);
  handle(SIGSEGV, stop_at_memory, kNeverReturns | SA_ONSTACK, memory_before_);
  handle(SIGBUS, stop_at_memory, kNeverReturns | SA_ONSTACK, bus_before_);
  handle(SIGPROF, count_second, kNeverReturns | SA_RESTART, clock_before_);
  before_segmentation = &memory_before_;
  before_bus_error = &bus_before_;
  launch_clock = {};
  start_timer();
}

KernelSignals::~KernelSignals() {
  timer_delete(launch_timer);
  sigaction(SIGPROF, &clock_before_, nullptr);
  sigaction(SIGBUS, &bus_before_, nullptr);
  sigaction(SIGSEGV, &memory_before_, nullptr);
  sigaction(SIGFPE, &division_before_, nullptr);
  sigaltstack(&stack_before_, nullptr);
}

bool launch_is_out_of_time() { return launch_clock.seconds >= launch_seconds; }
unsigned seconds_of_launch() { return launch_clock.all_seconds; }
bool launches_may_take_long() { return launch_seconds > kLaunchSeconds; }
unsigned set_launch_seconds(unsigned seconds) { return std::exchange(launch_seconds, seconds); }

void stop_long_loop(const void* caller) {
  const Thread& t = *engine.current;
  on_host_stack([&] {
    // Made here: the thread's stack is given up as it is.
    const std::string time =
        launch_is_out_of_time()
            ? fmt::format(
                  "; for {} s of processor time no thread has\n  ended and no barrier was passed",
                  launch_clock.seconds)
            : "";
    const SourceLine where = source_line(caller);
    fail_stuck_launch(
        finding_by(t.id, "loop", ReportKind::hang, where,
                   fmt::format("ENDLESS LOOP in kernel {}: {} is still in a loop{}\n  at {}\n"
                               "  Which condition ends this loop, and can it become true?",
                               engine.launch->kernel, thread_name(t), time, where.text())));
  });
  std::abort();
}

}  // namespace simt
