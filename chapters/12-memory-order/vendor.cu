#include "vendor.cuh"

#include <thrust/device_ptr.h>
#include <thrust/execution_policy.h>
#include <thrust/sort.h>
#include <thrust/unique.h>

#include <course/buffer.cuh>
#include <course/vendor.cuh>
#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_select.cuh>
#include <memory>

using ull = unsigned long long;

course::Rung thrust_sort_unique(ull* d_pairs, std::size_t n, std::size_t* d_count) {
  const auto launch = [=] {
    const thrust::device_ptr<ull> first(d_pairs);
    thrust::sort(thrust::device, first, first + static_cast<std::ptrdiff_t>(n));
    const auto end = thrust::unique(thrust::device, first, first + static_cast<std::ptrdiff_t>(n));
    const auto count = static_cast<std::size_t>(end - first);
    CUDA_CHECK(cudaMemcpy(d_count, &count, sizeof count, cudaMemcpyHostToDevice));
  };
  return {
      .name = "thrust::sort, thrust::unique", .changed = "Thrust, all 64 bits", .launch = launch};
}

course::Rung cub_sort_unique(const ull* d_pairs, std::size_t n, std::size_t* d_count) {
  const auto sorted = std::make_shared<course::DeviceBuffer<ull>>(n);
  const auto kept = std::make_shared<course::DeviceBuffer<ull>>(n);
  const auto sort = course::with_memory([=](void* memory, std::size_t& size) {
    return cub::DeviceRadixSort::SortKeys(memory, size, d_pairs, sorted->data(), n, 32, 64);
  });
  const auto unique = course::with_memory([=](void* memory, std::size_t& size) {
    return cub::DeviceSelect::Unique(memory, size, sorted->data(), kept->data(), d_count, n);
  });
  const auto launch = [=] {
    sort();
    unique();
  };
  return {.name = "cub::DeviceRadixSort, DeviceSelect::Unique",
          .changed = "CUB, the 32 bits of the key, its memory allocated before",
          .launch = launch};
}
