// What an instruction does to memory, and which thread does it.
#pragma once

#include <cstdint>

namespace simt {

/// Kinds of access, for checker, counters and traces alike.
enum class AccessKind : unsigned char {
  none,  // a jump target, which is no instruction
  read,
  write,
  atomic,         // read, change and write back
  relaxed_read,   // volatile, or the load of an atomic_ref
  relaxed_write,  // volatile, or the store of an atomic_ref
  fence,          // no access, but an instruction that lanes take together, too
};

constexpr bool is_load(AccessKind k) {
  return k == AccessKind::read || k == AccessKind::relaxed_read;
}
constexpr bool writes(AccessKind k) { return !is_load(k); }
constexpr bool is_atomic(AccessKind k) {
  return k == AccessKind::atomic || k == AccessKind::relaxed_read || k == AccessKind::relaxed_write;
}

constexpr unsigned kWarpSize = 32;

/// Thread ids pack the block's and the thread's rank; the checker takes them apart often.
constexpr unsigned kThreadBits = 10;
constexpr std::uint32_t block_of(std::uint32_t id) { return id >> kThreadBits; }
constexpr std::uint32_t rank_of(std::uint32_t id) { return id & ((1u << kThreadBits) - 1); }
constexpr std::uint32_t warp_of(std::uint32_t id) { return id / kWarpSize; }
constexpr std::uint32_t lane_of(std::uint32_t id) { return id % kWarpSize; }

}  // namespace simt
