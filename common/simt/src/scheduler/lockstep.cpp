// Chooses which lanes of a warp take the next instruction together.
#include "scheduler/lockstep.hpp"

#include "base/scoped_ignore.hpp"
#include "counters/counters.hpp"
#include "report/reports.hpp"
#include "scheduler/collectives.hpp"
#include "scheduler/polling.hpp"
#include "scheduler/repetition.hpp"
#include "scheduler/schedule.hpp"
#include "scheduler/signals.hpp"
#include "trace/trace.hpp"

namespace simt {
namespace {

unsigned users = 0;          // those who want lockstep
bool trace_is_user = false;  // the trace is one of them, for the running launch
std::uint64_t steps = 0;     // basic blocks since anything happened

// So many of them will not end.
constexpr std::uint64_t kLockstepLimit = std::uint64_t(1) << 27;

void release_trace() {
  if (trace_is_user) end_lockstep();
  trace_is_user = false;
}

/// The trace has what it wants: unless something else asks for lockstep, lanes go on alone.
void leave_early() {
  release_trace();
  if (engine.lockstep) return;
  for (const auto& block : engine.resident) {
    for (Thread& t : block->threads) {
      if (t.state == State::parked) wake(t);
    }
  }
  note_progress();
}

/// How many groups may overtake a parked lane: spin loops come back without end, and the lane they
/// wait for must run in the end.
constexpr std::uint64_t kPatience = 4096;

/// The deepest call goes first, then the lowest address: lanes that took the shorter way wait where
/// the ways meet. Lanes that poll go last: the one that holds a lock gets to its end.
bool goes_before(const Thread& a, const Thread& b) {
  if (is_polling(a) != is_polling(b)) return is_polling(b);
  if (a.parked->depth != b.parked->depth) return a.parked->depth > b.parked->depth;
  return a.parked->pc < b.parked->pc;
}

bool same_instruction(const Parked& a, const Parked& b) {
  return a.pc == b.pc && a.depth == b.depth && a.kind == b.kind && a.shared == b.shared;
}

/// True for __activemask(), whose result is who takes it together.
bool is_active_mask(const Parked& what) {
  return what.kind == AccessKind::none && what.name != nullptr;
}

void answer_active_mask(Block& block, unsigned w, Thread* const* group, unsigned n) {
  unsigned mask = 0;
  for (unsigned i = 0; i < n; ++i) mask |= 1u << group[i]->lane;
  for (unsigned i = 0; i < n; ++i) group[i]->active_result = mask;
  if (engine.tracing) trace_active_mask(block, w, mask, *group[0]);
}

/// What park() does. Inline in what every basic block and every access calls, as wait_for_others() is in this.
SIMT_HOT void park_here(const Parked& what) {
  if (engine.tracing) trace_settle_store(is_load(what.kind));
  Thread& t = *engine.current;
  const Waiting waiting{what.name, what.pc, static_cast<char**>(__builtin_frame_address(0))};
  t.waiting = &waiting;
  t.parked = what;
  t.parked->since = t.block->warp_of(t).releases;
  t.state = State::parked;
  wait_for_others();
}

}  // namespace

void begin_lockstep() { engine.lockstep = ++users > 0; }
void end_lockstep() { engine.lockstep = --users > 0; }

void lockstep_start_launch(bool is_traced) {
  if (is_traced) begin_lockstep();
  trace_is_user = is_traced;
}
void lockstep_end_launch() { release_trace(); }

void note_progress_in_lockstep() { steps = 0; }

bool release_parked_group(Block& block, unsigned w) {
  Warp& warp = block.warps[w];
  Thread* first = nullptr;
  Thread* oldest = nullptr;
  for (unsigned l = 0; l < kWarpSize; ++l) {
    Thread* t = block.lane(w, l);
    if (t == nullptr || t->state != State::parked) continue;
    if (first == nullptr || goes_before(*t, *first)) first = t;
    if (oldest == nullptr || t->parked->since < oldest->parked->since) oldest = t;
  }
  if (first == nullptr) return false;
  if (warp.releases - oldest->parked->since > kPatience) first = oldest;
  Thread* group[kWarpSize];
  const Parked* accesses[kWarpSize];
  unsigned n = 0;
  for (unsigned l = 0; l < kWarpSize; ++l) {
    Thread* t = block.lane(w, l);
    if (t == nullptr || t->state != State::parked) continue;
    if (!same_instruction(*t->parked, *first->parked)) continue;
    if (is_active_mask(*t->parked) && t->call_path != first->call_path) continue;
    group[n] = t;
    accesses[n++] = &*t->parked;
  }
  ++warp.releases;
  const unsigned cost = first->parked->size > 0 ? count_request(block, warp, accesses, n) : 0;
  if (engine.tracing) trace_instruction(group, n, cost);
  if (is_active_mask(*first->parked)) answer_active_mask(block, w, group, n);
  for (unsigned i = 0; i < n; ++i) wake(*group[i]);
  if (engine.tracing && trace_is_done()) leave_early();
  return true;
}

void park(const Parked& what) { park_here(what); }

void park_for(bool shared, std::uintptr_t address, std::size_t size, AccessKind kind,
              const char* name, std::uint32_t depth, const void* caller) {
  Parked what;
  what.pc = caller;
  what.name = name;
  what.address = address;
  what.size = static_cast<std::uint32_t>(size);
  what.depth = depth;
  what.kind = kind;
  what.shared = shared;
  park_here(what);
}

void enter_slowly(const void* caller) {
  if (engine.current == nullptr) {
    engine.steps_left = ~std::uint64_t(0);  // host code may take as long as it likes
    return;
  }
  refuse_threads_beside_kernel(caller);
  if (accesses_are_ignored) {
    engine.steps_left = 1;
    return;
  }
  if (launch_is_out_of_time()) stop_long_loop(caller);
  if (!engine.lockstep) return watch_loop(caller);
  if (++steps > kLockstepLimit) stop_long_loop(caller);
  engine.steps_left = 1;
  Parked what;
  what.pc = caller;
  what.depth = depth_here(kDepthOfJump);
  park_here(what);
  engine.steps_left = steps_until_slow();  // a trace may end meanwhile
}

}  // namespace simt
