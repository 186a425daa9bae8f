// For the checks of system_counter and split_sum: what must hold after a call, and after an error.
#pragma once

#include <cuda_runtime.h>

#include <catch2/catch_test_macros.hpp>
#include <course/device.cuh>
#include <course/devices.cuh>
#include <course/error.cuh>
#include <course/host_calls.cuh>
#include <course/verdict.cuh>
#include <cstdint>
#include <exception>
#include <functional>
#include <string>

namespace error_checks {

/// Checks that `work` leaves the device current that was so before, whichever it is. `call` is what `work` calls.
inline void check_current_device(const std::string& call, const std::function<void()>& work) {
  for (const int before : {0, 1}) {
    const course::OnDevice on(before);
    work();
    int after = -1;
    CUDA_CHECK(cudaGetDevice(&after));
    INFO("device " << before << " was current before " << call);
    REQUIRE(course::same(after, before, "the current device afterwards"));
  }
}

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
  } catch (const std::exception& other) {
    return {false,
            std::string("expected a course::CudaError, found another exception: ") + other.what()};
  }
  return {false, "expected a course::CudaError, but no exception was thrown"};
}

/// Lets the CUDA calls of `work` fail one after the other, on the CPU device: ok if each is thrown as a CudaError, or `work`
/// returns that its result is right all the same, and if the device that was current before is current after each error.
inline course::Verdict tells_errors(const std::function<course::Verdict()>& work) {
  for (std::uint64_t number = 1;; ++number) {
    course::Verdict verdict;
    std::string place;
    // An answer may leave its kernels at work when it throws: their findings are no matter of this test.
    static_cast<void>(course::find_races([&] {
      int before = -1, after = -1;
      CUDA_CHECK(cudaGetDevice(&before));
      bool threw = false;
      course::Verdict result;
      const auto failed = course::with_failing_call(number, cudaErrorUnknown, [&] {
        try {
          result = work();
        } catch (const course::CudaError&) {
          threw = true;
        }
      });
      place = failed.value_or("");
      CUDA_CHECK(cudaGetDevice(&after));
      if (threw) {
        verdict = course::same(after, before,
                               "the current device after an error of the CUDA call at " + place);
      } else if (!result) {
        verdict = {false, "expected a course::CudaError for the CUDA call at " + place +
                              ", which failed on purpose, but no exception was thrown\n" +
                              result.text};
      }
      for (int device = 0; device < course::device_count(); ++device) {  // they may still work
        CUDA_CHECK(cudaSetDevice(device));
        static_cast<void>(cudaDeviceSynchronize());
      }
      CUDA_CHECK(cudaSetDevice(before));
    }));
    if (place.empty() || !verdict) return verdict;
  }
}

}  // namespace error_checks
