// Construct: omp.h and #pragma omp: a parallel region has one thread, however many it asks for. Expect: runs.
#include <omp.h>
#include <stdio.h>

__global__ void square(const float* x, float* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = x[i] * x[i];
}

int main() {
  const int n = 1000;
  static float x[n], y[n];
  int devices = 0, threads = 0, failures = 0;
  const double begin = omp_get_wtime();
  cudaGetDeviceCount(&devices);
  omp_set_num_threads(devices);
#pragma omp parallel for schedule(static)
  for (int i = 0; i < n; ++i) x[i] = i % 7;

    // A device for each thread, and a part of the array: as many parts as there are threads.
#pragma omp parallel num_threads(devices) shared(threads, failures)
  {
    const int id = omp_get_thread_num(), all = omp_get_num_threads();
    const int first = n / all * id, last = id == all - 1 ? n : first + n / all,
              count = last - first;
    float *d_x, *d_y;
    cudaSetDevice(id % devices);
    cudaMalloc(&d_x, count * sizeof(float));
    cudaMalloc(&d_y, count * sizeof(float));
    cudaMemcpy(d_x, x + first, count * sizeof(float), cudaMemcpyHostToDevice);
    square<<<(count + 255) / 256, 256>>>(d_x, d_y, count);
    cudaMemcpy(y + first, d_y, count * sizeof(float), cudaMemcpyDeviceToHost);
    cudaFree(d_x);
    cudaFree(d_y);
#pragma omp critical
    if (cudaGetLastError() != cudaSuccess) ++failures;
#pragma omp barrier
#pragma omp single
    threads = all;
  }

  double expected = 0, sum = 0;
#pragma omp parallel for reduction(+ : expected, sum)
  for (int i = 0; i < n; ++i) {
    expected += (i % 7) * (i % 7);
    sum += y[i];
  }
  omp_lock_t lock;
  omp_init_lock(&lock);
  const bool is_free = omp_test_lock(&lock) && !omp_test_lock(&lock);
  omp_unset_lock(&lock);
  omp_destroy_lock(&lock);
  if (failures || threads != omp_get_max_threads() || sum != expected || !is_free) {
    return printf("FAILED: %f, not %f\n", sum, expected), 1;
  }
  if (omp_get_wtime() < begin) return printf("FAILED: the clock\n"), 1;
  printf("PASSED\n");
  return 0;
}
