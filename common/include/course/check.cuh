// What a check includes: test data, buffers with guard bands, the comparisons of verdict.cuh for
// Catch2's CHECK and REQUIRE, and skips with a reason. CONTRIBUTING.md says how to write a check.
//
// Example (common/tests/examples_test.cu):
//
//   const std::vector<int> x = course::position_values<int>(course::kBigSize);
//   course::GuardedBuffer<int> count(1);
//   count.fill_bytes(0);
//   count_up<<<4, 32>>>(count.data());
//   CUDA_CHECK_LAUNCH();
//   REQUIRE(course::same(count.download(), {4 * 32}, "count"));
//   REQUIRE(count.intact("count"));  // nothing wrote beside it
#pragma once

#include <course/buffer.cuh>
#include <course/cases.cuh>
#include <course/data.cuh>
#include <course/device.cuh>
#include <course/devices.cuh>
#include <course/guarded.cuh>
#include <course/launch.cuh>
#include <course/placed.cuh>
#include <course/verdict.cuh>

#include <catch2/catch_test_macros.hpp>
#include <catch2/catch_tostring.hpp>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>

namespace course {

namespace detail {
/// Tells the course's reporter that this is a verdict, whose text needs no C++ expression beside it.
void remember_verdict(const Verdict& verdict);
/// Tells it why some cases of the running test case are left out.
void remember_left_out(const std::string& reason);
/// From here on the running test tries cases that another answer may not get: they are not in the transcript of the run.
void may_leave_out();
}  // namespace detail

/// Skips the running test, with the reason, where nothing looks for races.
inline void skip_without_checker() {
  if (!kCpuDevice) SKIP(kNoChecker);
}

/// Skips the running test, with the reason, where nothing is counted.
inline void skip_without_counters() {
  if (!kCpuDevice) SKIP(kNoCounters);
}

/// Skips the running test under compute-sanitizer, where COURSE_SKIP_LARGE is set: it reports every
/// launch that CUDA refuses, also one that the test is about.
inline void skip_under_sanitizer(
    const std::string& reason = "compute-sanitizer reports a refused launch as an error") {
  if (!kCpuDevice && skip_large()) SKIP(reason);
}

/// True on the CPU device if the running test case has run before, under another schedule: for what is
/// slow there, and does not depend on the order of threads.
bool has_run_before();

/// Chooses among the cases of a check where all would take the CPU device minutes: those of an answer whose
/// calls run very many threads through barriers, such as a grid that fills a GPU for every n.
class CasesInTime {
 public:
  /// `call` makes one call of the answer.
  explicit CasesInTime(const std::function<void()>& call);
  /// Whether the next case of the running test case is tried. All are, and on the CPU device of such an
  /// answer one in so many, under each schedule others; what a pass prints says so.
  bool take();

 private:
  std::uint64_t every_ = 1, turn_ = 0;
  std::string test_, reason_;
};

/// Skips the running test, with the reason, unless a GPU has `bytes` of memory for it, and a
/// gibibyte to spare. For arrays of more than 2^31 elements. Under compute-sanitizer, which would
/// take minutes for them, COURSE_SKIP_LARGE is set.
void skip_without_memory(std::size_t bytes);

/// A grid of more than 2^32 threads: counted in 32 bits it has 32, and its last block is the first one again.
inline constexpr LaunchShape kHugeGrid = {(1u << 27) + 1, 32};
/// Runs `work` for kHugeGrid, and for a grid of as many blocks of 1024 threads, more than 2^32 warps; it launches the grid for no
/// more than `items` items. The CPU device runs one block for each of them and the last one, which is enough for every
/// division of the work: the blocks between them get none. A GPU runs all.
void in_huge_grids(std::size_t items, const std::function<void(LaunchShape grid)>& work);

/// Runs work(launch). Where a comparison fails in it and no case before was nearly the same, the message tells in which others of a few
/// small launches `work` finds nothing wrong: the CPU device tries them, in processes of their own.
void in_launch(LaunchShape launch, const std::function<void(LaunchShape launch)>& work);

/// Runs `work` for this grid, of which the CPU device runs the last two blocks: with memory for their items alone. An answer
/// may give its last blocks other items. So `work` runs first for a small grid, in a process of its own; where the
/// answer does not pass there, this grid is left out, and the answer is told so. Not for a GPU, which runs all blocks.
void at_end_of_grid(LaunchShape grid, const std::function<void(LaunchShape grid)>& work);

/// The same for kHugeGrid and kHugeItems items, one for each thread, of which the last kLastItems are in memory: the last
/// two blocks have them, whichever way the work is divided, if an item cannot be a part of a wider load or store.
/// `work` launches the grid that it is given, for so many items.
inline constexpr std::size_t kHugeItems = std::size_t{kHugeGrid.grid} * kHugeGrid.block;
inline constexpr std::size_t kLastItems = 2 * kHugeGrid.block;  // those of the last two blocks
using PartOfHugeGrid = std::function<void(LaunchShape grid, std::size_t items)>;
void at_end_of_huge_grid(const PartOfHugeGrid& work);

/// The same for kHugeItems items of which the first kFrontItems are in memory, and no more than 1024 at their beginning
/// count: the CPU device runs the first blocks. Items may be parts of loads of up to 16 of them.
inline constexpr std::size_t kFrontItems = 40'000;
void at_front_of_huge_grid(const PartOfHugeGrid& work);

/// Runs `work` on a machine of n devices, as with_devices(), or skips the running test, with the
/// reason, on a machine with fewer GPUs.
void on_devices(int n, const std::function<void()>& work);

/// Skips the running test, with the reason, where there are fewer than n devices.
void skip_without_devices(int n);

}  // namespace course

template <>
struct Catch::StringMaker<course::Verdict> {
  static std::string convert(const course::Verdict& verdict) {
    course::detail::remember_verdict(verdict);
    return verdict.text;
  }
};
