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

#include "count.cuh"
#include "counter.cuh"
#include "host_sums.cuh"
#include "overlap.cuh"
#include "parts.cuh"
#include "reproducible.cuh"
#if COURSE_HAS_NCCL
#include "nccl_team.cuh"
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

/// An array over all devices, and the rungs' results.
struct Sums {
  Sums(std::size_t n, int count, Share (*share_by)(std::size_t, int, int) = share_of)
      : parts(make_parts(n, count, share_by)), cells(parts.size()), n(n) {
    fill(parts, values());
  }
  /// A rung whose launch returns the sum.
  course::Rung rung(const std::string& name, const std::string& changed,
                    const std::function<double()>& sum) {
    return {.name = name,
            .changed = changed,
            .launch = [this, sum] { y = sum(); },
            .result = [this] { return y; },
            .bytes = n * sizeof(float)};
  }
  std::vector<Part> parts;
  course::PinnedBuffer<double> cells;  // one a device
  std::size_t n;
  double y = 0;
};

/// *counter = 0, in any memory. cudaMemcpy may return before the data has arrived, and only the
/// current device's kernels wait for that.
void set_to_zero(double* counter) {
  const double zero = 0;
  CUDA_CHECK(cudaMemcpy(counter, &zero, sizeof zero, cudaMemcpyDefault));
  CUDA_CHECK(cudaDeviceSynchronize());
}

/// A rung that adds to a counter in device, managed or pinned memory, and reads it.
course::Rung counter_rung(Sums& s, const std::string& name, const std::string& changed,
                          double* counter) {
  course::Rung rung = s.rung(name, changed, [&s, counter] {
    double sum = 0;
    sum_one_counter<Among::system>(s.parts, counter);
    CUDA_CHECK(cudaMemcpy(&sum, counter, sizeof sum, cudaMemcpyDefault));
    return sum;
  });
  rung.reset = [counter] { set_to_zero(counter); };
  return rung;
}

void counters(course::Ladder& ladder, Sums& s) {
  const int devices = static_cast<int>(s.parts.size());
  if (managed_memory_has_atomics(devices)) {
    course::ManagedBuffer<double> counter(1);
    ladder.rung(counter_rung(s, "sum_managed_counter", "one counter, atomicAdd_system; managed",
                             counter.data()));
  } else {
    ladder.skip("sum_managed_counter", "devices cannot use managed memory at the same time here");
  }
  if (peer_memory_has_atomics(0, devices)) {
    const PeerAccess access(0, devices);
    course::DeviceBuffer<double> counter(1);
    ladder.rung(
        counter_rung(s, "sum_peer_counter", "the counter in device 0's memory", counter.data()));
  } else {
    ladder.skip("sum_peer_counter", "the links between the devices carry no atomics here");
  }
  if (host_memory_has_atomics(devices)) {
    course::PinnedBuffer<double> counter(1);
    ladder.rung(
        counter_rung(s, "sum_pinned_counter", "the counter in pinned host memory", counter.data()));
  } else {
    ladder.skip("sum_pinned_counter", "the link to the host carries no atomics here: see below");
  }
}

void collectives(course::Ladder& ladder, Sums& s) {
#if COURSE_HAS_NCCL
  if (!use_nccl()) return ladder.skip("sum_nccl", kNoNccl);
  NcclTeam team(static_cast<int>(s.parts.size()));
  ladder.rung(s.rung("sum_nccl", "ncclAllReduce of the devices' sums: all of them get it",
                     [&] { return sum_nccl(s.parts, team, s.cells); }));
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
  ladder.skip("sum_nccl", kNoNccl);
#endif
}

void sum(course::Ladder& ladder, std::size_t n) {
  const int devices = course::device_count();
  ladder.reference("CPU reference", sum_of_repeated(values(), n),
                   "one thread, in double; " + std::to_string(devices) + " devices", n);
  {
    Sums one(n, 1);
    ladder.rung(one.rung("sum_one_device", "one device has all of it",
                         [&] { return sum_copied_to_host(one.parts, one.cells); }));
  }
  Sums s(n, devices);
  counters(ladder, s);
  collectives(ladder, s);
  {
    Sums in_chunks(n, devices, share_in_chunks);
    course::PinnedBuffer<double> sums(chunks_of(n));
    ladder.rung(in_chunks.rung("sum_chunks_to_host", "the same bits on every number of devices",
                               [&] { return sum_chunks_to_host(in_chunks.parts, sums); }));
  }
  ladder.rung(s.rung("sum_copied_to_host", "each device's sum, copied",
                     [&] { return sum_copied_to_host(s.parts, s.cells); }));
  ladder.rung(s.rung("sum_stored_to_host", "stored there by the kernel",
                     [&] { return sum_stored_to_host(s.parts, s.cells); }));
}

/// The same share for every device, or the same array over more of them.
void scaling(course::Ladder& ladder, std::size_t base) {
  ladder.reference("scaling", 0, "elements on each device, or in all", base);
  for (const bool each : {true, false}) {
    for (const int devices : device_counts()) {
      const std::size_t n = each ? base * static_cast<std::size_t>(devices) : base;
      const double expected = sum_of_repeated(values(), n);
      Sums s(n, devices);
      course::Rung rung = s.rung("sum_stored_to_host", std::to_string(devices) + " devices",
                                 [&] { return sum_stored_to_host(s.parts, s.cells); });
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

#if COURSE_HAS_NCCL

/// *d_wrong += how many of the n elements are not those of the table, again and again.
__global__ void count_wrong(const float* d_x, std::size_t n, const float* d_table,
                            std::size_t period, unsigned long long* d_wrong) {
  const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < n && !(d_x[i] == d_table[i % period])) atomicAdd(d_wrong, 1ull);
}

/// Ok if every device has the sum of all layers.
course::Verdict check_vectors(const std::vector<VectorPart>& parts,
                              const std::vector<float>& expected) {
  for (const VectorPart& part : parts) {
    const course::OnDevice on(part.device);
    const auto d_expected = course::DeviceBuffer<float>::from(expected);
    auto d_wrong = course::DeviceBuffer<unsigned long long>::zeros(1);
    count_wrong<<<course::blocks_for(part.sum.size(), kLayerBlock), kLayerBlock>>>(
        part.sum.data(), part.sum.size(), d_expected.data(), expected.size(), d_wrong.data());
    CUDA_CHECK_LAUNCH();
    const course::Verdict verdict = course::same(
        d_wrong.front(), 0ull, "wrong elements on device " + std::to_string(part.device));
    if (!verdict) return verdict;
  }
  return {};
}

/// NCCL's all-reduce alone, from the vectors to their sum: the first n floats of each.
void all_reduce_and_wait(std::vector<VectorPart>& parts, NcclTeam& team, std::size_t n) {
  std::vector<cudaStream_t> streams;
  NCCL_CHECK(ncclGroupStart());
  for (VectorPart& part : parts) {
    streams.push_back(part.send.get());
    NCCL_CHECK(ncclAllReduce(part.layers.data(), part.sum.data(), n, ncclFloat, ncclSum,
                             team.comm(part.device), part.send.get()));
  }
  NCCL_CHECK(ncclGroupEnd());
  team.wait(streams);
}

/// What an all-reduce moves over a device's links, as nccl-tests counts: 2 (p - 1) / p times its
/// size, for p devices.
std::size_t bus_bytes(std::size_t bytes, int devices) {
  const auto p = static_cast<std::size_t>(devices);
  return 2 * bytes * (p - 1) / p;
}

/// The all-reduce of the first n floats of each device's vector.
course::Rung all_reduce_rung(std::vector<VectorPart>& parts, NcclTeam& team,
                             const std::vector<float>& expected, std::size_t n) {
  const int devices = team.devices();
  return {.name = "all_reduce_nccl",
          .changed = std::to_string(n * sizeof(float)) + " bytes, " + std::to_string(devices) +
                     " devices, one process",
          .launch = [&parts, &team, n] { all_reduce_and_wait(parts, team, n); },
          .check =
              [&parts, &expected, n] {
                float last = 0;
                CUDA_CHECK(cudaMemcpy(&last, parts.back().sum.data() + n - 1, sizeof last,
                                      cudaMemcpyDeviceToHost));
                return course::same(last, expected[(n - 1) % expected.size()], "last element");
              },
          .bytes = bus_bytes(n * sizeof(float), devices),
          .n = n};
}

constexpr std::size_t k1GiB = std::size_t{1} << 28;  // floats

/// NCCL alone: what one float costs, what the largest vector, and all sizes between them.
void all_reduces(course::Ladder& ladder, std::size_t most, int devices) {
  NcclTeam team(devices);
  auto parts = make_vector_parts(most, 1, devices, 1, kPeriod);
  const std::vector<float> expected = sum_of_layers(1, devices, kPeriod);
  for (const std::size_t n : {std::size_t{1}, most}) {
    ladder.reference("all-reduce", 0, "GB/s: bytes that cross a device's links", n);
    ladder.rung(all_reduce_rung(parts, team, expected, n));
  }
  ladder.reference("all-reduce", 0, "bytes that cross a device's links, over the vector's", most);
  for (std::size_t n = 1; n <= most; n *= 16) {
    course::Rung rung = all_reduce_rung(parts, team, expected, n);
    rung.series = "ncclAllReduce, " + std::to_string(devices) + " devices";
    rung.x = static_cast<double>(n * sizeof(float));
    ladder.rung(rung);
  }
}

void layers(course::Ladder& ladder, std::size_t n, int devices) {
  NcclTeam team(devices);
  auto parts = make_vector_parts(n, kLayers, devices, 32, kPeriod);
  const std::vector<float> expected = sum_of_layers(kLayers, devices, kPeriod);
  ladder.reference("8 vectors a device", static_cast<double>(expected[(n - 1) % kPeriod]),
                   "added up over all devices; the last element is shown", n);
  const auto rung = [&](const std::string& name, const std::string& changed, int chunks) {
    return course::Rung{.name = name,
                        .changed = changed,
                        .reset =
                            [&] {
                              for (VectorPart& part : parts) part.sum.fill_bytes(0xFF);
                              for (const VectorPart& part : parts) {
                                const course::OnDevice on(part.device);
                                CUDA_CHECK(cudaDeviceSynchronize());
                              }
                            },
                        .launch = [&, chunks] { all_reduce_layers(parts, chunks, team); },
                        .result =
                            [&] {
                              float last = 0;
                              CUDA_CHECK(cudaMemcpy(&last, parts.back().sum.data() + n - 1,
                                                    sizeof last, cudaMemcpyDeviceToHost));
                              return static_cast<double>(last);
                            },
                        .check = [&] { return check_vectors(parts, expected); },
                        .bytes = bus_bytes(n * sizeof(float), devices)};
  };
  ladder.vendor(rung("all_reduce_in_turn", "add up the 8, then ncclAllReduce", 1));
  for (const int chunks : {2, 4, 8, 16}) {
    ladder.rung(
        rung("all_reduce_overlapped", std::to_string(chunks) + " chunks, in two streams", chunks));
  }
}

#endif

void vectors(course::Ladder& ladder) {
#if COURSE_HAS_NCCL
  if (!use_nccl()) return ladder.skip("all_reduce_overlapped", kNoNccl);
  const int devices = course::device_count();
  if (devices < 2) {
    ladder.skip("all_reduce_nccl", kOneDevice);
    ladder.skip("all_reduce_overlapped", kOneDevice);
    return;
  }
  for (const std::size_t n : ladder.sizes({k1GiB})) {
    all_reduces(ladder, n, devices);
    layers(ladder, n, devices);
  }
#else
  ladder.skip("all_reduce_nccl", kNoNccl);
  ladder.skip("all_reduce_overlapped", kNoNccl);
#endif
}

// ---- one counter, many atomics -----------------------------------------------------------------

/// Counts on the first `devices` devices, and times it: additions per ns.
course::Rung count_rung(const std::string& name, const std::string& changed, int devices,
                        unsigned blocks, double* counter) {
  const std::size_t n = std::size_t{blocks} * kCountsOfABlock * static_cast<std::size_t>(devices);
  return {.name = name,
          .changed = changed,
          .reset = [=] { set_to_zero(counter); },
          .launch = [=] { count_everywhere<Among::system>(devices, blocks, counter); },
          .check =
              [=] {
                double count = 0;
                CUDA_CHECK(cudaMemcpy(&count, counter, sizeof count, cudaMemcpyDefault));
                return course::same(count, static_cast<double>(n), "count");
              },
          .n = n,
          .operations = n};
}

void scopes(course::Ladder& ladder) {
  const int devices = course::device_count();
  if (devices < 2) {
    ladder.skip("count_device_scope", kOneDevice);
    ladder.skip("count_pinned", kOneDevice);
    return;
  }
  const unsigned blocks = course::kCpuDevice ? 4 : 256;
  const std::size_t n = std::size_t{blocks} * kCountsOfABlock * static_cast<std::size_t>(devices);
  ladder.reference("atomics", static_cast<double>(n), "that add 1 to one counter", n);
  course::ManagedBuffer<double> managed(1);
  course::PinnedBuffer<double> pinned(1);
  course::DeviceBuffer<double> of_device_0(1);
  const bool under_sanitizer = !course::kCpuDevice && course::skip_large();
  if (!under_sanitizer) {
    ladder.rung(count_rung("count_pinned_one_device", "pinned host memory, one device", 1, blocks,
                           pinned.data()));
  }
  if (managed_memory_has_atomics(devices)) {
    ladder.rung(count_rung("count_managed", "managed memory, all devices", devices, blocks,
                           managed.data()));
  }
  if (peer_memory_has_atomics(0, devices)) {
    const PeerAccess access(0, devices);
    ladder.rung(count_rung("count_peer", "device 0's memory, all devices", devices, blocks,
                           of_device_0.data()));
  }
  ladder.wrong(
      {.name = "count_device_scope",
       .changed = "managed memory, all devices, but atomicAdd",
       .expect = course::Expect::race,
       .because = "atomicAdd is atomic among the threads of one device; right values are luck",
       .reset = [&] { managed[0] = 0; },
       .launch = [&] { count_everywhere<Among::device>(devices, blocks, managed.data()); },
       .result = [&] { return managed[0]; }});
  if (host_memory_has_atomics(devices)) {
    ladder.rung(count_rung("count_pinned", "pinned host memory, all devices", devices, blocks,
                           pinned.data()));
    return;
  }
  if (under_sanitizer) {
    return ladder.skip("count_pinned", "memcheck stops it: an invalid system-scoped atomic");
  }
  ladder.wrong({.name = "count_pinned",
                .changed = "pinned host memory, all devices",
                .expect = course::Expect::race,
                .because =
                    "cudaDevAttrHostNativeAtomicSupported is 0: the link has no atomics, so a "
                    "device loads, adds and stores",
                .reset = [&] { pinned[0] = 0; },
                .launch = [&] { count_everywhere<Among::system>(devices, blocks, pinned.data()); },
                .result = [&] { return pinned[0]; }});
}

// ---- the same bits on every number of devices
// -----------------------------------------------------

void reproducible(course::Ladder& ladder) {
  const std::size_t n = course::kCpuDevice ? ladder.n() : std::size_t{1} << 20;
  std::vector<float> x = course::position_values<float>(n);
  for (std::size_t i = 0; i < n; ++i) x[i] /= static_cast<float>(1 + i % 97);  // nothing is exact
  std::set<double> sums;
  const auto rung_of = [&](double (*sum)(const std::vector<float>&, int)) {
    return [&sums, &x, sum] {
      sums.clear();
      for (int parts = 1; parts <= 8; ++parts) sums.insert(sum(x, parts));
    };
  };
  const auto result = [&] { return static_cast<double>(sums.size()); };
  ladder.reference("different sums", 1, "of the same array in 1, 2, ..., 8 parts", n);
  ladder.wrong({.name = "sum_in_shares",
                .changed = "a part is n / parts elements",
                .expect = course::Expect::wrong_value,
                .because = "which elements meet in a float depends on the number of parts",
                .launch = rung_of(sum_in_shares),
                .result = result});
  ladder.rung(
      {.name = "sum_in_chunks",
       .changed = "a part is whole chunks; the chunks' sums in their order; with all copies",
       .launch = rung_of(sum_in_chunks),
       .result = result});
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
