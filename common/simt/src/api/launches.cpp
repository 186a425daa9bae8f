// Launches, and what the runtime API tells of kernels: attributes and occupancy.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <new>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "api/captures.hpp"
#include "api/errors.hpp"
#include "api/launches.hpp"
#include "api/queues.hpp"
#include "base/limits.hpp"
#include "base/program.hpp"
#include "counters/counters.hpp"
#include "memory/devices.hpp"
#include "report/reports.hpp"
#include "report/source_lines.hpp"
#include "simt/launch.hpp"
#include "simt/runtime.hpp"
#include "simt/testing.hpp"

namespace simt {
namespace {

// ---- a launch as it is written ------------------------------------------------------------------

std::string trimmed(const std::string& text) {
  const std::size_t first = text.find_first_not_of(' ');
  if (first == std::string::npos) return "";
  return text.substr(first, text.find_last_not_of(' ') - first + 1);
}

/// The parts of "a, b.data(), f(x, y)" between its top-level commas.
std::vector<std::string> split_arguments(const char* text) {
  std::vector<std::string> parts(1);
  int depth = 0;
  for (const char* c = text; *c != '\0'; ++c) {
    if (std::strchr("([{<", *c) != nullptr) ++depth;
    if (std::strchr(")]}>", *c) != nullptr) --depth;
    if (*c == ',' && depth == 0) {
      parts.emplace_back();
    } else {
      parts.back() += *c;
    }
  }
  for (std::string& part : parts) part = trimmed(part);
  return parts;
}

/// The closure with copies of these values.
std::shared_ptr<const void> copy_values(const ClosureType& type, const void* const* values) {
  const std::align_val_t alignment{type.alignment};
  auto* const closure = static_cast<unsigned char*>(::operator new(type.size, alignment));
  for (std::size_t i = 0; i <= type.argument_count; ++i) {
    std::memcpy(closure + type.values[i].offset, values[i], type.values[i].size);
  }
  return {closure, [alignment](unsigned char* bytes) { ::operator delete(bytes, alignment); }};
}

// ---- what the program has asked for, and what fits ----------------------------------------------

/// Dynamic shared memory that cudaFuncSetAttribute granted, by kernel.
std::unordered_map<const void*, std::size_t>& grants() {
  static auto& map = *new std::unordered_map<const void*, std::size_t>;
  return map;
}

std::size_t granted(const void* kernel) {
  const auto it = grants().find(kernel);
  return it == grants().end() ? kSharedPerBlock : it->second;
}

int blocks_that_fit(int block_size, std::size_t dynamic_shared) {
  if (block_size > static_cast<int>(kMaxThreadsPerBlock)) return 0;
  const int whole_warps = (block_size + warpSize - 1) / warpSize * warpSize;
  const auto by_shared = kSharedPerMultiprocessor / (dynamic_shared + kSharedReserved);
  return std::min({kThreadsPerMultiprocessor / whole_warps, kBlocksPerMultiprocessor,
                   static_cast<int>(by_shared)});
}

/// The most dynamic shared memory that any kernel has asked for with cudaFuncSetAttribute.
std::size_t shared_opt_in() {
  std::size_t most = 0;
  for (const auto& [kernel, size] : grants()) most = std::max(most, size);
  return most;
}

/// Why no device takes a size: "the grid has 0 blocks"; empty if it is possible.
std::string refusal(const dim3& size, const int (&limit)[3], const char* what, const char* parts) {
  const unsigned sizes[] = {size.x, size.y, size.z};
  for (const int axis : {0, 1, 2}) {
    const unsigned n = sizes[axis];
    const bool is_too_large = n > static_cast<unsigned>(limit[axis]);
    if (n > 0 && !is_too_large) continue;
    std::string text = fmt::format("{} has {} {}", what, n, parts);
    if (size.y != 1 || size.z != 1) text += fmt::format(" along {}", "xyz"[axis]);
    return text + (is_too_large ? fmt::format(", and {} is the most", limit[axis]) : "");
  }
  return "";
}

/// Of the last launch that was refused for its size.
std::string& last_refusal() {
  static auto& text = *new std::string;
  return text;
}

/// What is kept of a launch for launches_since().
struct PastLaunch {
  const char* kernel = "";
  dim3 grid, block;
  std::vector<const void*> calls;
};
constexpr std::size_t kLaunchesKept = 32;
std::array<PastLaunch, kLaunchesKept>& past_launches() {
  static auto& kept = *new std::array<PastLaunch, kLaunchesKept>;
  return kept;
}
std::size_t launch_count = 0;

std::string text_of(const PastLaunch& launch) {
  const auto extent = [](dim3 d) {
    if (d.y == 1 && d.z == 1) return fmt::format("{}", d.x);
    if (d.z == 1) return fmt::format("({}, {})", d.x, d.y);
    return fmt::format("({}, {}, {})", d.x, d.y, d.z);
  };
  return fmt::format("{}<<<{}, {}>>>", launch.kernel, extent(launch.grid), extent(launch.block));
}

}  // namespace

std::size_t launches_so_far() { return launch_count; }

std::vector<QueuedLaunch> launches_since(std::size_t first) {
  std::vector<QueuedLaunch> launches;
  const std::size_t kept = std::min(launch_count, kLaunchesKept);
  for (std::size_t i = std::max(first, launch_count - kept); i < launch_count; ++i) {
    const PastLaunch& launch = past_launches()[i % kLaunchesKept];
    launches.push_back({text_of(launch), source_line(launch.calls).file});
  }
  return launches;
}

const std::string& refused_launch() { return last_refusal(); }

cudaError_t check_configuration(Launch& launch) {
  const dim3& block = launch.block;
  std::string& why = last_refusal();
  why = refusal(block, kMaxBlockDim, "the block", "threads");
  if (why.empty()) why = refusal(launch.grid, kMaxGridDim, "the grid", "blocks");
  const unsigned threads = block.x * block.y * block.z;
  if (why.empty() && threads > kMaxThreadsPerBlock) {
    why = fmt::format("the block has {} threads, and {} is the most", threads, kMaxThreadsPerBlock);
  }
  if (!why.empty()) return cudaErrorInvalidConfiguration;
  const std::size_t limit = std::max(kSharedPerBlock, shared_opt_in());
  if (launch.shared_bytes > limit) {
    why = fmt::format("the launch asks for {} bytes of dynamic shared memory, and {} is the most{}",
                      launch.shared_bytes, limit,
                      shared_opt_in() == 0 ? " without cudaFuncSetAttribute" : "");
    return cudaErrorInvalidValue;
  }
  launch.most_shared = shared_opt_in() == 0 ? kSharedPerBlock : kSharedOptIn;
  const int fit =
      blocks_that_fit(static_cast<int>(block.x * block.y * block.z), launch.shared_bytes);
  const unsigned together = launch.cluster.x * launch.cluster.y * launch.cluster.z;
  if (together == 0 || together > kMostBlocksOfCluster || launch.grid.x % launch.cluster.x != 0 ||
      launch.grid.y % launch.cluster.y != 0 || launch.grid.z % launch.cluster.z != 0) {
    return cudaErrorInvalidClusterSize;
  }
  launch.most_resident = std::max(static_cast<unsigned>(fit * kMultiprocessors), together);
  const std::uint64_t blocks = std::uint64_t(launch.grid.x) * launch.grid.y * launch.grid.z;
  const bool is_too_large = launch.cooperative && blocks > launch.most_resident;
  return is_too_large ? cudaErrorCooperativeLaunchTooLarge : cudaSuccess;
}

void queue_kernel(CUstream_st& stream, Launch launch) {
  note_use(stream.device);
  past_launches()[launch_count++ % kLaunchesKept] = {launch.kernel, launch.grid, launch.block,
                                                     launch.calls};
  enqueue_kernel(stream, std::move(launch));
  const QueuedKernels queued = queued_kernels();
  count_at_once(queued.devices, queued.kernels);
}

void bind_values(Launch& launch, const ClosureType& type, const char* texts,
                 const void* const* values) {
  launch.body = type.run;
  launch.closure = copy_values(type, values);
  const std::vector<std::string> names = split_arguments(texts);
  for (std::size_t i = 0; i < type.argument_count; ++i) {
    const ClosureValue& value = type.values[i + 1];
    if (!value.is_pointer) continue;
    const void* pointer;
    std::memcpy(&pointer, values[i + 1], sizeof pointer);
    launch.pointers.push_back({pointer, i < names.size() ? names[i] : "", value.element});
  }
}

void enqueue_closure(const LaunchText& text, const LaunchConfig& shape, const ClosureType& type,
                     const void* const* values) {
  Launch launch;
  launch.kernel = text.kernel;
  launch.grid = shape.grid;
  launch.block = shape.block;
  launch.cluster = shape.cluster;
  launch.shared_bytes = shape.shared_bytes;
  bind_values(launch, type, text.arguments, values);
  const cudaError_t error = enqueue_launch(std::move(launch), shape.stream, SIMT_CALLER);
  // A kernel that has failed is a finding of its own.
  if (error == cudaSuccess || sticky_error() != cudaSuccess) return;
  const std::string& why = last_refusal().empty() ? cudaGetErrorString(error) : last_refusal();
  launch_refused(text.kernel,
                 fmt::format("The launch was refused ({}): {}.", cudaGetErrorName(error), why),
                 calls_behind(SIMT_CALLER));
}

void report_unlaunched(const char* kernel, const void* caller) {
  const SourceLine where = source_line(caller);
  deliver({ReportKind::unlaunched, kernel, where.file, where.line,
           fmt::format("KERNEL CALLED WITHOUT A LAUNCH: {}\n  at {}\n"
                       "  A call through a pointer does nothing with nvcc, and nothing here.\n"
                       "  Launch it: kernel<<<blocks, threads>>>(arguments).",
                       kernel, where.text())});
}

cudaError_t enqueue_launch(Launch launch, cudaStream_t handle, const void* caller) {
  if (const ClusterDims* const dims = declared_cluster(launch.kernel)) {
    launch.cluster = {dims->x, dims->y, dims->z};
  }
  if (in_kernel()) {
    trap("a kernel launches a kernel, which the CPU device cannot do (dynamic parallelism)",
         cudaErrorLaunchFailure, caller);
  }
  if (const cudaError_t error = enter(caller)) return error;
  CUstream_st* stream = find_stream(handle);
  const int device = current_device();
  const bool known = stream != nullptr && stream->device == device;
  const cudaError_t error = known ? check_configuration(launch) : cudaErrorInvalidResourceHandle;
  if (error != cudaSuccess) return failed(error);
  if (const cudaError_t refused = check_work(*stream)) return refused;
  launch.calls = calls_behind(caller);
  if (is_capturing(*stream)) return capture_work(*stream, std::move(launch));
  queue_kernel(*stream, std::move(launch));
  return cudaSuccess;
}

cudaError_t set_function_attribute(const void* function, cudaFuncAttribute attribute, int value,
                                   const void* caller) {
  if (const cudaError_t error = enter(caller)) return error;
  if (function == nullptr) return failed(cudaErrorInvalidDeviceFunction);
  if (attribute == cudaFuncAttributePreferredSharedMemoryCarveout) {  // a wish, not a rule
    return value < -1 || value > 100 ? failed(cudaErrorInvalidValue) : cudaSuccess;
  }
  if (attribute != cudaFuncAttributeMaxDynamicSharedMemorySize || value < 0 ||
      value > static_cast<int>(kSharedOptIn)) {
    return failed(cudaErrorInvalidValue);
  }
  grants()[function] = static_cast<std::size_t>(value);
  return cudaSuccess;
}

cudaError_t function_attributes(cudaFuncAttributes* attributes, const void* function,
                                const void* caller) {
  if (const cudaError_t error = enter(caller)) return error;
  if (attributes == nullptr) return failed(cudaErrorInvalidValue);
  if (function == nullptr) return failed(cudaErrorInvalidDeviceFunction);
  *attributes = {};
  attributes->maxThreadsPerBlock = kMaxThreadsPerBlock;
  attributes->ptxVersion = attributes->binaryVersion = 90;
  attributes->maxDynamicSharedSizeBytes = static_cast<int>(granted(function));
  attributes->preferredShmemCarveout = -1;
  return cudaSuccess;
}

cudaError_t set_cache_wish(const void* function, cudaFuncCache wish, const void* caller) {
  if (const cudaError_t error = enter(caller)) return error;
  if (wish < cudaFuncCachePreferNone || wish > cudaFuncCachePreferEqual) {
    return failed(cudaErrorInvalidValue);
  }
  return function == nullptr ? failed(cudaErrorInvalidDeviceFunction) : cudaSuccess;
}

cudaError_t active_blocks(int* blocks, const void* function, int block_size,
                          std::size_t dynamic_shared, unsigned flags, const void* caller) {
  if (const cudaError_t error = enter(caller)) return error;
  if (blocks == nullptr || block_size <= 0 || flags > cudaOccupancyDisableCachingOverride) {
    return failed(cudaErrorInvalidValue);
  }
  if (function == nullptr) return failed(cudaErrorInvalidDeviceFunction);
  *blocks = dynamic_shared > granted(function) ? 0 : blocks_that_fit(block_size, dynamic_shared);
  return cudaSuccess;
}

cudaError_t available_shared(std::size_t* size, const void* function, int blocks, int block_size,
                             const void* caller) {
  if (const cudaError_t error = enter(caller)) return error;
  if (size == nullptr || blocks <= 0 || block_size <= 0 ||
      blocks_that_fit(block_size, 0) < blocks) {
    return failed(cudaErrorInvalidValue);
  }
  if (function == nullptr) return failed(cudaErrorInvalidDeviceFunction);
  const std::size_t share = kSharedPerMultiprocessor / static_cast<std::size_t>(blocks);
  *size = std::min(share / kSharedReserved * kSharedReserved - kSharedReserved, granted(function));
  return cudaSuccess;
}

cudaError_t best_block_size(int* min_grid, int* block_size, const void* function,
                            SharedOfBlock dynamic_shared, int limit, unsigned flags,
                            const void* caller) {
  if (const cudaError_t error = enter(caller)) return error;
  if (min_grid == nullptr || block_size == nullptr || limit < 0) {
    return failed(cudaErrorInvalidValue);
  }
  // Full warps, but for a limit that is none; of sizes that are equally good the largest.
  const int most = static_cast<int>(kMaxThreadsPerBlock);
  const int largest = limit == 0 ? most : std::min(limit, most);
  int most_threads = 0;
  *block_size = *min_grid = 0;
  for (int size = largest; size > 0; size = (size - 1) / warpSize * warpSize) {
    int blocks = 0;
    const std::size_t shared = dynamic_shared.compute(dynamic_shared.context, size);
    const cudaError_t error = active_blocks(&blocks, function, size, shared, flags, caller);
    if (error != cudaSuccess) return error;
    if (blocks * size <= most_threads) continue;
    most_threads = blocks * size;
    *block_size = size;
    *min_grid = blocks * kMultiprocessors;
  }
  return cudaSuccess;
}

void forget_grants() { grants().clear(); }

}  // namespace simt
