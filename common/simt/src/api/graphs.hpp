// Graphs as data: nodes, what they do, and what comes before them.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>

#include "api/copies.hpp"
#include "api/graph_memory.hpp"
#include "simt/api.hpp"

namespace simt {

struct EmptyWork {};
struct HostWork {
  std::function<void()> call;
};
struct ChildGraph {
  std::shared_ptr<const CUgraph_st> graph;  // the node's own copy
};
struct EventRecord {
  cudaEvent_t event;
};
struct EventWait {
  cudaEvent_t event;
};
/// What a node does. In the order of node_type() in graphs.cpp.
using NodeWork = std::variant<EmptyWork, Launch, Copy, Memset, HostWork, ChildGraph, AllocationWork,
                              ReleaseWork, EventRecord, EventWait>;

/// The parameters of a node as what the node does; an error if they mean nothing.
struct CheckedWork {
  template <class Work>
  CheckedWork(Work made) : work(std::move(made)) {}
  CheckedWork(cudaError_t found) : error(found) {}
  NodeWork work;
  cudaError_t error = cudaSuccess;
};

}  // namespace simt

struct CUgraphNode_st {
  CUgraph_st* graph;
  simt::NodeWork work;
  int device;  // that runs it
  std::vector<CUgraphNode_st*> dependencies;
};

struct CUgraph_st {
  std::vector<std::unique_ptr<CUgraphNode_st>> nodes;  // in the order in which they were made
  std::unordered_map<const CUgraphNode_st*, CUgraphNode_st*>
      clones;  // by the original, if it is one
};

namespace simt {

using Nodes = std::vector<CUgraphNode_st*>;

CUgraph_st* make_graph();
/// Null if the handle stands for no graph.
CUgraph_st* find_graph(cudaGraph_t handle);
/// The node, if it is one of a graph that exists; else null.
CUgraphNode_st* find_node(cudaGraphNode_t handle);
void destroy_graph(CUgraph_st& graph);
/// The call that makes a node: after those of a list, if they are nodes of the graph.
cudaError_t new_node(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* list,
                     std::size_t count, CheckedWork work);
/// A node gets other parameters, for work of the same kind.
cudaError_t replace_work(cudaGraphNode_t node, CheckedWork work);
CUgraphNode_st* add_node(CUgraph_st& graph, NodeWork work, Nodes dependencies);
/// The nodes of which no other depends.
Nodes leaves(const CUgraph_st& graph);

CheckedWork kernel_work(const cudaKernelNodeParams* parameters);
CheckedWork copy_work(const cudaMemcpy3DParms* parameters, const void* caller);
CheckedWork copy_work(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind,
                      const void* caller);
CheckedWork memset_work(const cudaMemsetParams* parameters, const void* caller);
CheckedWork host_work(const cudaHostNodeParams* parameters);

}  // namespace simt
