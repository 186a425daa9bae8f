// Keeps the last events of each thread, also of those that have ended.
#include "checker/history.hpp"

#include <deque>
#include <memory>
#include <unordered_map>
#include <vector>

#include "base/early.hpp"
#include "base/program.hpp"
#include "base/scoped_ignore.hpp"
#include "kernel/engine.hpp"
#include "memory/shadow.hpp"

namespace simt {
namespace {

/// So many are kept of threads that have ended.
constexpr std::size_t kMostEnded = 1024;

SIMT_EARLY std::vector<std::unique_ptr<History>> all_histories;
SIMT_EARLY std::vector<History*> idle_histories;
SIMT_EARLY std::deque<History*> ended_histories;
SIMT_EARLY std::unordered_map<std::uint32_t, const History*> ended_by_thread;
bool is_indexed = false;   // the map has what the queue has
bool has_dropped = false;  // some of the launch's threads that have ended

void give_history(Thread& t) {
  const ScopedIgnore guard;
  if (idle_histories.empty()) {
    idle_histories.push_back(all_histories.emplace_back(std::make_unique<History>()).get());
  }
  t.history = idle_histories.back();
  idle_histories.pop_back();
  t.history->count = 0;
  t.history->thread = t.id;
}

/// The place for one more event, with what was there before.
SyncEvent& add_event(Thread& t) {
  if (t.history == nullptr) give_history(t);
  ++t.history->count;
  return t.history->newest();
}

/// True if the last event is the fence of a memory order that this operation has: the operation stands for both.
bool take_back_release(Thread& t, std::uint32_t pc) {
  if (t.history->count == 0) return false;
  SyncEvent& last = t.history->newest();
  if (last.address != 0 || !last.releases || last.pc != pc) return false;
  last = {};
  --t.history->count;
  return true;
}

/// True if the thread's last event found the place as it was.
bool is_looked_at_again(const Thread& t, std::uintptr_t address, std::uint32_t pc) {
  if (t.history == nullptr || t.history->count == 0) return false;
  const SyncEvent& last = t.history->newest();
  return last.address == address && last.pc == pc && !last.changed;
}

/// The atomic that stored there last, as far as the records of the launch go.
Access last_atomic_at(const Allocation& a, std::uintptr_t address) {
  if (a.cells == nullptr) return {};
  const Cell& cell = a.cells[(address - a.begin) >> a.granule_shift];
  const bool is_current =
      cell.generation == (a.space == Space::shared ? a.generation : engine.launch_number);
  return is_current ? cell.atomic : Access{};
}

}  // namespace

const History* history_of(std::uint32_t thread) {
  if (const Thread* const t = resident_thread(thread)) return t->history;
  if (!is_indexed) {
    ended_by_thread.clear();
    for (const History* h : ended_histories) ended_by_thread[h->thread] = h;
    is_indexed = true;
  }
  const auto it = ended_by_thread.find(thread);
  return it == ended_by_thread.end() ? nullptr : it->second;
}

bool for_each_history(FunctionRef<void(const History&)> work) {
  bool are_whole = !has_dropped;
  const auto tell = [&](const History* h) {
    if (h == nullptr) return;
    are_whole = are_whole && h->count <= History::kKept;
    work(*h);
  };
  for (const History* const h : ended_histories) tell(h);
  for (const auto& block : engine.resident) {
    for (const Thread& t : block->threads) tell(t.history);
  }
  return are_whole;
}

void history_start_launch() {
  idle_histories.insert(idle_histories.end(), ended_histories.begin(), ended_histories.end());
  ended_histories.clear();
  is_indexed = has_dropped = false;
}

void history_end_block(const Block& block) {
  is_indexed = false;
  for (const Thread& t : block.threads) {
    if (t.history != nullptr) ended_histories.push_back(t.history);
  }
  while (ended_histories.size() > kMostEnded) {
    idle_histories.push_back(ended_histories.front());
    ended_histories.pop_front();
    has_dropped = true;
  }
}

void record_atomic(Thread& t, const Allocation& a, std::uintptr_t address, AccessKind kind,
                   Scope scope, const char* name, const void* caller) {
  tick(t);
  ++t.proxy_ticks;
  const std::uint32_t pc = pc_of(caller);
  const bool releases = t.history != nullptr && take_back_release(t, pc);
  const bool is_again = is_looked_at_again(t, address, pc);
  SyncEvent& event = is_again ? t.history->newest() : add_event(t);
  const SyncEvent before = is_again ? event : SyncEvent{};
  event = {.address = address,
           .name = name == nullptr ? "atomic" : name,
           .pc = pc,
           .clock = t.now(),
           .barrier = t.block->barrier_clock,
           .found = before.found,
           .expected = before.expected,
           .desired = before.desired,
           .rounds = before.rounds,
           .from = last_atomic_at(a, address),
           .kind = kind,
           .scope = scope,
           .changed = kind == AccessKind::relaxed_write,
           .takes_lock = false,
           .releases = releases,
           .acquires = false,
           .has_found = false};
}

void record_fence(Thread& t, Scope scope, FenceOf of, const char* name, const void* caller) {
  const std::uint32_t pc = pc_of(caller);
  const bool has_events = t.history != nullptr && t.history->count > 0;
  if (of == FenceOf::acquire && has_events && t.history->newest().pc == pc) {
    t.history->newest().acquires = true;
    return;
  }
  add_event(t) = {.address = 0,
                  .name = name,
                  .pc = pc,
                  .clock = t.now() + 1,  // the fence is about to move it on
                  .barrier = t.block->barrier_clock,
                  .found = 0,
                  .expected = 0,
                  .desired = 0,
                  .rounds = 0,
                  .from = {},
                  .kind = AccessKind::fence,
                  .scope = scope,
                  .changed = false,
                  .takes_lock = false,
                  .releases = of == FenceOf::release,
                  .acquires = false,
                  .has_found = false};
}

}  // namespace simt
