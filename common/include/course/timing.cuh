// Clocks: events for the GPU's work, the host's clock for the host's. The ladders use them; chapter
// 01 (01-global-atomic) explains what a row of times says.
//
// Example (common/tests/examples_test.cu):
//
//   const course::Quantiles times =
//       course::sample_microseconds([&] { d_count.fill_bytes(0); },  // before each launch
//                                   [&] { count_up<<<1, 32>>>(d_count.data()); });  // is timed
#pragma once

#include <course/error.cuh>

#include <chrono>
#include <cstddef>
#include <functional>
#include <vector>

namespace course {

/// Measures what a stream does between start() and stop(), on the device's own clock: the work of
/// the kernels, not the time the host takes to launch them.
class EventTimer {
 public:
  EventTimer() {
    CUDA_CHECK(cudaEventCreate(&start_));
    const cudaError_t error = cudaEventCreate(&stop_);
    if (error != cudaSuccess) static_cast<void>(cudaEventDestroy(start_));
    CUDA_CHECK(error);
  }
  ~EventTimer() {
    static_cast<void>(cudaEventDestroy(start_));
    static_cast<void>(cudaEventDestroy(stop_));
  }
  EventTimer(const EventTimer&) = delete;
  EventTimer& operator=(const EventTimer&) = delete;

  void start(cudaStream_t stream = nullptr) { CUDA_CHECK(cudaEventRecord(start_, stream)); }
  void stop(cudaStream_t stream = nullptr) { CUDA_CHECK(cudaEventRecord(stop_, stream)); }
  /// Waits for stop(), then tells the time since start(). Resolution: about half a microsecond.
  double microseconds() {
    CUDA_CHECK(cudaEventSynchronize(stop_));
    float milliseconds = 0;
    CUDA_CHECK(cudaEventElapsedTime(&milliseconds, start_, stop_));
    return 1e3 * static_cast<double>(milliseconds);
  }

 private:
  cudaEvent_t start_{}, stop_{};
};

/// Measures host code, in microseconds. A kernel launch returns before the kernel has run:
/// synchronise before reading the time.
class HostTimer {
 public:
  double microseconds() const {
    const auto now = std::chrono::steady_clock::now();
    return std::chrono::duration<double, std::micro>(now - start_).count();
  }

 private:
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

/// Where a tenth, half and nine tenths of the samples lie. The median ignores the odd slow run
/// that spoils a mean; p10 and p90 say how much to believe it.
struct Quantiles {
  double p10 = 0, median = 0, p90 = 0;
  std::size_t samples = 0;
};
/// Interpolates linearly between the sorted samples. Throws std::invalid_argument without samples.
Quantiles quantiles(std::vector<double> samples);

struct SampleOptions {
  int warm_up = 3;       // launches before the first sample
  int samples = 20;      // at least 20
  bool scrub_l2 = true;  // start every sample with nothing of the data in the L2 cache
};

/// Times `launch` alone, in microseconds, in the default stream. Before each launch, outside the
/// timed region: `reset` (may be empty) and, if asked for, a write of twice the L2's size.
/// Throws std::invalid_argument for fewer than 20 samples.
Quantiles sample_microseconds(const std::function<void()>& reset,
                              const std::function<void()>& launch, SampleOptions options = {});

/// Bytes read and written per second by a large cudaMemcpy on the device, in GB/s (10^9): the
/// ceiling that kernels are compared with. Takes about 0.1 s and up to 1 GiB of memory.
double copy_bandwidth();

}  // namespace course
