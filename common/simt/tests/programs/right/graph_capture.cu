// Construct: a graph captured from a stream, launched several times. Expect: runs.
#include <cstdio>

__global__ void add_one(int* x) { x[blockIdx.x * blockDim.x + threadIdx.x] += 1; }
__global__ void twice(int* x) { x[blockIdx.x * blockDim.x + threadIdx.x] *= 2; }

int main() {
  const int n = 64;
  int *d_x, x[n];
  cudaMalloc(&d_x, sizeof(x));
  cudaMemset(d_x, 0, sizeof(x));
  cudaStream_t stream;
  cudaGraph_t graph;
  cudaGraphExec_t instance;
  cudaStreamCreate(&stream);
  cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal);
  add_one<<<2, 32, 0, stream>>>(d_x);
  twice<<<2, 32, 0, stream>>>(d_x);
  cudaStreamEndCapture(stream, &graph);
  size_t nodes = 0;
  cudaGraphGetNodes(graph, nullptr, &nodes);
  cudaGraphInstantiate(&instance, graph, 0);
  for (int launch = 0; launch < 3; ++launch) cudaGraphLaunch(instance, stream);
  cudaStreamSynchronize(stream);
  cudaMemcpy(x, d_x, sizeof(x), cudaMemcpyDeviceToHost);
  int wrong = nodes != 2;
  for (int i = 0; i < n; ++i) wrong += x[i] != 14;  // 2, 6, 14
  cudaGraphExecDestroy(instance);
  cudaGraphDestroy(graph);
  cudaStreamDestroy(stream);
  cudaFree(d_x);
  std::printf("%s\n", wrong == 0 ? "PASSED" : "FAILED");
  return wrong != 0;
}
