// The runtime API: graphs that are ready to run, and their launches.
//
// A launch gives the nodes to queues. Nodes that follow each other share one, a chain; what CUDA leaves open between
// the chains is drawn by the seed, as between streams. The first chain is the launch's own stream.
#include <algorithm>
#include <cstddef>
#include <map>
#include <memory>
#include <utility>
#include <variant>
#include <vector>

#include "api/captures.hpp"
#include "api/copies.hpp"
#include "api/errors.hpp"
#include "api/events.hpp"
#include "api/graphs.hpp"
#include "api/launches.hpp"
#include "api/queues.hpp"
#include "memory/devices.hpp"

struct CUgraphExec_st {
  using Indices = std::vector<std::size_t>;
  struct Node {
    const CUgraphNode_st* original;
    simt::NodeWork work;  // no child graph: its nodes are among these
    int device;
    Indices dependencies;  // nodes before this one
    std::size_t chain = 0;
    bool is_awaited = false;  // by a node of another chain, or as the end of its chain
  };
  struct Chain {
    int device;
    std::size_t last;              // node
    CUstream_st* queue = nullptr;  // null if it runs in the launch's stream
  };
  std::vector<Node> nodes;
  std::vector<Chain> chains;
  bool frees_on_launch = false;             // what the launch before has allocated
  std::shared_ptr<const simt::Mark> ended;  // of the launch before, which the next one waits for
};

namespace simt {
namespace {

using Exec = CUgraphExec_st;
using Indices = Exec::Indices;

std::vector<std::unique_ptr<Exec>>& ready_graphs() {
  static auto& all = *new std::vector<std::unique_ptr<Exec>>;
  return all;
}

Exec* find_exec(cudaGraphExec_t handle) {
  const auto& all = ready_graphs();
  const bool exists =
      std::any_of(all.begin(), all.end(), [&](const auto& exec) { return exec.get() == handle; });
  return exists ? handle : nullptr;
}

// ---- from a graph to a list ---------------------------------------------------------------------

void add_missing(Indices& list, const Indices& more) {
  for (const std::size_t index : more) {
    if (std::find(list.begin(), list.end(), index) == list.end()) list.push_back(index);
  }
}

/// Appends the nodes of a graph, each after those that it depends on; its roots follow `before`.
/// False if a node depends on itself. `ends`: what follows the graph depends on these.
bool append(const CUgraph_st& graph, const Indices& before, Exec& exec, Indices* ends) {
  std::map<const CUgraphNode_st*, Indices> done;  // with what depends on the node depends on
  const auto is_ready = [&](const CUgraphNode_st& node) {
    return std::all_of(node.dependencies.begin(), node.dependencies.end(),
                       [&](const CUgraphNode_st* other) { return done.contains(other); });
  };
  while (done.size() < graph.nodes.size()) {
    const std::size_t done_before = done.size();
    for (const auto& node : graph.nodes) {
      if (done.contains(node.get()) || !is_ready(*node)) continue;
      Indices dependencies = node->dependencies.empty() ? before : Indices{};
      for (const CUgraphNode_st* other : node->dependencies) {
        add_missing(dependencies, done[other]);
      }
      if (const auto* child = std::get_if<ChildGraph>(&node->work)) {
        if (!append(*child->graph, dependencies, exec, &done[node.get()])) return false;
        continue;
      }
      exec.nodes.push_back({node.get(), node->work, node->device, std::move(dependencies)});
      done[node.get()] = {exec.nodes.size() - 1};
    }
    if (done.size() == done_before) return false;
  }
  if (graph.nodes.empty()) *ends = before;
  for (const CUgraphNode_st* leaf : leaves(graph)) add_missing(*ends, done[leaf]);
  return true;
}

/// A node continues the chain of one that it depends on, if no other does already.
void make_chains(Exec& exec) {
  for (std::size_t i = 0; i < exec.nodes.size(); ++i) {
    Exec::Node& node = exec.nodes[i];
    node.chain = exec.chains.size();
    for (const std::size_t before : node.dependencies) {
      const Exec::Chain& chain = exec.chains[exec.nodes[before].chain];
      if (chain.last != before || chain.device != node.device) continue;
      node.chain = exec.nodes[before].chain;
      break;
    }
    if (node.chain == exec.chains.size()) exec.chains.push_back({node.device, i});
    exec.chains[node.chain].last = i;
  }
  for (const Exec::Node& node : exec.nodes) {
    for (const std::size_t before : node.dependencies) {
      if (exec.nodes[before].chain != node.chain) exec.nodes[before].is_awaited = true;
    }
  }
  for (const Exec::Chain& chain : exec.chains) exec.nodes[chain.last].is_awaited = true;
}

/// Null if the graph has a cycle.
std::unique_ptr<Exec> make_exec(const CUgraph_st& graph) {
  auto exec = std::make_unique<Exec>();
  Indices ends;
  if (!append(graph, {}, *exec, &ends)) return nullptr;
  make_chains(*exec);
  return exec;
}

// ---- queues of chains -----------------------------------------------------------------------------

std::vector<CUstream_st*>& idle_queues() {
  static auto& all = *new std::vector<CUstream_st*>;
  return all;
}

CUstream_st* take_queue(int device) {
  auto& idle = idle_queues();
  const auto it = std::find_if(idle.begin(), idle.end(),
                               [&](const CUstream_st* queue) { return queue->device == device; });
  if (it == idle.end()) return add_stream(CUstream_st::Kind::of_graph, device, {});
  CUstream_st* const queue = *it;
  idle.erase(it);
  return queue;
}

void destroy_exec(Exec& exec) {
  for (const Exec::Chain& chain : exec.chains) {
    if (chain.queue != nullptr) idle_queues().push_back(chain.queue);
  }
  std::erase_if(ready_graphs(), [&](const auto& owned) { return owned.get() == &exec; });
}

// ---- launches -----------------------------------------------------------------------------------

/// Is the memory that copies and memsets use still there?
cudaError_t check_memory(const Exec& exec, const void* caller) {
  for (const Exec::Node& node : exec.nodes) {
    cudaError_t error = cudaSuccess;
    if (const auto* copy = std::get_if<Copy>(&node.work)) error = check_copy(*copy, caller);
    if (const auto* memset = std::get_if<Memset>(&node.work)) {
      error = check_memset(node.device, *memset, caller);
    }
    if (error != cudaSuccess) return error;
  }
  return cudaSuccess;
}

void queue_work(CUstream_st& queue, const NodeWork& work) {
  if (const auto* launch = std::get_if<Launch>(&work)) queue_kernel(queue, *launch);
  if (const auto* copy = std::get_if<Copy>(&work)) enqueue_copy(queue, *copy);
  if (const auto* memset = std::get_if<Memset>(&work)) enqueue_memset(queue, *memset);
  if (const auto* host = std::get_if<HostWork>(&work)) {
    enqueue_host_function(queue, [call = host->call] { run_host_function(call); });
  }
  if (const auto* made = std::get_if<AllocationWork>(&work)) {
    enqueue_graph_memory(queue, made->memory, "cudaGraphAddMemAllocNode", made->caller);
  }
  if (const auto* freed = std::get_if<ReleaseWork>(&work)) {
    enqueue_graph_memory(queue, freed->memory, "cudaGraphAddMemFreeNode", freed->caller);
  }
  if (const auto* record = std::get_if<EventRecord>(&work)) record_in(queue, record->event);
  if (const auto* wait = std::get_if<EventWait>(&work)) wait_in(queue, wait->event);
}

/// What the graph allocates must not be allocated, and what it frees must be: each node in its turn.
cudaError_t check_graph_memory(const Exec& exec) {
  std::map<const GraphMemory*, bool> is_allocated;
  const auto now = [&](const GraphMemory& memory) -> bool& {
    const bool before = memory.allocated && !exec.frees_on_launch;
    return is_allocated.try_emplace(&memory, before).first->second;
  };
  for (const Exec::Node& node : exec.nodes) {
    if (const auto* made = std::get_if<AllocationWork>(&node.work)) {
      if (std::exchange(now(*made->memory), true)) return failed(cudaErrorInvalidValue);
    }
    if (const auto* freed = std::get_if<ReleaseWork>(&node.work)) {
      if (!is_allocated.contains(freed->memory.get()) && freed->memory->allocated) {
        is_allocated[freed->memory.get()] = true;  // by another graph
      }
      if (!std::exchange(now(*freed->memory), false)) return failed(cudaErrorInvalidValue);
    }
  }
  return cudaSuccess;
}

/// Counts what a launch allocates and frees. What the launch before has left is freed first.
void take_graph_memory(const Exec& exec, CUstream_st& stream) {
  for (const Exec::Node& node : exec.nodes) {
    if (const auto* made = std::get_if<AllocationWork>(&node.work)) {
      if (made->memory->allocated) {
        graph_memory_is_freed(made->memory);
        enqueue_graph_memory(stream, made->memory, "cudaGraphLaunch", made->caller);
      }
      graph_memory_is_allocated(made->memory);
    }
    if (const auto* freed = std::get_if<ReleaseWork>(&node.work)) {
      graph_memory_is_freed(freed->memory);
    }
  }
}

void launch_graph(Exec& exec, CUstream_st& stream) {
  if (exec.ended) push_wait(stream, exec.ended);
  const std::shared_ptr<const Mark> begun = push_mark(stream);
  std::vector<CUstream_st*> queues;
  for (std::size_t c = 0; c < exec.chains.size(); ++c) {
    Exec::Chain& chain = exec.chains[c];
    if (c == 0 && chain.device == stream.device) {
      queues.push_back(&stream);
      continue;
    }
    if (chain.queue == nullptr) chain.queue = take_queue(chain.device);
    queues.push_back(chain.queue);
    push_wait(*chain.queue, begun);
  }
  std::vector<std::shared_ptr<const Mark>> done(exec.nodes.size());
  for (std::size_t i = 0; i < exec.nodes.size(); ++i) {
    const Exec::Node& node = exec.nodes[i];
    CUstream_st& queue = *queues[node.chain];
    for (const std::size_t before : node.dependencies) {
      if (exec.nodes[before].chain != node.chain) push_wait(queue, done[before]);
    }
    queue_work(queue, node.work);
    if (node.is_awaited) done[i] = push_mark(queue);
  }
  for (std::size_t c = 0; c < exec.chains.size(); ++c) {
    if (queues[c] != &stream) push_wait(stream, done[exec.chains[c].last]);
  }
  exec.ended = push_mark(stream);
}

/// The node of the graph that it was made from gets other parameters.
cudaError_t replace_in_exec(cudaGraphExec_t handle, cudaGraphNode_t node, CheckedWork parameters) {
  if (parameters.error != cudaSuccess) return parameters.error;
  NodeWork& work = parameters.work;
  Exec* exec = find_exec(handle);
  if (exec == nullptr) return failed(cudaErrorInvalidValue);
  for (Exec::Node& mine : exec->nodes) {
    if (mine.original != node || mine.work.index() != work.index()) continue;
    mine.work = std::move(work);
    return cudaSuccess;
  }
  return failed(cudaErrorInvalidValue);
}

cudaGraphExecUpdateResult take_parameters(Exec& exec, Exec& from) {
  if (from.nodes.size() != exec.nodes.size()) return cudaGraphExecUpdateErrorTopologyChanged;
  for (std::size_t i = 0; i < exec.nodes.size(); ++i) {
    if (from.nodes[i].dependencies != exec.nodes[i].dependencies) {
      return cudaGraphExecUpdateErrorTopologyChanged;
    }
    if (from.nodes[i].work.index() != exec.nodes[i].work.index()) {
      return cudaGraphExecUpdateErrorNodeTypeChanged;
    }
    if (std::holds_alternative<AllocationWork>(exec.nodes[i].work) ||
        std::holds_alternative<ReleaseWork>(exec.nodes[i].work)) {
      return cudaGraphExecUpdateErrorNotSupported;
    }
    if (from.nodes[i].device != exec.nodes[i].device) {
      return cudaGraphExecUpdateErrorParametersChanged;
    }
  }
  for (std::size_t i = 0; i < exec.nodes.size(); ++i) {
    exec.nodes[i].work = std::move(from.nodes[i].work);
  }
  return cudaGraphExecUpdateSuccess;
}

}  // namespace
}  // namespace simt

// ---- the runtime API ----------------------------------------------------------------------------

cudaError_t cudaGraphInstantiate(cudaGraphExec_t* exec, cudaGraph_t handle,
                                 unsigned long long flags) {
  if (const cudaError_t error = simt::enter(SIMT_CALLER)) return error;
  constexpr unsigned long long known =
      cudaGraphInstantiateFlagAutoFreeOnLaunch | cudaGraphInstantiateFlagUseNodePriority;
  const CUgraph_st* graph = simt::find_graph(handle);
  if (exec == nullptr || graph == nullptr) return simt::failed(cudaErrorInvalidValue);
  // Launches from a kernel, and an upload whose stream no parameter names.
  if ((flags & ~known) != 0) return simt::failed(cudaErrorNotSupported);
  std::unique_ptr<CUgraphExec_st> made = simt::make_exec(*graph);
  if (made == nullptr) return simt::failed(cudaErrorInvalidValue);
  made->frees_on_launch = (flags & cudaGraphInstantiateFlagAutoFreeOnLaunch) != 0;
  *exec = made.get();
  simt::ready_graphs().push_back(std::move(made));
  return cudaSuccess;
}

cudaError_t cudaGraphInstantiateWithFlags(cudaGraphExec_t* exec, cudaGraph_t graph,
                                          unsigned long long flags) {
  return cudaGraphInstantiate(exec, graph, flags);
}

cudaError_t cudaGraphUpload(cudaGraphExec_t exec, cudaStream_t stream) {
  if (const cudaError_t error = simt::enter(SIMT_CALLER)) return error;
  if (simt::find_exec(exec) == nullptr) return simt::failed(cudaErrorInvalidValue);
  const bool known = simt::find_stream(stream) != nullptr;
  return known ? cudaSuccess : simt::failed(cudaErrorInvalidResourceHandle);
}

cudaError_t cudaGraphLaunch(cudaGraphExec_t handle, cudaStream_t stream_handle) {
  if (const cudaError_t error = simt::enter(SIMT_CALLER)) return error;
  CUgraphExec_st* exec = simt::find_exec(handle);
  CUstream_st* stream = simt::find_stream(stream_handle);
  if (exec == nullptr) return simt::failed(cudaErrorInvalidValue);
  if (stream == nullptr) return simt::failed(cudaErrorInvalidResourceHandle);
  if (simt::is_capturing(*stream)) return simt::check_wait(*stream);
  if (const cudaError_t error = simt::check_work(*stream)) return error;
  if (const cudaError_t error = simt::check_memory(*exec, SIMT_CALLER)) return error;
  if (const cudaError_t error = simt::check_graph_memory(*exec)) return error;
  simt::take_graph_memory(*exec, *stream);
  simt::launch_graph(*exec, *stream);
  return cudaSuccess;
}

cudaError_t cudaGraphExecDestroy(cudaGraphExec_t handle) {
  return simt::destroy_found(handle, simt::find_exec, simt::destroy_exec, SIMT_CALLER);
}

cudaError_t cudaGraphExecKernelNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node,
                                             const cudaKernelNodeParams* parameters) {
  if (const cudaError_t error = simt::enter(SIMT_CALLER)) return error;
  return simt::replace_in_exec(exec, node, simt::kernel_work(parameters));
}

cudaError_t cudaGraphExecMemcpyNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node,
                                             const cudaMemcpy3DParms* parameters) {
  if (const cudaError_t error = simt::enter(SIMT_CALLER)) return error;
  return simt::replace_in_exec(exec, node, simt::copy_work(parameters, SIMT_CALLER));
}

cudaError_t cudaGraphExecMemcpyNodeSetParams1D(cudaGraphExec_t exec, cudaGraphNode_t node, void* to,
                                               const void* from, std::size_t bytes,
                                               cudaMemcpyKind kind) {
  if (const cudaError_t error = simt::enter(SIMT_CALLER)) return error;
  return simt::replace_in_exec(exec, node, simt::copy_work(to, from, bytes, kind, SIMT_CALLER));
}

cudaError_t cudaGraphExecMemsetNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node,
                                             const cudaMemsetParams* parameters) {
  if (const cudaError_t error = simt::enter(SIMT_CALLER)) return error;
  return simt::replace_in_exec(exec, node, simt::memset_work(parameters, SIMT_CALLER));
}

cudaError_t cudaGraphExecHostNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node,
                                           const cudaHostNodeParams* parameters) {
  if (const cudaError_t error = simt::enter(SIMT_CALLER)) return error;
  return simt::replace_in_exec(exec, node, simt::host_work(parameters));
}

cudaError_t cudaGraphExecUpdate(cudaGraphExec_t handle, cudaGraph_t graph_handle,
                                cudaGraphExecUpdateResultInfo* info) {
  if (const cudaError_t error = simt::enter(SIMT_CALLER)) return error;
  CUgraphExec_st* exec = simt::find_exec(handle);
  const CUgraph_st* graph = simt::find_graph(graph_handle);
  if (exec == nullptr || graph == nullptr) return simt::failed(cudaErrorInvalidValue);
  const std::unique_ptr<CUgraphExec_st> from = simt::make_exec(*graph);
  const cudaGraphExecUpdateResult result =
      from == nullptr ? cudaGraphExecUpdateError : simt::take_parameters(*exec, *from);
  if (info != nullptr) *info = {result, nullptr, nullptr};
  if (result == cudaGraphExecUpdateSuccess) return cudaSuccess;
  return simt::failed(cudaErrorGraphExecUpdateFailure);
}
