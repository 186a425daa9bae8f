// Which thread goes next.
//
// Unseeded, threads run in order, each until it waits, and a further block starts only when no
// thread can run: fast, and the same every time. Seeded, eight blocks are resident, the next thread
// is drawn at random, and threads are also switched between a load and the store that follows.
// Blocks that wait for ones which have not started get as many as the device has room for.
//
// A switch costs what it takes to bring the next thread's memory into the cache. So of more than
// eight resident blocks only some are active, as many as the cache has room for: they run for a
// turn, or until all of their threads wait.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/inlining.hpp"
#include "base/limits.hpp"
#include "kernel/engine.hpp"
#include "kernel/findings.hpp"

namespace simt {

constexpr unsigned kResidentBlocks = 8;  // that run at the same time without a need for more

// ---- threads that can run -----------------------------------------------------------------------

/// A thread that can run. Its memory takes longer to arrive than all that a switch does, so it is
/// asked for as soon as it is known, or guessed, that the thread is next; the place on its stack is
/// kept here so that it need not be read from the thread's own line first.
struct Ready {
  Thread* thread;
  const char* stack;  // where it was suspended last

  void prefetch() const {
    __builtin_prefetch(thread, 1);
    for (std::size_t line = 0; line < 4; ++line) __builtin_prefetch(stack + line * 64, 1);
  }
};

constexpr std::size_t kMostReady = kMultiprocessors * kThreadsPerMultiprocessor;

/// Threads that can run, first come, first served.
class ReadyQueue {
 public:
  bool empty() const { return head_ == tail_; }
  /// Calls what with each thread, the first one first, and is empty then.
  template <class F>
  void take_all(F what) {
    for (; !empty(); ++head_) what(*ring_[head_ % kMostReady].thread);
  }
  SIMT_HOT void push(const Ready& ready) {
    if (empty()) head_ = tail_ = 0;  // the first few entries stay in the cache
    ring_[tail_++ % kMostReady] = ready;
  }
  SIMT_HOT Thread* pop() {
    Thread* const t = ring_[head_++ % kMostReady].thread;
    if (tail_ - head_ > kAhead) ring_[(head_ + kAhead) % kMostReady].prefetch();
    return t;
  }
  void clear() { head_ = tail_; }

 private:
  static constexpr unsigned kAhead = 2;
  std::array<Ready, kMostReady> ring_;  // its size is a power of two: indices wrap
  unsigned head_ = 0, tail_ = 0;
};

inline std::uint64_t next_random(std::uint64_t& state) {  // xorshift64*
  state ^= state >> 12;
  state ^= state << 25;
  state ^= state >> 27;
  return (state * 0x2545F4914F6CDD1Du) >> 16;
}

/// Threads that can run, drawn at random.
class ReadyPool {
 public:
  bool empty() const { return size_ == 0; }
  template <class F>
  void take_all(F what) {
    for (std::size_t i = 0; i < size_; ++i) what(*threads_[i].thread);
    size_ = 0;
  }
  SIMT_HOT void push(const Ready& ready) { threads_[size_++] = ready; }
  SIMT_HOT Thread* draw(std::uint64_t& random_state) {
    const std::size_t i = next_random(random_state) % size_;
    Thread* const t = threads_[i].thread;
    threads_[i].prefetch();
    threads_[i] = threads_[--size_];
    // Often the thread goes back to wait without another random number: then this is the next one.
    std::uint64_t state = random_state;
    if (size_ > 0) threads_[next_random(state) % size_].prefetch();
    return t;
  }
  void clear() { size_ = 0; }

 private:
  std::array<Ready, kMostReady> threads_;
  std::size_t size_ = 0;
};

// ---- the schedule of the running launch ---------------------------------------------------------

struct Schedule {
  bool seeded = false;
  std::uint64_t random_state = 1;
  std::uint64_t blocks_started = 0;
  bool last_block_first = false;  // blocks start from the last one on; those of clusters do not
  unsigned resident_limit = 1;
  unsigned at_grid_barrier = 0;        // blocks that wait for the grid
  unsigned arrived_at_grid = 0;        // blocks of the phase of its barrier that is not over
  unsigned grid_phase = 0;             // phases that are over
  std::uint64_t undefined_values = 0;  // how many were made, counted from the seed
  ReadyQueue fifo;                     // unseeded, of active blocks
  ReadyPool shuffled;                  // seeded, of active blocks
  std::size_t active_blocks = 0, inactive_blocks = 0;
  std::size_t active_threads = 0;   // of active blocks, whatever they do
  std::uint32_t turn = 0;           // how many threads are still to be taken in this turn
  std::vector<Block*> held_blocks;  // inactive ones with threads that can run
};
extern Schedule schedule;

/// Begins the schedule of a launch with this many blocks.
void schedule_start_launch(std::uint64_t blocks);
/// True if another block may start now.
inline bool wants_block() {
  return engine.resident.size() < schedule.resident_limit &&
         schedule.blocks_started < engine.blocks_total;
}

/// A thread waits for others: more blocks may be resident, but no more than usual.
inline void make_room() {
  if (schedule.resident_limit < kResidentBlocks) ++schedule.resident_limit;
}
/// The same for one that has waited for long: as many as the device has room for.
inline void make_much_room() {
  if (schedule.resident_limit < engine.launch->most_resident) ++schedule.resident_limit;
}

inline std::uint64_t random_number() { return next_random(schedule.random_state); }

// ---- active blocks ------------------------------------------------------------------------------

/// A block has become resident: is it active?
void enter_active(Block& block);
/// A block has ended.
void leave_active(Block& block);
/// A thread of an inactive block can run.
void set_aside(Thread& t);
/// Other blocks become active, if there are any with threads that can run.
void begin_turn();
/// No thread can run: all were stopped.
void forget_ready();
/// Lets others go on. The running thread waits for another one, which may be of an inactive block: its own block gives way.
void yield_waiting();

// ---- switching ----------------------------------------------------------------------------------

SIMT_HOT void make_ready(Thread& t) {
  t.state = State::ready;
  if (schedule.inactive_blocks != 0 && !t.block->is_active) {
    set_aside(t);
  } else if (schedule.seeded) {
    schedule.shuffled.push({&t, static_cast<const char*>(t.fiber.context)});
  } else {
    schedule.fifo.push({&t, static_cast<const char*>(t.fiber.context)});
  }
}
/// The same for a thread that waited: its warp has one more that runs.
inline void wake(Thread& t) {
  ++t.block->warp_of(t).runnable;
  make_ready(t);
}
inline bool is_any_active_ready() {
  return schedule.seeded ? !schedule.shuffled.empty() : !schedule.fifo.empty();
}
inline bool is_any_ready() { return is_any_active_ready() || !schedule.held_blocks.empty(); }
/// A thread that is ready, or null.
SIMT_HOT Thread* take_ready() {
  Schedule& e = schedule;
  if (e.inactive_blocks != 0 && (!is_any_active_ready() || --e.turn == 0)) begin_turn();
  if (!e.seeded) return e.fifo.empty() ? nullptr : e.fifo.pop();
  return e.shuffled.empty() ? nullptr : e.shuffled.draw(e.random_state);
}

/// Makes t the running thread; the caller switches to its fiber.
SIMT_HOT void install(Thread& t) {
  if (!t.fiber) t.fiber = acquire_fiber();
  running_thread_index = {t.index[0], t.index[1], t.index[2]};
  running_block_index = t.block->index;
  t.state = State::running;
  engine.current = &t;
  engine.stack = reinterpret_cast<std::uintptr_t>(t.fiber.bottom);
  ++engine.ticks;
  // The runtime may have called a function of the standard library meanwhile whose linked copy is
  // the instrumented one, as of a host call: lanes that no longer park would fall out of step.
  if (engine.lockstep) engine.steps_left = 1;
}

/// The running thread stops here and others go on, until something makes it ready again. The next one
/// goes on without a detour over the scheduler, which is needed only to start blocks.
SIMT_HOT void switch_away() {
  Thread& t = *engine.current;
  Thread* const next = wants_block() ? nullptr : take_ready();
  if (next == nullptr) {
    switch_fiber(t.fiber, host_fiber);
    return;
  }
  install(*next);
  if (next != &t) switch_fiber_here(t.fiber, next->fiber);
}
/// Seeded schedules: are others to go first? One chance in `odds`.
SIMT_HOT bool is_preempted(unsigned odds) { return schedule.seeded && random_number() % odds == 0; }
inline void maybe_preempt(unsigned odds) {
  if (is_preempted(odds)) yield();
}

// ---- endless loops ------------------------------------------------------------------------------

/// A thread changed something: resets the watch for endless loops.
void note_progress();
[[noreturn]] void stop_endless_loop(const void* caller);
/// Basic blocks until enter_slowly is due again.
std::uint64_t steps_until_slow();

}  // namespace simt
