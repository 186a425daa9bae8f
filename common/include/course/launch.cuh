// One call for a launch: the grid, the kernel, its arguments, and the check that CUDA took it.
//
// Example (common/tests/examples_test.cu):
//
//   course::launch(scale, {course::blocks_for(n, kBlockSize), kBlockSize}, d_x, n, 2.0f, d_y);
#pragma once

#include <cuda_runtime.h>

#include <course/device.cuh>
#include <course/error.cuh>
#include <cstddef>
#include <source_location>
#if COURSE_CPU_DEVICE
#include <simt/launch.hpp>
#endif

namespace course {

/// What is written between <<< and >>>, and the line of the source that says so.
struct Grid {
  dim3 blocks;                    // none: launch() does nothing
  dim3 threads;                   // per block
  std::size_t shared_bytes = 0;   // of dynamic shared memory per block
  cudaStream_t stream = nullptr;  // the default stream
  unsigned cluster = 1;           // blocks per cluster, along x: chapter 13
  std::source_location line = std::source_location::current();
};

/// launch(kernel, {blocks, threads, shared_bytes, stream}, arguments...) is
///     kernel<<<blocks, threads, shared_bytes, stream>>>(arguments...);
///     CUDA_CHECK_LAUNCH();
/// and nothing at all for a grid of no blocks, which CUDA refuses: a launcher need not ask whether
/// n is 0. Throws CudaError if the launch is refused. Chapter 00 explains <<<>>> and the check.
///
/// `kernel` is a kernel's name, for a template with its arguments (sum<float>). Where a function of
/// the host has the same name, use <<<>>>. On the CPU device the rewriter passes on the text of the
/// kernel and of the arguments, for the messages.
#if COURSE_CPU_DEVICE && !defined(SIMT_EDITOR)
template <class Call, class... Arguments>
void launch(simt::LaunchText text, Call call, const Grid& grid, Arguments... arguments) {
  if (grid.blocks.x == 0 || grid.blocks.y == 0 || grid.blocks.z == 0) return;
  simt::launch(text, call, grid.blocks, grid.threads, grid.shared_bytes, grid.stream,
               dim3(grid.cluster))(arguments...);
  check_launch(grid.line.file_name(), static_cast<int>(grid.line.line()));
}
#endif
#if !COURSE_CPU_DEVICE
namespace detail {
/// Stands around a launch on a GPU: records its time for the check's main(), if that wants times.
class TimedLaunch {
 public:
  explicit TimedLaunch(cudaStream_t stream);
  ~TimedLaunch();
  TimedLaunch(const TimedLaunch&) = delete;
  TimedLaunch& operator=(const TimedLaunch&) = delete;

 private:
  cudaStream_t stream_;
  cudaEvent_t start_ = nullptr;  // null: it is not timed
};
}  // namespace detail
#endif
#if defined(__CUDACC__) && \
    (!COURSE_CPU_DEVICE || defined(SIMT_EDITOR))  // plain C++ launches nothing
/// The same launch with an attribute, which <<<>>> has no room for. check_launch() finds its error.
template <class... Parameters, class... Arguments>
void launch_in_clusters(void (*kernel)(Parameters...), const Grid& grid, Arguments... arguments) {
  cudaLaunchAttribute cluster{};
  cluster.id = cudaLaunchAttributeClusterDimension;
  cluster.val.clusterDim.x = grid.cluster;
  cluster.val.clusterDim.y = cluster.val.clusterDim.z = 1;
  cudaLaunchConfig_t config{};
  config.gridDim = grid.blocks;
  config.blockDim = grid.threads;
  config.dynamicSmemBytes = grid.shared_bytes;
  config.stream = grid.stream;
  config.attrs = &cluster;
  config.numAttrs = 1;
  static_cast<void>(cudaLaunchKernelEx(&config, kernel, static_cast<Parameters>(arguments)...));
}
template <class... Parameters, class... Arguments>
void launch(void (*kernel)(Parameters...), const Grid& grid, Arguments... arguments) {
  if (grid.blocks.x == 0 || grid.blocks.y == 0 || grid.blocks.z == 0) return;
  const auto& [blocks, threads, shared_bytes, stream, cluster, line] = grid;
  {
#if !COURSE_CPU_DEVICE
    const detail::TimedLaunch timed(stream);
#endif
    if (cluster == 1) {
      kernel<<<blocks, threads, shared_bytes, stream>>>(arguments...);
    } else {
      launch_in_clusters(kernel, grid, arguments...);
    }
  }
  check_launch(grid.line.file_name(), static_cast<int>(grid.line.line()));
}
#endif

}  // namespace course
