// What is wrong on purpose is wrong in the way that the lesson says.
#include <catch2/catch_test_macros.hpp>
#include <course/check.cuh>
#include <cstddef>
#include <string>
#include <vector>

#include "rungs.cuh"

TEST_CASE("each wrong sum races where the lesson says, or is wrong every time") {
  for (const WrongSum& rung : kWrongSums) {
    const std::vector<float> x = course::position_values<float>(1000);
    INFO(rung.name << ", n = " << x.size());
    const auto d_x = course::DeviceBuffer<float>::from(x);
    auto y = course::DeviceBuffer<float>::zeros(2);
    if (rung.expect == course::Expect::wrong_value) {
      rung.launch(d_x.data(), x.size(), y.data());
      const float sum = y.front();
      REQUIRE(sum != static_cast<float>(sum_reference(x)));
      continue;
    }
    course::Findings findings;
    REQUIRE(course::expect_race(
        [&] {
          rung.launch(d_x.data(), x.size(), y.data());
          y.front();
        },
        &findings));
    if (!findings.checked) continue;
    INFO(findings.texts.front());
    REQUIRE(findings.texts.front().find(rung.reported) != std::string::npos);
  }
}

TEST_CASE("a shuffle whose mask names lanes that stay away never ends") {
  course::skip_without_checker();  // a GPU may hang
  const std::vector<float> x = course::position_values<float>(40);
  const auto d_x = course::DeviceBuffer<float>::from(x);
  auto y = course::DeviceBuffer<float>::zeros(1);
  INFO("sum_divergent_shuffle, n = " << x.size());
  const course::Findings findings = course::find_races([&] {
    course::launch(sum_divergent_shuffle, {blocks_for(x.size()), kBlockSize}, d_x.data(), x.size(),
                   y.data());
    CUDA_CHECK(cudaDeviceSynchronize());
  });
  REQUIRE(findings.races == 0);
  REQUIRE(findings.others > 0);
  INFO(findings.texts.front());
  REQUIRE(findings.texts.front().find("__shfl_down_sync") != std::string::npos);
}
