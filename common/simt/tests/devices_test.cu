// Several devices: how many, whose memory, whose stream, and who waits for whom.
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch_test_macros.hpp>
#include <cstdio>
#include <cstdlib>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#include "testing.hpp"

using simt::ReportKind;
using namespace simt_test;

namespace {

constexpr int kOk = cudaSuccess;
constexpr int kUnknownStream = cudaErrorInvalidResourceHandle;

constexpr int kStoreLine = __LINE__ + 1;
__global__ void store(int* d_x, int value) { d_x[threadIdx.x] = value; }
__global__ void copy_ints(int* d_to, const int* d_from) { d_to[threadIdx.x] = d_from[threadIdx.x]; }

__device__ int total = 7;
__constant__ int factor = 3;
__managed__ int shared_by_all = 0;
__global__ void add_to_total(int value) { total += factor * value; }
__global__ void store_total(int* d_x) { *d_x = total; }
__global__ void add_to_managed(int value) { shared_by_all += value; }

Array<int> on_device(int device, std::size_t n, int value) {
  const On on(device);
  return Array<int>(std::vector<int>(n, value));
}

/// A machine of n devices; of two again when it ends.
class Machine {
 public:
  explicit Machine(int n) { simt::set_devices(n); }
  ~Machine() { simt::set_devices(before_); }
  Machine(const Machine&) = delete;
  Machine& operator=(const Machine&) = delete;

 private:
  int before_ = simt::device_count();
};

cudaError_t enable(int device, int peer) {
  const On on(device);
  return cudaDeviceEnablePeerAccess(peer, 0);
}

/// True if the work did not wait for what it used, and nothing else is wrong.
bool is_race_alone(const Outcome& outcome) {
  return outcome.error == cudaSuccess && outcome.reports.size() == 1 &&
         outcome.found(ReportKind::race);
}

}  // namespace

// ---- how many -----------------------------------------------------------------------------------

TEST_CASE("set_devices says how many devices there are") {
  for (const int n : {1, 3, 8}) {
    const Machine machine(n);
    int count = 0, value = 0;
    CHECK(cudaGetDeviceCount(&count) == kOk);
    CHECK(count == n);
    CHECK(cudaSetDevice(n - 1) == kOk);
    CHECK(cudaGetDevice(&value) == kOk);
    CHECK(value == n - 1);
    CHECK(cudaSetDevice(n) == cudaErrorInvalidDevice);
    CHECK(cudaSetDevice(-1) == cudaErrorInvalidDevice);
    CHECK(cudaGetDevice(&value) == kOk);
    CHECK(value == n - 1);  // a refused one changes nothing
    cudaDeviceProp properties;
    CHECK(cudaGetDeviceProperties(&properties, n - 1) == kOk);
    CHECK(cudaGetDeviceProperties(&properties, n) == cudaErrorInvalidDevice);
    CHECK(cudaDeviceGetAttribute(&value, cudaDevAttrWarpSize, n) == cudaErrorInvalidDevice);
    static_cast<void>(cudaGetLastError());
  }
}

TEST_CASE("a copy while another device is current is told with both devices") {
  const Machine two(2);
  const Array<int> x = on_device(1, 4, 0);
  const simt::Report report = only_report([&] {
    {
      const On on(1);
      store<<<1, 4>>>(x.data(), 5);
    }
    int found[4];
    static_cast<void>(cudaMemcpy(found, x.data(), sizeof found, cudaMemcpyDeviceToHost));
    for (const int device : {1, 0}) {
      const On on(device);
      static_cast<void>(cudaDeviceSynchronize());
    }
  });
  CHECK(lacks(report,
              {"cudaMemcpy() runs in a stream of device 0, and kernel store in one of device 1",
               "Is device 1 meant to be current"}) == "");
}

TEST_CASE("a machine has 1 to 8 devices") {
  CHECK_THROWS_AS(simt::set_devices(0), std::invalid_argument);
  CHECK_THROWS_AS(simt::set_devices(9), std::invalid_argument);
}

/// What this program prints, and its exit code, with variables of the environment.
std::string run_with(const std::string& variable) {
  char path[4096] = "";
  REQUIRE(readlink("/proc/self/exe", path, sizeof path - 1) > 0);
  const std::string command =
      variable + " '" + path + "' 'the environment decides where the program does not' 2>&1";
  std::FILE* const out = popen(command.c_str(), "r");
  REQUIRE(out != nullptr);
  std::string text;
  for (char line[256]; std::fgets(line, sizeof line, out) != nullptr;) text += line;
  return text + "exit code " + std::to_string(WEXITSTATUS(pclose(out)));
}

TEST_CASE("the environment decides where the program does not") {
  const char* const devices = std::getenv("SIMT_DEVICES");
  CHECK(simt::device_count() == (devices == nullptr ? 2 : std::atoi(devices)));
  const char* const peers = std::getenv("SIMT_PEER_ACCESS");
  CHECK(simt::peer_access() == (peers == nullptr || std::string(peers) == "1"));
}

TEST_CASE("variables of the environment that can be used") {
  for (const char* good : {"SIMT_DEVICES=1", "SIMT_DEVICES=8", "SIMT_PEER_ACCESS=0",
                           "SIMT_PEER_ACCESS=1", "SIMT_SEED=7", "SIMT_SEED=18446744073709551615",
                           "SIMT_HOST_ATOMICS=1", "SIMT_TRACE=", "SIMT_TRACE_KERNEL=any"}) {
    CHECK(lacks(run_with(good), {"passed", "exit code 0"}) == "");
  }
}

TEST_CASE("a variable that cannot be used ends the program: what is wrong, and what to try") {
  for (const char* bad : {"0", "9", "-1", "two", "2x", "''"}) {
    CHECK(lacks(run_with(std::string("SIMT_DEVICES=") + bad),
                {"simt: SIMT_DEVICES must be a number from 1 to 8, and is '",
                 "': try SIMT_DEVICES=2, or unset SIMT_DEVICES\n", "exit code 1"}) == "");
  }
  for (const char* bad : {"abc", "-1", "3x", "0x10", "1.5", "18446744073709551616", "''"}) {
    CHECK(lacks(run_with(std::string("SIMT_SEED=") + bad),
                {"simt: SIMT_SEED must be a number from 0 on, and is '",
                 "': try SIMT_SEED=3, or unset SIMT_SEED\n", "exit code 1"}) == "");
  }
  CHECK(lacks(run_with("SIMT_TRACE_EVENTS=0"),
              {"simt: SIMT_TRACE_EVENTS must be a number from 1 to 1000000000, and is '0'",
               "exit code 1"}) == "");
  CHECK(
      lacks(run_with("SIMT_PEER_ACCESS=no"),
            {"simt: SIMT_PEER_ACCESS must be 0 or 1, and is 'no': try SIMT_PEER_ACCESS=0, or unset",
             "exit code 1"}) == "");
  CHECK(lacks(run_with("SIMT_HOST_ATOMICS=2"),
              {"simt: SIMT_HOST_ATOMICS must be 0 or 1, and is '2': try SIMT_HOST_ATOMICS=1, or "
               "unset",
               "exit code 1"}) == "");
  CHECK(
      lacks(
          run_with("SIMT_SEDE=3"),
          {"simt: SIMT_SEDE is in the environment, but there is no such setting. The settings are:",
           "\n  SIMT_SEED\n", "exit code 1"}) == "");
}

TEST_CASE("a device with memory does not go away") {
  const Machine machine(3);
  {
    const auto x = on_device(2, 4, 1);
    CHECK_THROWS_AS(simt::set_devices(2), std::logic_error);
    CHECK(simt::device_count() == 3);
    simt::set_devices(4);  // those that stay may have some
    CHECK(x.front() == 1);
  }
  simt::set_devices(2);
}

TEST_CASE("set_devices begins on device 0, without peer access") {
  const Machine machine(3);
  CHECK(enable(1, 2) == kOk);
  CHECK(cudaSetDevice(2) == kOk);
  simt::set_devices(3);
  int device = -1;
  CHECK(cudaGetDevice(&device) == kOk);
  CHECK(device == 0);
  CHECK(enable(1, 2) == kOk);
}

TEST_CASE("devices differ in their place on the bus") {
  const Machine machine(8);
  std::set<std::string> ids;
  for (int device = 0; device < 8; ++device) {
    cudaDeviceProp properties;
    int bus = -1;
    char id[16] = "";
    REQUIRE(cudaGetDeviceProperties(&properties, device) == kOk);
    CHECK(std::string(properties.name) == "simt CPU device");
    CHECK(properties.hostNativeAtomicSupported == 0);
    REQUIRE(cudaDeviceGetAttribute(&bus, cudaDevAttrPciBusId, device) == kOk);
    CHECK(bus == properties.pciBusID);
    REQUIRE(cudaDeviceGetPCIBusId(id, sizeof id, device) == kOk);
    ids.insert(id);
  }
  CHECK(ids.size() == 8);
  CHECK(*ids.begin() == "0000:01:00.0");
  char id[16];
  CHECK(cudaDeviceGetPCIBusId(id, 12, 0) == cudaErrorInvalidValue);
  CHECK(cudaDeviceGetPCIBusId(id, 13, 0) == kOk);
  CHECK(cudaDeviceGetPCIBusId(id, sizeof id, 8) == cudaErrorInvalidDevice);
  CHECK(cudaDeviceGetPCIBusId(nullptr, sizeof id, 0) == cudaErrorInvalidValue);
  static_cast<void>(cudaGetLastError());
}

// ---- memory -------------------------------------------------------------------------------------

TEST_CASE("memory belongs to the device that was current at cudaMalloc") {
  std::size_t free[2] = {}, total = 0;
  const auto x = on_device(1, 1024, 5);
  for (const int device : {0, 1}) {
    const On on(device);
    REQUIRE(cudaMemGetInfo(&free[device], &total) == kOk);
  }
  CHECK(total == std::size_t(4) << 30);  // of each
  CHECK(free[0] == total);
  CHECK(free[1] == total - 4096);
  cudaPointerAttributes attributes;
  REQUIRE(cudaPointerGetAttributes(&attributes, x.data()) == kOk);
  CHECK(attributes.type == cudaMemoryTypeDevice);
  CHECK(attributes.device == 1);
  CHECK(x.front() == 5);  // a copy works whatever device is current; so does cudaFree
}

TEST_CASE("a kernel works on memory of its device") {
  const Outcome outcome = observe([] {
    const On on(1);
    const Array<int> x(4);
    store<<<1, 4>>>(x.data(), 3);
    CHECK(x.values() == std::vector<int>{3, 3, 3, 3});
  });
  INFO(outcome.text());
  CHECK(outcome.clean());
}

TEST_CASE("a kernel is stopped at memory of another device") {
  const auto x = on_device(0, 4, 1);
  int malloc_line = 0;
  int* d_y = nullptr;
  cudaError_t error = cudaSuccess;
  const simt::Report report = only_report([&] {
    malloc_line = __LINE__ + 1;
    static_cast<void>(cudaMalloc(&d_y, 16));
    const On on(1);
    store<<<1, 4>>>(d_y, 3);
    error = cudaDeviceSynchronize();
  });
  CHECK(error == cudaErrorIllegalAddress);
  CHECK(report.kind == ReportKind::out_of_bounds);
  CHECK(report.kernel == "store");
  CHECK(report.line == kStoreLine);
  const std::string place = "devices_test.cu:";
  const std::string store_at = "at common/simt/tests/" + place + std::to_string(kStoreLine);
  const std::string allocated_at =
      "(allocated at common/simt/tests/" + place + std::to_string(malloc_line) + ")";
  CHECK(lacks(report, {"MEMORY OF ANOTHER DEVICE in kernel store: write of 4 bytes at d_y[0]\n",
                       (store_at + " by device 1 block 0 thread 0\n").c_str(),
                       "d_y[0] belongs to device 0 ", allocated_at.c_str(),
                       "and the kernel runs on device 1.",
                       "Call cudaSetDevice(1) before cudaMalloc, or cudaSetDevice(0) before the "
                       "launch.",
                       "cudaDeviceEnablePeerAccess(0, 0) while device 1 is current."}) == "");
  CHECK(cudaFree(d_y) == kOk);
}

TEST_CASE("pinned and managed memory belongs to all devices") {
  const Outcome outcome = observe([] {
    const Pinned x(4);
    int* managed = nullptr;
    REQUIRE(cudaMallocManaged(&managed, 16) == kOk);
    int* on_gpu = nullptr;
    REQUIRE(cudaHostGetDevicePointer(&on_gpu, x.data, 0) == kOk);
    for (const int device : {0, 1}) {
      const On on(device);
      store<<<1, 4>>>(on_gpu, device + 1);
      store<<<1, 4>>>(managed, device + 3);
      CHECK(cudaDeviceSynchronize() == kOk);
      CHECK(x.data[3] == device + 1);
      CHECK(managed[3] == device + 3);
    }
    CHECK(cudaFree(managed) == kOk);
  });
  INFO(outcome.text());
  CHECK(outcome.clean());
}

TEST_CASE("freeing waits for the device that the memory was made on, and no other") {
  for (const int device : {0, 1}) {
    INFO("the kernel runs on device " << device << ", the memory was made on device 0");
    const Outcome outcome = observe([&] {
      int* x = nullptr;
      REQUIRE(cudaMallocHost(&x, 16) == kOk);
      {
        const On on(device);
        store<<<1, 4>>>(x, 3);
      }
      static_cast<void>(cudaFreeHost(x));
      const On on(device);
      CHECK(cudaDeviceSynchronize() == (device == 0 ? kOk : cudaErrorIllegalAddress));
    });
    INFO(outcome.text());
    CHECK(outcome.clean() == (device == 0));
  }
}

TEST_CASE("__device__ and __constant__ variables exist once per device, __managed__ ones once") {
  const Outcome outcome = observe([] {
    shared_by_all = 0;
    const int ten = 10;
    int values[2] = {}, factors[2] = {};
    for (const int device : {1, 0}) {
      const On on(device);
      if (device == 1) CHECK(cudaMemcpyToSymbol(factor, &ten, sizeof ten) == kOk);
      add_to_total<<<1, 1>>>(1);
      add_to_managed<<<1, 1>>>(1);
      CHECK(cudaDeviceSynchronize() == kOk);
    }
    for (const int device : {0, 1}) {
      const On on(device);
      const Array<int> x(1);
      store_total<<<1, 1>>>(x.data());
      CHECK(cudaMemcpyFromSymbol(&values[device], total, sizeof(int)) == kOk);
      CHECK(cudaMemcpyFromSymbol(&factors[device], factor, sizeof(int)) == kOk);
      CHECK(x.front() == values[device]);
    }
    CHECK(values[0] == 7 + 3);
    CHECK(values[1] == 7 + 10);
    CHECK(factors[0] == 3);
    CHECK(factors[1] == 10);
    CHECK(shared_by_all == 2);
    for (const int device : {0, 1}) {  // for the next schedule
      const On on(device);
      const int seven = 7, three = 3;
      CHECK(cudaMemcpyToSymbol(total, &seven, sizeof seven) == kOk);
      CHECK(cudaMemcpyToSymbol(factor, &three, sizeof three) == kOk);
    }
  });
  INFO(outcome.text());
  CHECK(outcome.clean());
}

TEST_CASE("cudaDeviceReset frees the memory of the current device only") {
  const auto x = on_device(0, 4, 1);
  const auto y = on_device(1, 4, 1);
  const On on(1);
  CHECK(cudaDeviceReset() == kOk);
  CHECK(x.front() == 1);
  cudaPointerAttributes attributes;
  CHECK(cudaPointerGetAttributes(&attributes, y.data()) == kOk);
  CHECK(attributes.type == cudaMemoryTypeUnregistered);
}

// ---- peer access --------------------------------------------------------------------------------

TEST_CASE("peer access opens one direction, for the current device") {
  const auto x = on_device(0, 4, 1);
  const auto y = on_device(1, 4, 1);
  const Outcome outcome = observe([&] {
    const On on(1);
    CHECK(cudaDeviceEnablePeerAccess(0, 0) == kOk);
    store<<<1, 4>>>(x.data(), 2);
    CHECK(cudaDeviceSynchronize() == kOk);
    CHECK(x.front() == 2);
  });
  INFO(outcome.text());
  CHECK(outcome.clean());
  CHECK(only_report([&] {
          CHECK(enable(1, 0) == kOk);
          store<<<1, 4>>>(y.data(), 2);  // from device 0
        }).kind == ReportKind::out_of_bounds);
  CHECK(only_report([&] {
          const On on(1);
          CHECK(cudaDeviceEnablePeerAccess(0, 0) == kOk);
          CHECK(cudaDeviceDisablePeerAccess(0) == kOk);
          store<<<1, 4>>>(x.data(), 2);
        }).kind == ReportKind::out_of_bounds);
}

TEST_CASE("what CUDA says of peer access") {
  const Machine machine(3);
  int value = -1;
  CHECK(cudaDeviceCanAccessPeer(&value, 0, 1) == kOk);
  CHECK(value == 1);
  CHECK(cudaDeviceCanAccessPeer(&value, 1, 1) == kOk);
  CHECK(value == 0);
  CHECK(cudaDeviceCanAccessPeer(&value, 0, 3) == cudaErrorInvalidDevice);
  CHECK(cudaDeviceCanAccessPeer(&value, -1, 0) == cudaErrorInvalidDevice);
  CHECK(cudaDeviceCanAccessPeer(nullptr, 0, 1) == cudaErrorInvalidValue);
  CHECK(cudaDeviceEnablePeerAccess(0, 0) == cudaErrorInvalidDevice);
  CHECK(cudaDeviceEnablePeerAccess(3, 0) == cudaErrorInvalidDevice);
  CHECK(cudaDeviceEnablePeerAccess(1, 1) == cudaErrorInvalidValue);
  CHECK(cudaDeviceDisablePeerAccess(1) == cudaErrorPeerAccessNotEnabled);
  CHECK(cudaDeviceEnablePeerAccess(1, 0) == kOk);
  CHECK(cudaDeviceEnablePeerAccess(1, 0) == cudaErrorPeerAccessAlreadyEnabled);
  CHECK(cudaDeviceDisablePeerAccess(2) == cudaErrorPeerAccessNotEnabled);
  CHECK(cudaDeviceDisablePeerAccess(1) == kOk);
  CHECK(cudaDeviceDisablePeerAccess(1) == cudaErrorPeerAccessNotEnabled);
  CHECK(cudaDeviceDisablePeerAccess(0) == cudaErrorInvalidDevice);
  for (const auto attribute :
       {cudaDevP2PAttrAccessSupported, cudaDevP2PAttrNativeAtomicSupported}) {
    CHECK(cudaDeviceGetP2PAttribute(&value, attribute, 0, 2) == kOk);
    CHECK(value == 1);
  }
  CHECK(cudaDeviceGetP2PAttribute(&value, cudaDevP2PAttrPerformanceRank, 0, 2) == kOk);
  CHECK(value == 0);
  CHECK(cudaDeviceGetP2PAttribute(&value, cudaDevP2PAttrAccessSupported, 1, 1) ==
        cudaErrorInvalidDevice);
  CHECK(cudaDeviceGetP2PAttribute(&value, static_cast<cudaDeviceP2PAttr>(9), 0, 1) ==
        cudaErrorInvalidValue);
  static_cast<void>(cudaGetLastError());
}

TEST_CASE("a machine without peer access") {
  struct Forbidden {
    Forbidden() { simt::set_peer_access(false); }
    ~Forbidden() { simt::set_peer_access(true); }
  } const forbidden;
  int value = -1;
  CHECK(cudaDeviceCanAccessPeer(&value, 0, 1) == kOk);
  CHECK(value == 0);
  CHECK(cudaDeviceGetP2PAttribute(&value, cudaDevP2PAttrNativeAtomicSupported, 0, 1) == kOk);
  CHECK(value == 0);
  CHECK(cudaDeviceEnablePeerAccess(1, 0) == cudaErrorPeerAccessUnsupported);
  static_cast<void>(cudaGetLastError());
  const auto x = on_device(1, 4, 1);
  CHECK(lacks(only_report([&] { store<<<1, 4>>>(x.data(), 2); }),
              {"cannot have peer access: copy with cudaMemcpyPeer"}) == "");
  const auto y = on_device(0, 4, 5);
  CHECK(cudaMemcpyPeer(x.data(), 1, y.data(), 0, 16) == kOk);  // needs none
  CHECK(x.front() == 5);
}

// ---- copies -------------------------------------------------------------------------------------

TEST_CASE("cudaMemcpyPeer wants the devices that the addresses belong to") {
  const auto x = on_device(0, 4, 1);
  const auto y = on_device(1, 4, 2);
  int host[4] = {};
  CHECK(cudaMemcpyPeer(y.data(), 1, x.data(), 0, 16) == kOk);
  CHECK(y.front() == 1);
  CHECK(cudaMemcpyPeer(y.data(), 0, x.data(), 0, 16) == cudaErrorInvalidValue);
  CHECK(cudaMemcpyPeer(y.data(), 1, x.data(), 1, 16) == cudaErrorInvalidValue);
  CHECK(cudaMemcpyPeer(y.data(), 2, x.data(), 0, 16) == cudaErrorInvalidDevice);
  CHECK(cudaMemcpyPeer(y.data(), 1, x.data(), -1, 16) == cudaErrorInvalidDevice);
  CHECK(cudaMemcpyPeer(host, 1, x.data(), 0, 16) == cudaErrorInvalidValue);
  static_cast<void>(cudaGetLastError());
  CHECK(only_report([&] {
          static_cast<void>(cudaMemcpyPeer(y.data(), 1, x.data(), 0, 20));
        }).kind == ReportKind::out_of_bounds);
}

TEST_CASE("cudaMemcpyPeer waits for both devices, and not for its stream alone") {
  const auto x = on_device(0, 4, 1);
  const auto y = on_device(1, 4, 1);
  const Outcome outcome = observe([&] {
    store<<<1, 4>>>(x.data(), 5);
    {
      const On on(1);
      store<<<1, 4>>>(y.data(), 6);
    }
    CHECK(cudaMemcpyPeer(x.data(), 0, y.data(), 1, 8) == kOk);  // the first half
    CHECK(x.values() == std::vector<int>{6, 6, 5, 5});
  });
  INFO(outcome.text());
  CHECK(outcome.clean());
}

TEST_CASE("a copy in a stream waits for that stream only") {
  const auto x = on_device(0, 4, 1);
  const auto y = on_device(1, 4, 1);
  const DeviceStream ours(1, cudaStreamNonBlocking);
  const Outcome outcome = observe([&] {
    store<<<1, 4>>>(x.data(), 5);
    CHECK(cudaMemcpyPeerAsync(y.data(), 1, x.data(), 0, 16, ours.handle) == kOk);
    CHECK(cudaStreamSynchronize(ours.handle) == kOk);
    CHECK(y.front() == 1);  // of before the kernel
  });
  INFO(outcome.text());
  CHECK(is_race_alone(outcome));  // which the values show
}

TEST_CASE("cudaMemcpy waits for the current device: the other's results are stale") {
  const auto x = on_device(1, 4, 1);
  int early = 0, late = 0;
  const Outcome outcome = observe([&] {
    {
      const On on(1);
      store<<<1, 4>>>(x.data(), 5);
    }
    CHECK(cudaMemcpy(&early, x.data(), 4, cudaMemcpyDeviceToHost) == kOk);
    const On on(1);
    CHECK(cudaMemcpy(&late, x.data(), 4, cudaMemcpyDeviceToHost) == kOk);
  });
  INFO(outcome.text());
  CHECK(is_race_alone(outcome));  // which the values show
  CHECK(early == 1);
  CHECK(late == 5);
}

// ---- streams and events -------------------------------------------------------------------------

TEST_CASE("cudaDeviceSynchronize waits for the current device") {
  const Pinned x(4), y(4);
  const Outcome outcome = observe([&] {
    store<<<1, 4>>>(x.data, 1);
    const On on(1);
    store<<<1, 4>>>(y.data, 1);
    CHECK(cudaDeviceSynchronize() == kOk);
    CHECK(x.data[0] == 0);
    CHECK(y.data[0] == 1);
  });
  INFO(outcome.text());
  CHECK(is_race_alone(outcome));  // which the values show
  CHECK(x.data[0] == 1);
}

TEST_CASE("a launch wants a stream of the current device; copies and memsets take any") {
  const DeviceStream stream(1);
  const auto x = on_device(1, 4, 1);
  int host = 0;
  const Outcome outcome = observe([&] {
    store<<<1, 4, 0, stream.handle>>>(x.data(), 2);
    CHECK(cudaGetLastError() == kUnknownStream);
    CHECK(cudaMemsetAsync(x.data(), 0, 16, stream.handle) == kOk);
    CHECK(cudaMemcpyAsync(&host, x.data(), 4, cudaMemcpyDeviceToHost, stream.handle) == kOk);
    CHECK(cudaStreamSynchronize(stream.handle) == kOk);
    CHECK(host == 0);
    const On on(1);
    store<<<1, 4, 0, stream.handle>>>(x.data(), 2);
    CHECK(cudaGetLastError() == kOk);
  });
  INFO(outcome.text());
  CHECK(outcome.clean());
  CHECK(x.front() == 2);
}

TEST_CASE("a memset of another device's memory needs peer access; a copy needs none") {
  const auto x = on_device(1, 4, 1);
  const int zeros[4] = {};
  Outcome outcome = observe([&] {
    CHECK(cudaMemset(x.data(), 0, 16) == cudaErrorInvalidValue);
    CHECK(cudaMemsetAsync(x.data(), 0, 16, nullptr) == cudaErrorInvalidValue);
    CHECK(cudaGetLastError() == cudaErrorInvalidValue);
  });
  REQUIRE(outcome.reports.size() == 2);
  CHECK(lacks(outcome.reports[0],
              {"MEMORY OF ANOTHER DEVICE: cudaMemset() would write 16 bytes at ",
               "They belong to device 1, and device 0 is current.",
               "Call cudaSetDevice(1) before cudaMemset, or cudaDeviceEnablePeerAccess(1, 0) while "
               "device\n  0 is current."}) == "");
  outcome = observe([&] {
    CHECK(cudaMemcpy(x.data(), zeros, 16, cudaMemcpyHostToDevice) == kOk);
    CHECK(x.front() == 0);
    REQUIRE(enable(0, 1) == kOk);
    CHECK(cudaMemset(x.data(), 1, 16) == kOk);
    CHECK(x.front() == 0x0101'0101);
    CHECK(cudaDeviceDisablePeerAccess(1) == kOk);
    const On on(1);
    CHECK(cudaMemset(x.data(), 2, 16) == kOk);
    CHECK(x.front() == 0x0202'0202);
  });
  INFO(outcome.text());
  CHECK(outcome.clean());
}

TEST_CASE("a memset of memory that all devices reach needs nothing") {
  const Pinned pinned(4);
  const Outcome outcome = observe([&] {
    const On on(1);
    CHECK(cudaMemset(pinned.data, 0, 16) == kOk);
    CHECK(pinned.data[0] == 0);
  });
  CHECK(outcome.clean());
}

TEST_CASE("kernels that wait to run are counted, of all devices") {
  const auto x = on_device(0, 4, 1), y = on_device(1, 4, 1);
  const simt::CountScope scope;
  for (int k = 0; k < 3; ++k) store<<<1, 4>>>(x.data(), k);
  {
    const On on(1);
    store<<<1, 4>>>(y.data(), 1);
  }
  CHECK(cudaDeviceSynchronize() == kOk);
  store<<<1, 4>>>(x.data(), 5);
  CHECK(scope.counters().kernels_at_once == 4);
  CHECK(scope.counters().devices_at_once == 2);
}

TEST_CASE("an event is recorded in streams of its device, and waited for by all") {
  const DeviceStream ours(0), theirs(1);
  const DeviceEvent event(0), other(1);
  const Pinned x(4), y(4);
  const Outcome outcome = observe([&] {
    CHECK(cudaEventRecord(event.handle, theirs.handle) == kUnknownStream);
    CHECK(cudaEventRecord(other.handle, nullptr) == kUnknownStream);  // of device 0
    static_cast<void>(cudaGetLastError());
    store<<<1, 4, 0, ours.handle>>>(x.data, 3);
    CHECK(cudaEventRecord(event.handle, ours.handle) == kOk);
    CHECK(cudaStreamWaitEvent(theirs.handle, event.handle) == kOk);
    const On on(1);
    copy_ints<<<1, 4, 0, theirs.handle>>>(y.data, x.data);
    CHECK(cudaStreamSynchronize(theirs.handle) == kOk);
    CHECK(y.data[3] == 3);
    CHECK(cudaEventQuery(event.handle) == kOk);
    CHECK(cudaEventSynchronize(event.handle) == kOk);
    CHECK(cudaEventRecord(other.handle, theirs.handle) == kOk);
    CHECK(cudaDeviceSynchronize() == kOk);
    float milliseconds = 0;
    CHECK(cudaEventElapsedTime(&milliseconds, event.handle, other.handle) == kUnknownStream);
    static_cast<void>(cudaGetLastError());
  });
  INFO(outcome.text());
  CHECK(outcome.clean());
}

TEST_CASE("the default stream waits for blocking streams of its device only") {
  const DeviceStream ours(0), theirs(1);
  const Pinned x(4), y(4);
  const Outcome outcome = observe([&] {
    store<<<1, 4, 0, ours.handle>>>(x.data, 3);
    {
      const On on(1);
      store<<<1, 4, 0, theirs.handle>>>(y.data, 3);
    }
    CHECK(cudaStreamSynchronize(nullptr) == kOk);
    CHECK(x.data[0] == 3);
    CHECK(y.data[0] == 0);
  });
  INFO(outcome.text());
  CHECK(is_race_alone(outcome));  // which the values show
}

TEST_CASE("an error of one device is an error of all") {
  const auto x = on_device(0, 4, 1);
  const Outcome outcome = observe([&] {
    const On on(1);
    store<<<1, 4>>>(x.data(), 3);
    CHECK(cudaDeviceSynchronize() == cudaErrorIllegalAddress);
    const On back(0);
    CHECK(cudaDeviceSynchronize() == cudaErrorIllegalAddress);
  });
  CHECK(outcome.found(ReportKind::out_of_bounds));
}

TEST_CASE("reports name the device only where several are used") {
  const auto x = on_device(0, 4, 1);
  simt::reset_device();  // which has been used so far counts no more
  const auto past_the_end = [&] { store<<<1, 32>>>(x.data(), 1); };
  CHECK(lacks(only_report(past_the_end), {" by block 0 thread 4\n"}) == "");
  CHECK(lacks(only_report([&] {
                const auto y = on_device(1, 4, 1);
                past_the_end();
                static_cast<void>(cudaDeviceSynchronize());
              }),
              {" by device 0 block 0 thread 4\n"}) == "");
}
