// The grid of this chapter's rungs: as many blocks as are resident, and no more than have something
// to do.
#pragma once

#include <algorithm>
#include <course/grid.cuh>
#include <cstddef>

/// Threads of a block. Half of the rungs have a tree that is written for this number and no other.
constexpr unsigned kBlockSize = 128;

/// Blocks of kBlockSize threads for `items` pieces of work, in a grid-stride loop: one at least,
/// and at most as many as the device holds, on an H200 132 * 16.
inline unsigned blocks_for(std::size_t items) {
  static const std::size_t most = course::filling_blocks(kBlockSize);
  return static_cast<unsigned>(
      std::clamp<std::size_t>((items + kBlockSize - 1) / kBlockSize, 1, most));
}
