// Bulk operations: copies from global to shared memory, and additions of shared to global memory, by a
// unit of the GPU beside the threads; and stores that a barrier counts. A copy is an asynchronous copy
// that is no request of a warp; an addition is one that reads its source at any time until it is waited for.
#include <algorithm>
#include <cstring>

#include "checker/async_copies.hpp"
#include "device/access.hpp"
#include "kernel/cluster.hpp"
#include "simt/api.hpp"
#include "simt/runtime.hpp"

namespace simt {
namespace {

constexpr std::size_t kBulkPiece = 16, kWord = 4;

std::uintptr_t place_at(const void* p) { return reinterpret_cast<std::uintptr_t>(p); }

/// Shared memory of the running block on one side, and 16 bytes as the unit.
void check_operands(const void* shared, const void* global, std::size_t size, const void* caller) {
  if ((place_at(shared) | place_at(global) | size) % kBulkPiece != 0) {
    trap("a bulk operation moves a multiple of 16 bytes, from and to addresses that are one, too",
         cudaErrorMisalignedAddress, caller);
  }
  if (!is_shared(shared) || is_shared(global)) {
    trap("a bulk operation has shared memory on one side, and global memory on the other",
         cudaErrorInvalidAddressSpace, caller);
  }
}

/// Both halves of an access are checked as the thread's own, but it takes no part in a warp's request.
Allocation* access_quietly(std::uintptr_t address, AccessKind kind, const void* caller) {
  Allocation* const a = find_target(address, kBulkPiece, kind, caller);
  if (a == nullptr) return nullptr;
  if (is_atomic(kind)) {
    if (!all_initialised(*a, address, kBulkPiece)) report_uninitialised(address, kind, caller);
  } else {
    access_now(*a, address, kBulkPiece, kind, Scope::device, caller);
  }
  return a;
}

bool knows_write(const Access& write, const Thread& t) {
  const Thread& writer = t.block->threads[rank_of(write.thread)];
  if (write.clock >> kClockShift <= writer.proxy_fence) return true;
  return t.proxy_fence + 1 + t.proxy_ticks == t.now() && ordered(write, t);
}

/// What threads have written must be made known to bulk operations, by a fence of its own.
void check_fences(const Allocation& a, std::uintptr_t address, const void* caller) {
  const Thread& t = *engine.current;
  if (a.cells == nullptr || a.holder != t.block->linear) return;
  const std::size_t first = (address - a.begin) >> a.granule_shift;
  const std::size_t last = (address + kBulkPiece - 1 - a.begin) >> a.granule_shift;
  for (std::size_t i = first; i <= last; ++i) {
    const Cell& cell = a.cells[i];
    if (cell.generation != generation_of(a)) continue;
    for (const Access* write : {&cell.write, &cell.atomic}) {
      const bool by_bulk = write == &cell.write && (write->clock & kByBulk) != 0;
      if (write->pc == 0 || by_bulk || knows_write(*write, t)) continue;
      report_missing_bulk_fence(*write, a.begin + (i << a.granule_shift), caller);
      return;
    }
  }
}

void apply_addition(const AsyncCopy& copy, Thread& t) {
  Allocation* a = owner_of(copy.to);
  if (a == nullptr) a = global_at(copy.to);
  check_cells(*a, copy.to, copy.size, AccessKind::atomic, kAtomic, copy.caller, t);
  note_write(*a, copy.to, copy.size, t);
  copy.add(reinterpret_cast<void*>(copy.to), copy.source.data());
}

}  // namespace

void begin_bulk_load(void* to, const void* from, std::size_t size, const void* barrier,
                     const void* caller) {
  check_operands(to, from, size, caller);
  ++counted.bulk_loads;
  copies_of_barrier(barrier).bytes_missing -= static_cast<std::int64_t>(size);
  begin_copy({to, from, size, size, kBulkPiece, true}, barrier, caller);
}

void begin_async_store(void* to, const void* value, std::size_t size, const void* barrier,
                       const void* caller) {
  if ((place_at(to) | size) % kWord != 0) {
    trap("st.async stores words of 4 bytes, to addresses that are a multiple of 4",
         cudaErrorMisalignedAddress, caller);
  }
  const Allocation* const target = owner_of(place_at(to));
  const Allocation* const counts = owner_of(place_at(barrier));
  if (target == nullptr || counts == nullptr || target->space != Space::shared ||
      counts->space != Space::shared || target->holder != counts->holder) {
    trap("st.async stores to shared memory, and its mbarrier is in that of the same block",
         cudaErrorInvalidAddressSpace, caller);
  }
  maybe_preempt(kPreemptAtAccess);
  for (std::size_t i = 0; i < size; i += kWord) {
    Allocation* const a = find_target(place_at(to) + i, kWord, AccessKind::write, caller);
    if (a == nullptr) continue;
    access_now(*a, place_at(to) + i, kWord, AccessKind::write, Scope::device, caller);
    std::memset(a->initialised + (place_at(to) + i - a->begin), 0, kWord);
  }
  std::memcpy(to, value, size);
}

void bind_async_store(void* to, const void* value, std::size_t size, const void* barrier,
                      const void* caller) {
  const ScopedIgnore guard;
  CopyQueue& queue = copies_of_barrier(barrier);
  for (std::size_t i = 0; i < size; i += kWord) {
    AsyncCopy copy{place_at(to) + i, 0, kWord, 0, engine.current->id, 0, caller, {}};
    std::memcpy(copy.source.data(), static_cast<const char*>(value) + i, kWord);
    copy.bulk = true;
    queue.add(copy);
  }
  queue.bytes_missing -= static_cast<std::int64_t>(size);
}

void begin_bulk_add(void* to, const void* from, std::size_t size, AddPiece add,
                    const void* caller) {
  check_operands(from, to, size, caller);
  ++counted.bulk_additions;
  maybe_preempt(kPreemptAtAccess);
  const ScopedIgnore guard;
  for (std::size_t i = 0; i < size; i += kBulkPiece) {
    AsyncCopy copy{place_at(to) + i,
                   place_at(from) + i,
                   kBulkPiece,
                   kBulkPiece,
                   engine.current->id,
                   0,
                   caller,
                   {}};
    if (const Allocation* const a = access_quietly(copy.from, AccessKind::read, caller)) {
      check_fences(*a, copy.from, caller);
    }
    std::memcpy(copy.source.data(), reinterpret_cast<const void*>(copy.from), kBulkPiece);
    access_quietly(copy.to, AccessKind::atomic, caller);
    engine.has_effects = true;
    copy.add = add;
    copy.apply = apply_addition;
    bulk_of_thread(*engine.current).add(copy);
  }
}

void commit_bulk_group() {
  const ScopedIgnore guard;
  ++bulk_of_thread(*engine.current).committed;
}

void wait_for_bulk_groups(unsigned newest) {
  checker_settle_access();
  const ScopedIgnore guard;
  complete_batches(bulk_of_thread(*engine.current), newest);
}

Scope mbarrier_scope() {
  const Block& block = *engine.current->block;
  return block.cluster == nullptr || block.cluster->members.size() == 1 ? Scope::block
                                                                        : Scope::device;
}

void expect_bytes(const void* barrier, unsigned bytes) {
  const ScopedIgnore guard;
  copies_of_barrier(barrier).bytes_missing += bytes;
}

bool complete_phase(unsigned* counts, const AtomicCall& call) {
  atomic_access(counts, sizeof *counts, AtomicKind::read_modify_write, call);
  // No other thread runs from here on: all of it is one step.
  const unsigned before = *counts;
  const void* const barrier = counts;
  bool is_over = (before & 0xFFFF) == 0;
  {
    const ScopedIgnore guard;
    is_over = is_over && copies_of_barrier(barrier).bytes_missing == 0;
  }
  if (is_over) *counts = before | before >> 16;
  atomic_done(is_over, {type_of<unsigned>(), &before, nullptr});
  if (!is_over) return false;
  fence_by(*engine.current, call.scope);
  complete_copies(barrier);
  return true;
}

void bulk_fence() {
  Thread& t = *engine.current;
  checker_settle_access();
  t.proxy_fence = t.now();
  t.proxy_ticks = 0;
  tick(t);
}

}  // namespace simt
