#include "fiber.hpp"

#include <sys/mman.h>

#include <cstdio>
#include <cstdlib>
#include <vector>

namespace simt {

Fiber* leaving_fiber = nullptr;

namespace {

namespace bc = boost::context::detail;

constexpr std::size_t kPage = 4096;
constexpr std::size_t kFibersPerSlab = 64;
// Stack tops at the same offset of a page would compete for the same few cache sets.
constexpr std::size_t kColours = 61, kColourStep = 64;

std::vector<Fiber*> idle;
std::size_t created = 0;
void (*fiber_body)() = nullptr;

void entry(bc::transfer_t from) {
  leaving_fiber->context = from.fctx;
  for (;;) fiber_body();
}

void allocate_slab() {
  const std::size_t stride = kPage + kStackSize;
  void* memory = mmap(nullptr, stride * kFibersPerSlab, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) {
    std::perror("simt: no memory for the stacks of CUDA threads");
    std::abort();
  }
  for (std::size_t i = 0; i < kFibersPerSlab; ++i) {
    char* base = static_cast<char*>(memory) + i * stride;
    mprotect(base, kPage, PROT_NONE);  // a stack overflow faults instead of corrupting a neighbour
    auto* fiber = new Fiber;           // lives as long as the process, like its stack
    fiber->stack = base + kPage;
    fiber->top = base + stride - created++ * 5 % kColours * kColourStep;
    reset_fiber(fiber);
    idle.push_back(fiber);
  }
}

}  // namespace

void set_fiber_body(void (*body)()) { fiber_body = body; }

void reset_fiber(Fiber* fiber) {
  fiber->context =
      bc::make_fcontext(fiber->top, static_cast<std::size_t>(fiber->top - fiber->stack), entry);
}

Fiber* acquire_fiber() {
  if (idle.empty()) allocate_slab();
  Fiber* fiber = idle.back();
  idle.pop_back();
  return fiber;
}

void release_fiber(Fiber* fiber) { idle.push_back(fiber); }

}  // namespace simt
