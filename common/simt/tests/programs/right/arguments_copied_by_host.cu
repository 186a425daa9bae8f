// Construct: arguments with a copy constructor or a destructor: the host runs them, no thread does. Expect: runs.
#include <stdio.h>

#include <string>

int copies = 0;

struct View {
  float* p;
  int n;
  View(float* p, int n) : p(p), n(n) {}
  View(const View& other) : p(other.p), n(other.n) { ++copies; }  // host code: it counts
};

// Freed when the launch has been queued, and once more at the end, as with nvcc: the second is an error.
struct Owner {
  float* p;
  explicit Owner(int n) { cudaMalloc(&p, n * sizeof(float)); }
  ~Owner() { cudaFree(p); }
};

template <class T>
struct Named {
  T* p;
  std::string name;
};

__global__ void set(const View v, long n, float value) {
  if (threadIdx.x < n) v.p[threadIdx.x] = value;
}

__global__ void add(View v, double x) { v.p[threadIdx.x] += x; }

__global__ void add(View v, const char*) { v.p[threadIdx.x] += 1; }  // an overload

template <class T>
__global__ void scale(Named<T> x, T factor) {
  x.p[threadIdx.x] *= factor;
}

template <class F>
__global__ void apply(F function) {
  function(threadIdx.x);
}

__global__ void fill(Owner a) { a.p[threadIdx.x] = 1; }

int main() {
  const int n = 64;
  float *d_x, x[n];
  cudaMalloc(&d_x, sizeof x);
  View view(d_x, n);
  set<<<1, n>>>(view, 32, 3);  // the numbers are converted
  set<<<1, n>>>(View(d_x + 32, 32), 32, 5);
  add<<<1, n>>>(view, 2.0);
  add<<<1, n>>>(view, "text");
  scale<<<1, n>>>(Named<float>{d_x, "a name that is longer than fits in the string itself"}, 2.0f);
  scale<float>
      <<<1, n>>>(Named<float>{d_x, "another name that is longer than fits in the string"}, 2);
  void (*kernel)(View, double) = add;
  kernel<<<1, n>>>(view, 0.5);
  apply<<<1, n>>>([view] __device__(int i) { view.p[i] += 0.5f; });
  cudaMemcpy(x, d_x, sizeof x, cudaMemcpyDeviceToHost);
  {
    Owner owner(n);
    fill<<<1, n>>>(owner);
  }
  printf("%s\n", cudaGetErrorString(cudaGetLastError()));
  printf("%g %g, %s\n", x[0], x[n - 1],
         copies > 0 && copies < n ? "copied by the host" : "copied by the threads");
  return x[0] == 25 && x[n - 1] == 33 ? 0 : 1;
}
