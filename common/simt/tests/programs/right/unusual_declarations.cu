// Construct: declarations that few programs have: templates of constants, constructors, types without a name, register. Expect: runs.
#include <cuda/barrier>
#include <cuda/semaphore>

#include <cstdio>

constexpr int kThreads = 64, kRounds = 3;

template <class T>
__constant__ T mask[4];
template <class T, int N = 4>
__constant__ T weights[N] = {1, 2, 3, 4};
template <class T>
__device__ T sum;

__device__ cuda::barrier<cuda::thread_scope_device> everybody(2 * 64);
__device__ cuda::barrier<cuda::thread_scope_device> of_name(kThreads);
__device__ cuda::binary_semaphore<cuda::thread_scope_device> permit(1);
__device__ int plain(3);
__device__ struct {
  int entered;
  float last;
} state;

template <class T>
__global__ void weigh(T* out) {
  register unsigned t = threadIdx.x;
  out[t] = mask<T>[t] * weights<T>[t] + plain;
  atomicAdd(&sum<T>, out[t]);
}

__global__ void meet(int* out) {
  __shared__ struct {
    int first;  // of its warp
    float second;
  } per_warp[2], *chosen;
  __shared__ struct Pair { int x, y; } pair;
  __shared__ union {
    float4 whole;
    float parts[4];
  } either;
  const unsigned t = threadIdx.x;
  for (int i = 0; i < kRounds; ++i) everybody.arrive_and_wait();
  if (blockIdx.x == 0) of_name.arrive_and_wait();
  permit.acquire();
  state.entered += 1;
  state.last = 0.5f;
  permit.release();
  if (t % 32 == 0) per_warp[t / 32].first = t;
  if (t == 0) {
    chosen = &per_warp[1];
    pair.x = 5;
    pair.y = 7;
    either.whole = make_float4(1, 2, 3, 4);
  }
  __syncthreads();
  const Pair copy = pair;
  if (t == 40)
    out[blockIdx.x] = chosen->first + copy.x * copy.y + static_cast<int>(either.parts[2]);
}

int main() {
  const int ints[4] = {1, 0, 1, 10};
  const float floats[4] = {0.5f, 0, 0.25f, 1};
  cudaMemcpyToSymbol(mask<int>, ints, sizeof(ints));
  cudaMemcpyToSymbol(mask<float>, floats, sizeof(floats));
  int *d_ints, h_ints[4], h_out[2], entered = 0, total = 0;
  float *d_floats, h_floats[4];
  cudaMalloc(&d_ints, sizeof(h_ints));
  cudaMalloc(&d_floats, sizeof(h_floats));
  weigh<<<1, 4>>>(d_ints);
  weigh<<<1, 4>>>(d_floats);
  cudaMemcpy(h_ints, d_ints, sizeof(h_ints), cudaMemcpyDeviceToHost);
  cudaMemcpy(h_floats, d_floats, sizeof(h_floats), cudaMemcpyDeviceToHost);
  cudaMemcpyFromSymbol(&total, sum<int>, sizeof(total));
  meet<<<2, kThreads>>>(d_ints);
  cudaMemcpy(h_out, d_ints, sizeof(h_out), cudaMemcpyDeviceToHost);
  cudaMemcpyFromSymbol(&entered, state, sizeof(entered));
  bool right = total == h_ints[0] + h_ints[1] + h_ints[2] + h_ints[3] && entered == 2 * kThreads;
  for (int i = 0; i < 4; ++i)
    right &= h_ints[i] == ints[i] * (i + 1) + 3 && h_floats[i] == floats[i] * (i + 1) + 3;
  for (int value : h_out) right &= value == 32 + 5 * 7 + 3;
  std::printf(right ? "PASSED\n" : "FAILED\n");
  cudaFree(d_floats);
  cudaFree(d_ints);
  return right ? 0 : 1;
}
