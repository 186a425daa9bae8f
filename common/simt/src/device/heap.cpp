// malloc() and free() of kernels.
#include "memory/heap.hpp"

#include "checker/rules.hpp"
#include "kernel/engine.hpp"
#include "kernel/findings.hpp"
#include "scheduler/repetition.hpp"
#include "simt/api.hpp"
#include "simt/runtime.hpp"

namespace simt {

void* heap_allocate(std::size_t size, const void* caller) {
  note_change();
  engine.has_effects = true;
  checker_settle_access();
  void* p = nullptr;
  on_host_stack([&] { p = heap_take(size, engine.placement->device, caller); });
  return p;
}

void heap_release(void* p, const char* function, const void* caller) {
  note_change();
  engine.has_effects = true;
  checker_settle_access();
  if (p == nullptr) return;
  bool known = false;
  on_host_stack([&] { known = heap_give_back(p, {function, {caller}}); });
  if (known) return;
  trap(
      "free() or delete of memory that malloc() or new of a kernel has not given, or of memory that is free already",
      cudaErrorIllegalAddress, caller);
}

}  // namespace simt
