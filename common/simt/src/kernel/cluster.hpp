// The blocks of a cluster of the running launch.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "kernel/thread.hpp"
#include "memory/shadow.hpp"

namespace simt {

/// What a thread of another block has last done to a block's shared memory. pc 0: nothing that the
/// block's end has still to come after.
struct RemoteUse {
  Access access;
  AccessKind kind = AccessKind::none;
  std::uintptr_t address = 0;
};

struct Member {
  Block* block;
  std::vector<RemoteUse> uses;  // of its shared memory, by thread of the cluster; made by the first
  unsigned open_uses = 0;
};

/// Threads are numbered through the blocks, by their ranks.
struct Cluster {
  std::vector<Member> members;
  unsigned block_size = 0;  // threads
  unsigned alive = 0;       // threads that have not returned
  // Its barrier. A thread that knows of phase p, the count of phases that are over for it, may meet others
  // that arrive for phase p + 2: so three arrivals of a thread are remembered.
  unsigned phase = 0, arrived = 0;
  std::array<std::vector<std::uint32_t>, 3> clocks;

  /// The thread's number; of a block that is in another cluster: ~0.
  unsigned number_of(std::uint32_t thread) const {
    for (unsigned rank = 0; rank < members.size(); ++rank) {
      if (members[rank].block->linear == block_of(thread)) {
        return rank * block_size + rank_of(thread);
      }
    }
    return ~0u;
  }
  Member* member(std::uint32_t linear) {
    for (Member& m : members) {
      if (m.block->linear == linear) return &m;
    }
    return nullptr;
  }
};

/// How many phases of the cluster's barrier are over for a thread: it has waited for them, or a barrier
/// of its block has told it.
inline std::uint32_t phases_known(const Thread& t) {
  return t.cluster_known > t.block->cluster_known ? t.cluster_known : t.block->cluster_known;
}

}  // namespace simt
