// Construct: structs by value, float4, __host__ __device__ operators, tiles of bodies. Expect: runs.
#include <cmath>
#include <cstdio>
#include <vector>

struct Vec3 {
  float x, y, z;
  __host__ __device__ Vec3 operator+(const Vec3& o) const { return {x + o.x, y + o.y, z + o.z}; }
  __host__ __device__ Vec3 operator*(float f) const { return {x * f, y * f, z * f}; }
};

struct Parameters {
  float softening, step;
  int n;
};

__host__ __device__ inline Vec3 pull(float4 at, float4 by, float softening) {
  const float dx = by.x - at.x, dy = by.y - at.y, dz = by.z - at.z;
  const float square = dx * dx + dy * dy + dz * dz + softening;
  const float inverse = 1.0f / sqrtf(square);
  return Vec3{dx, dy, dz} * (by.w * inverse * inverse * inverse);
}

__global__ void move(const float4* before, float4* after, Parameters p) {
  extern __shared__ float4 s_bodies[];
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const float4 mine = i < p.n ? before[i] : make_float4(0, 0, 0, 0);
  Vec3 force = {};
  for (int first = 0; first < p.n; first += blockDim.x) {
    const int j = first + threadIdx.x;
    s_bodies[threadIdx.x] = j < p.n ? before[j] : make_float4(0.0f, 0.0f, 0.0f, 0.0f);
    __syncthreads();
    for (int k = 0; k < static_cast<int>(blockDim.x); ++k)
      force = force + pull(mine, s_bodies[k], p.softening);
    __syncthreads();
  }
  if (i < p.n)
    after[i] = make_float4(mine.x + p.step * force.x, mine.y + p.step * force.y,
                           mine.z + p.step * force.z, mine.w);
}

int main() {
  const Parameters p = {0.01f, 0.002f, 50};
  std::vector<float4> bodies(p.n), moved(p.n);
  for (int i = 0; i < p.n; ++i)
    bodies[i] = {std::sin(1.0f * i), std::cos(2.0f * i), 0.1f * (i % 7), 1.0f + i % 3};
  float4 *d_before, *d_after;
  const size_t bytes = p.n * sizeof(float4);
  cudaMalloc(&d_before, bytes);
  cudaMalloc(&d_after, bytes);
  cudaMemcpy(d_before, bodies.data(), bytes, cudaMemcpyHostToDevice);
  move<<<2, 32, 32 * sizeof(float4)>>>(d_before, d_after, p);
  cudaMemcpy(moved.data(), d_after, bytes, cudaMemcpyDeviceToHost);
  cudaFree(d_before);
  cudaFree(d_after);

  int wrong = 0;
  for (int i = 0; i < p.n; ++i) {
    Vec3 force = {};
    for (int j = 0; j < p.n; ++j) force = force + pull(bodies[i], bodies[j], p.softening);
    wrong += !(std::fabs(moved[i].x - bodies[i].x - p.step * force.x) < 1e-3f) ||
             moved[i].w != bodies[i].w;
  }
  std::printf("%s\n", wrong == 0 ? "PASSED" : "FAILED");
  return wrong;
}
