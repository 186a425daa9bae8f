// The device under test: the same calls for a GPU and for the course's CPU device. What is counted
// and why it matters: atomics in chapter 01, barriers and shared memory in 03, sectors in 04.
//
// Example (common/tests/examples_test.cu):
//
//   auto d_count = course::DeviceBuffer<int>::zeros(1);
//   const auto counters = course::count([&] { count_up<<<2, 64>>>(d_count.data()); });
//   if (counters) {                                 // nothing is counted on a GPU
//     CHECK(counters->global_atomics == 4);         // one request per warp
//     CHECK(counters->global_atomic_lanes == 128);  // one atomic per thread
//   }
//   CHECK(course::expect_race([&] { count_up_racy<<<2, 64>>>(d_count.data()); }));
#pragma once

#include <course/verdict.cuh>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

// 1 when kernels run on the course's CPU device, 0 on a GPU. The build defines it for plain C++
// files, which know nothing of their device; here the compiler tells.
#ifndef COURSE_CPU_DEVICE
#if defined(__CUDACC__) && !defined(SIMT_CPU_DEVICE)
#define COURSE_CPU_DEVICE 0
#else
#define COURSE_CPU_DEVICE 1
#endif
#endif

namespace course {

inline constexpr bool kCpuDevice = COURSE_CPU_DEVICE != 0;

/// True where experiments of full size take minutes: on the CPU device, and on a GPU if
/// COURSE_SKIP_LARGE is set, as it is under compute-sanitizer.
bool skip_large();

/// True if the current device has clusters, mbarriers and bulk operations: compute capability 9.0.
bool has_clusters();
/// Why a rung or a check does not run where has_clusters() is false.
inline constexpr const char* kNoClusters =
    "clusters and bulk operations need a GPU of compute capability 9.0 or higher";

/// Why a check of races, uninitialised memory or counters cannot run here.
inline constexpr const char* kNoChecker =
    "a GPU has no race checker: build with -Ddevice=cpu to run this check";
inline constexpr const char* kNoCounters = "a GPU counts nothing here: build with -Ddevice=cpu";

/// What the kernels inside course::count() did. A request is one instruction of one warp, however
/// many of its 32 lanes are active.
struct Counters {
  std::uint64_t launches = 0, blocks = 0, warps = 0, threads = 0;
  std::uint64_t global_atomics = 0;            // requests
  std::uint64_t global_atomic_lanes = 0;       // single atomics: one per lane
  std::uint64_t global_atomic_addresses = 0;   // distinct addresses, summed over requests
  std::uint64_t global_compare_and_swaps = 0;  // single atomics that were an atomicCAS
  std::uint64_t shared_atomics = 0, shared_atomic_lanes = 0, shared_atomic_addresses = 0;
  std::uint64_t global_loads = 0, global_load_sectors = 0;      // requests; sectors of 32 bytes
  std::uint64_t global_stores = 0, global_store_sectors = 0;    // requests; sectors of 32 bytes
  std::uint64_t global_load_lanes = 0, global_store_lanes = 0;  // one per lane
  std::uint64_t global_volatile_loads = 0;  // of global_load_lanes, those of volatile variables
  std::uint64_t shared_loads = 0, shared_load_wavefronts = 0;
  std::uint64_t shared_stores = 0, shared_store_wavefronts = 0;
  std::uint64_t barriers = 0;          // __syncthreads(), once per block
  std::uint64_t warp_barriers = 0;     // __syncwarp(), once per warp
  std::uint64_t cluster_barriers = 0;  // cluster_group::sync(), once per cluster
  std::uint64_t bulk_loads = 0, bulk_additions = 0;
  /// Loads and stores of global memory that the busiest warp made: far more than its share if one
  /// thread or one warp does the work of all.
  std::uint64_t busiest_warp_requests = 0;
  /// The same of shared memory, atomics included.
  std::uint64_t busiest_warp_shared_requests = 0;
  /// Loads and stores of global memory that the busiest block made: all of them if it works alone.
  std::uint64_t busiest_block_requests = 0;
  /// Devices that had a kernel to run at the same time: 1 if the host waits for each device before
  /// it launches on the next.
  std::uint64_t devices_at_once = 0;
  /// Kernels that were launched and not waited for, on all devices together.
  std::uint64_t kernels_at_once = 0;

  /// 32-byte sectors that one load or store of global memory touches, on average: 4 when 32 lanes
  /// read consecutive floats, 32 when they are far apart. 0 if there was no access.
  double sectors_per_request() const {
    const std::uint64_t requests = global_loads + global_stores;
    return requests == 0 ? 0.0
                         : static_cast<double>(global_load_sectors + global_store_sectors) /
                               static_cast<double>(requests);
  }
  /// Wavefronts of shared memory beyond the first of each request: 0 means no bank conflict.
  std::uint64_t bank_conflicts() const {
    return shared_load_wavefronts + shared_store_wavefronts - shared_loads - shared_stores;
  }
};

/// Runs `work` on the CPU device in lockstep, as a GPU runs its warps, and tells what its kernels
/// did. On a GPU: runs `work` and returns nothing.
std::optional<Counters> count(const std::function<void()>& work);
/// The same with several blocks at a time, in no order. In order, the first block takes all tiles of a
/// kernel whose blocks take one tile after another.
std::optional<Counters> count_shuffled(const std::function<void()>& work);

/// Ok if no warp made more than `most` loads and stores of global memory: the work of a grid is
/// shared, and neither one thread nor one warp does that of all.
Verdict work_is_shared(const Counters& counters, std::uint64_t most);
/// The same of loads, stores and atomics of shared memory.
Verdict shared_work_is_shared(const Counters& counters, std::uint64_t most);

/// What the CPU device found while `work` ran.
struct Findings {
  bool checked = false;            // false on a GPU, which has no checker
  int races = 0;                   // reports of a race
  int others = 0;                  // reports of anything else
  int endless_loops = 0;           // those of `others` that ended a loop
  std::vector<std::string> texts;  // the reports, complete
};
/// Runs `work` to its end on the device, keeps the reports of the CPU device's checker and
/// leaves the device usable. CudaErrors that a report explains are swallowed; others are thrown.
Findings find_races(const std::function<void()>& work);

/// A race declared on purpose: ok if `work` makes the CPU device report at least one race and
/// nothing else. The reports are consumed; pass `findings` to read them. On a GPU: runs `work`,
/// and is ok with the text "not checked on a GPU".
Verdict expect_race(const std::function<void()>& work, Findings* findings = nullptr);

/// Runs `work` under a schedule of the CPU device: 0 is "in order", every other seed is its own
/// fixed shuffle. On a GPU, which has no seeds, just runs it.
void with_seed(std::uint64_t seed, const std::function<void()>& work);

/// The schedule that runs: 0, 1, 2, ... in turn for a check. Always 0 on a GPU.
std::uint64_t seed();

}  // namespace course
