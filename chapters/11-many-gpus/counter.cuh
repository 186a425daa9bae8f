// Can all blocks of all devices add to one number?
// Rungs: sum_one_counter with atomicAdd_system, in pinned, managed and a device's memory; and with
// atomicAdd, which is wrong. Cost: about a microsecond per atomic in host memory; 2 ns on a device.
#pragma once

#include <cuda_runtime.h>

#include <algorithm>
#include <course/devices.cuh>
#include <course/grid.cuh>
#include <course/launch.cuh>
#include <vector>

#include "parts.cuh"

/// Among which threads an atomic is atomic: those of the launching device, or those of all devices
/// and the host.
enum class Among { device, system };

/// *counter += the sum of d_x[0..n-1]: one atomic per block.
template <Among among>
__global__ void __launch_bounds__(kSumBlock)
    sum_into_counter(const float* d_x, std::size_t n, double* counter) {
  double sum = 0;
  for (std::size_t chunk = blockIdx.x; chunk * kChunk < n; chunk += gridDim.x) {
    sum += chunk_sum(d_x, n, chunk);
  }
  if (threadIdx.x != 0) return;
  if constexpr (among == Among::system) {
    atomicAdd_system(counter, sum);
  } else {
    atomicAdd(counter, sum);
  }
}

/// Adds all parts to *counter, which every device reaches, and waits for them. Throws CudaError.
template <Among among>
void sum_one_counter(const std::vector<Part>& parts, double* counter) {
  for (const Part& part : parts) {
    const course::OnDevice on(part.device);
    const unsigned blocks =
        std::min(course::blocks_for(part.share.size, kChunk), course::filling_blocks(kSumBlock));
    course::launch(sum_into_counter<among>, {blocks, kSumBlock}, part.x.data(), part.share.size,
                   counter);
  }
  wait_for(parts);
}

// ---- where is an atomic of system scope one? ----------------------------------------------------

/// True if `attribute` is 1 for the devices 0, ..., devices - 1. Throws CudaError.
inline bool all_devices_have(cudaDeviceAttr attribute, int devices) {
  for (int device = 0; device < devices; ++device) {
    int value = 0;
    CUDA_CHECK(cudaDeviceGetAttribute(&value, attribute, device));
    if (value == 0) return false;
  }
  return true;
}

/// In pinned host memory: if the link to the host carries atomics. PCIe does not, in general.
inline bool host_memory_has_atomics(int devices) {
  return devices == 1 || all_devices_have(cudaDevAttrHostNativeAtomicSupported, devices);
}

/// In managed memory: if devices may use it at the same time.
inline bool managed_memory_has_atomics(int devices) {
  return devices == 1 || all_devices_have(cudaDevAttrConcurrentManagedAccess, devices);
}

/// In memory of device `owner`: if the link between each device and that one carries atomics.
inline bool peer_memory_has_atomics(int owner, int devices) {
  for (int device = 0; device < devices; ++device) {
    if (device == owner) continue;
    int access = 0, atomics = 0;
    CUDA_CHECK(cudaDeviceCanAccessPeer(&access, device, owner));
    if (access == 0) return false;
    CUDA_CHECK(
        cudaDeviceGetP2PAttribute(&atomics, cudaDevP2PAttrNativeAtomicSupported, device, owner));
    if (atomics == 0) return false;
  }
  return true;
}

/// While one lives, kernels on the devices 0, ..., devices - 1 may use memory of device `owner`.
class PeerAccess {
 public:
  /// Throws CudaError where a device has no way to the owner: ask peer_memory_has_atomics() before.
  PeerAccess(int owner, int devices) : owner_(owner) {
    for (int device = 0; device < devices; ++device) {
      if (device == owner) continue;
      const course::OnDevice on(device);
      const cudaError_t error = cudaDeviceEnablePeerAccess(owner, 0);
      if (error == cudaErrorPeerAccessAlreadyEnabled) {
        static_cast<void>(cudaGetLastError());  // enabled before, and not ours to take away
        continue;
      }
      CUDA_CHECK(error);
      enabled_.push_back(device);
    }
  }
  ~PeerAccess() {
    int before = 0;
    static_cast<void>(cudaGetDevice(&before));
    for (const int device : enabled_) {
      static_cast<void>(cudaSetDevice(device));
      static_cast<void>(cudaDeviceDisablePeerAccess(owner_));
    }
    static_cast<void>(cudaSetDevice(before));
  }
  PeerAccess(const PeerAccess&) = delete;
  PeerAccess& operator=(const PeerAccess&) = delete;

 private:
  int owner_;
  std::vector<int> enabled_;
};
