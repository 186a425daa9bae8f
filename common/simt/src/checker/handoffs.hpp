// How a thread may have heard of what another one did: an atomic stored something, and another one found it.
#pragma once

#include <cstddef>
#include <cstdint>

#include "checker/history.hpp"
#include "memory/shadow.hpp"

namespace simt {

/// An event, and the thread that it is of.
struct Done {
  SyncEvent event;  // of no name if there is none
  std::uint32_t thread = 0;
  std::size_t back = 0;  // its place in the history: 0 is the newest
  bool is_exact =
      false;  // else a later event of the same instruction stands for one that is forgotten

  bool is_known() const { return event.name != nullptr; }
};

/// After (or before) an access E its thread, or another one of its block, has stored something; a load has found it, of the
/// running thread or another one of its block.
struct Handoff {
  Done store, load;
  bool is_early = false;  // the store came before E
  bool is_beside =
      false;  // the store is by another thread, and no barrier lies between E and the store
  bool is_counting = false;  // both are such as atomicAdd: they may have nothing to do with E
};

bool is_load(const SyncEvent& e);
bool is_store(const SyncEvent& e);
/// Leaves a value of the thread's own, whatever was there.
bool replaces(const SyncEvent& e);
bool is_compare_and_swap(const SyncEvent& e);
bool is_fence(const SyncEvent& e);

struct Fences {
  const SyncEvent *before = nullptr, *after = nullptr;
};
/// The thread's own fences next to an event.
Fences fences_beside(const Done& done);
/// The widest fence of the storer between the access and the store, also that of another atomic's memory order; null if there
/// is none. Of an access by another thread: since a barrier that it came before.
const SyncEvent* fence_before_store(const Done& store, const Access& access);
/// The same of the loader after the load.
const SyncEvent* fence_after_load(const Done& load);

/// The hand-off that tells most of why `earlier` is not before what t does now; without a store if there is none.
Handoff find_handoff(const Access& earlier, const Thread& t);

/// The last event of a thread before its access; null if there is none.
const SyncEvent* event_before(std::uint32_t thread, std::uint32_t clock);

/// What the thread has loaded last before its access, and what has changed since then.
struct StaleLook {
  const SyncEvent* look = nullptr;  // null: nothing has changed
  Access changed_by;
};
/// `clock`: of the access.
StaleLook find_stale_look(std::uint32_t thread, std::uint32_t clock);

/// Two threads have loaded a place and then stored there, in two steps.
struct TwoSteps {
  const SyncEvent *load = nullptr, *store = nullptr;
};
TwoSteps find_two_steps(std::uint32_t one, std::uint32_t other);

}  // namespace simt
