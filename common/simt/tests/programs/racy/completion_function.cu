// Construct: the completion function of a barrier, to be inlined, adds to a number that other blocks add to. Expect: finding "DATA RACE".
#include <cuda/barrier>

#include <cstdio>

struct Count {
  int* phases;
  __device__ __forceinline__ void operator()() const { *phases += 1; }
};
using Barrier = cuda::barrier<cuda::thread_scope_block, Count>;

__global__ void meet(int* phases) {
  __shared__ alignas(Barrier) unsigned char s_memory[sizeof(Barrier)];
  Barrier* const barrier = reinterpret_cast<Barrier*>(s_memory);
  if (threadIdx.x == 0) init(barrier, blockDim.x, Count{phases});
  __syncthreads();
  barrier->arrive_and_wait();
}

int main() {
  int* d_phases = nullptr;
  int phases = 0;
  cudaMalloc(&d_phases, sizeof phases);
  cudaMemset(d_phases, 0, sizeof phases);
  meet<<<4, 64>>>(d_phases);
  cudaMemcpy(&phases, d_phases, sizeof phases, cudaMemcpyDeviceToHost);
  std::printf("%d\n", phases);
}
