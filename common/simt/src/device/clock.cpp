// clock64() of a kernel, and clock(), which kernels and the host's code call by the same name.
#include <ctime>

#include <algorithm>

#include "scheduler/repetition.hpp"
#include "simt/platform.hpp"
#include "simt/runtime.hpp"

namespace simt {
namespace {

constexpr std::uint64_t kLargestStep = std::uint64_t(1) << 24;

const void* last_clock_caller = nullptr;
std::uint64_t clock_step = 1;

}  // namespace

unsigned long long clock_ticks(const void* caller) {
  note_change();
  clock_step = caller == last_clock_caller ? std::min(2 * clock_step, kLargestStep) : 1;
  last_clock_caller = caller;
  return engine.ticks += clock_step;
}

}  // namespace simt

/// Instead of the C library's, which answers the host in the same way.
extern "C" clock_t clock() noexcept {
  if (simt::in_kernel()) return static_cast<clock_t>(simt::clock_ticks(SIMT_CALLER));
  timespec time{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return time.tv_sec * CLOCKS_PER_SEC + time.tv_nsec / (1'000'000'000 / CLOCKS_PER_SEC);
}
