// Tells of the word that a thread polls, from the last atomics of all threads.
#include "scheduler/polled_word.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <vector>

#include "base/program.hpp"
#include "checker/handoffs.hpp"
#include "checker/history.hpp"
#include "checker/messages.hpp"
#include "memory/names.hpp"
#include "trace/values.hpp"

namespace simt {
namespace {

/// These bytes as what the element at the address is; empty if it is of no known type or of another size.
std::string value_text(std::uintptr_t address, const void* bytes) {
  const Allocation* const a = named_by(address);
  const std::size_t size = a == nullptr ? 0 : a->element.size;
  if (size == 0 || size > sizeof(SyncEvent::expected) || (address - a->name_origin) % size != 0) {
    return "";
  }
  return text_of(value_at(bytes, size, a->element)).value_or("");
}

const SyncEvent* last_event_at(const History* h, std::uintptr_t address) {
  for (std::size_t back = 0; h != nullptr && back < h->size(); ++back) {
    if (h->newest(back).address == address) return &h->newest(back);
  }
  return nullptr;
}

std::string line_of(const SyncEvent& e) {
  return fmt::format("line {}", source_line(return_address_of(e.pc)).line);
}

/// "It called atomicCAS on lock[0] 64 times in a row, and each time found 1 and expected 0."
std::string comparisons_text(const SyncEvent& e, const std::string& x) {
  std::string found = value_text(e.address, &e.found),
              expected = value_text(e.address, &e.expected);
  if (found.empty()) return "";
  if (found == expected && e.found != e.expected) {  // of two NaNs, for example
    found = fmt::format("{} ({:#x})", found, e.found);
    expected = fmt::format("{} ({:#x})", expected, e.expected);
  }
  const std::string compared = e.found == e.expected
                                   ? fmt::format("found {}, as it expected.", found)
                                   : fmt::format("found {} and expected {}.", found, expected);
  return e.rounds > 1 ? fmt::format("It called {} on {} {} times in a row, and each time {}",
                                    e.name, x, e.rounds, compared)
                      : fmt::format("It called {} on {} last, and {}", e.name, x, compared);
}

/// What it did there last, and what it found.
std::string look_text(const SyncEvent& e, const std::string& x) {
  if (e.rounds > 0) {
    if (const std::string text = comparisons_text(e, x); !text.empty()) return text;
  }
  const std::string found = value_text(e.address, reinterpret_cast<const void*>(e.address));
  if (is_load(e)) {
    return fmt::format("It loaded {} last{}.", x, found.empty() ? "" : ", and found " + found);
  }
  const std::string call = fmt::format("It called {} on {} last", e.name, x);
  return found.empty() ? call + ", which changed nothing."
                       : fmt::format("{}, which left {} there.", call, found);
}

/// A change of the word, and by whom.
struct Change {
  const SyncEvent* event;
  std::uint32_t thread;
};

/// What the histories that are left have of changes there. `are_all`: nothing can be missing.
std::vector<Change> changes_at(std::uintptr_t address, bool& are_all) {
  std::vector<Change> changes;
  are_all = for_each_history([&](const History& h) {
    for (std::size_t back = 0; back < h.size(); ++back) {
      const SyncEvent& e = h.newest(back);
      if (e.address == address && e.changed) changes.push_back({&e, h.thread});
    }
  });
  return changes;
}

/// The one that no other one has found there; null if there are several such.
const Change* last_of(const std::vector<Change>& changes) {
  const Change* last = nullptr;
  for (const Change& c : changes) {
    const auto comes_after = [&](const Change& other) {
      const Access& from = other.event->from;
      if (other.thread == c.thread) return other.event->clock > c.event->clock;
      return from.pc != 0 && from.thread == c.thread && from.clock >> kClockShift == c.event->clock;
    };
    if (std::any_of(changes.begin(), changes.end(), comes_after)) continue;
    if (last != nullptr) return nullptr;
    last = &c;
  }
  return last;
}

/// What a thread does now.
std::string state_text(std::uint32_t id) {
  const Thread* const t = resident_thread(id);
  if (t == nullptr || t->state == State::done) return "and has ended";
  const bool at_barrier = t->state == State::at_barrier || t->state == State::at_cluster;
  if (at_barrier) {
    return fmt::format("and waits in {} at line {}", t->waiting->name,
                       source_line(t->waiting->caller).line);
  }
  if (t->state == State::in_warp_call && t->call != nullptr) {
    return fmt::format("and waits in {} at line {}", t->call->name,
                       source_line(t->call->caller).line);
  }
  return "and has not ended";
}

std::string changes_text(const Thread& t, std::uintptr_t address, const std::string& x) {
  bool are_all = false;
  const std::vector<Change> changes = changes_at(address, are_all);
  const Cell* const cell = find_cell(address);
  if (changes.empty()) {
    const bool is_plain = cell != nullptr && cell->write.pc != 0;
    if (is_plain) {
      return fmt::format(" {} wrote it, by a plain write at line {}.",
                         capitalised(thread_name(cell->write.thread)),
                         source_line(return_address_of(cell->write.pc)).line);
    }
    return are_all ? fmt::format(" No thread has changed {} in this launch.", x) : "";
  }
  const Change* const last = last_of(changes);
  if (last == nullptr) return "";
  if (last->thread == t.id) {
    return fmt::format(" It changed {} itself, by {} ({}), and no thread has changed it since.", x,
                       last->event->name, line_of(*last->event));
  }
  return fmt::format(" {} was the last to change it, by {} ({}), {}.",
                     capitalised(thread_name(last->thread)), last->event->name,
                     line_of(*last->event), state_text(last->thread));
}

}  // namespace

std::string polled_word_text(const Thread& t) {
  const std::uintptr_t address = t.polls.front().address;
  const SyncEvent* const e = last_event_at(t.history, address);
  if (address == 0 || e == nullptr) return "";
  const std::string x = describe_element(address);
  std::string text = look_text(*e, x);
  if (value_text(address, reinterpret_cast<const void*>(address)) == "nan") {
    text += " A NaN is equal to nothing, not even to itself.";
  }
  return wrapped(text + changes_text(t, address, x));
}

}  // namespace simt
