// How do devices sum without the host in between, and every one gets the result?
// Rung: sum_nccl. NCCL finds the links, and moves the data over them.
// Cost: some 10 microseconds for one number; for large vectors the speed of the links.
#pragma once

#include <cuda_runtime.h>

#include <nccl.h>

#include <chrono>
#include <course/devices.cuh>
#include <course/host_memory.cuh>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "parts.cuh"

/// Throws std::runtime_error unless an NCCL call succeeded: which one, and what NCCL says of it.
inline void nccl_check(ncclResult_t result, const char* call) {
  if (result == ncclSuccess) return;
  throw std::runtime_error(std::string(call) + ": " + ncclGetErrorString(result) +
                           "\n  last message: " + ncclGetLastError(nullptr) +
                           "\n  try: NCCL_DEBUG=WARN in the environment tells more");
}
#define NCCL_CHECK(call) nccl_check((call), #call)

/// NCCL's communicators of the devices 0, ..., devices - 1, all in this process.
class NcclTeam {
 public:
  /// Throws std::runtime_error if NCCL finds no way between them. Takes half a second.
  explicit NcclTeam(int devices) : comms_(static_cast<std::size_t>(devices)) {
    NCCL_CHECK(ncclCommInitAll(comms_.data(), devices, nullptr));
  }
  ~NcclTeam() {
    for (const ncclComm_t comm : comms_) static_cast<void>(ncclCommDestroy(comm));
  }
  NcclTeam(const NcclTeam&) = delete;
  NcclTeam& operator=(const NcclTeam&) = delete;

  int devices() const { return static_cast<int>(comms_.size()); }
  ncclComm_t comm(int device) const { return comms_[static_cast<std::size_t>(device)]; }

  /// Waits for stream i of device i, for all i. A collective that lacks a partner never ends: after
  /// `seconds` this ends it, says which devices were still waiting, and throws std::runtime_error.
  /// The team cannot be used after that.
  void wait(const std::vector<cudaStream_t>& streams, double seconds = 20) {
    const auto start = std::chrono::steady_clock::now();
    for (;;) {
      const std::string waiting = who_waits(streams);
      if (waiting.empty()) return;
      const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - start;
      if (passed.count() > seconds) {
        abort();  // else cudaFree would wait for a kernel that never ends
        throw std::runtime_error("the collective has not ended after " + std::to_string(seconds) +
                                 " s; still waiting: device" + waiting +
                                 "\n  try: does every device call it, with the same length?");
      }
    }
  }

 private:
  /// Ends what is running, half a second a device.
  void abort() {
    for (const ncclComm_t comm : std::exchange(comms_, {})) {
      static_cast<void>(ncclCommAbort(comm));
    }
  }

  /// " 0 1": the devices whose stream has work left. Throws what NCCL or CUDA found wrong.
  std::string who_waits(const std::vector<cudaStream_t>& streams) {
    std::string waiting;
    for (int device = 0; device < devices(); ++device) {
      const course::OnDevice on(device);
      ncclResult_t state = ncclSuccess;
      NCCL_CHECK(ncclCommGetAsyncError(comm(device), &state));
      if (state != ncclSuccess) abort();
      NCCL_CHECK(state);
      const cudaError_t error = cudaStreamQuery(streams[static_cast<std::size_t>(device)]);
      if (error == cudaErrorNotReady) {
        waiting += " " + std::to_string(device);
      } else {
        CUDA_CHECK(error);
      }
    }
    return waiting;
  }

  std::vector<ncclComm_t> comms_;
};

/// Sums the devices' sums that kernels before this call write: on every device, and returned.
/// One thread makes the calls of all devices, so they are a group: NCCL would wait in the first one
/// for the others. Throws CudaError, std::runtime_error.
inline double all_reduce_sums(std::vector<Part>& parts, NcclTeam& team,
                              course::PinnedBuffer<double>& sum) {
  NCCL_CHECK(ncclGroupStart());
  for (Part& part : parts) {
    NCCL_CHECK(ncclAllReduce(part.sum.data(), part.sum.data(), 1, ncclDouble, ncclSum,
                             team.comm(part.device), nullptr));
  }
  NCCL_CHECK(ncclGroupEnd());
  const course::OnDevice on(0);
  CUDA_CHECK(cudaMemcpyAsync(sum.data(), parts[0].sum.data(), sizeof(double),
                             cudaMemcpyDeviceToHost, nullptr));
  team.wait(std::vector<cudaStream_t>(parts.size(), nullptr));
  return sum[0];
}

/// The sum of all parts, on every device and on the host. Throws CudaError, std::runtime_error.
inline double sum_nccl(std::vector<Part>& parts, NcclTeam& team,
                       course::PinnedBuffer<double>& sum) {
  for (Part& part : parts) {
    const course::OnDevice on(part.device);
    local_sum(part.x.data(), part.share.size, part.sum.data(), part.chunks.data(), nullptr);
  }
  return all_reduce_sums(parts, team, sum);
}
