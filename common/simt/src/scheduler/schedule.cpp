// Seeds, the switch to another thread, and loops in which nothing changes.
#include "scheduler/schedule.hpp"

#include <fmt/format.h>

#include <cstdlib>
#include <string>
#include <utility>

#include "base/early.hpp"
#include "base/environment.hpp"
#include "base/scoped_ignore.hpp"
#include "kernel/findings.hpp"
#include "memory/allocations.hpp"
#include "scheduler/lockstep.hpp"
#include "scheduler/polled_word.hpp"
#include "scheduler/repetition.hpp"
#include "simt/api.hpp"
#include "simt/runtime.hpp"
#include "simt/testing.hpp"

namespace simt {

SIMT_EARLY Schedule schedule;

namespace {

// Of more than kResidentBlocks blocks those are active whose threads' memory stays in the cache that a core has for itself.
// Two are in any case: what one of them does between two steps of the other is what a schedule is to try.
constexpr std::size_t kMostActiveThreads = 1024;
constexpr unsigned kLeastActiveBlocks = 2;
// So many threads are taken until other blocks have their turn.
constexpr std::uint32_t kTurn = 1 << 16;

// ---- seeds --------------------------------------------------------------------------------------

std::uint64_t& seed_setting() {
  static std::uint64_t seed = environment().seed.value_or(0);
  return seed;
}

std::uint32_t launches_before = 0;  // before set_seed(): they do not move the schedule

/// Well-spread starting state from a small seed (splitmix64).
std::uint64_t scramble(std::uint64_t x) {
  x += 0x9E3779B97F4A7C15u;
  x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9u;
  x = (x ^ x >> 27) * 0x94D049BB133111EBu;
  return (x ^ x >> 31) | 1u;
}

}  // namespace

void set_seed(std::uint64_t seed) {
  seed_setting() = seed;
  place_from_above(seed % 2 == 1);
  launches_before = engine.launch_number;
}
std::uint64_t seed() { return seed_setting(); }

void schedule_start_launch(std::uint64_t blocks) {
  schedule.seeded = seed() != 0;
  schedule.random_state = scramble(seed() * 0x10001 + engine.launch_number - launches_before);
  engine.blocks_total = blocks;
  schedule.blocks_started = 0;
  schedule.turn = kTurn;
  schedule.last_block_first = seed() % 4 == 2;  // CUDA promises no order of blocks
  schedule.undefined_values = seed();
  schedule.resident_limit = schedule.seeded ? kResidentBlocks : 1;
  schedule.at_grid_barrier = schedule.arrived_at_grid = schedule.grid_phase = 0;
}

// ---- active blocks ------------------------------------------------------------------------------

namespace {

/// `resident`: how many blocks are, with this one.
bool has_room_for(const Block& block, std::size_t resident) {
  return engine.clusters || resident <= kResidentBlocks ||
         schedule.active_blocks < kLeastActiveBlocks ||
         schedule.active_threads + block.threads.size() <= kMostActiveThreads;
}

void count_active(const Block& block) {
  ++schedule.active_blocks;
  schedule.active_threads += block.threads.size();
}

/// Blocks that were held back become active, as many as there is room for.
void activate() {
  auto& held = schedule.held_blocks;
  while (!held.empty()) {
    const std::size_t i = schedule.seeded ? random_number() % held.size() : 0;
    Block& block = *held[i];
    if (!has_room_for(block, engine.resident.size())) return;
    held.erase(held.begin() + static_cast<std::ptrdiff_t>(i));
    block.is_active = true;
    count_active(block);
    --schedule.inactive_blocks;
    for (Thread* const t : block.held) make_ready(*t);
    block.held.clear();
  }
}

}  // namespace

void enter_active(Block& block) {
  block.is_active = has_room_for(block, engine.resident.size() + 1);
  if (block.is_active) {
    count_active(block);
  } else {
    ++schedule.inactive_blocks;
  }
}

void leave_active(Block& block) {
  const ScopedIgnore guard;
  if (!block.is_active) {
    --schedule.inactive_blocks;
    return;
  }
  --schedule.active_blocks;
  schedule.active_threads -= block.threads.size();
  activate();
}

void set_aside(Thread& t) {
  const ScopedIgnore guard;
  Block& block = *t.block;
  if (block.held.empty()) schedule.held_blocks.push_back(&block);
  block.held.push_back(&t);
}

namespace {

/// The block makes room for others. Its threads that are in the queue are set aside when they have run.
void give_way(Block& block) {
  if (!block.is_active || schedule.held_blocks.empty()) return;
  const ScopedIgnore guard;
  --schedule.active_blocks;
  schedule.active_threads -= block.threads.size();
  activate();
  block.is_active = false;
  ++schedule.inactive_blocks;
}

}  // namespace

void begin_turn() {
  schedule.turn = kTurn;
  if (schedule.held_blocks.empty()) return;
  const ScopedIgnore guard;
  for (const auto& block : engine.resident) {
    if (std::exchange(block->is_active, false)) ++schedule.inactive_blocks;
  }
  schedule.active_blocks = 0;
  schedule.active_threads = 0;
  schedule.fifo.take_all(set_aside);
  schedule.shuffled.take_all(set_aside);
  activate();
}

void forget_ready() {
  schedule.fifo.clear();
  schedule.shuffled.clear();
  schedule.held_blocks.clear();
}

// ---- switching ----------------------------------------------------------------------------------

void yield() {
  make_ready(*engine.current);
  switch_away();
}

void yield_waiting() {
  if (schedule.inactive_blocks != 0) give_way(*engine.current->block);
  yield();
}

// ---- endless loops ------------------------------------------------------------------------------

std::uint64_t steps_until_slow() { return engine.lockstep ? 1 : steps_until_watched(); }

void note_progress() {
  ++engine.progress;
  engine.steps_left = steps_until_slow();
  note_progress_in_lockstep();
  note_change();
  engine.fruitless = 0;
}

namespace {

/// Blocks that have not started; empty if there are none.
std::string blocks_to_come() {
  const std::uint64_t left = engine.blocks_total - schedule.blocks_started;
  if (left == 0) return "";
  return fmt::format(
      "\n  {} of {} blocks have not started. At most {} blocks are resident at the same time here.\n"
      "  A GPU has more, but never all blocks of a large grid.",
      left, engine.blocks_total, engine.launch->most_resident);
}

}  // namespace

void stop_endless_loop(const void* caller) {
  const Thread& t = *engine.current;
  on_host_stack([&] {
    const SourceLine where = source_line(caller);
    const std::string word = polled_word_text(t);
    fail_stuck_launch(finding_by(
        t.id, "loop", ReportKind::hang, where,
        fmt::format("ENDLESS LOOP in kernel {}: {} repeats without changing anything\n  at {}{}\n"
                    "  All threads that are left wait, or repeat themselves.{}",
                    engine.launch->kernel, thread_name(t), where.text(),
                    word.empty() ? "" : "\n  " + word, blocks_to_come())));
  });
  std::abort();
}

}  // namespace simt
