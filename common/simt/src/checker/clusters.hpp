// What the barrier of a cluster orders, and whose shared memory is there.
#pragma once

#include "checker/messages.hpp"
#include "kernel/cluster.hpp"

namespace simt {

/// The running thread uses shared memory of another block, which must have begun, and must not have left.
SIMT_RARE void check_remote_use(Allocation& a, std::uintptr_t address, AccessKind kind,
                                const void* caller, Thread& t);
/// A thread of a cluster ends: uses of its block's memory that came before its end are no more in doubt. Those that
/// still are when the last one of the block has ended are reported.
void settle_remote_uses(const Thread& t);

}  // namespace simt
