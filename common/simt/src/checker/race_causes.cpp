// Decides the cause of a race, and says it.
#include "checker/race_causes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cstring>
#include <optional>
#include <vector>

#include "base/program.hpp"
#include "checker/fences.hpp"
#include "checker/handoffs.hpp"
#include "checker/update_races.hpp"
#include "kernel/engine.hpp"
#include "memory/names.hpp"

namespace simt {
namespace {

// ---- words --------------------------------------------------------------------------------------

/// After a colon. Names of functions begin with a small letter, or with an underscore.
std::string lower_case(std::string text) {
  text.front() = static_cast<char>(std::tolower(static_cast<unsigned char>(text.front())));
  return text;
}
std::string who(std::uint32_t thread) { return thread_name(thread); }

const char* noun(AccessKind kind) { return writes(kind) ? "write" : "read"; }
const char* past(AccessKind kind) { return writes(kind) ? "wrote" : "read"; }

bool is_volatile(const SyncEvent& e) { return std::strncmp(e.name, "volatile", 8) == 0; }
/// Of CUDA's functions: not of cuda::atomic_ref, which has memory orders.
bool has_no_order(const SyncEvent& e) {
  return std::strncmp(e.name, "atomic", 6) == 0 || is_volatile(e);
}

/// Names events. A file is named once: after that, its lines are "line 31".
class EventNames {
 public:
  explicit EventNames(const Race& race) : race_(race) {}

  std::string place(const SyncEvent& e) {
    const SourceLine line = source_line(return_address_of(e.pc));
    if (line.file == file_) return fmt::format("line {}", line.line);
    file_ = line.file;
    return line.text();
  }
  /// What is at the address of an event, or of the race.
  std::string object(std::uintptr_t address) const {
    const std::string name = describe_element(address);
    const std::uintptr_t other = address == race_.address ? place_ : race_.address;
    if (other == 0 || other == address || describe_element(other) != name) return name;
    const Allocation& a = *named_by(address);
    return fmt::format("byte {} of {}", (address - a.name_origin) % a.element.size, name);
  }
  std::string object() const { return object(race_.address); }
  /// "stored flags[0] (publish.cuh:20)".
  std::string did(const SyncEvent& e) {
    place_ = e.address;
    const std::string x = object(e.address), at = place(e);
    const char* const how = is_volatile(e) ? ", volatile" : "";
    if (is_load(e)) return fmt::format("loaded {} ({}{})", x, at, how);
    if (is_store(e)) return fmt::format("stored {} ({}{})", x, at, how);
    return fmt::format("called {} on {} ({})", e.name, x, at);
  }
  /// Both places are named so that they differ.
  void set_place(std::uintptr_t address) { place_ = address; }

 private:
  const Race& race_;
  std::string file_;
  std::uintptr_t place_ = 0;
};

// ---- hand-offs ----------------------------------------------------------------------------------

/// What is missing on one side of a hand-off, and the sentence that says it.
struct Gap {
  RaceCause cause;
  std::string text;
};

Gap narrow(const SyncEvent& e, EventNames& names) {
  const std::string name = e.name;
  if (is_fence(e)) {
    return {RaceCause::narrow_scope,
            fmt::format("{} ({}) reaches the threads of its own block only: call __threadfence().",
                        name, names.place(e))};
  }
  if (has_no_order(e)) {
    return {RaceCause::narrow_scope, fmt::format("{} is for the threads of one block: use {}.",
                                                 name, name.substr(0, name.find("_block")))};
  }
  return {
      RaceCause::narrow_scope,
      fmt::format("The {} has the scope of a block, and the two threads are in different blocks: "
                  "use cuda::thread_scope_device.",
                  name)};
}

std::optional<Gap> gap_at_store(const Race& race, const Handoff& h, EventNames& names) {
  const SyncEvent& store = h.store.event;
  const Side& e = race.earlier;
  const std::string storer = capitalised(who(h.store.thread));
  if (h.is_early) {
    return Gap{
        RaceCause::early_store,
        fmt::format("The {0} came before the {1}: should it come after the {1}? Or should the "
                    "{2} wait for a later {0}?",
                    store.name, noun(e.kind), noun(race.now.kind))};
  }
  if (h.is_beside) {
    return Gap{RaceCause::barrier_before_store,
               fmt::format("No barrier lies between the {} of {} and the {} of {}: call "
                           "__syncthreads() before the {}.",
                           noun(e.kind), who(e.access.thread), store.name, who(h.store.thread),
                           store.name)};
  }
  const bool is_wide = race.in_one_block() || store.scope != Scope::block;
  if (store.releases) return is_wide ? std::nullopt : std::optional(narrow(store, names));
  if (const SyncEvent* const fence = fence_before_store(h.store, e.access)) {
    const bool fits = race.in_one_block() || fence->scope != Scope::block;
    return fits ? std::nullopt : std::optional(narrow(*fence, names));
  }
  const Fences fences = fences_beside(h.store);
  const bool is_own = h.store.thread == e.access.thread;
  if (fences.after != nullptr) {
    return Gap{RaceCause::fence_after_store,
               fmt::format("{} ({}) comes after the {}: one must come before it.",
                           fences.after->name, names.place(*fences.after), store.name)};
  }
  if (const SyncEvent* const fence = fences.before) {
    const std::string called =
        fmt::format("{} called {} ({}) before the", storer, fence->name, names.place(*fence));
    return Gap{RaceCause::early_fence,
               is_own
                   ? fmt::format("{0} {1}: that does not publish the {1}. Call it after the {1}, "
                                 "before the {2}.",
                                 called, noun(e.kind), store.name)
                   : fmt::format("{} barrier: that does not publish what other threads wrote. Call "
                                 "it after the barrier, before the {}.",
                                 called, store.name)};
  }
  if (is_volatile(store)) {
    return Gap{
        RaceCause::relaxed_store,
        "A volatile store publishes nothing but its own value: call __threadfence() before it."};
  }
  if (has_no_order(store)) {
    return Gap{
        RaceCause::relaxed_store,
        fmt::format("{} publishes nothing but its own value: call __threadfence() before it.",
                    store.name)};
  }
  return Gap{RaceCause::relaxed_store,
             fmt::format("The {} {}does not release what came before it: give it memory_order_{}.",
                         store.name, store.acquires ? "acquires, but " : "",
                         store.acquires ? "acq_rel" : "release")};
}

std::optional<Gap> gap_at_load(const Race& race, const Handoff& h, EventNames& names) {
  const SyncEvent& load = h.load.event;
  const bool is_wide = race.in_one_block() || load.scope != Scope::block;
  if (load.acquires) return is_wide ? std::nullopt : std::optional(narrow(load, names));
  if (const SyncEvent* const fence = fence_after_load(h.load)) {
    const bool fits = race.in_one_block() || fence->scope != Scope::block;
    return fits ? std::nullopt : std::optional(narrow(*fence, names));
  }
  const Fences fences = fences_beside(h.load);
  if (fences.before != nullptr) {
    return Gap{RaceCause::fence_before_load,
               fmt::format("{} ({}) comes before the {}: one must come after it.",
                           fences.before->name, names.place(*fences.before), load.name)};
  }
  const char* const n = noun(race.now.kind);
  if (is_volatile(load)) {
    return Gap{RaceCause::relaxed_load,
               fmt::format("What follows a volatile load may come before it, also this {}: call "
                           "__threadfence() after it.",
                           n)};
  }
  if (has_no_order(load)) {
    return Gap{RaceCause::relaxed_load,
               fmt::format("What follows {} may come before it, also this {}: call __threadfence() "
                           "after it.",
                           load.name, n)};
  }
  return Gap{
      RaceCause::relaxed_load,
      fmt::format("The {} {}, so that this {} may come before it: give it memory_order_{}.",
                  load.name, load.releases ? "releases, but does not acquire" : "does not acquire",
                  n, load.releases ? "acq_rel" : "acquire")};
}

std::optional<Gap> gap_after_load(const Race& race, const Handoff& h) {
  if (h.load.thread == race.t.id) return std::nullopt;
  if (h.load.event.clock < race.t.block->barrier_clock) return std::nullopt;
  return Gap{RaceCause::barrier_after_load,
             fmt::format("No barrier lies between that {0} and this {1} by another thread: call "
                         "__syncthreads() after the {0}.",
                         h.load.event.name, noun(race.now.kind))};
}

/// What the atomics may be meant for, where only the program's author knows.
std::string condition(const Handoff& h, const EventNames& names) {
  const std::string flag = describe_element(h.store.event.address);
  if (h.load.event.takes_lock) return fmt::format("If {} is a lock:", flag);
  if (!h.is_counting) return "";
  return fmt::format("If {} tells that {} is ready:", flag, names.object());
}

Explanation explain_handoff(const Race& race, const Handoff& h) {
  const Side& e = race.earlier;
  std::vector<Gap> gaps;
  const auto add = [&](std::optional<Gap> gap) {
    if (gap) gaps.push_back(std::move(*gap));
  };
  EventNames names(race);
  names.set_place(h.store.event.address);
  const std::string x = names.object();
  const bool one_storer = h.store.thread == e.access.thread;
  std::string text = capitalised(who(h.is_early ? h.store.thread : e.access.thread));
  if (h.is_early) {
    text += fmt::format(" {}, and {} {} after that.", names.did(h.store.event), past(e.kind), x);
  } else {
    const std::string storer = one_storer ? "then" : who(h.store.thread);
    text += fmt::format(" {} {}, and {} {}.", past(e.kind), x, storer, names.did(h.store.event));
  }
  text += fmt::format(" {} {} before this {}.", capitalised(who(h.load.thread)),
                      names.did(h.load.event), noun(race.now.kind));
  if (!lacks_acquire_fence(e.access, race.t)) add(gap_at_store(race, h, names));
  if (!h.is_early) add(gap_at_load(race, h, names));
  if (!h.is_early) add(gap_after_load(race, h));
  if (gaps.empty()) return {};
  if (const std::string meant = condition(h, names); !meant.empty()) {
    text += " " + meant;
    gaps.front().text = lower_case(gaps.front().text);
  }
  for (const Gap& gap : gaps) text += " " + gap.text;
  return {gaps.front().cause, wrapped(text)};
}

// ---- without a hand-off -------------------------------------------------------------------------

Explanation explain_two_steps(const Race& race) {
  const TwoSteps steps = find_two_steps(race.t.id, race.earlier.access.thread);
  if (steps.load == nullptr) return {};
  EventNames names(race);
  const std::string loaded = names.did(*steps.load), stored = names.did(*steps.store);
  return {RaceCause::two_steps,
          wrapped(fmt::format(
              "Both threads have {}, and then {}: these are two steps, and both may have found the "
              "same value. Is one atomic function meant, such as atomicCAS or atomicExch?",
              loaded, stored))};
}

/// A thread has used what another one may have got.
Explanation explain_claim(const Race& race) {
  EventNames names(race);
  for (const Side* side : {&race.now, &race.earlier}) {
    const std::uint32_t thread = side->access.thread, clock = side->access.clock >> kClockShift;
    const StaleLook look = find_stale_look(thread, clock);
    if (look.look == nullptr) continue;
    names.set_place(look.look->address);
    const std::string x = names.object(), loaded = names.did(*look.look);
    return {
        RaceCause::stale_look,
        wrapped(fmt::format(
            "{0} {1} before its {2} of {3}, and {4} has changed {5} since. Does {3} still belong "
            "to {6}? If a compare-and-swap decides that: it must come before the {2}.",
            capitalised(who(thread)), loaded, noun(side->kind), x, who(look.changed_by.thread),
            names.object(look.look->address), who(thread)))};
  }
  const auto last = [](const Side& side) {
    return event_before(side.access.thread, side.access.clock >> kClockShift);
  };
  const SyncEvent *const a = last(race.earlier), *const b = last(race.now);
  const bool looked = a != nullptr && b != nullptr && !a->changed && !b->changed;
  if (!looked || a->address == 0 || a->address != b->address) return {};
  if (a->from.thread != b->from.thread || a->from.clock != b->from.clock) return {};
  names.set_place(b->address);
  const std::string x = names.object(), one = names.did(*a), other = names.did(*b);
  return {
      RaceCause::stale_look,
      wrapped(fmt::format(
          "{} {}, and {} {}: both found the same value, and no atomic has let only one of them "
          "come here. If a compare-and-swap decides which of them may use {}: it must come before "
          "the {}.",
          capitalised(who(race.earlier.access.thread)), one, who(race.t.id), other, x,
          noun(race.now.kind)))};
}

/// Another thread of the reader's block looks at a place again and again, and the reader has not waited for it.
Explanation explain_waiting(const Race& race) {
  if (race.in_one_block() || writes(race.earlier.kind) == writes(race.now.kind)) return {};
  const Side& reader = writes(race.now.kind) ? race.earlier : race.now;
  if (history_of(reader.access.thread) != nullptr) return {};
  const Thread* const t = resident_thread(reader.access.thread);
  if (t == nullptr) return {};
  for (const Thread& other : t->block->threads) {
    const History* const h = other.history;
    if (h == nullptr || h->count == 0) continue;
    const SyncEvent& e = h->newest();
    const bool is_look = e.address != 0 && !e.changed && !is_store(e);
    if (!is_look || e.clock < t->block->barrier_clock) continue;  // or a barrier came after it
    EventNames names(race);
    const std::string looked = names.did(e);
    return {
        RaceCause::barrier_after_load,
        wrapped(fmt::format("{} {}, and {} has not waited for that thread. If it waits there for "
                            "{}: call __syncthreads() after the {}.",
                            capitalised(who(other.id)), looked, who(reader.access.thread),
                            names.object(), e.name))};
  }
  return {};
}

/// One of the two has taken a lock, and the other one has done no atomic.
Explanation explain_lock(const Race& race) {
  for (const auto& [holder, other] :
       {std::pair{&race.earlier, &race.now}, std::pair{&race.now, &race.earlier}}) {
    const std::uint32_t clock = holder->access.clock >> kClockShift;
    const SyncEvent* e = event_before(holder->access.thread, clock);
    if (e != nullptr && is_fence(*e)) e = event_before(holder->access.thread, e->clock - 1);
    if (e == nullptr || !e->takes_lock || history_of(other->access.thread) != nullptr) continue;
    EventNames names(race);
    const std::string took = names.did(*e), lock = names.object(e->address);
    return {
        RaceCause::lock_not_taken,
        wrapped(fmt::format("{} {} before its {}, and {} has called no atomic. If {} is a lock: "
                            "every thread must take it before it uses {}.",
                            capitalised(who(holder->access.thread)), took, noun(holder->kind),
                            who(other->access.thread), lock, names.object()))};
  }
  return {};
}

}  // namespace

Explanation explain_race(const Race& race) {
  // Lanes of a warp exchange data by `volatile`, one level of a tree after the other: no element is a flag.
  const std::uint32_t both = race.earlier.access.clock & race.now.access.clock;
  if ((both & kVolatileElement) != 0 && race.in_one_block()) return {};
  const Handoff h = find_handoff(race.earlier.access, race.t);
  const bool is_sure = h.store.is_known() && !h.is_counting;
  if (is_sure) {
    Explanation e = explain_handoff(race, h);
    if (e.cause != RaceCause::no_order) return e;
  }
  for (const auto explain :
       {explain_two_steps, explain_lock, explain_update, explain_claim, explain_waiting}) {
    Explanation e = explain(race);
    if (e.cause != RaceCause::no_order) return e;
  }
  // The same line of another thread makes no use of what was counted as ready.
  const bool is_one_line = race.earlier_line.text() == race.now_line.text();
  const bool both_write = writes(race.earlier.kind) && writes(race.now.kind);
  return h.is_counting && !(is_one_line && both_write) ? explain_handoff(race, h) : Explanation{};
}

}  // namespace simt
