// Construct: structs by value: parameters, results, captures, bindings, std::array and std::pair, virtual functions. Expect: runs.
#include <stdio.h>

#include <array>
#include <new>
#include <utility>

constexpr int kThreads = 64;

struct Sample {
  float value;
  int index;
  short weights[5];
};

struct View {  // what a library passes instead of a pointer
  Sample* data;
  int n;
  __device__ Sample get(int i) const { return data[i]; }
  __device__ void set(int i, Sample sample) const { data[i] = sample; }
};

template <class T>
struct Tree {
  T left;
  std::pair<T, int> right;
};

struct Shape {
  int size;
  __device__ virtual int area() const { return size; }
};
struct Square : Shape {
  __device__ int area() const override { return size * size; }
};

__device__ Sample make(int i) {
  Sample sample{i * 0.5f, i, {1, 2, 3, 4, 5}};
  for (auto& weight : sample.weights) weight += i;
  return sample;
}

__device__ int sum(Tree<Sample> tree) {
  const auto [left, right] = tree;
  int total = left.index + right.first.index + right.second;
  for (short weight : right.first.weights) total += weight;
  return total;
}

__global__ void neighbours(View view, std::array<int, 6> offsets, int* y) {
  __shared__ Sample s[kThreads];
  __shared__ std::array<int, 6> s_offsets[kThreads];
  const int t = threadIdx.x, other = (t + 32) % kThreads;
  s[t] = make(t);
  s_offsets[t] = std::array<int, 6>{1, 2, 3, 4, 5, 6};
  __syncthreads();
  auto with_mine = [mine = s[t], offsets](Sample theirs) {
    return sum({mine, {theirs, offsets[theirs.index % 6]}});
  };
  y[t] = with_mine(s[other]) + s_offsets[other][5];
  view.set(other, t < 40 ? s[t] : view.get(other));
  __syncthreads();
  std::swap(s[t], view.data[t]);
}

__global__ void areas(int* y) {
  __shared__ alignas(Square) char s_bytes[kThreads * sizeof(Square)];
  Square* squares = reinterpret_cast<Square*>(s_bytes);
  const int t = threadIdx.x;
  if (t % 2 == 0) {
    (new (&squares[t]) Square)->size = t;
  } else {
    (new (static_cast<Shape*>(&squares[t])) Shape)->size = t;
  }
  __syncthreads();
  const Shape* other = &squares[(t + 31) % kThreads];
  y[t] = other->area();
}

int main() {
  Sample* samples;
  int* y;
  cudaMallocManaged(&samples, kThreads * sizeof(Sample));
  cudaMallocManaged(&y, kThreads * sizeof(int));
  for (int i = 0; i < kThreads; ++i) samples[i] = Sample{-1.0f, i, {0, 0, 0, 0, 0}};
  neighbours<<<1, kThreads>>>(View{samples, kThreads}, {10, 20, 30, 40, 50, 60}, y);
  cudaDeviceSynchronize();
  int wrong = 0;
  for (int t = 0; t < kThreads; ++t) {
    const int o = (t + 32) % kThreads;
    wrong += y[t] != t + o + (o % 6 + 1) * 10 + 15 + 5 * o + 6;
    wrong += samples[t].index != t || samples[t].value != t * 0.5f;
  }
  areas<<<1, kThreads>>>(y);
  cudaDeviceSynchronize();
  for (int t = 0; t < kThreads; ++t) {
    const int o = (t + 31) % kThreads;
    wrong += y[t] != (o % 2 == 0 ? o * o : o);
  }
  printf("%s\n", wrong == 0 ? "PASSED" : "FAILED");
  cudaFree(samples);
  cudaFree(y);
  return 0;
}
