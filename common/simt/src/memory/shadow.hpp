// The shadow that the checker keeps of memory: for each granule of 1, 2 or 4 bytes the accesses that
// later ones are held against.
#pragma once

#include <cstdint>

#include "base/access.hpp"
#include "memory/allocations.hpp"
#include "simt/runtime.hpp"

namespace simt {

/// One remembered access. pc 0: none.
struct Access {
  std::uint32_t thread = 0;  // see block_of and rank_of
  std::uint32_t clock = 0;   // of that thread; the low three bits are flags
  std::uint32_t pc = 0;      // offset of the return address in the program
};
constexpr std::uint32_t kAtomic = 1, kBlockScope = 2, kClockShift = 3;
constexpr std::uint32_t kByBulk = 2;           // of a plain write: by a bulk load
constexpr std::uint32_t kVolatileElement = 4;  // of an array, by `volatile`

/// What the checker remembers of a granule: 64 bytes, one cache line.
/// Two different readers are kept, and a third of another warp, if possible of another block: that
/// is enough for a later write to meet at least one reader that nothing orders before it.
struct alignas(64) Cell {
  std::uint32_t generation = 0;  // launch (or block, for shared memory) that the records are of
  Access write, atomic, last_read, other_thread, other_warp;
};
static_assert(sizeof(Cell) == 64);

/// What Cell::atomic has replaced. Made for allocations where atomics of two threads have met.
struct AtomicCell {
  std::uint32_t generation = 0;  // as in Cell
  Access other_thread;           // the last atomic of another thread than that of Cell::atomic
  Access block_scope;            // the last one of block scope
};

/// The last load of a granule by __ldg() or through a texture. Made for allocations that have one.
struct ReadOnlyCell {
  std::uint32_t launch = 0, thread = 0, pc = 0;
  ReadPath path = ReadPath::ldg;
};

/// An access that is remembered for other operations.
struct CrossAccess {
  std::uint32_t thread = 0, clock = 0, pc = 0;  // as in Access, without flags
  std::uint32_t operation : 27 = 0;             // overlap.cpp; 0: none
  AccessKind kind : 3 = AccessKind::read;
  Scope scope : 2 = Scope::device;  // of an atomic
};

/// What the operations of one stream, or the host, have last done to a granule.
struct CrossCell {
  CrossAccess read, write;
  CrossAccess device_scope;  // atomics of device or block scope
  CrossAccess system_read, system_write;
};
static_assert(sizeof(CrossCell) == 80);

/// The records of the place; null if there are none.
const Cell* find_cell(std::uintptr_t address);
void ensure_shadow(Allocation& a);
AtomicCell* atomic_cells(Allocation& a);
/// The loads by __ldg() and through textures.
ReadOnlyCell* read_only_cells(Allocation& a);
/// What the operations of a track leave for others. Tracks are numbered by overlap.cpp.
CrossCell* cross_cells(Allocation& a, unsigned track);
/// Splits the cells so that accesses of 1 << shift bytes have their own.
void refine_shadow(Allocation& a, unsigned shift);
/// Gives the shadow's memory back.
void drop_shadow(Allocation& a);

}  // namespace simt
