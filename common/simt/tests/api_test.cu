// The runtime API: errors, memory, symbols, and what it tells about the device and its kernels.
#include <cuda_runtime.h>

#include <catch2/catch_test_macros.hpp>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#ifdef SIMT_CPU_DEVICE
#include "testing.hpp"
#endif

__global__ void add_one(int* values, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) values[i] += 1;
}

__global__ void uses_dynamic_shared(int* out) {
  extern __shared__ int scratch[];
  scratch[threadIdx.x] = static_cast<int>(threadIdx.x);
  __syncthreads();
  out[threadIdx.x] = scratch[blockDim.x - 1 - threadIdx.x];
}

__device__ int device_table[4];
__constant__ int constant_table[4];

__global__ void read_symbols(int* out) {
  out[threadIdx.x] = device_table[threadIdx.x] + constant_table[threadIdx.x];
}

namespace {

/// The error of the launch that has just been made.
cudaError_t launch_error() {
  const cudaError_t error = cudaGetLastError();
  if (error == cudaSuccess) REQUIRE(cudaDeviceSynchronize() == cudaSuccess);
  return error;
}

struct Ints {
  int* d = nullptr;
  explicit Ints(std::size_t n) { REQUIRE(cudaMalloc(&d, n * sizeof(int)) == cudaSuccess); }
  ~Ints() { static_cast<void>(cudaFree(d)); }
};

std::vector<int> download(const int* d, std::size_t n) {
  std::vector<int> h(n);
  REQUIRE(cudaMemcpy(h.data(), d, n * sizeof(int), cudaMemcpyDeviceToHost) == cudaSuccess);
  return h;
}

}  // namespace

// ---- before main and after it -------------------------------------------------------------------

namespace {

/// What one thread of a kernel makes of 41; -1 after an error.
int one_more() {
  int value = 41;
  int* d = nullptr;
  bool right = cudaMalloc(&d, sizeof value) == cudaSuccess &&
               cudaMemcpy(d, &value, sizeof value, cudaMemcpyHostToDevice) == cudaSuccess;
  add_one<<<1, 1>>>(d, 1);
  right = right && cudaMemcpy(&value, d, sizeof value, cudaMemcpyDeviceToHost) == cudaSuccess &&
          cudaFree(d) == cudaSuccess;
  return right ? value : -1;
}

struct StaticObject {
  int made = one_more();
  ~StaticObject() {
    if (one_more() != 42 || cudaDeviceReset() != cudaSuccess) std::_Exit(9);
  }
};
StaticObject static_object;

}  // namespace

TEST_CASE("static objects use the device before main") { CHECK(static_object.made == 42); }

// ---- errors -------------------------------------------------------------------------------------

TEST_CASE("errors have CUDA's numbers, names and texts") {
  struct Row {
    cudaError_t error;
    int number;
    const char* name;
    const char* text;
  };
  const Row rows[] = {
      {cudaSuccess, 0, "cudaSuccess", "no error"},
      {cudaErrorInvalidValue, 1, "cudaErrorInvalidValue", "invalid argument"},
      {cudaErrorMemoryAllocation, 2, "cudaErrorMemoryAllocation", "out of memory"},
      {cudaErrorInvalidConfiguration, 9, "cudaErrorInvalidConfiguration",
       "invalid configuration argument"},
      {cudaErrorInvalidSymbol, 13, "cudaErrorInvalidSymbol", "invalid device symbol"},
      {cudaErrorNoDevice, 100, "cudaErrorNoDevice", "no CUDA-capable device is detected"},
      {cudaErrorInvalidDevice, 101, "cudaErrorInvalidDevice", "invalid device ordinal"},
      {cudaErrorInvalidResourceHandle, 400, "cudaErrorInvalidResourceHandle",
       "invalid resource handle"},
      {cudaErrorNotReady, 600, "cudaErrorNotReady", "device not ready"},
      {cudaErrorIllegalAddress, 700, "cudaErrorIllegalAddress",
       "an illegal memory access was encountered"},
      {cudaErrorLaunchTimeout, 702, "cudaErrorLaunchTimeout",
       "the launch timed out and was terminated"},
      {cudaErrorAssert, 710, "cudaErrorAssert", "device-side assert triggered"},
      {cudaErrorMisalignedAddress, 716, "cudaErrorMisalignedAddress", "misaligned address"},
      {cudaErrorLaunchFailure, 719, "cudaErrorLaunchFailure", "unspecified launch failure"},
      {cudaErrorUnknown, 999, "cudaErrorUnknown", "unknown error"},
      {static_cast<cudaError_t>(4242), 4242, "unrecognized error code", "unrecognized error code"},
  };
  for (const Row& row : rows) {
    CHECK(static_cast<int>(row.error) == row.number);
    CHECK(std::string(cudaGetErrorName(row.error)) == row.name);
    CHECK(std::string(cudaGetErrorString(row.error)) == row.text);
  }
}

TEST_CASE("an error stays until cudaGetLastError") {
  int device = 0;
  CHECK(cudaSetDevice(1000) == cudaErrorInvalidDevice);
  CHECK(cudaGetDevice(&device) == cudaSuccess);
  CHECK(cudaPeekAtLastError() == cudaErrorInvalidDevice);
  CHECK(cudaGetLastError() == cudaErrorInvalidDevice);
  CHECK(cudaGetLastError() == cudaSuccess);
}

TEST_CASE("a bad launch configuration is the last error and runs nothing") {
  Ints values(1);
  REQUIRE(cudaMemset(values.d, 0, sizeof(int)) == cudaSuccess);
  cudaError_t expected = cudaErrorInvalidConfiguration;
  dim3 grid(1), block(1);
  std::size_t shared = 0;
  SECTION("block of 1025 threads") { block = 1025; }
  SECTION("block of 32 x 33 threads") { block = dim3(32, 33); }
  SECTION("block too deep") { block = dim3(1, 1, 65); }
  SECTION("empty block") { block = 0; }
  SECTION("empty grid") { grid = 0; }
  SECTION("grid too high") { grid = dim3(1, 65536); }
  SECTION("too much shared memory") {
    shared = 48 * 1024 + 1;
    expected = cudaErrorInvalidValue;
  }
  add_one<<<grid, block, shared>>>(values.d, 1);
#ifndef SIMT_CPU_DEVICE
  // CUDA's documentation and CUDA 12 say "invalid configuration"; CUDA 13 says "invalid value".
  if (cudaPeekAtLastError() == cudaErrorInvalidValue) expected = cudaErrorInvalidValue;
#endif
  CHECK(cudaPeekAtLastError() == expected);
  CHECK(cudaGetLastError() == expected);
  CHECK(cudaGetLastError() == cudaSuccess);
  CHECK(cudaDeviceSynchronize() == cudaSuccess);
  CHECK(download(values.d, 1)[0] == 0);
}

TEST_CASE("the largest legal blocks run") {
  Ints values(1);
  REQUIRE(cudaMemset(values.d, 0, sizeof(int)) == cudaSuccess);
  add_one<<<1, 1024>>>(values.d, 1);
  CHECK(launch_error() == cudaSuccess);
  add_one<<<1, dim3(1, 16, 64)>>>(values.d, 0);
  CHECK(launch_error() == cudaSuccess);
  add_one<<<1, 1, 48 * 1024>>>(values.d, 1);
  CHECK(launch_error() == cudaSuccess);
  CHECK(download(values.d, 1)[0] == 2);
}

TEST_CASE("more than 48 KiB of shared memory takes an opt-in") {
  const int large = 100 * 1024;
  Ints out(32);
  REQUIRE(cudaFuncSetAttribute(uses_dynamic_shared, cudaFuncAttributeMaxDynamicSharedMemorySize,
                               large) == cudaSuccess);
  uses_dynamic_shared<<<1, 32, large>>>(out.d);
  CHECK(launch_error() == cudaSuccess);
  CHECK(download(out.d, 32)[0] == 31);
  cudaFuncAttributes attributes;
  REQUIRE(cudaFuncGetAttributes(&attributes, uses_dynamic_shared) == cudaSuccess);
  CHECK(attributes.maxDynamicSharedSizeBytes == large);
  CHECK(cudaFuncSetAttribute(uses_dynamic_shared, cudaFuncAttributeMaxDynamicSharedMemorySize,
                             1 << 20) == cudaErrorInvalidValue);
  CHECK(cudaGetLastError() == cudaErrorInvalidValue);
  // Takes the opt-in back, so that other tests start without it.
  CHECK(cudaFuncSetAttribute(uses_dynamic_shared, cudaFuncAttributeMaxDynamicSharedMemorySize, 0) ==
        cudaSuccess);
}

// ---- memory -------------------------------------------------------------------------------------

TEST_CASE("allocation") {
  int* p = nullptr;
  REQUIRE(cudaMalloc(&p, 100) == cudaSuccess);
  CHECK(reinterpret_cast<std::uintptr_t>(p) % 256 == 0);
  CHECK(cudaFree(p) == cudaSuccess);
  CHECK(cudaFree(nullptr) == cudaSuccess);

  int on_stack = 0;
  CHECK(cudaFree(&on_stack) == cudaErrorInvalidValue);
  CHECK(cudaGetLastError() == cudaErrorInvalidValue);

  p = &on_stack;
  REQUIRE(cudaMalloc(&p, 0) == cudaSuccess);
  CHECK(p == nullptr);
  CHECK(cudaMalloc(&p, std::size_t(1) << 50) == cudaErrorMemoryAllocation);
  CHECK(cudaGetLastError() == cudaErrorMemoryAllocation);
}

TEST_CASE("freeing twice is an error") {
  int* p = nullptr;
  REQUIRE(cudaMalloc(&p, 100) == cudaSuccess);
  CHECK(cudaFree(p) == cudaSuccess);
  CHECK(cudaFree(p) == cudaErrorInvalidValue);
  static_cast<void>(cudaGetLastError());
}

TEST_CASE("stream-ordered allocation") {
  int* p = nullptr;
  cudaStream_t stream;
  REQUIRE(cudaStreamCreate(&stream) == cudaSuccess);
  REQUIRE(cudaMallocAsync(&p, 4 * sizeof(int), stream) == cudaSuccess);
  CHECK(cudaMemsetAsync(p, 0, 4 * sizeof(int), stream) == cudaSuccess);
  add_one<<<1, 4, 0, stream>>>(p, 4);
  int* h = nullptr;
  REQUIRE(cudaMallocHost(&h, 4 * sizeof(int)) == cudaSuccess);
  CHECK(cudaMemcpyAsync(h, p, 4 * sizeof(int), cudaMemcpyDeviceToHost, stream) == cudaSuccess);
  CHECK(cudaFreeAsync(p, stream) == cudaSuccess);
  CHECK(cudaStreamSynchronize(stream) == cudaSuccess);
  CHECK(h[0] == 1);
  CHECK(h[3] == 1);
  CHECK(cudaFreeHost(h) == cudaSuccess);
  CHECK(cudaStreamDestroy(stream) == cudaSuccess);
}

TEST_CASE("managed memory is the host's and the device's") {
  int* p = nullptr;
  REQUIRE(cudaMallocManaged(&p, 4 * sizeof(int)) == cudaSuccess);
  for (int i = 0; i < 4; ++i) p[i] = 10 * i;
  add_one<<<1, 4>>>(p, 4);
  REQUIRE(cudaDeviceSynchronize() == cudaSuccess);
  CHECK(p[3] == 31);
  CHECK(cudaFree(p) == cudaSuccess);
}

TEST_CASE("pinned memory") {
  int* p = nullptr;
  REQUIRE(cudaHostAlloc(&p, 4 * sizeof(int), cudaHostAllocMapped) == cudaSuccess);
  for (int i = 0; i < 4; ++i) p[i] = i;
  int* device = nullptr;
  REQUIRE(cudaHostGetDevicePointer(&device, p, 0) == cudaSuccess);
  add_one<<<1, 4>>>(device, 4);
  REQUIRE(cudaDeviceSynchronize() == cudaSuccess);
  CHECK(p[3] == 4);
  CHECK(cudaFreeHost(p) == cudaSuccess);
  CHECK(cudaHostAlloc(&p, 4, 0xF0) == cudaErrorInvalidValue);
  static_cast<void>(cudaGetLastError());
}

TEST_CASE("pointer attributes") {
  Ints device(4);
  int* managed = nullptr;
  int* pinned = nullptr;
  int on_stack = 0;
  REQUIRE(cudaMallocManaged(&managed, 16) == cudaSuccess);
  REQUIRE(cudaMallocHost(&pinned, 16) == cudaSuccess);
  cudaPointerAttributes a;
  REQUIRE(cudaPointerGetAttributes(&a, device.d + 1) == cudaSuccess);
  CHECK(a.type == cudaMemoryTypeDevice);
  REQUIRE(cudaPointerGetAttributes(&a, managed) == cudaSuccess);
  CHECK(a.type == cudaMemoryTypeManaged);
  REQUIRE(cudaPointerGetAttributes(&a, pinned) == cudaSuccess);
  CHECK(a.type == cudaMemoryTypeHost);
  REQUIRE(cudaPointerGetAttributes(&a, &on_stack) == cudaSuccess);
  CHECK(a.type == cudaMemoryTypeUnregistered);
  CHECK(cudaFree(managed) == cudaSuccess);
  CHECK(cudaFreeHost(pinned) == cudaSuccess);
}

TEST_CASE("copies go both ways, and from device to device") {
  const std::vector<int> numbers = {3, 1, 4, 1, 5, 9, 2, 6};
  const std::size_t bytes = numbers.size() * sizeof(int);
  Ints a(8), b(8);
  CHECK(cudaMemcpy(a.d, numbers.data(), bytes, cudaMemcpyHostToDevice) == cudaSuccess);
  CHECK(cudaMemcpy(b.d, a.d, bytes, cudaMemcpyDeviceToDevice) == cudaSuccess);
  CHECK(download(b.d, 8) == numbers);
  std::vector<int> back(8);
  CHECK(cudaMemcpy(back.data(), b.d, bytes, cudaMemcpyDefault) == cudaSuccess);
  CHECK(back == numbers);
  CHECK(cudaMemcpy(a.d, numbers.data(), 0, cudaMemcpyHostToDevice) == cudaSuccess);
}

TEST_CASE("a copy in the wrong direction is an error") {
  int host = 7;
  Ints device(1);
  simt::take_notes();
  const cudaError_t error = cudaMemcpy(device.d, &host, sizeof(int), cudaMemcpyDeviceToHost);
  const std::vector<simt::Note> notes = simt::take_notes();  // an assertion takes them, too
  CHECK(error == cudaErrorInvalidValue);
  REQUIRE(notes.size() == 1);
  CHECK(notes[0].text.find("this copy is refused") != std::string::npos);
  CHECK(cudaMemcpy(&host, device.d, sizeof(int), cudaMemcpyHostToDevice) == cudaErrorInvalidValue);
  CHECK(cudaMemcpy(&host, &host + 1, sizeof(int), cudaMemcpyDeviceToDevice) ==
        cudaErrorInvalidValue);
  CHECK(cudaGetLastError() == cudaErrorInvalidValue);
  CHECK(host == 7);
}

TEST_CASE("memset fills bytes") {
  Ints values(4);
  CHECK(cudaMemset(values.d, 0x11, 4 * sizeof(int)) == cudaSuccess);
  CHECK(cudaMemset(values.d + 1, 0, sizeof(int)) == cudaSuccess);
  CHECK(download(values.d, 4) == std::vector<int>{0x11111111, 0, 0x11111111, 0x11111111});
}

TEST_CASE("copies of rows") {
  const int source[6] = {1, 2, 3, 4, 5, 6};  // two rows of three
  Ints rows(8);                              // two rows of four
  REQUIRE(cudaMemset(rows.d, 0, 8 * sizeof(int)) == cudaSuccess);
  CHECK(cudaMemcpy2D(rows.d, 4 * sizeof(int), source, 3 * sizeof(int), 3 * sizeof(int), 2,
                     cudaMemcpyHostToDevice) == cudaSuccess);
  CHECK(download(rows.d, 8) == std::vector<int>{1, 2, 3, 0, 4, 5, 6, 0});
  CHECK(cudaMemcpy2D(rows.d, 4, source, 12, 12, 2, cudaMemcpyHostToDevice) ==
        cudaErrorInvalidPitchValue);
  static_cast<void>(cudaGetLastError());
}

TEST_CASE("symbols") {
  const int numbers[4] = {1, 2, 3, 4}, tens[2] = {30, 40};
  CHECK(cudaMemcpyToSymbol(device_table, numbers, sizeof numbers) == cudaSuccess);
  const int zeros[4] = {};
  CHECK(cudaMemcpyToSymbol(constant_table, zeros, sizeof zeros) == cudaSuccess);
  CHECK(cudaMemcpyToSymbol(constant_table, tens, sizeof tens, 2 * sizeof(int)) == cudaSuccess);
  Ints out(4);
  read_symbols<<<1, 4>>>(out.d);
  CHECK(launch_error() == cudaSuccess);
  CHECK(download(out.d, 4) == std::vector<int>{1, 2, 33, 44});

  int back[2] = {};
  CHECK(cudaMemcpyFromSymbol(back, device_table, sizeof back, sizeof(int)) == cudaSuccess);
  CHECK(back[0] == 2);
  CHECK(back[1] == 3);
  void* address = nullptr;
  REQUIRE(cudaGetSymbolAddress(&address, device_table) == cudaSuccess);
  CHECK(download(static_cast<int*>(address), 4)[3] == 4);
}

// ---- the device ---------------------------------------------------------------------------------

TEST_CASE("the device's properties agree with its attributes") {
  int count = 0, device = -1, value = 0;
  REQUIRE(cudaGetDeviceCount(&count) == cudaSuccess);
  CHECK(count >= 1);
  REQUIRE(cudaGetDevice(&device) == cudaSuccess);
  CHECK(device == 0);
  cudaDeviceProp p;
  REQUIRE(cudaGetDeviceProperties(&p, 0) == cudaSuccess);
  CHECK(std::strlen(p.name) > 0);
  CHECK(p.warpSize == 32);
  CHECK(p.maxThreadsPerBlock == 1024);
  CHECK(p.sharedMemPerBlock == 48 * 1024);
  CHECK(p.multiProcessorCount >= 1);
  REQUIRE(cudaDeviceGetAttribute(&value, cudaDevAttrMultiProcessorCount, 0) == cudaSuccess);
  CHECK(value == p.multiProcessorCount);
  REQUIRE(cudaDeviceGetAttribute(&value, cudaDevAttrComputeCapabilityMajor, 0) == cudaSuccess);
  CHECK(value == p.major);
  REQUIRE(cudaDeviceGetAttribute(&value, cudaDevAttrMaxBlockDimZ, 0) == cudaSuccess);
  CHECK(value == 64);
  CHECK(cudaDeviceGetAttribute(&value, cudaDevAttrWarpSize, 99) == cudaErrorInvalidDevice);
  static_cast<void>(cudaGetLastError());
}

TEST_CASE("free memory shrinks by what is allocated") {
  std::size_t before = 0, after = 0, total = 0;
  const std::size_t size = std::size_t(64) << 20;
  REQUIRE(cudaMemGetInfo(&before, &total) == cudaSuccess);
  CHECK(before <= total);
  void* p = nullptr;
  REQUIRE(cudaMalloc(&p, size) == cudaSuccess);
  REQUIRE(cudaMemGetInfo(&after, &total) == cudaSuccess);
  CHECK(before - after >= size);
  CHECK(cudaFree(p) == cudaSuccess);
}

TEST_CASE("occupancy") {
  int blocks = 0, best = 0, grid = 0;
  REQUIRE(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, add_one, 256, 0) == cudaSuccess);
  CHECK(blocks >= 1);
  CHECK(blocks * 256 <= 2048);
  int with_shared = 0;
  REQUIRE(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&with_shared, add_one, 32, 40 * 1024) ==
          cudaSuccess);
  CHECK(with_shared < 32);
  REQUIRE(cudaOccupancyMaxPotentialBlockSize(&grid, &best, add_one) == cudaSuccess);
  CHECK(best % 32 == 0);
  CHECK(best <= 1024);
  CHECK(grid >= 1);
  REQUIRE(cudaOccupancyMaxPotentialBlockSize(&grid, &best, add_one, 0, 128) == cudaSuccess);
  CHECK(best <= 128);
  CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, add_one, 0, 0) ==
        cudaErrorInvalidValue);
  static_cast<void>(cudaGetLastError());
}

TEST_CASE("occupancy of blocks whose shared memory depends on their size") {
  int grid = 0, best = 0, blocks = 0;
  const auto shared_of = [](int threads) { return threads * 64; };  // 32 KiB for 512 threads
  REQUIRE(cudaOccupancyMaxPotentialBlockSizeVariableSMem(&grid, &best, add_one, shared_of) ==
          cudaSuccess);
  CHECK(best % 32 == 0);
  CHECK(best >= 32);
  CHECK(best <= 768);  // 48 KiB
  CHECK(grid >= 1);
  REQUIRE(cudaOccupancyMaxPotentialBlockSizeVariableSMemWithFlags(
              &grid, &best, add_one, shared_of, 64, cudaOccupancyDefault) == cudaSuccess);
  CHECK(best <= 64);
  REQUIRE(cudaOccupancyMaxPotentialBlockSizeWithFlags(&grid, &best, add_one, 0, 0,
                                                      cudaOccupancyDefault) == cudaSuccess);
  CHECK(best >= 32);
  REQUIRE(cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
              &blocks, add_one, 256, 0, cudaOccupancyDisableCachingOverride) == cudaSuccess);
  CHECK(blocks >= 1);
  std::size_t shared = 0;
  REQUIRE(cudaOccupancyAvailableDynamicSMemPerBlock(&shared, add_one, 8, 256) == cudaSuccess);
  CHECK(shared > 0);
  CHECK(shared <= 48 * 1024);
  REQUIRE(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, add_one, 256, shared) ==
          cudaSuccess);
  CHECK(blocks >= 8);
  CHECK(cudaOccupancyAvailableDynamicSMemPerBlock(&shared, add_one, 0, 256) ==
        cudaErrorInvalidValue);
  static_cast<void>(cudaGetLastError());
}

TEST_CASE("wishes and limits of a device are told as they were asked for") {
  std::size_t before = 0, value = 0;
  REQUIRE(cudaDeviceGetLimit(&before, cudaLimitMallocHeapSize) == cudaSuccess);
  CHECK(before == 8 << 20);
  CHECK(cudaDeviceSetLimit(cudaLimitMallocHeapSize, 16 << 20) == cudaSuccess);
  CHECK(cudaDeviceGetLimit(&value, cudaLimitMallocHeapSize) == cudaSuccess);
  CHECK(value == 16 << 20);
  CHECK(cudaDeviceSetLimit(cudaLimitMallocHeapSize, before) == cudaSuccess);
  CHECK(cudaDeviceGetLimit(&value, cudaLimitStackSize) == cudaSuccess);
  CHECK(value == 1024);
  CHECK(cudaDeviceGetLimit(&value, static_cast<cudaLimit>(77)) == cudaErrorUnsupportedLimit);
  CHECK(cudaDeviceGetLimit(nullptr, cudaLimitStackSize) == cudaErrorInvalidValue);

  CHECK(cudaDeviceSetCacheConfig(cudaFuncCachePreferL1) == cudaSuccess);
  CHECK(cudaDeviceSetCacheConfig(cudaFuncCachePreferNone) == cudaSuccess);
  cudaFuncCache cache = cudaFuncCachePreferL1;
  CHECK(cudaDeviceGetCacheConfig(&cache) == cudaSuccess);
  CHECK(cache == cudaFuncCachePreferNone);
  CHECK(cudaFuncSetCacheConfig(add_one, cudaFuncCachePreferShared) == cudaSuccess);
  CHECK(cudaFuncSetAttribute(add_one, cudaFuncAttributePreferredSharedMemoryCarveout,
                             cudaSharedmemCarveoutMaxShared) == cudaSuccess);

  unsigned flags = 0;
  CHECK(cudaSetDeviceFlags(cudaDeviceScheduleYield | cudaDeviceMapHost) == cudaSuccess);
  CHECK(cudaGetDeviceFlags(&flags) == cudaSuccess);
  CHECK((flags & cudaDeviceScheduleMask) == cudaDeviceScheduleYield);
  CHECK(cudaSetDeviceFlags(cudaDeviceScheduleAuto) == cudaSuccess);
  CHECK(cudaSetDeviceFlags(0x1000) == cudaErrorInvalidValue);
  static_cast<void>(cudaGetLastError());
}

TEST_CASE("a device is found by what is wanted of it, and by its place on the bus") {
  cudaDeviceProp p{};
  REQUIRE(cudaGetDeviceProperties(&p, 0) == cudaSuccess);
  int device = -1, mode = -1, rate = 0;
  CHECK(cudaChooseDevice(&device, &p) == cudaSuccess);
  CHECK(device == 0);
  char id[32];
  REQUIRE(cudaDeviceGetPCIBusId(id, sizeof id, 0) == cudaSuccess);
  device = -1;
  CHECK(cudaDeviceGetByPCIBusId(&device, id) == cudaSuccess);
  CHECK(device == 0);
  CHECK(cudaDeviceGetByPCIBusId(&device, "no bus") != cudaSuccess);
  int list[1] = {0};
  CHECK(cudaSetValidDevices(list, 1) == cudaSuccess);
  CHECK(cudaInitDevice(0, 0, 0) == cudaSuccess);
  CHECK(cudaInitDevice(99, 0, 0) == cudaErrorInvalidDevice);
  // What the helpers of NVIDIA's samples ask, to take the fastest device.
  CHECK(cudaDeviceGetAttribute(&mode, cudaDevAttrComputeMode, 0) == cudaSuccess);
  CHECK(mode != cudaComputeModeProhibited);
  CHECK(cudaDeviceGetAttribute(&rate, cudaDevAttrClockRate, 0) == cudaSuccess);
  CHECK(rate > 0);
  // ... and to use streams at all.
  CHECK(p.concurrentKernels == 1);
  CHECK(p.asyncEngineCount >= 1);
  CHECK(p.textureAlignment % 256 == 0);
  static_cast<void>(cudaGetLastError());
}

TEST_CASE("versions") {
  int runtime = 0, driver = 0;
  CHECK(cudaRuntimeGetVersion(&runtime) == cudaSuccess);
  CHECK(cudaDriverGetVersion(&driver) == cudaSuccess);
  CHECK(runtime >= 11000);
  CHECK(driver >= 11000);
}

// ---- what only the CPU device promises ----------------------------------------------------------

#ifdef SIMT_CPU_DEVICE

__global__ void write_far_outside(int* p) { p[1 << 20] = 1; }
__global__ void call_in_kernel(cudaError_t (*function)()) { static_cast<void>(function()); }

TEST_CASE("an illegal access is sticky: every later call returns it") {
  simt_test::Reports reports;
  int* p = nullptr;
  REQUIRE(cudaMalloc(&p, 4) == cudaSuccess);
  write_far_outside<<<1, 1>>>(p);
  CHECK(cudaGetLastError() == cudaSuccess);  // the launch itself was fine
  CHECK(cudaDeviceSynchronize() == cudaErrorIllegalAddress);
  REQUIRE(reports.list.size() == 1);
  CHECK(cudaPeekAtLastError() == cudaErrorIllegalAddress);
  CHECK(cudaGetLastError() == cudaErrorIllegalAddress);
  CHECK(cudaGetLastError() == cudaSuccess);  // the next call brings it back
  int* q = nullptr;
  int host = 0;
  cudaStream_t stream;
  CHECK(cudaMalloc(&q, 4) == cudaErrorIllegalAddress);
  CHECK(cudaMemcpy(&host, p, 4, cudaMemcpyDeviceToHost) == cudaErrorIllegalAddress);
  CHECK(cudaStreamCreate(&stream) == cudaErrorIllegalAddress);
  CHECK(cudaDeviceSynchronize() == cudaErrorIllegalAddress);
  static_cast<void>(cudaGetLastError());
  add_one<<<1, 1>>>(p, 1);
  CHECK(cudaGetLastError() == cudaErrorIllegalAddress);
  int count = 0;
  CHECK(cudaGetDeviceCount(&count) == cudaSuccess);  // needs no device
  CHECK(cudaFree(nullptr) == cudaErrorIllegalAddress);
  CHECK(cudaFree(p) == cudaErrorIllegalAddress);

  simt::reset_device();
  CHECK(cudaGetLastError() == cudaSuccess);
  CHECK(cudaMalloc(&q, 4) == cudaSuccess);
  CHECK(cudaFree(q) == cudaSuccess);
}

TEST_CASE("a kernel cannot call the runtime") {
  simt_test::Reports reports;
  call_in_kernel<<<1, 1>>>(cudaDeviceSynchronize);
  CHECK(cudaDeviceSynchronize() == cudaErrorLaunchFailure);
  REQUIRE(reports.list.size() == 1);
  CHECK(reports.list[0].text.find("runtime") != std::string::npos);
  CHECK(reports.list[0].text.find("api_test.cu") != std::string::npos);
}

TEST_CASE("a copy past the end is an error and a report with its line") {
  simt_test::Reports reports;
  Ints small(2);
  const int numbers[3] = {1, 2, 3};
  const int line = __LINE__ + 1;
  CHECK(cudaMemcpy(small.d, numbers, sizeof numbers, cudaMemcpyHostToDevice) ==
        cudaErrorInvalidValue);
  REQUIRE(reports.list.size() == 1);
  CHECK(reports.list[0].kind == simt::ReportKind::out_of_bounds);
  CHECK(reports.list[0].file.find("api_test.cu") != std::string::npos);
  CHECK(reports.list[0].line >= line);
  CHECK(reports.list[0].line <= line + 1);
  CHECK(reports.list[0].text.find("12 bytes") != std::string::npos);
  CHECK(reports.list[0].text.find("where 8 bytes are left") != std::string::npos);
}

TEST_CASE("memset past the end, or of freed memory, is reported") {
  simt_test::Reports reports;
  int* p = nullptr;
  REQUIRE(cudaMalloc(&p, 8) == cudaSuccess);
  CHECK(cudaMemset(p, 0, 9) == cudaErrorInvalidValue);
  CHECK(cudaFree(p) == cudaSuccess);
  CHECK(cudaMemset(p, 0, 8) == cudaErrorInvalidValue);
  REQUIRE(reports.list.size() == 2);
  CHECK(reports.list[0].kind == simt::ReportKind::out_of_bounds);
  CHECK(reports.list[1].kind == simt::ReportKind::use_after_free);
}

TEST_CASE("a host variable is no symbol") {
  static int not_a_symbol = 0;
  const int one = 1;
  CHECK(cudaMemcpyToSymbol(not_a_symbol, &one, sizeof one) == cudaErrorInvalidSymbol);
  CHECK(cudaGetLastError() == cudaErrorInvalidSymbol);
  CHECK(not_a_symbol == 0);
}

TEST_CASE("cudaDeviceReset frees all memory") {
  int* p = nullptr;
  REQUIRE(cudaMalloc(&p, 64) == cudaSuccess);
  CHECK(cudaDeviceReset() == cudaSuccess);
  CHECK(cudaFree(p) == cudaErrorInvalidValue);
  CHECK(cudaGetLastError() == cudaErrorInvalidValue);
}

TEST_CASE("a block of any size can be asked for, and a kernel without a name cannot") {
  int grid = 0, best = 0;
  REQUIRE(cudaOccupancyMaxPotentialBlockSize(&grid, &best, add_one, 40 * 1024) == cudaSuccess);
  CHECK(best == 1024);  // 2 blocks of them fill an SM's threads, and 5 its shared memory
  CHECK(grid == 8);
  REQUIRE(cudaOccupancyMaxPotentialBlockSize(&grid, &best, add_one, 0, 7) == cudaSuccess);
  CHECK(best == 7);
  void* none = nullptr;
  CHECK(cudaFuncSetCacheConfig(none, cudaFuncCachePreferL1) == cudaErrorInvalidDeviceFunction);
  static_cast<void>(cudaGetLastError());
}

TEST_CASE("the CPU device says what it is") {
  cudaDeviceProp p;
  REQUIRE(cudaGetDeviceProperties(&p, 0) == cudaSuccess);
  CHECK(std::string(p.name) == "simt CPU device");
  CHECK(p.major == 9);
  CHECK(p.minor == 0);
}

#endif
