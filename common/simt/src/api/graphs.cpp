// The runtime API: graphs made of nodes.
#include "api/graphs.hpp"

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "api/errors.hpp"
#include "api/events.hpp"
#include "api/launches.hpp"
#include "memory/devices.hpp"
#include "simt/launch.hpp"

namespace simt {
namespace {

std::vector<std::unique_ptr<CUgraph_st>>& graphs() {
  static auto& all = *new std::vector<std::unique_ptr<CUgraph_st>>;
  return all;
}

constexpr cudaGraphNodeType kNodeTypes[] = {
    cudaGraphNodeTypeEmpty,    cudaGraphNodeTypeKernel,  cudaGraphNodeTypeMemcpy,
    cudaGraphNodeTypeMemset,   cudaGraphNodeTypeHost,    cudaGraphNodeTypeGraph,
    cudaGraphNodeTypeMemAlloc, cudaGraphNodeTypeMemFree, cudaGraphNodeTypeEventRecord,
    cudaGraphNodeTypeWaitEvent};

cudaGraphNodeType node_type(const NodeWork& work) { return kNodeTypes[work.index()]; }

bool belongs(const CUgraphNode_st* node, const CUgraph_st& graph) {
  return std::any_of(graph.nodes.begin(), graph.nodes.end(),
                     [&](const auto& owned) { return owned.get() == node; });
}

/// The list of dependencies of a new node; false if they are not all nodes of the graph.
bool read_nodes(const CUgraph_st& graph, const cudaGraphNode_t* list, std::size_t count,
                Nodes* nodes) {
  if (list == nullptr && count > 0) return false;
  for (std::size_t i = 0; i < count; ++i) {
    const bool twice = std::find(nodes->begin(), nodes->end(), list[i]) != nodes->end();
    if (twice || !belongs(list[i], graph)) return false;
    nodes->push_back(list[i]);
  }
  return true;
}

/// As CUDA gives lists: an array of null asks how many there are; what an array has no room for is
/// left out, and what it has too much is null.
cudaError_t give_list(const Nodes& list, cudaGraphNode_t* array, std::size_t* count) {
  if (count == nullptr) return failed(cudaErrorInvalidValue);
  if (array != nullptr) {
    for (std::size_t i = 0; i < *count; ++i) array[i] = i < list.size() ? list[i] : nullptr;
  }
  if (array == nullptr || *count > list.size()) *count = list.size();
  return cudaSuccess;
}

Nodes all_nodes(const CUgraph_st& graph) {
  Nodes list;
  for (const auto& node : graph.nodes) list.push_back(node.get());
  return list;
}

std::unique_ptr<CUgraph_st> copy_of(const CUgraph_st& original) {
  auto copy = std::make_unique<CUgraph_st>();
  for (const auto& node : original.nodes) {
    copy->nodes.push_back(
        std::make_unique<CUgraphNode_st>(CUgraphNode_st{copy.get(), node->work, node->device, {}}));
    copy->clones[node.get()] = copy->nodes.back().get();
  }
  for (const auto& node : original.nodes) {
    for (const CUgraphNode_st* before : node->dependencies) {
      copy->clones[node.get()]->dependencies.push_back(copy->clones[before]);
    }
  }
  return copy;
}

/// A graph that allocates memory is the only one with its addresses.
bool has_memory(const CUgraph_st& graph) {
  return std::any_of(graph.nodes.begin(), graph.nodes.end(), [](const auto& node) {
    return std::holds_alternative<AllocationWork>(node->work) ||
           std::holds_alternative<ReleaseWork>(node->work);
  });
}

/// Two nodes of one graph.
struct Edge {
  CUgraphNode_st *from, *to;
};

/// The edges of cudaGraphAddDependencies(); false if one is no edge between nodes of the graph.
bool read_edges(const CUgraph_st& graph, const cudaGraphNode_t* from, const cudaGraphNode_t* to,
                std::size_t count, std::vector<Edge>* edges) {
  if (count > 0 && (from == nullptr || to == nullptr)) return false;
  for (std::size_t i = 0; i < count; ++i) {
    if (from[i] == to[i] || !belongs(from[i], graph) || !belongs(to[i], graph)) return false;
    edges->push_back({from[i], to[i]});
  }
  return true;
}

bool depends(const Edge& edge) {
  const Nodes& before = edge.to->dependencies;
  return std::find(before.begin(), before.end(), edge.from) != before.end();
}

/// The nodes that depend on it do so no longer.
void destroy_node(CUgraphNode_st& node) {
  CUgraph_st& graph = *node.graph;
  for (const auto& other : graph.nodes) std::erase(other->dependencies, &node);
  std::erase_if(graph.nodes, [&](const auto& owned) { return owned.get() == &node; });
}

}  // namespace

CUgraph_st* make_graph() {
  graphs().push_back(std::make_unique<CUgraph_st>());
  return graphs().back().get();
}

CUgraph_st* find_graph(cudaGraph_t handle) {
  const auto& all = graphs();
  const bool exists =
      std::any_of(all.begin(), all.end(), [&](const auto& graph) { return graph.get() == handle; });
  return exists ? handle : nullptr;
}

CUgraphNode_st* find_node(cudaGraphNode_t handle) {
  const auto& all = graphs();
  const bool exists = std::any_of(all.begin(), all.end(),
                                  [&](const auto& graph) { return belongs(handle, *graph); });
  return exists ? handle : nullptr;
}

void destroy_graph(CUgraph_st& graph) {
  std::erase_if(graphs(), [&](const auto& owned) { return owned.get() == &graph; });
}

cudaError_t new_node(cudaGraphNode_t* node, cudaGraph_t handle, const cudaGraphNode_t* list,
                     std::size_t count, CheckedWork work) {
  if (work.error != cudaSuccess) return work.error;
  CUgraph_st* graph = find_graph(handle);
  Nodes dependencies;
  if (node == nullptr || graph == nullptr || !read_nodes(*graph, list, count, &dependencies)) {
    return failed(cudaErrorInvalidValue);
  }
  *node = add_node(*graph, std::move(work.work), std::move(dependencies));
  return cudaSuccess;
}

cudaError_t replace_work(cudaGraphNode_t handle, CheckedWork parameters) {
  if (parameters.error != cudaSuccess) return parameters.error;
  NodeWork& work = parameters.work;
  CUgraphNode_st* node = find_node(handle);
  if (node == nullptr || node->work.index() != work.index()) return failed(cudaErrorInvalidValue);
  node->work = std::move(work);
  return cudaSuccess;
}

CUgraphNode_st* add_node(CUgraph_st& graph, NodeWork work, Nodes dependencies) {
  graph.nodes.push_back(std::make_unique<CUgraphNode_st>(
      CUgraphNode_st{&graph, std::move(work), current_device(), std::move(dependencies)}));
  return graph.nodes.back().get();
}

Nodes leaves(const CUgraph_st& graph) {
  Nodes list = all_nodes(graph);
  for (const auto& node : graph.nodes) {
    for (const CUgraphNode_st* before : node->dependencies) std::erase(list, before);
  }
  return list;
}

// ---- parameters of nodes --------------------------------------------------------------------------

CheckedWork kernel_work(const cudaKernelNodeParams* parameters) {
  if (parameters == nullptr || parameters->extra != nullptr) return failed(cudaErrorInvalidValue);
  const cudaKernelNodeParams& p = *parameters;
  Launch launch;
  launch.grid = p.gridDim;
  launch.block = p.blockDim;
  launch.shared_bytes = p.sharedMemBytes;
  if (const cudaError_t error = bind_kernel(launch, p.func, p.kernelParams)) return error;
  if (const cudaError_t error = check_configuration(launch)) return failed(error);
  return launch;
}

CheckedWork copy_work(const cudaMemcpy3DParms* parameters, const void* caller) {
  if (parameters == nullptr) return failed(cudaErrorInvalidValue);
  Copy copy{};
  if (const cudaError_t error = volume_copy("cudaGraphAddMemcpyNode", *parameters, &copy)) {
    return error;
  }
  if (copy.shape.empty()) return failed(cudaErrorInvalidValue);
  if (const cudaError_t error = check_copy(copy, caller)) return error;
  copy.caller = caller;
  return copy;
}

CheckedWork copy_work(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind,
                      const void* caller) {
  if (bytes == 0) return failed(cudaErrorInvalidValue);
  Copy copy = plain_copy("cudaGraphAddMemcpyNode1D", to, from, bytes, kind);
  if (const cudaError_t error = check_copy(copy, caller)) return error;
  copy.caller = caller;
  return copy;
}

CheckedWork memset_work(const cudaMemsetParams* parameters, const void* caller) {
  if (parameters == nullptr) return failed(cudaErrorInvalidValue);
  const cudaMemsetParams& p = *parameters;
  const bool known = p.elementSize == 1 || p.elementSize == 2 || p.elementSize == 4;
  if (!known || p.width == 0 || p.height == 0) return failed(cudaErrorInvalidValue);
  Memset memset{"cudaGraphAddMemsetNode",
                p.dst,
                {p.pitch},
                {p.width * p.elementSize, p.height},
                p.value,
                p.elementSize};
  if (const cudaError_t error = check_memset(current_device(), memset, caller)) return error;
  memset.caller = caller;
  return memset;
}

CheckedWork host_work(const cudaHostNodeParams* parameters) {
  if (parameters == nullptr || parameters->fn == nullptr) return failed(cudaErrorInvalidValue);
  return HostWork{[function = parameters->fn, data = parameters->userData] { function(data); }};
}

}  // namespace simt

// ---- graphs -------------------------------------------------------------------------------------

cudaError_t cudaGraphCreate(cudaGraph_t* graph, unsigned flags) {
  if (const cudaError_t error = simt::enter(SIMT_CALLER)) return error;
  if (graph == nullptr || flags != 0) return simt::failed(cudaErrorInvalidValue);
  *graph = simt::make_graph();
  return cudaSuccess;
}

cudaError_t cudaGraphDestroy(cudaGraph_t handle) {
  return simt::destroy_found(handle, simt::find_graph, simt::destroy_graph, SIMT_CALLER);
}

cudaError_t cudaGraphClone(cudaGraph_t* clone, cudaGraph_t handle) {
  if (const cudaError_t error = simt::enter(SIMT_CALLER)) return error;
  const CUgraph_st* original = simt::find_graph(handle);
  if (clone == nullptr || original == nullptr) return simt::failed(cudaErrorInvalidValue);
  if (simt::has_memory(*original)) return simt::failed(cudaErrorNotSupported);
  simt::graphs().push_back(simt::copy_of(*original));
  *clone = simt::graphs().back().get();
  return cudaSuccess;
}

cudaError_t cudaGraphNodeFindInClone(cudaGraphNode_t* node, cudaGraphNode_t original,
                                     cudaGraph_t handle) {
  if (const cudaError_t error = simt::enter(SIMT_CALLER)) return error;
  const CUgraph_st* clone = simt::find_graph(handle);
  if (node == nullptr || clone == nullptr || !clone->clones.contains(original)) {
    return simt::failed(cudaErrorInvalidValue);
  }
  *node = clone->clones.at(original);
  return cudaSuccess;
}

// ---- nodes --------------------------------------------------------------------------------------

cudaError_t cudaGraphAddKernelNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                   const cudaGraphNode_t* dependencies, std::size_t count,
                                   const cudaKernelNodeParams* parameters) {
  if (const cudaError_t error = simt::enter(SIMT_CALLER)) return error;
  return simt::new_node(node, graph, dependencies, count, simt::kernel_work(parameters));
}

cudaError_t cudaGraphAddMemcpyNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                   const cudaGraphNode_t* dependencies, std::size_t count,
                                   const cudaMemcpy3DParms* parameters) {
  if (const cudaError_t error = simt::enter(SIMT_CALLER)) return error;
  return simt::new_node(node, graph, dependencies, count, simt::copy_work(parameters, SIMT_CALLER));
}

cudaError_t cudaGraphAddMemcpyNode1D(cudaGraphNode_t* node, cudaGraph_t graph,
                                     const cudaGraphNode_t* dependencies, std::size_t count,
                                     void* to, const void* from, std::size_t bytes,
                                     cudaMemcpyKind kind) {
  if (const cudaError_t error = simt::enter(SIMT_CALLER)) return error;
  return simt::new_node(node, graph, dependencies, count,
                        simt::copy_work(to, from, bytes, kind, SIMT_CALLER));
}

cudaError_t cudaGraphAddMemsetNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                   const cudaGraphNode_t* dependencies, std::size_t count,
                                   const cudaMemsetParams* parameters) {
  if (const cudaError_t error = simt::enter(SIMT_CALLER)) return error;
  return simt::new_node(node, graph, dependencies, count,
                        simt::memset_work(parameters, SIMT_CALLER));
}

cudaError_t cudaGraphAddHostNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                 const cudaGraphNode_t* dependencies, std::size_t count,
                                 const cudaHostNodeParams* parameters) {
  if (const cudaError_t error = simt::enter(SIMT_CALLER)) return error;
  return simt::new_node(node, graph, dependencies, count, simt::host_work(parameters));
}

cudaError_t cudaGraphAddEventRecordNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                        const cudaGraphNode_t* dependencies, std::size_t count,
                                        cudaEvent_t event) {
  if (const cudaError_t error = simt::enter(SIMT_CALLER)) return error;
  if (!simt::is_event(event)) return simt::failed(cudaErrorInvalidResourceHandle);
  return simt::new_node(node, graph, dependencies, count, simt::EventRecord{event});
}

cudaError_t cudaGraphAddEventWaitNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                      const cudaGraphNode_t* dependencies, std::size_t count,
                                      cudaEvent_t event) {
  if (const cudaError_t error = simt::enter(SIMT_CALLER)) return error;
  if (!simt::is_event(event)) return simt::failed(cudaErrorInvalidResourceHandle);
  return simt::new_node(node, graph, dependencies, count, simt::EventWait{event});
}

cudaError_t cudaGraphAddEmptyNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                  const cudaGraphNode_t* dependencies, std::size_t count) {
  if (const cudaError_t error = simt::enter(SIMT_CALLER)) return error;
  return simt::new_node(node, graph, dependencies, count, simt::EmptyWork{});
}

cudaError_t cudaGraphAddChildGraphNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                       const cudaGraphNode_t* dependencies, std::size_t count,
                                       cudaGraph_t handle) {
  if (const cudaError_t error = simt::enter(SIMT_CALLER)) return error;
  const CUgraph_st* child = simt::find_graph(handle);
  if (child == nullptr) return simt::failed(cudaErrorInvalidValue);
  if (simt::has_memory(*child)) return simt::failed(cudaErrorNotSupported);
  simt::ChildGraph work{simt::copy_of(*child)};
  return simt::new_node(node, graph, dependencies, count, std::move(work));
}

cudaError_t cudaGraphKernelNodeSetParams(cudaGraphNode_t node,
                                         const cudaKernelNodeParams* parameters) {
  if (const cudaError_t error = simt::enter(SIMT_CALLER)) return error;
  return simt::replace_work(node, simt::kernel_work(parameters));
}

cudaError_t cudaGraphMemcpyNodeSetParams(cudaGraphNode_t node,
                                         const cudaMemcpy3DParms* parameters) {
  if (const cudaError_t error = simt::enter(SIMT_CALLER)) return error;
  return simt::replace_work(node, simt::copy_work(parameters, SIMT_CALLER));
}

cudaError_t cudaGraphMemsetNodeSetParams(cudaGraphNode_t node, const cudaMemsetParams* parameters) {
  if (const cudaError_t error = simt::enter(SIMT_CALLER)) return error;
  return simt::replace_work(node, simt::memset_work(parameters, SIMT_CALLER));
}

cudaError_t cudaGraphHostNodeSetParams(cudaGraphNode_t node, const cudaHostNodeParams* parameters) {
  if (const cudaError_t error = simt::enter(SIMT_CALLER)) return error;
  return simt::replace_work(node, simt::host_work(parameters));
}

// ---- what a graph is made of ----------------------------------------------------------------------

cudaError_t cudaGraphGetNodes(cudaGraph_t handle, cudaGraphNode_t* nodes, std::size_t* count) {
  if (const cudaError_t error = simt::enter(SIMT_CALLER)) return error;
  const CUgraph_st* graph = simt::find_graph(handle);
  if (graph == nullptr) return simt::failed(cudaErrorInvalidValue);
  return simt::give_list(simt::all_nodes(*graph), nodes, count);
}

cudaError_t cudaGraphGetRootNodes(cudaGraph_t handle, cudaGraphNode_t* nodes, std::size_t* count) {
  if (const cudaError_t error = simt::enter(SIMT_CALLER)) return error;
  const CUgraph_st* graph = simt::find_graph(handle);
  if (graph == nullptr) return simt::failed(cudaErrorInvalidValue);
  simt::Nodes roots = simt::all_nodes(*graph);
  std::erase_if(roots, [](const CUgraphNode_st* node) { return !node->dependencies.empty(); });
  return simt::give_list(roots, nodes, count);
}

cudaError_t cudaGraphGetEdges(cudaGraph_t handle, cudaGraphNode_t* from, cudaGraphNode_t* to,
                              cudaGraphEdgeData* edges, std::size_t* count) {
  if (const cudaError_t error = simt::enter(SIMT_CALLER)) return error;
  const CUgraph_st* graph = simt::find_graph(handle);
  if (graph == nullptr || count == nullptr) return simt::failed(cudaErrorInvalidValue);
  simt::Nodes sources, targets;
  for (const auto& node : graph->nodes) {
    for (CUgraphNode_st* before : node->dependencies) {
      sources.push_back(before);
      targets.push_back(node.get());
    }
  }
  std::size_t room = *count;
  for (std::size_t i = 0; edges != nullptr && i < room; ++i) edges[i] = {};
  static_cast<void>(simt::give_list(sources, from, &room));
  return simt::give_list(targets, to, count);
}

cudaError_t cudaGraphNodeGetType(cudaGraphNode_t handle, cudaGraphNodeType* type) {
  if (const cudaError_t error = simt::enter(SIMT_CALLER)) return error;
  const CUgraphNode_st* node = simt::find_node(handle);
  if (node == nullptr || type == nullptr) return simt::failed(cudaErrorInvalidValue);
  *type = simt::node_type(node->work);
  return cudaSuccess;
}

cudaError_t cudaGraphNodeGetDependencies(cudaGraphNode_t handle, cudaGraphNode_t* dependencies,
                                         cudaGraphEdgeData* edges, std::size_t* count) {
  if (const cudaError_t error = simt::enter(SIMT_CALLER)) return error;
  const CUgraphNode_st* node = simt::find_node(handle);
  if (node == nullptr || count == nullptr) return simt::failed(cudaErrorInvalidValue);
  for (std::size_t i = 0; edges != nullptr && i < *count; ++i) edges[i] = {};
  return simt::give_list(node->dependencies, dependencies, count);
}

cudaError_t cudaGraphNodeGetDependentNodes(cudaGraphNode_t handle, cudaGraphNode_t* dependents,
                                           cudaGraphEdgeData* edges, std::size_t* count) {
  if (const cudaError_t error = simt::enter(SIMT_CALLER)) return error;
  CUgraphNode_st* node = simt::find_node(handle);
  if (node == nullptr || count == nullptr) return simt::failed(cudaErrorInvalidValue);
  for (std::size_t i = 0; edges != nullptr && i < *count; ++i) edges[i] = {};
  simt::Nodes list = simt::all_nodes(*node->graph);
  std::erase_if(list, [&](CUgraphNode_st* other) { return !simt::depends({node, other}); });
  return simt::give_list(list, dependents, count);
}

cudaError_t cudaGraphAddDependencies(cudaGraph_t handle, const cudaGraphNode_t* from,
                                     const cudaGraphNode_t* to, const cudaGraphEdgeData*,
                                     std::size_t count) {
  if (const cudaError_t error = simt::enter(SIMT_CALLER)) return error;
  const CUgraph_st* graph = simt::find_graph(handle);
  std::vector<simt::Edge> edges;
  if (graph == nullptr || !simt::read_edges(*graph, from, to, count, &edges) ||
      std::any_of(edges.begin(), edges.end(), simt::depends)) {
    return simt::failed(cudaErrorInvalidValue);
  }
  for (const simt::Edge& edge : edges) edge.to->dependencies.push_back(edge.from);
  return cudaSuccess;
}

cudaError_t cudaGraphRemoveDependencies(cudaGraph_t handle, const cudaGraphNode_t* from,
                                        const cudaGraphNode_t* to, const cudaGraphEdgeData*,
                                        std::size_t count) {
  if (const cudaError_t error = simt::enter(SIMT_CALLER)) return error;
  const CUgraph_st* graph = simt::find_graph(handle);
  std::vector<simt::Edge> edges;
  if (graph == nullptr || !simt::read_edges(*graph, from, to, count, &edges) ||
      !std::all_of(edges.begin(), edges.end(), simt::depends)) {
    return simt::failed(cudaErrorInvalidValue);
  }
  for (const simt::Edge& edge : edges) std::erase(edge.to->dependencies, edge.from);
  return cudaSuccess;
}

cudaError_t cudaGraphDestroyNode(cudaGraphNode_t handle) {
  return simt::destroy_found(handle, simt::find_node, simt::destroy_node, SIMT_CALLER);
}
