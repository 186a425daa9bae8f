// Asynchronous copies: memcpy_async() of the groups, barriers and pipelines, and __pipeline_memcpy_async().
//
// A GPU reads the source and writes the destination at any time from the call to the wait. So the checker sees both
// accesses twice, at the call and when the copy is waited for. In between the destination counts as not written, and
// one that was written, or a source that has changed, is a race, and so is a read of it.
#include "checker/async_copies.hpp"

#include <algorithm>
#include <cstring>

#include "base/function_ref.hpp"
#include "device/access.hpp"
#include "simt/runtime.hpp"

namespace simt {
namespace {

constexpr std::size_t kWidestCopy = AsyncCopy().source.size();

std::uintptr_t bits(const void* p) { return reinterpret_cast<std::uintptr_t>(p); }

/// The allocation that the checker keeps a shadow of; null for local variables and constants.
Allocation* checked(std::uintptr_t address) {
  if (is_its_own(address)) return nullptr;
  Allocation* const a = owner_of(address);
  return a != nullptr ? a : global_at(address);
}

/// The second half of an access: as a part of what the copying call does, without a request of its own.
void access_again(std::uintptr_t address, std::size_t size, AccessKind kind, const void* caller,
                  std::uint8_t flags = 0) {
  Allocation* const a = checked(address);
  if (a == nullptr || a->space == Space::constant) return;
  if (access_is_open) checker_settle_access();
  check_cells(*a, address, size, kind, flags, caller, *engine.current);
}

/// The first byte of [address, address + size) whose flag says whether it has been written; size if none does.
std::size_t first_written(std::uintptr_t address, std::size_t size) {
  const Allocation* const a = checked(address);
  if (a == nullptr) return size;
  const std::uint8_t* const flags = a->initialised + (address - a->begin);
  return static_cast<std::size_t>(std::find_if(flags, flags + size, [](auto f) { return f != 0; }) -
                                  flags);
}

void complete(const AsyncCopy& copy) {
  const auto* const source = reinterpret_cast<const unsigned char*>(copy.from);
  auto* const target = reinterpret_cast<unsigned char*>(copy.to);
  const unsigned char* const changed =
      std::mismatch(source, source + copy.read, copy.source.begin()).first;
  if (changed != source + copy.read) report_overtaken_copy(copy, bits(changed), AccessKind::read);
  if (copy.read > 0) access_again(copy.from, copy.read, AccessKind::read, copy.caller);
  if (copy.apply != nullptr) return copy.apply(copy, *engine.current);
  const std::size_t written = first_written(copy.to, copy.size);
  if (written < copy.size && std::memcmp(target, copy.source.data(), copy.size) != 0) {
    report_overtaken_copy(copy, copy.to + written, AccessKind::write);
  }
  access_again(copy.to, copy.size, AccessKind::write, copy.caller, copy.bulk ? kByBulk : 0);
  if (Allocation* const a = checked(copy.to)) {
    set_initialised(*a, copy.to, copy.size);
    note_write(*a, copy.to, copy.size, *engine.current);
  }
  std::memcpy(target, copy.source.data(), copy.size);
}

}  // namespace

void complete_copies_if(std::vector<AsyncCopy>& copies,
                        FunctionRef<bool(const AsyncCopy&)> is_due) {
  const ScopedIgnore guard;
  const auto later = std::stable_partition(copies.begin(), copies.end(), is_due);
  std::for_each(copies.begin(), later, complete);
  copies.erase(copies.begin(), later);
}

void complete_batches(CopyQueue& queue, unsigned newest) {
  complete_copies_if(queue.copies,
                     [&](const AsyncCopy& copy) { return copy.batch + newest < queue.committed; });
}

void begin_copy(const CopyRequest& request, const void* barrier, const void* caller) {
  const Call call{caller, static_cast<const char*>(__builtin_frame_address(0))};
  const std::uintptr_t to = bits(request.to), from = bits(request.from);
  std::size_t aligned = request.alignment;
  if (aligned == 0) {
    aligned = to | from | request.size | kWidestCopy;
    aligned &= -aligned;
  }
  const std::size_t piece = std::min(aligned, kWidestCopy);
  for (std::size_t i = 0; i < request.size; i += piece) {
    const std::size_t read = std::min(piece, request.read - std::min(request.read, i));
    AsyncCopy copy{to + i, from + i, static_cast<std::uint8_t>(piece), {}, engine.current->id, 0,
                   caller, {}};
    const auto touch = [&](std::uintptr_t address, std::size_t size, AccessKind kind) {
      if (!request.bulk) return access(address, size, kind, Scope::device, caller, &call);
      Allocation* const a = find_target(address, size, kind, caller);
      if (a != nullptr) access_now(*a, address, size, kind, Scope::device, caller);
    };
    copy.bulk = request.bulk;
    if (read > 0) {  // else the source may be null
      touch(copy.from, read, AccessKind::read);
      std::memcpy(copy.source.data(), reinterpret_cast<const void*>(copy.from), read);
    }
    copy.read = static_cast<std::uint8_t>(read);
    touch(copy.to, piece, AccessKind::write);
    std::memcpy(reinterpret_cast<void*>(copy.to), copy.source.data(), piece);
    if (access_is_open) checker_settle_access();
    if (const Allocation* const a = checked(copy.to)) {
      std::memset(a->initialised + (copy.to - a->begin), 0, piece);
    }
    const ScopedIgnore guard;
    CopyQueue& queue =
        barrier != nullptr ? copies_of_barrier(barrier) : copies_of_thread(*engine.current);
    queue.add(copy);
  }
}

void commit_copies() {
  const ScopedIgnore guard;
  ++copies_of_thread(*engine.current).committed;
}

void wait_for_copies(unsigned newest) {
  const ScopedIgnore guard;
  complete_batches(copies_of_thread(*engine.current), newest);
}

void complete_copies(const void* barrier) {
  const ScopedIgnore guard;
  complete_copies_if(copies_of_barrier(barrier).copies, [](const AsyncCopy&) { return true; });
}

}  // namespace simt
