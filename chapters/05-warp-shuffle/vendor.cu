#include "vendor.cuh"

#include <thrust/device_ptr.h>
#include <thrust/execution_policy.h>
#include <thrust/reduce.h>

#include <course/vendor.cuh>
#include <cub/cub.cuh>
#include <cuda/std/functional>

namespace {

template <class T>
course::Rung cub_sum_of(const T* d_x, std::size_t n, T* d_y) {
  const auto call = [=](void* memory, std::size_t& size) {
    return cub::DeviceReduce::Sum(memory, size, d_x, d_y, n);
  };
  return course::cub_row("cub::DeviceReduce::Sum", "CUB", call);
}

struct ToFloat {
  __host__ __device__ float operator()(__half value) const { return __half2float(value); }
};

}  // namespace

course::Rung cub_sum(const float* d_x, std::size_t n, float* d_y) {
  return cub_sum_of(d_x, n, d_y);
}

course::Rung cub_sum(const double* d_x, std::size_t n, double* d_y) {
  return cub_sum_of(d_x, n, d_y);
}

course::Rung cub_sum(const int* d_x, std::size_t n, int* d_y) { return cub_sum_of(d_x, n, d_y); }

course::Rung cub_sum_as_float(const __half* d_x, std::size_t n, float* d_y) {
  const auto call = [=](void* memory, std::size_t& size) {
    return cub::DeviceReduce::TransformReduce(memory, size, d_x, d_y, n, cuda::std::plus<>{},
                                              ToFloat{}, 0.0f);
  };
  return course::cub_row("cub::DeviceReduce::TransformReduce", "CUB, in float", call);
}

course::Rung thrust_sum(const float* d_x, std::size_t n, float* y) {
  const thrust::device_ptr<const float> first(d_x);
  const auto launch = [=] {
    *y = thrust::reduce(thrust::device, first, first + static_cast<std::ptrdiff_t>(n), 0.0f);
  };
  return {
      .name = "thrust::reduce", .changed = "Thrust; brings the sum to the host", .launch = launch};
}
