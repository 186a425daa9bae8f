// Streams and events: what is ordered, what is not, and what a forgotten wait shows.
#include <cuda_runtime.h>

#include <catch2/catch_test_macros.hpp>
#include <chrono>
#include <thread>
#include <vector>

#include "streams.hpp"
#ifdef SIMT_CPU_DEVICE
#include "testing.hpp"
#endif

namespace {

constexpr int kCount = 64;

__global__ void store(int* values, int value) { values[threadIdx.x] = value; }
__global__ void times_ten_plus(int* values, int digit) {
  values[threadIdx.x] = values[threadIdx.x] * 10 + digit;
}
__global__ void copy_values(int* to, const int* from) { to[threadIdx.x] = from[threadIdx.x]; }

/// Device memory and pinned host memory of kCount ints, both 0.
struct Values {
  int* device = nullptr;
  int* host = nullptr;
  Values() {
    REQUIRE(cudaMalloc(&device, kCount * sizeof(int)) == cudaSuccess);
    REQUIRE(cudaMallocHost(&host, kCount * sizeof(int)) == cudaSuccess);
    for (int i = 0; i < kCount; ++i) host[i] = 0;
    REQUIRE(cudaMemset(device, 0, kCount * sizeof(int)) == cudaSuccess);
    REQUIRE(cudaDeviceSynchronize() == cudaSuccess);
  }
  ~Values() {
    static_cast<void>(cudaFree(device));
    static_cast<void>(cudaFreeHost(host));
  }
  Values(const Values&) = delete;

  void store(int value, cudaStream_t stream) { ::store<<<1, kCount, 0, stream>>>(device, value); }
  void append(int digit, cudaStream_t stream) {
    times_ten_plus<<<1, kCount, 0, stream>>>(device, digit);
  }
  void copy_to_host(cudaStream_t stream) {
    CHECK(cudaMemcpyAsync(host, device, kCount * sizeof(int), cudaMemcpyDeviceToHost, stream) ==
          cudaSuccess);
  }
  /// All elements, which must be equal; waits for the whole device.
  int value() {
    CHECK(cudaDeviceSynchronize() == cudaSuccess);
    std::vector<int> v(kCount);
    CHECK(cudaMemcpy(v.data(), device, kCount * sizeof(int), cudaMemcpyDeviceToHost) ==
          cudaSuccess);
    for (int element : v) CHECK(element == v[0]);
    return v[0];
  }
};

struct Stream : simt_test::OwnedStream {
  explicit Stream(unsigned flags = cudaStreamDefault) : Owned(flags) {}
};

struct Event : simt_test::OwnedEvent {
  explicit Event(unsigned flags = cudaEventDefault) : Owned(flags) {}
};

void append_digit(void* number) {
  int& n = *static_cast<int*>(number);
  n = n * 10 + 4;
}

}  // namespace

TEST_CASE("a stream runs its operations in order") {
  Values v;
  Stream stream(cudaStreamNonBlocking);
  for (int digit = 1; digit <= 5; ++digit) v.append(digit, stream);
  v.copy_to_host(stream);
  REQUIRE(cudaStreamSynchronize(stream) == cudaSuccess);
  CHECK(v.host[0] == 12345);
  CHECK(v.host[kCount - 1] == 12345);
}

TEST_CASE("the arguments of a launch are those of the moment of the launch") {
  Values v;
  Stream stream;
  int digit = 1;
  v.append(digit, stream);
  digit = 2;
  v.append(digit, stream);
  digit = 9;
  CHECK(v.value() == 12);
}

TEST_CASE("pageable memory may change when the asynchronous copy from it has returned") {
  Values v;
  Stream stream;
  std::vector<int> source(kCount, 5);
  CHECK(cudaMemcpyAsync(v.device, source.data(), kCount * sizeof(int), cudaMemcpyHostToDevice,
                        stream) == cudaSuccess);
  source.assign(kCount, 6);
  CHECK(v.value() == 5);
}

TEST_CASE("the legacy default stream and blocking streams wait for each other") {
  Values v;
  Stream a, b;
  v.append(1, a);
  v.append(2, nullptr);
  v.append(3, b);
  v.append(4, cudaStreamLegacy);
  v.append(5, cudaStreamPerThread);
  v.append(6, nullptr);
  v.copy_to_host(nullptr);
  CHECK(cudaStreamSynchronize(nullptr) == cudaSuccess);
  CHECK(v.host[0] == 123456);
}

TEST_CASE("cudaMemcpy waits for the default stream and blocking streams") {
  Values v;
  Stream a;
  v.store(7, a);
  std::vector<int> host(kCount);
  CHECK(cudaMemcpy(host.data(), v.device, kCount * sizeof(int), cudaMemcpyDeviceToHost) ==
        cudaSuccess);
  CHECK(host[0] == 7);
}

TEST_CASE(
    "waiting for the default stream waits for blocking streams, but not the other way round") {
  Values v, w;
  Stream stream;
  v.store(7, stream);
  v.copy_to_host(stream);
  REQUIRE(cudaStreamSynchronize(nullptr) == cudaSuccess);
  CHECK(cudaStreamQuery(stream) == cudaSuccess);
  CHECK(v.host[0] == 7);
  w.store(8, nullptr);
  CHECK(cudaStreamQuery(stream) == cudaSuccess);  // nothing is queued in it
  CHECK(w.value() == 8);
}

TEST_CASE("events order streams") {
  Values from, to;
  Stream a(cudaStreamNonBlocking), b(cudaStreamNonBlocking);
  Event written(cudaEventDisableTiming);
  from.store(8, a);
  REQUIRE(cudaEventRecord(written, a) == cudaSuccess);
  REQUIRE(cudaStreamWaitEvent(b, written, 0) == cudaSuccess);
  copy_values<<<1, kCount, 0, b>>>(to.device, from.device);
  to.copy_to_host(b);
  REQUIRE(cudaStreamSynchronize(b) == cudaSuccess);
  CHECK(to.host[0] == 8);
}

TEST_CASE("a chain of events through three streams") {
  Values v;
  Stream a(cudaStreamNonBlocking), b(cudaStreamNonBlocking), c(cudaStreamNonBlocking);
  Event first, second;
  v.append(1, a);
  REQUIRE(cudaEventRecord(first, a) == cudaSuccess);
  REQUIRE(cudaStreamWaitEvent(b, first, 0) == cudaSuccess);
  v.append(2, b);
  REQUIRE(cudaEventRecord(second, b) == cudaSuccess);
  REQUIRE(cudaStreamWaitEvent(c, second, 0) == cudaSuccess);
  v.append(3, c);
  REQUIRE(cudaStreamSynchronize(c) == cudaSuccess);
  CHECK(v.value() == 123);
}

TEST_CASE("cudaEventSynchronize waits for what came before the record") {
  Values v;
  Stream stream(cudaStreamNonBlocking);
  Event event;
  v.store(3, stream);
  v.copy_to_host(stream);
  REQUIRE(cudaEventRecord(event, stream) == cudaSuccess);
  REQUIRE(cudaEventSynchronize(event) == cudaSuccess);
  CHECK(cudaEventQuery(event) == cudaSuccess);
  CHECK(v.host[0] == 3);
}

TEST_CASE("polling ends") {
  Values v;
  Stream stream;
  Event event;
  v.store(1, stream);
  v.store(2, stream);
  v.copy_to_host(stream);
  REQUIRE(cudaEventRecord(event, stream) == cudaSuccess);
  cudaError_t status = cudaErrorNotReady;
  SECTION("a stream") {
    while (status == cudaErrorNotReady) status = cudaStreamQuery(stream);
  }
  SECTION("an event") {
    while (status == cudaErrorNotReady) status = cudaEventQuery(event);
  }
  CHECK(status == cudaSuccess);
  CHECK(cudaGetLastError() == cudaSuccess);  // "not ready" is an answer, no error
  CHECK(v.host[0] == 2);
}

TEST_CASE("an event that was never recorded has happened") {
  Event event;
  Stream stream;
  CHECK(cudaEventQuery(event) == cudaSuccess);
  CHECK(cudaEventSynchronize(event) == cudaSuccess);
  CHECK(cudaStreamWaitEvent(stream, event, 0) == cudaSuccess);
  CHECK(cudaStreamSynchronize(stream) == cudaSuccess);
}

TEST_CASE("time between events") {
  Values v;
  Stream stream;
  Event start, stop, untimed(cudaEventDisableTiming);
  float milliseconds = -1;
  CHECK(cudaEventElapsedTime(&milliseconds, start, stop) == cudaErrorInvalidResourceHandle);
  REQUIRE(cudaEventRecord(start, stream) == cudaSuccess);
  v.store(1, stream);
  REQUIRE(cudaEventRecord(stop, stream) == cudaSuccess);
  REQUIRE(cudaEventRecord(untimed, stream) == cudaSuccess);
  REQUIRE(cudaEventSynchronize(untimed) == cudaSuccess);
  REQUIRE(cudaEventElapsedTime(&milliseconds, start, stop) == cudaSuccess);
  CHECK(milliseconds >= 0);
  CHECK(cudaEventElapsedTime(&milliseconds, start, untimed) == cudaErrorInvalidResourceHandle);
  static_cast<void>(cudaGetLastError());
}

TEST_CASE("an event in an idle device has the time of its call") {
  Values v;
  Stream stream;
  Event start, stop;
  REQUIRE(cudaEventRecord(start, stream) == cudaSuccess);
  std::this_thread::sleep_for(std::chrono::milliseconds(20));  // the host is busy
  v.store(1, stream);
  REQUIRE(cudaEventRecord(stop, stream) == cudaSuccess);  // waits for the kernel
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  REQUIRE(cudaEventSynchronize(stop) == cudaSuccess);
  float milliseconds = 0;
  REQUIRE(cudaEventElapsedTime(&milliseconds, start, stop) == cudaSuccess);
  CHECK(milliseconds >= 20);
}

TEST_CASE("host functions run in stream order") {
  Values v;
  Stream stream;
  v.host[0] = 0;
  v.store(123, stream);
  v.copy_to_host(stream);
  REQUIRE(cudaLaunchHostFunc(stream, append_digit, v.host) == cudaSuccess);
  REQUIRE(cudaStreamSynchronize(stream) == cudaSuccess);
  CHECK(v.host[0] == 1234);
  CHECK(v.host[1] == 123);
}

TEST_CASE("callbacks run in stream order, and learn of their stream") {
  struct Call {
    cudaStream_t stream = nullptr;
    cudaError_t status = cudaErrorUnknown;
    int seen = 0;
    const int* values = nullptr;
  };
  const auto note = [](cudaStream_t stream, cudaError_t status, void* data) {
    Call& call = *static_cast<Call*>(data);
    call = {stream, status, call.values[0], call.values};
  };
  Values v;
  Stream stream;
  Call call;
  call.values = v.host;
  v.store(31, stream);
  v.copy_to_host(stream);
  REQUIRE(cudaStreamAddCallback(stream, note, &call, 0) == cudaSuccess);
  REQUIRE(cudaStreamSynchronize(stream) == cudaSuccess);
  CHECK(call.stream == stream.handle);
  CHECK(call.status == cudaSuccess);
  CHECK(call.seen == 31);
  CHECK(cudaStreamAddCallback(stream, note, &call, 1) == cudaErrorInvalidValue);
  CHECK(cudaStreamAddCallback(stream, nullptr, &call, 0) == cudaErrorInvalidValue);
  static_cast<void>(cudaGetLastError());
}

TEST_CASE("priorities are brought into the range") {
  int least = -1, greatest = 1, priority = 99;
  REQUIRE(cudaDeviceGetStreamPriorityRange(&least, &greatest) == cudaSuccess);
  CHECK(least == 0);
  CHECK(greatest < 0);
  cudaStream_t stream;
  REQUIRE(cudaStreamCreateWithPriority(&stream, cudaStreamNonBlocking, greatest) == cudaSuccess);
  CHECK(cudaStreamGetPriority(stream, &priority) == cudaSuccess);
  CHECK(priority == greatest);
  CHECK(cudaStreamDestroy(stream) == cudaSuccess);
  REQUIRE(cudaStreamCreateWithPriority(&stream, cudaStreamDefault, greatest - 90) == cudaSuccess);
  CHECK(cudaStreamGetPriority(stream, &priority) == cudaSuccess);
  CHECK(priority == greatest);
  int device = -1;
  CHECK(cudaStreamGetDevice(stream, &device) == cudaSuccess);
  CHECK(device == 0);
  unsigned long long id = 0, id_of_default = 0;
  CHECK(cudaStreamGetId(stream, &id) == cudaSuccess);
  CHECK(cudaStreamGetId(nullptr, &id_of_default) == cudaSuccess);
  CHECK(id != id_of_default);
  CHECK(cudaStreamDestroy(stream) == cudaSuccess);
  CHECK(cudaStreamGetPriority(nullptr, &priority) == cudaSuccess);
  CHECK(priority == 0);
}

TEST_CASE("events with flags") {
  Values v;
  Stream stream;
  Event event;
  v.store(2, stream);
  CHECK(cudaEventRecordWithFlags(event, stream, cudaEventRecordDefault) == cudaSuccess);
  CHECK(cudaEventSynchronize(event) == cudaSuccess);
  CHECK(cudaEventRecordWithFlags(event, stream, 99) == cudaErrorInvalidValue);
  cudaEvent_t shared;
  CHECK(cudaEventCreateWithFlags(&shared, cudaEventInterprocess) == cudaErrorInvalidValue);
  CHECK(cudaEventCreateWithFlags(&shared, cudaEventInterprocess | cudaEventDisableTiming) ==
        cudaSuccess);
  CHECK(cudaEventDestroy(shared) == cudaSuccess);
  static_cast<void>(cudaGetLastError());
}

TEST_CASE("cudaFree waits for kernels that use the memory") {
  Values to;
  int* from = nullptr;
  REQUIRE(cudaMalloc(&from, kCount * sizeof(int)) == cudaSuccess);
  Stream stream(cudaStreamNonBlocking);
  store<<<1, kCount, 0, stream>>>(from, 6);
  copy_values<<<1, kCount, 0, stream>>>(to.device, from);
  CHECK(cudaFree(from) == cudaSuccess);
  CHECK(to.value() == 6);
}

TEST_CASE("a stream that is destroyed finishes its work") {
  Values v;
  cudaStream_t stream;
  REQUIRE(cudaStreamCreate(&stream) == cudaSuccess);
  v.store(4, stream);
  CHECK(cudaStreamDestroy(stream) == cudaSuccess);
  CHECK(v.value() == 4);
}

TEST_CASE("stream flags") {
  Stream blocking, free(cudaStreamNonBlocking);
  unsigned flags = 99;
  CHECK(cudaStreamGetFlags(blocking, &flags) == cudaSuccess);
  CHECK(flags == cudaStreamDefault);
  CHECK(cudaStreamGetFlags(free, &flags) == cudaSuccess);
  CHECK(flags == cudaStreamNonBlocking);
  cudaStream_t none;
  CHECK(cudaStreamCreateWithFlags(&none, 77) == cudaErrorInvalidValue);
  static_cast<void>(cudaGetLastError());
}

// ---- what only the CPU device promises ----------------------------------------------------------

#ifdef SIMT_CPU_DEVICE

namespace {

/// The rest of a test lacks a wait or an order: it must be told of as a race, and of nothing else.
struct ExpectRaces {
  simt_test::Reports reports;
  ~ExpectRaces() {
    CHECK(!reports.list.empty());
    for (const simt::Report& report : reports.list) CHECK(report.kind == simt::ReportKind::race);
  }
};

}  // namespace

TEST_CASE("a forgotten wait shows stale data, every time") {
  const ExpectRaces races;
  Values v;
  Stream stream;
  v.store(1, stream);
  v.copy_to_host(stream);
  CHECK(v.host[0] == 0);
  REQUIRE(cudaStreamSynchronize(stream) == cudaSuccess);
  CHECK(v.host[0] == 1);
}

TEST_CASE("managed memory is stale until the host waits") {
  const ExpectRaces races;
  int* p = nullptr;
  REQUIRE(cudaMallocManaged(&p, kCount * sizeof(int)) == cudaSuccess);
  p[0] = 5;
  store<<<1, kCount>>>(p, 6);
  CHECK(p[0] == 5);
  REQUIRE(cudaDeviceSynchronize() == cudaSuccess);
  CHECK(p[0] == 6);
  CHECK(cudaFree(p) == cudaSuccess);
}

TEST_CASE("cudaMemcpy does not wait for a non-blocking stream") {
  const ExpectRaces races;
  const simt_test::Seed seed(0);
  Values v;
  Stream stream(cudaStreamNonBlocking);
  v.store(1, stream);
  std::vector<int> host(kCount);
  CHECK(cudaMemcpy(host.data(), v.device, kCount * sizeof(int), cudaMemcpyDeviceToHost) ==
        cudaSuccess);
  CHECK(host[0] == 0);
  CHECK(v.value() == 1);
}

TEST_CASE("waiting for one stream does not run another") {
  const ExpectRaces races;
  const simt_test::Seed seed(0);
  Values v, w;
  Stream a, b;
  v.store(1, a);
  v.copy_to_host(a);
  w.store(1, b);
  w.copy_to_host(b);
  REQUIRE(cudaStreamSynchronize(b) == cudaSuccess);
  CHECK(w.host[0] == 1);
  CHECK(v.host[0] == 0);
}

TEST_CASE("seed 0 runs the youngest stream first") {
  const ExpectRaces races;
  const simt_test::Seed seed(0);
  Values v;
  Stream older(cudaStreamNonBlocking), younger(cudaStreamNonBlocking);
  v.append(1, older);
  v.append(2, younger);
  CHECK(v.value() == 21);
}

TEST_CASE("other seeds find both orders of independent streams, each seed always the same one") {
  const ExpectRaces races;
  simt_test::check_both_orders(1, [] {
    Values v;
    Stream a(cudaStreamNonBlocking), b(cudaStreamNonBlocking);
    simt::reset_device();  // the lots start again
    v.append(1, a);
    v.append(2, b);
    return v.value();
  });
}

TEST_CASE("a destroyed stream or event is an invalid handle") {
  Values v;
  cudaStream_t stream;
  cudaEvent_t event;
  REQUIRE(cudaStreamCreate(&stream) == cudaSuccess);
  REQUIRE(cudaEventCreate(&event) == cudaSuccess);
  REQUIRE(cudaStreamDestroy(stream) == cudaSuccess);
  REQUIRE(cudaEventDestroy(event) == cudaSuccess);
  CHECK(cudaStreamSynchronize(stream) == cudaErrorInvalidResourceHandle);
  CHECK(cudaStreamDestroy(stream) == cudaErrorInvalidResourceHandle);
  CHECK(cudaEventRecord(event) == cudaErrorInvalidResourceHandle);
  CHECK(cudaEventDestroy(event) == cudaErrorInvalidResourceHandle);
  static_cast<void>(cudaGetLastError());
  v.store(1, stream);
  CHECK(cudaGetLastError() == cudaErrorInvalidResourceHandle);
  CHECK(v.value() == 0);
}

TEST_CASE("a query runs one operation and says that it was not ready") {
  const ExpectRaces races;
  const simt_test::Seed seed(0);
  Values v;
  Stream stream;
  v.store(1, stream);
  v.copy_to_host(stream);
  CHECK(cudaStreamQuery(stream) == cudaErrorNotReady);
  CHECK(v.host[0] == 0);
  CHECK(cudaStreamQuery(stream) == cudaErrorNotReady);
  CHECK(v.host[0] == 1);
  CHECK(cudaStreamQuery(stream) == cudaSuccess);
}

TEST_CASE("a host function cannot call the runtime") {
  Stream stream;
  cudaError_t found = cudaSuccess;
  const auto call = [](void* result) {
    int* p = nullptr;
    *static_cast<cudaError_t*>(result) = cudaMalloc(&p, 4);
  };
  REQUIRE(cudaLaunchHostFunc(stream, call, &found) == cudaSuccess);
  REQUIRE(cudaStreamSynchronize(stream) == cudaSuccess);
  CHECK(found == cudaErrorNotPermitted);
  static_cast<void>(cudaGetLastError());
}

TEST_CASE("reset_device forgets what is queued") {
  Values v;
  Stream stream;
  v.store(1, stream);
  simt::reset_device();
  CHECK(v.value() == 0);
}

#endif
