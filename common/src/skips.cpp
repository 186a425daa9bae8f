// Tests that are skipped, with the reason, or that run once, and cases that are left out.
#include <fmt/format.h>

#include <course/check.cuh>
#include <string>
#include <utility>

#include "check_reporter.hpp"
#include "passes_apart.hpp"

#if COURSE_CPU_DEVICE
#include <simt/testing.hpp>
#endif

namespace course {

bool has_run_before() { return kCpuDevice && !runner::is_first_schedule(); }

CasesInTime::CasesInTime([[maybe_unused]] const std::function<void()>& call) {
#if COURSE_CPU_DEVICE
  // A barrier costs each thread about 0.3 us, and being launched a tenth of that. A check makes up to 250 calls.
  constexpr std::uint64_t kThreadsPerBarrier = 10, kMost = 20'000;
  const Counters before = simt::counted_so_far();
  call();
  detail::may_leave_out();
  const Counters after = simt::counted_so_far();
  const std::uint64_t threads = after.threads - before.threads,
                      blocks = after.blocks - before.blocks,
                      barriers = after.barriers - before.barriers;
  if (blocks == 0) return;
  every_ += (threads / kThreadsPerBarrier + barriers * (threads / blocks)) / kMost;
  reason_ =
      fmt::format("one case in {} is tried, because each call runs {} threads", every_, threads);
#endif
}

bool CasesInTime::take() {
  if (every_ == 1) return true;
  const std::string test = Catch::getResultCapture().getCurrentTestName();
  if (test != std::exchange(test_, test)) turn_ = 0;
  detail::remember_left_out(reason_);
  return turn_++ % every_ == seed() % every_;  // the first schedules try the first cases
}

void skip_without_memory(std::size_t bytes) {
  if (kCpuDevice) SKIP("too large for the CPU device");
  if (skip_large()) SKIP("COURSE_SKIP_LARGE is set");
  std::size_t available = 0, total = 0;
  CUDA_CHECK(cudaMemGetInfo(&available, &total));
  if (available < bytes + (std::size_t{1} << 30)) {
    SKIP("needs " << (bytes >> 20) << " MiB of the GPU's memory, and a GiB to spare; "
                  << (available >> 20) << " MiB are free");
  }
}

namespace {
constexpr const char* kHugeGridText =
    "the grid has 2^32 + 32 threads, a number that is 32 in 32 bits";
constexpr const char* kHugeGridOfWarpsText =
    "the grid has 2^32 + 32 warps, a number that is 32 in 32 bits";

}  // namespace

void in_huge_grids(std::size_t items, const std::function<void(LaunchShape grid)>& work) {
  if (!kCpuDevice && skip_large()) SKIP("COURSE_SKIP_LARGE is set");
  const std::string some =
      kCpuDevice ? "; of its blocks the first " + std::to_string(items) + " and the last one run"
                 : "";
  for (const LaunchShape grid : {kHugeGrid, LaunchShape{kHugeGrid.grid, 1024}}) {
    INFO((grid.block == kHugeGrid.block ? kHugeGridText : kHugeGridOfWarpsText) << some);
    with_some_blocks(items, 1, [&] { work(grid); });
  }
}

void at_end_of_grid(LaunchShape grid, const std::function<void(LaunchShape grid)>& work) {
  const auto run = [&](LaunchShape shape) { with_some_blocks(0, 2, [&] { work(shape); }); };
  detail::may_leave_out();
  if (!runner::passes_apart([&] { run({100, grid.block}); })) {
    return detail::remember_left_out(
        "the end of a grid of " + std::to_string(grid.grid) +
        " blocks is not tried, because the last blocks of a small grid do not do the last of the "
        "work");
  }
  run(grid);
}

void at_end_of_huge_grid(const PartOfHugeGrid& work) {
  INFO(
      kHugeGridText << ";\nof its blocks the last two run, and memory is there for their elements");
  at_end_of_grid(kHugeGrid,
                 [&](LaunchShape grid) { work(grid, std::size_t{grid.grid} * grid.block); });
}

void at_front_of_huge_grid(const PartOfHugeGrid& work) {
  const auto run = [&](LaunchShape shape) {
    with_some_blocks(64, 0, [&] { work(shape, std::size_t{shape.grid} * shape.block); });
  };
  detail::may_leave_out();
  if (!runner::passes_apart([&] { run({2'000, kHugeGrid.block}); })) {
    return detail::remember_left_out(
        "the front of a grid of more than 2^32 threads is not tried, because the first blocks of a "
        "small grid do not do the first of the work");
  }
  INFO(
      "there is a thread for each of the 2^32 + 32 elements, a number that is 32 in 32 bits;\n"
      "of the blocks the first 64 run, and memory is there for the first elements");
  run(kHugeGrid);
}

void on_devices(int n, const std::function<void()>& work) {
  if (!with_devices(n, work)) {
    SKIP("needs " << n << " GPUs; there " << (device_count() == 1 ? "is " : "are ")
                  << device_count());
  }
}

void skip_without_devices(int n) {
  const int count = device_count();
  if (count >= n) return;
  SKIP("needs " << n << " devices; there " << (count == 1 ? "is " : "are ") << count
                << (kCpuDevice ? " (SIMT_DEVICES says how many)" : ""));
}

}  // namespace course
