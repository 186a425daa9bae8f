// Barriers and warp-wide operations: who waits for whom, and what to say when nobody comes.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <map>

#include "access.hpp"
#include "simt/api.hpp"
#include "trace.hpp"

namespace simt {
namespace {

void wake(Thread& t) {
  ++t.block->warp_of(t).runnable;
  make_ready(t);
}

/// "threads 0-31, 64" of sorted ranks.
std::string ranges(const std::vector<unsigned>& ranks) {
  std::string text;
  for (std::size_t i = 0; i < ranks.size();) {
    std::size_t last = i;
    while (last + 1 < ranks.size() && ranks[last + 1] == ranks[last] + 1) ++last;
    if (!text.empty()) text += ", ";
    text += last == i ? fmt::format("{}", ranks[i]) : fmt::format("{}-{}", ranks[i], ranks[last]);
    i = last + 1;
  }
  return text;
}

// ---- where a thread waits -----------------------------------------------------------------------

bool is_learners(const SourceLine& line) {
  return !line.file.starts_with("common/simt/include/") && line.line > 0 &&
         line.file.find("/include/c++/") == std::string::npos;
}

/// "file:12, called at line 30": where a thread waits, and, if that is in a function that the
/// kernel calls, how it came there. The launch itself, the outermost of these lines, is left out.
std::string place_of(const Thread& t, const void* caller) {
  std::vector<SourceLine> lines;
  for (char** frame = t.waiting->frame; frame != nullptr; frame = calling_frame(t.fiber, frame)) {
    if (lines.empty() && frame[1] != caller) continue;
    const SourceLine line = source_line(frame[1]);
    if (!is_learners(line)) break;
    lines.push_back(line);
  }
  std::string text = source_line(caller).text();
  for (std::size_t i = 1; i + 1 < lines.size(); ++i) {
    const bool same_file = lines[i].file == lines[i - 1].file;
    text += same_file ? fmt::format(", called at line {}", lines[i].line)
                      : ", called at " + lines[i].text();
  }
  return text;
}

// ---- warp-wide operations ---------------------------------------------------------------------

bool same_operation(const WarpCall& a, const WarpCall& b) {
  return a.mask == b.mask && a.finish == b.finish && std::strcmp(a.name, b.name) == 0;
}

/// Completes the operation that `leader` waits in if every lane of its mask has come.
bool try_complete(Block& block, unsigned w, const WarpCall& leader) {
  Warp& warp = block.warps[w];
  Lanes lanes{leader.mask, leader.mask & warp.alive, {}};
  if ((warp.waiting & lanes.present) != lanes.present) return false;
  for (unsigned l = 0; l < kWarpSize; ++l) {
    if ((lanes.present >> l & 1u) == 0) continue;
    WarpCall* call = block.lane(w, l)->call;
    if (call == nullptr || !same_operation(*call, leader)) return false;
    lanes.call[l] = call;
  }
  if (lanes.present != lanes.mask) {
    note(
        "a mask names lanes that have returned from the kernel: legal, but they contribute nothing",
        leader.caller);
  }
  leader.finish(lanes);
  if (engine.tracing) trace_warp_call(block, w, lanes, leader);
  if (leader.orders_memory) {
    ++engine.counters.warp_barriers;
    checker_warp_sync(block, w, lanes.present);
  }
  warp.waiting &= ~lanes.present;
  for (unsigned l = 0; l < kWarpSize; ++l) {
    if ((lanes.present >> l & 1u) == 0) continue;
    Thread& t = *block.lane(w, l);
    t.call = nullptr;
    wake(t);
  }
  return true;
}

[[noreturn]] void stop_foreign_mask(const WarpCall& call) {
  const Thread& t = *engine.current;
  on_host_stack([&] {
    const std::string text = fmt::format(
        "WRONG MASK in kernel {}: {} at {}\n  {} (lane {}) calls it with mask 0x{:08x}, which does "
        "not name the calling lane.\n  Every lane that calls must be in the mask, and every lane "
        "in "
        "the mask must call.",
        engine.launch->kernel, call.name, source_line(call.caller).text(), thread_name(t), t.lane,
        call.mask);
    fail_launch(ReportKind::barrier, cudaErrorLaunchFailure, text, call.caller);
  });
  std::abort();
}

// ---- __activemask() -----------------------------------------------------------------------------

/// Tells calls apart by the whole path that led to them: with inlining on a GPU, the two calls of
/// one helper in an if and its else are two instructions.
std::uint64_t call_path(const Fiber& fiber) {
  std::uint64_t hash = 0;
  auto frame = static_cast<char**>(__builtin_frame_address(0));
  for (; frame != nullptr; frame = calling_frame(fiber, frame)) {
    hash = hash * 1000003u + reinterpret_cast<std::uintptr_t>(frame[1]);
  }
  return hash;
}

bool wake_active_group(Block& block, unsigned w) {
  Warp& warp = block.warps[w];
  std::vector<Thread*> callers;
  for (unsigned l = 0; l < kWarpSize; ++l) {
    if ((warp.waiting >> l & 1u) == 0) continue;
    Thread* t = block.lane(w, l);
    if (t->call == nullptr) callers.push_back(t);
  }
  if (callers.empty()) return false;
  Thread* leader = callers[engine.seeded ? random_number() % callers.size() : 0];
  // The hardware may split a converged group at any time: some seeds do.
  const bool split = engine.seeded && random_number() % 4 == 0;
  std::vector<Thread*> group;
  unsigned mask = 0;
  for (Thread* t : callers) {
    if (t->call_path != leader->call_path) continue;
    if (split && t != leader && random_number() % 4 == 0) continue;
    group.push_back(t);
    mask |= 1u << t->lane;
  }
  if (engine.tracing) trace_active_mask(block, w, mask, *leader);
  for (Thread* t : group) {
    t->active_result = mask;
    warp.waiting &= ~(1u << t->lane);
    wake(*t);
  }
  return true;
}

// ---- lockstep
// ---------------------------------------------------------------------------------------

/// How many groups may overtake a parked lane: spin loops come back for ever, and the lane they
/// wait for must run in the end.
constexpr std::uint64_t kPatience = 4096;

/// The deepest call goes first, then the lowest address: lanes that took the shorter way wait where
/// the ways meet.
bool goes_before(const Thread& a, const Thread& b) {
  if (a.parked.depth != b.parked.depth) return a.parked.depth > b.parked.depth;
  return a.parked.pc < b.parked.pc;
}

bool same_instruction(const Parked& a, const Parked& b) {
  return a.pc == b.pc && a.depth == b.depth && a.kind == b.kind && a.shared == b.shared;
}

bool wake_parked_group(Block& block, unsigned w) {
  Warp& warp = block.warps[w];
  Thread* first = nullptr;
  Thread* oldest = nullptr;
  for (unsigned l = 0; l < kWarpSize; ++l) {
    Thread* t = block.lane(w, l);
    if (t == nullptr || t->state != State::parked) continue;
    if (first == nullptr || goes_before(*t, *first)) first = t;
    if (oldest == nullptr || t->parked.since < oldest->parked.since) oldest = t;
  }
  if (first == nullptr) return false;
  if (warp.releases - oldest->parked.since > kPatience) first = oldest;
  Thread* group[kWarpSize];
  const Parked* accesses[kWarpSize];
  unsigned n = 0;
  for (unsigned l = 0; l < kWarpSize; ++l) {
    Thread* t = block.lane(w, l);
    if (t == nullptr || t->state != State::parked) continue;
    if (!same_instruction(t->parked, first->parked)) continue;
    group[n] = t;
    accesses[n++] = &t->parked;
  }
  ++warp.releases;
  const unsigned cost = first->parked.size > 0 ? count_request(warp, accesses, n) : 0;
  if (engine.tracing) trace_instruction(group, n, cost);
  for (unsigned i = 0; i < n; ++i) wake(*group[i]);
  if (engine.tracing) trace_leave_lockstep_if_done();
  return true;
}

// ---- block barrier
// --------------------------------------------------------------------------------

struct Meeting {
  const char* name;
  const void* caller;
  const Thread* first;
  std::vector<unsigned> ranks;
};

std::vector<Meeting> meetings(const Block& block) {
  std::vector<Meeting> list;
  for (const Thread& t : block.threads) {
    if (t.state != State::at_barrier) continue;
    auto it = std::find_if(list.begin(), list.end(),
                           [&](const Meeting& m) { return m.caller == t.waiting->caller; });
    if (it == list.end())
      it = list.insert(list.end(), {t.waiting->name, t.waiting->caller, &t, {}});
    it->ranks.push_back(t.flat);
  }
  return list;
}

std::string describe_barrier(const Block& block, const std::vector<Meeting>& list) {
  std::string text = fmt::format("BARRIER IN DIVERGENT CODE in kernel {}, {}",
                                 engine.launch->kernel, block_name(block.linear));
  const std::size_t total = block.threads.size(), returned = total - block.alive;
  for (const Meeting& m : list) {
    const bool one = m.ranks.size() == 1;
    text += fmt::format("\n  {} of {} threads {} in {} at {}: {} {}", m.ranks.size(), total,
                        one ? "waits" : "wait", m.name, place_of(*m.first, m.caller),
                        one ? "thread" : "threads", ranges(m.ranks));
  }
  if (returned > 0) {
    text += fmt::format("\n  {} of {} threads have returned and never arrive", returned, total);
  }
  text +=
      "\n  Every thread of the block must reach the same barrier: move it out of the if, and let\n"
      "  threads with no work skip the work, not the barrier (no early return before it).";
  if (list.size() == 1 && list.front().ranks.size() == 1) {
    text +=
        "\n  (Each thread has its own variables: what only one thread knows, it tells the others\n"
        "  through __shared__ memory and a barrier.)";
  }
  return text;
}

/// A loop with a barrier makes progress at each turn. So many arrivals at barriers (threads times
/// barriers) without a result in global memory are no progress.
constexpr std::uint64_t kMostArrivals = std::uint64_t{1} << 23;

void stop_endless_barriers(const Block& block) {
  on_host_stack([&] {
    const Meeting meeting = meetings(block).front();
    const std::string text = fmt::format(
        "ENDLESS LOOP in kernel {}, {}: after {} barriers its threads are still in the loop\n"
        "  around {} at {}\n"
        "  Which value ends this loop, and does it ever become that? (A number that is halved and\n"
        "  rounded up stays at 1.)",
        engine.launch->kernel, block_name(block.linear), block.barriers, meeting.name,
        place_of(*meeting.first, meeting.caller));
    fail_launch(ReportKind::hang, cudaErrorLaunchTimeout, text, meeting.caller);
  });
}

void finish_barrier(Block& block) {
  if (block.scattered || block.alive != block.threads.size()) {
    on_host_stack([&] {
      const std::vector<Meeting> list = meetings(block);
      fail_launch(ReportKind::barrier, cudaErrorLaunchFailure, describe_barrier(block, list),
                  list.front().caller);
    });
    return;
  }
  if (++block.barriers * block.threads.size() > kMostArrivals) {
    stop_endless_barriers(block);
    return;
  }
  block.barrier_result = {block.predicate_count,
                          block.predicate_count == static_cast<int>(block.arrived)};
  block.predicate_count = 0;
  block.arrived = 0;
  ++engine.counters.barriers;
  note_progress();
  checker_barrier(block);
  if (engine.tracing) trace_barrier(block);
  // Unseeded, the last to arrive go first: their stacks are still in the cache.
  block.backwards = !block.backwards;
  if (block.backwards) {
    for (auto t = block.threads.rbegin(); t != block.threads.rend(); ++t) make_ready(*t);
  } else {
    for (Thread& t : block.threads) make_ready(t);
  }
  for (Warp& warp : block.warps) {
    warp.runnable += static_cast<unsigned>(__builtin_popcount(warp.alive));
  }
}

}  // namespace

// ---- called by device code
// ------------------------------------------------------------------------------

void warp_call(WarpCall& call) {
  Thread& t = *engine.current;
  Block& block = *t.block;
  Warp& warp = block.warp_of(t);
  if ((call.mask >> t.lane & 1u) == 0) stop_foreign_mask(call);
  checker_settle_writes();
  t.last_collective = call.orders_memory ? nullptr : call.name;
  t.call = &call;
  const Waiting waiting{call.name, call.caller, static_cast<char**>(__builtin_frame_address(0))};
  t.waiting = &waiting;
  t.state = State::in_warp_call;
  warp.waiting |= 1u << t.lane;
  try_complete(block, t.warp, call);
  wait_for_others();
}

unsigned active_mask(const char* name, const void* caller) {
  Thread& t = *engine.current;
  Warp& warp = t.block->warp_of(t);
  t.call = nullptr;
  const Waiting waiting{name, caller, static_cast<char**>(__builtin_frame_address(0))};
  t.waiting = &waiting;
  t.call_path = call_path(t.fiber);
  t.state = State::in_warp_call;
  warp.waiting |= 1u << t.lane;
  wait_for_others();
  return t.active_result;
}

BarrierResult block_barrier(const char* name, int predicate, const void* caller) {
  Thread& t = *engine.current;
  Block& block = *t.block;
  checker_settle_writes();
  const Waiting waiting{name, caller, static_cast<char**>(__builtin_frame_address(0))};
  t.waiting = &waiting;
  t.state = State::at_barrier;
  block.predicate_count += predicate != 0;
  t.last_collective = nullptr;
  if (block.arrived == 0) {
    block.meeting = caller;
    block.scattered = false;
  } else if (caller != block.meeting) {
    block.scattered = true;
  }
  if (++block.arrived == block.alive) finish_barrier(block);
  wait_for_others();
  return block.barrier_result;
}

void fence(Scope scope, const char* name, const void* caller) {
  if (engine.lockstep) {
    Parked what;
    what.kind = AccessKind::fence;
    what.depth = depth_here(kDepthOfFence);
    what.pc = caller;
    what.name = name;
    park(what);
  }
  maybe_preempt(4);
  fence_by(*engine.current, scope);
}

// ---- called by the scheduler
// ------------------------------------------------------------------------------

void wake_stalled_warp(Block& block, unsigned w) {
  if (engine.lockstep && wake_parked_group(block, w)) return;
  if (block.warps[w].waiting != 0) wake_active_group(block, w);
}

void complete_after_exit(Block& block, unsigned w) {
  Warp& warp = block.warps[w];
  for (unsigned l = 0; warp.waiting != 0 && l < kWarpSize; ++l) {
    if ((warp.waiting >> l & 1u) == 0) continue;
    const Thread& t = *block.lane(w, l);
    if (t.call != nullptr && try_complete(block, w, *t.call)) break;
  }
  if (warp.runnable == 0) wake_stalled_warp(block, w);
  if (block.arrived > 0 && block.arrived == block.alive) finish_barrier(block);
}

std::string describe_deadlock(const void** first) {
  std::string text =
      fmt::format("DEADLOCK in kernel {}: every thread that is left waits", engine.launch->kernel);
  const Block& block = *engine.resident.front();
  std::map<std::string, std::vector<unsigned>> groups;
  for (const Thread& t : block.threads) {
    const void* place = t.state == State::at_barrier                          ? t.waiting->caller
                        : t.state == State::in_warp_call && t.call != nullptr ? t.call->caller
                                                                              : nullptr;
    if (*first == nullptr) *first = place;
    if (t.state == State::at_barrier) {
      groups[fmt::format("{} at {}", t.waiting->name, place_of(t, t.waiting->caller))].push_back(
          t.flat);
    } else if (t.state == State::in_warp_call && t.call != nullptr) {
      groups[fmt::format("{} with mask 0x{:08x} at {}", t.call->name, t.call->mask,
                         place_of(t, t.call->caller))]
          .push_back(t.flat);
    }
  }
  text += fmt::format("\n  {}, {} threads, {} of them have returned:", block_name(block.linear),
                      block.threads.size(), block.threads.size() - block.alive);
  for (const auto& [what, ranks] : groups) {
    const bool one = ranks.size() == 1;
    text += fmt::format("\n    {} {} in {}: {} {}", ranks.size(), one ? "waits" : "wait", what,
                        one ? "thread" : "threads", ranges(ranks));
  }
  text +=
      "\n  All lanes that a mask names must make the same call with the same mask, and all "
      "threads\n"
      "  of a block must reach the same __syncthreads().";
  return text;
}

}  // namespace simt
