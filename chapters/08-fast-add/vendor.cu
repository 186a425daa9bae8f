#include "vendor.cuh"

#include <course/vendor.cuh>
#include <cub/device/device_radix_sort.cuh>

std::function<void()> cub_sort_updates(const int* d_index, const __half* d_values, std::size_t n,
                                       int index_bits, int* d_sorted_index,
                                       __half* d_sorted_values) {
  return course::with_memory([=](void* memory, std::size_t& size) {
    return cub::DeviceRadixSort::SortPairs(memory, size, d_index, d_sorted_index, d_values,
                                           d_sorted_values, n, 0, index_bits);
  });
}
