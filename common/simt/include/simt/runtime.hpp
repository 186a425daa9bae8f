// What the device headers ask of the runtime library: the running thread, barriers, warp-wide
// operations, and the announcement of atomics. Nothing here is part of CUDA.
#pragma once

#include <cstddef>
#include <cstdint>

#include "simt/element_type.hpp"

namespace simt {

/// True while a kernel's thread runs, false in host code.
bool in_kernel();
/// Lane of the running thread in its warp, 0 to 31.
unsigned lane_id();

// ---- warp-wide operations ------------------------------------------------------------------

struct WarpCall;

/// The lanes that take part in one warp-wide operation; lane l is absent where call[l] is null.
struct Lanes {
  unsigned mask;     // what the callers named
  unsigned present;  // those of them that have not returned from the kernel
  WarpCall* call[32];
};

/// What an operation is, for traces. `part`: of an operation that the trace has already.
enum class WarpOp : unsigned char { part, sync, vote, match, shuffle, reduce };

/// One lane's part in a warp-wide operation. Lives on the stack of the calling thread until every
/// lane of `mask` that still runs has made the same call.
struct WarpCall {
  WarpOp op;
  const char* name;              // "__shfl_sync()": what messages call it, and part of its identity
  unsigned mask;                 // lanes that take part
  void (*finish)(const Lanes&);  // computes `out` of every present lane; pure, runs once
  const void* caller;            // SIMT_CALLER of the public function
  bool orders_memory = false;    // __syncwarp() and what is built on it; shuffles do not
  int argument = 0;              // source lane, predicate, width: the operation's own
  unsigned size = 0;             // of `in`, in bytes
  const void* in = nullptr;      // the lane's value
  void* out = nullptr;           // where the result belongs
};

/// True for the lanes 0 <= lane < 32 that take part.
SIMT_UNINSTRUMENTED inline bool takes_part(const Lanes& lanes, unsigned lane) {
  return (lanes.present >> lane & 1u) != 0;
}

/// Waits for the other lanes of call.mask, then returns with *call.out filled in. Ends the kernel
/// with a message if the mask does not name the caller.
void warp_call(WarpCall& call);

// What follows is warp_call with its arguments. `name` is that of the public function, `caller` where that was called.

/// __syncwarp: the one warp-wide function that also orders memory.
void sync_warp(const char* name, unsigned mask, const void* caller);
/// The lanes whose predicate holds. The caller tells traces of the values.
unsigned ballot(const char* name, unsigned mask, bool predicate, const void* caller,
                WarpOp op = WarpOp::vote);
/// The lanes that bring the same value.
unsigned match_any_value(const char* name, unsigned mask, const TypedValue& value,
                         const void* caller);
/// Copies the value of lane `source` to `result`; an undefined one if that lane takes no part, or is 32 or more.
void shuffle_value(const char* name, unsigned mask, const TypedValue& value, unsigned source,
                   void* result, const void* caller);
/// Copies the value of each lane l, of `size` bytes, to values + l * size. Returns the lanes that have brought one. The caller
/// tells traces of the values.
unsigned gather_values(const char* name, unsigned mask, const void* value, unsigned size,
                       void* values, const void* caller);

/// What a lane gets from one that takes no part, which CUDA leaves undefined: large, not a number,
/// small or zero. It changes from call to call and from seed to seed, so that no program lives on it.
void fill_undefined(unsigned char* bytes, std::size_t size);
/// Lane `lane` of a shuffle has asked for the value of one that takes no part, whose number is its
/// `argument`: a remark, or a finding, as report_absent_lanes() of testing.hpp says.
void read_absent_lane(const Lanes& lanes, unsigned lane);

/// For traces: what the running lane brought to the operation that it has just made, what it got,
/// and from which lane of its warp. What is left out is unknown, or means nothing.
void trace_warp_values(TypedValue given, TypedValue received, int source = -1);
/// A set of lanes, which traces print as such.
struct LaneMask {
  unsigned lanes;
};

/// __activemask(): the lanes of the warp that wait at this call together.
unsigned active_mask(const char* name, const void* caller);

/// A remark that is shown only when a check fails anyway, such as "reads a lane that returned".
void note(const char* text, const void* caller);

// ---- block-wide barrier ---------------------------------------------------------------------

struct BarrierResult {
  int count;  // threads whose predicate was not 0
  int all;    // 1 if that is every thread that arrived
};
/// __syncthreads() and similar functions: waits for every thread of the block that has not returned.
BarrierResult block_barrier(const char* name, int predicate, const void* caller);
/// grid_group::sync(): waits for every thread of the launch. It must be a cooperative one.
void grid_barrier(const void* caller);
/// The same in two parts: grid_group::barrier_arrive() and barrier_wait().
void grid_arrive(const void* caller);
void grid_wait(const void* caller);
bool is_cooperative_launch();
}  // namespace simt
/// In the library, because nothing else switches threads as often.
void __syncthreads();
namespace simt {
/// The running thread is about to leave the kernel by a `return`; the rewriter adds the call. A
/// barrier goes on without such a thread, but not without one that went past it.
void leave_kernel();

/// `thread`: only with cuda::atomic; such an operation is an ordinary load, store, or both.
enum class Scope : unsigned char { thread, block, device, system };
/// What a fence belongs to: a memory order has one before its operation, or after it.
enum class FenceOf : unsigned char { itself, release, acquire };
/// __threadfence_block(), __threadfence(), __threadfence_system().
void fence(Scope scope, const char* name, const void* caller, FenceOf of = FenceOf::itself);

/// Loads and stores that do not race, and order nothing.
enum class RelaxedAccess : unsigned char {
  volatile_load,
  atomic_load,
  volatile_store,
  atomic_store
};

// ---- memory -----------------------------------------------------------------------------------

/// What a generic address can mean. Addresses of the host count as global, as on a GPU.
enum class AddressSpace : unsigned char { global, shared, constant, local };
AddressSpace space_of(const void* p);
/// The address of shared memory within that of the running block, in 32 bits, and back. Null if it is
/// none, or if nothing is there.
std::size_t shared_offset(const void* p);
void* shared_address(std::size_t offset);

enum class AtomicKind : unsigned char {
  read_modify_write,
  exchange,         // writes whatever was there: legal on memory that nothing has written
  compare_and_swap  // pass the expected value
};

/// An atomic function as the program calls it.
struct AtomicCall {
  const char* name;  // "atomicAdd"
  Scope scope;
  const void* caller;       // SIMT_CALLER of the public function
  bool is_awaited = false;  // by the block in whose shared memory it is
};

/// Announces an atomic access to the scheduler (which may switch threads first), the checker and
/// the counters. On return the caller reads and writes *address as ordinary memory: no other
/// thread can run in between. Does not return if the access is illegal.
void atomic_access(void* address, std::size_t size, AtomicKind kind, const AtomicCall& call,
                   const void* expected = nullptr);

/// What an atomic worked with, for traces: three objects of one type. Null where there is none.
struct AtomicValues {
  ElementType type;
  const void* old;                 // what was there
  const void* operand;             // what the function combines it with, or replaces it by
  const void* expected = nullptr;  // of a compare-and-swap
};
/// Must follow every atomic_access once the new value is stored; `changed` tells a loop that makes
/// no progress from one that does.
void atomic_done(bool changed, const AtomicValues& values);

// ---- asynchronous copies ----------------------------------------------------------------------

/// memcpy_async(): of `size` bytes so many are read, and the rest becomes 0. They move in pieces of the
/// alignment, at most 16 bytes; 0: as the addresses and the size allow.
struct CopyRequest {
  void* to;
  const void* from;
  std::size_t size, read, alignment;
  bool bulk = false;  // by cp.async.bulk: no request of a warp
};
/// Begins a copy: part of the running thread's batch, or bound to a barrier.
void begin_copy(const CopyRequest& request, const void* barrier, const void* caller);
/// Ends the running thread's batch.
void commit_copies();
/// Waits for all of the running thread's batches but the newest ones.
void wait_for_copies(unsigned newest);
/// The barrier's phase is about to end: what was bound to it is there.
void complete_copies(const void* barrier);

// ---- bulk operations: simt/bulk.hpp ------------------------------------------------------------

/// Begins to copy `size` bytes from global memory, bound to a barrier in shared memory.
void begin_bulk_load(void* to, const void* from, std::size_t size, const void* barrier,
                     const void* caller);
/// Begins to store `size` bytes, a multiple of 4, in shared memory of the cluster.
void begin_async_store(void* to, const void* value, std::size_t size, const void* barrier,
                       const void* caller);
/// Binds that store to the barrier, which is in the same block's shared memory: its phase counts the bytes.
void bind_async_store(void* to, const void* value, std::size_t size, const void* barrier,
                      const void* caller);
/// Adds 16 bytes of numbers to as many: to[i] += from[i].
using AddPiece = void (*)(void* to, const void* from);
/// Begins to add `size` bytes of shared memory to global memory: part of the running thread's group.
void begin_bulk_add(void* to, const void* from, std::size_t size, AddPiece add, const void* caller);
void commit_bulk_group();
/// Waits for all of the running thread's groups but the newest ones.
void wait_for_bulk_groups(unsigned newest);
/// The scope of what the running block's barriers order: other blocks of its cluster may use them, too.
Scope mbarrier_scope();
/// The barrier's phase is to wait for so many bytes more.
void expect_bytes(const void* barrier, unsigned bytes);
/// If no arrival is missing, and all bytes have come that the phase waits for: the loads are complete, the
/// next phase begins, and it returns true. Low half of `counts`: missing arrivals; high half: those of a phase.
bool complete_phase(unsigned* counts, const AtomicCall& call);
/// Shared memory that this thread has written, or knows to be written, may be read by bulk operations.
void bulk_fence();

// ---- loads and variables --------------------------------------------------------------------------

/// What loads memory that no thread may write in the same launch.
enum class ReadPath : unsigned char { ldg, texture };
/// Announces such a load.
void read_only_load(const void* address, std::size_t size, const void* caller, ReadPath path);

/// Storage of a `__shared__` variable of the running block; the rewriter calls it through
/// simt::shared (launch.hpp). `key` tells variables apart.
struct SharedVariable {
  const char* name;
  std::size_t size;
  ElementType element;
  std::size_t extents[3];  // of an array; 0 beyond its dimensions
};
void* block_shared(const void* key, const SharedVariable& variable, const void* caller);
/// Start of the dynamic shared memory of the running block, null if the launch gave none.
void* dynamic_shared(const char* name, ElementType element);

/// A `__device__`, `__constant__` or `__managed__` variable, made known so that kernels may use it.
enum class GlobalKind : unsigned char { device, constant, managed };
struct GlobalVariable {
  GlobalVariable(const char* name, void* address, std::size_t size, ElementType element,
                 GlobalKind kind);
};
/// The alignment of an instance of a template of variables, which needs what makes the instance known:
/// a compiler makes both where one is used.
template <GlobalVariable&>
inline constexpr std::size_t kKnown = 256;

/// Stops the running kernel: prints `message` with the thread's name and makes `error` sticky.
[[noreturn]] void trap(const char* message, int error, const void* caller);

/// The clock of the CPU device: steps of the scheduler so far. For a line that asks again and again it
/// runs faster and faster: a loop that waits for a time ends soon.
unsigned long long clock_ticks(const void* caller);
/// Of a state of XORWOW (curand_kernel.h) what comes so many steps and sequences of 2^67 steps later.
void skip_xorwow(unsigned (&v)[5], unsigned long long steps, unsigned long long sequences);
/// Lets other threads run.
void yield();
/// The same, and further blocks start: a thread that sleeps may wait for one of them (__nanosleep).
void sleep_briefly();

}  // namespace simt
