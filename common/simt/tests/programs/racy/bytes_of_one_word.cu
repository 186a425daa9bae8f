// Construct: threads set bytes of one word, and one clears the word as an int. Expect: finding "DATA RACE" on d_flags.
#include <cstdio>

union Flags {
  unsigned char byte[4];
  unsigned int word;
};

__global__ void mark(Flags* d_flags, const int* x) {
  const int t = threadIdx.x;
  d_flags[t / 4].byte[t % 4] = x[t] > 0;
  if (x[t] < 0) d_flags[t / 4].word = 0;
}

int main() {
  int x[64], *d_x;
  for (int i = 0; i < 64; ++i) x[i] = i == 33 ? -1 : i;
  Flags* d_flags;
  cudaMalloc(&d_x, sizeof(x));
  cudaMalloc(&d_flags, 16 * sizeof(Flags));
  cudaMemcpy(d_x, x, sizeof(x), cudaMemcpyHostToDevice);
  mark<<<1, 64>>>(d_flags, d_x);
  std::printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
}
