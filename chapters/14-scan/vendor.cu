#include "vendor.cuh"

#include <course/collectives.cuh>
#include <course/vendor.cuh>
#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_run_length_encode.cuh>
#include <cub/device/device_scan.cuh>

course::Rung cub_scan(const float* d_x, std::size_t n, float* d_out) {
  const auto call = [=](void* memory, std::size_t& size) {
    return cub::DeviceScan::InclusiveSum(memory, size, d_x, d_out, n);
  };
  return course::cub_row("cub::DeviceScan::InclusiveSum", "CUB", call);
}

course::Rung cub_any(const Affine<unsigned>* d_x, std::size_t n, Affine<unsigned>* d_out) {
  const auto call = [=](void* memory, std::size_t& size) {
    return cub::DeviceScan::InclusiveScan(memory, size, d_x, d_out, Compose{}, n);
  };
  return course::cub_row("cub::DeviceScan::InclusiveScan", "CUB", call);
}

course::Rung cub_any(const unsigned* d_x, std::size_t n, unsigned* d_out) {
  const auto call = [=](void* memory, std::size_t& size) {
    return cub::DeviceScan::ExclusiveSum(memory, size, d_x, d_out, n);
  };
  return course::cub_row("cub::DeviceScan::ExclusiveSum", "CUB", call);
}

course::Rung cub_scan_by_key(const std::uint8_t* d_keys, const float* d_x, std::size_t n,
                             float* d_out) {
  const auto call = [=](void* memory, std::size_t& size) {
    return cub::DeviceScan::InclusiveSumByKey(memory, size, d_keys, d_x, d_out, n);
  };
  return course::cub_row("cub::DeviceScan::InclusiveSumByKey", "CUB", call);
}

course::Rung cub_encode_runs(const unsigned* d_x, std::size_t n, unsigned* d_keys,
                             unsigned* d_lengths, unsigned* d_count) {
  const auto call = [=](void* memory, std::size_t& size) {
    return cub::DeviceRunLengthEncode::Encode(memory, size, d_x, d_keys, d_lengths, d_count,
                                              static_cast<int>(n));
  };
  return course::cub_row("cub::DeviceRunLengthEncode::Encode", "CUB", call);
}

course::Rung cub_sort(const unsigned* d_keys, std::size_t n, unsigned* d_out, unsigned bits) {
  const auto call = [=](void* memory, std::size_t& size) {
    return cub::DeviceRadixSort::SortKeys(memory, size, d_keys, d_out, n, 0,
                                          static_cast<int>(bits));
  };
  return course::cub_row("cub::DeviceRadixSort::SortKeys", "CUB", call);
}
