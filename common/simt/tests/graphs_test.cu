// Graphs: made of nodes and captured from streams, what runs in which order, and what a capture forbids.
#include <cuda_runtime.h>

#include <catch2/catch_test_macros.hpp>
#include <cstdint>
#include <vector>

#include "streams.hpp"
#ifdef SIMT_CPU_DEVICE
#include "testing.hpp"
#endif

namespace {

constexpr int kCount = 32;
constexpr std::size_t kBytes = kCount * sizeof(int);

__global__ void append(int* values, int digit) {
  values[threadIdx.x] = values[threadIdx.x] * 10 + digit;
}
__global__ void add(int* to, const int* a, const int* b) {
  to[threadIdx.x] = a[threadIdx.x] + b[threadIdx.x];
}

struct Device {
  int* d = nullptr;
  Device() {
    REQUIRE(cudaMalloc(&d, kBytes) == cudaSuccess);
    REQUIRE(cudaMemset(d, 0, kBytes) == cudaSuccess);
    REQUIRE(cudaDeviceSynchronize() == cudaSuccess);
  }
  ~Device() { static_cast<void>(cudaFree(d)); }
  Device(const Device&) = delete;
  int value() const {
    std::vector<int> host(kCount);
    CHECK(cudaMemcpy(host.data(), d, kBytes, cudaMemcpyDeviceToHost) == cudaSuccess);
    for (const int element : host) CHECK(element == host[0]);
    return host[0];
  }
};

struct Stream : simt_test::OwnedStream {
  explicit Stream(unsigned flags = cudaStreamNonBlocking) : Owned(flags) {}
};

struct Event : simt_test::OwnedEvent {
  Event() : Owned(cudaEventDisableTiming) {}
};

struct Graph {
  cudaGraph_t handle = nullptr;
  Graph() { REQUIRE(cudaGraphCreate(&handle, 0) == cudaSuccess); }
  explicit Graph(cudaGraph_t graph) : handle(graph) {}
  ~Graph() { static_cast<void>(cudaGraphDestroy(handle)); }
  Graph(const Graph&) = delete;
  operator cudaGraph_t() const { return handle; }

  std::size_t size() const {
    std::size_t count = 0;
    CHECK(cudaGraphGetNodes(handle, nullptr, &count) == cudaSuccess);
    return count;
  }
  cudaGraphNode_t append_digit(int* values, int digit, std::vector<cudaGraphNode_t> after = {}) {
    cudaGraphNode_t node = nullptr;
    const cudaKernelNodeParams parameters = kernel(values, digit);
    CHECK(cudaGraphAddKernelNode(&node, handle, after.data(), after.size(), &parameters) ==
          cudaSuccess);
    return node;
  }
  /// Of the kernel above; good until the next call.
  static cudaKernelNodeParams kernel(int* values, int digit) {
    static int* kept_values;
    static int kept_digit;
    static void* arguments[2];
    kept_values = values;
    kept_digit = digit;
    arguments[0] = &kept_values;
    arguments[1] = &kept_digit;
    cudaKernelNodeParams p{};
    p.func = reinterpret_cast<void*>(append);
    p.gridDim = dim3(1);
    p.blockDim = dim3(kCount);
    p.kernelParams = arguments;
    return p;
  }
};

struct Exec {
  cudaGraphExec_t handle = nullptr;
  explicit Exec(cudaGraph_t graph) {
    REQUIRE(cudaGraphInstantiate(&handle, graph, 0) == cudaSuccess);
  }
  ~Exec() { static_cast<void>(cudaGraphExecDestroy(handle)); }
  Exec(const Exec&) = delete;
  operator cudaGraphExec_t() const { return handle; }
};

void note_call(void* count) { ++*static_cast<int*>(count); }

cudaError_t last_error() { return cudaGetLastError(); }

}  // namespace

// ---- capture ------------------------------------------------------------------------------------

TEST_CASE("what a stream captures runs at each launch, and not before") {
  Device values;
  Stream stream;
  std::vector<int> start(kCount, 4), result(kCount);
  int calls = 0;
  REQUIRE(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal) == cudaSuccess);
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  CHECK(cudaStreamIsCapturing(stream, &status) == cudaSuccess);
  CHECK(status == cudaStreamCaptureStatusActive);
  CHECK(cudaMemcpyAsync(values.d, start.data(), kBytes, cudaMemcpyHostToDevice, stream) ==
        cudaSuccess);
  append<<<1, kCount, 0, stream>>>(values.d, 2);
  CHECK(cudaMemcpyAsync(result.data(), values.d, kBytes, cudaMemcpyDeviceToHost, stream) ==
        cudaSuccess);
  CHECK(cudaLaunchHostFunc(stream, note_call, &calls) == cudaSuccess);
  cudaGraph_t captured = nullptr;
  REQUIRE(cudaStreamEndCapture(stream, &captured) == cudaSuccess);
  Graph graph(captured);
  CHECK(cudaStreamIsCapturing(stream, &status) == cudaSuccess);
  CHECK(status == cudaStreamCaptureStatusNone);
  CHECK(graph.size() == 4);
  CHECK(cudaStreamSynchronize(stream) == cudaSuccess);
  CHECK(calls == 0);
  CHECK(values.value() == 0);

  Exec exec(graph);
  REQUIRE(cudaGraphLaunch(exec, stream) == cudaSuccess);
  CHECK(cudaStreamSynchronize(stream) == cudaSuccess);
  CHECK(result[kCount - 1] == 42);
  start.assign(kCount, 7);  // a graph reads the host's memory when it runs
  REQUIRE(cudaGraphLaunch(exec, stream) == cudaSuccess);
  CHECK(cudaStreamSynchronize(stream) == cudaSuccess);
  CHECK(result[0] == 72);
  CHECK(calls == 2);
}

TEST_CASE("a capture forks to other streams by events, and joins them") {
  Device a, b, sum;
  Stream first, second;
  Event forked, joined;
  REQUIRE(cudaStreamBeginCapture(first, cudaStreamCaptureModeThreadLocal) == cudaSuccess);
  CHECK(cudaMemsetAsync(a.d, 0, kBytes, first) == cudaSuccess);
  CHECK(cudaEventRecord(forked, first) == cudaSuccess);
  CHECK(cudaStreamWaitEvent(second, forked, 0) == cudaSuccess);
  append<<<1, kCount, 0, first>>>(a.d, 3);
  CHECK(cudaMemsetAsync(b.d, 0, kBytes, second) == cudaSuccess);
  append<<<1, kCount, 0, second>>>(b.d, 4);
  CHECK(cudaEventRecord(joined, second) == cudaSuccess);
  CHECK(cudaStreamWaitEvent(first, joined, 0) == cudaSuccess);
  add<<<1, kCount, 0, first>>>(sum.d, a.d, b.d);
  cudaGraph_t captured = nullptr;
  REQUIRE(cudaStreamEndCapture(first, &captured) == cudaSuccess);
  Graph graph(captured);
  CHECK(graph.size() == 5);
  std::size_t roots = 0, edges = 0;
  CHECK(cudaGraphGetRootNodes(graph, nullptr, &roots) == cudaSuccess);
  CHECK(roots == 1);
  CHECK(cudaGraphGetEdges(graph, nullptr, nullptr, nullptr, &edges) == cudaSuccess);
  CHECK(edges == 5);
  Exec exec(graph);
  REQUIRE(cudaGraphLaunch(exec, second) == cudaSuccess);
  CHECK(cudaStreamSynchronize(second) == cudaSuccess);
  CHECK(sum.value() == 7);  // a sum that came too early would find what a launch before has left
  for (int run = 0; run < 2; ++run) CHECK(cudaGraphLaunch(exec, first) == cudaSuccess);
  CHECK(cudaStreamSynchronize(first) == cudaSuccess);
  CHECK(sum.value() == 7);
}

TEST_CASE("the default stream launches graphs, too, in order with blocking streams") {
  Device values;
  Stream stream(cudaStreamDefault);
  Graph graph;
  graph.append_digit(values.d, 2, {graph.append_digit(values.d, 1)});
  Exec exec(graph);
  REQUIRE(cudaGraphLaunch(exec, nullptr) == cudaSuccess);
  append<<<1, kCount, 0, stream>>>(values.d, 3);
  REQUIRE(cudaGraphLaunch(exec, nullptr) == cudaSuccess);
  CHECK(values.value() == 12312);
}

TEST_CASE("a launch waits for the launch before, in whatever stream") {
  Device values;
  Stream a, b;
  Graph graph;
  graph.append_digit(values.d, 1, {graph.append_digit(values.d, 2)});
  Exec exec(graph);
  REQUIRE(cudaGraphLaunch(exec, a) == cudaSuccess);
  REQUIRE(cudaGraphLaunch(exec, b) == cudaSuccess);
  CHECK(cudaStreamSynchronize(b) == cudaSuccess);
  CHECK(values.value() == 2121);
}

// ---- nodes --------------------------------------------------------------------------------------

TEST_CASE("nodes of all kinds, as NVIDIA's sample makes them") {
  Device values, copy;
  std::vector<int> source(kCount, 6), result(kCount);
  int calls = 0;
  Graph graph;
  cudaGraphNode_t up = nullptr, zero = nullptr, kernel = nullptr, down = nullptr, host = nullptr,
                  empty = nullptr;
  cudaMemcpy3DParms copy_up{};
  copy_up.srcPtr = make_cudaPitchedPtr(source.data(), kBytes, kCount, 1);
  copy_up.dstPtr = make_cudaPitchedPtr(values.d, kBytes, kCount, 1);
  copy_up.extent = make_cudaExtent(kBytes, 1, 1);
  copy_up.kind = cudaMemcpyHostToDevice;
  REQUIRE(cudaGraphAddMemcpyNode(&up, graph, nullptr, 0, &copy_up) == cudaSuccess);
  cudaMemsetParams ones{};
  ones.dst = copy.d;
  ones.value = 0x00010002;
  ones.elementSize = 4;
  ones.width = kCount;
  ones.height = 1;
  REQUIRE(cudaGraphAddMemsetNode(&zero, graph, nullptr, 0, &ones) == cudaSuccess);
  REQUIRE(cudaGraphAddEmptyNode(&empty, graph, &up, 1) == cudaSuccess);
  kernel = graph.append_digit(values.d, 5, {empty, zero});
  REQUIRE(cudaGraphAddMemcpyNode1D(&down, graph, &kernel, 1, result.data(), values.d, kBytes,
                                   cudaMemcpyDeviceToHost) == cudaSuccess);
  cudaHostNodeParams call{note_call, &calls};
  REQUIRE(cudaGraphAddHostNode(&host, graph, &down, 1, &call) == cudaSuccess);
  CHECK(graph.size() == 6);
  cudaGraphNodeType type = cudaGraphNodeTypeEmpty;
  CHECK(cudaGraphNodeGetType(zero, &type) == cudaSuccess);
  CHECK(type == cudaGraphNodeTypeMemset);
  CHECK(cudaGraphNodeGetType(host, &type) == cudaSuccess);
  CHECK(type == cudaGraphNodeTypeHost);

  cudaGraphExec_t exec = nullptr;
  REQUIRE(cudaGraphInstantiate(&exec, graph, nullptr, nullptr, 0) == cudaSuccess);
  REQUIRE(cudaGraphLaunch(exec, nullptr) == cudaSuccess);
  CHECK(cudaStreamSynchronize(nullptr) == cudaSuccess);
  CHECK(result[0] == 65);
  CHECK(result[kCount - 1] == 65);
  CHECK(calls == 1);
  CHECK(copy.value() == 0x00010002);
  CHECK(cudaGraphExecDestroy(exec) == cudaSuccess);
  CHECK(cudaGraphExecDestroy(exec) == cudaErrorInvalidValue);
  CHECK(last_error() == cudaErrorInvalidValue);
}

TEST_CASE("what depends on what can be asked and changed") {
  Device values;
  Graph graph;
  const cudaGraphNode_t one = graph.append_digit(values.d, 1),
                        two = graph.append_digit(values.d, 2);
  CHECK(cudaGraphAddDependencies(graph, &two, &one, nullptr, 1) == cudaSuccess);
  CHECK(cudaGraphAddDependencies(graph, &two, &one, nullptr, 1) == cudaErrorInvalidValue);
  std::size_t count = 1;
  cudaGraphNode_t found = nullptr;
  CHECK(cudaGraphNodeGetDependencies(one, &found, nullptr, &count) == cudaSuccess);
  CHECK(found == two);
  CHECK(cudaGraphNodeGetDependentNodes(two, &found, nullptr, &count) == cudaSuccess);
  CHECK(found == one);
  {
    Exec exec(graph);
    REQUIRE(cudaGraphLaunch(exec, nullptr) == cudaSuccess);
    CHECK(values.value() == 21);
  }
  CHECK(cudaGraphAddDependencies(graph, &one, &two, nullptr, 1) == cudaSuccess);
  cudaGraphExec_t exec = nullptr;
  CHECK(cudaGraphInstantiate(&exec, graph, 0) == cudaErrorInvalidValue);  // a cycle
  CHECK(cudaGraphRemoveDependencies(graph, &two, &one, nullptr, 1) == cudaSuccess);
  CHECK(cudaGraphDestroyNode(two) == cudaSuccess);
  CHECK(graph.size() == 1);
  CHECK(cudaGraphNodeGetDependencies(one, nullptr, nullptr, &count) == cudaSuccess);
  CHECK(count == 0);
  static_cast<void>(last_error());
}

TEST_CASE("clones and children are copies of a graph as it is") {
  Device values;
  Graph graph;
  const cudaGraphNode_t one = graph.append_digit(values.d, 1);
  cudaGraph_t handle = nullptr;
  REQUIRE(cudaGraphClone(&handle, graph) == cudaSuccess);
  Graph clone(handle);
  cudaGraphNode_t copy = nullptr;
  CHECK(cudaGraphNodeFindInClone(&copy, one, clone) == cudaSuccess);
  CHECK(copy != nullptr);
  CHECK(copy != one);
  const cudaKernelNodeParams three = Graph::kernel(values.d, 3);
  CHECK(cudaGraphKernelNodeSetParams(copy, &three) == cudaSuccess);
  Graph parent;
  cudaGraphNode_t first = nullptr, second = nullptr;
  CHECK(cudaGraphAddChildGraphNode(&first, parent, nullptr, 0, graph) == cudaSuccess);
  CHECK(cudaGraphAddChildGraphNode(&second, parent, &first, 1, clone) == cudaSuccess);
  graph.append_digit(values.d, 9);  // too late
  parent.append_digit(values.d, 4, {second});
  Exec exec(parent);
  REQUIRE(cudaGraphLaunch(exec, nullptr) == cudaSuccess);
  CHECK(values.value() == 134);
}

TEST_CASE("a graph that is ready gets other parameters") {
  Device values;
  Graph graph, other, longer;
  const cudaGraphNode_t node = graph.append_digit(values.d, 1);
  Exec exec(graph);
  const cudaKernelNodeParams two = Graph::kernel(values.d, 2);
  REQUIRE(cudaGraphExecKernelNodeSetParams(exec, node, &two) == cudaSuccess);
  REQUIRE(cudaGraphLaunch(exec, nullptr) == cudaSuccess);
  other.append_digit(values.d, 3);
  cudaGraphExecUpdateResultInfo info{};
  REQUIRE(cudaGraphExecUpdate(exec, other, &info) == cudaSuccess);
  CHECK(info.result == cudaGraphExecUpdateSuccess);
  REQUIRE(cudaGraphLaunch(exec, nullptr) == cudaSuccess);
  longer.append_digit(values.d, 4, {longer.append_digit(values.d, 4)});
  CHECK(cudaGraphExecUpdate(exec, longer, &info) == cudaErrorGraphExecUpdateFailure);
  CHECK(info.result == cudaGraphExecUpdateErrorTopologyChanged);
  CHECK(values.value() == 23);
  static_cast<void>(last_error());
}

TEST_CASE("parameters that mean nothing make no node") {
  Device values;
  Graph graph;
  cudaGraphNode_t node = nullptr;
  cudaKernelNodeParams p = Graph::kernel(values.d, 1);
  p.blockDim = dim3(4096);
  CHECK(cudaGraphAddKernelNode(&node, graph, nullptr, 0, &p) != cudaSuccess);
  p = Graph::kernel(values.d, 1);
  CHECK(cudaGraphAddKernelNode(&node, nullptr, nullptr, 0, &p) == cudaErrorInvalidValue);
  CHECK(cudaGraphAddKernelNode(&node, graph, nullptr, 1, &p) == cudaErrorInvalidValue);
  CHECK(cudaGraphAddKernelNode(&node, graph, nullptr, 0, nullptr) == cudaErrorInvalidValue);
  cudaMemsetParams odd{values.d, 0, 0, 3, 1, 1};
  CHECK(cudaGraphAddMemsetNode(&node, graph, nullptr, 0, &odd) == cudaErrorInvalidValue);
  cudaHostNodeParams none{nullptr, nullptr};
  CHECK(cudaGraphAddHostNode(&node, graph, nullptr, 0, &none) == cudaErrorInvalidValue);
  CHECK(graph.size() == 0);
  cudaGraphExec_t exec = nullptr;
  CHECK(cudaGraphInstantiate(&exec, nullptr, 0) == cudaErrorInvalidValue);
  static_cast<void>(last_error());
}

// ---- what a capture forbids -----------------------------------------------------------------------

namespace {

/// A capture that one forbidden call makes invalid.
void check_forbidden(cudaError_t expected, cudaStreamCaptureMode mode,
                     cudaError_t (*call)(cudaStream_t, int*), unsigned flags) {
  Device values;
  Stream stream(flags);
  REQUIRE(cudaStreamBeginCapture(stream, mode) == cudaSuccess);
  CHECK(call(stream, values.d) == expected);
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  CHECK(cudaStreamIsCapturing(stream, &status) == cudaSuccess);
  CHECK(status == cudaStreamCaptureStatusInvalidated);
  CHECK(cudaMemsetAsync(values.d, 0, kBytes, stream) == cudaErrorStreamCaptureInvalidated);
  cudaGraph_t graph = nullptr;
  CHECK(cudaStreamEndCapture(stream, &graph) == cudaErrorStreamCaptureInvalidated);
  CHECK(graph == nullptr);
  CHECK(cudaStreamSynchronize(stream) == cudaSuccess);
  static_cast<void>(last_error());
}

}  // namespace

TEST_CASE("a call that waits makes a capture invalid") {
  const auto mode = cudaStreamCaptureModeGlobal;
  const auto relaxed = cudaStreamCaptureModeRelaxed;
  const auto unsupported = cudaErrorStreamCaptureUnsupported;
  check_forbidden(
      unsupported, mode, [](cudaStream_t s, int*) { return cudaStreamSynchronize(s); },
      cudaStreamNonBlocking);
  check_forbidden(
      unsupported, relaxed, [](cudaStream_t s, int*) { return cudaStreamSynchronize(s); },
      cudaStreamNonBlocking);
  check_forbidden(
      unsupported, mode, [](cudaStream_t s, int*) { return cudaStreamQuery(s); },
      cudaStreamNonBlocking);
  check_forbidden(
      unsupported, relaxed, [](cudaStream_t, int*) { return cudaDeviceSynchronize(); },
      cudaStreamNonBlocking);
  check_forbidden(
      unsupported, mode,
      [](cudaStream_t, int*) {
        void* p = nullptr;
        return cudaMalloc(&p, 4);
      },
      cudaStreamNonBlocking);
  check_forbidden(
      unsupported, mode,
      [](cudaStream_t, int* d) {
        int value = 0;
        return cudaMemcpy(&value, d, sizeof value, cudaMemcpyDeviceToHost);
      },
      cudaStreamNonBlocking);
  check_forbidden(
      cudaErrorStreamCaptureImplicit, mode,
      [](cudaStream_t, int* d) { return cudaMemset(d, 0, kBytes); }, cudaStreamDefault);
  check_forbidden(
      cudaErrorStreamCaptureImplicit, relaxed,
      [](cudaStream_t, int* d) {
        append<<<1, kCount>>>(d, 1);
        return cudaGetLastError();
      },
      cudaStreamDefault);
}

TEST_CASE("a relaxed capture lets calls through that do not wait for it") {
  Device values;
  Stream stream;
  REQUIRE(cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed) == cudaSuccess);
  int* p = nullptr;
  CHECK(cudaMalloc(&p, 4) == cudaSuccess);
  CHECK(cudaFree(p) == cudaSuccess);
  append<<<1, kCount, 0, stream>>>(values.d, 1);
  CHECK(values.value() == 0);
  cudaGraph_t graph = nullptr;
  CHECK(cudaStreamEndCapture(stream, &graph) == cudaSuccess);
  CHECK(cudaGraphDestroy(graph) == cudaSuccess);

  cudaStreamCaptureMode mode = cudaStreamCaptureModeRelaxed;
  CHECK(cudaThreadExchangeStreamCaptureMode(&mode) == cudaSuccess);
  CHECK(mode == cudaStreamCaptureModeGlobal);
  REQUIRE(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal) == cudaSuccess);
  CHECK(cudaMalloc(&p, 4) == cudaSuccess);
  CHECK(cudaFree(p) == cudaSuccess);
  CHECK(cudaThreadExchangeStreamCaptureMode(&mode) == cudaSuccess);
  CHECK(cudaStreamEndCapture(stream, &graph) == cudaSuccess);
  CHECK(cudaGraphDestroy(graph) == cudaSuccess);
}

TEST_CASE("captures begin and end where they may") {
  Device values;
  Stream a, b;
  Event event;
  cudaGraph_t graph = nullptr;
  const auto mode = cudaStreamCaptureModeGlobal;
  CHECK(cudaStreamBeginCapture(nullptr, mode) == cudaErrorStreamCaptureUnsupported);
  CHECK(cudaStreamEndCapture(a, &graph) == cudaErrorIllegalState);
  REQUIRE(cudaStreamBeginCapture(a, mode) == cudaSuccess);
  CHECK(cudaStreamBeginCapture(a, mode) == cudaErrorIllegalState);
  const auto wait_for = [&](const Stream& first, const Stream& second) {
    CHECK(cudaEventRecord(event, first) == cudaSuccess);
    return cudaStreamWaitEvent(second, event, 0);
  };
  SECTION("in the stream that it began in") {
    CHECK(wait_for(a, b) == cudaSuccess);
    CHECK(cudaStreamEndCapture(b, &graph) == cudaErrorStreamCaptureUnmatched);
    CHECK(cudaStreamEndCapture(a, &graph) == cudaErrorStreamCaptureInvalidated);
  }
  SECTION("when all work has been joined") {
    CHECK(wait_for(a, b) == cudaSuccess);
    append<<<1, kCount, 0, b>>>(values.d, 1);
    CHECK(cudaStreamEndCapture(a, &graph) == cudaErrorStreamCaptureUnjoined);
  }
  SECTION("without another capture") {
    REQUIRE(cudaStreamBeginCapture(b, mode) == cudaSuccess);
    CHECK(wait_for(b, a) == cudaErrorStreamCaptureMerge);
    CHECK(cudaStreamEndCapture(a, &graph) == cudaErrorStreamCaptureInvalidated);
    CHECK(cudaStreamEndCapture(b, &graph) == cudaErrorStreamCaptureInvalidated);
  }
  SECTION("without events from outside") {
    CHECK(wait_for(b, a) == cudaErrorStreamCaptureIsolation);
    CHECK(cudaStreamEndCapture(a, &graph) == cudaErrorStreamCaptureInvalidated);
  }
  SECTION("without a wait for an event of its own") {
    CHECK(cudaEventRecord(event, a) == cudaSuccess);
    CHECK(cudaEventQuery(event) == cudaErrorCapturedEvent);
    CHECK(cudaStreamEndCapture(a, &graph) == cudaErrorStreamCaptureInvalidated);
    CHECK(cudaStreamWaitEvent(b, event, 0) == cudaErrorCapturedEvent);
  }
  CHECK(graph == nullptr);
  CHECK(cudaDeviceSynchronize() == cudaSuccess);
  static_cast<void>(last_error());
}

// ---- what only the CPU device promises ----------------------------------------------------------

#ifdef SIMT_CPU_DEVICE

TEST_CASE("seeds find both orders of nodes that nothing orders, each seed always the same one") {
  const simt_test::Reports reports;
  simt_test::check_both_orders(0, [] {
    Device values;
    Graph graph;
    graph.append_digit(values.d, 1);
    graph.append_digit(values.d, 2);
    Exec exec(graph);
    simt::reset_device();  // the lots start again
    REQUIRE(cudaGraphLaunch(exec, nullptr) == cudaSuccess);
    return values.value();
  });
  REQUIRE(!reports.list.empty());
  for (const simt::Report& report : reports.list) {
    CHECK(report.kind == simt::ReportKind::race);
    CHECK(simt_test::lacks(report, {"cudaGraphAddDependencies"}) == "");
  }
}

TEST_CASE("a graph's queues are nothing that the program holds") {
  Device values, others;
  const std::size_t before = simt::holdings().size();
  Graph graph;
  graph.append_digit(values.d, 1);
  graph.append_digit(others.d, 2);
  Exec exec(graph);
  REQUIRE(cudaGraphLaunch(exec, nullptr) == cudaSuccess);
  CHECK(cudaDeviceSynchronize() == cudaSuccess);
  CHECK(simt::holdings().size() == before);
}

TEST_CASE("a launch of a graph that copies to freed memory is a finding") {
  const simt::Report report = simt_test::only_report([] {
    int* d = nullptr;
    REQUIRE(cudaMalloc(&d, kBytes) == cudaSuccess);
    const std::vector<int> source(kCount);
    Graph graph;
    cudaGraphNode_t node = nullptr;
    REQUIRE(cudaGraphAddMemcpyNode1D(&node, graph, nullptr, 0, d, source.data(), kBytes,
                                     cudaMemcpyHostToDevice) == cudaSuccess);
    Exec exec(graph);
    REQUIRE(cudaFree(d) == cudaSuccess);
    CHECK(cudaGraphLaunch(exec, nullptr) == cudaErrorInvalidValue);
  });
  CHECK(report.kind == simt::ReportKind::use_after_free);
  CHECK(simt_test::lacks(report, {"cudaGraphAddMemcpyNode1D", "graphs_test.cu"}) == "");
}

TEST_CASE("a finding in a graph's kernel names the kernel and its parameters") {
  const simt::Report report = simt_test::only_report([] {
    int* d = nullptr;
    REQUIRE(cudaMalloc(&d, kBytes) == cudaSuccess);
    Graph graph;
    graph.append_digit(d, 1);  // reads what nothing has written
    Exec exec(graph);
    CHECK(cudaGraphLaunch(exec, nullptr) == cudaSuccess);
    CHECK(cudaDeviceSynchronize() == cudaSuccess);
    CHECK(cudaFree(d) == cudaSuccess);
  });
  CHECK(report.kind == simt::ReportKind::uninitialised);
  CHECK(simt_test::lacks(report, {"kernel append", "values["}) == "");
}

// ---- memory and events -----------------------------------------------------------------------------

namespace {

/// A graph that allocates memory, sets it to 1 by a kernel, and copies it to `result`.
struct MemoryGraph {
  Graph graph;
  int* p = nullptr;

  MemoryGraph(int* result, bool frees) {
    cudaMemAllocNodeParams parameters{};
    parameters.poolProps.allocType = cudaMemAllocationTypePinned;
    parameters.poolProps.location = {cudaMemLocationTypeDevice, 0};
    parameters.bytesize = kBytes;
    cudaGraphNode_t made, cleared, copied, freed;
    CHECK(cudaGraphAddMemAllocNode(&made, graph, nullptr, 0, &parameters) == cudaSuccess);
    p = static_cast<int*>(parameters.dptr);
    cudaMemsetParams clear{p, 0, 0, 4, kCount, 1};
    CHECK(cudaGraphAddMemsetNode(&cleared, graph, &made, 1, &clear) == cudaSuccess);
    const cudaGraphNode_t kernel = graph.append_digit(p, 1, {cleared});
    CHECK(cudaGraphAddMemcpyNode1D(&copied, graph, &kernel, 1, result, p, kBytes,
                                   cudaMemcpyDeviceToDevice) == cudaSuccess);
    if (frees) CHECK(cudaGraphAddMemFreeNode(&freed, graph, &copied, 1, p) == cudaSuccess);
  }
};

std::uint64_t graph_memory(cudaGraphMemAttributeType attribute) {
  std::uint64_t bytes = 0;
  CHECK(cudaDeviceGetGraphMemAttribute(0, attribute, &bytes) == cudaSuccess);
  return bytes;
}

}  // namespace

TEST_CASE("a graph allocates memory in each launch, and frees it") {
  Device result;
  MemoryGraph made(result.d, true);
  cudaGraphNodeType type = cudaGraphNodeTypeCount;
  cudaGraphNode_t nodes[5];
  std::size_t count = 5;
  CHECK(cudaGraphGetNodes(made.graph, nodes, &count) == cudaSuccess);
  CHECK(count == 5);
  CHECK(cudaGraphNodeGetType(nodes[0], &type) == cudaSuccess);
  CHECK(type == cudaGraphNodeTypeMemAlloc);
  CHECK(cudaGraphNodeGetType(nodes[4], &type) == cudaSuccess);
  CHECK(type == cudaGraphNodeTypeMemFree);
  void* freed = nullptr;
  CHECK(cudaGraphMemFreeNodeGetParams(nodes[4], &freed) == cudaSuccess);
  CHECK(freed == made.p);
  cudaGraph_t clone = nullptr;
  CHECK(cudaGraphClone(&clone, made.graph) == cudaErrorNotSupported);
  Exec exec(made.graph);
  for (int launch = 0; launch < 2; ++launch) {
    CHECK(cudaGraphLaunch(exec, nullptr) == cudaSuccess);
    CHECK(cudaDeviceSynchronize() == cudaSuccess);
    CHECK(result.value() == 1);
  }
  CHECK(cudaFree(made.p) == cudaErrorInvalidValue);  // it is free
  static_cast<void>(last_error());
  CHECK(graph_memory(cudaGraphMemAttrUsedMemCurrent) == 0);
  CHECK(graph_memory(cudaGraphMemAttrUsedMemHigh) >= kBytes);
  CHECK(graph_memory(cudaGraphMemAttrReservedMemCurrent) > 0);
  CHECK(cudaDeviceGraphMemTrim(0) == cudaSuccess);
  CHECK(graph_memory(cudaGraphMemAttrReservedMemCurrent) == 0);
}

TEST_CASE("memory that a graph has not freed is the program's, and stops the next launch") {
  Device result;
  MemoryGraph made(result.d, false);
  Exec exec(made.graph);
  CHECK(cudaGraphLaunch(exec, nullptr) == cudaSuccess);
  CHECK(cudaGraphLaunch(exec, nullptr) == cudaErrorInvalidValue);
  static_cast<void>(last_error());
  append<<<1, kCount>>>(made.p, 2);
  CHECK(cudaMemcpy(result.d, made.p, kBytes, cudaMemcpyDeviceToDevice) == cudaSuccess);
  CHECK(result.value() == 12);
  CHECK(cudaFree(made.p) == cudaSuccess);
  CHECK(cudaGraphLaunch(exec, nullptr) == cudaSuccess);
  CHECK(cudaFreeAsync(made.p, nullptr) == cudaSuccess);
  CHECK(cudaGraphLaunch(exec, nullptr) == cudaSuccess);
  Graph freeing;
  cudaGraphNode_t node = nullptr;
  CHECK(cudaGraphAddMemFreeNode(&node, freeing, nullptr, 0, made.p) == cudaSuccess);
  CHECK(cudaGraphAddMemFreeNode(&node, freeing, nullptr, 0, result.d) == cudaErrorInvalidValue);
  static_cast<void>(last_error());
  Exec free_exec(freeing);
  CHECK(cudaGraphLaunch(free_exec, nullptr) == cudaSuccess);
  CHECK(cudaGraphLaunch(free_exec, nullptr) == cudaErrorInvalidValue);
  static_cast<void>(last_error());
  cudaGraphExec_t again = nullptr;
  CHECK(cudaGraphInstantiate(&again, made.graph, cudaGraphInstantiateFlagAutoFreeOnLaunch) ==
        cudaSuccess);
  for (int launch = 0; launch < 2; ++launch) CHECK(cudaGraphLaunch(again, nullptr) == cudaSuccess);
  CHECK(cudaFree(made.p) == cudaSuccess);
  CHECK(cudaGraphExecDestroy(again) == cudaSuccess);
  CHECK(cudaDeviceSynchronize() == cudaSuccess);
}

TEST_CASE("what is in a graph's memory is undefined when it is allocated, and after its release") {
  Device result;
  const simt::Report report = simt_test::only_report([&] {
    MemoryGraph made(result.d, true);
    Exec exec(made.graph);
    CHECK(cudaGraphLaunch(exec, nullptr) == cudaSuccess);
    append<<<1, kCount>>>(made.p, 2);
    CHECK(cudaDeviceSynchronize() == cudaSuccess);
  });
  CHECK(report.kind == simt::ReportKind::uninitialised);
}

TEST_CASE("cudaMallocAsync and cudaFreeAsync in a capture become nodes") {
  Stream stream;
  Device result;
  cudaStream_t other = nullptr;
  Event forked, joined;
  int* p = nullptr;
  REQUIRE(cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking) == cudaSuccess);
  REQUIRE(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal) == cudaSuccess);
  CHECK(cudaMallocAsync(&p, kBytes, stream) == cudaSuccess);
  CHECK(cudaMemsetAsync(p, 0, kBytes, stream) == cudaSuccess);
  append<<<1, kCount, 0, stream>>>(p, 4);
  CHECK(cudaEventRecord(forked, stream) == cudaSuccess);
  CHECK(cudaStreamWaitEvent(other, forked) == cudaSuccess);
  CHECK(cudaMemcpyAsync(result.d, p, kBytes, cudaMemcpyDeviceToDevice, other) == cudaSuccess);
  CHECK(cudaFreeAsync(p, other) == cudaSuccess);
  CHECK(cudaEventRecord(joined, other) == cudaSuccess);
  CHECK(cudaStreamWaitEvent(stream, joined) == cudaSuccess);
  CHECK(cudaStreamDestroy(other) == cudaSuccess);  // it has been joined
  cudaGraph_t captured = nullptr;
  REQUIRE(cudaStreamEndCapture(stream, &captured) == cudaSuccess);
  Graph graph(captured);
  CHECK(graph.size() == 5);
  Exec exec(graph);
  for (int launch = 0; launch < 2; ++launch) {
    CHECK(cudaGraphLaunch(exec, stream) == cudaSuccess);
    CHECK(cudaStreamSynchronize(stream) == cudaSuccess);
    CHECK(result.value() == 4);
  }
}

TEST_CASE("nodes record events and wait for them") {
  Device values;
  Stream first, second;
  Event event;
  Graph graph, waiting;
  cudaGraphNode_t record = nullptr, wait = nullptr;
  const cudaGraphNode_t one = graph.append_digit(values.d, 1);
  CHECK(cudaGraphAddEventRecordNode(&record, graph, &one, 1, event) == cudaSuccess);
  CHECK(cudaGraphAddEventWaitNode(&wait, waiting, nullptr, 0, event) == cudaSuccess);
  waiting.append_digit(values.d, 2, {wait});
  CHECK(cudaGraphAddEventWaitNode(&wait, waiting, nullptr, 0, nullptr) ==
        cudaErrorInvalidResourceHandle);
  static_cast<void>(last_error());
  cudaGraphNodeType type = cudaGraphNodeTypeCount;
  CHECK(cudaGraphNodeGetType(record, &type) == cudaSuccess);
  CHECK(type == cudaGraphNodeTypeEventRecord);
  Exec exec(graph), waiting_exec(waiting);
  CHECK(cudaGraphLaunch(exec, first) == cudaSuccess);
  CHECK(cudaGraphLaunch(waiting_exec, second) == cudaSuccess);  // no race: the event orders them
  CHECK(cudaStreamWaitEvent(first, event) == cudaSuccess);
  CHECK(cudaDeviceSynchronize() == cudaSuccess);
  CHECK(values.value() == 12);
  // The same by capture.
  REQUIRE(cudaStreamBeginCapture(first, cudaStreamCaptureModeGlobal) == cudaSuccess);
  CHECK(cudaStreamWaitEvent(first, event, cudaEventWaitExternal) == cudaSuccess);
  append<<<1, kCount, 0, first>>>(values.d, 3);
  CHECK(cudaEventRecordWithFlags(event, first, cudaEventRecordExternal) == cudaSuccess);
  cudaGraph_t captured = nullptr;
  REQUIRE(cudaStreamEndCapture(first, &captured) == cudaSuccess);
  Graph third(captured);
  CHECK(third.size() == 3);
  Exec third_exec(third);
  CHECK(cudaGraphLaunch(third_exec, first) == cudaSuccess);
  CHECK(cudaEventSynchronize(event) == cudaSuccess);
  CHECK(values.value() == 123);
}

TEST_CASE("a stream that is destroyed takes its capture along") {
  cudaStream_t stream = nullptr;
  REQUIRE(cudaStreamCreate(&stream) == cudaSuccess);
  REQUIRE(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal) == cudaSuccess);
  CHECK(cudaStreamDestroy(stream) == cudaSuccess);
  void* p = nullptr;
  CHECK(cudaMalloc(&p, 4) == cudaSuccess);  // no capture is left
  CHECK(cudaFree(p) == cudaSuccess);
}

#endif
