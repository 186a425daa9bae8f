#include "vendor.cuh"

#include <course/vendor.cuh>
#include <cub/device/device_histogram.cuh>
#include <cub/device/device_reduce.cuh>

template <class T>
course::Rung cub_sum(const T* d_x, std::size_t n, T* d_y) {
  const auto call = [=](void* memory, std::size_t& size) {
    return cub::DeviceReduce::Sum(memory, size, d_x, d_y, n);
  };
  return course::cub_row("cub::DeviceReduce::Sum", "CUB", call);
}
template course::Rung cub_sum(const float* d_x, std::size_t n, float* d_y);
template course::Rung cub_sum(const double* d_x, std::size_t n, double* d_y);

course::Rung cub_histogram(const unsigned char* d_bytes, std::size_t n, unsigned* d_bins) {
  const auto call = [=](void* memory, std::size_t& size) {
    constexpr int kLevels = 257;  // the borders of 256 bins
    return cub::DeviceHistogram::HistogramEven(memory, size, d_bytes, d_bins, kLevels, 0, 256, n);
  };
  return course::cub_row("cub::DeviceHistogram::HistogramEven", "CUB", call);
}
