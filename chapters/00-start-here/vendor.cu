#include "vendor.cuh"

#include <thrust/device_ptr.h>
#include <thrust/execution_policy.h>
#include <thrust/transform.h>

#include <cstddef>

namespace {

struct AddOne {
  __host__ __device__ float operator()(float x) const { return x + 1.0f; }
};

}  // namespace

course::Rung thrust_add_one(const float* d_x, std::size_t n, float* d_y) {
  const thrust::device_ptr<const float> first(d_x);
  const thrust::device_ptr<float> result(d_y);
  const auto last = first + static_cast<std::ptrdiff_t>(n);
  const auto launch = [=] {
    thrust::transform(thrust::cuda::par_nosync, first, last, result, AddOne{});
  };
  return {.name = "thrust::transform", .changed = "Thrust", .launch = launch};
}
