// Stacks and context switches: one CUDA thread runs on one fiber.
#pragma once

#include <boost/context/detail/fcontext.hpp>
#include <cstddef>

namespace simt {

/// A stack with a suspended function on it. Fibers are recycled: a finished CUDA thread leaves its
/// fiber waiting for the next one, which saves setting up a context for each of a million threads.
struct Fiber {
  boost::context::detail::fcontext_t context = nullptr;
  char* stack = nullptr;  // lowest usable byte
  char* top = nullptr;    // one past the highest
};

constexpr std::size_t kStackSize = 64 * 1024;

/// A fiber that will run `body` whenever it is resumed after reset.
Fiber* acquire_fiber();
void release_fiber(Fiber* fiber);
/// Forgets what the fiber was doing (its thread was stopped in the middle).
void reset_fiber(Fiber* fiber);
extern Fiber* leaving_fiber;  // the one that is being suspended
/// Suspends `from` (the running one) and goes on with `to`; returns when somebody switches back.
inline void switch_fiber(Fiber& from, Fiber& to) {
  leaving_fiber = &from;
  const auto back = boost::context::detail::jump_fcontext(to.context, nullptr);
  leaving_fiber->context = back.fctx;  // set anew by whoever came back here
}
/// The stack frame of the function that called the one of this frame; null at the stack's end.
inline char** calling_frame(const Fiber& fiber, char** frame) {
  const auto next = reinterpret_cast<char**>(frame[0]);
  const auto p = reinterpret_cast<char*>(next);
  const bool is_inside = p >= fiber.stack && p + 2 * sizeof(char*) <= fiber.top;
  return next > frame && is_inside ? next : nullptr;
}
/// What a fiber runs, over and over, each time for one CUDA thread.
void set_fiber_body(void (*body)());

}  // namespace simt
