// What the lesson says of orders: which weak results the CPU device's schedules show, what no order
// allows, and that the checker reports the ordinary message that nothing orders.
#include <catch2/catch_test_macros.hpp>
#include <course/check.cuh>
#include <cstddef>
#include <vector>

#include "rungs.cuh"

TEST_CASE("the schedules show the weak results that the lesson says, and none that is forbidden") {
  const std::size_t tests = course::kCpuDevice ? kBlockSize : std::size_t{1} << 18;
  LitmusMemory memory{tests};
  for (const LitmusGroup& group : litmus_groups()) {
    for (const LitmusRung& rung : group.rungs) {
      if (rung.is_race) continue;
      INFO(rung.name << ", n = " << 2 * tests);
      memory.weak.fill_bytes(0);
      // Schedule 0 shows none: this one, and two others.
      for (const std::uint64_t seed :
           {course::seed(), 2 * course::seed() + 1, 2 * course::seed() + 2}) {
        course::with_seed(seed, [&] {
          rung.launch(2 * tests, memory);
          CUDA_CHECK(cudaDeviceSynchronize());
        });
      }
      const ull weak = memory.weak.front();
      if (!rung.weak_is_allowed) CHECK(course::none(weak, "weak results"));
      if (!course::kCpuDevice) continue;
      if (rung.shown_by_schedules) CHECK(course::at_least(weak, 1, "weak results"));
      if (!rung.shown_by_schedules) CHECK(course::none(weak, "weak results"));
    }
  }
}
