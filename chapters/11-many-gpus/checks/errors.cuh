// For the checks of system_counter and split_sum: what must hold after an error.
#pragma once

#include <cuda_runtime.h>

#include <course/devices.cuh>
#include <course/error.cuh>
#include <course/verdict.cuh>
#include <functional>

namespace errors {

/// Ok if `work` throws a CudaError, and leaves the device current that was so before.
inline course::Verdict throws_error(const std::function<void()>& work) {
  int before = -1, after = -1;
  CUDA_CHECK(cudaGetDevice(&before));
  try {
    work();
  } catch (const course::CudaError&) {
    CUDA_CHECK(cudaGetDevice(&after));
    for (int device = 0; device < course::device_count(); ++device) {  // they may still work
      const course::OnDevice on(device);
      static_cast<void>(cudaDeviceSynchronize());
    }
    return course::same(after, before, "the current device after the error");
  }
  return {false, "expected a course::CudaError, but no exception was thrown"};
}

}  // namespace errors
