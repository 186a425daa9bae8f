// Kernels by their address, and the calls that launch them so.
#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "api/errors.hpp"
#include "api/launches.hpp"
#include "simt/launch_calls.hpp"

namespace simt {
namespace {

/// What SIMT_KERNEL leaves in its section.
struct Entry {
  std::uintptr_t inside;  // after the kernel's first instructions
  const KernelInfo* info;
};

}  // namespace
}  // namespace simt

// The linker defines them if the program has a kernel.
extern "C" const simt::Entry __start_simt_kernels[] __attribute__((weak));
extern "C" const simt::Entry __stop_simt_kernels[] __attribute__((weak));

namespace simt {
namespace {

// A kernel's first instructions copy its arguments: further from its address is another function.
constexpr std::uintptr_t kFirstInstructions = 64 * 1024;

const std::vector<Entry>& entries() {
  static const auto& sorted = *new std::vector<Entry>([] {
    std::vector<Entry> list(__start_simt_kernels, __stop_simt_kernels);
    std::sort(list.begin(), list.end(),
              [](const Entry& a, const Entry& b) { return a.inside < b.inside; });
    return list;
  }());
  return sorted;
}

cudaError_t launch_by_address(const cudaLaunchConfig_t& config, const void* function,
                              void** arguments, bool is_cooperative, dim3 cluster,
                              const void* caller) {
  if (const cudaError_t error = enter(caller)) return error;
  Launch launch;
  launch.grid = config.gridDim;
  launch.block = config.blockDim;
  launch.shared_bytes = config.dynamicSmemBytes;
  launch.cooperative = is_cooperative;
  launch.cluster = cluster;
  if (const cudaError_t error = bind_kernel(launch, function, arguments)) return error;
  return enqueue_launch(std::move(launch), config.stream, caller);
}

}  // namespace

cudaError_t bind_kernel(Launch& launch, const void* function, void** arguments) {
  const KernelInfo* const info = find_kernel(function);
  if (info == nullptr) return failed(cudaErrorInvalidDeviceFunction);
  const ClosureType& type = *info->type;
  if (arguments == nullptr && type.argument_count > 0) return failed(cudaErrorInvalidValue);
  launch.kernel = info->name;
  std::vector<const void*> values = {&function};
  values.insert(values.end(), arguments, arguments + type.argument_count);
  bind_values(launch, type, info->parameters, values.data());
  return cudaSuccess;
}

const ClusterDims* declared_cluster(const std::string& launched) {
  static const bool any = std::any_of(entries().begin(), entries().end(),
                                      [](const Entry& e) { return e.info->cluster.x != 0; });
  if (!any) return nullptr;
  const std::string without_arguments = launched.substr(0, launched.find('<'));
  const std::size_t scope = without_arguments.rfind(':');
  const std::string name =
      scope == std::string::npos ? without_arguments : without_arguments.substr(scope + 1);
  for (const Entry& e : entries()) {
    if (e.info->cluster.x != 0 && name == e.info->name) return &e.info->cluster;
  }
  return nullptr;
}

const KernelInfo* find_kernel(const void* function) {
  const auto address = reinterpret_cast<std::uintptr_t>(function);
  const auto it =
      std::lower_bound(entries().begin(), entries().end(), address,
                       [](const Entry& e, std::uintptr_t begin) { return e.inside < begin; });
  const bool is_kernel =
      function != nullptr && it != entries().end() && it->inside - address < kFirstInstructions;
  return is_kernel ? it->info : nullptr;
}

}  // namespace simt

// ---- the runtime API ----------------------------------------------------------------------------

cudaError_t cudaLaunchKernel(const void* func, dim3 gridDim, dim3 blockDim, void** args,
                             std::size_t sharedMem, cudaStream_t stream) {
  const cudaLaunchConfig_t config{gridDim, blockDim, sharedMem, stream, nullptr, 0};
  return simt::launch_by_address(config, func, args, false, {1, 1, 1}, SIMT_CALLER);
}

cudaError_t cudaLaunchCooperativeKernel(const void* func, dim3 gridDim, dim3 blockDim, void** args,
                                        std::size_t sharedMem, cudaStream_t stream) {
  const cudaLaunchConfig_t config{gridDim, blockDim, sharedMem, stream, nullptr, 0};
  return simt::launch_by_address(config, func, args, true, {1, 1, 1}, SIMT_CALLER);
}

cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t* config, const void* func, void** args) {
  if (config == nullptr) return simt::failed(cudaErrorInvalidValue);
  bool is_cooperative = false;
  dim3 cluster{1, 1, 1};
  for (unsigned i = 0; i < config->numAttrs; ++i) {
    const cudaLaunchAttributeValue& value = config->attrs[i].val;
    switch (config->attrs[i].id) {
      case cudaLaunchAttributeCooperative:
        is_cooperative = value.cooperative != 0;
        break;
      case cudaLaunchAttributeClusterDimension:
        cluster = {value.clusterDim.x, value.clusterDim.y, value.clusterDim.z};
        break;
      default:  // wishes that change no result
        break;
    }
  }
  return simt::launch_by_address(*config, func, args, is_cooperative, cluster, SIMT_CALLER);
}
