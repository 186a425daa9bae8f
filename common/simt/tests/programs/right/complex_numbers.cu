// Construct: cuComplex.h, math functions of float and double. Expect: runs.
#include <cuComplex.h>
#include <math.h>
#include <stdio.h>

__global__ void escape_times(int* steps, int width, int height) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= width || y >= height) return;
  cuFloatComplex c = make_cuFloatComplex(-2.0f + 3.0f * x / width, -1.5f + 3.0f * y / height);
  cuFloatComplex z = make_cuFloatComplex(0.0f, 0.0f);
  int step = 0;
  while (step < 30 && cuCabsf(z) < 2.0f) {
    z = cuCaddf(cuCmulf(z, z), c);
    ++step;
  }
  steps[y * width + x] = step;
}

__global__ void roots_of_unity(cuDoubleComplex* roots, int n) {
  int k = threadIdx.x;
  double s, c;
  sincospi(2.0 * k / n, &s, &c);
  roots[k] = make_cuDoubleComplex(c, s);
}

int main() {
  const int width = 24, height = 16, n = 12;
  int *d_steps, steps[width * height];
  cuDoubleComplex *d_roots, roots[n];
  cudaMalloc(&d_steps, sizeof(steps));
  cudaMalloc(&d_roots, sizeof(roots));
  escape_times<<<dim3(3, 2), dim3(8, 8)>>>(d_steps, width, height);
  roots_of_unity<<<1, n>>>(d_roots, n);
  cudaMemcpy(steps, d_steps, sizeof(steps), cudaMemcpyDeviceToHost);
  cudaMemcpy(roots, d_roots, sizeof(roots), cudaMemcpyDeviceToHost);
  cudaFree(d_steps);
  cudaFree(d_roots);

  cuDoubleComplex product = make_cuDoubleComplex(1, 0);  // of all roots: -1, as n is even
  for (int k = 0; k < n; ++k) product = cuCmul(product, roots[k]);
  bool right = fabs(cuCreal(product) + 1) < 1e-9 && fabs(cuCimag(product)) < 1e-9;
  right = right && steps[8 * width + 16] == 30 && steps[0] == 1;
  printf("%s\n", right ? "PASSED" : "FAILED");
  return right ? 0 : 1;
}
