// Cooperative groups for the CPU device: blocks, tiles of up to 32 threads, coalesced groups and
// partitions.
//
// A group of a warp's lanes is a mask. Each of its functions is one rendezvous of the lanes in the
// mask (simt::warp_call) and a pure function of what they bring. Only sync() orders memory.
#pragma once

#include <type_traits>

#include "simt/api.hpp"
#include "simt/platform.hpp"
#include "simt/runtime.hpp"
#include "simt/vector_types.hpp"
#include "simt/warp.hpp"

namespace cooperative_groups {
namespace details {

// ---- lanes, ranks and masks ---------------------------------------------------------------------

SIMT_UNINSTRUMENTED inline unsigned count(unsigned mask) {
  return static_cast<unsigned>(__builtin_popcount(mask));
}

/// How many lanes of the mask come before the running one: its rank in the group.
SIMT_UNINSTRUMENTED inline unsigned rank_in(unsigned mask) {
  return count(mask & ((1u << simt::lane_id()) - 1));
}

/// The lane that has a rank; the rank must be less than the number of lanes.
SIMT_UNINSTRUMENTED inline unsigned lane_of(unsigned mask, unsigned rank) {
  while (rank-- > 0) mask &= mask - 1;
  return static_cast<unsigned>(__builtin_ctz(mask));
}

/// Turns a set of lanes into a set of ranks, as ballot() and match_any() return it.
SIMT_UNINSTRUMENTED inline unsigned to_ranks(unsigned mask, unsigned lanes) {
  unsigned ranks = 0, rank = 0;
  for (; mask != 0; mask &= mask - 1, ++rank) {
    if ((lanes & mask & -mask) != 0) ranks |= 1u << rank;
  }
  return ranks;
}

SIMT_UNINSTRUMENTED inline unsigned block_size() { return blockDim.x * blockDim.y * blockDim.z; }

SIMT_UNINSTRUMENTED inline unsigned block_rank() {
  return (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
}

/// The lanes that the running thread's warp has: the last warp of a block may be short.
SIMT_UNINSTRUMENTED inline unsigned warp_lanes() {
  const unsigned left = block_size() - (block_rank() & ~31u);
  return left >= 32 ? 0xffffffffu : (1u << left) - 1;
}

// ---- values of any size across lanes ------------------------------------------------------------

// Objects travel as bytes: half and the vector types copy themselves with code of their own.

template <class T>
SIMT_UNINSTRUMENTED T value_at(const unsigned char* bytes) {
  T value;
  __builtin_memcpy(static_cast<void*>(&value), bytes, sizeof value);
  return value;
}

/// The value of another lane. A reference, as with __shfl_sync: the value may be uninitialised.
template <class T>
SIMT_UNINSTRUMENTED T shuffle(const char* name, unsigned mask, const T& value, unsigned source,
                              const void* caller) {
  static_assert(sizeof(T) <= 32, "CUDA's shfl takes values of at most 32 bytes");
  alignas(T) unsigned char result[sizeof(T)];
  simt::shuffle_value(name, mask, simt::typed(value), source, result, caller);
  return value_at<T>(result);
}

/// Every lane's value, for reductions and scans: each lane combines them on its own.
template <class T>
struct Gathered {
  unsigned char all[32][sizeof(T)];
  unsigned present;

  SIMT_UNINSTRUMENTED T value_of(unsigned lane) const { return value_at<T>(all[lane]); }
};

template <class T>
SIMT_UNINSTRUMENTED void gather(Gathered<T>& values, const char* name, unsigned mask,
                                const T& value, const void* caller) {
  static_assert(sizeof(T) <= 32, "CUDA's group functions take values of at most 32 bytes");
  values.present = simt::gather_values(name, mask, &value, sizeof value, values.all, caller);
}

struct Access;

}  // namespace details

// ---- groups -------------------------------------------------------------------------------------

/// Any group of threads of one block: what the groups below have in common.
class thread_group {
 public:
  SIMT_API void sync() const { sync(SIMT_CALLER); }
  SIMT_API unsigned size() const { return whole_block() ? details::block_size() : size_; }
  SIMT_API unsigned num_threads() const { return whole_block() ? details::block_size() : size_; }
  SIMT_API unsigned thread_rank() const {
    return whole_block() ? details::block_rank() : details::rank_in(mask_);
  }

 protected:
  friend struct details::Access;

  /// mask 0: all threads of the block.
  SIMT_UNINSTRUMENTED thread_group(unsigned mask, unsigned size) : mask_(mask), size_(size) {}

  SIMT_UNINSTRUMENTED bool whole_block() const { return mask_ == 0; }
  SIMT_UNINSTRUMENTED void sync(const void* caller) const {
    if (whole_block()) {
      simt::block_barrier("thread_block::sync()", 0, caller);
    } else {
      simt::sync_warp("sync() of a group", mask_, caller);
    }
  }

  unsigned mask_;  // lanes of the warp that belong to the group
  unsigned size_;
};

/// All threads of the block.
class thread_block : public thread_group {
 public:
  SIMT_API static void sync() { simt::block_barrier("thread_block::sync()", 0, SIMT_CALLER); }
  SIMT_API static unsigned size() { return details::block_size(); }
  SIMT_API static unsigned num_threads() { return details::block_size(); }
  SIMT_API static unsigned thread_rank() { return details::block_rank(); }
  struct arrival_token {};
  /// As with nvcc: to arrive does nothing yet, and to wait is sync().
  SIMT_API static arrival_token barrier_arrive() { return {}; }
  SIMT_API static void barrier_wait(arrival_token&&) {
    simt::block_barrier("thread_block::barrier_wait()", 0, SIMT_CALLER);
  }
  SIMT_API static dim3 thread_index() { return threadIdx; }
  SIMT_API static dim3 group_index() { return blockIdx; }
  SIMT_API static dim3 dim_threads() { return blockDim; }
  SIMT_API static dim3 group_dim() { return blockDim; }

 private:
  friend struct details::Access;
  SIMT_UNINSTRUMENTED thread_block() : thread_group(0, 0) {}
};

/// A group of lanes of one warp: what tiles and coalesced groups have in common.
class lane_group : public thread_group {
 public:
  SIMT_API unsigned meta_group_rank() const { return meta_rank_; }
  SIMT_API unsigned meta_group_size() const { return meta_size_; }

  SIMT_API int any(int predicate) const {
    const int any = simt::ballot("any() of a group", mask_, predicate != 0, SIMT_CALLER) != 0;
    simt::trace_warp_values(simt::typed(predicate), simt::typed(any));
    return any;
  }
  SIMT_API int all(int predicate) const {
    const int all = simt::ballot("all() of a group", mask_, predicate == 0, SIMT_CALLER) == 0;
    simt::trace_warp_values(simt::typed(predicate), simt::typed(all));
    return all;
  }
  /// Bit r of the result: the predicate of the thread of rank r.
  SIMT_API unsigned ballot(int predicate) const {
    const unsigned votes = simt::ballot("ballot() of a group", mask_, predicate != 0, SIMT_CALLER);
    simt::trace_warp_values(simt::typed(predicate), {&votes, simt::type_of<simt::LaneMask>()});
    return details::to_ranks(mask_, votes);
  }
  /// Ranks of the threads that pass the same value.
  template <class T>
  SIMT_API unsigned match_any(T value) const {
    return details::to_ranks(mask_,
                             simt::match_any("match_any() of a group", mask_, value, SIMT_CALLER));
  }
  /// All ranks if every thread passes the same value, else 0; `predicate` says which.
  template <class T>
  SIMT_TRANSPARENT unsigned match_all(T value, int& predicate) const {
    const unsigned ranks = ranks_if_equal(value);
    predicate = ranks != 0;
    return ranks;
  }

  /// The value of the thread `delta` ranks before; the own one if there is none.
  template <class T>
  SIMT_API T shfl_up(T value, unsigned delta) const {
    const unsigned rank = details::rank_in(mask_);
    const unsigned source = delta > rank ? rank : rank - delta;
    return details::shuffle("shfl_up() of a group", mask_, value, details::lane_of(mask_, source),
                            SIMT_CALLER);
  }
  /// The value of the thread `delta` ranks behind; the own one if there is none.
  template <class T>
  SIMT_API T shfl_down(T value, unsigned delta) const {
    const unsigned rank = details::rank_in(mask_);
    const unsigned source = delta < details::count(mask_) - rank ? rank + delta : rank;
    return details::shuffle("shfl_down() of a group", mask_, value, details::lane_of(mask_, source),
                            SIMT_CALLER);
  }

 protected:
  /// All ranks if every thread passes the same value, else 0.
  template <class T>
  SIMT_API unsigned ranks_if_equal(T value) const {
    const unsigned equal = simt::match_any("match_all() of a group", mask_, value, SIMT_CALLER);
    // Lanes that have returned contribute nothing, so compare with those that answered.
    const unsigned all =
        simt::ballot("match_all() of a group", mask_, true, SIMT_CALLER, simt::WarpOp::part);
    return equal == all ? details::to_ranks(mask_, mask_) : 0;
  }

  SIMT_UNINSTRUMENTED lane_group(unsigned mask, unsigned size, unsigned meta_rank,
                                 unsigned meta_size)
      : thread_group(mask, size), meta_rank_(meta_rank), meta_size_(meta_size) {}

  unsigned meta_rank_, meta_size_;  // which group of how many the partition made
};

/// `Size` neighbouring lanes of a warp.
template <unsigned Size, class Parent = void>
class thread_block_tile : public lane_group {
  static_assert(Size > 0 && (Size & (Size - 1)) == 0, "a tile's size must be a power of two");
  static_assert(
      Size <= 32,
      "not supported on the CPU device: a tile of more than one warp (32 threads): use the "
      "block, or tiles of 32 and shared memory");

 public:
  /// A tile does not care whose part it is: any tile of its size will do.
  template <class Other>
  SIMT_UNINSTRUMENTED thread_block_tile(const thread_block_tile<Size, Other>& other)
      : lane_group(other) {}

  SIMT_UNINSTRUMENTED static constexpr unsigned size() { return Size; }
  SIMT_UNINSTRUMENTED static constexpr unsigned num_threads() { return Size; }
  SIMT_API static unsigned thread_rank() { return simt::lane_id() & (Size - 1); }

  /// The value of the thread of rank `source` modulo Size.
  template <class T>
  SIMT_API T shfl(T value, int source) const {
    const unsigned rank = static_cast<unsigned>(source) & (Size - 1);
    return details::shuffle("shfl() of a tile", mask_, value, first_lane() + rank, SIMT_CALLER);
  }
  /// The value of the thread whose rank differs in the bits of `mask`; undefined if that is no rank
  /// of the tile.
  template <class T>
  SIMT_API T shfl_xor(T value, unsigned mask) const {
    const unsigned rank = (simt::lane_id() & (Size - 1)) ^ mask;
    return details::shuffle("shfl_xor() of a tile", mask_, value,
                            rank < Size ? first_lane() + rank : 32, SIMT_CALLER);
  }

 private:
  friend struct details::Access;
  using lane_group::lane_group;
  SIMT_UNINSTRUMENTED static unsigned first_lane() { return simt::lane_id() & ~(Size - 1); }
};

/// Lanes of a warp that came to a line together, or that a partition put together.
class coalesced_group : public lane_group {
 public:
  /// The value of the thread of rank `source`; undefined if there is none.
  template <class T>
  SIMT_API T shfl(T value, int source) const {
    const unsigned rank = static_cast<unsigned>(source);
    const bool inside = rank < details::count(mask_);
    return details::shuffle("shfl() of a coalesced group", mask_, value,
                            inside ? details::lane_of(mask_, rank) : 32, SIMT_CALLER);
  }

 private:
  friend struct details::Access;
  using lane_group::lane_group;
};

namespace details {

/// What this header's functions may do with groups and programs may not.
struct Access {
  SIMT_UNINSTRUMENTED static unsigned mask(const thread_group& group) { return group.mask_; }
  SIMT_UNINSTRUMENTED static void sync(const thread_group& group, const void* caller) {
    group.sync(caller);
  }
  SIMT_UNINSTRUMENTED static thread_block block() { return {}; }
  SIMT_UNINSTRUMENTED static coalesced_group coalesced(unsigned mask, unsigned meta_rank = 0,
                                                       unsigned meta_size = 1) {
    return {mask, count(mask), meta_rank, meta_size};
  }
  template <unsigned Size, class Parent>
  SIMT_UNINSTRUMENTED static thread_block_tile<Size, Parent> tile(unsigned meta_rank,
                                                                  unsigned meta_size) {
    return {tile_mask(Size), Size, meta_rank, meta_size};
  }
  SIMT_UNINSTRUMENTED static thread_group dynamic_tile(unsigned size) {
    return {tile_mask(size), size};
  }

  SIMT_UNINSTRUMENTED static unsigned tile_mask(unsigned size) {
    const unsigned first = simt::lane_id() & ~(size - 1);
    return ((size == 32 ? 0u : 1u << size) - 1) << first & warp_lanes();
  }
};

SIMT_UNINSTRUMENTED inline void require_tile_size(unsigned size, const void* caller) {
  if (size > 0 && size <= 32 && (size & (size - 1)) == 0) return;
  simt::trap("tiled_partition() takes a power of two up to 32", cudaErrorLaunchFailure, caller);
}

SIMT_UNINSTRUMENTED inline coalesced_group partition_in_two(unsigned mask, bool predicate,
                                                            const void* caller) {
  const unsigned chosen = simt::ballot("binary_partition()", mask, predicate, caller);
  simt::trace_warp_values(simt::typed(predicate), {&chosen, simt::type_of<simt::LaneMask>()});
  if (chosen == 0 || chosen == mask) return Access::coalesced(mask);
  return Access::coalesced(predicate ? chosen : mask & ~chosen, predicate, 2);
}

template <class Label>
SIMT_UNINSTRUMENTED coalesced_group partition_by_label(unsigned mask, Label label,
                                                       const void* caller) {
  static_assert(std::is_integral_v<Label> || std::is_pointer_v<Label>,
                "a label must be an integer or a pointer");
  if constexpr (std::is_same_v<Label, bool>) {
    return partition_in_two(mask, label, caller);
  } else {
    // CUDA's match takes 4 and 8 bytes; smaller labels are widened without changing who is equal.
    unsigned long long wide = 0;
    __builtin_memcpy(&wide, &label, sizeof label);
    const unsigned mine = simt::match_any("labeled_partition()", mask, wide, caller);
    const unsigned leader = mine & -mine;
    const bool leads = leader == 1u << simt::lane_id();
    const unsigned leaders =
        simt::ballot("labeled_partition()", mask, leads, caller, simt::WarpOp::part);
    return Access::coalesced(mine, count(leaders & (leader - 1)), count(leaders));
  }
}

}  // namespace details

// ---- making groups ------------------------------------------------------------------------------

SIMT_API thread_block this_thread_block() { return details::Access::block(); }
/// Shared memory for tiles of several warps, which the CPU device has not.
template <unsigned kMostThreads = 1024>
struct block_tile_memory {};
template <unsigned kMostThreads>
SIMT_API thread_block this_thread_block(block_tile_memory<kMostThreads>&) {
  return details::Access::block();
}

/// The lanes that execute this call together. A GPU, and some seeds of the CPU device, may split
/// them at any time: only the returned group knows who they are.
SIMT_API coalesced_group coalesced_threads() {
  return details::Access::coalesced(simt::active_mask("coalesced_threads()", SIMT_CALLER));
}

template <unsigned Size>
SIMT_API thread_block_tile<Size, thread_block> tiled_partition(const thread_block&) {
  return details::Access::tile<Size, thread_block>(details::block_rank() / Size,
                                                   (details::block_size() + Size - 1) / Size);
}
template <unsigned Size, unsigned ParentSize, class Grandparent>
SIMT_API thread_block_tile<Size, thread_block_tile<ParentSize, Grandparent>> tiled_partition(
    const thread_block_tile<ParentSize, Grandparent>&) {
  static_assert(Size <= ParentSize, "a part cannot be larger than the tile it is part of");
  return details::Access::tile<Size, thread_block_tile<ParentSize, Grandparent>>(
      (simt::lane_id() & (ParentSize - 1)) / Size, ParentSize / Size);
}
/// Tiles whose size is known only at run time: a power of two up to 32.
SIMT_API thread_group tiled_partition(const thread_group&, unsigned size) {
  details::require_tile_size(size, SIMT_CALLER);
  return details::Access::dynamic_tile(size);
}
/// Of a coalesced group: `size` threads that follow each other in it, wherever in the warp they are.
SIMT_API coalesced_group tiled_partition(const coalesced_group& group, unsigned size) {
  details::require_tile_size(size, SIMT_CALLER);
  const unsigned mask = details::Access::mask(group), number = group.thread_rank() / size;
  unsigned part = 0;
  for (unsigned rank = number * size; rank < (number + 1) * size && rank < group.size(); ++rank) {
    part |= 1u << details::lane_of(mask, rank);
  }
  return details::Access::coalesced(part, number, (group.size() + size - 1) / size);
}

/// The threads of the group that pass the same label.
template <unsigned Size, class Parent, class Label>
SIMT_API coalesced_group labeled_partition(const thread_block_tile<Size, Parent>& group,
                                           Label label) {
  return details::partition_by_label(details::Access::mask(group), label, SIMT_CALLER);
}
template <class Label>
SIMT_API coalesced_group labeled_partition(const coalesced_group& group, Label label) {
  return details::partition_by_label(details::Access::mask(group), label, SIMT_CALLER);
}

/// The threads of the group that pass the same truth value.
template <unsigned Size, class Parent>
SIMT_API coalesced_group binary_partition(const thread_block_tile<Size, Parent>& group,
                                          bool predicate) {
  return details::partition_in_two(details::Access::mask(group), predicate, SIMT_CALLER);
}
SIMT_API coalesced_group binary_partition(const coalesced_group& group, bool predicate) {
  return details::partition_in_two(details::Access::mask(group), predicate, SIMT_CALLER);
}

// ---- functions of a group -----------------------------------------------------------------------

SIMT_API void sync(const thread_group& group) { details::Access::sync(group, SIMT_CALLER); }

template <class Group>
SIMT_UNINSTRUMENTED auto thread_rank(const Group& group) {
  return group.thread_rank();
}
template <class Group>
SIMT_UNINSTRUMENTED auto group_size(const Group& group) {
  return group.size();
}

}  // namespace cooperative_groups

#include "cooperative_groups/cluster_group.h"
#include "cooperative_groups/grid_group.h"
#include "cooperative_groups/invoke.h"
