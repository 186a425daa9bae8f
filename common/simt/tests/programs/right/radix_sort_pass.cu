// Construct: a radix sort: count, scan, scatter for each digit. Expect: runs.
#include <algorithm>
#include <cstdio>
#include <vector>

constexpr int kBits = 4, kDigits = 1 << kBits, kThreads = 32;

__global__ void count_digits(const unsigned* keys, unsigned* counts, int n, int shift) {
  __shared__ unsigned s_counts[kDigits];
  if (threadIdx.x < kDigits) s_counts[threadIdx.x] = 0;
  __syncthreads();
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) atomicAdd(&s_counts[keys[i] >> shift & (kDigits - 1)], 1u);
  __syncthreads();
  if (threadIdx.x < kDigits) counts[threadIdx.x * gridDim.x + blockIdx.x] = s_counts[threadIdx.x];
}

__global__ void scan_counts(unsigned* counts, int n) {
  if (threadIdx.x != 0) return;
  unsigned sum = 0;
  for (int i = 0; i < n; ++i) {
    const unsigned count = counts[i];
    counts[i] = sum;
    sum += count;
  }
}

// Lanes with the same digit keep their order: the rank of a lane is the number of its peers before it.
__global__ void scatter(const unsigned* keys, unsigned* out, const unsigned* first, int n,
                        int shift) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const unsigned active = __ballot_sync(0xffffffffu, i < n);
  if (i >= n) return;
  const unsigned digit = keys[i] >> shift & (kDigits - 1);
  const unsigned peers = __match_any_sync(active, digit);
  const unsigned rank = __popc(peers & ((1u << threadIdx.x % 32) - 1));
  out[first[digit * gridDim.x + blockIdx.x] + rank] = keys[i];
}

int main() {
  const int n = 200, blocks = (n + kThreads - 1) / kThreads;
  std::vector<unsigned> keys(n), out(n);
  for (int i = 0; i < n; ++i) keys[i] = (i * 40503u + 17u) & 0xfff;
  unsigned *d_keys, *d_out, *d_counts;
  cudaMalloc(&d_keys, n * sizeof(unsigned));
  cudaMalloc(&d_out, n * sizeof(unsigned));
  cudaMalloc(&d_counts, kDigits * blocks * sizeof(unsigned));
  cudaMemcpy(d_keys, keys.data(), n * sizeof(unsigned), cudaMemcpyHostToDevice);
  for (int shift = 0; shift < 12; shift += kBits) {
    count_digits<<<blocks, kThreads>>>(d_keys, d_counts, n, shift);
    scan_counts<<<1, 32>>>(d_counts, kDigits * blocks);
    scatter<<<blocks, kThreads>>>(d_keys, d_out, d_counts, n, shift);
    std::swap(d_keys, d_out);
  }
  cudaMemcpy(out.data(), d_keys, n * sizeof(unsigned), cudaMemcpyDeviceToHost);
  std::sort(keys.begin(), keys.end());
  std::puts(out == keys ? "PASSED" : "FAILED");
  return out != keys;
}
