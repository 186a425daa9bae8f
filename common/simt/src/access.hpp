// The rules of one access, inline: the compiler's hooks (hooks.cpp) put them together for each size
// and kind, and every load and store of a kernel runs through them. What happens rarely, such as a
// report, is a call (checker.cpp).
//
// Two accesses to the same bytes race if one of them writes, not both are atomic, and nothing
// orders them. What orders in CUDA: the program order of a thread, __syncwarp() among its lanes,
// __syncthreads() in a block, the end of a kernel, and fences with atomics (fences.cpp). Shuffles
// and votes do not.
#pragma once

#include <algorithm>
#include <array>
#include <cstring>

#include "engine.hpp"
#include "trace.hpp"

// The section that holds threadIdx, blockIdx, blockDim and gridDim (scheduler.cpp); the linker
// defines these two.
extern "C" const char __start_simt_built_in[], __stop_simt_built_in[];

namespace simt {

constexpr unsigned kPreemptAtAccess = 8, kPreemptAtAtomic = 4;

#define SIMT_HOT inline __attribute__((always_inline))
// Not `cold`: what is optimised for size calls more of the standard library's templates, and the
// linker may take the kernel's instrumented copies of these (see OutOfSight).
#define SIMT_RARE __attribute__((noinline))

// Four bytes of anything, at any address: most accesses have this size, and for a size that is
// known only at run time memcpy and memset are calls.
using Word [[gnu::may_alias, gnu::aligned(1)]] = std::uint32_t;
constexpr std::uint32_t kFourInitialised = 0x01010101;  // a flag for each of four bytes

enum class Kind : unsigned char { read, write, atomic, volatile_read, volatile_write };

constexpr bool writes(Kind k) { return k != Kind::read && k != Kind::volatile_read; }
constexpr bool is_atomic(Kind k) { return k != Kind::read && k != Kind::write; }

/// One side of a race.
struct Side {
  Access access;
  Kind kind;
};

/// Two plain writes that race are a mistake unless both write the same value, which is common for
/// flags and harmless on a GPU. The new value is known only after the store.
struct SuspectedWrite {
  bool pending = false;
  std::uintptr_t address = 0;
  std::size_t size = 0;
  std::array<unsigned char, 16> old{};
  Access earlier, now;
  Thread* thread = nullptr;
};
extern SuspectedWrite suspect;

// ---- what is rare: checker.cpp
// --------------------------------------------------------------------

SIMT_RARE void report_uninitialised(std::uintptr_t address, Kind kind, const void* caller);
SIMT_RARE void report_read_conflict(Thread& t, std::size_t slot);
[[noreturn]] SIMT_RARE void stop_illegal(std::uintptr_t address, std::size_t size, Kind kind,
                                         const void* caller);
[[noreturn]] SIMT_RARE void stop_misaligned(std::uintptr_t address, std::size_t size, Kind kind,
                                            const void* caller);
/// The thread comes back to an address it has read: an atomicCAS that expects the value read makes
/// the read part of the atomic operation, anything else leaves it a plain read.
SIMT_RARE void settle_read(Thread& t, std::size_t slot, const void* expected);
/// An access that something the cell remembers is not ordered before: is it a race?
struct Now {
  Kind kind;
  std::uint8_t flags;  // kAtomic and so on
  std::uint32_t pc;
  std::uintptr_t whole;  // address and size of all of it; the cell has a part of that
  std::size_t size;
};
SIMT_RARE void judge_read(const Cell& cell, std::uintptr_t address, Thread& t, const Now& now);
SIMT_RARE void judge_write(const Cell& cell, std::uintptr_t address, Thread& t, const Now& now);
/// A kernel's access to memory that is neither in the arena nor its own: read-only data and
/// registered variables are legal.
Allocation* check_foreign(std::uintptr_t address, std::size_t size, Kind kind, const void* caller);
/// Is it a race with a launch of another device?
SIMT_RARE void check_far(Allocation& a, std::uintptr_t address, std::size_t size, Kind kind,
                         Scope scope, const char* function, const void* caller, Thread& t);
SIMT_RARE void park_for(const Allocation& a, std::uintptr_t address, std::size_t size,
                        AccessKind kind, const char* name, std::uint32_t depth, const void* caller);
/// Host code may reach managed and pinned memory, and nothing else of the device.
void check_host_access(std::uintptr_t address, std::size_t size, bool write, const void* caller);

// ---- lockstep: how deep in its calls a lane stands
// ------------------------------------------------

// Which of two diverged groups goes first follows from the bytes of stack that the kernel uses and,
// in one function, from what they are about to do. Counts and traces of diverged warps hang on
// these numbers. (They are what the runtime's own frames took when it was first measured.)
constexpr std::uint32_t kDepthOfJump = 64, kDepthOfFence = 80, kDepthOfAtomic = 304,
                        kDepthOfVolatile = 336, kDepthOfAccess = 656;

/// For the function that the kernel has called, which this becomes a part of.
SIMT_HOT std::uint32_t depth_here(std::uint32_t of_what) {
  const auto here = static_cast<const char*>(__builtin_frame_address(0));
  return static_cast<std::uint32_t>(engine.current->fiber.top - here) + of_what;
}

// ---- happens-before
// -------------------------------------------------------------------------------

SIMT_HOT bool ordered(const Access& earlier, const Thread& t) {
  if (earlier.thread == t.id) return true;
  if (block_of(earlier.thread) == block_of(t.id)) {
    const std::uint32_t clock = earlier.clock >> kClockShift;
    if (clock < t.block->barrier_clock) return true;
    const bool same_warp = warp_of(earlier.thread) == warp_of(t.id);
    if (same_warp && t.lanes_seen[lane_of(earlier.thread)] >= clock) return true;
  }
  return ordered_by_fences(earlier, t);
}

SIMT_HOT bool conflicts(const Access& earlier, const Thread& t) {
  return earlier.pc != 0 && !ordered(earlier, t);
}

// ---- compare-and-swap loops
// -----------------------------------------------------------------------

SIMT_HOT std::uint64_t value_at(std::uintptr_t address, std::size_t size) {
  if (size == 4) return *reinterpret_cast<const Word*>(address);
  std::uint64_t value = 0;
  std::memcpy(&value, reinterpret_cast<const void*>(address), std::min<std::size_t>(size, 8));
  return value;
}

/// Remembers a plain read; the oldest of four is let go, and reported if an atomic raced with it.
SIMT_HOT void remember_read(Thread& t, std::uintptr_t address, std::size_t size, std::uint32_t pc) {
  const std::size_t slot = t.next_recent++ % kRecentReads;
  RecentReads& r = t.recent;
  if (r.address[slot] != 0 && r.conflict[slot]) report_read_conflict(t, slot);
  r.address[slot] = address;
  r.conflict[slot] = false;
  r.value[slot] = value_at(address, size);
  r.size[slot] = static_cast<std::uint8_t>(size);
  r.pc[slot] = pc;
}

SIMT_HOT void settle_recent_read(Thread& t, std::uintptr_t address, const void* expected) {
  for (std::size_t slot = 0; slot < kRecentReads; ++slot) {
    if (t.recent.address[slot] == address) settle_read(t, slot, expected);
  }
}

// ---- one access
// -----------------------------------------------------------------------------------

/// What a cell will remember of an access.
SIMT_HOT Access record(const Thread& t, const Now& now) {
  return {t.id, t.now() << kClockShift | now.flags, now.pc};
}

SIMT_HOT void check_read(Cell& cell, std::uintptr_t address, Thread& t, const Now& now) {
  if (conflicts(cell.write, t) || (now.kind == Kind::read && conflicts(cell.atomic, t))) {
    judge_read(cell, address, t, now);
  }
  Access& last = cell.last_read;
  if (last.pc != 0 && last.thread != t.id) {
    const bool foreign_block = block_of(last.thread) != block_of(t.id);
    const bool foreign_warp = warp_of(last.thread) != warp_of(t.id);
    const bool keep = cell.other_warp.pc != 0 &&
                      block_of(cell.other_warp.thread) != block_of(t.id) && !foreign_block;
    if (foreign_warp && !keep) cell.other_warp = last;
    cell.other_thread = last;
  }
  last = record(t, now);
}

SIMT_HOT void check_write(Cell& cell, std::uintptr_t address, Thread& t, const Now& now) {
  if (conflicts(cell.write, t) || conflicts(cell.atomic, t) || conflicts(cell.last_read, t) ||
      conflicts(cell.other_thread, t) || conflicts(cell.other_warp, t)) {
    judge_write(cell, address, t, now);
  }
  (is_atomic(now.kind) ? cell.atomic : cell.write) = record(t, now);
}

constexpr unsigned granule_shift_of(std::size_t size) {
  return size % 4 == 0 ? 2 : size % 2 == 0 ? 1 : 0;
}

SIMT_HOT void check_cells(Allocation& a, std::uintptr_t address, std::size_t size, Kind kind,
                          std::uint8_t flags, const void* caller, Thread& t) {
  const unsigned shift = granule_shift_of(size | (address & 3));
  if (shift < a.granule_shift) refine_shadow(a, shift);
  if (a.cells == nullptr) ensure_shadow(a);
  const std::uint32_t generation = a.space == Space::shared ? a.generation : engine.launch_number;
  const Now now{kind, flags, pc_of(caller), address, size};
  const std::size_t first = (address - a.begin) >> a.granule_shift;
  const std::size_t last = (address + size - 1 - a.begin) >> a.granule_shift;
  for (std::size_t i = first; i <= last; ++i) {
    Cell& cell = a.cells[i];
    if (cell.generation != generation) {
      cell = Cell{};
      cell.generation = generation;
    }
    const std::uintptr_t at = a.begin + (i << a.granule_shift);
    if (writes(kind)) {
      check_write(cell, at, t, now);
    } else {
      check_read(cell, at, t, now);
    }
  }
}

SIMT_HOT void set_initialised(Allocation& a, std::uintptr_t address, std::size_t size) {
  std::uint8_t* flag = a.initialised + (address - a.begin);
  if (size == 4) {
    *reinterpret_cast<Word*>(flag) = kFourInitialised;
  } else {
    std::memset(flag, 1, size);
  }
}

SIMT_HOT bool all_initialised(const Allocation& a, std::uintptr_t address, std::size_t size) {
  const std::uint8_t* flag = a.initialised + (address - a.begin);
  if (size == 4) return *reinterpret_cast<const Word*>(flag) == kFourInitialised;
  return std::all_of(flag, flag + size, [](std::uint8_t f) { return f != 0; });
}

/// Nobody else has to do with it: threadIdx and its kin, and the thread's own stack.
SIMT_HOT bool is_its_own(std::uintptr_t address) {
  const auto built_in = reinterpret_cast<std::uintptr_t>(__start_simt_built_in);
  const auto built_in_end = reinterpret_cast<std::uintptr_t>(__stop_simt_built_in);
  return address - built_in < built_in_end - built_in || on_this_stack(address);
}

/// The allocation of a legal access; null where there is nothing more to check.
SIMT_HOT Allocation* find_target(std::uintptr_t address, std::size_t size, Kind kind,
                                 const void* caller) {
  const std::uintptr_t offset = address - arena.begin;
  if (offset >= arena.size) {
    return is_its_own(address) ? nullptr : check_foreign(address, size, kind, caller);
  }
  Allocation* a = arena.page[offset >> kPageBits];
  if (a == nullptr || !a->live || address + size > a->end() ||
      (engine.reachable >> a->owner & 1) == 0) {
    stop_illegal(address, size, kind, caller);
  }
  const bool power_of_two = (size & (size - 1)) == 0;
  if (power_of_two && size <= 16 && (address & (size - 1)) != 0) {
    stop_misaligned(address, size, kind, caller);
  }
  return a;
}

SIMT_HOT void access(std::uintptr_t address, std::size_t size, Kind kind, Scope scope,
                     const void* caller) {
  Allocation* a = find_target(address, size, kind, caller);
  if (a == nullptr) return;
  Thread& t = *engine.current;
  if (engine.lockstep) {
    park_for(*a, address, size, writes(kind) ? AccessKind::write : AccessKind::read, nullptr,
             depth_here(is_atomic(kind) ? kDepthOfVolatile : kDepthOfAccess), caller);
  }
  maybe_preempt(kPreemptAtAccess);
  if (suspect.pending) checker_settle_writes();
  if (is_atomic(kind)) fence_atomic(t, address);
  if (writes(kind)) {
    set_initialised(*a, address, size);
    engine.fruitless = 0;
    if (a->space != Space::shared) t.block->barriers = 0;
  } else if (!all_initialised(*a, address, size)) {
    report_uninitialised(address, kind, caller);
  }
  if (t.conflicts > 0 || kind != Kind::read) settle_recent_read(t, address, nullptr);
  if (kind == Kind::read && size <= 8) remember_read(t, address, size, pc_of(caller));
  check_cells(*a, address, size, kind, is_atomic(kind) ? kAtomic : 0, caller, t);
  if (engine.across) check_far(*a, address, size, kind, scope, nullptr, caller, t);
  if (engine.tracing) trace_access(t, address, size, writes(kind));
}

/// Loads and stores of a size that is known to the compiler.
template <std::size_t size, Kind kind>
__attribute__((noinline)) void access_of(std::uintptr_t address, const void* caller) {
  access(address, size, kind, Scope::device, caller);
}

/// A load or store of the running thread, or of host code. What needs no check costs nothing here:
/// no register is saved before it is known that there is something to check.
template <std::size_t size, Kind kind>
SIMT_HOT void check_access(std::uintptr_t address, const void* caller) {
  if (engine.current == nullptr) {
    check_host_access(address, size, writes(kind), caller);
  } else if (!engine.out_of_sight && !is_its_own(address)) {
    access_of<size, kind>(address, caller);
  }
}

/// The same for any size, out of line.
void check_any_access(std::uintptr_t address, std::size_t size, bool write, const void* caller);

}  // namespace simt
