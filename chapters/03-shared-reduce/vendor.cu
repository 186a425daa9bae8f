#include "vendor.cuh"

#include <course/vendor.cuh>
#include <cub/device/device_histogram.cuh>
#include <cub/device/device_reduce.cuh>

template <class T>
std::function<void()> cub_sum(const T* d_x, std::size_t n, T* d_y) {
  return course::with_memory([=](void* memory, std::size_t& size) {
    return cub::DeviceReduce::Sum(memory, size, d_x, d_y, n);
  });
}
template std::function<void()> cub_sum(const float* d_x, std::size_t n, float* d_y);
template std::function<void()> cub_sum(const double* d_x, std::size_t n, double* d_y);

std::function<void()> cub_histogram(const unsigned char* d_bytes, std::size_t n, unsigned* d_bins) {
  return course::with_memory([=](void* memory, std::size_t& size) {
    constexpr int kLevels = 257;  // the borders of 256 bins
    return cub::DeviceHistogram::HistogramEven(memory, size, d_bytes, d_bins, kLevels, 0, 256, n);
  });
}
