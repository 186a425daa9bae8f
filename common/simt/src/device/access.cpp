// What is rare in an access: unusual sizes, copies of any size, volatile variables, what atomic functions call.
#include "device/access.hpp"

#include <algorithm>
#include <array>
#include <cstring>

#include "checker/changes.hpp"
#include "checker/late_stores.hpp"
#include "scheduler/polling.hpp"

namespace simt {

void check_any_access(std::uintptr_t address, std::size_t size, bool write, const void* caller) {
  if (engine.current == nullptr) {
    check_host_access(address, size, write ? AccessKind::write : AccessKind::read, caller);
  } else if (!accesses_are_ignored) {
    access(address, size, write ? AccessKind::write : AccessKind::read, Scope::device, caller);
  }
}

// ---- copies of any size ---------------------------------------------------------------------------

// Nothing is known here of how the bytes are aligned. A GPU moves a struct in pieces of its alignment, one request a
// piece, and so does this, as far as the type of the array is known: piece by piece, so that other threads may come
// between, and find or leave half of a struct.
namespace {

constexpr std::size_t kLargestPiece = 16, kCopiedAtOnce = 256;

bool is_checked(const void* p) {
  return engine.current != nullptr && !accesses_are_ignored &&
         !is_its_own(reinterpret_cast<std::uintptr_t>(p));
}

/// Announces the accesses to [p, p + n), and calls `move` with the place of each when its turn has come.
template <class Move>
void access_pieces(std::uintptr_t p, std::size_t n, AccessKind kind, const Call& call, Move move) {
  const Allocation* a = find_bytes(p, n, kind, call.caller);
  std::uintptr_t multiple = p | n | kLargestPiece;
  if (a == nullptr) {
    return move(0, n);
  }
  if (a->element.size >= n) multiple |= a->element.alignment;
  const std::size_t piece = multiple & -multiple;
  for (std::size_t i = 0; i < n; i += piece) {
    access(p + i, piece, kind, Scope::device, call.caller, &call);
    move(i, piece);
  }
}

}  // namespace

void check_range(void* p, std::size_t n, bool write, const Call& call) {
  const auto address = reinterpret_cast<std::uintptr_t>(p);
  const AccessKind kind = write ? AccessKind::write : AccessKind::read;
  if (engine.current == nullptr) check_host_access(address, n, kind, call.caller);
  if (write) check_own_store(address, n, call.caller, call.frame);
  if (!is_checked(p)) return;
  if (write) note_change();  // later, when other threads may have run
  access_pieces(address, n, kind, call, [](std::size_t, std::size_t) {});
}

void copy_bytes(void* to, const void* from, std::size_t n, const Call& call) {
  const auto source = reinterpret_cast<std::uintptr_t>(from);
  const auto target = reinterpret_cast<std::uintptr_t>(to);
  if (engine.current == nullptr) {
    check_host_access(source, n, AccessKind::read, call.caller);
    check_host_access(target, n, AccessKind::write, call.caller);
  }
  check_own_store(target, n, call.caller, call.frame);
  const bool reads = is_checked(from), writes = is_checked(to);
  if (!reads && !writes) {
    std::memmove(to, from, n);
    return;
  }
  if (n > kCopiedAtOnce) {  // the program's own memcpy: as if all were read, and then all written
    if (reads) access_pieces(source, n, AccessKind::read, call, [](std::size_t, std::size_t) {});
    if (writes) access_pieces(target, n, AccessKind::write, call, [](std::size_t, std::size_t) {});
    if (writes) note_change();
    std::memmove(to, from, n);
    return;
  }
  std::array<unsigned char, kCopiedAtOnce> bytes;
  const auto load = [&](std::size_t i, std::size_t size) {
    std::memcpy(&bytes[i], static_cast<const unsigned char*>(from) + i, size);
  };
  const auto store = [&](std::size_t i, std::size_t size) {
    std::memcpy(static_cast<unsigned char*>(to) + i, &bytes[i], size);
  };
  if (reads) {
    access_pieces(source, n, AccessKind::read, call, load);
  } else {
    load(0, n);
  }
  if (writes) {
    access_pieces(target, n, AccessKind::write, call, store);
  } else {
    store(0, n);
  }
}

void set_bytes(void* to, int byte, std::size_t n, const Call& call) {
  const auto target = reinterpret_cast<std::uintptr_t>(to);
  if (engine.current == nullptr) check_host_access(target, n, AccessKind::write, call.caller);
  check_own_store(target, n, call.caller, call.frame);
  const auto store = [&](std::size_t i, std::size_t size) {
    std::memset(static_cast<unsigned char*>(to) + i, byte, size);
  };
  if (is_checked(to)) {
    access_pieces(target, n, AccessKind::write, call, store);
  } else {
    store(0, n);
  }
}

// ---- volatile -------------------------------------------------------------------------------------

namespace {

std::uint8_t flags_of(Scope scope) {
  return static_cast<std::uint8_t>(kAtomic | (scope == Scope::block ? kBlockScope : 0));
}

const char* name_of(RelaxedAccess access) {
  switch (access) {
    case RelaxedAccess::volatile_load:
      return "volatile load";
    case RelaxedAccess::atomic_load:
      return "load";
    case RelaxedAccess::volatile_store:
      return "volatile store";
    default:
      return "store";
  }
}

}  // namespace

void check_relaxed_access(std::uintptr_t address, std::size_t size, RelaxedAccess relaxed,
                          Scope scope, const void* caller) {
  const bool is_volatile =
      relaxed == RelaxedAccess::volatile_load || relaxed == RelaxedAccess::volatile_store;
  const bool write =
      relaxed == RelaxedAccess::volatile_store || relaxed == RelaxedAccess::atomic_store;
  const bool in_kernel = engine.current != nullptr && !accesses_are_ignored;
  if (access_is_open && in_kernel) checker_settle_access();
  const AccessKind kind = write ? AccessKind::relaxed_write : AccessKind::relaxed_read;
  if (in_kernel) engine.current->relaxed_name = name_of(relaxed);
  const Allocation* const a = in_kernel ? find_target(address, size, kind, caller) : nullptr;
  if (a != nullptr && !write) {
    note_poll(address, size, caller);  // before the access: it may switch threads
  }
  if (engine.current == nullptr) {
    check_host_access(address, size, kind, caller);
  } else if (!in_kernel || scope == Scope::thread) {
    check_any_access(address, size, write, caller);
  } else {
    const bool shared = a != nullptr && a->space == Space::shared;
    std::uint8_t flags = flags_of(scope);
    // In global memory fewer elements than lanes may be flags.
    const std::size_t others = shared ? size : (kWarpSize - 1) * size;
    if (is_volatile && a != nullptr && a->size > others) flags |= kVolatileElement;
    access(address, size, kind, scope, caller, nullptr, flags);
    Thread& t = *engine.current;
    bool finds_old_value = false;
    if (stores_may_be_late && a != nullptr && !shared) {
      if (write) {
        note_change();
        remember_late_store(t, address, size, kind, pc_of(caller));
      } else if (load_late(t, address, size, relaxed, pc_of(caller))) {
        note_change();
        access_is_open = finds_old_value = true;
      }
    }
    if (a != nullptr && !write) fence_load(t, address, finds_old_value);
  }
  if (write) wake_pollers(address);
}

bool weak_exchange_fails(std::uintptr_t address, const void* caller) {
  if (engine.current == nullptr || accesses_are_ignored || engine.lockstep) return false;
  if (!schedule.seeded || random_number() % kOddsOfWeakFailure != 0) return false;
  note_change();
  engine.current->weak_failure = {address, caller};
  ++open_weak_failures;
  return true;
}

// ---- called by atomic functions -----------------------------------------------------------------

namespace {
struct Announced {
  const void* caller = nullptr;
  std::uintptr_t address = 0;
  std::size_t size = 0;
  AtomicKind kind = AtomicKind::read_modify_write;
  bool is_shared = false;
  const char* name = nullptr;  // of an atomic that others see
};
Announced announced;  // the atomic that has not been done yet

/// 0, 1, or 2 for anything else.
unsigned small_value(const void* integer, std::size_t size) {
  constexpr std::array<std::uint64_t, 2> values = {0, 1};
  if (std::memcmp(integer, &values[0], std::min<std::size_t>(size, 8)) == 0) return 0;
  return std::memcmp(integer, &values[1], std::min<std::size_t>(size, 8)) == 0 ? 1 : 2;
}

bool takes_lock(const AtomicValues& v) {
  return announced.kind != AtomicKind::read_modify_write && announced.size <= 8 &&
         small_value(v.old, announced.size) == 0 && small_value(v.operand, announced.size) == 1;
}
}  // namespace

void atomic_access(void* pointer, std::size_t size, AtomicKind kind, const AtomicCall& call,
                   const void* expected) {
  const void* const caller = call.caller;
  const auto address = reinterpret_cast<std::uintptr_t>(pointer);
  announced = {caller, address, size, kind};
  if (engine.current == nullptr) {  // cuda::atomic in host code
    check_host_access(address, size, AccessKind::atomic, caller);
    return;
  }
  if (call.scope == Scope::thread) {
    if (kind != AtomicKind::exchange) check_any_access(address, size, false, caller);
    check_any_access(address, size, true, caller);
    announced = {caller, address, size, kind};
    return;
  }
  Allocation* a = find_target(address, size, AccessKind::atomic, caller);
  if (a == nullptr) return;  // an atomic on a local variable
  Thread& t = *engine.current;
  if (open_weak_failures > 0) settle_weak_failure(t, address, caller);
  if (engine.lockstep) {
    park_for(a->space == Space::shared, address, size, AccessKind::atomic, call.name,
             depth_here(kDepthOfAtomic), caller);
    if (kind == AtomicKind::compare_and_swap && a->space != Space::shared) {
      ++counted.global_compare_and_swaps;
    }
  }
  maybe_preempt(kPreemptAtAtomic);
  checker_settle_access();
  if (engine.clusters && a->space == Space::shared && !call.is_awaited) {
    check_remote_use(*a, address, AccessKind::atomic, caller, t);
  }
  record_atomic(t, *a, address, AccessKind::atomic, call.scope, call.name, caller);
  fence_atomic(t, address, AccessKind::atomic);
  if (kind != AtomicKind::compare_and_swap) expected = nullptr;
  settle_recent_read(t, address, expected);
  if (size > kWidestRead) {
    const auto* const second = static_cast<const char*>(expected) + kWidestRead;
    settle_recent_read(t, address + kWidestRead, expected == nullptr ? nullptr : second);
  }
  if (kind != AtomicKind::exchange && !all_initialised(*a, address, size)) {
    report_uninitialised(address, AccessKind::atomic, caller);
  }
  set_initialised(*a, address, size);
  if (a->space != Space::shared) t.block->barriers = 0;
  check_cells(*a, address, size, AccessKind::atomic, flags_of(call.scope), caller, t);
  if (engine.overlap)
    check_overlap(*a, address, size, AccessKind::atomic, call.scope, call.name, caller, t);
  announced = {caller, address, size, kind, a->space == Space::shared, call.name};
  if (stores_may_be_late && a->space != Space::shared) {
    remember_late_store(t, address, size, AccessKind::atomic, pc_of(caller));
  }
  if (engine.tracing) trace_settle_store();
}

void atomic_done(bool changed, const AtomicValues& values) {
  if (engine.current == nullptr) return;
  if (engine.tracing) trace_atomic(*engine.current, values);
  const bool is_comparison = announced.kind == AtomicKind::compare_and_swap;
  if (is_comparison)
    note_swap_of_same(*engine.current, announced.address, values, announced.caller);
  record_result(*engine.current, announced.address, values.type.size, changed,
                changed && takes_lock(values), values.old,
                is_comparison ? values.expected : nullptr, values.operand);
  if (announced.name != nullptr && announced.size <= sizeof(std::uint64_t)) {
    record_last_atomic(*engine.current, announced.name, announced.caller, announced.size,
                       values.old, changed);
  }
  if (changed) {
    if (!announced.is_shared) engine.has_effects = true;
    if (announced.name != nullptr && announced.size <= sizeof(std::uint64_t)) {
      record_change(*engine.current, announced.name, announced.caller, announced.address,
                    announced.size, values.old);
    }
    note_change();
    engine.fruitless = 0;
    engine.current->repeated_polls = 0;
    wake_pollers(announced.address);
  } else {
    note_poll(announced.address, announced.size, announced.caller);
  }
}

}  // namespace simt
