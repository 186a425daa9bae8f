// Keeps the last changes by atomics, and notes a compare-and-swap that has changed nothing.
#include "checker/changes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "base/program.hpp"
#include "base/scoped_ignore.hpp"
#include "checker/history.hpp"
#include "checker/messages.hpp"
#include "kernel/engine.hpp"
#include "memory/names.hpp"
#include "report/reports.hpp"
#include "report/source_lines.hpp"
#include "simt/testing.hpp"
#include "trace/values.hpp"

namespace simt {
namespace {

using NumberBytes = std::array<unsigned char, 8>;

struct Change {
  std::uintptr_t address;
  std::size_t size;
  const char* name;
  std::uint32_t pc;
  std::uint32_t launch;
  std::uint32_t thread;
  int device;
  dim3 grid, block;
  NumberBytes before, after;
};
constexpr std::size_t kChangesKept = 4096;
std::array<Change, kChangesKept> changes;
std::size_t changes_so_far = 0;

/// The last atomic of a thread, kept at its number.
struct ByThread {
  const char* name;
  std::uint32_t pc;
  std::uint32_t launch;
  std::uint32_t thread;
  std::uint32_t count;
  int device;
  dim3 grid, block;
  std::size_t size;
  NumberBytes found;
  bool has_changed;
};
std::array<ByThread, 4096> last_of_threads;

/// `size` bytes of the change, from this one on.
AtomicChange as_told(const Change& change, std::size_t at, std::size_t size) {
  AtomicChange told{.function = change.name,
                    .line = source_line(return_address_of(change.pc)).text(),
                    .thread = thread_name(change.thread, change.grid, change.block, change.device)};
  std::memcpy(told.before.data(), &change.before[at], size);
  std::memcpy(told.after.data(), &change.after[at], size);
  return told;
}

/// Calls work(change) for those of the launches after this many, the newest first. False if some of these are kept no more.
template <class Work>
bool for_each_change(std::size_t launches, Work work) {
  const std::size_t kept = std::min(changes_so_far, kChangesKept);
  for (std::size_t back = 1; back <= kept; ++back) {
    const Change& change = changes[(changes_so_far - back) % kChangesKept];
    if (change.launch <= launches) return true;
    work(change);
  }
  return changes_so_far <= kChangesKept;
}

}  // namespace

void record_change(const Thread& t, const char* name, const void* caller, std::uintptr_t address,
                   std::size_t size, const void* before) {
  Change& change = changes[changes_so_far++ % kChangesKept];
  change = {.address = address,
            .size = size,
            .name = name,
            .pc = pc_of(caller),
            .launch = engine.launch_number,
            .thread = t.id,
            .device = engine.placement->device,
            .grid = engine.launch->grid,
            .block = engine.launch->block,
            .before = {},
            .after = {}};
  std::memcpy(change.before.data(), before, size);
  std::memcpy(change.after.data(), reinterpret_cast<const void*>(address), size);
}

void record_last_atomic(const Thread& t, const char* name, const void* caller, std::size_t size,
                        const void* found, bool has_changed) {
  ByThread& last = last_of_threads[t.id % last_of_threads.size()];
  const bool is_next = last.launch == engine.launch_number && last.thread == t.id &&
                       last.device == engine.placement->device;
  last = {.name = name,
          .pc = pc_of(caller),
          .launch = engine.launch_number,
          .thread = t.id,
          .count = is_next ? last.count + 1 : 1,
          .device = engine.placement->device,
          .grid = engine.launch->grid,
          .block = engine.launch->block,
          .size = size,
          .found = {},
          .has_changed = has_changed};
  std::memcpy(last.found.data(), found, size);
}

void note_swap_of_same(const Thread& t, std::uintptr_t address, const AtomicValues& values,
                       const void* caller) {
  const std::size_t size = values.type.size;
  if (t.history == nullptr || t.history->count == 0 || size > sizeof(std::uint64_t)) return;
  const SyncEvent& attempts = t.history->newest();  // with what the one before has found
  if (attempts.rounds == 0 || attempts.address != address) return;
  const bool has_succeeded = std::memcmp(values.old, values.expected, size) == 0;
  const bool is_same = std::memcmp(values.operand, values.expected, size) == 0;
  const bool was_same = std::memcmp(&attempts.desired, values.operand, size) == 0 &&
                        std::memcmp(&attempts.found, values.expected, size) == 0;
  if (!has_succeeded || !is_same || !was_same || attempts.found == attempts.expected) return;
  const ScopedIgnore guard;
  const std::string value = text_of(value_at(values.old, size, values.type)).value_or("a value");
  clue_text(fmt::format("{} has called {} here on {}, which has failed and has found {}. Then it "
                        "expects {} and stores {}:\n  that succeeds, and changes nothing. Is the "
                        "expected value to be set again before each attempt?",
                        capitalised(thread_name(t)), attempts.name, describe_element(address),
                        value, value, value),
            caller);
}

AtomicChanges atomic_changes(const void* p, std::size_t size, std::size_t launches) {
  constexpr std::size_t kMostTold = 2;
  const auto begin = reinterpret_cast<std::uintptr_t>(p);
  if (const Allocation* const a = owner_of(begin)) {
    launches = std::max<std::size_t>(launches, a->filled);
  }
  AtomicChanges found;
  std::map<std::pair<std::string, std::string>, std::size_t> by_line;
  const bool are_all = for_each_change(launches, [&](const Change& change) {
    if (begin < change.address || begin + size > change.address + change.size) return;
    const std::size_t at = begin - change.address;
    if (std::memcmp(&change.before[at], &change.after[at], size) == 0) return;
    const AtomicChange one = as_told(change, at, size);
    ++found.count;
    ++by_line[{one.line, one.function}];
    if (found.last.size() < kMostTold) found.last.push_back(one);
  });
  found.are_all = are_all;
  for (const auto& [of, count] : by_line) found.by_line.push_back({of.second, of.first, count});
  return found;
}

std::optional<LastAtomic> last_atomic_of(std::uint64_t block, unsigned thread,
                                         std::size_t launches) {
  const ByThread* newest = nullptr;
  for (const ByThread& last : last_of_threads) {
    if (last.launch <= launches || (newest != nullptr && last.launch < newest->launch)) continue;
    const IdBits bits = id_bits_of(last.block);
    if (block_of(last.thread, bits) == block && rank_of(last.thread, bits) == thread)
      newest = &last;
  }
  if (newest == nullptr) return std::nullopt;
  return LastAtomic{
      .function = newest->name,
      .line = source_line(return_address_of(newest->pc)).text(),
      .thread = thread_name(newest->thread, newest->grid, newest->block, newest->device),
      .count = newest->count,
      .size = newest->size,
      .found = newest->found,
      .has_changed = newest->has_changed};
}

std::optional<AtomicChange> first_change_to(const void* number, std::size_t size,
                                            std::size_t launches) {
  std::optional<AtomicChange> first;
  const bool are_all = for_each_change(launches, [&](const Change& change) {
    for (std::size_t at = 0; at + size <= change.size; at += size) {
      const bool is_it = std::memcmp(&change.after[at], number, size) == 0 &&
                         std::memcmp(&change.before[at], number, size) != 0;
      if (is_it) first = as_told(change, at, size);
    }
  });
  return are_all ? first : std::nullopt;
}

}  // namespace simt
