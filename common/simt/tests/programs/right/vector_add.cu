// Construct: a kernel and its launch, no #include at all. Expect: runs.
__global__ void add(const float* x, const float* y, float* z, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    z[i] = x[i] + y[i];
  }
}

int main() {
  const int n = 1000;
  const size_t bytes = n * sizeof(float);
  float* x = (float*)malloc(bytes);
  float* y = (float*)malloc(bytes);
  float* z = (float*)malloc(bytes);
  for (int i = 0; i < n; i++) {
    x[i] = i;
    y[i] = 2 * i;
  }

  float *d_x, *d_y, *d_z;
  cudaMalloc(&d_x, bytes);
  cudaMalloc((void**)&d_y, bytes);
  cudaMalloc((void**)&d_z, bytes);
  cudaMemcpy(d_x, x, bytes, cudaMemcpyHostToDevice);
  cudaMemcpy(d_y, y, bytes, cudaMemcpyHostToDevice);
  add<<<(n + 255) / 256, 256>>>(d_x, d_y, d_z, n);
  cudaMemcpy(z, d_z, bytes, cudaMemcpyDeviceToHost);

  int wrong = 0;
  for (int i = 0; i < n; i++) {
    if (fabs(z[i] - 3.0f * i) > 1e-5f) wrong++;
  }
  cudaFree(d_x);
  cudaFree(d_y);
  cudaFree(d_z);
  free(x);
  free(y);
  free(z);
  return wrong == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
