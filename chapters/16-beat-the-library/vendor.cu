#include "vendor.cuh"

#include <course/vendor.cuh>
#include <cub/device/device_histogram.cuh>
#include <cub/device/device_reduce.cuh>
#include <cub/device/device_select.cuh>

namespace {

struct IsPositive {
  __host__ __device__ bool operator()(int x) const { return x > 0; }
};

}  // namespace

course::Rung cub_sum(const float* d_x, std::size_t n, float* d_y) {
  const auto call = [=](void* memory, std::size_t& size) {
    return cub::DeviceReduce::Sum(memory, size, d_x, d_y, n);
  };
  return course::cub_row("cub::DeviceReduce::Sum", "CUB", call);
}

course::Rung cub_histogram(const unsigned char* d_bytes, std::size_t n, unsigned* d_bins) {
  const auto call = [=](void* memory, std::size_t& size) {
    constexpr int kLevels = 257;  // the borders of 256 bins
    return cub::DeviceHistogram::HistogramEven(memory, size, d_bytes, d_bins, kLevels, 0, 256, n);
  };
  return course::cub_row("cub::DeviceHistogram::HistogramEven", "CUB", call);
}

course::Rung cub_filter(const int* d_x, std::size_t n, int* d_out, unsigned long long* d_count) {
  const auto call = [=](void* memory, std::size_t& size) {
    return cub::DeviceSelect::If(memory, size, d_x, d_out, d_count, n, IsPositive{});
  };
  return course::cub_row("cub::DeviceSelect::If", "CUB", call);
}
