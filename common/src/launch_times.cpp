#include "launch_times.hpp"

#include <cuda_runtime.h>

#include <algorithm>
#include <course/launch.cuh>
#include <utility>
#include <vector>

namespace course {
namespace {

struct Times {
  bool are_wanted = false;
  std::vector<std::pair<cudaEvent_t, cudaEvent_t>> launches;  // of a stream's device: start and end
};
Times& times() {
  static Times all;
  return all;
}

cudaEvent_t recorded_in(cudaStream_t stream) {
  cudaEvent_t event = nullptr;
  if (cudaEventCreate(&event) != cudaSuccess) return nullptr;
  if (cudaEventRecord(event, stream) == cudaSuccess) return event;
  cudaEventDestroy(event);
  return nullptr;
}

bool is_captured(cudaStream_t stream) {
  cudaStreamCaptureStatus status{};
  return cudaStreamIsCapturing(stream, &status) != cudaSuccess ||
         status != cudaStreamCaptureStatusNone;
}

}  // namespace

detail::TimedLaunch::TimedLaunch(cudaStream_t stream) : stream_(stream) {
  if (times().are_wanted && !is_captured(stream)) start_ = recorded_in(stream);
}

detail::TimedLaunch::~TimedLaunch() {
  if (start_ != nullptr) times().launches.emplace_back(start_, recorded_in(stream_));
}

void begin_launch_times() { times().are_wanted = true; }

std::optional<std::uint64_t> end_launch_times() {
  times().are_wanted = false;
  std::optional<std::uint64_t> longest;
  for (const auto& [start, end] : std::exchange(times().launches, {})) {
    float milliseconds = 0;
    if (end != nullptr && cudaEventSynchronize(end) == cudaSuccess &&
        cudaEventElapsedTime(&milliseconds, start, end) == cudaSuccess) {
      longest = std::max(longest.value_or(0), static_cast<std::uint64_t>(milliseconds * 1e6f));
    }
    cudaEventDestroy(start);
    if (end != nullptr) cudaEventDestroy(end);
  }
  return longest;
}

}  // namespace course
