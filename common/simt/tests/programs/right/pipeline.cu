// Construct: cuda::pipeline with two stages, cuda::memcpy_async. Expect: runs.
#include <cooperative_groups.h>
#include <cuda/pipeline>

#include <cstdio>

#pragma nv_diag_suppress static_var_with_dynamic_init
namespace cg = cooperative_groups;
constexpr int kStages = 2, kBatch = 32;

__global__ void add_batches(const int* in, int* out, int batches) {
  __shared__ int s_batch[kStages][kBatch];
  __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, kStages> state;
  const cg::thread_block block = cg::this_thread_block();
  auto pipeline = cuda::make_pipeline(block, &state);

  int sum = 0;
  for (int batch = 0, fetched = 0; batch < batches; ++batch) {
    for (; fetched < batches && fetched < batch + kStages; ++fetched) {
      pipeline.producer_acquire();
      cuda::memcpy_async(block, s_batch[fetched % kStages], in + fetched * kBatch,
                         sizeof(int) * kBatch, pipeline);
      pipeline.producer_commit();
    }
    pipeline.consumer_wait();
    sum += s_batch[batch % kStages][kBatch - 1 - threadIdx.x];
    pipeline.consumer_release();
  }
  out[threadIdx.x] = sum;
}

int main() {
  const int batches = 6, n = batches * kBatch;
  int in[n], out[kBatch], *d_in, *d_out, wrong = 0;
  for (int i = 0; i < n; ++i) in[i] = i * 3 % 50;
  cudaMalloc(&d_in, sizeof(in));
  cudaMalloc(&d_out, sizeof(out));
  cudaMemcpy(d_in, in, sizeof(in), cudaMemcpyHostToDevice);
  add_batches<<<1, kBatch>>>(d_in, d_out, batches);
  cudaMemcpy(out, d_out, sizeof(out), cudaMemcpyDeviceToHost);
  for (int t = 0; t < kBatch; ++t) {
    int sum = 0;
    for (int batch = 0; batch < batches; ++batch) sum += in[batch * kBatch + kBatch - 1 - t];
    wrong += out[t] != sum;
  }
  std::printf("%s\n", wrong == 0 ? "PASSED" : "FAILED");
  return wrong;
}
