// Stacks and context switches: one CUDA thread runs on one fiber.
#pragma once

#include <cstddef>
#include <cstdint>

// Boost.Context knows many machines. But it leaves a context with a jump where the processor
// expects a return, so that every return after a switch is mispredicted, and it saves the
// floating-point modes, which kernels do not change: three times the cost of a switch.
#if defined(__x86_64__) && !defined(SIMT_BOOST_FIBERS)
#define SIMT_OWN_SWITCH 1
#else
#define SIMT_OWN_SWITCH 0
#include <boost/context/detail/fcontext.hpp>
#endif

namespace simt {

constexpr std::size_t kStackSize = 64 * 1024;

/// A stack with a suspended function on it. Fibers are recycled: a finished CUDA thread leaves its
/// fiber waiting for the next one, which saves setting up a context for each of a million threads.
struct Fiber {
  void* context = nullptr;  // of the suspended function
  char* top = nullptr;      // one past the highest byte of the stack

  explicit operator bool() const { return top != nullptr; }
  /// The lowest usable byte. Stacks begin at multiples of their size.
  char* bottom() const {
    return top - 1 - (reinterpret_cast<std::uintptr_t>(top) - 1) % kStackSize;
  }
};

/// A fiber that will run `body` whenever it is resumed after reset.
Fiber acquire_fiber();
/// Takes a fiber back. One that still runs has to be suspended as the one that is returned.
Fiber& release_fiber(const Fiber& fiber);
/// Forgets what the fiber was doing (its thread was stopped in the middle).
void reset_fiber(Fiber& fiber);

#if SIMT_OWN_SWITCH
/// Saves the running context, and returns in the one that was saved at `to`.
extern "C" void simt_switch_context(void** save, void* to);
inline void switch_fiber(Fiber& from, Fiber& to) { simt_switch_context(&from.context, to.context); }
#else
extern Fiber* leaving_fiber;  // the one that is being suspended
/// Suspends `from` (the running one) and goes on with `to`; returns when another fiber switches back.
inline void switch_fiber(Fiber& from, Fiber& to) {
  leaving_fiber = &from;
  const auto back = boost::context::detail::jump_fcontext(to.context, nullptr);
  leaving_fiber->context = back.fctx;  // set anew by the fiber that came from there
}
#endif

/// Does the address lie on the stack on which the caller runs? Not for the host's stack.
inline bool on_this_stack(std::uintptr_t address) {
  const auto here = reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0));
  return (address ^ here) < kStackSize;
}

/// The stack frame of the function that called the one of this frame; null at the stack's end.
inline char** calling_frame(const Fiber& fiber, char** frame) {
  const auto next = reinterpret_cast<char**>(frame[0]);
  const auto p = reinterpret_cast<char*>(next);
  const bool is_inside = p >= fiber.bottom() && p + 2 * sizeof(char*) <= fiber.top;
  return next > frame && is_inside ? next : nullptr;
}
/// What a fiber runs, over and over, each time for one CUDA thread.
void set_fiber_body(void (*body)());

}  // namespace simt
