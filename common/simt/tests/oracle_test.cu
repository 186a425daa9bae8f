// Small random programs, each under several schedules: the checker reports a race where the memory model of PTX has
// one, and nowhere else. oracle.hpp says what the model is, oracle_programs.hpp how programs are made.
//
//   COURSE_ORACLE_SEED=7       other programs; 1 if it is not given
//   COURSE_ORACLE_PROGRAMS=n   so many; 1500 if it is not given
#include <cuda_runtime.h>

#include <catch2/catch_test_macros.hpp>
#include <cstdlib>
#include <cuda/atomic>
#include <iostream>
#include <set>
#include <string>

#include "oracle.hpp"
#include "oracle_programs.hpp"
#include "testing.hpp"

using namespace oracle;

namespace {

// ---- the interpreter ----------------------------------------------------------------------------

constexpr unsigned kMostPhases = 3, kWidestBlock = 33;

// What the kernel runs, and what it has done. In memory of the host, which functions that the checker does not see
// reach, as they reach nothing but raw arrays.
struct Table {
  int thread[kMostBlocks][kWidestBlock];  // -1: it has no steps
  unsigned phases, steps[kMostThreads][kMostPhases];
  Step step[kMostThreads][kMostPhases][kMostSteps];
  Boundary after[kMostPhases][kMostBlocks];
};
Table table;
Done log_of_steps[kMostThreads * kMostPhases * kMostSteps * kMostTries];
unsigned log_size = 0;
int time_now = 0;

SIMT_UNINSTRUMENTED __device__ int thread_of(unsigned block, unsigned rank) {
  return table.thread[block][rank];
}
SIMT_UNINSTRUMENTED __device__ unsigned phases() { return table.phases; }
SIMT_UNINSTRUMENTED __device__ unsigned steps_of(int thread, unsigned phase) {
  return thread < 0 ? 0 : table.steps[thread][phase];
}
SIMT_UNINSTRUMENTED __device__ Step step_of(int thread, unsigned phase, unsigned step) {
  return table.step[thread][phase][step];
}
SIMT_UNINSTRUMENTED __device__ Boundary boundary_after(unsigned phase, unsigned block) {
  return table.after[phase][block];
}
SIMT_UNINSTRUMENTED __device__ int tick() { return ++time_now; }
SIMT_UNINSTRUMENTED __device__ void log_step(int thread, unsigned phase, unsigned step, int begin,
                                             int found) {
  log_of_steps[log_size++] = {unsigned(thread), phase, step, begin, ++time_now, found};
}

template <cuda::thread_scope scope>
__device__ int do_atomic(const Step& s, int* word, int number) {
  const cuda::atomic_ref<int, scope> ref(*word);
  const auto order = s.order == Order::relaxed   ? cuda::memory_order_relaxed
                     : s.order == Order::acquire ? cuda::memory_order_acquire
                     : s.order == Order::release ? cuda::memory_order_release
                     : s.order == Order::acq_rel ? cuda::memory_order_acq_rel
                                                 : cuda::memory_order_seq_cst;
  if (s.action == Action::atomic_load) return ref.load(order);
  if (s.action == Action::exchange) return ref.exchange(number, order);
  ref.store(number, order);
  return 0;
}

__device__ void do_fence(Scope scope) {
  if (scope == Scope::block) __threadfence_block();
  if (scope == Scope::device) __threadfence();
  if (scope == Scope::system) __threadfence_system();
}

/// What a load has found, and 0 of all else.
__device__ int do_step(const Step& s, int* word, int number) {
  switch (s.action) {
    case Action::load:
      return *word;
    case Action::store:
      *word = number;
      return 0;
    case Action::volatile_load:
      return *static_cast<volatile int*>(word);
    case Action::volatile_store:
      *static_cast<volatile int*>(word) = number;
      return 0;
    case Action::fence:
      do_fence(s.scope);
      return 0;
    default:
      break;
  }
  if (s.scope == Scope::block) return do_atomic<cuda::thread_scope_block>(s, word, number);
  if (s.scope == Scope::device) return do_atomic<cuda::thread_scope_device>(s, word, number);
  return do_atomic<cuda::thread_scope_system>(s, word, number);
}

__global__ void interpret(int* words) {
  __shared__ int s_a, s_b;
  if (threadIdx.x == 0) s_a = s_b = 0;
  __syncthreads();
  const int thread = thread_of(blockIdx.x, threadIdx.x);
  int found = 0;
  for (unsigned phase = 0; phase < phases(); ++phase) {
    for (unsigned i = 0; i < steps_of(thread, phase); ++i) {
      const Step s = step_of(thread, phase, i);
      if (s.guarded && found == 0) continue;
      int* const word = s.word < kGlobalWords    ? words + s.word
                        : s.word == kGlobalWords ? &s_a
                                                 : &s_b;
      const int number = number_of(unsigned(thread), phase, i);
      int value = 0;
      for (unsigned tries = s.waits ? kMostTries : 1; tries > 0 && value == 0; --tries) {
        const int begin = tick();
        value = do_step(s, word, number);
        log_step(thread, phase, i, begin, value);
      }
      if (s.action == Action::volatile_load || s.action == Action::atomic_load ||
          s.action == Action::exchange) {
        found = value;
      }
    }
    if (phase + 1 == phases()) break;
    const Boundary boundary = boundary_after(phase, blockIdx.x);
    if (boundary == Boundary::syncthreads) __syncthreads();
    if (boundary == Boundary::syncwarp) __syncwarp();
  }
}

void load_table(const Program& p) {
  table = {};
  for (auto& block : table.thread) std::fill(std::begin(block), std::end(block), -1);
  table.phases = unsigned(p.phases());
  for (std::size_t t = 0; t < p.threads.size(); ++t) {
    const ThreadPlan& plan = p.threads[t];
    table.thread[plan.block][plan.rank] = int(t);
    for (std::size_t phase = 0; phase < p.phases(); ++phase) {
      table.steps[t][phase] = unsigned(plan.phases[phase].size());
      std::copy(plan.phases[phase].begin(), plan.phases[phase].end(), table.step[t][phase]);
    }
  }
  for (std::size_t phase = 0; phase < p.boundaries.size(); ++phase) {
    std::copy(p.boundaries[phase].begin(), p.boundaries[phase].end(), table.after[phase]);
  }
  log_size = 0;
  time_now = 0;
}

// ---- two verdicts on one execution --------------------------------------------------------------

/// The checker keeps the last plain write of a word, and the last atomics and the last reads of two threads; README.md,
/// "Races between accesses that are far apart". False if the earlier access may be forgotten when the later one comes.
bool is_remembered(const Race& race, const std::vector<Event>& events) {
  const Event &x = events[race.a], &y = events[race.b];
  if (x.end >= y.begin) return false;
  const auto kind = [](const Event& e) { return !e.writes() ? 0 : e.strong ? 1 : 2; };
  for (std::size_t i = 0; i < events.size(); ++i) {
    const Event& z = events[i];
    if (i == race.a || i == race.b || z.word != x.word || kind(z) != kind(x)) continue;
    if (kind(x) != 2 && z.thread == y.thread) continue;
    if (z.end > x.begin && z.begin < y.end) return false;
  }
  return true;
}

struct Verdicts {
  std::set<std::string> racing;    // the words, as the oracle has it
  bool is_remembered = false;      // one of the races
  std::vector<std::string> found;  // the words that reports name
  std::string text;

  bool false_finding() const {
    for (const std::string& word : found) {
      if (!racing.contains(word)) return true;
    }
    return false;
  }
  bool miss() const { return found.empty() && is_remembered; }
  bool differ() const { return false_finding() || miss(); }
};

std::string name_of(int word) {
  const auto w = unsigned(word);
  return name_of_word(w < kGlobalWords ? w : kGlobalWords + (w - kGlobalWords) % kSharedWords);
}

/// The word that a report is about, or all of it if it is about something else.
std::string racing_word(const simt::Report& report) {
  const std::string before = "DATA RACE in kernel interpret on ";
  if (report.text.rfind(before, 0) != 0) return report.text;
  return report.text.substr(before.size(), report.text.find('\n') - before.size());
}

Verdicts run(const Program& p, std::uint64_t schedule, simt_test::Array<int>& words,
             const Decisions& decisions = {}) {
  load_table(p);
  Verdicts v;
  const simt_test::Outcome outcome = simt_test::observe(
      [&] {
        static_cast<void>(cudaMemset(words.data(), 0, kGlobalWords * sizeof(int)));
        interpret<<<p.blocks, p.block_size>>>(words.data());
      },
      schedule);
  v.text = outcome.text();
  for (const simt::Report& r : outcome.reports) v.found.push_back(racing_word(r));
  const std::vector<Event> events =
      events_of(p, {log_of_steps, log_of_steps + log_size}, decisions);
  const Execution execution(events, decisions);
  for (const Race& race : execution.races()) {
    v.racing.insert(name_of(events[race.a].word));
    v.is_remembered = v.is_remembered ||
                      (is_remembered(race, events) && !execution.is_before_atomic_and_fence(race));
  }
  return v;
}

std::uint64_t number_from(const char* variable, std::uint64_t otherwise) {
  const char* const text = std::getenv(variable);
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

/// The smallest program that still differs, in words.
std::string explain(const Program& p, std::uint64_t schedule, simt_test::Array<int>& words) {
  const bool was_false = run(p, schedule, words).false_finding();
  const Program smallest = shrink(p, [&](const Program& q) {
    const Verdicts v = run(q, schedule, words);
    return was_false ? v.false_finding() : v.miss();
  });
  const Verdicts v = run(smallest, schedule, words);
  std::string text = "Under SIMT_SEED=" + std::to_string(schedule) + " the checker reports ";
  text += v.found.empty() ? "no race" : "a race on " + v.found.front();
  text += ", the oracle ";
  text += v.racing.empty() ? "none" : "one on " + *v.racing.begin();
  return text + ":\n\n" + source_of(smallest) + "\n" + v.text;
}

}  // namespace

TEST_CASE("the checker and the memory model of PTX agree on small random programs") {
  const std::uint64_t seed = number_from("COURSE_ORACLE_SEED", 1);
  const std::uint64_t programs = number_from("COURSE_ORACLE_PROGRAMS", 1500);
  simt_test::Array<int> words(kGlobalWords);
  unsigned clean = 0, racy = 0, forgotten = 0, differences = 0;
  std::string first;
  for (std::uint64_t i = 0; i < programs; ++i) {
    const Program p = Generator(seed * 1'000'003 + i).program();
    for (std::uint64_t schedule = 0; schedule < 4; ++schedule) {
      const Verdicts v = run(p, schedule, words);
      ++(v.racing.empty() ? clean : racy);
      forgotten += !v.racing.empty() && v.found.empty();
      if (!v.differ()) continue;
      if (++differences == 1) first = explain(p, schedule, words);
    }
  }
  const std::string counts =
      std::to_string(clean) + " executions without a race, " + std::to_string(racy) +
      " with one, of which the checker has forgotten " + std::to_string(forgotten) +
      "; COURSE_ORACLE_SEED=" + std::to_string(seed);
  std::cout << counts << std::endl;
  INFO(first);
  CHECK(differences == 0);
}

// ---- where the device differs from PTX ----------------------------------------------------------

namespace {

constexpr unsigned kData = 0, kFlag = 1, kSecondFlag = 2;
constexpr Step kFence{.action = Action::fence};
constexpr Step kWrite{.action = Action::store, .word = kData};
constexpr Step kReadIfFound{.action = Action::load, .word = kData, .guarded = true};

constexpr Step store(unsigned word, Order order) {
  return {.action = Action::atomic_store, .order = order, .word = word};
}
constexpr Step wait_for(unsigned word, Order order) {
  return {.action = Action::atomic_load, .order = order, .word = word, .waits = true};
}

/// Block 0 runs first, its threads one after the other. A barrier follows each phase.
Program program_of(std::vector<ThreadPlan> threads) {
  Program p;
  p.blocks = 2;
  p.block_size = 3;
  p.boundaries.resize(threads.front().phases.size() - 1);
  for (auto& boundary : p.boundaries) boundary.fill(Boundary::syncthreads);
  p.threads = std::move(threads);
  return p;
}

/// "race, none": what the device finds, and what PTX has, which is the device's model without the decision.
std::string device_and_ptx(const Program& p, bool Decisions::*decision) {
  simt_test::Array<int> words(kGlobalWords);
  const Verdicts device = run(p, 0, words);
  if (device.differ()) return "the oracle differs:\n" + device.text;
  Decisions without;
  without.*decision = !(without.*decision);
  const auto text = [](const Verdicts& v) { return v.racing.empty() ? "none" : "race"; };
  return text(device) + std::string(", ") + text(run(p, 0, words, without));
}

}  // namespace

TEST_CASE("a barrier may lie between the fence and the flag, where PTX has a race") {
  const Program p =
      program_of({{0, 0, {{kWrite, kFence}, {}}},
                  {0, 1, {{}, {store(kFlag, Order::relaxed)}}},
                  {1, 0, {{wait_for(kFlag, Order::relaxed), kFence, kReadIfFound}, {}}}});
  CHECK(device_and_ptx(p, &Decisions::patterns_go_through_barriers) == "none, race");
}

TEST_CASE("a release or acquire of one word holds for others, where PTX has a race") {
  const Program released = program_of(
      {{0, 0, {{kWrite, store(kFlag, Order::release), store(kSecondFlag, Order::relaxed)}}},
       {1, 0, {{wait_for(kSecondFlag, Order::acquire), kReadIfFound}}}});
  CHECK(device_and_ptx(released, &Decisions::orders_are_fences) == "none, race");
  Step other = wait_for(kSecondFlag, Order::acquire);
  other.waits = false;
  Step read = kReadIfFound;
  read.guarded = false;
  const Program acquired = program_of({{0, 0, {{kWrite, store(kFlag, Order::release)}}},
                                       {1, 0, {{wait_for(kFlag, Order::relaxed), other, read}}}});
  CHECK(device_and_ptx(acquired, &Decisions::orders_are_fences) == "none, race");
}

TEST_CASE("a plain access after a relaxed load of the same word is a race, where PTX has none") {
  Step read = kReadIfFound;
  read.word = kFlag;
  const Program p = program_of({{0, 0, {{store(kFlag, Order::relaxed)}}},
                                {1, 0, {{wait_for(kFlag, Order::relaxed), read}}}});
  CHECK(device_and_ptx(p, &Decisions::what_is_observed_is_ordered) == "race, none");
}
