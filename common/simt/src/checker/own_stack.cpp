// Stores of a thread to its own stack. A local variable is a thread's own, and no access to it is checked; but an index that
// leaves it may come to where the return addresses of functions are.
#include <fmt/format.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <utility>

#include "base/scoped_ignore.hpp"
#include "checker/messages.hpp"
#include "checker/rules.hpp"
#include "kernel/engine.hpp"
#include "kernel/findings.hpp"
#include "simt/api.hpp"

namespace simt {
namespace {

[[noreturn]] SIMT_RARE void stop_beside_variables(std::size_t size, const char* why,
                                                  const void* caller) {
  const Thread& t = *engine.current;
  auto* const frame = static_cast<char**>(__builtin_frame_address(0));
  on_host_stack([&] {
    const SourceLine where = source_line(callers_of(t.fiber, frame, caller));
    std::string text = fmt::format(
        "OUT OF BOUNDS in kernel {}: write of {} on the thread's stack, outside of its local "
        "variables\n  at {} by {}\n  {}",
        engine.launch->kernel, bytes(size), where.full_text(), thread_name(t), why);
    fail_launch(finding_by(t.id, "write", ReportKind::out_of_bounds, where, std::move(text)),
                cudaErrorIllegalAddress);
  });
  std::abort();  // a failed launch never resumes its threads
}

}  // namespace

void check_own_store(std::uintptr_t address, std::size_t size, const void* caller,
                     const void* lowest) {
  if (engine.current == nullptr || accesses_are_ignored || !on_this_stack(address)) return;
  constexpr std::size_t kKept = 2 * sizeof(void*);  // the caller's frame, and where it goes on
  const std::uintptr_t end = address + size;
  auto frame = reinterpret_cast<std::uintptr_t>(lowest);
  if (address < frame) {
    stop_beside_variables(size, "No function that runs has a variable there.", caller);
  }
  while (frame < end) {
    if (address < frame + kKept) {
      stop_beside_variables(size, "It is kept there where a function returns to.", caller);
    }
    frame = *reinterpret_cast<const std::uintptr_t*>(frame);
  }
  if (end > engine.current->end_of_kernel) {
    stop_beside_variables(size, "What has called the kernel has its own variables there.", caller);
  }
}

}  // namespace simt
