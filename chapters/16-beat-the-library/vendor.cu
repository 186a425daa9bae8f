#include "vendor.cuh"

#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/transform_iterator.h>

#include <course/merge.cuh>
#include <course/vendor.cuh>
#include <cub/device/device_for.cuh>
#include <cub/device/device_histogram.cuh>
#include <cub/device/device_reduce.cuh>
#include <cub/device/device_scan.cuh>
#include <cub/device/device_segmented_reduce.cuh>
#include <cub/device/device_select.cuh>
#include <memory>

namespace {

struct IsPositive {
  __host__ __device__ bool operator()(int x) const { return x > 0; }
};

/// Where row r begins.
struct BeginOfRow {
  std::size_t width;
  __host__ __device__ std::size_t operator()(std::size_t r) const { return r * width; }
};

struct ToMaxSum {
  __host__ __device__ course::MaxSum operator()(float x) const { return course::max_sum_of(x); }
};

/// Element i of the softmax, of the (maximum, sum) of its row.
struct Quotient {
  const float* d_x;
  const course::MaxSum* d_rows;
  std::size_t width;
  float* d_y;
  __device__ void operator()(std::size_t i) const {
    const course::MaxSum row = d_rows[i / width];
    d_y[i] = course::fast_exp(d_x[i] - row.max) / row.sum;
  }
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

course::Rung cub_scan(const float* d_x, std::size_t n, float* d_out) {
  const auto call = [=](void* memory, std::size_t& size) {
    return cub::DeviceScan::InclusiveSum(memory, size, d_x, d_out, n);
  };
  return course::cub_row("cub::DeviceScan::InclusiveSum", "CUB", call);
}

course::Rung cub_softmax(const float* d_x, std::size_t rows, std::size_t width, float* d_y) {
  const auto begin = thrust::make_transform_iterator(thrust::make_counting_iterator(std::size_t{0}),
                                                     BeginOfRow{width});
  const auto pairs = thrust::make_transform_iterator(d_x, ToMaxSum{});
  const auto of_rows = std::make_shared<course::DeviceBuffer<course::MaxSum>>(rows);
  const auto call = [=](void* memory, std::size_t& size) {
    const cudaError_t code = cub::DeviceSegmentedReduce::Reduce(
        memory, size, pairs, of_rows->data(), static_cast<long long>(rows), begin, begin + 1,
        course::MergeMaxSum{}, course::MaxSum{});
    if (memory == nullptr || code != cudaSuccess) return code;
    return cub::DeviceFor::Bulk(rows * width, Quotient{d_x, of_rows->data(), width, d_y});
  };
  return course::cub_row("cub::DeviceSegmentedReduce::Reduce", "CUB, then DeviceFor::Bulk", call);
}
