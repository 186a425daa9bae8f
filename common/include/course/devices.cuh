// Several devices: the same calls for several GPUs and for those of the course's CPU device.
// Chapter 11 (11-many-gpus) explains them.
//
// Example (common/tests/examples_test.cu):
//
//   const course::OnDevice on(1);
//   auto d_count = course::DeviceBuffer<int>::zeros(1);  // memory of device 1
//   count_up<<<1, 32>>>(d_count.data());                 // runs on device 1
//   CUDA_CHECK_LAUNCH();
#pragma once

#include <cuda_runtime.h>

#include <functional>

namespace course {

/// How many devices there are. Throws CudaError.
int device_count();

/// Makes `device` current as long as it lives, and then the one that was current before.
///   { const course::OnDevice on(1); kernel<<<grid, block>>>(d_x); }
class OnDevice {
 public:
  /// Throws CudaError for a device that is missing: the message says how many there are.
  explicit OnDevice(int device);
  ~OnDevice();
  OnDevice(const OnDevice&) = delete;
  OnDevice& operator=(const OnDevice&) = delete;

 private:
  int before_ = 0;
};

/// Runs `work` on a machine of `devices` devices, 1 to 8. The CPU device becomes one of exactly
/// that many, and has its own number again afterwards, also when `work` throws. On GPUs `work` runs
/// if there are at least that many; false if it has not run. Waits for the devices before and after.
/// `work` begins on device 0, without peer access. std::invalid_argument for another number.
bool with_devices(int devices, const std::function<void()>& work);

/// Runs `work` on a machine whose devices can access each other's memory, or cannot. The CPU device
/// becomes such a machine, and what it was afterwards, also when `work` throws. On GPUs `work` runs
/// if that is so for all pairs of them; false if it has not run, as with a single GPU.
bool with_peer_access(bool allowed, const std::function<void()>& work);

/// Runs `work` on a machine whose link to the host carries atomics, or does not. The CPU device
/// becomes such a machine, and what it was afterwards, also when `work` throws. On GPUs `work` runs
/// if that is so for all of them; false if it has not run.
bool with_host_atomics(bool supported, const std::function<void()>& work);

namespace detail {
/// True once with_devices() has not run something, because there are too few GPUs.
bool devices_were_missing();
/// Waits for all devices that the program has used. Throws CudaError.
void synchronize_devices();
/// Waits for them, too, ends all peer access and makes device 0 current. The CPU device forgets
/// its sticky error. Returns the first error of the devices.
cudaError_t reset_devices();
}  // namespace detail

}  // namespace course
