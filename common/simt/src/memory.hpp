// The device's address space and the shadow that the checker keeps of it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "device.hpp"
#include "devices.hpp"

namespace simt {

/// One remembered access. pc 0: none.
struct Access {
  std::uint32_t thread = 0;  // see block_of and rank_of
  std::uint32_t clock = 0;   // of that thread; the low two bits are flags
  std::uint32_t pc = 0;      // offset of the return address in the program
};
constexpr std::uint8_t kAtomic = 1, kBlockScope = 2, kClockShift = 2;

/// What the checker remembers of a granule (1, 2 or 4 bytes): 64 bytes, one cache line.
/// Two different readers are kept, and a third of another warp, if possible of another block: that
/// is enough for a later write to meet at least one reader that nothing orders before it.
struct alignas(64) Cell {
  std::uint32_t generation = 0;  // launch (or block, for shared memory) that the records are of
  Access write, atomic, last_read, other_thread, other_warp;
};
static_assert(sizeof(Cell) == 64);

enum class FarKind : unsigned char { read, write, atomic, atomic_read, atomic_write };

/// An access that is remembered for launches of other devices.
struct FarAccess {
  std::uint32_t thread = 0, clock = 0, pc = 0;  // as in Access, without flags
  std::uint32_t launch : 28 = 0;                // across.cpp; 0: none
  FarKind kind : 3 = FarKind::read;
  bool system : 1 = false;  // an atomic of system scope
};

/// What one device's launches have last done to a granule.
struct FarCell {
  FarAccess read, write;
  FarAccess narrow;  // atomics of device or block scope
  FarAccess system_read, system_write;
};
static_assert(sizeof(FarCell) == 80);

struct Allocation {
  std::uintptr_t begin = 0;
  std::size_t size = 0;
  Space space = Space::device;
  bool live = true;
  std::uint8_t device = 0;            // current when it was made
  std::uint8_t owner = kEveryDevice;  // whose kernels reach it without peer access
  std::uint8_t granule_shift = 2;     // cells cover 1 << shift bytes; refined by narrower accesses
  std::uint32_t generation = 0;       // shared memory: the block instance that owns it
  Cell* cells = nullptr;              // made by the first kernel access
  std::array<FarCell*, kMostDevices> far{};  // the same, for races of several devices
  std::uint8_t* initialised = nullptr;       // one byte per byte
  ElementType element;
  std::vector<std::size_t> extents;       // of a __shared__ array of several dimensions
  std::string name;                       // variable, or text of the launch argument
  std::uintptr_t name_origin = 0;         // address of name[0]
  std::vector<const void*> allocated_by;  // return addresses, the innermost first

  std::uintptr_t end() const { return begin + size; }
  std::size_t cell_count() const { return (size + (1u << granule_shift) - 1) >> granule_shift; }
};

constexpr std::size_t kPageBits = 12;

/// The device's addresses are [arena.begin, arena.begin + arena.size); everything else is the
/// host's, or a registered variable. Allocations start on a page and have a guard behind them.
struct Arena {
  std::uintptr_t begin = 0;
  std::size_t size = 0;
  Allocation** page =
      nullptr;  // owner of each page, null in guards and where nothing was allocated
};
extern Arena arena;

/// The allocation on whose pages `address` lies (it may be past the end or freed), or null.
inline Allocation* owner_of(std::uintptr_t address) {
  const std::uintptr_t offset = address - arena.begin;
  return offset < arena.size ? arena.page[offset >> kPageBits] : nullptr;
}
/// The registered __device__, __constant__ or __managed__ variable at `address`, or null.
Allocation* global_at(std::uintptr_t address);
/// The same, or the one that ends less than a page before the address.
Allocation* variable_near(std::uintptr_t address);
/// The allocation, live or freed, nearest to a stray address, or null.
Allocation* nearest_allocation(std::uintptr_t address);

/// True for addresses in the shared memory of a block.
bool is_shared(const void* p);

void ensure_shadow(Allocation& a);
/// What launches of a device have left behind for those of others.
FarCell* far_cells(Allocation& a, int device);
/// Splits the cells so that accesses of 1 << shift bytes have their own.
void refine_shadow(Allocation& a, unsigned shift);

/// Shared memory of a block: recycled, poisoned, and forgotten by the checker.
Allocation* acquire_shared(std::size_t size, ElementType element, std::string name);
void release_shared(Allocation* a);

/// "s", "d_x", "dynamic shared memory". On the host's stack only, if the allocation has no name.
std::string name_of(const Allocation& a);
/// "s[37]", "4 bytes before d_x", "float 1000 past the end of d_x (1000 elements)".
std::string describe_address(std::uintptr_t address);
/// Names allocations after the arguments of the launch that starts.
void name_allocations(const Launch& launch);

/// Read-only data of the program and its libraries: constants and string literals.
bool is_read_only_data(std::uintptr_t address);
/// Where the executable is loaded. A code address is remembered as its distance from there.
extern const std::uintptr_t program_begin;
inline std::uint32_t pc_of(const void* return_address) {
  return static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(return_address) -
                                    program_begin);
}
inline const void* return_address_of(std::uint32_t pc) {
  return reinterpret_cast<const void*>(program_begin + pc);
}

/// Lockstep: the instruction a lane is about to execute. size 0: a fence, or a jump target, which
/// is no instruction.
enum class AccessKind : unsigned char { read, write, atomic, fence, jump };
struct Parked {
  const void* pc = nullptr;
  const char* name = nullptr;  // of a fence or an atomic
  std::uintptr_t address = 0;
  std::uint32_t size = 0;
  std::uint32_t depth = 0;  // of its calls (depth_here): callees run before their callers go on
  AccessKind kind = AccessKind::jump;
  bool shared = false;
  std::uint64_t since = 0;  // Warp::releases when it was parked
};

}  // namespace simt
