// How many blocks? One for each part of the work (chapter 01, 01-global-atomic), or as many as are
// resident at the same time (chapter 03, 03-shared-reduce: grid-stride loops).
//
// Example (common/tests/examples_test.cu):
//
//   const std::size_t n = 1000;
//   const unsigned one_thread_per_element = course::blocks_for(n, 256);  // 4
//   const unsigned for_a_grid_stride_loop = course::resident_blocks(scale, 256);
//   const unsigned for_any_kernel = course::filling_blocks_for<256>(n);  // at most 4
//   const unsigned one_per_sm = course::sm_count();
#pragma once

#include <course/error.cuh>

#include <algorithm>
#include <cstddef>

namespace course {

/// Blocks for n elements, if a block takes `per_block` of them; the last one may get fewer. n == 0
/// gives 0, which is no legal grid: launchers return before.
constexpr unsigned blocks_for(std::size_t n, std::size_t per_block) {
  return static_cast<unsigned>((n + per_block - 1) / per_block);
}

/// An attribute of the current device. Asks the driver. Throws CudaError.
inline unsigned device_attribute(cudaDeviceAttr attribute) {
  int device = 0, value = 0;
  CUDA_CHECK(cudaGetDevice(&device));
  CUDA_CHECK(cudaDeviceGetAttribute(&value, attribute, device));
  return static_cast<unsigned>(value);
}

/// SMs (streaming multiprocessors) of the current device. Throws CudaError.
inline unsigned sm_count() { return device_attribute(cudaDevAttrMultiProcessorCount); }

/// Blocks of `block_size` threads that hold as many threads as the device does, whatever the
/// kernel. Asks the driver, so a launcher keeps the answer. Throws CudaError.
inline unsigned filling_blocks(unsigned block_size) {
  return sm_count() * (device_attribute(cudaDevAttrMaxThreadsPerMultiProcessor) / block_size);
}

/// Blocks of `block_size` threads for a grid-stride loop over n elements, whatever the kernel: as
/// many threads as the device that asks first holds, but no more than n need. Throws CudaError.
template <unsigned block_size>
unsigned filling_blocks_for(std::size_t n) {
  static const unsigned most = filling_blocks(block_size);
  return static_cast<unsigned>(std::min<std::size_t>((n + block_size - 1) / block_size, most));
}

/// True if a block of this device can have so many bytes of shared memory. Throws CudaError.
inline bool allows_shared_bytes(std::size_t bytes) {
  return bytes <= device_attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin);
}

/// Lets a kernel have so many bytes of dynamic shared memory: with its variables, more than 48 KiB
/// must be asked for. Throws CudaError.
template <class Kernel>
void raise_shared_limit(Kernel* kernel, std::size_t bytes) {
  CUDA_CHECK(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                  static_cast<int>(bytes)));
}

/// Blocks of `block_size` threads of this kernel that are resident at the same time: those that fit
/// on one SM, times the number of SMs; this ratio of threads to the most that an SM can hold is the
/// kernel's occupancy. Each block has `shared_bytes` of dynamic shared memory, for which the kernel's
/// limit is raised. Asks the driver, so a launcher keeps the answer. Throws CudaError.
template <class Kernel>
unsigned resident_blocks(Kernel* kernel, unsigned block_size, std::size_t shared_bytes = 0) {
  if (shared_bytes > 0) raise_shared_limit(kernel, shared_bytes);
  int blocks = 0;
  CUDA_CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(
      &blocks, kernel, static_cast<int>(block_size), shared_bytes));
  const unsigned resident = static_cast<unsigned>(blocks) * sm_count();
  return resident > 0 ? resident : 1;
}

namespace detail {
/// Clusters of this kernel that are resident at the same time, perhaps none. Throws CudaError.
template <class Kernel>
int active_clusters(Kernel* kernel, unsigned block_size, unsigned cluster,
                    std::size_t shared_bytes) {
  if (shared_bytes > 0) raise_shared_limit(kernel, shared_bytes);
  int clusters = 0;
#if COURSE_CPU_DEVICE  // no SM of it is apart
  clusters = static_cast<int>(resident_blocks(kernel, block_size, shared_bytes) / cluster);
#else
  cudaLaunchAttribute attribute{};
  attribute.id = cudaLaunchAttributeClusterDimension;
  attribute.val.clusterDim.x = cluster;
  attribute.val.clusterDim.y = attribute.val.clusterDim.z = 1;
  cudaLaunchConfig_t config{};
  config.gridDim = dim3(cluster);
  config.blockDim = dim3(block_size);
  config.dynamicSmemBytes = shared_bytes;
  config.attrs = &attribute;
  config.numAttrs = 1;
  CUDA_CHECK(cudaOccupancyMaxActiveClusters(&clusters, kernel, &config));
#endif
  return clusters;
}
}  // namespace detail

/// The same in clusters of so many blocks: clusters that are resident at the same time. They are fewer than
/// resident_blocks() / cluster where the SMs of a part of the GPU are no multiple of a cluster. Throws CudaError.
template <class Kernel>
unsigned resident_clusters(Kernel* kernel, unsigned block_size, unsigned cluster,
                           std::size_t shared_bytes = 0) {
  if (cluster == 1) return resident_blocks(kernel, block_size, shared_bytes);
  const int clusters = detail::active_clusters(kernel, block_size, cluster, shared_bytes);
  return clusters > 0 ? static_cast<unsigned>(clusters) : 1;
}

/// True if the current device runs this kernel in clusters of 16 blocks, which it is then allowed to. A GPU may have no
/// clusters of more than eight blocks; the CPU device has none. Throws CudaError.
template <class Kernel>
bool allows_clusters_of_16(Kernel* kernel, unsigned block_size, std::size_t shared_bytes) {
#if COURSE_CPU_DEVICE
  static_cast<void>(kernel), static_cast<void>(block_size), static_cast<void>(shared_bytes);
  return false;
#else
  if (device_attribute(cudaDevAttrClusterLaunch) == 0) return false;
  CUDA_CHECK(cudaFuncSetAttribute(kernel, cudaFuncAttributeNonPortableClusterSizeAllowed, 1));
  return detail::active_clusters(kernel, block_size, 16, shared_bytes) > 0;
#endif
}

}  // namespace course
