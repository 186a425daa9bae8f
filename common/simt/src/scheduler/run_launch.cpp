// Starts blocks and threads, runs them to their end, and hands on what was found.
#include "scheduler/run_launch.hpp"

#include <algorithm>
#include <memory>
#include <new>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/early.hpp"
#include "base/scoped_ignore.hpp"
#include "checker/async_copies.hpp"
#include "checker/fences.hpp"
#include "checker/history.hpp"
#include "checker/late_stores.hpp"
#include "checker/overlap.hpp"
#include "checker/rules.hpp"
#include "counters/counters.hpp"
#include "kernel/findings.hpp"
#include "memory/devices.hpp"
#include "memory/names.hpp"
#include "report/reports.hpp"
#include "scheduler/clusters.hpp"
#include "scheduler/collectives.hpp"
#include "scheduler/lockstep.hpp"
#include "scheduler/messages.hpp"
#include "scheduler/polling.hpp"
#include "scheduler/repetition.hpp"
#include "scheduler/schedule.hpp"
#include "scheduler/signals.hpp"
#include "simt/api.hpp"
#include "trace/trace.hpp"

namespace simt {
namespace {

unsigned count(dim3 d) { return d.x * d.y * d.z; }

// ---- blocks -------------------------------------------------------------------------------------

// For the blocks that start next.
SIMT_EARLY std::vector<std::unique_ptr<Block>> retired;

/// A recycled thread is a new one: no field of its state stays.
void start_thread(Block& block, unsigned flat, const uint3& index) {
  Thread& t = block.threads[flat];
  static_assert(std::is_trivially_destructible_v<Thread>);
  ::new (static_cast<void*>(&t)) Thread;  // in place: a copy would take as long again
  t.block = &block;
  t.flat = static_cast<std::uint16_t>(flat);
  t.warp = static_cast<std::uint8_t>(flat / kWarpSize);
  t.lane = static_cast<std::uint8_t>(flat % kWarpSize);
  t.id = thread_id(block.linear, flat);
  t.index = {static_cast<std::uint16_t>(index.x), static_cast<std::uint16_t>(index.y),
             static_cast<std::uint16_t>(index.z)};
  Warp& warp = block.warp_of(t);
  warp.alive |= 1u << t.lane;
  ++warp.runnable;
  make_ready(t);
}

void start_block() {
  std::unique_ptr<Block> block;
  if (retired.empty()) {
    block = std::make_unique<Block>();
  } else {
    block = std::move(retired.back());
    retired.pop_back();
  }
  const unsigned threads = count(engine.launch->block);
  static_cast<BlockState&>(*block) = BlockState{};  // recycled, and new, as its threads are
  const auto started = static_cast<std::uint32_t>(schedule.blocks_started++);
  const auto from_the_last = static_cast<std::uint32_t>(engine.blocks_total - 1 - started);
  block->linear = engine.clusters             ? block_to_start(started)
                  : schedule.last_block_first ? from_the_last
                                              : started;
  block->index = unflatten(number_in_grid(block->linear, engine.launch->grid), engine.launch->grid);
  block->threads.resize(threads);
  block->held.clear();
  enter_active(*block);
  block->warps.assign((threads + kWarpSize - 1) / kWarpSize, Warp{});
  block->alive = threads;
  counted.warps += block->warps.size();
  if (engine.launch->shared_bytes > 0) {
    block->dynamic = acquire_shared(engine.launch->shared_bytes, {}, "");
    block->dynamic->holder = block->linear;
  }
  if (engine.clusters) join_cluster(*block, started % count(engine.launch->cluster) == 0);
  const dim3 extent = engine.launch->block;
  uint3 thread{};
  for (unsigned i = 0; i < threads; ++i) {
    start_thread(*block, i, thread);
    if (++thread.x < extent.x) continue;
    thread.x = 0;
    if (++thread.y < extent.y) continue;
    thread.y = 0;
    ++thread.z;
  }
  engine.resident.push_back(std::move(block));
}

/// The blocks of a cluster start together.
bool start_next_block(unsigned most_resident) {
  const unsigned together = count(engine.launch->cluster);
  if (schedule.blocks_started == engine.blocks_total ||
      engine.resident.size() + together > std::max(most_resident, together)) {
    return false;
  }
  for (unsigned i = 0; i < together; ++i) start_block();
  return true;
}

void free_shared(Block& block) {
  for (const SharedInstance& s : block.shared) release_shared(s.memory);
  block.shared.clear();
  if (block.dynamic != nullptr) release_shared(block.dynamic);
  block.dynamic = nullptr;
}

void retire(Block* block) {
  if (engine.tracing) trace_end_block(*block);
  fences_end_block(*block);
  history_end_block(*block);
  async_copies_end_block(*block);
  free_shared(*block);
  leave_active(*block);
  auto& list = engine.resident;
  auto it = std::find_if(list.begin(), list.end(), [&](auto& b) { return b.get() == block; });
  retired.push_back(std::move(*it));
  *it = std::move(list.back());
  list.pop_back();
}

/// All threads of the block have ended. The shared memory of a cluster stays to the end of all its blocks.
void end_block(Block& block) {
  if (!engine.clusters) return retire(&block);
  if (!cluster_has_ended(block)) return;
  for (const Member& m : block.cluster->members) retire(m.block);
}

/// Threads that were stopped in the middle leave their fibers for the next launch.
void abandon_everything() {
  forget_ready();
  while (!engine.resident.empty()) {
    Block& block = *engine.resident.back();
    for (Thread& t : block.threads) {
      if (!t.fiber) continue;
      reset_fiber(t.fiber);
      release_fiber(std::exchange(t.fiber, {}));
    }
    retire(&block);
  }
  forget_clusters();
  forget_pollers();
}

// ---- threads ------------------------------------------------------------------------------------

/// True if no thread waits for the end of this one, and another can go on: then there is nothing to do
/// on the host's stack.
bool ends_unnoticed(const Thread& t) {
  const Block& block = *t.block;
  const bool is_last_missing = block.arrived > 0 && block.arrived + 1 == block.alive;
  const bool is_awaited = block.warps[t.warp].waiting != 0 || is_last_missing || block.alive == 1;
  return !is_awaited && !checker_has_open_questions(t) && !engine.lockstep && !engine.tracing &&
         !engine.clusters && !wants_block() && is_any_ready();
}

/// The next thread goes on, on the fiber of the one that has ended if it has not begun yet.
void hand_fiber_on(Thread& ended) {
  Thread& next = *take_ready();
  const Fiber mine = std::exchange(ended.fiber, {});
  if (!next.fiber) {
    next.fiber = mine;
    install(next);
    return;
  }
  Fiber& idle = release_fiber(mine);
  install(next);
  switch_fiber(idle, next.fiber);
}

void forget_thread(Thread& t) {
  Warp& warp = t.block->warp_of(t);
  note_progress();
  warp.alive &= ~(1u << t.lane);
  --warp.runnable;
  --t.block->alive;
}

void thread_body() {
  engine.current->end_of_kernel = reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0));
  engine.launch->body(engine.launch->closure.get());
  Thread& t = *engine.current;
  t.state = State::done;
  if (ends_unnoticed(t)) {
    forget_thread(t);
    hand_fiber_on(t);
  } else {
    switch_fiber(t.fiber, host_fiber);
  }
}

void finish_thread(Thread& t) {
  Block& block = *t.block;
  checker_end_thread(t);
  if (engine.tracing) trace_return(t);
  release_fiber(std::exchange(t.fiber, {}));
  if (engine.clusters) leave_cluster(t);
  forget_thread(t);
  if (block.alive == 0) {
    end_block(block);
    return;
  }
  complete_after_exit(block, t.warp);
}

Thread* next_thread() {
  const unsigned most = engine.launch->most_resident, usual = std::min(most, kResidentBlocks);
  while (wants_block() && start_next_block(most)) {
  }
  Thread* t = take_ready();
  if (t != nullptr) return t;
  const bool started = start_next_block(usual) || (pollers_are_stuck() && start_next_block(most));
  return started || wake_all_pollers() ? take_ready() : nullptr;
}

/// Threads run until one of them returns here: it has ended, none can go on, or it wants
/// something done on the host's stack.
void run_until_return(Thread& first) {
  Engine& e = engine;
  install(first);
  switch_fiber(host_fiber, first.fiber);
  while (has_host_call()) {
    Thread* asker = std::exchange(e.current, nullptr);
    // What runs here may call copies of the standard library's functions that are the program's, with
    // the compiler's calls in them: these are no steps of the thread, whose lane would fall out of step.
    const std::uint64_t steps_left = e.steps_left;
    take_host_call()();
    if (e.failed) {
      accesses_are_ignored = false;  // the asker's guards, if it has any, are left with its stack
      return;
    }
    e.steps_left = steps_left;
    e.current = asker;
    switch_fiber(host_fiber, asker->fiber);
  }
  Thread& last = *std::exchange(e.current, nullptr);
  if (last.state == State::done) finish_thread(last);
}

void run_all_threads() {
  while (Thread* t = next_thread()) {
    run_until_return(*t);
    if (engine.failed) return;
  }
  if (!engine.resident.empty()) {
    fail_launch(deadlock_finding(), cudaErrorLaunchTimeout);
  }
}

// ---- a launch -----------------------------------------------------------------------------------

void start_launch(const Launch& launch, const Placement& placement) {
  Engine& e = engine;
  e.launch = &launch;
  e.placement = &placement;
  e.reachable = placement.reachable;
  bring_variables(placement.device);
  e.launch_began = ++e.launch_number;
  e.failed = e.has_effects = false;
  e.error = cudaSuccess;
  id_bits = id_bits_of(launch.block);
  schedule_start_launch(blocks_to_run(launch.grid));
  findings_start_launch();
  counted.launches += 1;
  counted.blocks += blocks_of(launch.grid);
  counted.threads += blocks_of(launch.grid) * count(launch.block);
  running_block_dim = launch.block;
  running_grid_dim = launch.grid;
  e.clusters = count(launch.cluster) > 1;
  lockstep_start_launch(trace_start_launch());
  watch_start_launch();
  note_progress();
  set_fiber_body(thread_body);
  name_allocations(launch);
  overlap_start_launch();
  checker_start_launch();
  late_stores_start_launch(schedule.seeded && !e.lockstep ? schedule.random_state : 0);
}

}  // namespace

int run_launch(const Launch& launch, const Placement& placement) {
  const Counters before = counted;
  start_launch(launch, placement);
  {
    const KernelSignals signals;
    run_all_threads();
  }
  checker_settle_access();
  late_stores_end_launch();
  fences_end_launch(overlap_number());
  abandon_everything();
  engine.launch = nullptr;
  engine.steps_left = ~std::uint64_t(0);
  forget_arguments();
  const int error = engine.error;
  if (error == kPutOff) {
    trace_forget_launch();
    forget_launch(before);
  }
  std::vector<Report> reports = take_findings();
  trace_end_launch(launch, reports);
  lockstep_end_launch();
  // A CountScope has asked for it.
  if (engine.lockstep && error != kPutOff) count_launch(launch.kernel, before);
  for (Report& report : reports) deliver(std::move(report));
  return error;
}

}  // namespace simt
