// The device's address space: allocations, shared memory of blocks, registered variables.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/limits.hpp"
#include "simt/element_type.hpp"

namespace simt {

enum class Space : unsigned char {
  device,    // cudaMalloc
  managed,   // cudaMallocManaged, __managed__: host and device
  pinned,    // cudaMallocHost, cudaHostAlloc: host and device
  shared,    // __shared__, one per block
  global,    // __device__ variables
  constant,  // __constant__ variables: the device only reads
};

struct Cell;       // of the checker's shadow: memory/shadow.hpp
struct CrossCell;  // the same, for other operations
struct AtomicCell;
struct ReadOnlyCell;

/// Who gave memory back.
struct Release {
  const char* function = nullptr;
  std::vector<const void*> calls;  // return addresses, the innermost first; none if it was no call
};

struct alignas(64) Allocation {  // what every access reads is one cache line
  std::uintptr_t begin = 0;
  std::size_t size = 0;
  Space space = Space::device;
  bool live = true;
  std::uint8_t device = 0;            // current when it was made
  std::uint8_t owner = kEveryDevice;  // whose kernels reach it without peer access
  std::uint8_t granule_shift = 2;     // cells cover 1 << shift bytes; refined by narrower accesses
  bool in_heap = false;               // of kernels: the host cannot touch it
  std::uint32_t generation = 0;       // shared memory: the block instance that owns it
  std::uint32_t holder = 0;           // shared memory: the rank of that block in the grid
  Cell* cells = nullptr;              // made by the first kernel access
  AtomicCell* atomics = nullptr;      // made where atomics of two threads meet
  bool has_block_scope = false;       // one of them, at some time
  ReadOnlyCell* read_only = nullptr;  // made by the first __ldg() or texture fetch
  std::uint8_t* initialised = nullptr;  // one byte per byte
  std::uint32_t filled = 0;       // the number of launches before the last copy or memset into it
  std::vector<CrossCell*> cross;  // as cells, for races with other operations; by track
  ElementType element;
  std::vector<std::size_t> extents;       // of a __shared__ array of several dimensions
  std::string name;                       // variable, or text of the launch argument
  std::uintptr_t name_origin = 0;         // address of name[0]
  std::vector<const void*> allocated_by;  // return addresses, the innermost first
  std::uint32_t allocated_after = 0;      // so many launches
  std::size_t number = 0;                 // how many there were before
  Release freed_by;

  std::uintptr_t end() const { return begin + size; }
  std::size_t cell_count() const { return (size + (1u << granule_shift) - 1) >> granule_shift; }
};

constexpr std::size_t kPageBits = 12;

/// The device's addresses are [arena.begin, arena.begin + arena.size); everything else is the
/// host's, or a registered variable. Allocations start on a page, and a guard follows each.
struct Arena {
  std::uintptr_t begin = 0;
  std::size_t size = 0;
  Allocation** page = nullptr;  // owner of each page, null in guards and where nothing is
};
extern Arena arena;

/// The allocation on whose pages `address` lies (it may be past the end or freed), or null.
inline Allocation* owner_of(std::uintptr_t address) {
  const std::uintptr_t offset = address - arena.begin;
  return offset < arena.size ? arena.page[offset >> kPageBits] : nullptr;
}
/// The registered __device__, __constant__ or __managed__ variable at `address`, or null.
Allocation* global_at(std::uintptr_t address);
/// From the first __device__ or __constant__ variable to the last, with what else lies between.
struct VariableRange {
  std::uintptr_t begin = 0;
  std::size_t size = 0;
};
extern VariableRange variable_range;
/// The allocations, live or freed, on both sides of a stray address; null where there is none.
struct Neighbours {
  Allocation *below, *above;
};
Neighbours neighbours_of(std::uintptr_t address);
/// The nearer one of them; null if no index of 32 bits leads from there to the address.
Allocation* nearest_allocation(std::uintptr_t address);

/// True for addresses in the shared memory of a block.
bool is_shared(const void* p);

// ---- allocation ---------------------------------------------------------------------------------

/// From here on each array lies at lower addresses than those before it, or at higher ones.
void place_from_above(bool above);
/// A block of device, managed or pinned memory, aligned to 256 bytes, poisoned with 0xFF; null when
/// the device is full or size is 0. `caller` is where the program asked for it, for messages.
void* allocate(std::size_t size, Space space, ElementType element, int device, const void* caller);
/// Kernels of every device reach the live allocation at p from here on.
void open_to_every_device(void* p);
/// Gives memory back; false if `p` is not the start of a live allocation of that kind.
bool release(void* p, bool pinned, const Release& by);
/// Memory of the host becomes pinned memory at its own address; `taken` if a part of it is that, or
/// a variable, already.
enum class HostRange { registered, taken };
HostRange register_host(void* p, std::size_t size, int device, const void* caller);
/// False if no registered memory begins at p.
bool unregister_host(void* p);
/// Arrays of device memory, the oldest first: those in use, and those that were given back so lately that their records are there.
std::vector<const Allocation*> recorded_memory();
/// Bytes of a device's memory handed out.
std::size_t allocated_bytes(int device);
/// The device that was current when the live allocation at p was made, or is now, for a
/// __device__ variable; -1 if there is neither.
int device_of(const void* p);
/// __device__ and __constant__ variables exist once for each device, all at the same addresses:
/// from here on they have the values of this device.
void bring_variables(int device);
/// True if p points into (or just past) device memory of any space, live or freed.
bool is_device_address(const void* p);
/// The space of the live allocation that holds all of [p, p + n), for the host; false if there is none.
bool find_space(const void* p, std::size_t n, Space* space);
/// What the live allocation at p holds becomes undefined, as when it was made.
void forget_contents(void* p);
/// Marks [p, p + n) as written (by a copy, a memset or the host), after so many launches.
void mark_initialised(const void* p, std::size_t n, std::uint32_t launches);
/// After a copy from device to device: the target is as initialised as the source.
void copy_initialised(const void* to, const void* from, std::size_t n, std::uint32_t launches);

/// Shared memory of a block: recycled, poisoned, and forgotten by the checker.
Allocation* acquire_shared(std::size_t size, ElementType element, std::string name);
void release_shared(Allocation* a);

}  // namespace simt
