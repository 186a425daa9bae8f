// Searches what the threads of two blocks did by atomics.
#include "checker/handoffs.hpp"

#include <cstring>

#include "kernel/engine.hpp"
#include "memory/shadow.hpp"

namespace simt {
namespace {

constexpr unsigned kMostLinks = 64;  // of a chain of atomics on one address

std::uint32_t clock_of(const Access& access) { return access.clock >> kClockShift; }

bool has_name(const SyncEvent& e, const char* name) { return std::strcmp(e.name, name) == 0; }

/// Such as atomicAdd: what it leaves depends on what was there.
bool counts(const SyncEvent& e) { return !is_load(e) && !replaces(e) && !is_compare_and_swap(e); }

/// The event in which the thread made this access.
Done find_event(const Access& access) {
  const History* const h = history_of(access.thread);
  Done similar;
  for (std::size_t back = 0; h != nullptr && back < h->size(); ++back) {
    const SyncEvent& e = h->newest(back);
    if (e.address != 0 && e.clock == clock_of(access)) return {e, access.thread, back, true};
    if (e.address == 0 || e.pc != access.pc || similar.is_known()) continue;
    similar = {e, access.thread, back};
    similar.event.clock = clock_of(access);
    similar.event.barrier = ~std::uint32_t(0);  // not known
  }
  return similar;
}

/// The store of a thread of `block` that the load has found, or what atomics of others have made of it.
Done stored_by(std::uint32_t block, const SyncEvent& load, std::uint32_t reader) {
  Access from = load.from;
  for (unsigned link = 0; link < kMostLinks && from.pc != 0; ++link) {
    Done done = find_event(from);
    if (!done.is_known()) return {};
    const bool is_of_block = block_of(from.thread) == block && from.thread != reader;
    if (is_of_block && (done.event.changed || !done.is_exact)) {
      done.event.address = load.address;
      return done;
    }
    if (!done.is_exact || is_store(done.event))
      return {};  // nothing of what was there before is left
    from = done.event.from;
  }
  return {};
}

/// A memory order or a fence says that something is handed over.
bool has_order(const Handoff& h, const Access& earlier) {
  return h.store.event.releases || h.load.event.acquires ||
         fence_before_store(h.store, earlier) != nullptr || fence_after_load(h.load) != nullptr;
}

unsigned worth(const Handoff& h, const Access& earlier, const Thread& t) {
  if (!h.store.is_known()) return 0;
  const unsigned order = h.is_early ? 1 : h.is_beside ? 2 : 3;
  return 100 + 20 * order + (h.is_counting ? 0 : 4) + (h.load.thread == t.id ? 5 : 0) +
         (has_order(h, earlier) ? 8 : 0);
}

/// The storer's last event before its access is the store.
bool is_last_before(const Done& store, const Access& access) {
  if (!store.is_exact) return false;
  const History& h = *history_of(store.thread);
  for (std::size_t back = store.back; back-- > 0;) {
    const SyncEvent& later = h.newest(back);
    if (later.clock <= clock_of(access)) return false;
  }
  return true;
}

Handoff handoff_by(const Access& earlier, const Done& store, const Done& load) {
  Handoff h{store, load};
  const bool is_own = store.thread == earlier.thread;
  h.is_early = is_own && clock_of(earlier) >= store.event.clock;
  h.is_beside = !is_own && clock_of(earlier) >= store.event.barrier;
  h.is_counting = counts(store.event) && counts(load.event);
  return h;
}

/// The thread looks for itself what is there, and does not rely on another one of its block.
bool looks_itself(std::uint32_t thread) {
  const History* const h = history_of(thread);
  for (std::size_t back = 0; h != nullptr && back < h->size(); ++back) {
    const SyncEvent& e = h->newest(back);
    if (e.address != 0 && !is_store(e)) return true;
  }
  return false;
}

/// Does it say anything of the access?
bool is_telling(const Handoff& h, const Access& earlier, const Thread& t) {
  if (h.store.thread != earlier.thread && looks_itself(earlier.thread)) return false;
  if (h.load.thread != t.id && looks_itself(t.id)) return false;
  const bool tells = h.is_counting || (is_load(h.load.event) && replaces(h.store.event));
  if (h.is_early && (!tells || !is_last_before(h.store, earlier))) return false;
  const bool same_block = block_of(earlier.thread) == t.block->linear;
  // In one block barriers order, and atomics count: only a thread's own store for the reader says something.
  return !same_block ||
         (!h.is_counting && h.load.thread == t.id && h.store.thread == earlier.thread);
}

}  // namespace

bool is_load(const SyncEvent& e) {
  return e.kind == AccessKind::relaxed_read || has_name(e, "load");
}
bool is_store(const SyncEvent& e) {
  return e.kind == AccessKind::relaxed_write || has_name(e, "store");
}

bool replaces(const SyncEvent& e) {
  return is_store(e) || has_name(e, "exchange") || std::strncmp(e.name, "atomicExch", 10) == 0;
}
bool is_compare_and_swap(const SyncEvent& e) {
  return has_name(e, "compare_exchange") || std::strncmp(e.name, "atomicCAS", 9) == 0;
}
bool is_fence(const SyncEvent& e) { return e.kind == AccessKind::fence; }

Fences fences_beside(const Done& done) {
  const History& h = *history_of(done.thread);
  Fences fences;
  if (done.back + 1 < h.size() && is_fence(h.newest(done.back + 1))) {
    fences.before = &h.newest(done.back + 1);
  }
  if (done.back > 0 && is_fence(h.newest(done.back - 1))) fences.after = &h.newest(done.back - 1);
  return fences;
}

const SyncEvent* fence_before_store(const Done& store, const Access& access) {
  const History& h = *history_of(store.thread);
  const SyncEvent* widest = nullptr;
  for (std::size_t back = store.back + 1; back < h.size(); ++back) {
    const SyncEvent& e = h.newest(back);
    const std::uint32_t end = store.thread == access.thread ? e.clock : e.barrier;
    if (clock_of(access) >= end) break;
    const bool is_one = is_fence(e) || e.releases;
    if (is_one && (widest == nullptr || e.scope > widest->scope)) widest = &e;
  }
  return widest;
}

const SyncEvent* fence_after_load(const Done& load) {
  const History& h = *history_of(load.thread);
  const SyncEvent* widest = nullptr;
  for (std::size_t back = load.back; back-- > 0;) {
    const SyncEvent& e = h.newest(back);
    const bool is_one = is_fence(e) || e.acquires;
    if (is_one && (widest == nullptr || e.scope > widest->scope)) widest = &e;
  }
  return widest;
}

const SyncEvent* event_before(std::uint32_t thread, std::uint32_t clock) {
  const History* const h = history_of(thread);
  for (std::size_t back = 0; h != nullptr && back < h->size(); ++back) {
    const SyncEvent& e = h->newest(back);
    if (e.clock <= clock) return &e;
  }
  return nullptr;
}

Handoff find_handoff(const Access& earlier, const Thread& t) {
  Handoff best;
  for (const Thread& reader : t.block->threads) {
    if (reader.history == nullptr) continue;
    for (std::size_t back = 0; back < reader.history->size(); ++back) {
      const SyncEvent& e = reader.history->newest(back);
      if (e.address == 0 || is_store(e)) continue;
      const Done store = stored_by(block_of(earlier.thread), e, reader.id);
      if (!store.is_known()) continue;
      const Handoff h = handoff_by(earlier, store, {e, reader.id, back, true});
      if (is_telling(h, earlier, t) && worth(h, earlier, t) > worth(best, earlier, t)) best = h;
    }
  }
  return best;
}

StaleLook find_stale_look(std::uint32_t thread, std::uint32_t clock) {
  const History* const h = history_of(thread);
  for (std::size_t back = 0; h != nullptr && back < h->size(); ++back) {
    const SyncEvent& e = h->newest(back);
    if (e.clock > clock || e.address == 0) continue;
    if (e.changed) return {};  // it has taken what it uses
    const Cell* const cell = find_cell(e.address);
    if (cell == nullptr || is_store(e)) continue;
    const Access now = cell->atomic;
    const Done change = find_event(now);
    const bool is_other = now.thread != thread && change.is_exact && change.event.changed;
    if (is_other && (now.thread != e.from.thread || now.clock != e.from.clock)) return {&e, now};
  }
  return {};
}

namespace {

/// A load of the place and a store there, and nothing else between the two.
TwoSteps steps_at(const History& h, std::uintptr_t address) {
  TwoSteps steps;
  for (std::size_t back = 0; back < h.size(); ++back) {
    const SyncEvent& e = h.newest(back);
    if (e.address != address) continue;
    if (steps.store == nullptr) {
      if (!is_store(e)) return {};
      steps.store = &e;
    } else {
      steps.load = is_load(e) ? &e : nullptr;
      return steps.load == nullptr ? TwoSteps{} : steps;
    }
  }
  return {};
}

}  // namespace

TwoSteps find_two_steps(std::uint32_t one, std::uint32_t other) {
  const History *const a = history_of(one), *const b = history_of(other);
  if (a == nullptr || b == nullptr) return {};
  for (std::size_t back = 0; back < a->size(); ++back) {
    const SyncEvent& e = a->newest(back);
    if (e.address == 0 || !is_store(e)) continue;
    const TwoSteps mine = steps_at(*a, e.address), theirs = steps_at(*b, e.address);
    if (mine.load == nullptr || theirs.load == nullptr) continue;
    const auto found = [](const SyncEvent& load, std::uint32_t thread, const SyncEvent& store) {
      return load.from.thread == thread && clock_of(load.from) == store.clock && load.from.pc != 0;
    };
    const bool are_blind =
        !found(*mine.load, other, *theirs.store) && !found(*theirs.load, one, *mine.store);
    if (are_blind && mine.store->pc == theirs.store->pc) return mine;
  }
  return {};
}

}  // namespace simt
