// Construct: a function that is to be inlined, called by a library's function, with a plain maximum. Expect: finding "DATA RACE".
#include <cooperative_groups.h>

#include <cstdio>

namespace cg = cooperative_groups;

struct Raise {
  int* peak;
  __device__ __forceinline__ void operator()(int value) const {
    if (value > *peak) *peak = value;
  }
};

__global__ void raise(int* peak) {
  cg::invoke_one(cg::tiled_partition<1>(cg::this_thread_block()), Raise{peak},
                 static_cast<int>(threadIdx.x));
}

int main() {
  int* d_peak = nullptr;
  int peak = 0;
  cudaMalloc(&d_peak, sizeof peak);
  cudaMemset(d_peak, 0, sizeof peak);
  raise<<<1, 64>>>(d_peak);
  cudaMemcpy(&peak, d_peak, sizeof peak, cudaMemcpyDeviceToHost);
  std::printf("%d\n", peak);
}
