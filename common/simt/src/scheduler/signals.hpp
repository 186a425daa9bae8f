// What the processor and the clock say while a kernel runs: a division by zero, a stack that is full, a
// loop without an end.
#pragma once

#include <csignal>
#include <cstddef>
#include <cstdint>

namespace simt {

/// While threads run, what would end the process, or never end, is a finding of the kernel.
class KernelSignals {
 public:
  KernelSignals();
  ~KernelSignals();
  KernelSignals(const KernelSignals&) = delete;
  KernelSignals& operator=(const KernelSignals&) = delete;

 private:
  struct sigaction division_before_ {
  }, memory_before_{}, bus_before_{}, clock_before_{};
  stack_t stack_before_{};
};

/// True once the launch has gone on for too long without the end of a thread or a barrier: the next basic block ends it.
bool launch_is_out_of_time();
/// The processor's time that the launch has had so far, in seconds.
unsigned seconds_of_launch();
/// True if set_launch_seconds() allows more than usual.
bool launches_may_take_long();
/// Ends the launch at a loop that has taken too long.
[[noreturn]] void stop_long_loop(const void* caller);

}  // namespace simt
