// Why two accesses are not ordered: each cause is told by what the run has recorded, and no other cause is.
#include <cuda_runtime.h>

#include <catch2/catch_test_macros.hpp>
#include <cuda/atomic>
#include <string>
#include <vector>

#include "testing.hpp"

using simt::Report, simt::ReportKind;
using namespace simt_test;

namespace {

/// The sentence of each cause.
const std::vector<std::string> kSentences = {
    "does not release what came before it: give it memory_order_release.",
    "does not acquire, so that this read may come before it: give it memory_order_acquire.",
    "publishes nothing but its own value: call __threadfence() before it.",
    "may come before it, also this read: call __threadfence() after it.",
    "The store has the scope of a block, and the two threads are in different blocks",
    "The load has the scope of a block, and the two threads are in different blocks",
    "reaches the threads of its own block only: call __threadfence().",
    "before the barrier: that does not publish what other threads wrote.",
    "before the write: that does not publish the write.",
    "comes after the store: one must come before it.",
    "comes before the load: one must come after it.",
    "No barrier lies between the write of block 0 thread",
    "No barrier lies between that load and this read by another thread",
    "The store came before the write: should it come after the write?",
    "has changed position[0] since. Does",
    "both found the same value, and no atomic has let only one of them come here.",
    "has called no atomic. If lock[0] is a lock: every thread must take it",
    "these are two steps, and both may have found the same value.",
    "are separate steps: two threads can read the same old value",
    "both can read the same old value, and one of the two writes is lost: one atomic function",
    "this run has recorded nothing that orders the two accesses",
    "is blockIdx missing in the index?",
};

/// Empty if the first finding of `work` is a race that is told by these sentences, and by no other of the list.
std::string told_otherwise(const std::vector<std::string>& expected,
                           const std::function<void()>& work, std::uint64_t seed = 0) {
  const Outcome outcome = observe(work, seed);
  if (!outcome.found(ReportKind::race)) return "no race: " + outcome.text();
  const std::string text = one_line(outcome.reports.front().text);
  for (const std::string& sentence : expected) {
    if (text.find(sentence) == std::string::npos) return "\"" + sentence + "\" is not in " + text;
  }
  for (const std::string& sentence : kSentences) {
    bool is_expected = false;
    for (const std::string& e : expected) {
      is_expected = is_expected || e.find(sentence) != std::string::npos ||
                    sentence.find(e) != std::string::npos;
    }
    if (!is_expected && text.find(sentence) != std::string::npos) {
      return "\"" + sentence + "\" is in " + text;
    }
  }
  return "";
}

// ---- a block hands an array to another one ------------------------------------------------------

enum class Mistake {
  none,
  relaxed_store,
  relaxed_load,
  relaxed_both,
  wrong_half,
  volatile_flag,
  no_fences,
  block_scope_store,
  block_scope_load,
  block_fence,
  early_fence,
  fence_before_barrier,
  fence_after_store,
  fence_before_load,
  no_barrier_before,
  no_barrier_after,
  early_store
};

using Flag = cuda::atomic_ref<int, cuda::thread_scope_device>;
using BlockFlag = cuda::atomic_ref<int, cuda::thread_scope_block>;

template <Mistake m>
__device__ void raise(int* flag) {
  constexpr auto kRelaxed = cuda::std::memory_order_relaxed;
  constexpr auto kRelease = cuda::std::memory_order_release;
  if constexpr (m == Mistake::relaxed_store || m == Mistake::relaxed_both ||
                m == Mistake::early_fence || m == Mistake::fence_before_barrier) {
    Flag(*flag).store(1, kRelaxed);
  } else if constexpr (m == Mistake::wrong_half) {
    Flag(*flag).exchange(1, cuda::std::memory_order_acquire);
  } else if constexpr (m == Mistake::volatile_flag) {
    *static_cast<volatile int*>(flag) = 1;
  } else if constexpr (m == Mistake::no_fences) {
    atomicExch(flag, 1);
  } else if constexpr (m == Mistake::block_scope_store) {
    BlockFlag(*flag).store(1, kRelease);
  } else if constexpr (m == Mistake::block_fence) {
    __threadfence_block();
    Flag(*flag).store(1, kRelaxed);
  } else if constexpr (m == Mistake::fence_after_store) {
    Flag(*flag).store(1, kRelaxed);
    __threadfence();
  } else {
    Flag(*flag).store(1, kRelease);
  }
}

template <Mistake m>
__device__ void wait_for(int* flag) {
  constexpr auto kRelaxed = cuda::std::memory_order_relaxed;
  constexpr auto kAcquire = cuda::std::memory_order_acquire;
  if constexpr (m == Mistake::relaxed_load || m == Mistake::relaxed_both) {
    while (Flag(*flag).load(kRelaxed) == 0) {
    }
  } else if constexpr (m == Mistake::wrong_half) {
    while (Flag(*flag).exchange(1, cuda::std::memory_order_release) == 0) {
    }
  } else if constexpr (m == Mistake::volatile_flag) {
    while (*static_cast<volatile int*>(flag) == 0) {
    }
  } else if constexpr (m == Mistake::no_fences) {
    while (atomicAdd(flag, 0) == 0) {
    }
  } else if constexpr (m == Mistake::block_scope_load) {
    while (BlockFlag(*flag).load(kAcquire) == 0) {
    }
  } else if constexpr (m == Mistake::fence_before_load) {
    int found = 0;
    while (found == 0) {
      __threadfence();
      found = Flag(*flag).load(kRelaxed);
    }
  } else {
    while (Flag(*flag).load(kAcquire) == 0) {
    }
  }
}

/// Block 0 hands data to block 1.
template <Mistake m>
__global__ void hand_over(int* flag, int* data, int* out) {
  const int t = static_cast<int>(threadIdx.x);
  if (blockIdx.x == 0) {
    if (m == Mistake::early_store && t == 0) raise<m>(flag);
    if (m == Mistake::early_fence && t == 0) __threadfence();
    data[t] = t;
    if (m == Mistake::fence_before_barrier && t == 0) __threadfence();
    if (m != Mistake::no_barrier_before) __syncthreads();
    if (m != Mistake::early_store && t == 0) raise<m>(flag);
  } else {
    if (t == 0) wait_for<m>(flag);
    if (m != Mistake::no_barrier_after) __syncthreads();
    out[t] = data[(t + 1) % static_cast<int>(blockDim.x)];
  }
}

template <Mistake m, int threads = 64>
bool arrives() {
  auto flag = Array<int>::zeros(1);
  auto data = Array<int>::zeros(64);
  auto out = Array<int>::zeros(64);
  hand_over<m><<<2, threads>>>(flag.data(), data.data(), out.data());
  return out.values()[0] == 1;
}

template <Mistake m, int threads = 64>
std::string told(const std::vector<std::string>& expected) {
  return told_otherwise(expected, [] { arrives<m, threads>(); });
}

/// The same for all findings of a launch, not for the first one.
template <Mistake m>
std::string told_in_all(std::vector<std::string> expected) {
  for (std::uint64_t seed = 0; seed < 30; ++seed) {
    const std::string text = one_line(observe([] { arrives<m>(); }, seed).text());
    std::erase_if(expected,
                  [&](const std::string& part) { return text.find(part) != std::string::npos; });
  }
  return expected.empty() ? "" : expected.front();
}

}  // namespace

TEST_CASE("a hand-over that is right is silent") {
  CHECK(first_complaint([] { return arrives<Mistake::none>(); }) == "");
}

TEST_CASE("a relaxed store, a relaxed load, or both") {
  CHECK(told<Mistake::relaxed_store>(
            {"stored flag[0] (common/simt/tests/race_causes_test.cu:", "loaded flag[0] (line ",
             "The store " + kSentences[0]}) == "");
  CHECK(told<Mistake::relaxed_load>({"The load " + kSentences[1]}) == "");
  CHECK(told<Mistake::relaxed_both>({kSentences[0], kSentences[1]}) == "");
}

TEST_CASE("an atomic of two orders that has the other one") {
  CHECK(told<Mistake::wrong_half>(
            {"The exchange acquires, but does not release what came before it: give it "
             "memory_order_acq_rel.",
             "The exchange releases, but does not acquire, so that this read may come before it: "
             "give it memory_order_acq_rel."}) == "");
}

TEST_CASE("a volatile flag, and atomic functions without fences") {
  CHECK(told<Mistake::volatile_flag>({"A volatile store " + kSentences[2],
                                      "What follows a volatile load " + kSentences[3]}) == "");
  CHECK(told<Mistake::no_fences>({"called atomicExch on flag[0]", "called atomicAdd on flag[0]",
                                  "atomicExch " + kSentences[2],
                                  "What follows atomicAdd " + kSentences[3]}) == "");
}

TEST_CASE("a scope that is too small: of the store, the load, a fence") {
  // The two accesses of the flag clash, too.
  CHECK(told_in_all<Mistake::block_scope_store>(
            {"What has block scope is atomic among the threads of one block only.",
             kSentences[4]}) == "");
  CHECK(told_in_all<Mistake::block_scope_load>(
            {"What has block scope is atomic among the threads of one block only.",
             kSentences[5]}) == "");
  CHECK(told<Mistake::block_fence>({"__threadfence_block() (line ", kSentences[6]}) == "");
}

TEST_CASE("a fence on the wrong side") {
  CHECK(told<Mistake::fence_before_barrier>(
            {"Block 0 thread 0 called __threadfence() (line ", kSentences[7]}) == "");
  CHECK(told<Mistake::early_fence, 1>({"called __threadfence() (line ", kSentences[8]}) == "");
  CHECK(told<Mistake::fence_after_store>({kSentences[9]}) == "");
  CHECK(told<Mistake::fence_before_load>({kSentences[10]}) == "");
}

TEST_CASE("a barrier that is missing before the store, or after the load") {
  CHECK(told<Mistake::no_barrier_before>({kSentences[11], "the store of block 0 thread 0"}) == "");
  CHECK(told<Mistake::no_barrier_after>({kSentences[12]}) == "");
  // A thread that reads before the other one has found the flag.
  bool waits = false;
  for (std::uint64_t seed = 0; seed < 30; ++seed) {
    const std::string text =
        one_line(observe([] { arrives<Mistake::no_barrier_after>(); }, seed).text());
    waits = waits || lacks(text, {"Block 1 thread 0 loaded flag[0] (",
                                  "has not waited for that thread. If it waits there for data[",
                                  "call __syncthreads() after the load."}) == "";
  }
  CHECK(waits);
}

TEST_CASE("a store that comes before what it tells of") {
  CHECK(told<Mistake::early_store>({"and wrote data[0] after that", kSentences[13],
                                    "Or should the read wait for a later store?"}) == "");
}

// ---- places that one thread must claim ----------------------------------------------------------

namespace {

/// Each thread takes a place and writes there; *position is the next free one.
template <bool early>
__global__ void take(int* position, int* places, int n) {
  const cuda::atomic_ref<int, cuda::thread_scope_device> next(*position);
  int mine = next.load(cuda::std::memory_order_relaxed);
  while (mine < n) {
    if (early) places[mine] = static_cast<int>(threadIdx.x);
    if (!next.compare_exchange_strong(mine, mine + 1, cuda::std::memory_order_relaxed)) continue;
    if (!early) places[mine] = static_cast<int>(threadIdx.x);
    mine = next.load(cuda::std::memory_order_relaxed);
  }
}

template <bool early>
void take_all() {
  auto position = Array<int>::zeros(1);
  auto places = Array<int>::zeros(100);
  take<early><<<1, 2>>>(position.data(), places.data(), 100);
}

enum class Lock { right, one_thread, two_steps };

template <Lock form>
__global__ void count_locked(int* lock, int* count) {
  if (form == Lock::two_steps) {
    volatile int* const word = lock;
    while (*word != 0) {
    }
    *word = 1;
    __threadfence();
  } else if (form == Lock::right || threadIdx.x == 0) {
    while (atomicCAS(lock, 0, 1) != 0) {
    }
    __threadfence();
  }
  *count = *count + 1;
  __threadfence();
  if (form != Lock::one_thread) atomicExch(lock, 0);
}

template <Lock form, int threads = 2>
bool counts() {
  auto lock = Array<int>::zeros(1);
  auto count = Array<int>::zeros(1);
  count_locked<form><<<1, threads>>>(lock.data(), count.data());
  return count.front() == threads;
}

}  // namespace

TEST_CASE("what a thread uses before it has claimed it") {
  CHECK(first_complaint(
            [] {
              take_all<false>();
              return true;
            },
            12) == "");
  bool changed = false, same = false;
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    const std::string text = one_line(observe(take_all<true>, seed).text());
    changed = changed || text.find(kSentences[14]) != std::string::npos;
    same = same || text.find(kSentences[15]) != std::string::npos;
    if (text.empty()) continue;
    CHECK(lacks(text, {"If a compare-and-swap decides", "it must come before the "}) == "");
  }
  CHECK(changed);
  CHECK(same);
}

TEST_CASE("a lock that one thread takes, and one that is taken in two steps") {
  CHECK(first_complaint([] { return counts<Lock::right>(); }, 12) == "");
  CHECK(told_otherwise({"Block 0 thread 0 called atomicCAS on lock[0]", kSentences[16]},
                       [] { counts<Lock::one_thread>(); }) == "");
  bool found = false;
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    const std::string text = one_line(observe([] { counts<Lock::two_steps, 32>(); }, seed).text());
    found = found || lacks(text, {"Both threads have loaded lock[0]", "and then stored lock[0]",
                                  kSentences[17].c_str()}) == "";
  }
  CHECK(found);
}

// ---- updates ------------------------------------------------------------------------------------

namespace {

__global__ void add(int* total) { *total += 1; }

constexpr int kLook = __LINE__ + 3, kStore = __LINE__ + 4;
/// atomicMax, but not atomic.
__global__ void raise_to(int* most, const int* x) {
  const int now = *most;
  if (x[threadIdx.x] > now) *most = x[threadIdx.x];
}

/// A free place is looked for, and then taken.
__global__ void insert(int* keys) {
  const int key = static_cast<int>(threadIdx.x) + 1;
  for (int i = 0; i < 64; ++i) {
    if (keys[i] != 0) continue;
    keys[i] = key;
    return;
  }
}

constexpr int kNewRound = __LINE__ + 5, kLastRead = __LINE__ + 7;
__global__ void rounds_without_second_barrier(int* out) {
  __shared__ int s_round;
#pragma unroll 1
  for (int round = 0; round < 3; ++round) {
    if (threadIdx.x == 0) s_round = round;
    __syncthreads();
    out[threadIdx.x] += s_round;
  }
}

/// Each level of a tree reads what others have written, at one line.
__global__ void tree_without_barriers(int* out) {
  __shared__ int s_x[64];
  const unsigned t = threadIdx.x;
  s_x[t] = 1;
  __syncthreads();
#pragma unroll 1
  for (unsigned stride = 32; stride > 0; stride /= 2) {
    if (t < stride) s_x[t] += s_x[t + stride];
  }
  if (t == 0) *out = s_x[0];
}

__global__ void all_blocks_write_and_count(int* out, unsigned* count) {
  for (int round = 0; round < 2; ++round) {
    atomicAdd(count, 1u);
    out[0] = static_cast<int>(blockIdx.x);
  }
}

__device__ int block_total(int x) {
  __shared__ int s_warps[2];
  if (threadIdx.x % 32 == 0) s_warps[threadIdx.x / 32] = x;
  __syncthreads();
  return s_warps[0] + s_warps[1];
}
__global__ void two_totals(int* out) {
  const int total = block_total(1);
  out[threadIdx.x] = block_total(total);
}

constexpr int kOfNextRound = __LINE__ + 5;
__global__ void rounds_of_neighbours(int* out) {
  __shared__ int s_x[64];
  int mine = 1;
  for (int round = 0; round < 3; ++round) {
    s_x[threadIdx.x] = mine;
    __syncthreads();
    mine += s_x[63 - threadIdx.x];
  }
  out[threadIdx.x] = mine;
}

constexpr int kOfNextWarpRound = __LINE__ + 5;
__global__ void rounds_of_lanes(int* out) {
  __shared__ int s_x[64];
  int mine = 1;
  for (int round = 0; round < 3; ++round) {
    s_x[threadIdx.x] = mine;
    __syncwarp();
    mine += s_x[threadIdx.x ^ 1];
  }
  out[threadIdx.x] = mine;
}

// The first half meets in the barrier of half a warp, of which the other lanes know nothing.
__global__ void half_a_warp_meets(int* out) {
  __shared__ int s_x[64];
  s_x[threadIdx.x] = 1;
  if (threadIdx.x % 32 < 16) __syncwarp(0xffff);
  out[threadIdx.x] = s_x[threadIdx.x ^ 16];
}

// Lane 0 writes, and reads what it has written: no round, and no read before the write.
__global__ void written_then_read(int* out) {
  __shared__ int s_first[2];
  if (threadIdx.x % 32 == 0) s_first[threadIdx.x / 32] = 5;
  out[threadIdx.x] = s_first[threadIdx.x / 32];
}

// The barrier's line lies between the two by chance: the write is in another function.
__device__ void store_there(int* s_x, int x) { s_x[threadIdx.x] = x; }
__device__ void meet() { __syncthreads(); }
__global__ void line_between_by_chance(int* out) {
  __shared__ int s_x[64];
  s_x[threadIdx.x] = 1;
  meet();
  out[threadIdx.x] = s_x[63 - threadIdx.x];
  store_there(s_x, 2);
}

/// Sums up a tree: in the next round another thread goes on with a sum. No barrier lies between the rounds.
constexpr int kSweep = __LINE__ + 9;
__global__ void up_sweep(int* out) {
  __shared__ int s_x[64];
  const unsigned t = threadIdx.x;
  s_x[t] = 1;
  __syncthreads();
#pragma unroll 1
  for (unsigned step = 1; step < 64; step *= 2) {
    const unsigned right = 2 * step * (t + 1) - 1;
    if (right < 64) s_x[right] += s_x[right - step];
  }
  __syncthreads();
  out[t] = s_x[t];
}

/// The same, in two lines.
constexpr int kSweepReads = __LINE__ + 10, kSweepWrites = __LINE__ + 11;
__global__ void up_sweep_in_two_lines(int* out) {
  __shared__ int s_x[64];
  const unsigned t = threadIdx.x;
  s_x[t] = 1;
  __syncthreads();
#pragma unroll 1
  for (unsigned step = 1; step < 64; step *= 2) {
    const unsigned right = 2 * step * (t + 1) - 1;
    if (right >= 64) continue;
    const int sum = s_x[right];
    s_x[right] = sum + 1;
  }
  __syncthreads();
  out[t] = s_x[t];
}

/// One function for two phases, and no barrier between these.
constexpr int kAddsTo = __LINE__ + 1;
__device__ void add_to(int* s_x, unsigned i) { s_x[i] += 1; }
__global__ void two_phases(int* out) {
  __shared__ int s_x[64];
  const unsigned t = threadIdx.x;
  s_x[t] = 0;
  __syncthreads();
  add_to(s_x, t);
  add_to(s_x, 63 - t);
  __syncthreads();
  out[t] = s_x[t];
}

/// Both phases read by a function, and the second one writes nothing.
constexpr int kGets = __LINE__ + 1, kPuts = __LINE__ + 7;
__device__ int get(const int* s_x, unsigned i) { return s_x[i]; }
__global__ void phases_that_read_by_a_function(int* out) {
  __shared__ int s_x[64];
  const unsigned t = threadIdx.x;
  s_x[t] = 1;
  __syncthreads();
  s_x[t] = get(s_x, t) + 1;
  out[t] = get(s_x, (t + 32) % 64);
}

/// Each round puts the keys into another order, and no barrier ends it.
constexpr int kKeyIsPut = __LINE__ + 7;
__global__ void rounds_of_an_order(int* out) {
  __shared__ int s_keys[64];
  const unsigned t = threadIdx.x;
#pragma unroll 1
  for (unsigned round = 0; round < 4; ++round) {
    const int key = static_cast<int>(64 * round + t);
    s_keys[(t + round) % 64] = key;
  }
  __syncthreads();
  out[t] = s_keys[t];
}

}  // namespace

TEST_CASE("a line that runs again without a barrier: the barrier is asked for first") {
  auto out = Array<int>::zeros(64);
  const auto line = [](int number) { return "line " + std::to_string(number); };
  // Other lines of the kernel race, too: the first finding may be one of these.
  const auto told_of = [&](auto kernel, const std::vector<std::string>& parts) {
    int found = 0;
    for (std::uint64_t seed = 0; seed < 12; ++seed) {
      const Outcome outcome = observe([&] { kernel<<<1, 64>>>(out.data()); }, seed);
      if (!outcome.found(ReportKind::race)) return "no race: " + outcome.text();
      for (const Report& report : outcome.reports) {
        const std::string text = one_line(report.text);
        if (text.find(kSentences[18]) != std::string::npos) return text;
        if (text.find(kSentences[19]) != std::string::npos) return text;
        bool has_all = true;
        for (const std::string& part : parts) has_all &= text.find(part) != std::string::npos;
        found += has_all ? 1 : 0;
      }
    }
    return found > 0 ? std::string() : "never told";
  };
  const auto between = [&](int last, int first) {
    return "missing between " + line(last) + " of one round and " + line(first) + " of the next?";
  };
  CHECK(told_of(up_sweep, {"has come here for s_x[", between(kSweep, kSweep),
                           "use an atomic function such as atomicAdd"}) == "");
  CHECK(told_of(up_sweep_in_two_lines,
                {between(kSweepWrites, kSweepReads), "use an atomic function"}) == "");
  CHECK(told_of(two_phases, {between(kAddsTo, kAddsTo)}) == "");
  CHECK(told_of(rounds_of_an_order, {between(kKeyIsPut, kKeyIsPut)}) == "");
}

TEST_CASE("a function that reads in two phases: both the barrier and the atomic are asked for") {
  auto out = Array<int>::zeros(64);
  CHECK(told_otherwise({"missing between line " + std::to_string(kPuts) + " and line " +
                            std::to_string(kGets) + "?",
                        "one atomic function must do both steps"},
                       [&] { phases_that_read_by_a_function<<<1, 64>>>(out.data()); }) == "");
}

TEST_CASE("what both write at one line is not what a counter tells of") {
  auto out = Array<int>::zeros(1);
  auto count = Array<unsigned>::zeros(1);
  const auto work = [&] { all_blocks_write_and_count<<<2, 1>>>(out.data(), count.data()); };
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const std::string told = one_line(observe(work, seed).text());
    CHECK(lacks(told, {"Both threads write out[0] at this line, and the last write wins",
                       "should one block write it, or should an atomic function combine"}) == "");
    CHECK(lacks(told, {"tells that"}) != "");
  }
}

TEST_CASE("a barrier whose line is between those of a race does not come between the accesses") {
  auto out = Array<int>::zeros(64);
  const auto told = [&](auto kernel, std::uint64_t seed) {
    return one_line(observe([&] { kernel<<<1, 64>>>(out.data()); }, seed).text());
  };
  const std::string start = "between the two lines: the write at line ";
  const std::string of_call =
      "), in the next round of a loop or another call of the function, and no";
  const std::string of_round =
      start + std::to_string(kOfNextRound) + " is of a later round of a loop than the ";
  const std::string of_warp_round =
      start + std::to_string(kOfNextWarpRound) + " is of a later round of a loop than the ";
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    CHECK(lacks(told(two_totals, seed), {of_call.c_str()}) == "");
    CHECK(lacks(told(rounds_of_neighbours, seed), {of_round.c_str()}) == "");
    CHECK(lacks(told(rounds_of_lanes, seed),
                {"Both came from the __syncwarp() at ", of_warp_round.c_str()}) == "");
    CHECK(lacks(told(half_a_warp_meets, seed), {"DATA RACE", "Two lanes of one warp, and no"}) ==
          "");
    CHECK(lacks(told(half_a_warp_meets, seed), {"came from"}) != "");
    const std::string by_chance = told(line_between_by_chance, seed);
    CHECK(lacks(by_chance, {"DATA RACE", "(Both threads came from the barrier at "}) == "");
    CHECK(lacks(by_chance, {start.c_str()}) != "");
  }
}

TEST_CASE("a read that follows a write is no read before it") {
  auto out = Array<int>::zeros(64);
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const std::string told =
        one_line(observe([&] { written_then_read<<<1, 64>>>(out.data()); }, seed).text());
    CHECK(lacks(told, {"DATA RACE", "no __syncwarp()"}) == "");
    CHECK(lacks(told, {"in the next round"}) != "");
  }
}

TEST_CASE("one statement reads, changes and writes") {
  auto total = Array<int>::zeros(1);
  for (const int blocks : {1, 2}) {
    CHECK(told_otherwise({kSentences[18],
                          "If both are meant to change total[0]: use an atomic function such as "
                          "atomicAdd, atomicMax or atomicCAS. If not: give each thread an index"},
                         [&] { add<<<blocks, 2>>>(total.data()); }) == "");
  }
}

TEST_CASE("a test, and a store at another line") {
  auto most = Array<int>::zeros(1);
  const Array<int> x(std::vector<int>{5, 7});
  const std::string lines = "reads most[0] (line " + std::to_string(kLook) +
                            ") and writes it (line " + std::to_string(kStore) + ")";
  const std::string missing =
      " missing between line " + std::to_string(kLook) + " and line " + std::to_string(kStore);
  const std::string start = "If the write is meant to come when all have read: is ";
  const std::string in_warp = start + "a barrier" + missing +
                              ", __syncwarp() if one warp reads it, __syncthreads() if several do?";
  CHECK(
      told_otherwise({lines, kSentences[19], "such as atomicCAS, atomicMax or atomicAdd.", in_warp},
                     [&] { raise_to<<<1, 2>>>(most.data(), x.data()); }) == "");
  std::vector<int> last(33);
  last.back() = 7;  // the one lane of the second warp writes what all of the first read
  const Array<int> of_warps(last);
  auto word = Array<int>::zeros(1);
  CHECK(told_otherwise({kSentences[19], start + "a __syncthreads()" + missing + "?"},
                       [&] { raise_to<<<1, 33>>>(word.data(), of_warps.data()); }) == "");
  auto of_blocks = Array<int>::zeros(1);
  CHECK(
      told_otherwise({"of_blocks[0] (line", kSentences[19], "give each thread an index of its own"},
                     [&] { raise_to<<<2, 1>>>(of_blocks.data(), x.data()); }) == "");
  auto keys = Array<int>::zeros(64);
  CHECK(told_otherwise({kSentences[19]}, [&] { insert<<<1, 2>>>(keys.data()); }) == "");
}

TEST_CASE("a loop that has no barrier at the end of a round") {
  auto out = Array<int>::zeros(64);
  const std::string lines = "Block 0 thread 0 has read s_round itself (line " +
                            std::to_string(kLastRead) + ") and gone on to write it (line " +
                            std::to_string(kNewRound) +
                            "), in the next round of a loop or another call";
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    CHECK(told_otherwise(
              {lines, "call __syncthreads() after the read, before the next write."},
              [&] { rounds_without_second_barrier<<<1, 64>>>(out.data()); }, seed) == "");
  }
}

TEST_CASE("levels of a tree without barriers are no updates of one element") {
  auto out = Array<int>::zeros(1);
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    CHECK(told_otherwise(
              {"came between the two accesses",
               "(Both threads came from the barrier at common/simt/tests/race_causes_test.cu:"},
              [&] { tree_without_barriers<<<1, 64>>>(out.data()); }, seed) == "");
  }
}

// ---- no order at all ----------------------------------------------------------------------------

namespace {

__global__ void read_neighbour(int* x, int* y) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  x[i] = 1;
  y[i] = x[(i + blockDim.x) % (gridDim.x * blockDim.x)];
}

/// An index of a wrong stride: threads of equal rank meet, at an element of another rank.
template <unsigned first>
__global__ void wrong_stride(int* x) {
  x[8 * threadIdx.x + first] = static_cast<int>(blockIdx.x);
}
/// The index comes from an atomic, which blocks do not share.
__global__ void counter_of_the_block(int* x) {
  __shared__ int s_next;
  if (threadIdx.x == 0) s_next = 0;
  __syncthreads();
  x[atomicAdd(&s_next, 1)] = static_cast<int>(blockIdx.x);
}

}  // namespace

TEST_CASE("blocks that write one number") {
  Array<int> x(1);
  CHECK(
      told_otherwise({"Both are thread 0 of their block: should one block write it, or should an"},
                     [&] { wrong_stride<0><<<2, 1>>>(x.data()); }) == "");
}

TEST_CASE("blocks that nothing orders") {
  Array<int> x(64), y(64);
  CHECK(told_otherwise({kSentences[20]}, [&] { read_neighbour<<<2, 32>>>(x.data(), y.data()); }) ==
        "");
}

TEST_CASE("threads of equal rank are asked for blockIdx only at the element of their rank") {
  Array<int> x(64);
  CHECK(told_otherwise({"Should each thread have an element of its own, or should an atomic"},
                       [&] { wrong_stride<4><<<2, 2>>>(x.data()); }) == "");
  CHECK(told_otherwise({"Should each thread have an element of its own, or should an atomic"},
                       [&] { counter_of_the_block<<<2, 32>>>(x.data()); }) == "");
}
