// The runtime API: pitched memory, copies of rows and slices, pools, registered memory of the host,
// wishes for managed memory.
#include <cuda_runtime.h>

#include <catch2/catch_test_macros.hpp>
#include <cstdint>
#include <numeric>
#include <vector>

#ifdef SIMT_CPU_DEVICE
#include "testing.hpp"
#endif

namespace {

__global__ void add_one(int* values, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) values[i] += 1;
}

__global__ void sum_rows(const char* rows, std::size_t pitch, int width, int height, int* sums) {
  const int row = threadIdx.x;
  if (row >= height) return;
  const int* values = reinterpret_cast<const int*>(rows + row * pitch);
  int sum = 0;
  for (int i = 0; i < width; ++i) sum += values[i];
  sums[row] = sum;
}

__device__ int device_table[6];
__constant__ double constant_value;

std::vector<int> numbers(int n) {
  std::vector<int> v(static_cast<std::size_t>(n));
  std::iota(v.begin(), v.end(), 0);
  return v;
}

/// Rows in memory from cudaMallocPitch.
struct Rows {
  int* d = nullptr;
  std::size_t pitch = 0;
  Rows(std::size_t width, std::size_t height) {
    REQUIRE(cudaMallocPitch(&d, &pitch, width * sizeof(int), height) == cudaSuccess);
  }
  ~Rows() { static_cast<void>(cudaFree(d)); }
  Rows(const Rows&) = delete;
};

cudaMemLocation on_device(int device) { return {cudaMemLocationTypeDevice, device}; }

}  // namespace

// ---- rows ---------------------------------------------------------------------------------------

TEST_CASE("pitched memory begins each row at a multiple of the pitch") {
  const Rows rows(100, 3);
  CHECK(rows.pitch >= 400);
  CHECK(rows.pitch % 256 == 0);
  const std::vector<int> values = numbers(300);
  CHECK(cudaMemcpy2D(rows.d, rows.pitch, values.data(), 400, 400, 3, cudaMemcpyHostToDevice) ==
        cudaSuccess);
  int* sums = nullptr;
  REQUIRE(cudaMalloc(&sums, 3 * sizeof(int)) == cudaSuccess);
  sum_rows<<<1, 32>>>(reinterpret_cast<const char*>(rows.d), rows.pitch, 100, 3, sums);
  int found[3] = {};
  REQUIRE(cudaMemcpy(found, sums, sizeof found, cudaMemcpyDeviceToHost) == cudaSuccess);
  CHECK(found[0] == 4950);
  CHECK(found[2] == 24950);
  std::vector<int> back(300);
  CHECK(cudaMemcpy2D(back.data(), 400, rows.d, rows.pitch, 400, 3, cudaMemcpyDeviceToHost) ==
        cudaSuccess);
  CHECK(back == values);
  CHECK(cudaFree(sums) == cudaSuccess);
  std::size_t pitch = 0;
  int* p = nullptr;
  CHECK(cudaMallocPitch(&p, &pitch, std::size_t(1) << 40, 1 << 10) == cudaErrorMemoryAllocation);
  CHECK(cudaGetLastError() == cudaErrorMemoryAllocation);
}

TEST_CASE("copies of rows go in all directions, in a stream and without") {
  const Rows a(5, 4), b(5, 4);
  const std::vector<int> values = numbers(20);
  std::vector<int> back(20);
  cudaStream_t stream;
  REQUIRE(cudaStreamCreate(&stream) == cudaSuccess);
  CHECK(cudaMemcpy2DAsync(a.d, a.pitch, values.data(), 20, 20, 4, cudaMemcpyHostToDevice, stream) ==
        cudaSuccess);
  CHECK(cudaMemcpy2DAsync(b.d, b.pitch, a.d, a.pitch, 20, 4, cudaMemcpyDeviceToDevice, stream) ==
        cudaSuccess);
  CHECK(cudaMemcpy2DAsync(back.data(), 20, b.d, b.pitch, 20, 4, cudaMemcpyDefault, stream) ==
        cudaSuccess);
  CHECK(cudaStreamSynchronize(stream) == cudaSuccess);
  CHECK(back == values);
  CHECK(cudaStreamDestroy(stream) == cudaSuccess);
  std::vector<int> copy(20);
  CHECK(cudaMemcpy2D(copy.data(), 20, values.data(), 20, 20, 4, cudaMemcpyHostToHost) ==
        cudaSuccess);
  CHECK(copy == values);
  CHECK(cudaMemcpy2D(b.d, 16, a.d, a.pitch, 20, 4, cudaMemcpyDeviceToDevice) ==
        cudaErrorInvalidPitchValue);
  CHECK(cudaMemcpy2D(copy.data(), 20, values.data(), 20, 20, 4, cudaMemcpyDeviceToHost) ==
        cudaErrorInvalidValue);
  CHECK(cudaMemcpy2D(copy.data(), 20, a.d, a.pitch, 0, 4, cudaMemcpyDeviceToHost) == cudaSuccess);
  static_cast<void>(cudaGetLastError());
}

TEST_CASE("memset of rows leaves what is between them") {
  const Rows rows(4, 2);
  const std::size_t words = rows.pitch / sizeof(int);
  REQUIRE(cudaMemset(rows.d, 0, 2 * rows.pitch) == cudaSuccess);
  CHECK(cudaMemset2D(rows.d, rows.pitch, 0x11, 3 * sizeof(int), 2) == cudaSuccess);
  CHECK(cudaMemset2DAsync(rows.d, rows.pitch, 0x22, sizeof(int), 2) == cudaSuccess);
  std::vector<int> back(2 * words);
  REQUIRE(cudaMemcpy(back.data(), rows.d, 2 * rows.pitch, cudaMemcpyDeviceToHost) == cudaSuccess);
  CHECK(back[0] == 0x22222222);
  CHECK(back[1] == 0x11111111);
  CHECK(back[3] == 0);
  CHECK(back[words] == 0x22222222);
  CHECK(back[words + 2] == 0x11111111);
  CHECK(back[words + 3] == 0);
  CHECK(cudaMemset2D(rows.d, 8, 0, 12, 2) == cudaErrorInvalidValue);
  int on_stack = 0;
  CHECK(cudaMemset2D(&on_stack, 4, 0, 4, 1) == cudaErrorInvalidValue);
  static_cast<void>(cudaGetLastError());
}

TEST_CASE("copies and memsets of three dimensions") {
  cudaPitchedPtr box{};
  const cudaExtent extent = make_cudaExtent(3 * sizeof(int), 2, 2);
  REQUIRE(cudaMalloc3D(&box, extent) == cudaSuccess);
  CHECK(box.xsize == extent.width);
  CHECK(box.ysize == 2);
  CHECK(cudaMemset3D(box, 0, extent) == cudaSuccess);
  std::vector<int> values = numbers(12), back(12, -1);
  cudaMemcpy3DParms up{};
  up.srcPtr = make_cudaPitchedPtr(values.data(), 3 * sizeof(int), 3, 2);
  up.dstPtr = box;
  up.extent = extent;
  up.kind = cudaMemcpyHostToDevice;
  CHECK(cudaMemcpy3D(&up) == cudaSuccess);
  cudaMemcpy3DParms down{};  // the second slice, without its first column
  down.srcPtr = box;
  down.srcPos = make_cudaPos(sizeof(int), 0, 1);
  down.dstPtr = make_cudaPitchedPtr(back.data(), 2 * sizeof(int), 2, 2);
  down.extent = make_cudaExtent(2 * sizeof(int), 2, 1);
  down.kind = cudaMemcpyDeviceToHost;
  CHECK(cudaMemcpy3DAsync(&down) == cudaSuccess);
  CHECK(cudaDeviceSynchronize() == cudaSuccess);
  CHECK(std::vector<int>(back.begin(), back.begin() + 5) == std::vector<int>{7, 8, 10, 11, -1});
  down.dstPtr.ptr = nullptr;
  CHECK(cudaMemcpy3D(&down) == cudaErrorInvalidValue);
  CHECK(cudaMemcpy3D(nullptr) == cudaErrorInvalidValue);
  static_cast<void>(cudaGetLastError());
  CHECK(cudaFree(box.ptr) == cudaSuccess);
}

// ---- symbols ------------------------------------------------------------------------------------

TEST_CASE("the size of a symbol; copies to a part of it in a stream") {
  std::size_t size = 0;
  CHECK(cudaGetSymbolSize(&size, device_table) == cudaSuccess);
  CHECK(size == 6 * sizeof(int));
  CHECK(cudaGetSymbolSize(&size, constant_value) == cudaSuccess);
  CHECK(size == sizeof(double));
  const int two[2] = {8, 9};
  int back[2] = {};
  CHECK(cudaMemcpyToSymbolAsync(device_table, two, sizeof two, 4 * sizeof(int),
                                cudaMemcpyHostToDevice, nullptr) == cudaSuccess);
  CHECK(cudaMemcpyFromSymbolAsync(back, device_table, sizeof back, 4 * sizeof(int),
                                  cudaMemcpyDeviceToHost, nullptr) == cudaSuccess);
  CHECK(cudaDeviceSynchronize() == cudaSuccess);
  CHECK(back[0] == 8);
  CHECK(back[1] == 9);
}

// ---- memory of the host -------------------------------------------------------------------------

TEST_CASE("registered memory of the host is the device's, too") {
  std::vector<int> values(1024, 5);
  const std::size_t bytes = values.size() * sizeof(int);
  REQUIRE(cudaHostRegister(values.data(), bytes, cudaHostRegisterMapped) == cudaSuccess);
  CHECK(cudaHostRegister(values.data() + 8, 16, 0) == cudaErrorHostMemoryAlreadyRegistered);
  unsigned flags = 0;
  CHECK(cudaHostGetFlags(&flags, values.data()) == cudaSuccess);
  CHECK((flags & cudaHostAllocMapped) != 0);
  int* device = nullptr;
  REQUIRE(cudaHostGetDevicePointer(&device, values.data(), 0) == cudaSuccess);
  cudaPointerAttributes attributes;
  CHECK(cudaPointerGetAttributes(&attributes, values.data()) == cudaSuccess);
  CHECK(attributes.type == cudaMemoryTypeHost);
  add_one<<<4, 256>>>(device, 1024);
  REQUIRE(cudaDeviceSynchronize() == cudaSuccess);
  CHECK(values[0] == 6);
  CHECK(values[1023] == 6);
  CHECK(cudaHostUnregister(values.data()) == cudaSuccess);
  CHECK(cudaHostUnregister(values.data()) == cudaErrorHostMemoryNotRegistered);
  CHECK(cudaHostRegister(nullptr, 4, 0) == cudaErrorInvalidValue);
  CHECK(cudaHostRegister(values.data(), 0, 0) == cudaErrorInvalidValue);
  static_cast<void>(cudaGetLastError());
  CHECK(cudaPointerGetAttributes(&attributes, values.data()) == cudaSuccess);
  CHECK(attributes.type == cudaMemoryTypeUnregistered);
}

// ---- managed memory -----------------------------------------------------------------------------

TEST_CASE("prefetching and advice need managed memory and a place") {
  int* p = nullptr;
  int* plain = nullptr;
  REQUIRE(cudaMallocManaged(&p, 64) == cudaSuccess);
  REQUIRE(cudaMalloc(&plain, 64) == cudaSuccess);
  CHECK(cudaMemPrefetchAsync(p, 64, on_device(0), 0) == cudaSuccess);
  CHECK(cudaMemPrefetchAsync(p, 64, {cudaMemLocationTypeHost, 0}, 0, nullptr) == cudaSuccess);
  CHECK(cudaMemAdvise(p, 64, cudaMemAdviseSetReadMostly, on_device(0)) == cudaSuccess);
  CHECK(cudaMemAdvise(p, 64, cudaMemAdviseSetPreferredLocation, on_device(0)) == cudaSuccess);
  CHECK(cudaMemPrefetchAsync(plain, 64, on_device(0), 0) == cudaErrorInvalidValue);
  CHECK(cudaMemPrefetchAsync(p, 65, on_device(0), 0) == cudaErrorInvalidValue);
  CHECK(cudaMemPrefetchAsync(p, 64, on_device(0), 1) == cudaErrorInvalidValue);
  CHECK(cudaMemPrefetchAsync(p, 64, on_device(99), 0) == cudaErrorInvalidDevice);
  CHECK(cudaMemAdvise(plain, 64, cudaMemAdviseSetReadMostly, on_device(0)) ==
        cudaErrorInvalidValue);
  CHECK(cudaStreamAttachMemAsync(nullptr, p, 0, cudaMemAttachGlobal) == cudaSuccess);
  static_cast<void>(cudaGetLastError());
  CHECK(cudaFree(p) == cudaSuccess);
  CHECK(cudaFree(plain) == cudaSuccess);
}

// ---- pools --------------------------------------------------------------------------------------

TEST_CASE("a pool counts what it has given, and keeps what its threshold says") {
  cudaMemPoolProps properties{};
  properties.allocType = cudaMemAllocationTypePinned;
  properties.location = on_device(0);
  cudaMemPool_t pool = nullptr;
  REQUIRE(cudaMemPoolCreate(&pool, &properties) == cudaSuccess);
  std::uint64_t value = std::uint64_t(1) << 40;
  CHECK(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &value) == cudaSuccess);
  cudaStream_t stream;
  REQUIRE(cudaStreamCreate(&stream) == cudaSuccess);
  int* p = nullptr;
  REQUIRE(cudaMallocFromPoolAsync(&p, 1024 * sizeof(int), pool, stream) == cudaSuccess);
  CHECK(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrUsedMemCurrent, &value) == cudaSuccess);
  CHECK(value >= 4096);
  CHECK(cudaMemsetAsync(p, 0, 4096, stream) == cudaSuccess);
  add_one<<<4, 256, 0, stream>>>(p, 1024);
  int last = 0;
  CHECK(cudaMemcpyAsync(&last, p + 1023, sizeof last, cudaMemcpyDeviceToHost, stream) ==
        cudaSuccess);
  CHECK(cudaFreeAsync(p, stream) == cudaSuccess);
  CHECK(cudaStreamSynchronize(stream) == cudaSuccess);
  CHECK(last == 1);
  CHECK(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrUsedMemCurrent, &value) == cudaSuccess);
  CHECK(value == 0);
  CHECK(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrUsedMemHigh, &value) == cudaSuccess);
  CHECK(value >= 4096);
  CHECK(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrReservedMemCurrent, &value) == cudaSuccess);
  CHECK(value >= 4096);
  CHECK(cudaMemPoolTrimTo(pool, 0) == cudaSuccess);
  CHECK(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrReservedMemCurrent, &value) == cudaSuccess);
  CHECK(value == 0);
  CHECK(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrUsedMemCurrent, &value) ==
        cudaErrorInvalidValue);
  CHECK(cudaMemPoolDestroy(pool) == cudaSuccess);
  static_cast<void>(cudaGetLastError());
  CHECK(cudaStreamDestroy(stream) == cudaSuccess);
}

TEST_CASE("each device has a pool that cudaMallocAsync takes from") {
  cudaMemPool_t standard = nullptr, current = nullptr;
  REQUIRE(cudaDeviceGetDefaultMemPool(&standard, 0) == cudaSuccess);
  REQUIRE(cudaDeviceGetMemPool(&current, 0) == cudaSuccess);
  CHECK(standard == current);
  std::uint64_t before = 0, during = 0;
  CHECK(cudaMemPoolGetAttribute(standard, cudaMemPoolAttrUsedMemCurrent, &before) == cudaSuccess);
  float* p = nullptr;
  REQUIRE(cudaMallocAsync(&p, 1 << 20, nullptr) == cudaSuccess);
  CHECK(cudaMemPoolGetAttribute(standard, cudaMemPoolAttrUsedMemCurrent, &during) == cudaSuccess);
  CHECK(during - before >= 1 << 20);
  CHECK(cudaFree(p) == cudaSuccess);  // as good as cudaFreeAsync
  CHECK(cudaMemPoolDestroy(standard) == cudaErrorInvalidValue);
  CHECK(cudaDeviceGetDefaultMemPool(&standard, 99) == cudaErrorInvalidDevice);
  static_cast<void>(cudaGetLastError());
}

// ---- what only the CPU device promises ----------------------------------------------------------

#ifdef SIMT_CPU_DEVICE

namespace {

__global__ void read_past_the_row(const int* rows, int width, int* out) { *out = rows[width]; }

}  // namespace

TEST_CASE("a pool opens its memory to another device") {
  const int devices = simt::device_count();
  simt::set_devices(2);
  cudaMemPool_t pool = nullptr;
  REQUIRE(cudaDeviceGetDefaultMemPool(&pool, 0) == cudaSuccess);
  int *before = nullptr, *after = nullptr, *out = nullptr;
  REQUIRE(cudaMallocAsync(&before, 8, nullptr) == cudaSuccess);
  REQUIRE(cudaMemset(before, 0, 8) == cudaSuccess);
  cudaMemAccessDesc other{{cudaMemLocationTypeDevice, 1}, cudaMemAccessFlagsProtReadWrite};
  cudaMemAccessFlags flags = cudaMemAccessFlagsProtRead;
  CHECK(cudaMemPoolGetAccess(&flags, pool, &other.location) == cudaSuccess);
  CHECK(flags == cudaMemAccessFlagsProtNone);
  const auto read = [&](const int* p) {
    CHECK(cudaSetDevice(1) == cudaSuccess);
    read_past_the_row<<<1, 1>>>(p, 1, out);
    CHECK(cudaDeviceSynchronize() == cudaSuccess);
    CHECK(cudaSetDevice(0) == cudaSuccess);
  };
  CHECK(cudaSetDevice(1) == cudaSuccess);
  REQUIRE(cudaMalloc(&out, 4) == cudaSuccess);
  CHECK(cudaSetDevice(0) == cudaSuccess);
  CHECK(cudaMemPoolSetAccess(pool, &other, 1) == cudaSuccess);
  CHECK(cudaMemPoolGetAccess(&flags, pool, &other.location) == cudaSuccess);
  CHECK(flags == cudaMemAccessFlagsProtReadWrite);
  REQUIRE(cudaMallocAsync(&after, 8, nullptr) == cudaSuccess);
  REQUIRE(cudaMemset(after, 0, 8) == cudaSuccess);
  CHECK(cudaDeviceSynchronize() == cudaSuccess);
  read(before);
  read(after);
  other.location.id = 9;
  CHECK(cudaMemPoolSetAccess(pool, &other, 1) == cudaErrorInvalidDevice);
  other = {{cudaMemLocationTypeDevice, 1}, cudaMemAccessFlagsProtNone};
  CHECK(cudaMemPoolSetAccess(pool, &other, 1) == cudaSuccess);
  static_cast<void>(cudaGetLastError());
  for (int* const p : {before, after, out}) CHECK(cudaFree(p) == cudaSuccess);
  simt::set_devices(devices);
}

TEST_CASE("attributes of a stream are kept") {
  cudaStream_t stream = nullptr;
  REQUIRE(cudaStreamCreate(&stream) == cudaSuccess);
  cudaStreamAttrValue value{}, kept{};
  value.accessPolicyWindow = {nullptr, 64, 0.5f, cudaAccessPropertyPersisting,
                              cudaAccessPropertyStreaming};
  CHECK(cudaStreamSetAttribute(stream, cudaStreamAttributeAccessPolicyWindow, &value) ==
        cudaSuccess);
  CHECK(cudaStreamGetAttribute(stream, cudaStreamAttributeAccessPolicyWindow, &kept) ==
        cudaSuccess);
  CHECK(kept.accessPolicyWindow.num_bytes == 64);
  CHECK(cudaCtxResetPersistingL2Cache() == cudaSuccess);
  CHECK(cudaStreamDestroy(stream) == cudaSuccess);
}

TEST_CASE("the bytes between the rows are uninitialised") {
  const simt::Report report = simt_test::only_report([] {
    const Rows rows(10, 2);
    const std::vector<int> values = numbers(20);
    CHECK(cudaMemcpy2D(rows.d, rows.pitch, values.data(), 40, 40, 2, cudaMemcpyHostToDevice) ==
          cudaSuccess);
    int* out = nullptr;
    CHECK(cudaMalloc(&out, sizeof *out) == cudaSuccess);
    read_past_the_row<<<1, 1>>>(rows.d, 10, out);
    CHECK(cudaDeviceSynchronize() == cudaSuccess);
    CHECK(cudaFree(out) == cudaSuccess);
  });
  CHECK(report.kind == simt::ReportKind::uninitialised);
  CHECK(simt_test::lacks(report, {"rows.d[10]"}) == "");
}

TEST_CASE("a copy of rows past the end is a finding") {
  const simt::Report report = simt_test::only_report([] {
    const Rows rows(10, 2);
    const std::vector<int> values(30);
    CHECK(cudaMemcpy2D(rows.d, rows.pitch, values.data(), 40, 40, 3, cudaMemcpyHostToDevice) ==
          cudaErrorInvalidValue);
  });
  CHECK(report.kind == simt::ReportKind::out_of_bounds);
  CHECK(simt_test::lacks(report, {"cudaMemcpy2D() would write 1064 bytes",
                                  "3 rows of 40 bytes, 512 bytes apart", "memory_api_test.cu"}) ==
        "");
}

TEST_CASE("a memset of rows past the end is a finding") {
  const simt::Report report = simt_test::only_report([] {
    const Rows rows(10, 2);
    CHECK(cudaMemset2D(rows.d, rows.pitch, 0, 40, 3) == cudaErrorInvalidValue);
  });
  CHECK(report.kind == simt::ReportKind::out_of_bounds);
  CHECK(simt_test::lacks(report, {"cudaMemset2D() would write"}) == "");
}

TEST_CASE("memory of the host that is no longer registered is out of bounds for a kernel") {
  const simt::Report report = simt_test::only_report([] {
    std::vector<int> values(64);
    CHECK(cudaHostRegister(values.data(), 64 * sizeof(int), 0) == cudaSuccess);
    CHECK(cudaHostUnregister(values.data()) == cudaSuccess);
    add_one<<<1, 1>>>(values.data(), 1);
    CHECK(cudaDeviceSynchronize() == cudaErrorIllegalAddress);
  });
  CHECK(report.kind == simt::ReportKind::out_of_bounds);
}

TEST_CASE("an index past registered memory is out of bounds") {
  std::vector<int> values(64);
  const simt::Report report = simt_test::only_report([&] {
    CHECK(cudaHostRegister(values.data(), 32 * sizeof(int), 0) == cudaSuccess);
    add_one<<<1, 64>>>(values.data(), 33);
    CHECK(cudaDeviceSynchronize() == cudaErrorIllegalAddress);
  });
  CHECK(report.kind == simt::ReportKind::out_of_bounds);
  CHECK(simt_test::lacks(report, {"values[32]"}) == "");
  CHECK(cudaHostUnregister(values.data()) == cudaSuccess);
}

TEST_CASE("cudaDeviceReset unregisters memory of the host") {
  std::vector<int> values(64);
  CHECK(cudaHostRegister(values.data(), 64 * sizeof(int), 0) == cudaSuccess);
  CHECK(cudaDeviceReset() == cudaSuccess);
  CHECK(cudaHostUnregister(values.data()) == cudaErrorHostMemoryNotRegistered);
  static_cast<void>(cudaGetLastError());
}

#endif
