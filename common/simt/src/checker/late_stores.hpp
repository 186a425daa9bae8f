// Weak memory: what a thread stores by `volatile` or an atomic operation, other blocks may see late, and
// in another order, until a __threadfence() follows. Under seeds other than 0 they do: a volatile load
// finds the value of before for a while. Code that lacks the writer's fence then has wrong results.
//
// A load of an atomic_ref may also be done early: a block that has had no fence since the store finds the
// value of before, too, and code that lacks the reader's fence has wrong results. Volatile loads are left in
// order: the CUDA samples rely on it.
//
// The place itself always has the new value. A load that is to find the old one gets it put there, and
// the next call into the runtime restores the new one first.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/inlining.hpp"
#include "kernel/thread.hpp"

namespace simt {

/// True if stores of the running launch may be late.
extern bool stores_may_be_late;

/// `random`: the start of the launch's dice; 0 if no store is to be late.
void late_stores_start_launch(std::uint64_t random);
void late_stores_end_launch();

/// The running thread is about to store there: by a volatile store, or by an atomic function.
SIMT_RARE void remember_late_store(Thread& t, std::uintptr_t address, std::size_t size,
                                   AccessKind kind, std::uint32_t pc);
/// The running thread is about to load there, and no other thread runs before it has: true if what it
/// finds is an old value, which restore_late_store() takes back.
SIMT_RARE bool load_late(Thread& t, std::uintptr_t address, std::size_t size, RelaxedAccess load,
                         std::uint32_t pc);
void restore_late_store();

/// All that the launch has stored is visible to all.
void late_stores_all_visible();
/// A fence of device scope: what this thread did, and what it has waited for, is visible to all.
SIMT_RARE void late_stores_fence(const Thread& t);

}  // namespace simt
