// Self-check of chapter 11: shares, sums over one to four devices, which memory carries atomics,
// the order of the devices' work, and that every broken variant is seen to be broken.
#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <cmath>
#include <course/check.cuh>
#include <course/devices.cuh>
#include <course/host_memory.cuh>
#include <cstddef>
#include <numeric>
#include <stdexcept>
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

namespace {

using Catch::Matchers::ContainsSubstring;

constexpr std::size_t kPeriod = 1009;  // of the values: a prime

/// Sizes around a chunk, besides the usual ones.
std::vector<std::size_t> sizes() {
  std::vector<std::size_t> all = course::all_sizes();
  all.insert(all.end(), {kChunk - 1, kChunk, 2 * kChunk + 5});
  return all;
}

/// A few of them for every number of devices: fewer elements than devices, and uneven shares.
const std::vector<std::size_t> kFewSizes = {0, 1, 3, 257, 1025, 2 * kChunk + 5};

/// An array over devices, filled, with its exact sum.
struct Spread {
  Spread(std::size_t n, int devices) : parts(make_parts(n, devices)), cells(parts.size()) {
    const std::vector<float> table = course::position_values<float>(kPeriod);
    fill(parts, table);
    expected = sum_of_repeated(table, n);
  }
  std::vector<Part> parts;
  course::PinnedBuffer<double> cells;
  double expected = 0;
};

/// Runs `test(devices)` on machines of one to four devices.
template <class Test>
void on_one_to_four_devices(Test test) {
  for (int devices = 1; devices <= 4; ++devices) {
    course::with_devices(devices, [&] { test(devices); });
  }
}

#if COURSE_HAS_NCCL
void skip_without_nccl() {
  if (course::skip_large()) SKIP("compute-sanitizer reports NCCL's own kernels");
}
#else
void skip_without_nccl() { SKIP("built without NCCL"); }
#endif

}  // namespace

TEST_CASE("share_of: every element is in exactly one share") {
  for (int parts = 1; parts <= 9; ++parts) {
    for (const std::size_t n : {0ull, 1ull, 2ull, 8ull, 1000ull, (1ull << 62) + 3}) {
      std::size_t begin = 0;
      for (int part = 0; part < parts; ++part) {
        const Share share = share_of(n, part, parts);
        INFO("share_of(" << n << ", " << part << ", " << parts << ")");
        REQUIRE(course::same(share.begin, begin, "begin"));
        REQUIRE(share.size - n / static_cast<std::size_t>(parts) <= 1);
        begin += share.size;
      }
      REQUIRE(course::same(begin, n, "elements of all shares"));
    }
  }
}

TEST_CASE("share_in_chunks: whole chunks, every element once") {
  for (int parts = 1; parts <= 5; ++parts) {
    for (const std::size_t n : sizes()) {
      std::size_t begin = 0;
      for (int part = 0; part < parts; ++part) {
        const Share share = share_in_chunks(n, part, parts);
        INFO("share_in_chunks(" << n << ", " << part << ", " << parts << ")");
        if (share.size > 0) REQUIRE(course::same(share.begin, begin, "begin"));
        if (share.size > 0) REQUIRE(share.begin % kChunk == 0);
        begin += share.size;
      }
      REQUIRE(course::same(begin, n, "elements of all shares"));
    }
  }
}

TEST_CASE("local_sum: every size, and the same bits every time") {
  for (const std::size_t n : sizes()) {
    INFO("n = " << n);
    std::vector<float> x = course::position_values<float>(n);
    const double expected = std::accumulate(x.begin(), x.end(), 0.0);
    auto d_x = course::DeviceBuffer<float>::from(x);
    course::DeviceBuffer<double> workspace(chunks_of(n));
    course::GuardedBuffer<double> sum(1);
    local_sum(d_x.data(), n, sum.data(), workspace.data(), nullptr);
    REQUIRE(course::same(sum.download()[0], expected, "sum"));
    REQUIRE(sum.intact("sum"));
    for (float& value : x) value /= 3.0f;  // rounded, so that the order shows
    d_x.upload(x);
    local_sum(d_x.data(), n, sum.data(), workspace.data(), nullptr);
    const double first = sum.download()[0];
    local_sum(d_x.data(), n, sum.data(), workspace.data(), nullptr);
    REQUIRE(course::same(sum.download()[0], first, "the second sum"));
    const double rounded = std::accumulate(x.begin(), x.end(), 0.0);
    REQUIRE(course::close(first, rounded, course::sum_tolerance(x), "sum"));
  }
}

TEST_CASE("fill: an element's value does not depend on the number of devices") {
  const std::vector<float> table = course::position_values<float>(kPeriod);
  on_one_to_four_devices([&](int devices) {
    Spread s(2500, devices);
    for (const Part& part : s.parts) {
      const std::vector<float> x = part.x.download();
      for (std::size_t i = 0; i < x.size(); ++i) {
        INFO("element " << part.share.begin + i << ", on device " << part.device);
        REQUIRE(x[i] == table[(part.share.begin + i) % kPeriod]);
      }
    }
  });
}

TEST_CASE("sum_copied_to_host, sum_stored_to_host: every size on one to four devices") {
  on_one_to_four_devices([](int devices) {
    for (const std::size_t n : kFewSizes) {
      Spread s(n, devices);
      INFO(n << " elements on " << devices << " devices");
      REQUIRE(course::same(sum_copied_to_host(s.parts, s.cells), s.expected, "copied"));
      for (std::size_t i = 0; i < s.cells.size(); ++i) s.cells[i] = NAN;
      REQUIRE(course::same(sum_stored_to_host(s.parts, s.cells), s.expected, "stored"));
    }
  });
}

TEST_CASE("sum_chunks_to_host: every size on one to four devices") {
  on_one_to_four_devices([](int devices) {
    for (const std::size_t n : kFewSizes) {
      const std::vector<float> table = course::position_values<float>(kPeriod);
      auto parts = make_parts(n, devices, share_in_chunks);
      fill(parts, table);
      course::PinnedBuffer<double> sums(chunks_of(n));
      INFO(n << " elements on " << devices << " devices");
      REQUIRE(course::same(sum_chunks_to_host(parts, sums), sum_of_repeated(table, n), "sum"));
    }
  });
}

TEST_CASE("all devices have their work before the host waits") {
  course::skip_without_counters();
  course::with_devices(3, [] {
    Spread s(1000, 3);
    course::ManagedBuffer<double> counter(1);
    counter[0] = 0;
    const auto at_once = [](const std::function<void()>& work) {
      return course::count(work)->devices_at_once;
    };
    REQUIRE(at_once([&] { sum_copied_to_host(s.parts, s.cells); }) == 3);
    REQUIRE(at_once([&] { sum_stored_to_host(s.parts, s.cells); }) == 3);
    REQUIRE(at_once([&] { sum_one_counter<Among::system>(s.parts, counter.data()); }) == 3);
  });
}

TEST_CASE("sum_one_counter: managed memory, if devices may share it") {
  on_one_to_four_devices([](int devices) {
    if (!managed_memory_has_atomics(devices)) return;
    for (const std::size_t n : kFewSizes) {
      const Spread s(n, devices);
      INFO(n << " elements on " << devices << " devices");
      course::ManagedBuffer<double> counter(1);
      counter[0] = 0;
      sum_one_counter<Among::system>(s.parts, counter.data());
      REQUIRE(course::same(counter[0], s.expected, "*counter"));
    }
  });
}

TEST_CASE("sum_one_counter: a device's memory, if the links carry atomics") {
  on_one_to_four_devices([](int devices) {
    if (!peer_memory_has_atomics(0, devices)) return;
    const PeerAccess access(0, devices);
    for (const std::size_t n : kFewSizes) {
      const Spread s(n, devices);
      INFO(n << " elements on " << devices << " devices");
      auto counter = course::DeviceBuffer<double>::zeros(1);
      CUDA_CHECK(cudaDeviceSynchronize());
      sum_one_counter<Among::system>(s.parts, counter.data());
      REQUIRE(course::same(counter.front(), s.expected, "*counter"));
    }
  });
}

TEST_CASE("sum_one_counter: an atomic a block") {
  course::skip_without_counters();
  const Spread s(3 * kChunk, 1);
  course::ManagedBuffer<double> counter(1);
  counter[0] = 0;
  const auto counters =
      course::count([&] { sum_one_counter<Among::system>(s.parts, counter.data()); });
  REQUIRE(course::same(counters->global_atomic_lanes, counters->blocks, "atomics"));
}

TEST_CASE("peer_memory_has_atomics: the topology is asked") {
  course::on_devices(2, [] {
    course::with_peer_access(true, [] { REQUIRE(peer_memory_has_atomics(0, 2)); });
    course::with_peer_access(false, [] {
      REQUIRE_FALSE(peer_memory_has_atomics(0, 2));
      REQUIRE(peer_memory_has_atomics(0, 1));  // one device needs no link
      REQUIRE_THROWS_AS(PeerAccess(0, 2), course::CudaError);
      static_cast<void>(cudaGetLastError());
    });
  });
}

TEST_CASE("a pointer on the wrong device is reported") {
  course::skip_without_checker();
  course::with_devices(2, [] {
    course::DeviceBuffer<float> of_device_0(100);
    of_device_0.fill_bytes(0);
    CUDA_CHECK(cudaDeviceSynchronize());
    course::PinnedBuffer<double> sum(1);
    const course::Findings found = course::find_races([&] {
      const course::OnDevice on(1);
      course::DeviceBuffer<double> workspace(1);
      local_sum(of_device_0.data(), 100, sum.data(), workspace.data(), nullptr);
      CUDA_CHECK(cudaDeviceSynchronize());
    });
    REQUIRE(found.others == 1);
    REQUIRE_THAT(found.texts[0], ContainsSubstring("device 0") && ContainsSubstring("device 1"));
  });
}

TEST_CASE("memory of another device may be used while there is peer access, and not after it") {
  course::on_devices(2, [] {
    if (!peer_memory_has_atomics(0, 2)) SKIP("the links between the devices carry no atomics");
    const std::vector<float> x = course::position_values<float>(1000);
    const auto d_x = course::DeviceBuffer<float>::from(x);
    CUDA_CHECK(cudaDeviceSynchronize());  // device 1 does not wait for copies of device 0
    course::PinnedBuffer<double> sum(1);
    const auto sum_by_device_1 = [&] {
      const course::OnDevice on(1);
      course::DeviceBuffer<double> workspace(1);
      local_sum(d_x.data(), x.size(), sum.data(), workspace.data(), nullptr);
      CUDA_CHECK(cudaDeviceSynchronize());
    };
    {
      const PeerAccess access(0, 2);
      sum_by_device_1();
      REQUIRE(course::same(sum[0], std::accumulate(x.begin(), x.end(), 0.0), "sum"));
    }
    if (course::kCpuDevice) REQUIRE(course::find_races(sum_by_device_1).others == 1);
  });
}

TEST_CASE("count_everywhere: atomicAdd among devices is a race") {
  course::skip_without_checker();
  course::with_devices(2, [] {
    course::ManagedBuffer<double> counter(1);
    counter[0] = 0;
    course::Findings found;
    REQUIRE(course::expect_race([&] { count_everywhere<Among::device>(2, 2, counter.data()); },
                                &found));
    REQUIRE_THAT(found.texts[0], ContainsSubstring("atomicAdd_system"));
  });
}

TEST_CASE("count_everywhere: atomicAdd on one device alone is none") {
  course::ManagedBuffer<double> counter(1);
  counter[0] = 0;
  count_everywhere<Among::device>(1, 2, counter.data());
  REQUIRE(course::same(counter[0], 2.0 * kCountsOfABlock, "*counter"));
}

TEST_CASE("count_everywhere: atomicAdd_system in managed memory counts all") {
  course::on_devices(2, [] {
    if (!managed_memory_has_atomics(2)) SKIP("devices cannot use managed memory at the same time");
    course::ManagedBuffer<double> counter(1);
    counter[0] = 0;
    const unsigned blocks = course::kCpuDevice ? 4 : 256;
    count_everywhere<Among::system>(2, blocks, counter.data());
    REQUIRE(course::same(counter[0], 2.0 * blocks * kCountsOfABlock, "*counter"));
  });
}

TEST_CASE("count_everywhere: pinned memory has atomics only if the link to the host has") {
  course::skip_without_checker();
  course::with_devices(2, [] {
    course::PinnedBuffer<double> counter(1);
    const auto count = [&] {
      counter[0] = 0;
      count_everywhere<Among::system>(2, 2, counter.data());
    };
    course::with_host_atomics(false, [&] {
      REQUIRE_FALSE(host_memory_has_atomics(2));
      REQUIRE(host_memory_has_atomics(1));
      course::Findings found;
      REQUIRE(course::expect_race(count, &found));
      REQUIRE_THAT(found.texts[0], ContainsSubstring("cudaDevAttrHostNativeAtomicSupported"));
    });
    course::with_host_atomics(true, [&] {
      REQUIRE(host_memory_has_atomics(2));
      count();
      REQUIRE(course::same(counter[0], 4.0 * kCountsOfABlock, "*counter"));
    });
  });
}

TEST_CASE("sum_in_chunks: the same bits for every number of parts") {
  const std::size_t n = 2 * kChunk + 77;
  std::vector<float> x = course::position_values<float>(n);
  for (std::size_t i = 0; i < n; ++i) x[i] /= static_cast<float>(1 + i % 97);
  const double exact = std::accumulate(x.begin(), x.end(), 0.0);
  const double one = sum_in_chunks(x, 1);
  REQUIRE(course::close(one, exact, course::sum_tolerance(x), "sum"));
  int other_bits = 0;
  for (int parts = 2; parts <= 8; ++parts) {
    INFO(parts << " parts");
    REQUIRE(course::same(sum_in_chunks(x, parts), one, "sum_in_chunks"));
    const double shares = sum_in_shares(x, parts);
    REQUIRE(course::close(shares, exact, course::sum_tolerance(x), "sum_in_shares"));
    if (shares != one) ++other_bits;
  }
  INFO("sum_in_shares() depends on the number of parts");
  REQUIRE(other_bits > 0);
}

TEST_CASE("sum_in_chunks: fewer chunks than parts, and none") {
  for (const std::size_t n : {std::size_t{0}, std::size_t{1}, kChunk, kChunk + 1}) {
    INFO("n = " << n);
    const std::vector<float> x = course::position_values<float>(n);
    const double expected = std::accumulate(x.begin(), x.end(), 0.0);
    REQUIRE(course::same(sum_in_chunks(x, 4), expected, "sum"));
    REQUIRE(course::same(sum_in_shares(x, 4), expected, "sum"));
  }
}

TEST_CASE("add_layers: every size, whole and in chunks") {
  const std::vector<float> expected = sum_of_layers(kLayers, 1, kPeriod);
  for (const std::size_t n : course::kSizes) {
    auto parts = make_vector_parts(n, kLayers, 1, 1, kPeriod);
    for (const int chunks : {1, 3, 40}) {
      INFO("n = " << n << " in " << chunks << " chunks");
      parts[0].sum.fill_bytes(0xFF);
      CUDA_CHECK(cudaDeviceSynchronize());
      for (int i = 0; i < chunks; ++i) {
        add_layers(parts[0].layers.data(), n, share_of(n, i, chunks), parts[0].sum.data(),
                   parts[0].compute.get());
      }
      CUDA_CHECK(cudaDeviceSynchronize());
      const std::vector<float> sum = parts[0].sum.download();
      for (std::size_t i = 0; i < n; ++i) REQUIRE(sum[i] == expected[i % kPeriod]);
    }
  }
}

TEST_CASE("sum_nccl: every size, on one device to all") {
  skip_without_nccl();
#if COURSE_HAS_NCCL
  for (int devices = 1; devices <= course::device_count(); ++devices) {
    NcclTeam team(devices);
    for (const std::size_t n : sizes()) {
      Spread s(n, devices);
      INFO(n << " elements on " << devices << " devices");
      REQUIRE(course::same(sum_nccl(s.parts, team, s.cells), s.expected, "sum"));
      for (const Part& part : s.parts) {
        INFO("on device " << part.device);
        REQUIRE(course::same(part.sum.front(), s.expected, "sum"));
      }
    }
  }
#endif
}

TEST_CASE("all_reduce_layers: every size, every number of chunks") {
  skip_without_nccl();
#if COURSE_HAS_NCCL
  const int devices = course::device_count();
  NcclTeam team(devices);
  const std::vector<float> expected = sum_of_layers(kLayers, devices, kPeriod);
  for (const std::size_t n :
       {std::size_t{1}, std::size_t{5}, std::size_t{1025}, course::kBigSize}) {
    auto parts = make_vector_parts(n, kLayers, devices, 16, kPeriod);
    for (const int chunks : {1, 2, 3, 16}) {
      INFO(n << " floats in " << chunks << " chunks on " << devices << " devices");
      for (VectorPart& part : parts) {
        const course::OnDevice on(part.device);
        part.sum.fill_bytes(0xFF);
        CUDA_CHECK(cudaDeviceSynchronize());
      }
      all_reduce_layers(parts, chunks, team);
      for (const VectorPart& part : parts) {
        const std::vector<float> sum = part.sum.download();
        for (std::size_t i = 0; i < n; ++i) {
          INFO("sum[" << i << "] of device " << part.device);
          REQUIRE(sum[i] == expected[i % kPeriod]);
        }
      }
    }
  }
#endif
}

TEST_CASE("NcclTeam::wait: a collective that lacks a partner is given up, and named") {
  skip_without_nccl();
#if COURSE_HAS_NCCL
  course::skip_without_devices(2);
  course::skip_under_sanitizer();
  NcclTeam team(2);
  Spread s(100, 2);
  sum_nccl(s.parts, team, s.cells);  // the links are up
  NCCL_CHECK(ncclAllReduce(s.parts[0].sum.data(), s.parts[0].sum.data(), 1, ncclDouble, ncclSum,
                           team.comm(0), nullptr));
  std::string message;
  try {
    team.wait({nullptr, nullptr}, 2);
  } catch (const std::runtime_error& error) {
    message = error.what();
  }
  REQUIRE_THAT(message, ContainsSubstring("still waiting: device 0\n"));
#endif
}

TEST_CASE("NcclTeam: a device that is missing is an error") {
  skip_without_nccl();
#if COURSE_HAS_NCCL
  REQUIRE_THROWS_AS(NcclTeam(course::device_count() + 1), std::runtime_error);
  static_cast<void>(cudaGetLastError());
#endif
}
