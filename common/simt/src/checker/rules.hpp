// The rules of one access, inline: the compiler's hooks (device/hooks.cpp) put them together for
// each size and kind, and every load and store of a kernel runs through them. What happens rarely is
// a call: rules.cpp.
//
// Two accesses to the same bytes race if one of them writes, not both are atomic, and nothing
// orders them. What orders in CUDA: the program order of a thread, __syncwarp() among its lanes,
// __syncthreads() in a block, the end of a kernel, and fences with atomics (fences.cpp). Shuffles
// and votes do not.
#pragma once

#include <algorithm>
#include <array>
#include <cstring>

#include "base/inlining.hpp"
#include "base/program.hpp"
#include "checker/fences.hpp"
#include "checker/messages.hpp"
#include "kernel/engine.hpp"
#include "memory/shadow.hpp"

namespace simt {

// Four bytes of anything, at any address: most accesses have this size, and for a size that is
// known only at run time memcpy and memset are calls.
using Word [[gnu::may_alias, gnu::aligned(1)]] = std::uint32_t;
constexpr std::uint32_t kFourInitialised = 0x01010101;  // a flag for each of four bytes

/// The access that is about to happen.
struct NowAccess {
  AccessKind kind;
  std::uint8_t flags;  // kAtomic and so on
  std::uint32_t pc;
  std::uintptr_t whole;  // address and size of all of it; the cell has a part of that
  std::size_t size;
};

// ---- what is rare: rules.cpp --------------------------------------------------------------------

void checker_start_launch();
void checker_end_thread(Thread& t);
/// The thread is about to do an atomic operation there, or (0) ends: leaves a clue if its last
/// compare_exchange_weak() has failed without a reason, and this is not the same one again.
void settle_weak_failure(Thread& t, std::uintptr_t address, const void* caller);
void checker_barrier(Block& block);
/// All threads of the launch have met: whatever they did comes before what they do from here on.
void checker_grid_barrier();
void checker_warp_sync(Block& block, unsigned warp, unsigned lanes);

/// True if a write waits to be judged by the value that it has left, or if a load was given an old
/// value that must not stay.
extern bool access_is_open;
/// Threads whose last compare_exchange_weak() has failed without a reason, and which have not repeated it.
extern unsigned open_weak_failures;
/// Decides whether a suspected write race wrote the same value twice, and restores the place of a late
/// store. Called whenever a thread enters the runtime, because only then the access that follows the
/// check has happened.
void checker_settle_access();
/// True if checker_end_thread() has something to do.
inline bool checker_has_open_questions(const Thread& t) {
  return access_is_open || t.conflicts > 0 || open_weak_failures > 0;
}

/// An access that something the cell remembers is not ordered before: is it a race?
SIMT_RARE void judge_read(const Cell& cell, std::uintptr_t address, Thread& t,
                          const NowAccess& now);
SIMT_RARE void judge_write(const Cell& cell, std::uintptr_t address, Thread& t,
                           const NowAccess& now);
/// The same with atomics that later ones have replaced.
SIMT_RARE void judge_replaced_atomics(const AtomicCell& replaced, const Cell& cell,
                                      std::uintptr_t address, Thread& t, const NowAccess& now);
/// A granule that __ldg() has read is written.
SIMT_RARE void judge_read_only(const ReadOnlyCell& load, std::uintptr_t address, const Thread& t,
                               const NowAccess& now);
/// A plain read that was held back is let go: the atomic that it conflicts with raced with it.
SIMT_RARE void report_read_conflict(Thread& t, std::size_t slot);
/// The thread comes back to an address it has read: an atomicCAS that expects the value read makes
/// the read part of the atomic operation, anything else leaves it a plain read.
SIMT_RARE void settle_read(Thread& t, std::size_t slot, const void* expected);
/// A kernel's access to memory that is neither in the arena nor its own: read-only data and
/// registered variables are legal.
Allocation* check_foreign(std::uintptr_t address, std::size_t size, AccessKind kind,
                          const void* caller);
/// Host code may reach managed and pinned memory, and nothing else of the device.
void check_host_access(std::uintptr_t address, std::size_t size, AccessKind kind,
                       const void* caller);

// ---- happens-before -----------------------------------------------------------------------------

/// By the barrier of the cluster; clusters.cpp.
SIMT_RARE bool ordered_by_cluster(const Access& earlier, const Thread& t);

SIMT_HOT bool ordered(const Access& earlier, const Thread& t) {
  if (earlier.thread == t.id) return true;
  if (block_of(earlier.thread) == block_of(t.id)) {
    const std::uint32_t clock = earlier.clock >> kClockShift;
    if (clock < t.block->barrier_clock) return true;
    const bool same_warp = warp_of(earlier.thread) == warp_of(t.id);
    if (same_warp && t.seen(lane_of(earlier.thread)) >= clock) return true;
  }
  if (engine.clusters && ordered_by_cluster(earlier, t)) return true;
  return ordered_by_fences(earlier, t);
}

SIMT_HOT bool conflicts(const Access& earlier, const Thread& t) {
  return earlier.pc != 0 && !ordered(earlier, t);
}

// ---- compare-and-swap loops ---------------------------------------------------------------------

/// What RecentReads::value has room for. A read of 16 bytes is remembered as two, in a program that has
/// an atomicCAS of so many.
constexpr std::size_t kWidestRead = 8;
extern bool has_wide_compare_and_swap;

SIMT_HOT std::uint64_t value_at(std::uintptr_t address, std::size_t size) {
  if (size == 4) return *reinterpret_cast<const Word*>(address);
  std::uint64_t value = 0;
  std::memcpy(&value, reinterpret_cast<const void*>(address), std::min<std::size_t>(size, 8));
  return value;
}

/// Remembers a plain read instead of the oldest of four.
SIMT_HOT void note_recent_read(Thread& t, std::uintptr_t address, std::size_t size,
                               std::uint32_t pc) {
  const std::size_t slot = t.next_recent++ % kRecentReads;
  RecentReads& r = t.recent;
  r.address[slot] = address;
  r.conflict[slot] = false;
  r.value[slot] = value_at(address, size);
  r.size[slot] = static_cast<std::uint8_t>(size);
  r.pc[slot] = pc;
}

/// The same; the oldest is reported if an atomic raced with it.
SIMT_HOT void remember_read(Thread& t, std::uintptr_t address, std::size_t size, std::uint32_t pc) {
  const std::size_t oldest = t.next_recent % kRecentReads;
  if (t.recent.address[oldest] != 0 && t.recent.conflict[oldest]) report_read_conflict(t, oldest);
  note_recent_read(t, address, size, pc);
}

/// The thread comes back to an address, and no atomic raced with its read there.
SIMT_HOT void forget_recent_read(Thread& t, std::uintptr_t address) {
  for (std::size_t slot = 0; slot < kRecentReads; ++slot) {
    if (t.recent.address[slot] != address) continue;
    t.recent.address[slot] = 0;
    t.read_before_write = {address, t.recent.pc[slot], t.now()};
  }
}

SIMT_HOT void settle_recent_read(Thread& t, std::uintptr_t address, const void* expected) {
  for (std::size_t slot = 0; slot < kRecentReads; ++slot) {
    if (t.recent.address[slot] == address) settle_read(t, slot, expected);
  }
}

// ---- one access ---------------------------------------------------------------------------------

/// What a cell will remember of an access.
SIMT_HOT Access record(const Thread& t, const NowAccess& now) {
  return {t.id, t.now() << kClockShift | now.flags, now.pc};
}

SIMT_HOT void note_read(Cell& cell, Thread& t, const NowAccess& now) {
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

/// True if a read and an atomic that nothing orders may be a race.
SIMT_HOT bool may_clash(const Access& atomic, const NowAccess& now) {
  return now.kind == AccessKind::read ||
         ((atomic.clock | now.flags) & (kBlockScope | kVolatileElement)) != 0;
}

/// The last atomic was the thread's own, and others may have been there before.
SIMT_HOT bool hides_others(const Allocation& a, const Cell& cell, const Thread& t) {
  return a.atomics != nullptr && cell.atomic.thread == t.id && cell.atomic.pc != 0;
}

/// True if atomics that later ones have replaced may race with the access.
SIMT_HOT bool may_meet_replaced(const Allocation& a, const Cell& cell, const Thread& t,
                                const NowAccess& now) {
  if (a.atomics == nullptr) return false;
  if (!is_atomic(now.kind)) return hides_others(a, cell, t);
  return (now.flags & kBlockScope) != 0 || a.has_block_scope;
}

SIMT_HOT void check_read(Cell& cell, std::uintptr_t address, Thread& t, const NowAccess& now) {
  if (conflicts(cell.write, t) || (may_clash(cell.atomic, now) && conflicts(cell.atomic, t))) {
    judge_read(cell, address, t, now);
  }
  note_read(cell, t, now);
}

SIMT_HOT void check_write(Cell& cell, std::uintptr_t address, Thread& t, const NowAccess& now) {
  if (conflicts(cell.write, t) || conflicts(cell.atomic, t) || conflicts(cell.last_read, t) ||
      conflicts(cell.other_thread, t) || conflicts(cell.other_warp, t)) {
    judge_write(cell, address, t, now);
  }
  (is_atomic(now.kind) ? cell.atomic : cell.write) = record(t, now);
}

/// An atomic of the thread is about to become the last one: what it replaces is kept.
SIMT_HOT void keep_atomic(Allocation& a, std::size_t i, const Cell& cell, const Thread& t) {
  const Access& last = cell.atomic;
  const bool has_block_scope = (last.clock & kBlockScope) != 0;
  if (last.pc == 0 || (last.thread == t.id && !has_block_scope)) return;
  AtomicCell& kept = atomic_cells(a)[i];
  if (kept.generation != cell.generation) kept = {cell.generation, {}, {}};
  if (last.thread != t.id) kept.other_thread = last;
  if (!has_block_scope) return;
  kept.block_scope = last;
  a.has_block_scope = true;
}

constexpr unsigned granule_shift_of(std::size_t size) {
  return size % 4 == 0 ? 2 : size % 2 == 0 ? 1 : 0;
}

/// What the cells of an allocation must have for their records to mean anything.
SIMT_HOT std::uint32_t generation_of(const Allocation& a) {
  return a.space == Space::shared ? a.generation : engine.launch_number;
}

SIMT_HOT void start_cell(Cell& cell, std::uint32_t generation) {
  cell = Cell{};
  cell.generation = generation;
}

SIMT_HOT void check_cells(Allocation& a, std::uintptr_t address, std::size_t size, AccessKind kind,
                          std::uint8_t flags, const void* caller, Thread& t) {
  const unsigned shift = granule_shift_of(size | (address & 3));
  if (shift < a.granule_shift) refine_shadow(a, shift);
  if (a.cells == nullptr) ensure_shadow(a);
  const std::uint32_t generation = generation_of(a);
  const NowAccess now{kind, flags, pc_of(caller), address, size};
  const std::size_t first = (address - a.begin) >> a.granule_shift;
  const std::size_t last = (address + size - 1 - a.begin) >> a.granule_shift;
  for (std::size_t i = first; i <= last; ++i) {
    Cell& cell = a.cells[i];
    if (cell.generation != generation) start_cell(cell, generation);
    const std::uintptr_t at = a.begin + (i << a.granule_shift);
    if (may_meet_replaced(a, cell, t, now)) {
      judge_replaced_atomics(a.atomics[i], cell, at, t, now);
    }
    if (writes(kind)) {
      if (is_atomic(kind)) keep_atomic(a, i, cell, t);
      if (a.read_only != nullptr) judge_read_only(a.read_only[i], at, t, now);
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

/// False where nothing has been written at all. What a struct has between its members is copied with
/// them, and no thread writes it.
SIMT_HOT bool any_initialised(const Allocation& a, std::uintptr_t address, std::size_t size) {
  const std::uint8_t* flag = a.initialised + (address - a.begin);
  return std::any_of(flag, flag + size, [](std::uint8_t f) { return f != 0; });
}

// ---- nearly every access ------------------------------------------------------------------------

/// True if nothing has to be asked of fences, or said, because of an earlier access.
SIMT_HOT bool is_settled(const Access& earlier, const Thread& t) {
  if (earlier.pc == 0 || earlier.thread == t.id) return true;
  return block_of(earlier.thread) == block_of(t.id) &&
         earlier.clock >> kClockShift < t.block->barrier_clock;
}

/// A plain load or store of one granule of four bytes, if there is nothing to judge: true, and all of
/// the above is done. Else nothing is. It calls no function, so that no register has to be saved.
template <AccessKind kind>
SIMT_HOT bool pass_quickly(Allocation& a, std::uintptr_t address, const void* caller, Thread& t) {
  constexpr std::size_t size = 4;
  if (access_is_open || t.conflicts > 0) return false;
  if (a.granule_shift != granule_shift_of(size) || a.cells == nullptr) return false;
  if (writes(kind) && a.read_only != nullptr) return false;
  Cell& cell = a.cells[(address - a.begin) / size];
  const std::uint32_t generation = generation_of(a);
  if (kind == AccessKind::read && !all_initialised(a, address, size)) return false;
  if (cell.generation == generation) {
    if (!is_settled(cell.write, t) || !is_settled(cell.atomic, t)) return false;
    if (hides_others(a, cell, t)) return false;
    if (writes(kind) && !(is_settled(cell.last_read, t) && is_settled(cell.other_thread, t) &&
                          is_settled(cell.other_warp, t))) {
      return false;
    }
  } else {
    start_cell(cell, generation);
    // Other threads of the block are about to touch the cells beside it, in an order that the
    // processor cannot foresee.
    if (a.space != Space::shared) {
      const auto near = reinterpret_cast<std::uintptr_t>(&cell) & ~std::uintptr_t(511);
      for (unsigned line = 0; line < 512; line += 64) {
        __builtin_prefetch(reinterpret_cast<const void*>(near + line), 1);
      }
    }
  }
  const NowAccess now{kind, 0, pc_of(caller), address, size};
  if (writes(kind)) {
    set_initialised(a, address, size);
    forget_recent_read(t, address);
    cell.write = record(t, now);
  } else {
    note_recent_read(t, address, size, now.pc);
    note_read(cell, t, now);
  }
  return true;
}

/// True for what only the running thread itself can mean: its own stack, threadIdx and similar variables.
SIMT_HOT bool is_its_own(std::uintptr_t address) {
  const auto built_in = reinterpret_cast<std::uintptr_t>(__start_simt_built_in);
  const auto built_in_end = reinterpret_cast<std::uintptr_t>(__stop_simt_built_in);
  return on_this_stack(address) || address - built_in < built_in_end - built_in;
}

/// A store of the running thread to what is its own: ends the launch if it is kept there where a function returns to, or if it
/// lies beyond what kernels have. The index of a local array that another function was given comes there. `frame`: of the library's
/// function that is about to store, below which no variable of the kernel is.
void check_own_store(std::uintptr_t address, std::size_t size, const void* caller,
                     const void* frame = __builtin_frame_address(0));

/// The allocation of a legal access at whatever address; null where there is nothing more to check.
SIMT_HOT Allocation* find_bytes(std::uintptr_t address, std::size_t size, AccessKind kind,
                                const void* caller) {
  const std::uintptr_t offset = address - arena.begin;
  if (offset >= arena.size) {
    if (!is_its_own(address)) return check_foreign(address, size, kind, caller);
    if (writes(kind)) check_own_store(address, size, caller);
    return nullptr;
  }
  Allocation* a = arena.page[offset >> kPageBits];
  if (a == nullptr || !a->live || address + size > a->end() ||
      (engine.reachable >> a->owner & 1) == 0) {
    stop_illegal(address, size, kind, caller);
  }
  return a;
}

/// The same for an access of the processor, which has to be aligned.
SIMT_HOT Allocation* find_target(std::uintptr_t address, std::size_t size, AccessKind kind,
                                 const void* caller) {
  Allocation* a = find_bytes(address, size, kind, caller);
  if (a == nullptr) return nullptr;
  const bool power_of_two = (size & (size - 1)) == 0;
  if (power_of_two && size <= 16 && (address & (size - 1)) != 0) {
    stop_misaligned(address, size, kind, caller);
  }
  return a;
}

}  // namespace simt
