// malloc(), free(), new and delete in kernels.
#include <cuda_runtime.h>

#include <catch2/catch_test_macros.hpp>
#include <string>
#include <vector>

#include "testing.hpp"

using namespace simt_test;
using simt::ReportKind;

namespace {

struct Node {
  int value = 7;
  Node* next = nullptr;
};

__device__ int destroyed = 0;

struct Counted {
  int value;
  __device__ Counted() : value(3) {}
  __device__ ~Counted() { atomicAdd(&destroyed, 1); }
};

struct Shape {
  __device__ virtual ~Shape() {}
  __device__ virtual int corners() const = 0;
};
struct Square : Shape {
  int size = 4;
  __device__ int corners() const override { return size; }
};

__global__ void use_malloc(int* out, int n) {
  int* mine = (int*)malloc(n * sizeof(int));
  if (mine == nullptr) return;
  for (int i = 0; i < n; ++i) mine[i] = i;
  int sum = 0;
  for (int i = 0; i < n; ++i) sum += mine[i];
  out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
  free(mine);
}

__global__ void use_new(int* out) {
  Node* list = nullptr;
  for (int i = 0; i < 3; ++i) {
    Node* node = new Node;
    node->next = list;
    list = node;
  }
  int sum = 0;
  while (list != nullptr) {
    Node* next = list->next;
    sum += list->value;
    delete list;
    list = next;
  }
  Counted* many = new Counted[5];
  sum += many[4].value;
  delete[] many;
  Shape* shape = new Square();
  sum += shape->corners();
  delete shape;
  delete[] static_cast<int*>(nullptr);
  int* numbers = new int[2]{100, 200};
  sum += numbers[0] + numbers[1];
  delete[] numbers;
  out[threadIdx.x] = sum;
}

// A block shares what one thread takes.
__global__ void share(int* out, bool syncs) {
  __shared__ int* s_data;
  if (threadIdx.x == 0) s_data = new int[32];
  __syncthreads();
  s_data[threadIdx.x] = static_cast<int>(threadIdx.x);
  if (syncs) __syncthreads();
  out[threadIdx.x] = s_data[31 - threadIdx.x];
  __syncthreads();
  if (threadIdx.x == 0) delete[] s_data;
}

__device__ int* kept;
__global__ void keep() { kept = new int[4]{1, 2, 3, 4}; }
__global__ void read_kept(int* out) { *out = kept[3]; }
__global__ void free_kept() { delete[] kept; }
__global__ void tell_kept(int** out) { *out = kept; }

__global__ void past_the_end() {
  int* p = (int*)malloc(16);
  p[4] = 1;
}
__global__ void read_too_early(int* out) {
  int* p = (int*)malloc(16);
  *out = p[1];
  free(p);
}
constexpr int kDelete = __LINE__ + 3;
__global__ void use_after_free(int* out) {
  int* p = new int(1);
  delete p;
  *out = *p;
}
__global__ void free_twice() {
  int* p = new int(1);
  delete p;
  delete p;
}
__global__ void free_foreign(int* p) { free(p); }

__global__ void fill(int* pieces, std::size_t size) {
  while (malloc(size) != nullptr) ++*pieces;
}

__host__ __device__ int of_both(int n) {
  int* p = new int[2];
  p[1] = n;
  const int result = p[1];
  delete[] p;
  void* q = malloc(8);
  free(q);
  return result;
}
__global__ void call_both(int* out) { *out = of_both(5); }

}  // namespace

TEST_CASE("each thread takes memory of its own") {
  Array<int> out(64);
  CHECK(first_complaint(
            [&] {
              use_malloc<<<2, 32>>>(out.data(), 10);
              return out.values() == std::vector<int>(64, 45);
            },
            5) == "");
}

TEST_CASE("objects are made and destroyed") {
  Array<int> out(4);
  int count = 0;  // of every schedule
  REQUIRE(cudaMemcpyToSymbol(destroyed, &count, sizeof count) == cudaSuccess);
  const Outcome outcome = observe([&] { use_new<<<1, 4>>>(out.data()); });
  INFO(outcome.text());
  CHECK(outcome.clean());
  CHECK(out.values() == std::vector<int>(4, 328));
  CHECK(cudaMemcpyFromSymbol(&count, destroyed, sizeof count) == cudaSuccess);
  CHECK(count == 20);
}

TEST_CASE("races on it are found") {
  Array<int> out(32);
  CHECK(first_complaint(
            [&] {
              share<<<1, 32>>>(out.data(), true);
              return out.values()[0] == 31;
            },
            5) == "");
  CHECK(first_miss(ReportKind::race, [&] { share<<<1, 32>>>(out.data(), false); }) == "");
}

TEST_CASE("it outlives the kernel, and is the kernels' alone") {
  Array<int> out(1);
  Array<int*> pointer(1);
  const Outcome outcome = observe([&] {
    keep<<<1, 1>>>();
    read_kept<<<1, 1>>>(out.data());
    tell_kept<<<1, 1>>>(pointer.data());
    int* const p = pointer.front();
    CHECK(cudaFree(p) == cudaErrorInvalidValue);
    int host[4];
    CHECK(cudaMemcpy(host, p, sizeof host, cudaMemcpyDeviceToHost) == cudaErrorInvalidValue);
    static_cast<void>(cudaGetLastError());
    free_kept<<<1, 1>>>();
  });
  CHECK(out.front() == 4);
  REQUIRE(outcome.reports.size() == 1);
  CHECK(lacks(outcome.reports[0],
              {"cudaMemcpy() would read 16 bytes at byte 0 of the 16 bytes allocated at ",
               "is out of the host's reach"}) == "");
}

TEST_CASE("its bounds, its first value and its end are known") {
  Array<int> out(1);
  const simt::Report past = only_report([] { past_the_end<<<1, 1>>>(); });
  CHECK(past.kind == ReportKind::out_of_bounds);
  CHECK(lacks(past, {"write of 4 bytes at 0 bytes past the end of the 16 bytes allocated at ",
                     "device_heap_test.cu:"}) == "");
  const simt::Report early = only_report([&] { read_too_early<<<1, 1>>>(out.data()); });
  CHECK(early.kind == ReportKind::uninitialised);
  CHECK(lacks(early, {"not been written since malloc() or new"}) == "");
  const simt::Report late = only_report([&] { use_after_free<<<1, 1>>>(out.data()); });
  CHECK(late.kind == ReportKind::use_after_free);
  const std::string by =
      "delete at common/simt/tests/device_heap_test.cu:" + std::to_string(kDelete) +
      " released this memory before this access.";
  CHECK(lacks(late, {by.c_str()}) == "");
  for (const bool twice : {true, false}) {
    const simt::Report report =
        only_report([&] { twice ? free_twice<<<1, 1>>>() : free_foreign<<<1, 1>>>(out.data()); });
    CHECK(report.kind == ReportKind::trap);
    CHECK(lacks(report, {"memory that malloc() or new of a kernel has not given"}) == "");
  }
  static_cast<void>(cudaDeviceReset());
}

TEST_CASE("the heap has a limit") {
  const auto pieces = [](std::size_t size) {
    int result = 0;
    {
      auto count = Array<int>::zeros(1);
      fill<<<1, 1>>>(count.data(), size);
      result = count.front();
    }
    static_cast<void>(cudaDeviceReset());
    return result;
  };
  std::size_t limit = 0;
  std::vector<cudaError_t> errors;
  std::vector<int> found;
  const Outcome outcome = observe([&] {  // an assertion here would take the notes
    errors.push_back(cudaDeviceGetLimit(&limit, cudaLimitMallocHeapSize));
    found.push_back(pieces(1 << 20));
    errors.push_back(cudaDeviceSetLimit(cudaLimitMallocHeapSize, 1 << 20));
    found.push_back(pieces(1 << 18));
    found.push_back(pieces(9 << 20));
  });
  INFO(outcome.text());
  CHECK(limit == 8 << 20);
  CHECK(errors == std::vector{cudaSuccess, cudaSuccess});
  CHECK(found == std::vector{8, 4, 0});
  CHECK(outcome.clean());
  CHECK(
      lacks(outcome.notes.empty() ? "" : outcome.notes[0],
            {"device_heap_test.cu:",
             "memory of the device's heap that no kernel has freed: 8388608 bytes in 8 pieces"}) ==
      "");
}

TEST_CASE("functions for both take the host's memory on the host") {
  Array<int> out(1);
  CHECK(of_both(3) == 3);
  const Outcome outcome = observe([&] { call_both<<<1, 1>>>(out.data()); });
  INFO(outcome.text());
  CHECK(outcome.clean());
  CHECK(out.front() == 5);
}
