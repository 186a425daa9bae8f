// Construct: seven steps of a tree reduction, templates of the block size. Expect: runs.
#include <cstdio>
#include <vector>

const int kThreads = 64;

__global__ void sum_interleaved_modulo(const int* in, int* out, int n) {
  extern __shared__ int s_x[];
  const unsigned t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
  s_x[t] = i < n ? in[i] : 0;
  __syncthreads();
  for (unsigned s = 1; s < blockDim.x; s *= 2) {
    if (t % (2 * s) == 0) s_x[t] += s_x[t + s];
    __syncthreads();
  }
  if (t == 0) out[blockIdx.x] = s_x[0];
}

__global__ void sum_interleaved_strided(const int* in, int* out, int n) {
  extern __shared__ int s_x[];
  const unsigned t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
  s_x[t] = i < n ? in[i] : 0;
  __syncthreads();
  for (unsigned s = 1; s < blockDim.x; s *= 2) {
    const unsigned index = 2 * s * t;
    if (index < blockDim.x) s_x[index] += s_x[index + s];
    __syncthreads();
  }
  if (t == 0) out[blockIdx.x] = s_x[0];
}

__global__ void sum_sequential(const int* in, int* out, int n) {
  extern __shared__ int s_x[];
  const unsigned t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
  s_x[t] = i < n ? in[i] : 0;
  __syncthreads();
  for (unsigned s = blockDim.x / 2; s > 0; s >>= 1) {
    if (t < s) s_x[t] += s_x[t + s];
    __syncthreads();
  }
  if (t == 0) out[blockIdx.x] = s_x[0];
}

__global__ void sum_first_add(const int* in, int* out, int n) {
  extern __shared__ int s_x[];
  const unsigned t = threadIdx.x, i = blockIdx.x * blockDim.x * 2 + t;
  int mine = i < n ? in[i] : 0;
  if (i + blockDim.x < n) mine += in[i + blockDim.x];
  s_x[t] = mine;
  __syncthreads();
  for (unsigned s = blockDim.x / 2; s > 0; s >>= 1) {
    if (t < s) s_x[t] = mine = mine + s_x[t + s];
    __syncthreads();
  }
  if (t == 0) out[blockIdx.x] = mine;
}

// The last 32 lanes need no barrier of the block, only __syncwarp() between a read and a write of others.
template <unsigned block>
__device__ void warp_tree(int* s_x, unsigned t) {
  int mine = s_x[t];
  for (unsigned s = block >= 64 ? 32 : block / 2; s > 0; s >>= 1) {
    mine += s_x[t + s];
    __syncwarp();
    s_x[t] = mine;
    __syncwarp();
  }
}

__global__ void sum_last_warp(const int* in, int* out, int n) {
  extern __shared__ int s_x[];
  const unsigned t = threadIdx.x, i = blockIdx.x * blockDim.x * 2 + t;
  s_x[t] = (i < n ? in[i] : 0) + (i + blockDim.x < n ? in[i + blockDim.x] : 0);
  s_x[t + blockDim.x] = 0;  // lanes of the last steps read past the half that counts
  __syncthreads();
  for (unsigned s = blockDim.x / 2; s > 32; s >>= 1) {
    if (t < s) s_x[t] += s_x[t + s];
    __syncthreads();
  }
  if (t < 32) warp_tree<kThreads>(s_x, t);
  if (t == 0) out[blockIdx.x] = s_x[0];
}

template <unsigned block>
__global__ void sum_unrolled(const int* in, int* out, int n) {
  __shared__ int s_x[2 * block];
  const unsigned t = threadIdx.x, i = blockIdx.x * block * 2 + t;
  s_x[t] = (i < n ? in[i] : 0) + (i + block < n ? in[i + block] : 0);
  s_x[t + block] = 0;
  __syncthreads();
  if (block >= 128) {
    if (t < 64) s_x[t] += s_x[t + 64];
    __syncthreads();
  }
  if (t < 32) warp_tree<block>(s_x, t);
  if (t == 0) out[blockIdx.x] = s_x[0];
}

template <unsigned block>
__global__ void sum_grid_stride(const int* in, int* out, int n) {
  __shared__ int s_x[2 * block];
  const unsigned t = threadIdx.x;
  int mine = 0;
  for (unsigned i = blockIdx.x * block + t; i < n; i += block * gridDim.x) mine += in[i];
  s_x[t] = mine;
  s_x[t + block] = 0;
  __syncthreads();
  if (t < 32) warp_tree<block>(s_x, t);
  if (t == 0) out[blockIdx.x] = s_x[0];
}

int main() {
  const int n = 500;
  std::vector<int> in(n);
  int expected = 0;
  for (int i = 0; i < n; ++i) expected += in[i] = (i * 37) % 101;
  int *d_in, *d_out;
  cudaMalloc(&d_in, n * sizeof(int));
  cudaMalloc(&d_out, 8 * sizeof(int));
  cudaMemcpy(d_in, in.data(), n * sizeof(int), cudaMemcpyHostToDevice);

  using Kernel = void (*)(const int*, int*, int);
  const struct {
    const char* name;
    Kernel kernel;
    int blocks;
  } steps[] = {
      {"interleaved, modulo", sum_interleaved_modulo, 8},
      {"interleaved, strided", sum_interleaved_strided, 8},
      {"sequential", sum_sequential, 8},
      {"first add while loading", sum_first_add, 4},
      {"last warp unrolled", sum_last_warp, 4},
      {"all unrolled", sum_unrolled<kThreads>, 4},
      {"grid stride", sum_grid_stride<kThreads>, 3},
  };
  int failed = 0;
  for (const auto& step : steps) {
    int out[8], sum = 0;
    step.kernel<<<step.blocks, kThreads, 2 * kThreads * sizeof(int)>>>(d_in, d_out, n);
    cudaMemcpy(out, d_out, step.blocks * sizeof(int), cudaMemcpyDeviceToHost);
    for (int b = 0; b < step.blocks; ++b) sum += out[b];
    std::printf("%-24s %s\n", step.name, sum == expected ? "PASSED" : "FAILED");
    failed += sum != expected;
  }
  cudaFree(d_in);
  cudaFree(d_out);
  return failed != 0;
}
