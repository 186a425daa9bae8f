// Construct: a graph made of nodes: memory, memset, kernel, copy, host, an event. Expect: runs.
#include <stdio.h>

__global__ void fill(int* x, int first) { x[threadIdx.x] += first + threadIdx.x; }

static void CUDART_CB sum_up(void* data) {
  int* numbers = (int*)data;
  for (int i = 0; i < 16; ++i) numbers[16] += numbers[i];
}

int main() {
  const int n = 16;
  int *d_x, h_x[n + 1] = {0}, first = 5;
  cudaGraph_t graph;
  cudaGraphCreate(&graph, 0);
  cudaGraphNode_t memory, clear, kernel, copy, host, free_node, record;

  cudaMemAllocNodeParams memory_params = {};
  memory_params.poolProps.allocType = cudaMemAllocationTypePinned;
  memory_params.poolProps.location.type = cudaMemLocationTypeDevice;
  memory_params.bytesize = n * sizeof(int);
  cudaGraphAddMemAllocNode(&memory, graph, NULL, 0, &memory_params);
  d_x = (int*)memory_params.dptr;

  cudaMemsetParams memset_params = {0};
  memset_params.dst = d_x;
  memset_params.value = 0;
  memset_params.elementSize = 4;
  memset_params.width = n;
  memset_params.height = 1;
  cudaGraphAddMemsetNode(&clear, graph, &memory, 1, &memset_params);

  void* arguments[] = {&d_x, &first};
  cudaKernelNodeParams kernel_params = {0};
  kernel_params.func = (void*)fill;
  kernel_params.gridDim = dim3(1);
  kernel_params.blockDim = dim3(n);
  kernel_params.kernelParams = arguments;
  cudaGraphAddKernelNode(&kernel, graph, &clear, 1, &kernel_params);
  cudaGraphAddMemcpyNode1D(&copy, graph, &kernel, 1, h_x, d_x, n * sizeof(int),
                           cudaMemcpyDeviceToHost);
  cudaHostNodeParams host_params = {0};
  host_params.fn = sum_up;
  host_params.userData = h_x;
  cudaGraphAddHostNode(&host, graph, &copy, 1, &host_params);
  cudaGraphAddMemFreeNode(&free_node, graph, &copy, 1, d_x);
  cudaEvent_t done;
  cudaEventCreate(&done);
  cudaGraphAddEventRecordNode(&record, graph, &host, 1, done);

  cudaGraphExec_t instance;
  cudaError_t error = cudaGraphInstantiateWithFlags(&instance, graph, 0);
  if (error == cudaSuccess) error = cudaGraphLaunch(instance, 0);
  if (error == cudaSuccess) error = cudaEventSynchronize(done);
  printf("%s\n", error == cudaSuccess && h_x[n] == 5 * 16 + 120 ? "PASSED" : "FAILED");
  return !(error == cudaSuccess && h_x[n] == 200);
}
