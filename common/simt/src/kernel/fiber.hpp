// Stacks and context switches: one CUDA thread runs on one fiber.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/address_sanitizer.hpp"
#include "base/inlining.hpp"

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

// Room for the arguments of a launch, up to 32,764 bytes, of which a thread makes three copies; and memory below it that
// faults, so that a full stack does not corrupt a neighbour.
constexpr std::size_t kStackSize = 192 * 1024, kStackGuard = 64 * 1024;
// Stack tops at the same offset of a page would compete for the same few sets of the cache.
constexpr std::size_t kStackColours = 61, kColourStep = 64, kStackPage = 4096;

/// A stack with a suspended function on it. Fibers are recycled: a finished CUDA thread leaves its
/// fiber waiting for the next one, which saves setting up a context for each of a million threads.
struct Fiber {
  void* context = nullptr;  // of the suspended function
  char* bottom = nullptr;   // the lowest usable byte of the stack, at the start of a page

  explicit operator bool() const { return bottom != nullptr; }
  /// One past the highest byte that is used.
  char* top() const {
    const std::uintptr_t page = reinterpret_cast<std::uintptr_t>(bottom) / kStackPage;
    return bottom + kStackSize - page % kStackColours * kColourStep;
  }
};

/// A fiber that will run `body` whenever it is resumed after reset.
Fiber acquire_fiber();
/// Takes a fiber back. One that still runs has to be suspended as the one that is returned.
Fiber& release_fiber(const Fiber& fiber);
/// Forgets what the fiber was doing (its thread was stopped in the middle).
void reset_fiber(Fiber& fiber);

#if SIMT_ADDRESS_SANITIZER
/// Tells AddressSanitizer, before and after a switch, which stack is in use.
void announce_switch(const Fiber& from, const Fiber& to);
void announce_arrival();
#else
inline void announce_switch(const Fiber&, const Fiber&) {}
inline void announce_arrival() {}
#endif

#if SIMT_OWN_SWITCH
#if defined(__AVX512F__)
#define SIMT_MORE_REGISTERS                                                                     \
  , "xmm16", "xmm17", "xmm18", "xmm19", "xmm20", "xmm21", "xmm22", "xmm23", "xmm24", "xmm25",   \
      "xmm26", "xmm27", "xmm28", "xmm29", "xmm30", "xmm31", "k0", "k1", "k2", "k3", "k4", "k5", \
      "k6", "k7"
#else
#define SIMT_MORE_REGISTERS
#endif
/// Saves the running context, and returns in the one that was saved at `to`. A context is the address of
/// the stack's top, where the address lies at which it goes on.
extern "C" void simt_switch_context(void** save, void* to);
inline void switch_fiber(Fiber& from, Fiber& to) {
  announce_switch(from, to);
  simt_switch_context(&from.context, to.context);
  announce_arrival();
}
/// The same, in place: registers are saved once, by the function that this becomes a part of. It must
/// call others, too, so that nothing of its own lies below the top of the stack.
SIMT_HOT void switch_fiber_here(Fiber& from, Fiber& to) {
  announce_switch(from, to);
  void** save = &from.context;
  void* next = to.context;
  __asm__ volatile(
      "pushq %%rbp\n\t"
      "leaq 1f(%%rip), %%rax\n\t"
      "pushq %%rax\n\t"
      "movq %%rsp, (%0)\n\t"
      "movq %1, %%rsp\n\t"
      "popq %%rax\n\t"
      "jmp *%%rax\n"
      "1:\tpopq %%rbp"
      : "+D"(save), "+S"(next)
      :
      : "rax", "rbx", "rcx", "rdx", "r8", "r9", "r10", "r11", "r12", "r13", "r14", "r15", "memory",
        "cc", "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9",
        "xmm10", "xmm11", "xmm12", "xmm13", "xmm14", "xmm15" SIMT_MORE_REGISTERS);
  announce_arrival();
}
#undef SIMT_MORE_REGISTERS
#else
extern Fiber* leaving_fiber;  // the one that is being suspended
/// Suspends `from` (the running one) and goes on with `to`; returns when another fiber switches back.
inline void switch_fiber(Fiber& from, Fiber& to) {
  announce_switch(from, to);
  leaving_fiber = &from;
  const auto back = boost::context::detail::jump_fcontext(to.context, nullptr);
  leaving_fiber->context = back.fctx;  // set anew by the fiber that came from there
  announce_arrival();
}
inline void switch_fiber_here(Fiber& from, Fiber& to) { switch_fiber(from, to); }
#endif

/// The stack frame of the function that called the one of this frame; null at the stack's end.
inline char** calling_frame(const Fiber& fiber, char** frame) {
  const auto next = reinterpret_cast<char**>(frame[0]);
  const auto p = reinterpret_cast<char*>(next);
  const bool is_inside = p >= fiber.bottom && p + 2 * sizeof(char*) <= fiber.top();
  return next > frame && is_inside ? next : nullptr;
}
/// The return addresses on a fiber's stack from `caller` on, of the frames that begin with `frame`: the innermost call
/// first. `caller` alone if it is not there.
std::vector<const void*> callers_of(const Fiber& fiber, char** frame, const void* caller);
/// What a fiber runs, over and over, each time for one CUDA thread.
void set_fiber_body(void (*body)());

}  // namespace simt
