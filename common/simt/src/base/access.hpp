// What an instruction does to memory, and which thread does it.
#pragma once

#include <algorithm>
#include <bit>
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

/// Thread ids pack the block's and the thread's rank; the checker takes them apart often. Ranks have as few bits as
/// the blocks of the launch need, so that the ids of 2^32 threads differ: more do not run within any limit of time.
struct IdBits {
  unsigned thread = 0;  // of a thread's rank in its block
  unsigned lane = 0;    // of its rank in its warp
};
constexpr IdBits id_bits_of(std::uint32_t threads_of_block) {
  const auto thread = static_cast<unsigned>(std::bit_width(threads_of_block - 1));
  return {thread, std::min(thread, 5u)};
}
extern IdBits id_bits;  // of the running launch

constexpr std::uint32_t block_of(std::uint32_t id, IdBits bits) { return id >> bits.thread; }
constexpr std::uint32_t rank_of(std::uint32_t id, IdBits bits) {
  return id & ((1u << bits.thread) - 1);
}
inline std::uint32_t block_of(std::uint32_t id) { return block_of(id, id_bits); }
inline std::uint32_t rank_of(std::uint32_t id) { return rank_of(id, id_bits); }
inline std::uint32_t warp_of(std::uint32_t id) { return id >> id_bits.lane; }
inline std::uint32_t lane_of(std::uint32_t id) { return id & ((1u << id_bits.lane) - 1); }
/// The id of a thread of the running launch.
inline std::uint32_t thread_id(std::uint32_t block, std::uint32_t rank) {
  return block << id_bits.thread | rank;
}
/// The id of a lane of the thread's warp.
inline std::uint32_t lane_id_of(std::uint32_t id, unsigned lane) {
  return warp_of(id) << id_bits.lane | lane;
}

}  // namespace simt
