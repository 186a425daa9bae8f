// Thread block clusters: what cooperative_groups.h and course/bulk.cuh ask of the runtime library.
#pragma once

#include <cstddef>

#include "simt/platform.hpp"
#include "simt/runtime.hpp"
#include "simt/vector_types.hpp"

namespace simt {

/// Blocks of a cluster in each dimension; 1 in a launch without clusters.
dim3 cluster_extent();
/// The running block's rank in its cluster, and its index there.
unsigned cluster_block_rank();
dim3 cluster_block_index();

/// The barrier of the cluster in two halves: all threads of its blocks that have not returned arrive, and
/// each waits for all. What a thread did before it arrived comes before what others do after they have waited.
void cluster_arrive(const char* name, const void* caller);
void cluster_wait(const char* name, const void* caller);
void cluster_barrier(const char* name, const void* caller);

/// The same variable, or byte of the dynamic array, in the shared memory of the block of that rank.
void* map_shared(const void* address, unsigned rank, const void* caller);
/// The rank of the block whose shared memory an address is in.
unsigned rank_of_shared(const void* address, const void* caller);

}  // namespace simt
