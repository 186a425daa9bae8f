#include "vendor.cuh"

#include <course/vendor.cuh>
#include <cub/device/device_histogram.cuh>
#include <cub/device/device_reduce.cuh>

course::Rung cub_sum(const float* d_x, std::size_t n, float* d_y) {
  const auto call = [=](void* memory, std::size_t& size) {
    return cub::DeviceReduce::Sum(memory, size, d_x, d_y, n);
  };
  return course::cub_row("cub::DeviceReduce::Sum", "CUB", call);
}

course::Rung cub_histogram(const std::uint16_t* d_values, std::size_t n, unsigned* d_bins,
                           unsigned bins) {
  const auto call = [=](void* memory, std::size_t& size) {
    const int levels = static_cast<int>(bins) + 1, end = static_cast<int>(bins);
    return cub::DeviceHistogram::HistogramEven(memory, size, d_values, d_bins, levels, 0, end, n);
  };
  return course::cub_row("cub::DeviceHistogram::HistogramEven", "CUB", call);
}
