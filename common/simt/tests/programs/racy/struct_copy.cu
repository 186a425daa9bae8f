// Construct: a struct copied as a whole while a neighbour changes one member. Expect: finding "DATA RACE" on d_bodies.
#include <cstdio>

struct Body {
  float position[3], velocity[3], mass;
};

__global__ void move(Body* d_bodies, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const Body neighbour =
      d_bodies[(i + 1) % n];  // all members, while its thread writes the velocity
  d_bodies[i].velocity[0] += neighbour.mass * neighbour.position[0];
}

int main() {
  Body* d_bodies;
  cudaMalloc(&d_bodies, 40 * sizeof(Body));
  cudaMemset(d_bodies, 0, 40 * sizeof(Body));
  move<<<2, 32>>>(d_bodies, 40);
  std::printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
}
