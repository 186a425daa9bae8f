// How far the past of others has become visible, as fences and atomics pass it on.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "base/access.hpp"

namespace simt {

/// For each thread of a launch a clock: all its accesses with a smaller one came before.
///
/// It is a tree with the block's number and the thread's rank as the path, and trees share what they have in common: a copy
/// costs nothing, a clock that rises costs a path, and a union costs what differs. So a thousand
/// threads that take turns at a lock do not copy a thousand clocks each time.
class ClockTree {
 public:
  ClockTree() = default;
  ClockTree(const ClockTree& other);
  ClockTree(ClockTree&& other) noexcept
      : root_(std::exchange(other.root_, nullptr)), height_(other.height_) {}
  ClockTree& operator=(ClockTree other) noexcept {
    std::swap(root_, other.root_);
    std::swap(height_, other.height_);
    return *this;
  }
  ~ClockTree();

  bool empty() const { return root_ == nullptr; }
  /// True if an access of the thread with this clock came before. `bits`: of the ids of its launch.
  bool is_after(std::uint32_t thread, std::uint32_t clock, IdBits bits = id_bits) const;

  void raise(std::uint32_t thread, std::uint32_t clock);
  /// Raises the clocks of all threads of a block.
  void raise_block(std::uint32_t block, std::uint32_t clock);
  /// The later of both, thread by thread.
  void join(const ClockTree& other);

  /// How many blocks the trees of the launch that starts must have room for.
  static void set_blocks(std::uint64_t blocks);

 private:
  void* root_ = nullptr;
  unsigned height_ = 0;  // levels of nodes above the leaves: the same for all trees of a launch
};

/// What is known of another launch.
struct ForeignClocks {
  std::uint32_t launch;
  ClockTree clocks;
};

/// What is known of the past: of the running launch, and of others.
struct VectorClock {
  ClockTree own;
  std::vector<ForeignClocks> foreign;

  bool empty() const { return own.empty() && foreign.empty(); }
  void join(const VectorClock& other);
  /// The entry of another launch, null if there is none.
  const ForeignClocks* find(std::uint32_t launch) const;
  /// The same; made if there is none.
  ForeignClocks& of_launch(std::uint32_t launch);
};

}  // namespace simt
