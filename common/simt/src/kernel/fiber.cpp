#include "kernel/fiber.hpp"

#include <sys/mman.h>

#include <cstdio>
#include <cstdlib>
#include <vector>

#if SIMT_OWN_SWITCH
// What a function must preserve lies on the stack of the suspended one, and its address is the
// context. A switch is a call and a return, as the processor's prediction of returns wants it.
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
  movq %rsp, (%rdi)
  movq %rsi, %rsp
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
// Stack tops at the same offset of a page would compete for the same few cache sets.
constexpr std::size_t kColours = 61, kColourStep = 64;

std::vector<Fiber> idle;
std::size_t created = 0;
void (*fiber_body)() = nullptr;

[[noreturn]] void run_for_ever() {
  for (;;) fiber_body();
}

/// Stacks lie in the upper halves of aligned pieces of twice their size. What is below one faults:
/// a stack overflow does not corrupt a neighbour.
void allocate_slab() {
  constexpr std::size_t stride = 2 * kStackSize;
  void* memory = mmap(nullptr, stride * (kFibersPerSlab + 1), PROT_NONE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) {
    std::perror("simt: no memory for the stacks of CUDA threads");
    std::abort();
  }
  const std::size_t to_next = stride - reinterpret_cast<std::uintptr_t>(memory) % stride;
  for (std::size_t i = 0; i < kFibersPerSlab; ++i) {
    char* const bottom = static_cast<char*>(memory) + to_next + i * stride + stride - kStackSize;
    mprotect(bottom, kStackSize, PROT_READ | PROT_WRITE);
    Fiber fiber;
    fiber.top = bottom + kStackSize - created++ * 5 % kColours * kColourStep;
    reset_fiber(fiber);
    idle.push_back(fiber);
  }
}

}  // namespace

void set_fiber_body(void (*body)()) { fiber_body = body; }

#if SIMT_OWN_SWITCH
void reset_fiber(Fiber& fiber) {
  // What simt_switch_context finds on the stack: registers, where to return to, and, for
  // run_for_ever, that no function called it.
  constexpr std::size_t kSavedRegisters = 6;
  auto* const no_caller = reinterpret_cast<void**>(fiber.top) - 1;
  no_caller[0] = nullptr;
  no_caller[-1] = reinterpret_cast<void*>(run_for_ever);
  void** const registers = no_caller - 1 - kSavedRegisters;
  for (std::size_t i = 0; i < kSavedRegisters; ++i) registers[i] = nullptr;
  fiber.context = registers;
}
#else
Fiber* leaving_fiber = nullptr;

void reset_fiber(Fiber& fiber) {
  const auto size = static_cast<std::size_t>(fiber.top - fiber.bottom());
  fiber.context = boost::context::detail::make_fcontext(
      fiber.top, size, [](boost::context::detail::transfer_t from) {
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

}  // namespace simt
