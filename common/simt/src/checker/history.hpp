// What each thread did last by atomics and fences: a message tells from it why two accesses have no order.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "base/function_ref.hpp"
#include "base/inlining.hpp"
#include "kernel/thread.hpp"

namespace simt {

/// An atomic function, a relaxed load or store, or a fence.
struct SyncEvent {
  std::uintptr_t address = 0;  // 0: a fence
  const char* name = nullptr;  // "atomicAdd", "store", "__threadfence()"
  std::uint32_t pc = 0;        // as in Access
  std::uint32_t clock = 0;     // of the thread: what it accessed before has an earlier one
  std::uint32_t barrier = 0;   // what its block did before this clock came before a barrier
  std::uint64_t found = 0;     // the value that was there; see has_found
  std::uint64_t expected = 0;  // by a compare-and-swap ...
  std::uint64_t desired = 0;   // ... and what it would store
  std::uint32_t rounds = 0;    // ... that has found the same so many times in a row; 0: not known
  Access from;                 // the atomic that stored there last, before this one
  AccessKind kind = AccessKind::none;
  Scope scope = Scope::device;
  bool changed = false;     // the value there
  bool takes_lock = false;  // a 1 came into the place of a 0, by a compare-and-swap or an exchange
  bool releases = false;    // its memory order is a fence before it ...
  bool acquires = false;    // ... and one after it
  bool has_found = false;   // an atomic of up to 8 bytes that is done
};

/// The last events of a thread. All that it finds unchanged by one instruction is one.
struct History {
  static constexpr std::size_t kKept = 8;
  std::array<SyncEvent, kKept> events;
  std::size_t count = 0;  // of all so far
  std::uint32_t thread = 0;

  /// The oldest one may be empty, without an address: it has been taken back.
  std::size_t size() const { return count < kKept ? count : kKept; }
  /// back 0: the newest.
  SyncEvent& newest(std::size_t back = 0) { return events[(count - 1 - back) % kKept]; }
  const SyncEvent& newest(std::size_t back = 0) const { return events[(count - 1 - back) % kKept]; }
};

/// The history of a thread that runs, or has run in this launch; null if there is none.
const History* history_of(std::uint32_t thread);
/// Calls `work` for every thread that has one. False if some events are kept no more.
bool for_each_history(FunctionRef<void(const History&)> work);

void history_start_launch();
void history_end_block(const Block& block);
/// The thread is about to do an atomic there.
void record_atomic(Thread& t, const Allocation& a, std::uintptr_t address, AccessKind kind,
                   Scope scope, const char* name, const void* caller);
/// What the thread's atomic there has done. `expected`: by a compare-and-swap; null otherwise.
inline void record_result(Thread& t, std::uintptr_t address, std::size_t size, bool changed,
                          bool takes_lock, const void* found, const void* expected,
                          const void* desired) {
  if (t.history == nullptr || t.history->count == 0) return;
  SyncEvent& last = t.history->newest();
  if (last.address != address) return;
  last.changed = changed;
  last.takes_lock = takes_lock;
  if (size > sizeof last.found) return;
  const std::uint64_t expected_before = last.expected, found_before = last.found;
  last.has_found = true;
  last.found = 0;
  std::memcpy(&last.found, found, size);
  if (expected == nullptr) return;
  std::memcpy(&last.expected, expected, size);
  std::memcpy(&last.desired, desired, size);
  const bool is_same = last.expected == expected_before && last.found == found_before;
  last.rounds = is_same ? last.rounds + 1 : 1;
}
void record_fence(Thread& t, Scope scope, FenceOf of, const char* name, const void* caller);

}  // namespace simt
