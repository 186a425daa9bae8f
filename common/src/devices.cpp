// Several devices: which one is current, and machines of several for tests.
#include <course/device.cuh>
#include <course/devices.cuh>
#include <course/error.cuh>

#include <algorithm>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#if COURSE_CPU_DEVICE
#include <simt/testing.hpp>
#endif

namespace course {
namespace {

int current_device() {
  int device = 0;
  CUDA_CHECK(cudaGetDevice(&device));
  return device;
}

/// What OnDevice has made current.
std::vector<int> made_current;

/// The devices that may have work. A query of a GPU that has none would start it, which takes seconds
/// on a machine of several; the CPU device's cost nothing, and their number may have changed.
std::vector<int> used_devices() {
  std::vector<int> used;
  if (kCpuDevice) {
    for (int device = 0; device < device_count(); ++device) used.push_back(device);
    return used;
  }
  used = made_current;
  const int here = current_device();
  if (std::find(used.begin(), used.end(), here) == used.end()) used.push_back(here);
  return used;
}

std::string devices_there_are() {
  const int count = device_count();
  const std::string number = std::to_string(count) + (count == 1 ? " device" : " devices");
  if (kCpuDevice) {
    return "The CPU device has " + number + " here, 0 to " + std::to_string(count - 1) +
           ": SIMT_DEVICES=8 gives it eight, the most.";
  }
  return "There " + std::string(count == 1 ? "is " : "are ") + number + ", 0 to " +
         std::to_string(count - 1) + ".";
}

/// Runs `undo` when it ends.
class AtEnd {
 public:
  explicit AtEnd(std::function<void()> undo) : undo_(std::move(undo)) {}
  ~AtEnd() { undo_(); }
  AtEnd(const AtEnd&) = delete;
  AtEnd& operator=(const AtEnd&) = delete;

 private:
  std::function<void()> undo_;
};

/// Waits for the devices that may have work, and leaves one of them current. Returns the first
/// error.
cudaError_t wait_for_all() {
  cudaError_t first = cudaSuccess;
  for (const int device : used_devices()) {
    cudaError_t error = cudaSetDevice(device);
    if (error == cudaSuccess) error = cudaDeviceSynchronize();
    if (first == cudaSuccess) first = error;
  }
  return first;
}

}  // namespace

int device_count() {
  int count = 0;
  CUDA_CHECK(cudaGetDeviceCount(&count));
  return count;
}

OnDevice::OnDevice(int device) : before_(current_device()) {
  const cudaError_t error = cudaSetDevice(device);
  if (error == cudaErrorInvalidDevice) {
    static_cast<void>(cudaGetLastError());
    throw CudaError(error,
                    "there is no device " + std::to_string(device) + "\n  " + devices_there_are());
  }
  CUDA_CHECK(error);
  if (std::find(made_current.begin(), made_current.end(), device) == made_current.end()) {
    made_current.push_back(device);
  }
}

// The error is dropped: a destructor must not throw, and the device has been current before.
OnDevice::~OnDevice() { static_cast<void>(cudaSetDevice(before_)); }

namespace detail {

void synchronize_devices() {
  const int before = current_device();
  const AtEnd restore([=] { static_cast<void>(cudaSetDevice(before)); });
  check(wait_for_all(), "cudaDeviceSynchronize()", __FILE__, __LINE__);
}

}  // namespace detail

#if COURSE_CPU_DEVICE

cudaError_t detail::reset_devices() {
  const cudaError_t error = wait_for_all();
  simt::reset_device();
  return error;
}

bool with_devices(int devices, const std::function<void()>& work) {
  detail::synchronize_devices();
  const int count_before = device_count(), device_before = current_device();
  const AtEnd restore([=] {
    // Work that is left on devices to be removed would keep them.
    for (int device = count_before; device < device_count(); ++device) {
      static_cast<void>(cudaSetDevice(device));
      static_cast<void>(cudaDeviceReset());
    }
    simt::set_devices(count_before);
    static_cast<void>(cudaSetDevice(device_before));
  });
  simt::set_devices(devices);
  work();
  detail::synchronize_devices();
  return true;
}

bool detail::devices_were_missing() { return false; }

namespace {

/// Runs the work with a setting of the CPU device, which was `before`.
bool with_setting(void (*set)(bool), bool before, bool value, const std::function<void()>& work) {
  const AtEnd restore([=] { set(before); });
  set(value);
  work();
  return true;
}

}  // namespace

bool with_peer_access(bool allowed, const std::function<void()>& work) {
  return with_setting(simt::set_peer_access, simt::peer_access(), allowed, work);
}

bool with_host_atomics(bool supported, const std::function<void()>& work) {
  return with_setting(simt::set_host_atomics, simt::host_atomics(), supported, work);
}

#else

namespace {

bool missing = false;  // see devices_were_missing()

/// Ends the current device's access to the memory of all others. CUDA does not tell which of them
/// it has, and compute-sanitizer reports each refusal: there it keeps them.
void disable_peers() {
  if (skip_large()) return;
  const int here = current_device();
  for (int peer = 0; peer < device_count(); ++peer) {
    if (peer != here) static_cast<void>(cudaDeviceDisablePeerAccess(peer));
  }
  static_cast<void>(cudaGetLastError());  // most were not enabled
}

bool can_access(int device, int peer) {
  int can = 0;
  CUDA_CHECK(cudaDeviceCanAccessPeer(&can, device, peer));
  return can != 0;
}

}  // namespace

cudaError_t detail::reset_devices() {
  const cudaError_t error = wait_for_all();
  for (const int device : made_current) {
    if (cudaSetDevice(device) == cudaSuccess) disable_peers();
  }
  static_cast<void>(cudaGetLastError());
  static_cast<void>(cudaSetDevice(0));
  return error;
}

bool detail::devices_were_missing() { return missing; }

bool with_devices(int devices, const std::function<void()>& work) {
  if (devices < 1 || devices > 8) {
    throw std::invalid_argument("with_devices(" + std::to_string(devices) +
                                "): 1 to 8 devices are possible");
  }
  if (device_count() < devices) {
    missing = true;
    return false;
  }
  const int before = current_device();
  CUDA_CHECK(detail::reset_devices());
  const AtEnd restore([=] { static_cast<void>(cudaSetDevice(before)); });
  work();
  CUDA_CHECK(detail::reset_devices());
  return true;
}

bool with_peer_access(bool allowed, const std::function<void()>& work) {
  const int count = device_count();
  if (count < 2) return false;
  for (int device = 0; device < count; ++device) {
    for (int peer = 0; peer < count; ++peer) {
      if (peer != device && can_access(device, peer) != allowed) return false;
    }
  }
  work();
  return true;
}

bool with_host_atomics(bool supported, const std::function<void()>& work) {
  for (int device = 0; device < device_count(); ++device) {
    int value = 0;
    CUDA_CHECK(cudaDeviceGetAttribute(&value, cudaDevAttrHostNativeAtomicSupported, device));
    if ((value != 0) != supported) return false;
  }
  work();
  return true;
}

#endif

}  // namespace course
