#include "vendor.cuh"

#include <course/vendor.cuh>
#include <cub/device/device_select.cuh>

namespace {

struct IsKept {
  __host__ __device__ bool operator()(int x) const { return is_kept(x); }
};

}  // namespace

course::Rung cub_filter(const int* d_x, std::size_t n, int* d_out, Count* d_count) {
  const auto call = [=](void* memory, std::size_t& size) {
    return cub::DeviceSelect::If(memory, size, d_x, d_out, d_count, n, IsKept{});
  };
  return course::cub_row("cub::DeviceSelect::If", "CUB, keeps the order", call);
}
