// Where an atomic is none: atomicAdd among devices, pinned memory over a link without atomics; and
// memory that a device may not use.
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <course/check.cuh>
#include <course/devices.cuh>
#include <course/host_memory.cuh>
#include <cstddef>
#include <numeric>
#include <vector>

#include "testing.cuh"

using Catch::Matchers::ContainsSubstring;

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
    INFO("device 1 sums 100 floats of device 0");
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
    INFO("device 1 sums 1000 floats of device 0");
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
    INFO("after the peer access has ended");
    if (course::kCpuDevice) REQUIRE(course::find_races(sum_by_device_1).others == 1);
  });
}

TEST_CASE("count_everywhere: atomicAdd among devices is a race") {
  course::skip_without_checker();
  course::with_devices(2, [] {
    course::ManagedBuffer<double> counter(1);
    counter[0] = 0;
    course::Findings found;
    const CountRung rung = course::rung_named(kCountRungs, "count_device_scope");
    INFO(rung.name << ", 2 devices");
    REQUIRE(course::expect_race([&] { rung.launch(2, 2, counter.data()); }, &found));
    REQUIRE_THAT(found.texts[0], ContainsSubstring("atomicAdd_system"));
  });
}

TEST_CASE("count_everywhere: atomicAdd on one device alone is none") {
  course::ManagedBuffer<double> counter(1);
  counter[0] = 0;
  INFO("1 device, 2 blocks, each counts " << kCountsOfABlock);
  count_everywhere<Among::device>(1, 2, counter.data());
  REQUIRE(course::same(counter[0], 2.0 * kCountsOfABlock, "*counter"));
}

TEST_CASE("count_everywhere: atomicAdd_system in managed memory counts all") {
  course::on_devices(2, [] {
    if (!managed_memory_has_atomics(2)) SKIP("devices cannot use managed memory at the same time");
    const unsigned blocks = course::kCpuDevice ? 4 : 256;
    for (const CountRung& rung : kCountRungs) {  // and in any other memory that carries atomics
      const int devices = rung.one_device ? 1 : 2;
      if (!rung.is_right(devices)) continue;
      if (rung.in_host_memory && !course::kCpuDevice && course::skip_large()) continue;
      INFO(rung.name << ", devices: " << devices << ", blocks of each: " << blocks);
      const Counter counter = rung.make(devices);
      set_to_zero(counter.data);
      rung.launch(devices, blocks, counter.data);
      REQUIRE(course::same(value_of(counter.data), devices * 1.0 * blocks * kCountsOfABlock,
                           "*counter"));
    }
  });
}

TEST_CASE("count_everywhere: pinned memory has atomics only if the link to the host has") {
  course::skip_without_checker();
  course::with_devices(2, [] {
    course::PinnedBuffer<double> counter(1);
    const CountRung rung = course::rung_named(kCountRungs, "count_pinned");
    const auto count = [&] {
      counter[0] = 0;
      rung.launch(2, 2, counter.data());
    };
    course::with_host_atomics(false, [&] {
      REQUIRE_FALSE(rung.is_right(2));
      REQUIRE(rung.is_right(1));
      course::Findings found;
      INFO("count_pinned, 2 devices, a link without atomics");
      REQUIRE(course::expect_race(count, &found));
      REQUIRE_THAT(found.texts[0], ContainsSubstring("cudaDevAttrHostNativeAtomicSupported"));
    });
    course::with_host_atomics(true, [&] {
      INFO("count_pinned, 2 devices, a link with atomics");
      REQUIRE(rung.is_right(2));
      count();
      REQUIRE(course::same(counter[0], 4.0 * kCountsOfABlock, "*counter"));
    });
  });
}
