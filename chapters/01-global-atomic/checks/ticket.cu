// Check of the exercise ticket: lists that are too short, just long enough and too long, a list
// that holds something already, and every kind of grid. The order in the list is free.
#include "ticket.cuh"

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <course/check.cuh>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include "checks/loads.cuh"

namespace {

using Launch = course::LaunchShape;

constexpr float kLimit = 1.25f;

/// k/8, with k from 1 to 15, some at the limit.
float eighths(course::Element e) { return static_cast<float>(1 + e.random % 15) / 8; }

constexpr float kInfinity = std::numeric_limits<float>::infinity();
const float kSpecial[] = {NAN,  kInfinity, -kInfinity, kLimit, kLimit + 0x1p-23f, kLimit - 0x1p-23f,
                          -2.0f};

/// Some kinds are used by name: their indices.
enum Kind { some, all_loud, none_loud, only_last, specials };
const course::DataKind<float> kKinds[] = {
    {"some are loud", eighths},
    {"all are loud", [](course::Element e) { return eighths(e) + 2.0f; }},
    {"none is loud", [](course::Element e) { return eighths(e) - 2.0f; }},
    {"only the last one is loud", [](course::Element e) { return e.i + 1 == e.n ? 9.0f : 0.0f; }},
    {"NaN, infinities, and values just at the limit",
     [](course::Element e) { return kSpecial[e.i % std::size(kSpecial)]; }}};

std::vector<unsigned> reference(const std::vector<float>& samples) {
  std::vector<unsigned> hits;
  for (std::size_t i = 0; i < samples.size(); ++i) {
    if (samples[i] > kLimit) hits.push_back(static_cast<unsigned>(i));
  }
  return hits;
}

constexpr unsigned kEmpty = 0xFFFF'FFFF;  // what the list holds where no thread wrote

/// A list in device memory, and its counter. (nvcc 13.0 never finishes with a REQUIRE in a member
/// function, so the functions that check are free ones.)
struct List {
  explicit List(unsigned places) : hits(places), counter(1), capacity(places) {
    hits.fill_bytes(0xFF);
    counter.fill_bytes(0);
  }
  unsigned required() const { return counter.download().front(); }

  course::GuardedBuffer<unsigned> hits, counter;
  unsigned capacity;
};

/// Where there are more hits than places: each place holds one, and none is there twice.
course::Verdict filled_with(const std::vector<unsigned>& added, std::size_t first,
                            const std::vector<unsigned>& loud) {
  std::map<unsigned, std::size_t> place_of;
  for (std::size_t k = 0; k < added.size(); ++k) {
    const std::string place = "hits[" + std::to_string(first + k) + "]: ";
    const std::string value = std::to_string(added[k]);
    if (added[k] == kEmpty) return {false, place + "nothing was written to this place"};
    if (!std::binary_search(loud.begin(), loud.end(), added[k])) {
      return {false, place + "found " + value + ", but this sample is not above the limit"};
    }
    const auto [earlier, is_new] = place_of.emplace(added[k], first + k);
    if (!is_new) {
      return {false, place + "found " + value + ", which is in hits[" +
                         std::to_string(earlier->second) + "] already"};
    }
  }
  return {};
}

/// Launches the kernel, and checks all that it promises.
void append(List& list, const std::vector<float>& values, Launch launch) {
  const unsigned before = list.required();
  INFO("capacity " << list.capacity << ", required holds " << before << " before the launch");
  const std::vector<unsigned> hits_before = list.hits.download();
  // Reports call memory by the launch's arguments: these have the learner's names.
  const auto samples = course::DeviceBuffer<float>::from(values);
  unsigned* const hits = list.hits.data();
  unsigned* const required = list.counter.data();
  course::launch(append_loud, {launch.grid, launch.block}, samples.data(), values.size(), kLimit,
                 hits, list.capacity, required);
  const std::vector<unsigned> hits_after = list.hits.download();
  const std::vector<unsigned> loud = reference(values);
  const auto needed = static_cast<unsigned>(before + loud.size());
  REQUIRE(list.hits.intact("hits"));
  REQUIRE(list.counter.intact("required"));
  REQUIRE(course::same(list.required(), needed, "required"));

  const auto slice = [](const std::vector<unsigned>& v, unsigned first, unsigned last) {
    return std::vector<unsigned>(v.begin() + first, v.begin() + last);
  };
  const unsigned first = std::min(before, list.capacity);  // the places that this launch fills
  const unsigned last = std::min(needed, list.capacity);
  REQUIRE(course::same(slice(hits_after, 0, first), slice(hits_before, 0, first),
                       "hits (earlier ones)"));
  const std::vector<unsigned> added = slice(hits_after, first, last);
  if (needed <= list.capacity) {
    REQUIRE(course::same_set(added, loud, "hits"));
  } else {
    REQUIRE(filled_with(added, first, loud));
  }
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
  for (const Launch launch : course::launch_shapes(1025)) {
    append_to_new(1025, kKinds[some], 1025, launch);
  }
}

TEST_CASE("ticket: a list that is too short is filled, and required tells how long it should be") {
  for (const Kind kind : {some, all_loud}) {
    const auto hits = static_cast<unsigned>(reference(kKinds[kind].values(257)).size());
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
  const auto hits = static_cast<unsigned>(reference(first).size());
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

TEST_CASE("ticket: many hits at once") {
  constexpr int kRepeats = course::kCpuDevice ? 1 : 20;  // what goes wrong may not show at once
  const auto n = static_cast<unsigned>(course::kBigSize);
  const Launch launch{(n + 255) / 256, 256};
  for (int repeat = 0; repeat < kRepeats; ++repeat) {
    append_to_new(n, kKinds[some], n, launch);
    append_to_new(n / 2, kKinds[all_loud], n, launch);
  }
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
  const auto counters = course::count([] { append_to_new(4096, kKinds[some], 4096, {32, 128}); });
  INFO(case_text(4096, {32, 128}, kKinds[some].text));
  REQUIRE(shared_by_warps(counters->global_loads, 4096, "samples"));
  REQUIRE(course::work_is_shared(*counters, 16));  // one turn of a loop is enough for each warp
}
