// Construct: cudaMallocManaged, __managed__, prefetch and advice. Expect: runs.
#include <cstdio>
#include <new>

__device__ __managed__ int longest = 0;

class Managed {  // objects in memory of host and device
 public:
  void* operator new(size_t bytes) {
    void* memory = nullptr;
    cudaMallocManaged(&memory, bytes);
    cudaDeviceSynchronize();
    return memory;
  }
  void operator delete(void* memory) {
    cudaDeviceSynchronize();
    cudaFree(memory);
  }
};

struct Runs : public Managed {
  int n;
  int* values;
  explicit Runs(int size) : n(size) { cudaMallocManaged(&values, n * sizeof(int)); }
  ~Runs() { cudaFree(values); }
  __host__ __device__ int length(int i) const {
    int end = i;
    while (end < n && values[end] == values[i]) ++end;
    return end - i;
  }
};

__global__ void find_longest(const Runs* runs) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < runs->n) atomicMax(&longest, runs->length(i));
}

int main() {
  Runs* runs = new Runs(200);
  for (int i = 0; i < runs->n; ++i) runs->values[i] = i * i / 300;
  int device = 0;
  cudaGetDevice(&device);
  cudaMemLocation location = {cudaMemLocationTypeDevice, device};
  cudaMemAdvise(runs->values, runs->n * sizeof(int), cudaMemAdviseSetReadMostly, location);
  cudaMemPrefetchAsync(runs->values, runs->n * sizeof(int), location, 0);
  find_longest<<<4, 50>>>(runs);
  cudaDeviceSynchronize();

  int expected = 0;
  for (int i = 0; i < runs->n; ++i) {
    const int length = runs->length(i);
    if (length > expected) expected = length;
  }
  const bool right = longest == expected;
  std::printf("%s: longest run %d\n", right ? "PASSED" : "FAILED", longest);
  delete runs;
  return right ? 0 : 1;
}
