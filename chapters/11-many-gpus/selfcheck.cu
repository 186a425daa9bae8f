// Self-check of chapter 11: shares, and sums over one to four devices, of every size.
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

#include "overlap.cuh"
#include "testing.cuh"
#if COURSE_HAS_NCCL
#include "nccl_team.cuh"
#endif

namespace {

using Catch::Matchers::ContainsSubstring;

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
    const Filled s(2500, devices);
    for (const Part& part : s.parts) {
      const std::vector<float> x = part.x.download();
      for (std::size_t i = 0; i < x.size(); ++i) {
        INFO("element " << part.share.begin + i << ", on device " << part.device);
        REQUIRE(x[i] == table[(part.share.begin + i) % kPeriod]);
      }
    }
  });
}

TEST_CASE("sums that meet on the host: every size on one to four devices") {
  on_one_to_four_devices([](int devices) {
    std::vector<HostRung> rungs = kHostRungs;
    if (devices == 1) rungs.push_back(kOneDeviceRung);
    for (const HostRung& rung : rungs) {
      for (const std::size_t n : kFewSizes) {
        Filled s(n, devices, rung.in_chunks);
        for (std::size_t i = 0; i < s.cells.size(); ++i) s.cells[i] = NAN;
        INFO(rung.name << ": " << n << " elements on " << devices << " devices");
        REQUIRE(course::same(rung.sum(s.parts, s.cells), s.expected, "sum"));
      }
    }
  });
}

TEST_CASE("sum_one_counter: every memory that carries atomics, every size on one to four devices") {
  on_one_to_four_devices([](int devices) {
    for (const CounterRung& rung : kCounterRungs) {
      if (!rung.has_atomics(devices)) continue;
      if (!course::kCpuDevice && course::skip_large() && rung.name == "sum_pinned_counter")
        continue;
      const Counter counter = rung.make(devices);
      for (const std::size_t n : kFewSizes) {
        const Filled s(n, devices);
        INFO(rung.name << ": " << n << " elements on " << devices << " devices");
        set_to_zero(counter.data);
        REQUIRE(course::same(rung.sum(s.parts, counter.data), s.expected, "*counter"));
      }
    }
  });
}

TEST_CASE("sum_in_chunks: the same bits for every number of parts") {
  const std::size_t n = 2 * kChunk + 77;
  std::vector<float> x = course::position_values<float>(n);
  for (std::size_t i = 0; i < n; ++i) x[i] /= static_cast<float>(1 + i % 97);
  const double exact = std::accumulate(x.begin(), x.end(), 0.0);
  for (const PartsRung& rung : kPartsRungs) {
    const double one = rung.sum(x, 1);
    int other_bits = 0;
    for (int parts = 1; parts <= 8; ++parts) {
      INFO(rung.name << ", " << parts << " parts");
      const double sum = rung.sum(x, parts);
      REQUIRE(course::close(sum, exact, course::sum_tolerance(x), "sum"));
      if (rung.because.empty()) REQUIRE(course::same(sum, one, "sum"));
      if (sum != one) ++other_bits;
    }
    INFO(rung.name << (rung.because.empty() ? "" : " depends on the number of parts"));
    REQUIRE((other_bits > 0) == !rung.because.empty());
  }
}

TEST_CASE("sum_in_chunks: fewer chunks than parts, and none") {
  for (const std::size_t n : {std::size_t{0}, std::size_t{1}, kChunk, kChunk + 1}) {
    INFO("n = " << n);
    const std::vector<float> x = course::position_values<float>(n);
    const double expected = std::accumulate(x.begin(), x.end(), 0.0);
    for (const PartsRung& rung : kPartsRungs) {
      REQUIRE(course::same(rung.sum(x, 4), expected, rung.name));
    }
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
      Filled s(n, devices);
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
  Filled s(100, 2);
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
