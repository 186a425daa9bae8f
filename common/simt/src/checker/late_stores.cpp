// Remembers stores that other blocks have not seen, and decides whether a load finds the old value.
#include "checker/late_stores.hpp"

#include <fmt/format.h>

#include <array>
#include <cstring>
#include <set>
#include <string>
#include <unordered_map>

#include "base/early.hpp"
#include "base/program.hpp"
#include "base/scoped_ignore.hpp"
#include "checker/fences.hpp"
#include "checker/vector_clock.hpp"
#include "kernel/engine.hpp"
#include "kernel/findings.hpp"
#include "memory/allocations.hpp"
#include "memory/names.hpp"
#include "memory/shadow.hpp"
#include "report/reports.hpp"
#include "report/source_lines.hpp"

namespace simt {

bool stores_may_be_late = false;

namespace {

constexpr std::size_t kWidest = 16, kMostStores = std::size_t(1) << 20;
constexpr unsigned kMostLateLoads = 8;  // of one store: who polls must see it in the end

using Bytes = std::array<unsigned char, kWidest>;

/// A store that other blocks have not seen yet.
struct LateStore {
  std::size_t size = 0;
  std::uint32_t thread = 0, clock = 0, pc = 0;
  unsigned loads_left = 0;
  std::uint64_t fences = 0;  // of the launch, before this store
  Bytes old{};
};

/// What a block's threads have stored last, after a store of the same block that may be late.
struct Signal {
  std::uintptr_t address = 0;
  std::uint32_t pc = 0;
  std::uint32_t thread = 0;
};

struct LateStores {
  std::unordered_map<std::uintptr_t, LateStore> at;
  std::unordered_map<std::uint32_t, Signal> signal_of_block;
  ClockTree fenced;          // what fences have made visible to all
  std::uint64_t fences = 0;  // of the launch so far
  std::unordered_map<std::uint32_t, std::uint64_t> last_fence_of_block;  // its number
  std::set<std::uint32_t> told;  // the lines of loads: one remark for each
  std::uint64_t random = 1;
  unsigned odds = 1;       // one store out of this many is late
  bool has_loads = false;  // volatile ones: without them no atomic function has to be remembered
  // The place where a load finds an old value.
  std::uintptr_t place = 0;
  std::size_t size = 0;
  Bytes value{};  // the new one
};
SIMT_EARLY LateStores late;
/// Kernels in which a volatile load was seen: the next launch knows from the start.
SIMT_EARLY std::set<std::string> kernels_with_loads;

std::uint64_t dice() {
  late.random ^= late.random >> 12;
  late.random ^= late.random << 25;
  late.random ^= late.random >> 27;
  return (late.random * 0x2545F4914F6CDD1Du) >> 33;
}

bool is_visible(const LateStore& store) { return late.fenced.is_after(store.thread, store.clock); }

/// A block that has had no fence since the store may have loaded the place before it, whatever the
/// writer's fence says. A thread can learn of the store from a barrier, too, but then another thread of
/// its block had the fence.
bool may_be_loaded_early(const LateStore& store, const Thread& t) {
  const auto last = late.last_fence_of_block.find(t.block->linear);
  return last == late.last_fence_of_block.end() || last->second <= store.fences;
}

/// Has a thread of this block read or changed the place?
bool was_reached_by(std::uint32_t block, std::uintptr_t address) {
  const Cell* const cell = find_cell(address);
  if (cell == nullptr || cell->generation != engine.launch_number) return false;
  for (const Access* access :
       {&cell->atomic, &cell->last_read, &cell->other_thread, &cell->other_warp}) {
    if (access->pc != 0 && block_of(access->thread) == block) return true;
  }
  return false;
}

/// A remark if the reader knew of something that the writer did after its store.
void explain(const LateStore& store, const Thread& t, std::uintptr_t address, std::uint32_t pc) {
  const auto found = late.signal_of_block.find(block_of(store.thread));
  if (found == late.signal_of_block.end()) return;
  const Signal signal = found->second;
  if (signal.address == address || !was_reached_by(t.block->linear, signal.address)) return;
  if (!late.told.insert(pc).second) return;
  const char* const why =
      is_visible(store)
          ? "  with a fence between the two. But the reader has none between its load of the second and "
            "this one,\n  which may be done first: load the second with memory_order_acquire, or call "
            "__threadfence() after it."
          : "  with no __threadfence() between the two: other blocks may see the second before the "
            "first.";
  on_host_stack([&] {
    const SourceLine load_line = source_line(return_address_of(pc));
    const SourceLine store_line = source_line(return_address_of(store.pc));
    if (is_in_library(load_line) && is_in_library(store_line))
      return;  // a header knows what it needs
    clue_text(
        fmt::format("this load finds an old value of {}.\n"
                    "  {} stores it at {},\n"
                    "  and {} {} at {},\n{}",
                    describe_address(address), thread_name(store.thread), store_line.text(),
                    signal.thread == store.thread ? std::string("goes on to")
                                                  : thread_name(signal.thread) + " then changes",
                    describe_address(signal.address),
                    source_line(return_address_of(signal.pc)).text(), why),
        return_address_of(pc));
  });
}

}  // namespace

void late_stores_start_launch(std::uint64_t random) {
  late_stores_end_launch();
  stores_may_be_late = random != 0;
  if (!stores_may_be_late) return;
  late.random = random;
  late.odds = 1u << dice() % 3;
  late.has_loads = kernels_with_loads.contains(engine.launch->kernel);
}

void late_stores_all_visible() {
  if (!stores_may_be_late) return;
  restore_late_store();
  late.at.clear();
  late.signal_of_block.clear();
}

void late_stores_end_launch() {
  if (!stores_may_be_late) return;
  late_stores_all_visible();
  late.fenced = {};
  late.fences = 0;
  late.last_fence_of_block.clear();
  late.told.clear();
  stores_may_be_late = false;
}

void remember_late_store(Thread& t, std::uintptr_t address, std::size_t size, AccessKind kind,
                         std::uint32_t pc) {
  const ScopedIgnore guard;
  const auto found = late.at.find(address);
  const bool is_known = found != late.at.end();
  // An atomic function works on the latest value: what was there before is seen by all now.
  const bool is_atomic_function = kind == AccessKind::atomic;
  if (t.block->has_late_stores) late.signal_of_block[t.block->linear] = {address, pc, t.id};
  if (size > kWidest || (is_atomic_function && !late.has_loads) || dice() % late.odds != 0 ||
      (!is_known && late.at.size() >= kMostStores)) {
    if (is_known) late.at.erase(found);
    return;
  }
  t.block->has_late_stores = true;
  LateStore& store = is_known ? found->second : late.at[address];
  // A second store of the same block: others may still find what was there before the first.
  const bool follows = is_known && !is_atomic_function && store.size == size &&
                       block_of(store.thread) == t.block->linear && !is_visible(store);
  if (!follows) {
    fence_late_store(address);
    store.size = size;
    store.loads_left = 1 + static_cast<unsigned>(dice() % kMostLateLoads);
    std::memcpy(store.old.data(), reinterpret_cast<const void*>(address), size);
  }
  store.thread = t.id;
  store.clock = t.now();
  store.pc = pc;
  store.fences = late.fences;
}

bool load_late(Thread& t, std::uintptr_t address, std::size_t size, RelaxedAccess load,
               std::uint32_t pc) {
  const ScopedIgnore guard;
  if (!late.has_loads) {
    late.has_loads = true;
    kernels_with_loads.insert(engine.launch->kernel);
  }
  const auto found = late.at.find(address);
  if (found == late.at.end()) return false;
  LateStore& store = found->second;
  if (block_of(store.thread) == t.block->linear) return false;
  const bool may_be_early = load == RelaxedAccess::atomic_load && may_be_loaded_early(store, t);
  if (store.size != size || store.loads_left == 0 || (is_visible(store) && !may_be_early)) {
    late.at.erase(found);  // once a thread of another block has seen it, all see it
    return false;
  }
  --store.loads_left;
  explain(store, t, address, pc);
  late.place = address;
  late.size = size;
  std::memcpy(late.value.data(), reinterpret_cast<const void*>(address), size);
  std::memcpy(reinterpret_cast<void*>(address), store.old.data(), size);
  return true;
}

void restore_late_store() {
  if (late.place == 0) return;
  std::memcpy(reinterpret_cast<void*>(late.place), late.value.data(), late.size);
  late.place = 0;
}

void late_stores_fence(const Thread& t) {
  const ScopedIgnore guard;
  for (unsigned l = 0; l < kWarpSize; ++l) {
    if (t.seen(l) > 0) late.fenced.raise(lane_id_of(t.id, l), t.seen(l) + 1);
  }
  late.fenced.raise_block(t.block->linear, t.block->barrier_clock);
  late.fenced.raise(t.id, t.now() + 1);
  late.last_fence_of_block[t.block->linear] = ++late.fences;
}

}  // namespace simt
