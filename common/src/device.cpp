// The device under test: on the CPU device its checker and counters, on a GPU plain launches.
#include <course/device.cuh>
#include <course/devices.cuh>
#include <course/error.cuh>

#include <cstdlib>
#include <utility>

#include "observer.hpp"

#if COURSE_CPU_DEVICE
#include <simt/testing.hpp>
#endif

namespace course {
namespace {

detail::Observer observer;
std::uint64_t times_seed_was_told = 0;

}  // namespace

void detail::set_observer(Observer to) { observer = std::move(to); }
std::uint64_t detail::times_seed_was_told() { return course::times_seed_was_told; }

#if COURSE_CPU_DEVICE

namespace {

/// Sends the checker's reports to a Findings as long as it lives.
class Collector {
 public:
  explicit Collector(Findings& findings)
      : previous_(simt::set_report_handler([&findings](const simt::Report& report) {
          ++(report.kind == simt::ReportKind::race ? findings.races : findings.others);
          findings.endless_loops += report.kind == simt::ReportKind::hang ? 1 : 0;
          findings.texts.push_back(report.text);
          if (!report.facts.empty()) findings.facts.push_back(report.facts);
        })) {}
  ~Collector() { simt::set_report_handler(previous_); }
  Collector(const Collector&) = delete;
  Collector& operator=(const Collector&) = delete;

 private:
  simt::ReportHandler previous_;
};

}  // namespace

std::optional<Counters> count(const std::function<void()>& work) {
  detail::synchronize_devices();  // what was launched before does not belong to `work`
  const simt::CountScope scope;
  work();
  detail::synchronize_devices();
  const Counters counters = scope.counters();
  if (observer) observer({counters.launches, counters.blocks, counters.threads});
  return counters;
}

Findings find_races(const std::function<void()>& work) {
  detail::synchronize_devices();  // reports of earlier launches do not count
  Findings findings;
  findings.checked = true;
  const Counters before = simt::counted_so_far();
  {
    const Collector collector(findings);
    try {
      work();
      detail::synchronize_devices();
    } catch (const CudaError& error) {
      if (findings.texts.empty()) throw;
      if (is_sticky(error.code())) simt::reset_device();
    }
  }
  if (observer) {
    const Counters after = simt::counted_so_far();
    observer({after.launches - before.launches, after.blocks - before.blocks,
              after.threads - before.threads, &findings});
  }
  return findings;
}

void with_seed(std::uint64_t seed, const std::function<void()>& work) {
  struct Restore {
    std::uint64_t seed = simt::seed();
    ~Restore() { simt::set_seed(seed); }
  } restore;
  simt::set_seed(seed);
  work();
}

std::uint64_t seed() {
  ++times_seed_was_told;
  return simt::seed();
}

void with_some_blocks(std::uint64_t first, std::uint64_t last, const std::function<void()>& work) {
  constexpr unsigned kSeconds = 4;  // a few blocks have little to do
  const simt::SomeBlocks some(first, last);
  with_launch_seconds(kSeconds, work);
}

void with_launch_seconds(unsigned seconds, const std::function<void()>& work) {
  struct Restore {
    unsigned before;
    ~Restore() { simt::set_launch_seconds(before); }
  } restore{simt::set_launch_seconds(seconds)};
  work();
}

#else

std::optional<Counters> count(const std::function<void()>& work) {
  work();
  detail::synchronize_devices();
  return std::nullopt;
}

Findings find_races(const std::function<void()>& work) {
  work();
  detail::synchronize_devices();
  return {};
}

void with_seed(std::uint64_t, const std::function<void()>& work) { work(); }

std::uint64_t seed() { return 0; }

void with_some_blocks(std::uint64_t, std::uint64_t, const std::function<void()>& work) { work(); }

void with_launch_seconds(unsigned, const std::function<void()>& work) { work(); }

#endif

bool skip_large() { return kCpuDevice || std::getenv("COURSE_SKIP_LARGE") != nullptr; }

std::optional<Counters> count_shuffled(const std::function<void()>& work) {
  std::optional<Counters> counters;
  with_seed(1, [&] { counters = count(work); });
  return counters;
}

Verdict kernels_load(const Counters& counters, std::uint64_t bytes) {
  constexpr std::uint64_t kSectorBytes = 32;
  if (counters.bulk_loads > 0) return {};
  return at_least(counters.global_load_sectors * kSectorBytes, bytes,
                  "bytes that kernels load from global memory",
                  counters.global_load_sectors == 0
                      ? "kernels do the work, not the host"
                      : "kernels read all of the input: has the host, or nothing, read the rest?");
}

namespace {

/// What all warps of the launch make together, beside the busiest one.
std::string of_all_warps(const Counters& counters, std::uint64_t made) {
  if (counters.warps == 1) return "it is the only warp: its lanes are to share the work";
  return "all " + std::to_string(counters.warps) + " warps together make " + std::to_string(made) +
         ", and are to share the work";
}

}  // namespace

Verdict work_is_shared(const Counters& counters, std::uint64_t most) {
  return at_most(counters.busiest_warp_requests, most,
                 "loads and stores of global memory by the busiest warp",
                 of_all_warps(counters, counters.global_loads + counters.global_stores));
}

Verdict shared_work_is_shared(const Counters& counters, std::uint64_t most) {
  return at_most(counters.busiest_warp_shared_requests, most,
                 "loads, stores and atomics of shared memory by the busiest warp",
                 of_all_warps(counters, counters.shared_loads + counters.shared_stores +
                                            counters.shared_atomics));
}

Verdict expect_race(const std::function<void()>& work, Findings* findings) {
  const Findings found = find_races(work);
  if (findings != nullptr) *findings = found;
  if (!found.checked) return {true, "not checked on a GPU"};
  if (found.races == 0 && found.others == 0) {
    return {false, "a race was expected here, and none was reported"};
  }
  if (found.others > 0) {
    return {false, "only a race was expected here, but something else was reported, too:\n" +
                       found.texts.back()};
  }
  return {};
}

bool has_clusters() {
  int device = 0, major = 0;
  CUDA_CHECK(cudaGetDevice(&device));
  CUDA_CHECK(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device));
  return major >= 9;
}

}  // namespace course
