// Threads, warps and blocks of the running launch: what every layer above keeps of them.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <type_traits>
#include <vector>

#include "base/access.hpp"
#include "kernel/fiber.hpp"
#include "memory/allocations.hpp"
#include "memory/shadow.hpp"
#include "simt/runtime.hpp"
#include "simt/vector_types.hpp"

namespace simt {

// ---- what the checker remembers of a thread -----------------------------------------------------

/// A plain read that an atomicCAS expecting the value read may yet turn into the first step of a
/// compare-and-swap loop. Until then a conflict with an atomic is held back.
constexpr std::size_t kRecentReads = 4;
struct RecentReads {
  std::array<std::uintptr_t, kRecentReads> address{};  // 0: empty
  std::array<bool, kRecentReads> conflict{};
  // These mean nothing where the address is 0, and are not made anew.
  std::array<std::uint8_t, kRecentReads> size;
  std::array<std::uint32_t, kRecentReads> pc;
  std::array<std::uint64_t, kRecentReads> value;
};
/// A plain read of what the thread has then written itself.
struct ReadBeforeWrite {
  std::uintptr_t address = 0;
  std::uint32_t pc = 0;
  std::uint32_t clock = 0;  // at the write
};
/// A read of memory that another thread may change; see scheduler/polling.hpp.
struct Poll {
  std::uintptr_t address = 0;
  std::uint64_t value = 0;
  std::uintptr_t reads = 0;  // sum of the addresses of the recent plain reads
};
/// What such a read conflicts with: an atomic, or that of another device.
struct HeldBack {
  Access other;
  CrossAccess cross;
};

// ---- what lockstep, counters and traces keep of it ----------------------------------------------

/// The instruction that a lane is about to execute. size 0: a fence or a jump target.
struct Parked {
  const void* pc = nullptr;
  const char* name = nullptr;  // of a fence, an atomic or __activemask()
  std::uintptr_t address = 0;
  std::uint32_t size = 0;
  std::uint32_t depth = 0;  // bytes of stack in use: callees run before their callers go on
  AccessKind kind = AccessKind::none;
  bool shared = false;
  std::uint64_t since = 0;  // Warp::releases when it was parked
};

constexpr std::uint32_t kNoEvent = ~std::uint32_t(0);

// ---- threads, warps, blocks ---------------------------------------------------------------------

enum class State : unsigned char {
  ready,
  running,
  at_barrier,
  at_cluster,
  in_warp_call,
  parked,
  done
};

/// For what a block meets. `for_grid`: its thread 0 then tells the grid, or has heard of it.
enum class Meets : unsigned char { block, grid, for_grid };

/// Memory for a T that is not made anew with the thread it lies in: it takes long, and is rarely needed.
template <class T>
class Later {
 public:
  Later() {}
  Later& operator=(const T& value) {
    std::construct_at(&value_, value);
    return *this;
  }
  T* operator->() { return &value_; }
  const T* operator->() const { return &value_; }
  T& operator*() { return value_; }
  const T& operator*() const { return value_; }

 private:
  static_assert(std::is_trivially_copyable_v<T> && std::is_trivially_destructible_v<T>);
  union {
    T value_;
  };
};

struct Block;
struct Cluster;
struct History;  // of atomics and fences: checker/history.hpp

/// A compare_exchange_weak() that has failed without a reason, and that the thread has not repeated yet.
struct WeakFailure {
  std::uintptr_t address = 0;  // 0: none
  const void* caller = nullptr;
};

/// What a thread waits for, on its stack as long as it waits.
struct Waiting {
  const char* name;    // of the barrier
  const void* caller;  // the source line that waits
  char** frame;        // the runtime's frame in which it waits
};

/// What a recycled thread gets anew, all of it, when a block starts.
///
/// A switch from one thread to the next costs what it costs to bring the other's memory into the
/// cache. So what every switch and every access touch comes first, and is one cache line; what
/// reads touch is the two that follow.
struct alignas(64) ThreadState {
  State state = State::ready;
  std::uint8_t lane = 0;
  std::uint8_t warp = 0;
  std::uint8_t next_recent = 0;
  std::uint8_t conflicts = 0;            // recent reads with a conflict held back
  bool knows_lanes = false;              // it has synchronised with lanes of its warp
  std::uint16_t flat = 0;                // rank in its block
  std::uint16_t spins = 0;               // atomics and volatile reads that changed nothing
  std::array<std::uint16_t, 3> index{};  // threadIdx
  std::uint32_t id = 0;
  std::uint32_t clock = 1;  // of happens-before; see now()
  Block* block = nullptr;
  Fiber fiber;                            // none before it starts
  const Waiting* waiting = nullptr;       // while it waits
  const char* last_collective = nullptr;  // since the last barrier: orders no memory

  RecentReads recent;
  std::uintptr_t end_of_kernel = 0;  // the frame on its stack from which the kernel is called
  WarpCall* call = nullptr;          // in_warp_call; null means __activemask()
  std::uint64_t call_path = 0;       // __activemask(): hash of the return addresses
  unsigned active_result = 0;        // __activemask(): its result
  std::uint32_t traced = kNoEvent;   // trace: the event of its last instruction
  const void* left_by = nullptr;     // the `return` by which it left the kernel
  bool is_excused = false;           // from the barriers that are still to come

  History* history = nullptr;          // none before its first event
  const char* relaxed_name = nullptr;  // of the relaxed load or store that is being done
  ReadBeforeWrite read_before_write;
  std::array<Poll, 2> polls{};      // the latest first
  std::uint8_t repeated_polls = 0;  // in a row that found nothing new

  // Phases of the cluster's barrier that it has arrived for, waited for, and told by a fence.
  std::uint32_t cluster_arrived = 0, cluster_known = 0, cluster_told = 0;
  std::uint32_t grid_arrived = 0, grid_known = 0;  // the same of grid_group::barrier_arrive()
  std::uint32_t proxy_fence = 0;  // its clock at its last fence for bulk operations ...
  std::uint32_t proxy_ticks = 0;  // ... and how often an atomic has moved it on since
  WeakFailure weak_failure;
  std::uint32_t repeats =
      0;  // the watch that found it to repeat itself; see scheduler/repetition.hpp
};

struct Thread : ThreadState {
  // recent.conflict and State::parked say whether there are values.
  std::array<Later<HeldBack>, kRecentReads> held_back;
  Later<Parked> parked;

  /// The thread's time: a block barrier moves all its threads on at once.
  inline std::uint32_t now() const;
  /// The clock of a lane of its warp that it has synchronised with, or 0.
  std::uint32_t seen(unsigned lane) const { return knows_lanes ? lanes_seen_[lane] : 0; }
  void see(const std::array<std::uint32_t, kWarpSize>& clocks) {
    lanes_seen_ = clocks;
    knows_lanes = true;
  }

 private:
  std::array<std::uint32_t, kWarpSize> lanes_seen_;  // not made anew: see knows_lanes
};

struct Warp {
  unsigned alive = 0;                 // lanes that have not returned
  unsigned runnable = 0;              // number of lanes that neither wait nor are done
  unsigned waiting = 0;               // lanes in a warp call or __activemask()
  std::uint64_t releases = 0;         // lockstep: groups let go so far
  std::uint64_t requests = 0;         // lockstep: loads and stores of global memory so far
  std::uint64_t shared_requests = 0;  // lockstep: loads, stores and atomics of shared memory so far
  // The last __syncwarp(), or what is built on it, since the last barrier of the block: how it is called, where, and by which lanes.
  const char* last_sync = nullptr;
  const void* last_sync_at = nullptr;
  unsigned last_sync_lanes = 0;
};

struct SharedInstance {
  const void* key;
  Allocation* memory;
};

/// What a recycled block gets anew, all of it.
struct BlockState {
  uint3 index{};
  unsigned linear = 0;
  Allocation* dynamic = nullptr;
  const char* dynamic_name = nullptr;    // as the thread called it that asked last
  const char* without_memory = nullptr;  // an extern __shared__ array that the launch forgot
  unsigned alive = 0;
  unsigned excused = 0;             // threads that have ended, and need not come to a barrier
  std::ptrdiff_t kernel_depth = 0;  // of the kernel's frame in a stack, once a `return` has told
  unsigned arrived = 0;             // threads at the barrier
  std::uint64_t barriers = 0;       // since the block wrote to global memory
  bool backwards = false;           // who goes first after it; see finish_barrier
  bool has_late_stores = false;     // see checker/late_stores.hpp
  bool is_active = true;            // its threads are in the queue; see scheduler/schedule.hpp
  const void* meeting = nullptr;    // where the first of them waits
  const void* last_meeting = nullptr;
  bool scattered = false;          // some wait elsewhere
  Meets meets = Meets::block;      // of the barrier being filled
  bool waits_for_grid = false;     // all of them wait in it
  int predicate_count = 0;         // of the barrier being filled
  BarrierResult barrier_result{};  // of the last one
  Cluster* cluster = nullptr;      // null in a launch without clusters
  std::uint32_t cluster_rank = 0;
  std::uint32_t cluster_waited = 0;  // the latest phase that a thread has waited for ...
  std::uint32_t cluster_known = 0;   // ... and that a barrier of the block has told all threads
  std::uint32_t clock = 1;           // the latest of its threads' clocks
  std::uint32_t barrier_clock = 1;   // accesses with a smaller clock came before the last barrier
  std::uint64_t requests = 0;        // lockstep: loads and stores of global memory so far
};

struct Block : BlockState {
  // Their memory stays.
  std::vector<Thread> threads;
  std::vector<Thread*> held;  // that can run, while the block is not active
  std::vector<Warp> warps;
  std::vector<SharedInstance> shared;

  Warp& warp_of(const Thread& t) { return warps.data()[t.warp]; }
  Thread* lane(unsigned warp, unsigned l) {
    const std::size_t i = warp * kWarpSize + l;
    return i < threads.size() ? &threads[i] : nullptr;
  }
};

inline std::uint32_t Thread::now() const {
  return clock > block->barrier_clock ? clock : block->barrier_clock;
}
/// Moves a thread on: what it does from here on is later than what others have synchronised with.
inline void tick(Thread& t) {
  t.clock = t.now() + 1;
  if (t.clock > t.block->clock) t.block->clock = t.clock;
}

}  // namespace simt
