// What happens at a load or store of a kernel, in order: other lanes and threads may go first, then
// the checker looks, then the trace.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/function_ref.hpp"
#include "base/inlining.hpp"
#include "base/scoped_ignore.hpp"
#include "checker/clusters.hpp"
#include "checker/history.hpp"
#include "checker/overlap.hpp"
#include "checker/rules.hpp"
#include "counters/counters.hpp"
#include "scheduler/lockstep.hpp"
#include "scheduler/repetition.hpp"
#include "scheduler/schedule.hpp"
#include "simt/runtime.hpp"
#include "trace/trace.hpp"

namespace simt {

constexpr unsigned kPreemptAtAccess = 8, kPreemptAtAtomic = 4;
/// Seeded schedules: one compare_exchange_weak() out of this many fails without a reason.
constexpr unsigned kOddsOfWeakFailure = 8;

/// A call of the kernel that moves several bytes: where it returns to, and its frame.
struct Call {
  const void* caller;
  const char* frame;
};
/// The call of the running function of the library.
#define SIMT_RETURN __builtin_return_address(0)
#define SIMT_THIS_CALL \
  simt::Call { SIMT_RETURN, static_cast<const char*>(__builtin_frame_address(0)) }

/// A thread changes something, which loops that wait for it will see.
SIMT_HOT void note_write(const Allocation& a, std::uintptr_t address, std::size_t size, Thread& t) {
  engine.fruitless = 0;
  if (engine.watching) watch_write(address, size);
  if (a.space != Space::shared) t.block->barriers = 0;
}

/// The access itself, once it is this thread's turn. `is_part`: of an object that is copied as a whole.
/// `flags`: kAtomic and so on.
SIMT_HOT void access_now(Allocation& a, std::uintptr_t address, std::size_t size, AccessKind kind,
                         Scope scope, const void* caller, bool is_part = false,
                         std::uint8_t flags = 0) {
  Thread& t = *engine.current;
  if (access_is_open) checker_settle_access();
  if (engine.clusters && a.space == Space::shared) check_remote_use(a, address, kind, caller, t);
  if (is_atomic(kind)) {
    record_atomic(t, a, address, kind, scope, t.relaxed_name, caller);
    if (writes(kind)) fence_atomic(t, address, kind);  // of a load when it is known what it finds
  }
  if (writes(kind)) {
    set_initialised(a, address, size);
    note_write(a, address, size, t);
  } else if (!(is_part ? any_initialised(a, address, size) : all_initialised(a, address, size))) {
    report_uninitialised(address, kind, caller);
  }
  if (t.conflicts > 0 || kind != AccessKind::read) settle_recent_read(t, address, nullptr);
  if (kind == AccessKind::read && size <= kWidestRead) {
    remember_read(t, address, size, pc_of(caller));
  } else if (kind == AccessKind::read && size == 2 * kWidestRead && has_wide_compare_and_swap) {
    remember_read(t, address, kWidestRead, pc_of(caller));
    remember_read(t, address + kWidestRead, kWidestRead, pc_of(caller));
  }
  check_cells(a, address, size, kind, flags, caller, t);
  if (engine.overlap) check_overlap(a, address, size, kind, scope, nullptr, caller, t);
  if (engine.tracing) trace_access(t, address, size, writes(kind));
}

/// `copy`: the call, if this is a part of an object that is copied as a whole.
SIMT_HOT void access(std::uintptr_t address, std::size_t size, AccessKind kind, Scope scope,
                     const void* caller, const Call* copy = nullptr, std::uint8_t flags = 0) {
  Allocation* a = find_target(address, size, kind, caller);
  if (a == nullptr) return;
  if (engine.lockstep) {
    const std::uint32_t depth =
        copy ? depth_of(copy->frame, kDepthOfAccess)
             : depth_here(is_atomic(kind) ? kDepthOfVolatile : kDepthOfAccess);
    park_for(a->space == Space::shared, address, size, kind, nullptr, depth, caller);
  }
  maybe_preempt(kPreemptAtAccess);
  access_now(*a, address, size, kind, scope, caller, copy != nullptr, flags);
}

/// Loads and stores of a size that is known to the compiler.
template <std::size_t size, AccessKind kind>
__attribute__((noinline)) void access_of(std::uintptr_t address, const void* caller) {
  access(address, size, kind, Scope::device, caller);
}
/// What is left of one when it is found that there is more to do than pass_quickly() does.
template <std::size_t size, AccessKind kind>
__attribute__((noinline)) void finish_access(Allocation& a, std::uintptr_t address,
                                             const void* caller, bool others_first) {
  if (others_first) yield();
  access_now(a, address, size, kind, Scope::device, caller);
}

/// The same for four bytes, as most are.
template <AccessKind kind>
__attribute__((noinline)) void access_word(std::uintptr_t address, const void* caller) {
  constexpr std::size_t size = 4;
  if (engine.lockstep || engine.tracing || engine.overlap || engine.clusters) {
    return access_of<size, kind>(address, caller);
  }
  Allocation* const a = find_target(address, size, kind, caller);
  if (a == nullptr) return;
  const bool others_first = is_preempted(kPreemptAtAccess);
  Thread& t = *engine.current;
  if (others_first || !pass_quickly<kind>(*a, address, caller, t)) {
    return finish_access<size, kind>(*a, address, caller, others_first);
  }
  if (writes(kind)) note_write(*a, address, size, t);
}

/// A load or store of the running thread, or of host code. What needs no check costs nothing here:
/// no register is saved before it is known that there is something to check.
template <std::size_t size, AccessKind kind>
SIMT_HOT void check_access(std::uintptr_t address, const void* caller) {
  if (is_its_own(address)) {  // the host does not read what is a thread's own
    if constexpr (writes(kind)) check_own_store(address, size, caller);
    return;
  }
  if (engine.current == nullptr) {
    check_host_access(address, size, kind, caller);
  } else if (!accesses_are_ignored) {
    if constexpr (size == 4) {
      access_word<kind>(address, caller);
    } else {
      access_of<size, kind>(address, caller);
    }
  }
}

/// The same for any size, out of line.
void check_any_access(std::uintptr_t address, std::size_t size, bool write, const void* caller);
/// A part of memory that is about to be read, or written.
void check_range(void* p, std::size_t n, bool write, const Call& call);
/// memmove, of the program or of the compiler, which copies a struct by it.
void copy_bytes(void* to, const void* from, std::size_t n, const Call& call);
/// memset.
void set_bytes(void* to, int byte, std::size_t n, const Call& call);
/// Volatile, or a load or store of an atomic_ref: relaxed and atomic, in that scope.
void check_relaxed_access(std::uintptr_t address, std::size_t size, RelaxedAccess access,
                          Scope scope, const void* caller);
/// In lockstep: counts a load of a volatile variable of global memory.
SIMT_HOT void count_volatile_load(std::uintptr_t address) {
  if (engine.current == nullptr || !engine.lockstep || is_its_own(address)) return;
  if (!is_shared(reinterpret_cast<const void*>(address))) ++counted.global_volatile_loads;
}

struct AsyncCopy;
struct CopyQueue;
/// Completes those copies that are due, and takes them out of the list.
void complete_copies_if(std::vector<AsyncCopy>& copies, FunctionRef<bool(const AsyncCopy&)> is_due);
/// Completes the copies of all committed batches but the newest ones.
void complete_batches(CopyQueue& queue, unsigned newest);

}  // namespace simt
