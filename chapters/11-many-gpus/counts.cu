// How many atomics the rungs of this chapter make, and that all devices work at the same time.
#include <catch2/catch_test_macros.hpp>
#include <course/check.cuh>
#include <course/devices.cuh>
#include <course/host_memory.cuh>
#include <cstddef>
#include <functional>

#include "testing.cuh"

TEST_CASE("all devices have their work before the host waits") {
  course::skip_without_counters();
  course::with_devices(3, [] {
    const auto at_once = [](const std::function<void()>& work) {
      return course::count(work)->devices_at_once;
    };
    for (const HostRung& rung : kHostRungs) {
      Filled s(3 * kChunk, 3, rung.in_chunks);
      INFO(rung.name << ", n = " << 3 * kChunk << " on 3 devices");
      REQUIRE(course::same(at_once([&] { rung.sum(s.parts, s.cells); }), 3, "devices at once"));
    }
    const Filled s(1000, 3);
    course::ManagedBuffer<double> counter(1);
    counter[0] = 0;
    INFO("sum_one_counter, n = 1000 on 3 devices");
    REQUIRE(course::same(at_once([&] { sum_one_counter<Among::system>(s.parts, counter.data()); }),
                         3, "devices at once"));
  });
}

TEST_CASE("sum_one_counter: one atomic per block") {
  course::skip_without_counters();
  const Filled s(3 * kChunk, 1);
  course::ManagedBuffer<double> counter(1);
  counter[0] = 0;
  const auto counters =
      course::count([&] { sum_one_counter<Among::system>(s.parts, counter.data()); });
  INFO("n = " << 3 * kChunk << " on one device");
  REQUIRE(course::same(counters->global_atomic_lanes, counters->blocks, "atomics"));
}
