// Check of the exercise ticket: lists that are too short, just long enough and too long, a list
// that holds something already, up to billions of hits, every kind of grid and of limit. The order
// in the list is free.
#include "ticket.cuh"

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <course/check.cuh>
#include <cstddef>
#include <string>
#include <vector>

#include "checks/loads.cuh"
#include "checks/loud.cuh"

namespace {

using namespace loud;
using Launch = course::LaunchShape;

/// Launches the kernel, and checks all that it promises.
void append(List& list, const std::vector<float>& values, Launch launch, float limit = kLimit) {
  const unsigned before = list.required();
  INFO("limit " << course::number_text(limit) << ", capacity " << list.capacity
                << ", required holds " << before << " before the launch");
  const std::vector<unsigned> hits_before = list.hits.download();
  // Reports call memory by the launch's arguments: these have the learner's names.
  const auto samples = course::DeviceBuffer<float>::from(values);
  unsigned* const hits = list.hits.data();
  unsigned* const required = list.counter.data();
  course::launch(append_loud, {launch.grid, launch.block}, samples.data(), values.size(), limit,
                 hits, list.capacity, required);
  const std::vector<unsigned> hits_after = list.hits.download();
  const std::vector<unsigned> expected = indices_above(values, limit);
  const auto needed = static_cast<unsigned>(before + expected.size());
  REQUIRE(list.hits.intact("hits"));
  REQUIRE(list.counter.intact("required"));
  REQUIRE(course::same(list.required(), needed, "required",
                       "samples above the limit: " + std::to_string(expected.size())));

  const unsigned first = std::min(before, list.capacity);  // the places that this launch fills
  const unsigned last = std::min(needed, list.capacity);
  REQUIRE(
      course::same(part(hits_after, 0, first), part(hits_before, 0, first), "hits (earlier ones)"));
  REQUIRE(filled_with(part(hits_after, first, last), first, expected, values));
}

std::string case_text(std::size_t n, Launch launch, const std::string& data) {
  return course::case_text(n, data, "append_loud", launch);
}

/// A new list of this capacity, and one launch.
void append_to_new(unsigned capacity, const course::DataKind<float>& kind, std::size_t n,
                   Launch launch) {
  INFO(case_text(n, launch, kind.text));
  List list(capacity);
  append(list, kind.values(n), launch);
}

}  // namespace

TEST_CASE("ticket: the list holds all hits at every size") {
  std::size_t turn = 0;  // another grid each time
  for (const std::size_t n : course::kSizes) {
    const std::vector<Launch> launches = course::launch_shapes(n);
    for (const course::DataKind<float>& kind : kKinds) {
      append_to_new(static_cast<unsigned>(n), kind, n, launches[turn++ % launches.size()]);
    }
  }
}

TEST_CASE("ticket: the list holds all hits for every grid") {
  for (const Launch launch : all_grids()) {
    append_to_new(1025, kKinds[some], 1025, launch);
  }
}

TEST_CASE("ticket: a list that is too short is filled, and required tells how long it should be") {
  for (const Kind kind : {some, all_loud}) {
    const auto hits = static_cast<unsigned>(indices_above(kKinds[kind].values(257), kLimit).size());
    for (const unsigned capacity : {31u, hits - 1, hits, hits + 1, 1u, 0u}) {
      for (const Launch launch : {Launch{1, 32}, Launch{3, 96}, Launch{9, 32}}) {
        append_to_new(capacity, kKinds[kind], 257, launch);
      }
    }
  }
}

TEST_CASE("ticket: a second launch appends to the list") {
  const std::vector<float> first = kKinds[some].values(255);
  const std::vector<float> second = kKinds[specials].values(1023);
  const auto hits = static_cast<unsigned>(indices_above(first, kLimit).size());
  for (const unsigned capacity : {2000u, hits + 10, hits, hits - 10}) {
    List list(capacity);
    {
      INFO(case_text(first.size(), {8, 32}, kKinds[some].text));
      append(list, first, {8, 32});
    }
    INFO(case_text(second.size(), {5, 96}, kKinds[specials].text)
         << ", after a launch with other samples");
    append(list, second, {5, 96});
  }
}

TEST_CASE("ticket: loud is what is above the limit, whatever it is") {
  for (const float limit : {-INFINITY, -1.5f, -0.0f, 0.5f, 2.0f, INFINITY, NAN}) {
    for (const Kind kind : {some, none_loud, specials}) {
      INFO(case_text(33, {2, 32}, kMixedTexts.at(kind)));
      List list(33);
      append(list, kKinds[kind].values(33), {2, 32}, limit);
    }
  }
}

TEST_CASE("ticket: a list of billions of hits") {
  constexpr unsigned kMany = 3'000'000'000;
  constexpr Launch kLaunch{3, 96};
  const std::vector<float> values = kKinds[some].values(257);
  const std::vector<unsigned> expected = indices_above(values, kLimit);
  const auto samples = course::DeviceBuffer<float>::from(values);
  const std::pair<unsigned, unsigned> lists[] = {// earlier hits, capacity
                                                 {kMany, kMany + 200},
                                                 {kMany, kMany + 50},
                                                 {kMany, kMany},
                                                 {0, kMany}};
  for (const auto& [before, capacity] : lists) {
    INFO(case_text(257, kLaunch, kKinds[some].text));
    INFO("limit 1.25, capacity " << capacity << ", required holds " << before
                                 << " before the launch; memory is there from that index on");
    const unsigned room = std::min(capacity - before, 257u);
    course::GuardedBuffer<unsigned> end(room);  // of the list; no thread needs what is before it
    end.fill_bytes(kUnwritten & 0xFF);
    auto required = course::DeviceBuffer<unsigned>::from({before});
    course::launch(append_loud, {kLaunch.grid, kLaunch.block}, samples.data(), values.size(),
                   kLimit, end.data() - before, capacity, required.data());
    const auto hits_count = static_cast<unsigned>(expected.size());
    REQUIRE(course::same(required.front(), before + hits_count, "required"));
    const std::vector<unsigned> added = part(end.download(), 0, std::min(room, hits_count));
    REQUIRE(filled_with(added, before, expected, values));
    REQUIRE(end.intact("hits"));
  }
}

TEST_CASE("ticket: many hits at once") {
  // What goes wrong may not show at once. (On a GPU a lock in every thread takes microseconds each.)
  constexpr int kRepeats = course::kCpuDevice ? 1 : 20;
  constexpr unsigned n = course::kCpuDevice ? course::kBigSize : 50'003;
  const Launch launch{(n + 255) / 256, 256};
  for (int repeat = 0; repeat < kRepeats; ++repeat) {
    append_to_new(n, kKinds[some], n, launch);
    append_to_new(n / 2, kKinds[all_loud], n, launch);
  }
  if (!course::has_run_before()) append_to_new(70'000, kKinds[all_loud], 70'000, {1, 1});
}

TEST_CASE("ticket: the lanes of a warp go in step") {
  for (const course::DataKind<float>& kind : kKinds) {
    for (const unsigned capacity : {257u, 20u}) {
      course::count([&] { append_to_new(capacity, kind, 257, {3, 96}); });
    }
  }
}

TEST_CASE("ticket: the threads share the work") {
  course::skip_without_counters();
  constexpr unsigned n = 16'384;
  const auto counters = course::count([] { append_to_new(n, kKinds[some], n, {32, 128}); });
  INFO(case_text(n, {32, 128}, kKinds[some].text));
  REQUIRE(work_is_shared(*counters, n, "samples"));
}

#if !COURSE_CPU_DEVICE  // too large for it
TEST_CASE("ticket: the list holds all hits in a grid of more than 2^32 threads") {
  if (course::skip_large()) SKIP("COURSE_SKIP_LARGE is set");
  append_to_new(1025, kKinds[some], 1025, {(1u << 22) + 2, 1024});
}

TEST_CASE("ticket: the list holds all hits in more than 2^31 samples") {
  constexpr std::size_t n = (std::size_t{1} << 31) + 1000;
  course::skip_without_memory(n * sizeof(float));
  auto samples = course::DeviceBuffer<float>::zeros(n);
  const std::vector<unsigned> loud = {0, 1, 1u << 30, (1u << 31) - 1, 1u << 31, (1u << 31) + 999};
  for (const unsigned i : loud) {
    CUDA_CHECK(cudaMemcpy(samples.data() + i, &kLoud, sizeof kLoud, cudaMemcpyHostToDevice));
  }
  List list(10);
  course::launch(append_loud, {1056, 256}, samples.data(), n, kLimit, list.hits.data(), 10u,
                 list.counter.data());
  INFO("n = 2^31 + 1000: six are loud; append_loud<<<1056, 256>>>");
  REQUIRE(course::same(list.required(), 6u, "required"));
  REQUIRE(course::same_set(part(list.hits.download(), 0, 6), loud, "hits"));
}
#endif
