// Construct: a random generator of one's own, recursion, long long and float atomics, early return. Expect: runs.
#include <stdint.h>
#include <stdio.h>

struct Random {
  uint32_t state;
  __host__ __device__ explicit Random(uint32_t seed) : state(seed * 747796405u + 2891336453u) {}
  __host__ __device__ float next() {
    state = state * 747796405u + 2891336453u;
    uint32_t word = ((state >> ((state >> 28) + 4)) ^ state) * 277803737u;
    return ((word >> 22) ^ word) * (1.0f / 4294967296.0f);
  }
};

__host__ __device__ int inside(uint32_t seed, int draws) {
  Random random(seed);
  int hits = 0;
  for (int i = 0; i < draws; ++i) {
    float x = random.next(), y = random.next();
    hits += x * x + y * y < 1.0f;
  }
  return hits;
}

__device__ unsigned long long fibonacci(int n) {
  return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2);
}

__global__ void estimate(unsigned long long* hits, int draws, int threads) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= threads) return;
  atomicAdd(hits, (unsigned long long)inside(i, draws));
  if (i == 0) atomicAdd(hits + 1, fibonacci(10));
}

int main() {
  const int threads = 90, draws = 20;
  unsigned long long *d_hits, hits[2], expected = 0;
  cudaMalloc(&d_hits, sizeof(hits));
  cudaMemset(d_hits, 0, sizeof(hits));
  estimate<<<3, 32>>>(d_hits, draws, threads);
  cudaMemcpy(hits, d_hits, sizeof(hits), cudaMemcpyDeviceToHost);
  for (int i = 0; i < threads; ++i) expected += inside(i, draws);
  double pi = 4.0 * hits[0] / (threads * draws);
  bool right = hits[0] == expected && hits[1] == 55 && pi > 2.9 && pi < 3.4;
  printf("%s: pi is about %.3f\n", right ? "PASSED" : "FAILED", pi);
  return right ? 0 : 1;
}
