// Several devices: which one is current, and machines of another number of them.
#include <course/check.cuh>
#include <course/devices.cuh>

#include <catch2/catch_test_macros.hpp>
#include <stdexcept>
#include <string>

using course::DeviceBuffer;
using course::OnDevice;

namespace {

__global__ void set_to(int* d_x, int value) { *d_x = value; }

int current_device() {
  int device = -1;
  CUDA_CHECK(cudaGetDevice(&device));
  return device;
}

bool can_access(int device, int peer) {
  int can = -1;
  CUDA_CHECK(cudaDeviceCanAccessPeer(&can, device, peer));
  return can == 1;
}

}  // namespace

TEST_CASE("OnDevice makes a device current, and the one before again") {
  course::skip_without_devices(2);
  {
    const OnDevice one(1);
    CHECK(current_device() == 1);
    {
      const OnDevice zero(0);
      CHECK(current_device() == 0);
    }
    CHECK(current_device() == 1);
    DeviceBuffer<int> d_x(1);
    set_to<<<1, 1>>>(d_x.data(), 7);
    CUDA_CHECK_LAUNCH();
    CHECK(d_x.front() == 7);
  }
  CHECK(current_device() == 0);
}

TEST_CASE("OnDevice says how many devices there are, if one is missing") {
  const int count = course::device_count();
  REQUIRE(count >= 1);
  std::string text;
  try {
    const OnDevice missing(count);
  } catch (const course::CudaError& error) {
    CHECK(error.code() == cudaErrorInvalidDevice);
    text = error.what();
  }
  INFO(text);
  CHECK(text.find("there is no device " + std::to_string(count)) != std::string::npos);
  CHECK(text.find(std::to_string(count) + (count == 1 ? " device" : " devices")) !=
        std::string::npos);
  CHECK((text.find("SIMT_DEVICES") != std::string::npos) == course::kCpuDevice);
  CHECK(cudaGetLastError() == cudaSuccess);
  CHECK(current_device() == 0);
}

TEST_CASE("with_devices runs on so many, or says that it has not") {
  const int before = course::device_count();
  for (const int devices : {1, 2, 4, 8}) {
    int seen = 0;
    const bool ran = course::with_devices(devices, [&] {
      seen = course::device_count();
      for (int device = 0; device < devices; ++device) {
        const OnDevice on(device);
        DeviceBuffer<int> d_x(1);
        set_to<<<1, 1>>>(d_x.data(), device);
        CUDA_CHECK_LAUNCH();
        CHECK(d_x.front() == device);
      }
    });
    CHECK(ran == (course::kCpuDevice || before >= devices));
    if (course::kCpuDevice) CHECK(seen == devices);
    CHECK(course::device_count() == before);
  }
  CHECK_THROWS_AS(course::with_devices(0, [] {}), std::invalid_argument);
  CHECK_THROWS_AS(course::with_devices(9, [] {}), std::invalid_argument);
  CHECK(course::device_count() == before);
}

TEST_CASE("with_devices gives the number back when the work throws, or does not free its memory") {
  const int before = course::device_count();
  int* d_lost = nullptr;
  const auto work = [&] {
    const OnDevice last(course::device_count() - 1);
    CUDA_CHECK(cudaMalloc(&d_lost, 4));
    throw std::runtime_error("enough");
  };
  if (!course::kCpuDevice) SKIP("memory of a GPU would be lost");
  CHECK_THROWS_AS(course::with_devices(4, work), std::runtime_error);
  CHECK(course::device_count() == before);
  CHECK(current_device() == 0);
}

TEST_CASE("with_devices waits for all devices") {
  course::skip_without_devices(2);
  DeviceBuffer<int> d_x(1);
  int* h_x = nullptr;
  CUDA_CHECK(cudaMallocHost(&h_x, sizeof(int)));
  *h_x = 0;
  CHECK(course::with_devices(2, [&] {
    const OnDevice on(1);
    set_to<<<1, 1>>>(h_x, 5);
    CUDA_CHECK_LAUNCH();
  }));
  CHECK(*h_x == 5);
  CUDA_CHECK(cudaFreeHost(h_x));
}

TEST_CASE("with_devices throws the error of a kernel that the work has not waited for") {
  course::skip_without_checker();  // and a GPU would be lost
  const course::Findings findings = course::find_races([] {
    const auto work = [] {
      const OnDevice on(1);
      set_to<<<1, 1>>>(nullptr, 5);
    };
    CHECK_THROWS_AS(course::with_devices(2, work), course::CudaError);
  });
  CHECK(findings.others == 1);
}

TEST_CASE("with_peer_access runs on a machine that has it, or has it not") {
  course::skip_without_devices(2);
  const bool before = can_access(0, 1);
  for (const bool allowed : {true, false}) {
    bool can = !allowed;
    const bool ran = course::with_peer_access(allowed, [&] { can = can_access(0, 1); });
    if (course::kCpuDevice) CHECK(ran);
    if (ran) CHECK(can == allowed);
  }
  if (!course::kCpuDevice) return;
  CHECK_THROWS_AS(course::with_peer_access(false, [] { throw std::runtime_error("enough"); }),
                  std::runtime_error);
  CHECK(can_access(0, 1) == before);
}

TEST_CASE("find_races waits for all devices, and tells of races of two") {
  course::skip_without_devices(2);
  course::skip_without_checker();
  int* h_x = nullptr;
  CUDA_CHECK(cudaMallocHost(&h_x, sizeof(int)));
  const course::Findings findings = course::find_races([&] {
    for (const int device : {0, 1}) {
      const OnDevice on(device);
      set_to<<<1, 1>>>(h_x, device);
      CUDA_CHECK_LAUNCH();
    }
  });
  CHECK(findings.races == 1);
  CHECK(findings.others == 0);
  CUDA_CHECK(cudaFreeHost(h_x));
}

TEST_CASE("memory of another device is called by the line that made its DeviceBuffer") {
  course::skip_without_devices(2);
  course::skip_without_checker();
  int line = 0;
  const course::Findings findings = course::find_races([&] {
    line = __LINE__ + 1;
    const auto d_x = DeviceBuffer<int>::zeros(1);
    const OnDevice on(1);
    set_to<<<1, 1>>>(const_cast<int*>(d_x.data()), 1);
    CUDA_CHECK_LAUNCH();
    CUDA_CHECK(cudaDeviceSynchronize());
  });
  REQUIRE(findings.others == 1);
  INFO(findings.texts.front());
  CHECK(findings.texts.front().find("belongs to device 0 (allocated at common/tests/"
                                    "devices_test.cu:" +
                                    std::to_string(line) + ")") != std::string::npos);
}

namespace {
/// Two tests that leave another device current, each for the other.
void leave_device_1() {
  CHECK(current_device() == 0);
  CUDA_CHECK(cudaSetDevice(1));
  CUDA_CHECK(cudaDeviceEnablePeerAccess(0, 0));  // refused if the other test's is still on
}
}  // namespace

TEST_CASE("a test begins on device 0, without peer access") {
  course::skip_without_devices(2);
  if (!can_access(1, 0)) SKIP("these GPUs have no peer access");
  const OnDevice on(1);  // the course knows of it: on a GPU, it resets what it knows
  CUDA_CHECK(cudaSetDevice(0));
  leave_device_1();
}
TEST_CASE("and so does the next one") {
  course::skip_without_devices(2);
  if (!can_access(1, 0)) SKIP("these GPUs have no peer access");
  leave_device_1();
}
