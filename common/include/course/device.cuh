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

// By its place: the folder above it has the CPU device's own CUDA headers, which a GPU build must not find.
#include "../../simt/include/simt/counters.hpp"

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

/// What the kernels inside course::count() did: its members are the list in common/simt/include/simt/counters.def.
using simt::Counters;

/// Runs `work` on the CPU device in lockstep, as a GPU runs its warps, and tells what its kernels
/// did. On a GPU: runs `work` and returns nothing.
std::optional<Counters> count(const std::function<void()>& work);
/// The same with several blocks at a time, in no order. In order, the first block takes all tiles of a
/// kernel whose blocks take one tile after another.
std::optional<Counters> count_shuffled(const std::function<void()>& work);

/// Ok if kernels have loaded `bytes` from global memory, or what holds them in bulk: they do the work, and
/// not the host.
Verdict kernels_load(const Counters& counters, std::uint64_t bytes);

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
  std::vector<std::string> facts;  // those of races, without what to try
};
/// Runs `work` to its end on the device, keeps the reports of the CPU device's checker and
/// leaves the device usable. CudaErrors that a report explains are swallowed; others are thrown.
Findings find_races(const std::function<void()>& work);

/// A race declared on purpose: ok if `work` makes the CPU device report at least one race and
/// nothing else. The reports are consumed; pass `findings` to read them. On a GPU: runs `work`,
/// and is ok with the text "not checked on a GPU".
Verdict expect_race(const std::function<void()>& work, Findings* findings = nullptr);

/// Runs `work`, in whose launches only the `first` first and the `last` last blocks of a grid run, if it has more: for
/// grids of billions of threads, of which the CPU device runs those that can tell. gridDim, blockIdx, and the
/// counted blocks and threads are those of the whole grid. On a GPU all blocks run.
void with_some_blocks(std::uint64_t first, std::uint64_t last, const std::function<void()>& work);

/// Runs `work`, whose launches count as endless if no thread ends and no barrier is passed for so many seconds of the
/// processor's time, on the CPU device: for what a right answer may do at length, after what is looked at.
void with_launch_seconds(unsigned seconds, const std::function<void()>& work);

/// Runs `work` under a schedule of the CPU device: 0 is "in order", every other seed is its own
/// fixed shuffle. On a GPU, which has no seeds, just runs it.
void with_seed(std::uint64_t seed, const std::function<void()>& work);

/// The schedule that runs: 0, 1, 2, ... in turn for a check. Always 0 on a GPU.
std::uint64_t seed();

}  // namespace course
