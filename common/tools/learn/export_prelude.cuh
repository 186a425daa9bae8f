#include <cuda_runtime.h>

#include <cstddef>
#include <stdexcept>
#include <string>

#ifdef SIMT_CPU_DEVICE
#define COURSE_CPU_DEVICE 1
#else
#define COURSE_CPU_DEVICE 0
#endif
#define CUDA_CHECK(call) ::course::check((call), #call, __FILE__, __LINE__)
#define CUDA_CHECK_LAUNCH() CUDA_CHECK(cudaGetLastError())

namespace course {

inline constexpr bool kCpuDevice = COURSE_CPU_DEVICE != 0;

inline void check(cudaError_t code, const char* call, const char* file, int line) {
  if (code == cudaSuccess) return;
  throw std::runtime_error(std::string(call) + " failed: " + cudaGetErrorString(code) + "\n  at " +
                           file + ":" + std::to_string(line));
}

struct Grid {
  dim3 blocks, threads;
  std::size_t shared_bytes = 0;
  unsigned cluster = 1;
};

inline bool has_clusters() {
  int device = 0, major = 0;
  CUDA_CHECK(cudaGetDevice(&device));
  CUDA_CHECK(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device));
  return major >= 9;
}

template <class... Parameters, class... Arguments>
void start(void (*kernel)(Parameters...), const Grid& grid, Arguments... arguments) {
  if (grid.blocks.x == 0 || grid.blocks.y == 0 || grid.blocks.z == 0) return;
  if (grid.cluster == 1) {
    kernel<<<grid.blocks, grid.threads, grid.shared_bytes>>>(arguments...);
  } else {
    cudaLaunchAttribute cluster{};
    cluster.id = cudaLaunchAttributeClusterDimension;
    cluster.val.clusterDim.x = grid.cluster;
    cluster.val.clusterDim.y = cluster.val.clusterDim.z = 1;
    cudaLaunchConfig_t config{};
    config.gridDim = grid.blocks;
    config.blockDim = grid.threads;
    config.dynamicSmemBytes = grid.shared_bytes;
    config.attrs = &cluster;
    config.numAttrs = 1;
    static_cast<void>(cudaLaunchKernelEx(&config, kernel, static_cast<Parameters>(arguments)...));
  }
  CUDA_CHECK_LAUNCH();
}

}  // namespace course
