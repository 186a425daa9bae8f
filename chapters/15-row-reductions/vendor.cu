#include "vendor.cuh"

#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/transform_iterator.h>

#include <course/vendor.cuh>
#include <cub/device/device_segmented_reduce.cuh>

namespace {

/// Where row r begins.
struct BeginOfRow {
  std::size_t width;
  __host__ __device__ std::size_t operator()(std::size_t r) const { return r * width; }
};

}  // namespace

course::Rung cub_row_sums(const float* d_x, std::size_t rows, std::size_t width, float* d_y) {
  const auto begin = thrust::make_transform_iterator(thrust::make_counting_iterator(std::size_t{0}),
                                                     BeginOfRow{width});
  const auto call = [=](void* memory, std::size_t& size) {
    const auto segments = static_cast<long long>(rows);
    return cub::DeviceSegmentedReduce::Sum(memory, size, d_x, d_y, segments, begin, begin + 1);
  };
  return course::cub_row("cub::DeviceSegmentedReduce::Sum", "CUB", call);
}
