// Construct: names and functions of host and device that a rule of CUDA must not confuse. Expect: runs.
#include <algorithm>
#include <cstdio>
#include <functional>
#include <utility>

__global__ void fill(int* x) { x[threadIdx.x] = 1; }
void fill(int* x, int n) { fill<<<1, n>>>(x); }  // of the host, with the kernel's name

struct Counter {
  int n = 0;
  void fill(int by) { n += by; }
  __host__ __device__ int doubled() const { return 2 * n; }
  __device__ int device_only() const { return n; }
};

template <class T>
struct Holder {
  T value;
  static int fill(T x) { return x + 1; }
  __host__ __device__ T get() const { return value; }
};

int twice(int x) { return 2 * x; }
__device__ float twice(float x) { return 2 * x; }
__device__ int device_value() { return 1; }
using Value = decltype(device_value());

constexpr int three() { return 3; }
__host__ __device__ int either(int x) { return x + three(); }

template <class F>
__global__ void apply(int* x, F f) {
  x[threadIdx.x] = f(x[threadIdx.x]);
}

template <class T>
__host__ __device__ void keep_larger(T& x, T y) {
  x = std::max(x, y);
}

__global__ void mixed(int* x) {
  auto twice_of = [](int y) { return static_cast<int>(twice(static_cast<float>(y))); };
  int* mine = x + threadIdx.x;
  keep_larger(*mine, 0);
  const Counter c{*mine};
  const Holder<int> h{c.doubled()};
  std::pair<int, int> pair(h.get(), c.device_only());
  std::swap(pair.first, pair.second);
  *mine = twice_of(pair.first) + either(pair.second) + device_value();
}

int main() {
  int* d_x = nullptr;
  cudaMalloc(&d_x, 32 * sizeof(int));
  fill(d_x, 32);
  apply<<<1, 32>>>(d_x, [] __device__(int x) { return x + 1; });
  mixed<<<1, 32>>>(d_x);
  int x[32];
  cudaMemcpy(x, d_x, sizeof x, cudaMemcpyDeviceToHost);
  Counter counter;
  counter.fill(Holder<int>::fill(twice(1)));
  std::function<Value(Value)> either_of = either;
  int largest = 0;
  for (int value : x) keep_larger(largest, value);
  const bool right = largest == 12 && x[0] == 12 && counter.doubled() == 6 && either_of(1) == 4;
  std::printf("%s\n", right ? "right" : "FAILED");
  cudaFree(d_x);
  return right ? 0 : 1;
}
