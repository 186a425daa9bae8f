// Construct: templates, functors and lambdas that kernels take as arguments or define. Expect: runs.
#include <cstdio>
#include <type_traits>

struct Square {
  __host__ __device__ int operator()(int x) const { return x * x; }
};

template <typename T>
class Affine {
 public:
  __host__ __device__ Affine(T slope, T offset) : slope_(slope), offset_(offset) {}
  __host__ __device__ T operator()(T x) const { return slope_ * x + offset_; }

 private:
  T slope_, offset_;
};

template <class... Functions>
struct Chain;
template <>
struct Chain<> {
  template <class T>
  __host__ __device__ T operator()(T x) const {
    return x;
  }
};
template <class First, class... Rest>
struct Chain<First, Rest...> {
  First first;
  Chain<Rest...> rest;
  template <class T>
  __host__ __device__ T operator()(T x) const {
    return rest(first(x));
  }
};

template <typename T, typename Function, int kPerThread = 2>
__global__ void transform(T* x, int n, Function function) {
  const auto clamped = [n](int i) { return i < n ? i : n - 1; };
#pragma unroll
  for (int k = 0; k < kPerThread; ++k) {
    const int i = (blockIdx.x * kPerThread + k) * blockDim.x + threadIdx.x;
    if constexpr (std::is_same_v<T, int>) {
      if (clamped(i) == i) x[i] = function(x[i]);
    }
  }
}

int main() {
  const int n = 90;
  int x[n], *d_x;
  for (int i = 0; i < n; ++i) x[i] = i;
  cudaMalloc(&d_x, sizeof(x));
  cudaMemcpy(d_x, x, sizeof(x), cudaMemcpyHostToDevice);
  const Chain<Square, Affine<int>> chain{{}, {Affine<int>(2, -1), {}}};
  transform<<<3, 16>>>(d_x, n, Affine<int>{1, 5});
  transform<int, decltype(chain), 3><<<2, 16>>>(d_x, n, chain);
  cudaMemcpy(x, d_x, sizeof(x), cudaMemcpyDeviceToHost);
  cudaFree(d_x);
  for (int i = 0; i < n; ++i) {
    if (x[i] != 2 * (i + 5) * (i + 5) - 1) return std::printf("FAILED: x[%d] is %d\n", i, x[i]), 1;
  }
  std::puts("PASSED");
  return 0;
}
