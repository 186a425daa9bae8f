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
/// Suspends `from` (the running one) and goes on with `to`; returns when somebody switches back.
void switch_fiber(Fiber& from, Fiber& to);
/// What a fiber runs, over and over, each time for one CUDA thread.
void set_fiber_body(void (*body)());

}  // namespace simt
