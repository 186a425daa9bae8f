// The rungs of chapter 11: an array over several devices, one sum; then a vector on each.
#include <algorithm>
#include <course/data.cuh>
#include <course/devices.cuh>
#include <course/host_memory.cuh>
#include <course/ladder.cuh>
#include <cstddef>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "rungs.cuh"
#if COURSE_HAS_NCCL
#include "ladder_nccl.cuh"
#endif
#if !COURSE_CPU_DEVICE
#include "vendor.cuh"
#endif

namespace {

constexpr std::size_t k2To10 = std::size_t{1} << 10, k2To30 = std::size_t{1} << 30;
/// The array repeats these many values: a prime, so that no share begins where another one does.
constexpr std::size_t kPeriod = 1'000'003;
#if COURSE_HAS_NCCL
constexpr const char* kNoNccl = "compute-sanitizer reports NCCL's own kernels";
bool use_nccl() { return !course::skip_large(); }
#else
constexpr const char* kNoNccl = "built without NCCL: it needs nccl.h, libnccl and -Ddevice=cuda";
#endif
constexpr const char* kOneDevice = "needs two devices";

std::vector<float> values() { return course::position_values<float>(kPeriod); }

/// 1, 2, 4, ... devices, up to all.
std::vector<int> device_counts() {
  std::vector<int> counts;
  for (int devices = 1; devices <= course::device_count(); devices *= 2) counts.push_back(devices);
  return counts;
}

// ---- the sum, of all devices -------------------------------------------------------------------

/// An array over all devices, and the sum of the last launch.
struct Sums : Spread {
  Sums(std::size_t size, int devices, bool in_chunks = false)
      : Spread(size, devices, values(), in_chunks), n(size) {}
  /// A rung whose launch returns the sum.
  course::Rung rung(const std::string& name, const std::string& changed,
                    const std::function<double()>& sum) {
    return {.name = name,
            .changed = changed,
            .launch = [this, sum] { y = sum(); },
            .result = [this] { return y; },
            .bytes = n * sizeof(float)};
  }
  course::Rung rung(const HostRung& rung_of) {
    return rung(rung_of.name, rung_of.changed,
                [this, sum = rung_of.sum] { return sum(parts, cells); });
  }
  std::size_t n;
  double y = 0;
};

const char* const kMemcheckStopsIt = "memcheck stops it: an invalid system-scoped atomic";

/// A single device adds in the host's memory without atomics of the link, but memcheck allows it
/// only with them.
bool memcheck_stops_host_atomics(int devices) {
  return !course::kCpuDevice && course::skip_large() &&
         !all_devices_have(cudaDevAttrHostNativeAtomicSupported, devices);
}

void counters(course::Ladder& ladder, Sums& s) {
  const int devices = static_cast<int>(s.parts.size());
  for (const CounterRung& of : kCounterRungs) {
    if (!of.has_atomics(devices)) {
      ladder.skip(of.name, of.why_not);
      continue;
    }
    if (of.has_atomics == host_memory_has_atomics && memcheck_stops_host_atomics(devices)) {
      ladder.skip(of.name, kMemcheckStopsIt);
      continue;
    }
    const Counter counter = of.make(devices);
    course::Rung rung = s.rung(of.name, of.changed, [&] { return of.sum(s.parts, counter.data); });
    rung.reset = [&] { set_to_zero(counter.data); };
    ladder.rung(rung);
  }
}

void collectives(course::Ladder& ladder, Sums& s) {
#if COURSE_HAS_NCCL
  if (!use_nccl()) return ladder.skip(kNcclSum.name, kNoNccl);
  NcclTeam team(static_cast<int>(s.parts.size()));
  ladder.rung(
      s.rung(kNcclSum.name, kNcclSum.changed, [&] { return sum_nccl(s.parts, team, s.cells); }));
  std::vector<std::function<void()>> cub;
  for (Part& part : s.parts) {
    const course::OnDevice on(part.device);
    cub.push_back(cub_local_sum(part.x.data(), part.share.size, part.sum.data()));
  }
  ladder.vendor(s.rung("CUB and NCCL", "cub::DeviceReduce, then ncclAllReduce", [&] {
    for (std::size_t i = 0; i < s.parts.size(); ++i) {
      const course::OnDevice on(s.parts[i].device);
      cub[i]();
    }
    return all_reduce_sums(s.parts, team, s.cells);
  }));
#else
  static_cast<void>(s);
  ladder.skip(kNcclSum.name, kNoNccl);
#endif
}

void sum(course::Ladder& ladder, std::size_t n) {
  const int devices = course::device_count();
  ladder.reference("CPU reference", sum_of_repeated(values(), n),
                   "one thread, in double; " + std::to_string(devices) + " devices", n);
  {
    Sums one(n, 1);
    ladder.rung(one.rung(kOneDeviceRung));
  }
  Sums s(n, devices);
  counters(ladder, s);
  collectives(ladder, s);
  for (const HostRung& rung : kHostRungs) {
    if (rung.in_chunks) {
      Sums in_chunks(n, devices, true);
      ladder.rung(in_chunks.rung(rung));
    } else {
      ladder.rung(s.rung(rung));
    }
  }
}

/// The same share for every device, or the same array over more of them.
void scaling(course::Ladder& ladder, std::size_t base) {
  ladder.reference("scaling", 0, "elements on each device, or in all", base);
  for (const bool each : {true, false}) {
    for (const int devices : device_counts()) {
      const std::size_t n = each ? base * static_cast<std::size_t>(devices) : base;
      const double expected = sum_of_repeated(values(), n);
      Sums s(n, devices);
      course::Rung rung = s.rung(course::rung_named(kHostRungs, "sum_stored_to_host"));
      rung.changed = std::to_string(devices) + " devices";
      rung.check = [&] { return course::same(s.y, expected, "sum"); };
      rung.result = nullptr;
      rung.n = n;
      rung.series = each ? "as many on each" : "as many in all";
      rung.x = devices;
      ladder.rung(rung);
    }
  }
}

// ---- a vector on every device ------------------------------------------------------------------

void vectors(course::Ladder& ladder) {
#if COURSE_HAS_NCCL
  if (!use_nccl()) return ladder.skip(kNcclOverlapped.front().name, kNoNccl);
  const int devices = course::device_count();
  if (devices < 2) {
    ladder.skip(kNcclAllReduce.name, kOneDevice);
    ladder.skip(kNcclOverlapped.front().name, kOneDevice);
    return;
  }
  for (const std::size_t n : ladder.sizes({k1GiB})) {
    all_reduces(ladder, n, devices);
    layers(ladder, n, devices);
  }
#else
  ladder.skip(kNcclAllReduce.name, kNoNccl);
  ladder.skip(kNcclOverlapped.front().name, kNoNccl);
#endif
}

// ---- one counter, many atomics -----------------------------------------------------------------

/// A row of additions per ns, which counts on the first `devices` devices.
void count_rung(course::Ladder& ladder, const CountRung& rung, int devices, unsigned blocks) {
  if (rung.in_host_memory && memcheck_stops_host_atomics(devices)) {
    return ladder.skip(rung.name, kMemcheckStopsIt);
  }
  const bool is_right = rung.is_right(devices);
  if (!is_right && rung.because.empty()) return;
  const Counter counter = rung.make(devices);
  const std::size_t n = std::size_t{blocks} * kCountsOfABlock * static_cast<std::size_t>(devices);
  course::Rung row{.name = rung.name,
                   .changed = rung.changed,
                   .reset = [&] { set_to_zero(counter.data); },
                   .launch = [&] { rung.launch(devices, blocks, counter.data); },
                   .n = n};
  if (is_right) {
    row.check = [&] {
      return course::same(value_of(counter.data), static_cast<double>(n), "count");
    };
    row.operations = n;
    return ladder.rung(row);
  }
  row.result = [&] { return value_of(counter.data); };
  ladder.wrong(course::wrong_rung(row, course::Expect::race, rung.because));
}

void scopes(course::Ladder& ladder) {
  const int devices = course::device_count();
  if (devices < 2) {
    for (const CountRung& rung : kCountRungs) {
      if (!rung.because.empty()) ladder.skip(rung.name, kOneDevice);
    }
    return;
  }
  const unsigned blocks = course::kCpuDevice ? 4 : 256;
  const std::size_t n = std::size_t{blocks} * kCountsOfABlock * static_cast<std::size_t>(devices);
  ladder.reference("atomics", static_cast<double>(n), "that add 1 to one counter", n);
  for (const CountRung& rung : kCountRungs) {
    count_rung(ladder, rung, rung.one_device ? 1 : devices, blocks);
  }
}

// ---- the same bits on every number of devices --------------------------------------------------

void reproducible(course::Ladder& ladder) {
  const std::size_t n = course::kCpuDevice ? ladder.n() : std::size_t{1} << 20;
  std::vector<float> x = course::position_values<float>(n);
  for (std::size_t i = 0; i < n; ++i) x[i] /= static_cast<float>(1 + i % 97);  // nothing is exact
  std::set<double> sums;
  ladder.reference("different sums", 1, "of the same array in 1, 2, ..., 8 parts", n);
  for (const PartsRung& rung : kPartsRungs) {
    const course::Rung row{.name = rung.name,
                           .changed = rung.changed,
                           .launch =
                               [&] {
                                 sums.clear();
                                 for (int parts = 1; parts <= 8; ++parts)
                                   sums.insert(rung.sum(x, parts));
                               },
                           .result = [&] { return static_cast<double>(sums.size()); }};
    if (rung.because.empty()) {
      ladder.rung(row);
    } else {
      ladder.wrong(course::wrong_rung(row, course::Expect::wrong_value, rung.because));
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  course::Ladder ladder("11-many-gpus", argc, argv,
                        {.gpu_n = k2To30, .cpu_n = std::size_t{1} << 16});
  return ladder.run([](course::Ladder& rungs) {
    for (const std::size_t n : rungs.sizes({k2To10, k2To30})) sum(rungs, n);
    if (!course::kCpuDevice) {
      for (const std::size_t n : rungs.sizes({k2To30})) scaling(rungs, n);
    }
    vectors(rungs);
    scopes(rungs);
    reproducible(rungs);
  });
}
