// Keeps the last changes of global memory by atomics.
#include "checker/changes.hpp"

#include <algorithm>
#include <array>
#include <cstring>

#include "base/program.hpp"
#include "kernel/engine.hpp"
#include "report/source_lines.hpp"
#include "simt/testing.hpp"

namespace simt {
namespace {

using NumberBytes = std::array<unsigned char, 8>;

struct Change {
  std::uintptr_t address;
  std::size_t size;
  const char* name;
  std::uint32_t pc;
  std::uint32_t launch;
  std::uint32_t thread;
  int device;
  dim3 grid, block;
  NumberBytes before, after;
};
constexpr std::size_t kChangesKept = 4096;
std::array<Change, kChangesKept> changes;
std::size_t changes_so_far = 0;

/// The bytes [address, address + size) of those that the change was of.
NumberBytes part_of(const Change& change, const NumberBytes& bytes, std::uintptr_t address,
                    std::size_t size) {
  NumberBytes part{};
  std::memcpy(part.data(), bytes.data() + (address - change.address), size);
  return part;
}

}  // namespace

void record_change(const Thread& t, const char* name, const void* caller, std::uintptr_t address,
                   std::size_t size, const void* before) {
  Change& change = changes[changes_so_far++ % kChangesKept];
  change = {.address = address,
            .size = size,
            .name = name,
            .pc = pc_of(caller),
            .launch = engine.launch_number,
            .thread = t.id,
            .device = engine.placement->device,
            .grid = engine.launch->grid,
            .block = engine.launch->block,
            .before = {},
            .after = {}};
  std::memcpy(change.before.data(), before, size);
  std::memcpy(change.after.data(), reinterpret_cast<const void*>(address), size);
}

AtomicChanges atomic_changes(const void* p, std::size_t size, std::size_t launches) {
  constexpr std::size_t kMostTold = 2;
  const auto begin = reinterpret_cast<std::uintptr_t>(p);
  AtomicChanges found;
  const std::size_t kept = std::min(changes_so_far, kChangesKept);
  std::size_t back = 1;
  for (; back <= kept; ++back) {
    const Change& change = changes[(changes_so_far - back) % kChangesKept];
    if (change.launch <= launches) break;
    if (begin < change.address || begin + size > change.address + change.size) continue;
    const NumberBytes before = part_of(change, change.before, begin, size);
    const NumberBytes after = part_of(change, change.after, begin, size);
    if (before == after) continue;
    ++found.count;
    if (found.last.size() == kMostTold) continue;
    found.last.push_back(
        {.function = change.name,
         .line = source_line(return_address_of(change.pc)).text(),
         .thread = thread_name(change.thread, change.grid, change.block, change.device),
         .before = before,
         .after = after});
  }
  found.are_all = back <= kept || changes_so_far <= kChangesKept;
  return found;
}

}  // namespace simt
