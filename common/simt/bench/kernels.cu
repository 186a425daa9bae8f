// Ten kernels without a mistake, to time the CPU device and compute-sanitizer on the same work.
//
//   kernels NAME N    launches one of them on N elements, a power of two from 2^10 on, and checks the result
//
// `common/dev measure beside` runs them.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

constexpr unsigned kBlock = 256, kTile = 32;

__global__ void copy(const unsigned* x, unsigned* out, unsigned n) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = x[i];
}

__global__ void stencil(const unsigned* x, unsigned* out, unsigned n) {
  __shared__ unsigned s_x[kBlock + 2];
  const unsigned t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
  s_x[t + 1] = x[i];
  if (t == 0) s_x[0] = i == 0 ? 0 : x[i - 1];
  if (t == kBlock - 1) s_x[kBlock + 1] = i == n - 1 ? 0 : x[i + 1];
  __syncthreads();
  out[i] = s_x[t] + s_x[t + 1] + s_x[t + 2];
}

__global__ void transpose(const unsigned* x, unsigned* out, unsigned rows) {
  __shared__ unsigned s_tile[kTile][kTile + 1];
  const unsigned columns = gridDim.x * kTile;
  const unsigned row = blockIdx.y * kTile, column = blockIdx.x * kTile;
  for (unsigned r = threadIdx.y; r < kTile; r += blockDim.y) {
    s_tile[r][threadIdx.x] = x[(row + r) * columns + column + threadIdx.x];
  }
  __syncthreads();
  for (unsigned r = threadIdx.y; r < kTile; r += blockDim.y) {
    out[(column + r) * rows + row + threadIdx.x] = s_tile[threadIdx.x][r];
  }
}

__global__ void add_to_one(const unsigned* x, unsigned* sum) {
  atomicAdd(sum, x[blockIdx.x * blockDim.x + threadIdx.x]);
}

__global__ void tree(const unsigned* x, unsigned* sum) {
  __shared__ unsigned s_x[kBlock];
  const unsigned t = threadIdx.x;
  s_x[t] = x[blockIdx.x * blockDim.x + t];
  __syncthreads();
  for (unsigned half = kBlock / 2; half > 0; half /= 2) {
    if (t < half) s_x[t] += s_x[t + half];
    __syncthreads();
  }
  if (t == 0) atomicAdd(sum, s_x[0]);
}

__global__ void shuffles(const unsigned* x, unsigned* sum) {
  unsigned value = x[blockIdx.x * blockDim.x + threadIdx.x];
  for (unsigned offset = 16; offset > 0; offset /= 2) {
    value += __shfl_down_sync(0xFFFF'FFFF, value, offset);
  }
  if (threadIdx.x % 32 == 0) atomicAdd(sum, value);
}

__global__ void histogram(const unsigned* x, unsigned* bins) {
  __shared__ unsigned s_bins[256];
  s_bins[threadIdx.x] = 0;
  __syncthreads();
  atomicAdd(&s_bins[x[blockIdx.x * blockDim.x + threadIdx.x] % 256], 1u);
  __syncthreads();
  atomicAdd(&bins[threadIdx.x], s_bins[threadIdx.x]);
}

/// The inclusive scan of each block's elements.
__global__ void scan(const unsigned* x, unsigned* out) {
  __shared__ unsigned s_x[2][kBlock];
  const unsigned t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
  s_x[0][t] = x[i];
  __syncthreads();
  unsigned from = 0;
  for (unsigned distance = 1; distance < kBlock; distance *= 2) {
    s_x[1 - from][t] = s_x[from][t] + (t >= distance ? s_x[from][t - distance] : 0);
    from = 1 - from;
    __syncthreads();
  }
  out[i] = s_x[from][t];
}

/// Each element times the sum of `kBlock` weights, which a block reads from shared memory.
__global__ void weights(const unsigned* x, const unsigned* weight, unsigned* out) {
  __shared__ unsigned s_weight[kBlock];
  const unsigned t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
  s_weight[t] = weight[t];
  __syncthreads();
  unsigned sum = 0;
  for (unsigned k = 0; k < kBlock; ++k) sum += x[i] * s_weight[k];
  out[i] = sum;
}

/// The block that is last adds what all have left.
__global__ void last_block(const unsigned* x, unsigned* parts, unsigned* tickets, unsigned* sum) {
  __shared__ unsigned s_sum, s_ticket;
  const unsigned t = threadIdx.x;
  if (t == 0) s_sum = 0;
  __syncthreads();
  atomicAdd(&s_sum, x[blockIdx.x * blockDim.x + t]);
  __syncthreads();
  if (t == 0) {
    parts[blockIdx.x] = s_sum;
    __threadfence();
    s_ticket = atomicAdd(tickets, 1u);
  }
  __syncthreads();
  if (s_ticket != gridDim.x - 1) return;
  __threadfence();
  for (unsigned b = t; b < gridDim.x; b += blockDim.x) atomicAdd(sum, parts[b]);
}

int fail(const char* what) {
  std::fprintf(stderr, "%s\n", what);
  return 1;
}

int main(int argc, char** argv) {
  if (argc != 3) return fail("usage: kernels NAME N");
  const char* const name = argv[1];
  const unsigned n = static_cast<unsigned>(std::strtoul(argv[2], nullptr, 10));
  if (n < 1024 || (n & (n - 1)) != 0) return fail("N is a power of two from 1024 on");
  unsigned rows = kTile;
  while (rows * rows < n) rows *= 2;
  const unsigned columns = n / rows, blocks = n / kBlock;

  std::vector<unsigned> x(n), out(n), expected(n, 0u);
  for (unsigned i = 0; i < n; ++i) x[i] = i * 2'654'435'761u >> 20;
  unsigned *d_x = nullptr, *d_out = nullptr, *d_more = nullptr;
  cudaMalloc(&d_x, n * sizeof(unsigned));
  cudaMalloc(&d_out, n * sizeof(unsigned));
  cudaMalloc(&d_more, n * sizeof(unsigned));
  cudaMemcpy(d_x, x.data(), n * sizeof(unsigned), cudaMemcpyHostToDevice);
  cudaMemset(d_out, 0, n * sizeof(unsigned));
  cudaMemset(d_more, 0, n * sizeof(unsigned));

  const auto is = [&](const char* other) { return std::strcmp(name, other) == 0; };
  const auto sums = [&](unsigned& sum) {
    for (unsigned i = 0; i < n; ++i) sum += x[i];
  };
  if (is("copy")) {
    copy<<<blocks, kBlock>>>(d_x, d_out, n);
    expected = x;
  } else if (is("stencil")) {
    stencil<<<blocks, kBlock>>>(d_x, d_out, n);
    for (unsigned i = 0; i < n; ++i) {
      expected[i] = (i == 0 ? 0 : x[i - 1]) + x[i] + (i == n - 1 ? 0 : x[i + 1]);
    }
  } else if (is("transpose")) {
    transpose<<<dim3(columns / kTile, rows / kTile), dim3(kTile, 8)>>>(d_x, d_out, rows);
    for (unsigned i = 0; i < n; ++i) expected[i % columns * rows + i / columns] = x[i];
  } else if (is("add_to_one")) {
    add_to_one<<<blocks, kBlock>>>(d_x, d_out);
    sums(expected[0]);
  } else if (is("tree")) {
    tree<<<blocks, kBlock>>>(d_x, d_out);
    sums(expected[0]);
  } else if (is("shuffles")) {
    shuffles<<<blocks, kBlock>>>(d_x, d_out);
    sums(expected[0]);
  } else if (is("histogram")) {
    histogram<<<blocks, kBlock>>>(d_x, d_out);
    for (unsigned i = 0; i < n; ++i) ++expected[x[i] % 256];
  } else if (is("scan")) {
    scan<<<blocks, kBlock>>>(d_x, d_out);
    for (unsigned i = 0; i < n; ++i) {
      expected[i] = x[i] + (i % kBlock == 0 ? 0 : expected[i - 1]);
    }
  } else if (is("weights")) {
    weights<<<blocks, kBlock>>>(d_x, d_x, d_out);
    unsigned sum = 0;
    for (unsigned k = 0; k < kBlock; ++k) sum += x[k];
    for (unsigned i = 0; i < n; ++i) expected[i] = x[i] * sum;
  } else if (is("last_block")) {
    last_block<<<blocks, kBlock>>>(d_x, d_more, d_more + n / 2, d_out);
    sums(expected[0]);
  } else {
    return fail("there is no such kernel");
  }
  const cudaError_t error = cudaDeviceSynchronize();
  if (error != cudaSuccess) return fail(cudaGetErrorString(error));
  cudaMemcpy(out.data(), d_out, n * sizeof(unsigned), cudaMemcpyDeviceToHost);
  if (out != expected) return fail("wrong result");
  cudaFree(d_x);
  cudaFree(d_out);
  cudaFree(d_more);
}
