// What is wrong on purpose is wrong in the way that the lesson says.
#include <catch2/catch_test_macros.hpp>
#include <course/check.cuh>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "testing.cuh"

using namespace scan_testing;

TEST_CASE("each wrong scan races where the lesson says") {
  for (const WrongScan& rung : wrong_scans()) {
    const std::vector<float> x = exact_input(1000);
    INFO(rung.name << ", n = " << x.size());
    const auto d_x = course::DeviceBuffer<float>::from(x);
    course::DeviceBuffer<float> out(x.size());
    course::Findings findings;
    REQUIRE(course::expect_race([&] { rung.launch(d_x.data(), x.size(), out.data()); }, &findings));
    if (!findings.checked) continue;
    INFO(findings.texts.front());
    REQUIRE(findings.texts.front().find(rung.reported) != std::string::npos);
  }
}

TEST_CASE("without a ticket blocks wait for one that has not started") {
  course::skip_without_checker();  // a GPU may hang
  static bool done = false;        // it chooses its schedules itself: once is enough
  if (std::exchange(done, true)) return;
  using ShapeT = Shape<32, 1, 1>;
  constexpr std::size_t n = 128 * 2000;  // tiles: more than are resident
  const std::vector<float> x = exact_input(n);
  const auto d_x = course::DeviceBuffer<float>::from(x);
  course::DeviceBuffer<float> out(n);
  const auto launch = [&](std::uint64_t seed) {
    return course::find_races([&] {
      course::with_seed(seed, [&] {
        course::LookBackMemory<float> memory;
        const Arrays<float> in = split_arrays(d_x.data(), n, out.data());
        course::launch(scan_without_ticket<ShapeT>, {tiles_of<ShapeT>(in), ShapeT::kThreads}, in,
                       memory.next(tiles_of<ShapeT>(in)));
        CUDA_CHECK(cudaDeviceSynchronize());
      });
    });
  };
  INFO("scan_without_ticket, " << n / 128 << " tiles");
  const course::Findings in_order = launch(0);
  REQUIRE(in_order.races + in_order.others == 0);  // it is right where blocks start in their order
  const course::Findings findings = launch(2);     // a schedule that starts the last block first
  REQUIRE(findings.races == 0);
  REQUIRE(findings.endless_loops == 1);
  INFO(findings.texts.front());
  REQUIRE(findings.texts.front().find("have not started") != std::string::npos);
}
