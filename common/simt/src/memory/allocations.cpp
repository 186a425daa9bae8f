// Allocates device memory and the shared memory of blocks, and says what is at an address.
#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <map>
#include <memory>
#include <optional>

#include "base/early.hpp"
#include "base/environment.hpp"
#include "base/program.hpp"
#include "memory/address_space.hpp"
#include "memory/allocations.hpp"
#include "memory/devices.hpp"
#include "memory/shadow.hpp"

namespace simt {

Arena arena;

namespace {

constexpr std::size_t kArenaSize = std::size_t(1) << 46;
// After each allocation come addresses without memory: so many that the largest index of 32 bits, of 16 bytes each, leads
// there, and not into the next array. Each guard takes a share of what is left; the smallest ones come last.
constexpr std::size_t kWideGuard = std::size_t(1) << 36, kSmallGuard = 16 * kPage;
constexpr std::size_t kShares = 256;
constexpr std::size_t kForMemory = std::size_t(64) << 30;  // addresses that guards leave to memory
constexpr unsigned char kPoison = 0xFF;  // -1 as an integer, NaN as a floating-point number

SIMT_EARLY AllocationMap allocations;
SIMT_EARLY std::vector<Allocation*> idle_shared;
// Between these two nothing has been placed yet. Arrays come one above the other, or one below the other: a program may not rely
// on either.
std::uintptr_t free_begin = 0, free_end = 0;
std::optional<bool> is_set_from_above;               // by place_from_above()
std::array<std::size_t, kMostDevices + 1> in_use{};  // by owner
std::uint32_t shared_generation = 0;

/// Arrays that were given back, and whose records are kept, the oldest first.
SIMT_EARLY std::deque<Allocation*> kept;
std::size_t kept_bytes = 0;

/// Keeps the records of an array that was given back, until later ones need the room.
void keep_records(Allocation& a) {
  constexpr std::size_t kMostArrays = 64;  // the system limits how many pieces of memory there are
  constexpr std::size_t kMostBytes = std::size_t(1) << 20;  // a record is 16 times as large
  kept.push_back(&a);
  kept_bytes += a.size;
  while (kept_bytes > kMostBytes || kept.size() > kMostArrays) {
    Allocation& oldest = *kept.front();
    kept.pop_front();
    kept_bytes -= oldest.size;
    drop_shadow(oldest);
    munmap(oldest.initialised, oldest.size);
    oldest.initialised = nullptr;
  }
}

/// Up to twice the share: were all guards of one size, a multiple of it would lead from array to array.
std::size_t next_guard() {
  const std::size_t left = free_end - free_begin;
  const std::size_t share = left > kForMemory ? (left - kForMemory) / kShares / 2 : 0;
  const std::size_t guard = std::clamp(share, kSmallGuard, kWideGuard);
  const std::size_t scattered = allocations.size() * 0x9E3779B97F4A7C15u >> 20;
  return (guard + scattered % guard) / kPage * kPage;
}

void open_arena() {
  if (arena.page != nullptr) return;
  // Limits on virtual memory are common in containers: take what there is.
  std::size_t size = kArenaSize;
  void* memory = reserve(size);
  while (memory == nullptr && size > kDeviceMemory / 4) memory = reserve(size /= 2);
  if (memory == nullptr) memory = reserve_or_die(size);
  arena.begin = reinterpret_cast<std::uintptr_t>(memory);
  arena.size = size;
  arena.page = static_cast<Allocation**>(reserve_or_die((size >> kPageBits) * sizeof(Allocation*)));
  free_begin = arena.begin;
  free_end = arena.begin + arena.size;
  free_begin += next_guard();
}

bool is_from_above() { return is_set_from_above.value_or(environment().seed.value_or(0) % 2 == 1); }

std::size_t whole_pages(std::size_t size) { return (size + kPage - 1) / kPage * kPage; }

Allocation* place(std::size_t size, Space space, ElementType element) {
  open_arena();
  const std::size_t pages = whole_pages(size);
  if (free_begin + pages + 2 * kSmallGuard > free_end) return nullptr;
  auto a = std::make_unique<Allocation>();
  if (is_from_above()) free_end -= std::min(next_guard(), free_end - free_begin - pages) + pages;
  a->begin = is_from_above() ? free_end : free_begin;
  a->size = size;
  a->space = space;
  a->element = element;
  a->name_origin = a->begin;
  a->number = allocations.size();
  a->initialised = static_cast<std::uint8_t*>(reserve_or_die(size));
  if (!is_from_above()) {
    free_begin += pages;
    free_begin += std::min(next_guard(), free_end - free_begin);
  }
  for (std::size_t offset = 0; offset < pages; offset += kPage) {
    arena.page[(a->begin + offset - arena.begin) >> kPageBits] = a.get();
  }
  std::memset(reinterpret_cast<void*>(a->begin), kPoison, size);
  Allocation* result = a.get();
  allocations[a->begin] = std::move(a);
  return result;
}

Allocation* live_owner(const void* p, std::size_t n) {
  const auto address = reinterpret_cast<std::uintptr_t>(p);
  Allocation* a = owner_of(address);
  if (a == nullptr) a = global_at(address);
  const bool holds = a != nullptr && a->live && address >= a->begin && address <= a->end() &&
                     n <= a->end() - address;
  return holds ? a : nullptr;
}

}  // namespace

// ---- allocation ---------------------------------------------------------------------------------

void place_from_above(bool above) { is_set_from_above = above; }

void* allocate(std::size_t size, Space space, ElementType element, int device, const void* caller) {
  if (size == 0) return nullptr;
  const int owner = space == Space::device ? device : kEveryDevice;
  std::size_t& owned = in_use[static_cast<unsigned>(owner)];
  if (size > kDeviceMemory - owned) return nullptr;
  Allocation* a = place(size, space, element);
  if (a == nullptr) return nullptr;
  a->device = static_cast<std::uint8_t>(device);
  a->owner = static_cast<std::uint8_t>(owner);
  a->allocated_by = calls_behind(caller);
  if (space == Space::pinned || space == Space::managed) {
    std::memset(a->initialised, 1, size);  // the host writes it unseen
  }
  owned += size;
  return reinterpret_cast<void*>(a->begin);
}

void open_to_every_device(void* p) {
  Allocation& a = *live_owner(p, 1);
  in_use[a.owner] -= a.size;
  a.owner = kEveryDevice;
  in_use[a.owner] += a.size;
}

bool release(void* p, bool pinned, const Release& by) {
  auto it = allocations.find(reinterpret_cast<std::uintptr_t>(p));
  if (it == allocations.end() || !it->second->live) return false;
  Allocation& a = *it->second;
  const bool fits =
      pinned ? a.space == Space::pinned : a.space == Space::device || a.space == Space::managed;
  if (!fits) return false;
  a.live = false;
  a.freed_by = by;
  in_use[a.owner] -= a.size;
  // The addresses stay reserved, so that a use after free is always seen; the memory goes back.
  keep_records(a);
  madvise(reinterpret_cast<void*>(a.begin), whole_pages(a.size), MADV_DONTNEED);
  return true;
}

std::vector<const Allocation*> recorded_memory() {
  std::vector<const Allocation*> memory;
  for (const auto& [begin, a] : allocations) {
    if (a->space == Space::device && a->initialised != nullptr) memory.push_back(a.get());
  }
  std::sort(memory.begin(), memory.end(),
            [](const Allocation* a, const Allocation* b) { return a->number < b->number; });
  return memory;
}

std::size_t allocated_bytes(int device) { return in_use[static_cast<unsigned>(device)]; }

Allocation* acquire_shared(std::size_t size, ElementType element, std::string name) {
  auto fits = [&](const Allocation* a) { return a->size == size; };
  auto it = std::find_if(idle_shared.rbegin(), idle_shared.rend(), fits);
  Allocation* a = nullptr;
  if (it != idle_shared.rend()) {
    a = *it;
    idle_shared.erase(std::next(it).base());
    std::memset(a->initialised, 0, size);
    std::memset(reinterpret_cast<void*>(a->begin), kPoison, size);
  } else {
    a = place(size, Space::shared, element);
    if (a == nullptr) {
      std::fputs("simt: the address space for shared memory is used up\n", stderr);
      std::abort();
    }
  }
  a->element = element;
  a->name = std::move(name);
  a->generation = ++shared_generation;
  return a;
}

void release_shared(Allocation* a) { idle_shared.push_back(a); }

// ---- what is at an address ----------------------------------------------------------------------

int device_of(const void* p) {
  const Allocation* a = live_owner(p, 1);
  if (a == nullptr) return -1;
  const bool is_variable = a->space == Space::global || a->space == Space::constant;
  return is_variable ? current_device() : a->device;
}

bool is_device_address(const void* p) {
  const auto address = reinterpret_cast<std::uintptr_t>(p);
  return address - arena.begin < arena.size || global_at(address) != nullptr;
}

bool find_space(const void* p, std::size_t n, Space* space) {
  const Allocation* a = live_owner(p, n);
  if (a == nullptr || a->in_heap) return false;
  *space = a->space;
  return true;
}

bool is_shared(const void* p) {
  const Allocation* a = owner_of(reinterpret_cast<std::uintptr_t>(p));
  return a != nullptr && a->space == Space::shared;
}

void mark_initialised(const void* p, std::size_t n, std::uint32_t launches) {
  if (Allocation* a = live_owner(p, n)) {
    std::memset(a->initialised + (reinterpret_cast<std::uintptr_t>(p) - a->begin), 1, n);
    a->filled = launches;
  }
}

void forget_contents(void* p) {
  Allocation& a = *live_owner(p, 1);
  std::memset(p, kPoison, a.size);
  std::memset(a.initialised, 0, a.size);
}

void copy_initialised(const void* to, const void* from, std::size_t n, std::uint32_t launches) {
  Allocation* target = live_owner(to, n);
  const Allocation* source = live_owner(from, n);
  if (target == nullptr || source == nullptr) return;
  target->filled = launches;
  std::memmove(target->initialised + (reinterpret_cast<std::uintptr_t>(to) - target->begin),
               source->initialised + (reinterpret_cast<std::uintptr_t>(from) - source->begin), n);
}

Neighbours neighbours_of(std::uintptr_t address) {
  auto above = allocations.upper_bound(address);
  return {last_at_or_before(allocations, address),
          above == allocations.end() ? nullptr : above->second.get()};
}

Allocation* nearest_allocation(std::uintptr_t address) {
  const auto [below, above] = neighbours_of(address);
  const auto distance = [&](const Allocation* a) {
    if (a == nullptr) return ~std::size_t(0);
    return address < a->begin ? a->begin - address : address - a->end();
  };
  Allocation* const nearest = distance(below) <= distance(above) ? below : above;
  if (nearest == nullptr) return nullptr;
  const bool is_in_reach = distance(nearest) / nearest->element.size <= ~std::uint32_t(0);
  return is_in_reach ? nearest : nullptr;
}

}  // namespace simt
