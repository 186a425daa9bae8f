// Construct: unions over float4: copied, passed by value, in structs, with and without initial values. Expect: runs.
#include <stdio.h>

union Pack {
  float4 vector;
  float items[4];
};

template <typename T, int N>
union Elements {  // as a library has it
  __device__ Elements() {}
  float4 storage;
  T items[N];
};

template <typename T, int N>
union Values {
  T items[N];
  float4 all;
};

struct Row {
  union {
    float4 vector;
    float items[4];
  };
  Pack before;
  int number;
};

__device__ Pack twice(Pack p) {
  for (float& item : p.items) item *= 2;
  return p;
}

__global__ void scale(Pack* x, Row* rows, Pack first) {
  __shared__ Pack s[32];
  const int t = threadIdx.x;
  s[t] = x[t];
  x[t] = twice(s[t]);
  Row row = rows[t];
  row.before = first;
  row.vector = x[t].vector;
  row.number = t;
  rows[t] = row;
}

__global__ void initial_values(int* wrong) {
  Pack none = {}, four = {1, 2, 3, 4}, made = {make_float4(1, 2, 3, 4)}, inner{{1, 2, 3, 4}},
       copy(four);
  Values<float, 4> array = {{1, 2, 3, 4}}, other = array;
  Elements<float, 4> a, b;
  a.storage = four.vector;
  b = a;
  *wrong = none.items[3] != 0 || four.items[3] != 4 || made.items[2] != 3 || inner.items[1] != 2 ||
           copy.items[0] != 1 || other.all.z != 3 || b.items[3] != 4;
}

int main() {
  Pack *x, first;
  Row* rows;
  int* wrong;
  cudaMallocManaged(&x, 32 * sizeof(Pack));
  cudaMallocManaged(&rows, 32 * sizeof(Row));
  cudaMallocManaged(&wrong, sizeof(int));
  for (int i = 0; i < 32; ++i) {
    x[i].vector = make_float4(i, i, i, i);
    rows[i] = Row{};
  }
  first = x[7];
  scale<<<1, 32>>>(x, rows, first);
  initial_values<<<1, 1>>>(wrong);
  cudaDeviceSynchronize();
  const Row row = rows[3];
  printf("%s\n", *wrong || x[3].items[2] != 6 || row.items[1] != 6 || row.before.items[3] != 7
                     ? "FAILED"
                     : "PASSED");
  cudaFree(x);
  cudaFree(rows);
  cudaFree(wrong);
  return 0;
}
