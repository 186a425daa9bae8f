#pragma once
__global__ void kernel(int* d_x) {
  atomicAdd(d_x);
}
inline int of_the_host() { return 1; }
__global__ void other(int* d_x) { *d_x = of_the_host(); }
inline void launch() { of_the_host<<<1, 1>>>(); }
