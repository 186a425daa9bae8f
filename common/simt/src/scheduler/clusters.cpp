// Starts the blocks of a cluster, and ends the phases of its barrier.
#include "scheduler/clusters.hpp"

#include <algorithm>
#include <cstdlib>

#include "base/early.hpp"
#include "base/scoped_ignore.hpp"
#include "checker/clusters.hpp"
#include "checker/fences.hpp"
#include "checker/late_stores.hpp"
#include "checker/rules.hpp"
#include "counters/counters.hpp"
#include "scheduler/collectives.hpp"
#include "scheduler/schedule.hpp"
#include "simt/api.hpp"
#include "simt/clusters.hpp"
#include "trace/trace.hpp"

namespace simt {
namespace {

SIMT_EARLY std::vector<std::unique_ptr<Cluster>> clusters;

constexpr std::uint32_t kForEver = ~std::uint32_t{0};  // the clock of a thread that has ended

unsigned volume(const dim3& d) { return d.x * d.y * d.z; }

/// All have arrived: those that wait go on.
void end_phase(Cluster& c) {
  const ScopedIgnore guard;
  ++c.phase;
  c.arrived = 0;
  for (const Member& m : c.members) {
    for (const Thread& t : m.block->threads) {  // those that ended instead of arriving
      if (t.state != State::done || t.cluster_arrived >= c.phase) continue;
      c.clocks[c.phase % 3][m.block->cluster_rank * c.block_size + t.flat] = kForEver;
    }
  }
  ++counted.cluster_barriers;
  note_progress();
  fence_cluster(c);
  for (const Member& m : c.members) {
    for (Thread& t : m.block->threads) {
      if (t.state == State::at_cluster) wake(t);
    }
  }
}

void end_phase_if_complete(Cluster& c) {
  if (c.arrived > 0 && c.arrived == c.alive) end_phase(c);
}

void arrive(Thread& t, const void* caller) {
  Cluster& c = *t.block->cluster;
  checker_settle_access();
  if (t.cluster_arrived != t.cluster_known) {
    trap("a thread arrives at the barrier of its cluster twice: barrier_wait() is missing between",
         cudaErrorLaunchFailure, caller);
  }
  maybe_preempt(4);
  t.cluster_arrived = t.cluster_known + 1;
  c.clocks[t.cluster_arrived % 3][t.block->cluster_rank * c.block_size + t.flat] = t.now() + 1;
  tick(t);
  t.last_collective = nullptr;
  if (stores_may_be_late) late_stores_fence(t);
  ++c.arrived;
  end_phase_if_complete(c);
}

void wait(Thread& t, const Waiting& waiting) {
  Block& block = *t.block;
  if (t.cluster_arrived == t.cluster_known) {
    trap("a thread waits at the barrier of its cluster without barrier_arrive() before",
         cudaErrorLaunchFailure, waiting.caller);
  }
  checker_settle_access();
  if (block.cluster->phase < t.cluster_arrived) {
    t.waiting = &waiting;
    t.state = State::at_cluster;
    wait_for_others();
  }
  t.cluster_known = t.cluster_arrived;
  block.cluster_waited = std::max(block.cluster_waited, t.cluster_known);
}

void record_barrier(Thread& t, const Waiting& where) {
  if (!engine.tracing) return;
  t.waiting = &where;
  trace_cluster_barrier(t);
}

/// The second half of the cluster's barrier, or all of it. A block without a cluster is one.
void wait_for_cluster(const Waiting& waiting, bool arrives) {
  Thread& t = *engine.current;
  if (t.block->cluster == nullptr) {
    block_barrier(waiting.name, 0, waiting.caller);
    return;
  }
  record_barrier(t, waiting);
  if (arrives) arrive(t, waiting.caller);
  wait(t, waiting);
}

}  // namespace

unsigned block_to_start(unsigned started) {
  const dim3 grid = engine.launch->grid, cluster = engine.launch->cluster;
  const unsigned size = volume(cluster);
  const uint3 of =
      unflatten(started / size, {grid.x / cluster.x, grid.y / cluster.y, grid.z / cluster.z});
  const uint3 in = unflatten(started % size, cluster);
  const unsigned x = of.x * cluster.x + in.x, y = of.y * cluster.y + in.y,
                 z = of.z * cluster.z + in.z;
  return (z * grid.y + y) * grid.x + x;
}

void join_cluster(Block& block, bool is_first) {
  const auto threads = static_cast<unsigned>(block.threads.size());
  if (is_first) {
    clusters.push_back(std::make_unique<Cluster>());
    Cluster& made = *clusters.back();
    made.block_size = threads;
    for (auto& clocks : made.clocks) clocks.resize(threads * volume(engine.launch->cluster));
  }
  Cluster& c = *clusters.back();
  block.cluster = &c;
  block.cluster_rank = static_cast<unsigned>(c.members.size());
  c.members.push_back({&block, {}, 0});
  c.alive += threads;
}

void leave_cluster(Thread& t) {
  settle_remote_uses(t);
  Cluster& c = *t.block->cluster;
  --c.alive;
  if (t.cluster_arrived > c.phase) --c.arrived;
  end_phase_if_complete(c);
}

bool cluster_has_ended(const Block& block) { return block.cluster->alive == 0; }

void forget_clusters() { clusters.clear(); }

// ---- called by device code ----------------------------------------------------------------------

dim3 cluster_extent() { return engine.launch->cluster; }
unsigned cluster_block_rank() { return engine.current->block->cluster_rank; }
dim3 cluster_block_index() {
  const uint3 i = unflatten(cluster_block_rank(), engine.launch->cluster);
  return {i.x, i.y, i.z};
}

void cluster_arrive(const char* name, const void* caller) {
  Thread& t = *engine.current;
  if (t.block->cluster == nullptr) return;
  record_barrier(t, {name, caller, static_cast<char**>(__builtin_frame_address(0))});
  arrive(t, caller);
}

void cluster_wait(const char* name, const void* caller) {
  wait_for_cluster({name, caller, static_cast<char**>(__builtin_frame_address(0))}, false);
}

void cluster_barrier(const char* name, const void* caller) {
  wait_for_cluster({name, caller, static_cast<char**>(__builtin_frame_address(0))}, true);
}

}  // namespace simt
