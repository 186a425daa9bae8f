// The state of a running kernel, shared by the scheduler, the collectives and the checker.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "device.hpp"
#include "fiber.hpp"
#include "memory.hpp"

namespace simt {

constexpr unsigned kWarpSize = 32;
constexpr unsigned kResidentBlocks = 8;  // blocks that run at the same time

// ---- what the checker remembers of a thread -----------------------------------------------------

/// A plain read that an atomicCAS expecting the value read may yet turn into the first step of a
/// compare-and-swap loop. Until then a conflict with an atomic is held back.
constexpr std::size_t kRecentReads = 4;
struct RecentReads {
  std::array<std::uintptr_t, kRecentReads> address{};  // 0: empty
  std::array<std::uint64_t, kRecentReads> value{};
  std::array<std::uint32_t, kRecentReads> pc{};
  std::array<std::uint8_t, kRecentReads> size{};
  std::array<bool, kRecentReads> conflict{};
};
/// What such a read conflicts with: an atomic, or that of another device.
struct HeldBack {
  Access other;
  FarAccess far;
};

// ---- threads, warps, blocks
// -----------------------------------------------------------------------

constexpr std::uint32_t kUntraced = ~std::uint32_t(0);

enum class State : unsigned char { ready, running, at_barrier, in_warp_call, parked, done };

struct Block;

/// What a thread waits for, on its stack as long as it waits.
struct Waiting {
  const char* name;    // of the barrier
  const void* caller;  // the source line that waits
  char** frame;        // the runtime's frame in which it waits
};

/// A switch from one thread to the next costs what it costs to bring the other's memory into the
/// cache. So what every switch and every access touch comes first, and is one cache line; what
/// reads touch is the two that follow.
struct alignas(64) Thread {
  State state = State::ready;
  std::uint8_t lane = 0;
  std::uint8_t warp = 0;
  std::uint8_t next_recent = 0;
  std::uint8_t conflicts = 0;  // recent reads with a conflict held back
  std::uint16_t flat = 0;      // rank in its block
  std::uint16_t spins = 0;     // consecutive atomics and volatile reads that changed nothing
  std::array<std::uint16_t, 3> index{};  // threadIdx
  std::uint32_t id = 0;
  std::uint32_t clock = 1;  // of happens-before; see now()
  Block* block = nullptr;
  Fiber fiber;                            // none before it starts
  const Waiting* waiting = nullptr;       // while it waits
  const char* last_collective = nullptr;  // since the last barrier: orders no memory

  RecentReads recent;
  WarpCall* call = nullptr;          // in_warp_call; null means __activemask()
  std::uint64_t call_path = 0;       // __activemask(): hash of the return addresses
  unsigned active_result = 0;        // __activemask(): its result
  std::uint32_t traced = kUntraced;  // trace: the event of its last instruction

  // The clocks of the warp's lanes that it has synchronised with since the last block barrier.
  std::array<std::uint32_t, kWarpSize> lanes_seen{};
  std::array<HeldBack, kRecentReads> held_back;
  Parked parked;  // lockstep: the instruction that the lane is about to execute

  /// The thread's time: a block barrier moves all its threads on at once.
  inline std::uint32_t now() const;
};

struct Warp {
  unsigned alive = 0;          // lanes that have not returned
  unsigned runnable = 0;       // number of lanes that neither wait nor are done
  unsigned waiting = 0;        // lanes in a warp call or __activemask()
  std::uint64_t releases = 0;  // lockstep: groups let go so far
  std::uint64_t requests = 0;  // lockstep: loads and stores of global memory so far
};

struct SharedInstance {
  const void* key;
  Allocation* memory;
};

struct Block {
  uint3 index{};
  unsigned linear = 0;
  std::vector<Thread> threads;
  std::vector<Warp> warps;
  std::vector<SharedInstance> shared;
  Allocation* dynamic = nullptr;
  const char* without_memory = nullptr;  // an extern __shared__ array that the launch forgot
  unsigned alive = 0;
  unsigned arrived = 0;            // threads at the barrier
  std::uint64_t barriers = 0;      // since the block wrote to global memory
  bool backwards = false;          // who goes first after it; see finish_barrier
  const void* meeting = nullptr;   // where the first of them waits
  bool scattered = false;          // some wait elsewhere
  int predicate_count = 0;         // of the barrier being filled
  BarrierResult barrier_result{};  // of the last one
  std::uint32_t clock = 1;         // the latest of its threads' clocks
  std::uint32_t barrier_clock =
      1;  // every access with a smaller clock came before the last barrier

  Warp& warp_of(const Thread& t) { return warps.data()[t.warp]; }
  Thread* lane(unsigned warp, unsigned l) {
    const std::size_t i = warp * kWarpSize + l;
    return i < threads.size() ? &threads[i] : nullptr;
  }
};

inline std::uint32_t Thread::now() const {
  return clock > block->barrier_clock ? clock : block->barrier_clock;
}
/// Moves a thread on: what it does from here on is later than what others have learnt of it.
inline void tick(Thread& t) {
  t.clock = t.now() + 1;
  if (t.clock > t.block->clock) t.block->clock = t.clock;
}

/// "block 2", "block (2,0)": as many coordinates as the launch has dimensions.
std::string block_name(std::uint32_t block);
/// "block 2 thread 37".
std::string thread_name(const Thread& t);
/// The same from a thread id in a checker record; of another launch.
std::string thread_name(std::uint32_t id);
std::string thread_name(std::uint32_t id, dim3 grid, dim3 block, int device);

/// Thread ids pack the block's and the thread's rank; the checker takes them apart often.
constexpr unsigned kThreadBits = 10;
constexpr std::uint32_t block_of(std::uint32_t id) { return id >> kThreadBits; }
constexpr std::uint32_t rank_of(std::uint32_t id) { return id & ((1u << kThreadBits) - 1); }
constexpr std::uint32_t warp_of(std::uint32_t id) { return id / kWarpSize; }
constexpr std::uint32_t lane_of(std::uint32_t id) { return id % kWarpSize; }

// ---- the engine
// --------------------------------------------------------------------------------------

/// A thread that can run. Its memory takes longer to arrive than all that a switch does, so it is
/// asked for as soon as it is known, or guessed, that the thread is next; the place on its stack is
/// kept here because nobody would wait for the thread's own line first.
struct Ready {
  Thread* thread;
  const char* stack;  // where it was suspended last

  void prefetch() const {
    __builtin_prefetch(thread, 1);
    for (std::size_t line = 0; line < 4; ++line) __builtin_prefetch(stack + line * 64, 1);
  }
};

constexpr std::size_t kMostReady = kResidentBlocks * 1024;  // all threads of the resident blocks

/// Threads that can run, first come, first served.
class ReadyQueue {
 public:
  bool empty() const { return head_ == tail_; }
  void push(const Ready& ready) {
    if (empty()) head_ = tail_ = 0;  // the first few entries stay in the cache
    ring_[tail_++ % kMostReady] = ready;
  }
  Thread* pop() {
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

/// Threads that can run, drawn at random.
class ReadyPool {
 public:
  bool empty() const { return size_ == 0; }
  void push(const Ready& ready) { threads_[size_++] = ready; }
  Thread* draw();
  void clear() { size_ = 0; }

 private:
  std::array<Ready, kMostReady> threads_;
  std::size_t size_ = 0;
};

struct Engine {
  const Launch* launch = nullptr;
  const Placement* placement = nullptr;
  std::uint32_t reachable = 0;  // see reachable_from()
  bool across = false;          // several devices: across.cpp is asked
  std::uint32_t memory_of_several = 0;
  std::uint32_t concurrent = 0;      // other devices with a launch that is not ordered before
  std::uint32_t launch_number = 0;   // cells of earlier launches are void
  std::uint32_t schedule_start = 0;  // launches before set_seed: they do not move the schedule
  Thread* current = nullptr;
  bool out_of_sight = false;  // see OutOfSight
  bool failed = false;        // the kernel was stopped
  int error = 0;              // cudaError_t of what stopped it

  bool seeded = false;
  bool lockstep = false;
  bool tracing = false;  // the running launch is recorded; see trace.hpp
  std::uint64_t random_state = 1;
  std::uint64_t steps_left = ~std::uint64_t(0);  // basic blocks until enter_slowly is due
  std::uint64_t lockstep_steps = 0;              // in lockstep, every basic block is slow
  std::uint64_t fruitless = 0;                   // atomics since anything changed
  std::uint64_t ticks = 0;

  unsigned blocks_total = 0, blocks_started = 0;
  unsigned resident_limit = 1;
  std::vector<std::unique_ptr<Block>> resident, retired;
  ReadyQueue fifo;     // unseeded
  ReadyPool shuffled;  // seeded

  std::vector<Report> reports;
  std::vector<std::pair<std::uint32_t, std::uint32_t>> reported;    // pc pairs of this launch
  std::vector<std::pair<std::string, std::string>> lines_reported;  // of races
  unsigned suppressed = 0;
  std::function<void()> host_call;  // asked for by a fiber, run on the scheduler's stack

  Counters counters;
};
extern Engine engine;

inline std::uint64_t next_random(std::uint64_t& state) {  // xorshift64*
  state ^= state >> 12;
  state ^= state << 25;
  state ^= state >> 27;
  return (state * 0x2545F4914F6CDD1Du) >> 16;
}
inline std::uint64_t random_number() { return next_random(engine.random_state); }

/// While one lives on a CUDA thread, accesses are the runtime's own. Containers of common types
/// need it: the program may bring the same template instantiation, built with the kernel's checks,
/// and the linker keeps only one of the two. Threads must not be switched meanwhile.
class OutOfSight {
 public:
  OutOfSight() : before_(engine.out_of_sight) { engine.out_of_sight = true; }
  ~OutOfSight() { engine.out_of_sight = before_; }
  OutOfSight(const OutOfSight&) = delete;
  OutOfSight& operator=(const OutOfSight&) = delete;

 private:
  bool before_;
};

// ---- scheduler.cpp
// --------------------------------------------------------------------------------------

inline void make_ready(Thread& t) {
  t.state = State::ready;
  if (engine.seeded) {
    engine.shuffled.push({&t, static_cast<const char*>(t.fiber.context)});
  } else {
    engine.fifo.push({&t, static_cast<const char*>(t.fiber.context)});
  }
}
/// The running thread stops here and others go on, until somebody makes it ready again.
void switch_away();
/// The same for a thread that waits, which may set its warp free.
void wait_for_others();
/// The running thread stays ready, others go first.
void give_way();
/// Seeded schedules: sometimes lets others go first. One chance in `odds`.
inline void maybe_preempt(unsigned odds) {
  if (engine.seeded && random_number() % odds == 0) give_way();
}
/// Runs `work` on the host's stack (which is large) and comes back.
void on_host_stack(std::function<void()> work);
/// Ends the kernel: files a report, makes `error` its result, never comes back.
[[noreturn]] void stop_kernel(ReportKind kind, int error, const std::string& text,
                              const void* caller);
/// For the scheduler's own stack: the same, but returns.
void fail_launch(ReportKind kind, int error, const std::string& text, const void* caller);
/// A thread changed something: resets the watch for endless loops.
void note_progress();
/// An atomic or volatile read that changed nothing: yields now and then, gives up in the end.
void note_spin(const void* caller);
[[noreturn]] void stop_endless_loop(const void* caller);
/// Called when steps_left has run out: a thread loops for ever, or runs in lockstep.
void enter_slowly(const void* caller);
/// Lockstep: the running lane waits until its warp takes the instruction `what` together.
void park(const Parked& what);

// ---- collectives.cpp
// --------------------------------------------------------------------------------------

/// No lane of the warp can run: lets a parked group or an __activemask() group go.
void wake_stalled_warp(Block& block, unsigned warp);
/// A thread returned: barriers and warp calls may be complete without it.
void complete_after_exit(Block& block, unsigned warp);
/// Every thread waits and nothing can wake one: who waits where, and the first of these places.
std::string describe_deadlock(const void** first);

// ---- checker.cpp, fences.cpp
// ----------------------------------------------------------------------------------

void checker_start_launch();
void checker_end_thread(Thread& t);
void checker_barrier(Block& block);
void checker_warp_sync(Block& block, unsigned warp, unsigned lanes);
/// Decides whether a suspected write race wrote the same value twice. Called whenever a thread
/// enters the runtime, because only then the store that follows the check has happened.
void checker_settle_writes();
/// Volatile, or a load or store of an atomic_ref: relaxed and atomic, in that scope.
void check_volatile_access(std::uintptr_t address, std::size_t size, bool write, Scope scope,
                           const void* caller);
/// Files a race, unless this launch has told of the same instructions or lines. `text` gets the
/// lines of both.
void report_pair(std::uint32_t earlier_pc, std::uint32_t now_pc,
                 const std::function<std::string(const SourceLine&, const SourceLine&)>& text);
/// A plain read met an atomic of another device: true if it may still turn out as the first step
/// of a compare-and-swap loop.
bool hold_back_far(Thread& t, std::uintptr_t address, const FarAccess& atomic);

void fences_start_launch();
bool fences_used();
void fence_by(Thread& t, Scope scope);
void fence_atomic(Thread& t, std::uintptr_t address);
void fence_barrier(Block& block);
void fence_warp_sync(Block& block, unsigned warp, unsigned lanes);
/// True if fences and atomics order `earlier` before what t does now.
bool ordered_by_fences(const Access& earlier, const Thread& t);
/// True if only a fence by t itself, after its last atomic, is missing for that.
bool lacks_acquire_fence(const Access& earlier, const Thread& t);

/// Keeps what the launch that ends passes on to launches of other devices.
void fences_end_launch();
/// True if fences of system scope and atomics order an access of another device's launch before
/// what t does now.
bool ordered_by_system_fences(const FarAccess& earlier, const Thread& t);
/// True if fences do, or would, that are not of system scope, or not on both sides.
bool lacks_system_fence(const FarAccess& earlier, const Thread& t);
/// Launches of other devices of which such fences tell t.
std::vector<std::uint32_t> launches_known_by_fences(const Thread& t);

// ---- across.cpp: races of several devices
// ----------------------------------------------------------------------------------

void across_start_launch();
/// The number of the running launch in a FarAccess.
std::uint32_t across_launch();
/// An access to memory that several devices reach. `function`: of an atomic, or null.
void check_across(Allocation& a, std::uintptr_t address, std::size_t size, FarAccess now,
                  Scope scope, const char* function, Thread& t);
void report_across(const FarAccess& earlier, const FarAccess& now, std::uintptr_t address,
                   const char* function, const Thread& t);

// ---- counters.cpp
// -------------------------------------------------------------------------------------------------

/// Counts one request: the same instruction of `n` lanes of this warp. Returns what it costs:
/// sectors of global memory, wavefronts of shared memory, addresses of an atomic.
unsigned count_request(Warp& warp, const Parked* const* lanes, unsigned n);

}  // namespace simt
