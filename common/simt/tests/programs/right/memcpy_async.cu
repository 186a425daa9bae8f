// Construct: cooperative_groups::memcpy_async and wait, __pipeline_memcpy_async of cuda_pipeline.h. Expect: runs.
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cuda_pipeline.h>
#include <stdio.h>

namespace cg = cooperative_groups;

__global__ void reverse_blocks(const float* in, float* out) {
  extern __shared__ float s_x[];
  cg::thread_block block = cg::this_thread_block();
  int first = blockIdx.x * blockDim.x;
  cg::memcpy_async(block, s_x, in + first, sizeof(float) * block.size());
  cg::wait(block);
  out[first + threadIdx.x] = s_x[block.size() - 1 - threadIdx.x];
}

__global__ void shift_blocks(const float* in, float* out) {
  __shared__ float s_x[32];
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  __pipeline_memcpy_async(&s_x[threadIdx.x], &in[i], sizeof(float));
  __pipeline_commit();
  __pipeline_wait_prior(0);
  __syncthreads();
  out[i] = s_x[(threadIdx.x + 1) % 32];
}

int main() {
  const int n = 96;
  float in[n], reversed[n], shifted[n], *d_in, *d_out;
  for (int i = 0; i < n; ++i) in[i] = i * 0.5f;
  cudaMalloc(&d_in, sizeof(in));
  cudaMalloc(&d_out, sizeof(in));
  cudaMemcpy(d_in, in, sizeof(in), cudaMemcpyHostToDevice);
  reverse_blocks<<<n / 32, 32, 32 * sizeof(float)>>>(d_in, d_out);
  cudaMemcpy(reversed, d_out, sizeof(in), cudaMemcpyDeviceToHost);
  shift_blocks<<<n / 32, 32>>>(d_in, d_out);
  cudaMemcpy(shifted, d_out, sizeof(in), cudaMemcpyDeviceToHost);
  int wrong = 0;
  for (int i = 0; i < n; ++i) {
    wrong += reversed[i] != in[i / 32 * 32 + 31 - i % 32];
    wrong += shifted[i] != in[i / 32 * 32 + (i + 1) % 32];
  }
  printf("%s\n", wrong == 0 ? "PASSED" : "FAILED");
  return wrong;
}
