// Clusters of blocks: they start together, have a barrier, and keep their shared memory to the end of all.
#pragma once

#include <memory>
#include <vector>

#include "kernel/cluster.hpp"

namespace simt {

/// The block that is number `started` of the launch to start: those of a cluster follow each other.
unsigned block_to_start(unsigned started);
/// A block has started. `is_first`: of its cluster.
void join_cluster(Block& block, bool is_first);
/// A thread has ended.
void leave_cluster(Thread& t);
/// True if no thread of the cluster runs any more.
bool cluster_has_ended(const Block& block);
/// The launch is over.
void forget_clusters();

}  // namespace simt
