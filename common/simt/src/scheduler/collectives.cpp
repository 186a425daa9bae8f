// Completes warp operations and barriers when their last thread has come.
#include "scheduler/collectives.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "base/program.hpp"
#include "checker/fences.hpp"
#include "checker/history.hpp"
#include "checker/rules.hpp"
#include "counters/counters.hpp"
#include "kernel/findings.hpp"
#include "report/reports.hpp"
#include "scheduler/lockstep.hpp"
#include "scheduler/messages.hpp"
#include "scheduler/repetition.hpp"
#include "scheduler/schedule.hpp"
#include "simt/api.hpp"
#include "simt/runtime.hpp"
#include "simt/testing.hpp"
#include "trace/trace.hpp"

namespace simt {
namespace {

// ---- warp-wide operations -----------------------------------------------------------------------

bool same_operation(const WarpCall& a, const WarpCall& b) {
  return a.mask == b.mask && a.finish == b.finish &&
         (a.name == b.name || std::strcmp(a.name, b.name) == 0);
}

Block* completing = nullptr;  // the block of the operation whose results are computed
unsigned completing_warp = 0;
bool absent_lanes_are_findings = false;

}  // namespace

bool complete_if_same(Block& block, unsigned w, const WarpCall& leader) {
  Warp& warp = block.warps[w];
  Lanes lanes{leader.mask, leader.mask & warp.alive, {}};
  for (unsigned l = 0; l < kWarpSize; ++l) {
    if ((lanes.present >> l & 1u) == 0) continue;
    WarpCall* call = block.lane(w, l)->call;
    if (call == nullptr || !same_operation(*call, leader)) return false;
    lanes.call[l] = call;
  }
  if (lanes.present != lanes.mask && !is_noted(leader.caller)) {
    on_host_stack([&] { note_text(absent_lanes_text(block, w, lanes, leader), leader.caller); });
  }
  completing = &block;
  completing_warp = w;
  leader.finish(lanes);
  if (engine.tracing) trace_warp_call(block, w, lanes, leader);
  if (leader.orders_memory) {
    ++counted.warp_barriers;
    checker_warp_sync(block, w, lanes.present);
    warp.last_sync = leader.name;
    warp.last_sync_at = leader.caller;
    warp.last_sync_lanes = lanes.present;
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

namespace {

// ---- values of lanes that take no part ----------------------------------------------------------

/// Two bytes of such a value: large, not a number (an integer of all ones), small, zero. They mean
/// this for numbers of any width.
constexpr std::array<std::uint16_t, 4> kUndefinedHalves = {0x7BFF, 0xFFFF, 0xFBFF, 0};

}  // namespace

void fill_undefined(unsigned char* bytes, std::size_t size) {
  const std::uint16_t half =
      kUndefinedHalves[schedule.undefined_values++ % kUndefinedHalves.size()];
  for (std::size_t i = 0; i < size; ++i) {
    bytes[i] = static_cast<unsigned char>(i % 2 == 0 ? half : half >> 8);
  }
}

void report_absent_lanes(bool as_findings) { absent_lanes_are_findings = as_findings; }

void read_absent_lane(const Lanes& lanes, unsigned lane) {
  const void* const caller = lanes.call[lane]->caller;
  const std::uint32_t pc = pc_of(caller);
  if (!is_worth_telling(ReportKind::absent_lane, pc, pc)) return;
  Block& block = *completing;
  const Thread& t = *block.lane(completing_warp, lane);
  on_host_stack([&] {
    if (absent_lanes_are_findings) {
      file_report(absent_lane_finding(block, t, lanes));
    } else {
      note_text(absent_lane_text(block, t, lanes), caller);
    }
  });
}

namespace {

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
  Thread* leader = callers[schedule.seeded ? random_number() % callers.size() : 0];
  // The hardware may split a converged group at any time: some seeds do.
  const bool split = schedule.seeded && random_number() % 4 == 0;
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

// ---- block barrier ------------------------------------------------------------------------------

/// A loop with a barrier makes progress at each turn. So many arrivals at barriers (threads times
/// barriers) without a result in global memory are no progress.
constexpr std::uint64_t kMostArrivals = std::uint64_t{1} << 23;

/// Where in the kernel itself a thread waits, and not in a function that the kernel calls.
const void* place_in_kernel(const Thread& t) {
  char** frame = t.waiting->frame;
  while (char** const caller = calling_frame(t.fiber, frame)) {
    if (t.fiber.top() - reinterpret_cast<char*>(caller) == t.block->kernel_depth) return frame[1];
    frame = caller;
  }
  return nullptr;
}

/// A thread may leave by a `return` before the barrier: the barrier waits for those that have not.
/// A `return` after it is one before it, too, if the others have come back to it in a loop.
bool left_before(const Thread& t, const void* barrier) {
  if (t.left_by == nullptr || barrier == nullptr) return false;
  if (t.left_by < barrier) return true;
  const Block& block = *t.block;
  if (barrier != block.meeting) return block.last_meeting == block.meeting;  // in a function
  return block.meeting <= block.last_meeting && block.last_meeting < t.left_by;
}

/// True if threads went past the barrier: some wait in another one, or have ended.
bool is_missed(Block& block) {
  if (block.scattered) return true;
  if (block.alive + block.excused == block.threads.size()) return false;
  const auto waits = [](const Thread& t) { return t.state == State::at_barrier; };
  const auto waiting = std::find_if(block.threads.begin(), block.threads.end(), waits);
  const void* const barrier = place_in_kernel(*waiting);
  for (Thread& t : block.threads) {
    if (t.state != State::done || t.is_excused || !left_before(t, barrier)) continue;
    t.is_excused = true;
    ++block.excused;
  }
  return block.alive + block.excused != block.threads.size();
}

/// All threads of the block have met: they go on.
void release_barrier(Block& block) {
  block.barrier_result = {block.predicate_count,
                          block.predicate_count == static_cast<int>(block.arrived)};
  block.predicate_count = 0;
  block.arrived = 0;
  block.last_meeting = block.meeting;
  ++counted.barriers;
  note_progress();
  checker_barrier(block);
  if (engine.tracing) trace_barrier(block);
  // Unseeded, the last to arrive go first: their stacks are still in the cache.
  block.backwards = !block.backwards;
  const auto go_on = [](Thread& t) {
    if (t.state == State::at_barrier) make_ready(t);
  };
  if (block.backwards) {
    std::for_each(block.threads.rbegin(), block.threads.rend(), go_on);
  } else {
    std::for_each(block.threads.begin(), block.threads.end(), go_on);
  }
  for (Warp& warp : block.warps) {
    warp.runnable += static_cast<unsigned>(__builtin_popcount(warp.alive));
    warp.last_sync = nullptr;
  }
}

/// All blocks have met: they go on.
void release_grid() {
  schedule.at_grid_barrier = 0;
  for (const auto& block : engine.resident) {
    block->waits_for_grid = false;
    release_barrier(*block);
  }
  checker_grid_barrier();
}

/// All threads of the block wait in a barrier of the grid.
void wait_for_grid(Block& block) {
  block.waits_for_grid = true;
  if (++schedule.at_grid_barrier == engine.blocks_total) release_grid();
}

__attribute__((noinline)) void finish_barrier(Block& block) {
  if (is_missed(block)) {
    on_host_stack([&] { fail_launch(barrier_finding(block), cudaErrorLaunchFailure); });
    return;
  }
  if (block.excused > 0) {
    note("some threads of the block returned before this barrier: it waits only for the others",
         block.meeting);
  }
  if (++block.barriers * block.threads.size() > kMostArrivals) {
    on_host_stack([&] { fail_stuck_launch(endless_barriers_finding(block)); });
    return;
  }
  // Thread 0 tells the other blocks that its own has come.
  if (block.meets != Meets::block && block.threads.front().state == State::done) {
    on_host_stack([&] { fail_launch(headless_block_finding(block), cudaErrorLaunchTimeout); });
    return;
  }
  if (block.meets == Meets::grid) {
    wait_for_grid(block);
  } else {
    release_barrier(block);
  }
}

/// The running thread waits for its block. Inline, with the switch to the next thread: a barrier is what
/// most switches come from, and each function in between is a frame that has to come into the cache.
SIMT_HOT BarrierResult wait_for_block(const char* name, int predicate, const void* caller,
                                      Meets meets = Meets::block) {
  Thread& t = *engine.current;
  Block& block = *t.block;
  checker_settle_access();
  const Waiting waiting{name, caller, static_cast<char**>(__builtin_frame_address(0))};
  t.waiting = &waiting;
  t.state = State::at_barrier;
  block.predicate_count += predicate != 0;
  t.last_collective = nullptr;
  if (block.arrived == 0) {
    block.meeting = caller;
    block.scattered = false;
    block.meets = meets;
  } else if (caller != block.meeting) {
    block.scattered = true;
  }
  if (++block.arrived == block.alive) finish_barrier(block);
  wait_for_others();
  return block.barrier_result;
}

// ---- the grid's barrier in two parts: arrive, and wait ------------------------------------------

void require_cooperative_launch(const void* caller) {
  if (engine.launch->cooperative) return;
  trap(
      "a barrier of the grid needs all blocks to be resident: launch this kernel by "
      "cudaLaunchCooperativeKernel()",
      cudaErrorLaunchFailure, caller);
}

/// Where thread 0 of a block meets those of the others. A block may be one phase ahead of another one.
std::uintptr_t phase_address(const Thread& t) {
  static const std::array<char, 2> phases{};
  return reinterpret_cast<std::uintptr_t>(&phases[t.grid_arrived % 2]);
}

/// All blocks have arrived: those that wait go on.
void end_grid_phase() {
  schedule.arrived_at_grid = 0;
  ++schedule.grid_phase;
  note_progress();
  for (const auto& block : engine.resident) {
    Thread& first = block->threads.front();
    if (first.state == State::at_cluster) wake(first);
  }
}

}  // namespace

// ---- called by device code ----------------------------------------------------------------------

void refuse_foreign_mask(const WarpCall& call, const Thread& t) {
  on_host_stack([&] { fail_launch(foreign_mask_finding(call, t), cudaErrorLaunchFailure); });
  std::abort();  // a failed launch never resumes its threads
}

void warp_call(WarpCall& call) { wait_for_lanes(call); }

unsigned active_mask(const char* name, const void* caller) {
  Thread& t = *engine.current;
  Warp& warp = t.block->warp_of(t);
  t.call = nullptr;
  const Waiting waiting{name, caller, static_cast<char**>(__builtin_frame_address(0))};
  t.call_path = call_path(t.fiber);
  if (engine
          .lockstep) {  // an instruction like any other: lanes that went another way wait for these
    Parked what;
    what.depth = depth_here(kDepthOfFence);
    what.pc = caller;
    what.name = name;
    t.active_result = 0;
    park(what);
    if (t.active_result != 0) return t.active_result;  // else lockstep ended meanwhile
  }
  note_change();
  t.waiting = &waiting;
  t.state = State::in_warp_call;
  warp.waiting |= 1u << t.lane;
  wait_for_others();
  return t.active_result;
}

BarrierResult block_barrier(const char* name, int predicate, const void* caller) {
  return wait_for_block(name, predicate, caller);
}

bool is_cooperative_launch() { return engine.launch->cooperative; }

void grid_barrier(const void* caller) {
  require_cooperative_launch(caller);
  wait_for_block("grid_group::sync()", 0, caller, Meets::grid);
}

void grid_arrive(const void* caller) {
  require_cooperative_launch(caller);
  Thread& t = *engine.current;
  if (t.grid_arrived != t.grid_known) {
    trap("a thread arrives at the barrier of the grid twice: barrier_wait() is missing between",
         cudaErrorLaunchFailure, caller);
  }
  wait_for_block("grid_group::barrier_arrive()", 0, caller, Meets::for_grid);
  ++t.grid_arrived;
  if (t.flat != 0) return;
  maybe_preempt(4);
  fence_by(t, Scope::device);
  fence_atomic(t, phase_address(t), AccessKind::atomic);
  if (++schedule.arrived_at_grid == engine.blocks_total) end_grid_phase();
}

void grid_wait(const void* caller) {
  constexpr const char* kName = "grid_group::barrier_wait()";
  Thread& t = *engine.current;
  if (t.grid_arrived == t.grid_known) {
    trap("a thread waits at the barrier of the grid without barrier_arrive() before",
         cudaErrorLaunchFailure, caller);
  }
  if (t.flat == 0) {
    checker_settle_access();
    while (schedule.grid_phase < t.grid_arrived) {
      const Waiting waiting{kName, caller, static_cast<char**>(__builtin_frame_address(0))};
      t.waiting = &waiting;
      t.state = State::at_cluster;
      wait_for_others();
    }
    fence_load(t, phase_address(t), false);
    fence_by(t, Scope::device);
  }
  t.grid_known = t.grid_arrived;
  wait_for_block(kName, 0, caller, Meets::for_grid);
}

void leave_kernel() {
  Thread& t = *engine.current;
  t.left_by = __builtin_return_address(0);
  const char* const kernel = *static_cast<char**>(__builtin_frame_address(0));
  t.block->kernel_depth = t.fiber.top() - kernel;
}

void fence(Scope scope, const char* name, const void* caller, FenceOf of) {
  if (engine.current == nullptr) return;  // a memory order in host code
  if (scope == Scope::thread) return;     // orders nothing for others
  if (engine.lockstep) {
    Parked what;
    what.kind = AccessKind::fence;
    what.depth = depth_here(kDepthOfFence);
    what.pc = caller;
    what.name = name;
    park(what);
  }
  maybe_preempt(4);
  record_fence(*engine.current, scope, of, name, caller);
  fence_by(*engine.current, scope);
}

// ---- called by the rest of the layer ------------------------------------------------------------

void wake_stalled_warp(Block& block, unsigned w) {
  if (engine.lockstep && release_parked_group(block, w)) return;
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

}  // namespace simt

// Defined here, unlike the functions in simt/warp.hpp: its own frame is the one that waits.
void __syncthreads() { simt::wait_for_block("__syncthreads()", 0, SIMT_CALLER); }
