// Runs the threads of a launch on fibers: which thread goes next, and when a kernel must be
// stopped.
//
// Unseeded, threads run in order, each until it waits, and a further block starts only when no
// thread can run: fast, and the same every time. Seeded, eight blocks are resident, the next thread
// is drawn at random, and threads are also switched between a load and the store that follows.
#include <fmt/format.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <iterator>

#include "access.hpp"
#include "simt/api.hpp"
#include "trace.hpp"

// The headers declare these const, because a kernel must not write them and because they never
// change while one thread runs. The scheduler, which switches threads, writes them.
namespace simt {
#define SIMT_BUILT_IN(name) __asm__(name) __attribute__((section("simt_built_in")))
uint3 running_thread_index SIMT_BUILT_IN("threadIdx");
uint3 running_block_index SIMT_BUILT_IN("blockIdx");
dim3 running_block_dim SIMT_BUILT_IN("blockDim");
dim3 running_grid_dim SIMT_BUILT_IN("gridDim");
#undef SIMT_BUILT_IN

Engine engine;

namespace {

// A thread that executes this many basic blocks while nothing else happens will not end.
constexpr std::uint64_t kStepLimit = std::uint64_t(1) << 30;
constexpr std::uint64_t kLockstepLimit = std::uint64_t(1) << 27;
// So many atomics in a row, by all threads together, that changed nothing.
constexpr std::uint64_t kSpinLimit = 2'000'000;
constexpr unsigned kSpinsBeforeYield = 32;

Fiber host_fiber;  // stands for the host's own stack, on which the scheduler runs

unsigned count(dim3 d) { return d.x * d.y * d.z; }

uint3 unflatten(unsigned i, dim3 d) {
  uint3 index{};
  index.x = i % d.x;
  index.y = i / d.x % d.y;
  index.z = i / d.x / d.y;
  return index;
}

// ---- seeds --------------------------------------------------------------------------------------

std::uint64_t& seed_setting() {
  static std::uint64_t seed = [] {
    const char* text = std::getenv("SIMT_SEED");
    return text == nullptr ? 0 : std::strtoull(text, nullptr, 0);
  }();
  return seed;
}

/// Well-spread starting state from a small seed (splitmix64).
std::uint64_t scramble(std::uint64_t x) {
  x += 0x9E3779B97F4A7C15u;
  x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9u;
  x = (x ^ x >> 27) * 0x94D049BB133111EBu;
  return (x ^ x >> 31) | 1u;
}

// ---- blocks
// --------------------------------------------------------------------------------------

void start_thread(Block& block, unsigned flat) {
  Thread& t = block.threads[flat];
  t.conflicts = 0;
  t.spins = 0;
  t.clock = 1;
  t.last_collective = nullptr;
  t.lanes_seen = {};
  t.recent.address = {};
  t.block = &block;
  t.flat = static_cast<std::uint16_t>(flat);
  t.warp = static_cast<std::uint8_t>(flat / kWarpSize);
  t.lane = static_cast<std::uint8_t>(flat % kWarpSize);
  t.id = block.linear << kThreadBits | flat;
  const uint3 index = unflatten(flat, engine.launch->block);
  t.index = {static_cast<std::uint16_t>(index.x), static_cast<std::uint16_t>(index.y),
             static_cast<std::uint16_t>(index.z)};
  Warp& warp = block.warp_of(t);
  warp.alive |= 1u << t.lane;
  ++warp.runnable;
  make_ready(t);
}

bool start_next_block() {
  Engine& e = engine;
  if (e.blocks_started == e.blocks_total || e.resident.size() >= kResidentBlocks) return false;
  std::unique_ptr<Block> block;
  if (e.retired.empty()) {
    block = std::make_unique<Block>();
  } else {
    block = std::move(e.retired.back());
    e.retired.pop_back();
  }
  const unsigned threads = count(e.launch->block);
  block->linear = e.blocks_started++;
  block->index = unflatten(block->linear, e.launch->grid);
  block->threads.resize(threads);
  block->warps.assign((threads + kWarpSize - 1) / kWarpSize, Warp{});
  block->alive = threads;
  block->arrived = 0;
  block->backwards = false;
  block->predicate_count = 0;
  block->without_memory = nullptr;
  block->barriers = 0;
  block->clock = 1;
  block->barrier_clock = 1;
  e.counters.warps += block->warps.size();
  if (e.launch->shared_bytes > 0) {
    block->dynamic = acquire_shared(e.launch->shared_bytes, {}, "");
  }
  for (unsigned i = 0; i < threads; ++i) start_thread(*block, i);
  e.resident.push_back(std::move(block));
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
  free_shared(*block);
  auto& list = engine.resident;
  auto it = std::find_if(list.begin(), list.end(), [&](auto& b) { return b.get() == block; });
  engine.retired.push_back(std::move(*it));
  *it = std::move(list.back());
  list.pop_back();
}

/// Threads that were stopped in the middle leave their fibers for the next launch.
void abandon_everything() {
  while (!engine.resident.empty()) {
    Block& block = *engine.resident.back();
    for (Thread& t : block.threads) {
      if (!t.fiber) continue;
      reset_fiber(t.fiber);
      release_fiber(std::exchange(t.fiber, {}));
    }
    retire(&block);
  }
  engine.fifo.clear();
  engine.shuffled.clear();
}

// ---- threads
// --------------------------------------------------------------------------------------

void thread_body() {
  engine.launch->body(engine.launch->closure.get());
  Thread& t = *engine.current;
  t.state = State::done;
  switch_fiber(t.fiber, host_fiber);
}

void finish_thread(Thread& t) {
  Block& block = *t.block;
  Warp& warp = block.warp_of(t);
  checker_end_thread(t);
  if (engine.tracing) trace_return(t);
  release_fiber(std::exchange(t.fiber, {}));
  note_progress();
  warp.alive &= ~(1u << t.lane);
  --warp.runnable;
  if (--block.alive == 0) {
    retire(&block);
    return;
  }
  complete_after_exit(block, t.warp);
}

/// Makes t the running thread; the caller switches to its fiber.
inline void install(Thread& t) {
  if (!t.fiber) t.fiber = acquire_fiber();
  running_thread_index = {t.index[0], t.index[1], t.index[2]};
  running_block_index = t.block->index;
  t.state = State::running;
  engine.current = &t;
  ++engine.ticks;
  // The runtime may have called a function of the standard library meanwhile whose linked copy is
  // the instrumented one, as of a host call: lanes that no longer park would fall out of step.
  if (engine.lockstep) engine.steps_left = 1;
}

}  // namespace

inline Thread* ReadyPool::draw() {
  const std::size_t i = random_number() % size_;
  Thread* const t = threads_[i].thread;
  threads_[i].prefetch();
  threads_[i] = threads_[--size_];
  // Often the thread goes back to wait without another random number: then this is the next one.
  std::uint64_t state = engine.random_state;
  if (size_ > 0) threads_[next_random(state) % size_].prefetch();
  return t;
}

namespace {

/// A thread that is ready, or null.
inline Thread* take_ready() {
  Engine& e = engine;
  if (!e.seeded) return e.fifo.empty() ? nullptr : e.fifo.pop();
  return e.shuffled.empty() ? nullptr : e.shuffled.draw();
}

bool wants_block() {
  return engine.resident.size() < engine.resident_limit &&
         engine.blocks_started < engine.blocks_total;
}

Thread* next_thread() {
  while (wants_block() && start_next_block()) {
  }
  Thread* t = take_ready();
  if (t == nullptr && start_next_block()) t = take_ready();
  return t;
}

/// Threads run until one of them returns here: it has ended, nobody can go on, or it wants
/// something done on the host's stack.
void run_until_return(Thread& first) {
  Engine& e = engine;
  install(first);
  switch_fiber(host_fiber, first.fiber);
  while (e.host_call) {
    Thread* asker = std::exchange(e.current, nullptr);
    auto work = std::exchange(e.host_call, nullptr);
    work();
    if (e.failed) return;
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
    const void* first = nullptr;
    const std::string text = describe_deadlock(&first);
    fail_launch(ReportKind::barrier, cudaErrorLaunchTimeout, text, first);
  }
}

void start_launch(const Launch& launch, const Placement& placement) {
  Engine& e = engine;
  e.launch = &launch;
  e.placement = &placement;
  e.reachable = placement.reachable;
  bring_variables(placement.device);
  ++e.launch_number;
  e.failed = false;
  e.error = cudaSuccess;
  e.seeded = seed() != 0;
  e.random_state = scramble(seed() * 0x10001 + e.launch_number - e.schedule_start);
  e.blocks_total = count(launch.grid);
  e.blocks_started = 0;
  e.resident_limit = e.seeded ? kResidentBlocks : 1;
  e.reported.clear();
  e.lines_reported.clear();
  e.suppressed = 0;
  e.counters.launches += 1;
  e.counters.blocks += e.blocks_total;
  e.counters.threads += std::uint64_t(e.blocks_total) * count(launch.block);
  running_block_dim = launch.block;
  running_grid_dim = launch.grid;
  trace_start_launch();
  note_progress();
  set_fiber_body(thread_body);
  name_allocations(launch);
  across_start_launch();
  checker_start_launch();
}

}  // namespace

// ---- what the rest of the library calls
// ------------------------------------------------------------

void set_seed(std::uint64_t seed) {
  seed_setting() = seed;
  engine.schedule_start = engine.launch_number;
}
std::uint64_t seed() { return seed_setting(); }

namespace {
/// Races first. A missing barrier also lets readers run before writers: memory that was read too
/// early is not reported as uninitialised beside the race that explains it.
void put_causes_first(std::vector<Report>& reports) {
  const auto is_race = [](const Report& r) { return r.kind == ReportKind::race; };
  std::stable_partition(reports.begin(), reports.end(), is_race);
  const auto explained = [&](const Report& r) {
    if (r.kind != ReportKind::uninitialised) return false;
    const std::string place = fmt::format(" at {}:{} ", r.file, r.line);
    return std::any_of(reports.begin(), reports.end(), [&](const Report& other) {
      return is_race(other) && other.text.find(place) != std::string::npos;
    });
  };
  std::vector<Report> kept;
  std::copy_if(reports.begin(), reports.end(), std::back_inserter(kept),
               [&](const Report& r) { return !explained(r); });
  reports = std::move(kept);
}
}  // namespace

namespace {

[[noreturn]] void stop_division(int, siginfo_t* info, void*) {
  // The address is that of the division itself, not of the instruction behind it.
  trap("an integer is divided by zero: a GPU goes on with an undefined result",
       cudaErrorLaunchFailure, static_cast<const char*>(info->si_addr) + 1);
}

/// While threads run, a division by zero is a finding of the kernel, not the end of the process.
class DivisionTrap {
 public:
  DivisionTrap() {
    struct sigaction action {};
    action.sa_sigaction = stop_division;
    action.sa_flags = SA_SIGINFO | SA_NODEFER;  // the handler never returns
    sigaction(SIGFPE, &action, &before_);
  }
  ~DivisionTrap() { sigaction(SIGFPE, &before_, nullptr); }
  DivisionTrap(const DivisionTrap&) = delete;
  DivisionTrap& operator=(const DivisionTrap&) = delete;

 private:
  struct sigaction before_ {};
};

}  // namespace

int run_launch(const Launch& launch, const Placement& placement) {
  start_launch(launch, placement);
  {
    const DivisionTrap trap;
    run_all_threads();
  }
  checker_settle_writes();
  fences_end_launch();
  abandon_everything();
  engine.launch = nullptr;
  engine.steps_left = ~std::uint64_t(0);
  std::vector<Report> reports = std::exchange(engine.reports, {});
  put_causes_first(reports);
  if (engine.suppressed > 0 && !reports.empty()) {
    reports.back().text +=
        fmt::format("\n(and {} more findings of the same launch)", engine.suppressed);
  }
  trace_end_launch(launch, reports);
  const int error = engine.error;
  for (Report& report : reports) deliver(std::move(report));
  return error;
}

bool in_kernel() { return engine.current != nullptr; }
unsigned lane_id() { return engine.current->lane; }
unsigned long long clock_ticks() { return ++engine.ticks; }
void yield() { give_way(); }

// The next thread goes on without a detour over the scheduler, which is needed only to start
// blocks.
void switch_away() {
  Thread& t = *engine.current;
  Thread* next = wants_block() ? nullptr : take_ready();
  if (next == nullptr) {
    switch_fiber(t.fiber, host_fiber);
    return;
  }
  install(*next);
  if (next != &t) switch_fiber(t.fiber, next->fiber);
}

void wait_for_others() {
  Thread& t = *engine.current;
  Warp& warp = t.block->warp_of(t);
  if (--warp.runnable == 0 && (engine.lockstep || warp.waiting != 0)) {
    wake_stalled_warp(*t.block, t.warp);
  }
  switch_away();
}

void give_way() {
  make_ready(*engine.current);
  switch_away();
}

void on_host_stack(std::function<void()> work) {
  if (engine.current == nullptr) {
    work();
    return;
  }
  engine.host_call = std::move(work);
  switch_fiber(engine.current->fiber, host_fiber);
}

// ---- stopping a kernel
// ----------------------------------------------------------------------------------

void fail_launch(ReportKind kind, int error, const std::string& text, const void* caller) {
  Report report;
  report.kind = kind;
  report.kernel = engine.launch->kernel;
  if (caller != nullptr) {
    const SourceLine where = source_line(caller);
    report.file = where.file;
    report.line = where.line;
  }
  report.text = text;
  engine.reports.push_back(std::move(report));
  engine.failed = true;
  engine.error = error;
}

void stop_kernel(ReportKind kind, int error, const std::string& text, const void* caller) {
  on_host_stack([&] { fail_launch(kind, error, text, caller); });
  std::abort();  // a failed launch never resumes its threads
}

void trap(const char* message, int error, const void* caller) {
  const Thread& t = *engine.current;
  on_host_stack([&] {
    const std::string text =
        fmt::format("KERNEL STOPPED in {}: {}\n  at {} by {}", engine.launch->kernel, message,
                    source_line(caller).text(), thread_name(t));
    fail_launch(ReportKind::trap, error, text, caller);
  });
  std::abort();
}

void note_progress() {
  engine.steps_left = engine.lockstep ? 1 : kStepLimit;
  engine.lockstep_steps = 0;
  engine.fruitless = 0;
}

void enter_slowly(const void* caller) {
  if (engine.current == nullptr) {
    engine.steps_left = ~std::uint64_t(0);  // host code may take as long as it likes
    return;
  }
  if (engine.out_of_sight) {
    engine.steps_left = 1;
    return;
  }
  if (!engine.lockstep || ++engine.lockstep_steps > kLockstepLimit) stop_endless_loop(caller);
  engine.steps_left = 1;
  Parked what;
  what.pc = caller;
  what.depth = depth_here(kDepthOfJump);
  park(what);
  engine.steps_left = engine.lockstep ? 1 : kStepLimit;  // a trace may end meanwhile
}

void note_spin(const void* caller) {
  if (++engine.fruitless > kSpinLimit) stop_endless_loop(caller);
  if (++engine.current->spins % kSpinsBeforeYield != 0) return;
  // Whoever it waits for may be a block that has not started.
  if (engine.resident_limit < kResidentBlocks) ++engine.resident_limit;
  give_way();
}

void stop_endless_loop(const void* caller) {
  const Thread& t = *engine.current;
  on_host_stack([&] {
    const std::string text = fmt::format(
        "ENDLESS LOOP in kernel {}: {} repeats without changing anything\n  at {}\n  What it waits "
        "for never happens. Does an atomicCAS loop take up the value that atomicCAS\n  returned? "
        "Is "
        "a lock released? (At most {} blocks run at the same time here; a GPU runs\n  more, but "
        "never all of a large grid.)",
        engine.launch->kernel, thread_name(t), source_line(caller).text(), kResidentBlocks);
    fail_launch(ReportKind::hang, cudaErrorLaunchTimeout, text, caller);
  });
  std::abort();
}

// ---- names
// --------------------------------------------------------------------------------------------------

namespace {
std::string coordinates(uint3 i, dim3 extent) {
  if (extent.y == 1 && extent.z == 1) return fmt::format("{}", i.x);
  if (extent.z == 1) return fmt::format("({},{})", i.x, i.y);
  return fmt::format("({},{},{})", i.x, i.y, i.z);
}
}  // namespace

namespace {
std::string block_name(std::uint32_t block, dim3 grid, int device) {
  const std::string where = several_devices() ? fmt::format("device {} ", device) : "";
  return fmt::format("{}block {}", where, coordinates(unflatten(block, grid), grid));
}
}  // namespace

std::string block_name(std::uint32_t block) {
  return block_name(block, engine.launch->grid, engine.placement->device);
}

std::string thread_name(std::uint32_t id) {
  return thread_name(id, engine.launch->grid, engine.launch->block, engine.placement->device);
}

std::string thread_name(std::uint32_t id, dim3 grid, dim3 block, int device) {
  return fmt::format("{} thread {}", block_name(block_of(id), grid, device),
                     coordinates(unflatten(rank_of(id), block), block));
}

std::string thread_name(const Thread& t) { return thread_name(t.id); }

}  // namespace simt
