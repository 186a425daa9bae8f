// Construct: __device__ function pointers in a table and as an argument, virtual functions. Expect: runs.
#include <stdio.h>

typedef float (*Operation)(float, float);

__device__ float add(float a, float b) { return a + b; }
__device__ float subtract(float a, float b) { return a - b; }
__device__ float larger(float a, float b) { return fmaxf(a, b); }

__device__ Operation table[3] = {add, subtract, larger};
__device__ Operation chosen = larger;

struct Shape {
  __device__ virtual float area() const = 0;
  __device__ virtual ~Shape() {}
};
struct Square : Shape {
  float side;
  __device__ explicit Square(float s) : side(s) {}
  __device__ float area() const override { return side * side; }
};
struct Circle : Shape {
  float radius;
  __device__ explicit Circle(float r) : radius(r) {}
  __device__ float area() const override { return 3.0f * radius * radius; }
};

__global__ void apply(Operation operation, float* out) {
  const int t = threadIdx.x;
  out[t] = table[t % 3](8.0f, (float)t);
  out[t + 6] = operation(3.0f, (float)t);
  if (t < 2) {
    Square square(2.0f);
    Circle circle(1.0f);
    const Shape* shape = t == 0 ? (const Shape*)&square : &circle;
    out[t + 12] = shape->area();
  }
}

int main() {
  Operation operation;
  cudaMemcpyFromSymbol(&operation, chosen, sizeof(operation));
  float *d_out, out[14];
  cudaMalloc(&d_out, sizeof(out));
  apply<<<1, 6>>>(operation, d_out);
  cudaMemcpy(out, d_out, sizeof(out), cudaMemcpyDeviceToHost);
  cudaFree(d_out);
  const float expected[14] = {8, 7, 8, 11, 4, 8, 3, 3, 3, 3, 4, 5, 4, 3};
  for (int i = 0; i < 14; ++i) {
    if (out[i] != expected[i]) {
      printf("FAILED: out[%d] is %g, not %g\n", i, out[i], expected[i]);
      return 1;
    }
  }
  printf("PASSED\n");
  return 0;
}
