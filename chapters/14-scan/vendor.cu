#include "vendor.cuh"

#include <course/vendor.cuh>
#include <cub/device/device_scan.cuh>

course::Rung cub_scan(const float* d_x, std::size_t n, float* d_out) {
  const auto call = [=](void* memory, std::size_t& size) {
    return cub::DeviceScan::InclusiveSum(memory, size, d_x, d_out, n);
  };
  return course::cub_row("cub::DeviceScan::InclusiveSum", "CUB", call);
}
