// The stacks of fibers, and the switch from one to another.
#include "kernel/fiber.hpp"
#include "base/early.hpp"

#include <sys/mman.h>

#include <cstdio>
#include <cstdlib>
#include <vector>

#if SIMT_ADDRESS_SANITIZER
#include <sanitizer/common_interface_defs.h>
#endif

#if SIMT_OWN_SWITCH
// What a function must preserve lies on the stack of the suspended one. A switch is a call and a return,
// as the processor's prediction of returns wants it.
__asm__(R"(
  .text
  .p2align 4
  .globl simt_switch_context
  .hidden simt_switch_context
  .type simt_switch_context, @function
simt_switch_context:
  .cfi_startproc
  pushq %rbp
  pushq %rbx
  pushq %r12
  pushq %r13
  pushq %r14
  pushq %r15
  leaq 1f(%rip), %rax
  pushq %rax
  movq %rsp, (%rdi)
  movq %rsi, %rsp
  popq %rax
  jmp *%rax
1:
  popq %r15
  popq %r14
  popq %r13
  popq %r12
  popq %rbx
  popq %rbp
  ret
  .cfi_endproc
  .size simt_switch_context, . - simt_switch_context
)");
#endif

namespace simt {

namespace {

constexpr std::size_t kFibersPerSlab = 64;

SIMT_EARLY std::vector<Fiber> idle;
void (*fiber_body)() = nullptr;

[[noreturn]] void run_for_ever() {
  announce_arrival();
  for (;;) fiber_body();
}

/// From one stack to the next it is an odd number of pages. With a power of two, the pages in use would compete
/// for a few sets of the processor's translation buffer, which 1,024 threads then miss at every switch.
void allocate_slab() {
  constexpr std::size_t stride = kStackSize + kStackGuard + kStackPage;
  void* memory = mmap(nullptr, stride * kFibersPerSlab, PROT_NONE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) {
    std::perror("simt: no memory for the stacks of CUDA threads");
    std::abort();
  }
  for (std::size_t i = 0; i < kFibersPerSlab; ++i) {
    Fiber fiber;
    fiber.bottom = static_cast<char*>(memory) + (i + 1) * stride - kStackSize;
    mprotect(fiber.bottom, kStackSize, PROT_READ | PROT_WRITE);
    reset_fiber(fiber);
    idle.push_back(fiber);
  }
}

}  // namespace

void set_fiber_body(void (*body)()) { fiber_body = body; }

#if SIMT_ADDRESS_SANITIZER
namespace {
struct HostStack {
  const void* bottom = nullptr;
  std::size_t size = 0;
};
HostStack host_stack;
bool leaves_host = false;
}  // namespace

void announce_switch(const Fiber& from, const Fiber& to) {
  leaves_host = !from;
  const HostStack next = to ? HostStack{to.bottom, kStackSize} : host_stack;
  __sanitizer_start_switch_fiber(nullptr, next.bottom, next.size);
}
void announce_arrival() {
  HostStack left;
  __sanitizer_finish_switch_fiber(nullptr, &left.bottom, &left.size);
  if (leaves_host) host_stack = left;
}

// Variables stay on the fibers' stacks, where this library looks for them.
extern "C" const char* __asan_default_options() { return "detect_stack_use_after_return=0"; }
#endif

#if SIMT_OWN_SWITCH
void reset_fiber(Fiber& fiber) {
  forget_frames(fiber.bottom, kStackSize);  // a thread that was stopped has not returned from them
  // What a switch finds on the stack: where to go on, and, for run_for_ever, that no function called it.
  auto* const no_caller = reinterpret_cast<void**>(fiber.top()) - 1;
  no_caller[0] = nullptr;
  no_caller[-1] = reinterpret_cast<void*>(run_for_ever);
  fiber.context = no_caller - 1;
}
#else
Fiber* leaving_fiber = nullptr;

void reset_fiber(Fiber& fiber) {
  forget_frames(fiber.bottom, kStackSize);  // a thread that was stopped has not returned from them
  char* const top = fiber.top();
  fiber.context =
      boost::context::detail::make_fcontext(top, static_cast<std::size_t>(top - fiber.bottom),
                                            [](boost::context::detail::transfer_t from) {
                                              leaving_fiber->context = from.fctx;
                                              run_for_ever();
                                            });
}
#endif

Fiber acquire_fiber() {
  if (idle.empty()) allocate_slab();
  const Fiber fiber = idle.back();
  idle.pop_back();
  return fiber;
}

Fiber& release_fiber(const Fiber& fiber) { return idle.emplace_back(fiber); }

std::vector<const void*> callers_of(const Fiber& fiber, char** frame, const void* caller) {
  constexpr std::size_t kMost = 8;
  std::vector<const void*> list;
  for (; frame != nullptr && list.size() < kMost; frame = calling_frame(fiber, frame)) {
    if (!list.empty() || frame[1] == caller) list.push_back(frame[1]);
  }
  if (list.empty()) list.push_back(caller);
  return list;
}

}  // namespace simt
