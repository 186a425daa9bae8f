// What is wrong on purpose is wrong in the way that the lesson says.
#include <catch2/catch_test_macros.hpp>
#include <course/check.cuh>
#include <cstddef>
#include <string>
#include <vector>

#include "rungs.cuh"

TEST_CASE("an ordinary message without release and acquire, or fences of device scope, is a race") {
  LitmusMemory memory{kBlockSize};
  for (const LitmusGroup& group : litmus_groups()) {
    for (const LitmusRung& rung : group.rungs) {
      if (!rung.is_race) continue;
      INFO(rung.name << ", n = " << 8 * memory.tests);
      memory.weak.fill_bytes(0);
      course::Findings findings;
      REQUIRE(course::expect_race(
          [&] {
            rung.launch(8 * memory.tests, memory);
            CUDA_CHECK(cudaDeviceSynchronize());
          },
          &findings));
      if (!findings.checked) continue;
      INFO(findings.texts.front());
      REQUIRE(findings.texts.front().find("litmus.cuh") != std::string::npos);
    }
  }
}

TEST_CASE("a release by thread 0 covers what the others wrote only with a barrier on both sides") {
  HandoverMemory memory{4};
  const auto d_x =
      DeviceBuffer<unsigned>::from(course::position_values<unsigned>(memory.parts.size()));
  for (const HandoverRung& rung : handover_rungs()) {
    INFO(rung.name);
    memory.reset();
    const auto launch = [&] {
      rung.launch(d_x.data(), memory);
      CUDA_CHECK(cudaDeviceSynchronize());
    };
    if (rung.because.empty()) {
      const course::Findings findings = course::find_races(launch);
      REQUIRE(course::same(findings.races + findings.others, 0, "findings"));
      continue;
    }
    course::Findings findings;
    REQUIRE(course::expect_race(launch, &findings));
    if (!findings.checked) continue;
    INFO(findings.texts.front());
    REQUIRE(findings.texts.front().find("handover.cuh") != std::string::npos);
  }
}

TEST_CASE(
    "without a tag the compare-and-swap takes A for unchanged, and B is in the list and in use") {
  for (const AbaRung& rung : aba_rungs()) {
    INFO(rung.name);
    StackMemory<Untagged> memory{4};
    memory.reset();
    rung.launch(memory);
    const std::vector<unsigned> kept = memory.counts.download();
    REQUIRE(course::same(kept[0], 0u, "the node of block 0"));
    REQUIRE(course::same(kept[1], 1u, "the node of block 1"));
    REQUIRE(course::same(memory.head.front().node, 1u, "the first node of the list"));
  }
}
