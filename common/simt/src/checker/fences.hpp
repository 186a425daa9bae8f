// What fences and atomics order.
#pragma once

#include <cstdint>
#include <vector>

#include "kernel/thread.hpp"

namespace simt {

void fences_start_launch();
/// Keeps what the launch that ends, number `launch` of overlap.cpp, passes on to launches of
/// other streams.
void fences_end_launch(std::uint32_t launch);
/// The block's threads have all ended: what they alone knew is forgotten.
void fences_end_block(const Block& block);
/// Forgets what launches have passed on: later ones are ordered after them anyway.
void fences_forget();
/// False as long as no fence has been met: nothing else has to be asked then.
bool fences_used();

void fence_by(Thread& t, Scope scope);
/// True if the thread has had a fence after its access at this clock.
bool has_fenced(std::uint32_t thread, std::uint32_t since = 1);
/// What writes leaves what it knows at the address: an atomic beside what others left there, which it takes, and
/// a store instead of it.
void fence_atomic(Thread& t, std::uintptr_t address, AccessKind kind);
/// A load takes what others left with the value that it finds.
void fence_load(Thread& t, std::uintptr_t address, bool finds_old_value);
/// From here on the old value at the address is the one before the store that was the last one.
void fence_late_store(std::uintptr_t address);
void fence_barrier(Block& block);
/// All threads of the cluster have met in its barrier.
void fence_cluster(const Cluster& cluster);
void fence_warp_sync(Block& block, unsigned warp, unsigned lanes);

/// True if fences and atomics order `earlier` before what t does now.
bool ordered_by_fences(const Access& earlier, const Thread& t);
/// True if only a fence by t itself, after its last atomic, is missing for that.
bool lacks_acquire_fence(const Access& earlier, const Thread& t);

/// True if fences and atomics order an access of another launch before what t does now: fences of
/// system scope, if it runs on another device.
bool ordered_by_fences_of_launches(const CrossAccess& earlier, const Thread& t);
/// True if fences do, or would, that are not of system scope, or not on both sides.
bool lacks_system_fence(const CrossAccess& earlier, const Thread& t);
/// Launches of which such fences tell t.
std::vector<std::uint32_t> launches_known_by_fences(const Thread& t);

}  // namespace simt
