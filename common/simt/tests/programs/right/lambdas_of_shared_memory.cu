// Construct: lambdas that use shared memory: it needs no capture, and no [=] copies it. Expect: runs.
#include <cstdio>

__shared__ int s_last;

__global__ void count(const int* x, int* out) {
  __shared__ int s_bins[4];
  __shared__ int s_total;
  extern __shared__ int s_all[];
  const int t = threadIdx.x;
  const auto clear = [](int i) {
    if (i < 4) s_bins[i] = 0;
    if (i == 0) s_total = 0;
    s_all[i] = 0;
  };
  const auto add = [=](int i) { atomicAdd(&s_bins[i], 1); };
  const auto total = [=] { return s_total; };
  const auto keep = [t](int value) { s_all[t] = value; };
  const auto nested = [] {
    const auto sum = [] { return s_bins[0] + s_bins[1] + s_bins[2] + s_bins[3]; };
    return sum();
  };
  const auto last = [&](int value) { s_last = value; };
  const auto read_last = [] { return s_last; };
  clear(t);
  __syncthreads();
  add(x[t]);
  __syncthreads();
  if (t == 0) {
    s_total = nested();
    last(7);
  }
  __syncthreads();
  keep(total() + read_last());
  out[t] = s_all[t] + [](int s_bins) { return s_bins; }(1);
}

int main() {
  constexpr int n = 64;
  int h[n], *d_x = nullptr, *d_out = nullptr;
  for (int i = 0; i < n; ++i) h[i] = i % 4;
  cudaMalloc(&d_x, sizeof h);
  cudaMalloc(&d_out, sizeof h);
  cudaMemcpy(d_x, h, sizeof h, cudaMemcpyHostToDevice);
  count<<<1, n, n * sizeof(int)>>>(d_x, d_out);
  cudaMemcpy(h, d_out, sizeof h, cudaMemcpyDeviceToHost);
  for (const int value : h)
    if (value != n + 8) return std::printf("%d\n", value), 1;
}
