// Seeds, the switch to another thread, and loops in which nothing changes.
#include "scheduler/schedule.hpp"

#include <fmt/format.h>

#include <cstdlib>
#include <string>
#include <utility>

#include "base/early.hpp"
#include "base/environment.hpp"
#include "kernel/findings.hpp"
#include "scheduler/lockstep.hpp"
#include "scheduler/polled_word.hpp"
#include "scheduler/repetition.hpp"
#include "simt/api.hpp"
#include "simt/runtime.hpp"
#include "simt/testing.hpp"

namespace simt {

SIMT_EARLY Schedule schedule;

namespace {

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
  launches_before = engine.launch_number;
}
std::uint64_t seed() { return seed_setting(); }

void schedule_start_launch(std::uint64_t blocks) {
  schedule.seeded = seed() != 0;
  schedule.random_state = scramble(seed() * 0x10001 + engine.launch_number - launches_before);
  engine.blocks_total = blocks;
  schedule.blocks_started = 0;
  schedule.last_block_first = seed() % 4 == 2;  // CUDA promises no order of blocks
  schedule.undefined_values = seed();
  schedule.resident_limit = schedule.seeded ? kResidentBlocks : 1;
  schedule.at_grid_barrier = schedule.arrived_at_grid = schedule.grid_phase = 0;
}

// ---- switching ----------------------------------------------------------------------------------

void yield() {
  make_ready(*engine.current);
  switch_away();
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
