// Check of the exercise ticket: lists that are too short, just long enough and too long, a list
// that holds something already, up to billions of hits, every kind of grid and of limit. The order
// in the list is free.
#include "ticket.cuh"

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <climits>
#include <cmath>
#include <course/check.cuh>
#include <course/guarded.cuh>
#include <cstddef>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "checks/loads.cuh"

namespace ticket_check {

using Launch = course::LaunchShape;

// ---- samples ------------------------------------------------------------------------------------

constexpr float kLimit = 1.25f, kLoud = 9.0f;
constexpr unsigned kUnwritten = 0xA5A5'A5A5;  // what the list holds where no thread wrote

/// k/8, with k from 1 to 15, some at the limit.
float eighths(course::Element e) { return static_cast<float>(1 + e.random % 15) / 8; }

const float kSpecial[] = {NAN,   INFINITY, -INFINITY, kLimit, kLimit + 0x1p-23f, kLimit - 0x1p-23f,
                          -2.0f, 0.0f};

/// Some kinds are used by name: their indices.
enum Kind { some, all_loud, none_loud, only_last, specials };
const course::DataKind<float> kKinds[] = {
    {"some are loud", eighths},
    {"all are loud", [](course::Element e) { return eighths(e) + 2.0f; }},
    {"none is loud", [](course::Element e) { return eighths(e) - 2.0f; }},
    {"only the last one is loud", [](course::Element e) { return e.i + 1 == e.n ? kLoud : 0.0f; }},
    {"NaN, infinities, zeros, and values next to 1.25",
     [](course::Element e) { return kSpecial[e.i % std::size(kSpecial)]; }}};

/// What to call some kinds where the limit is another one.
const std::map<Kind, std::string> kMixedTexts = {{some, "k/8, with k from 1 to 15"},
                                                 {none_loud, "k/8 - 2, with k from 1 to 15"},
                                                 {specials, kKinds[specials].text}};

// ---- lists of hits ------------------------------------------------------------------------------

std::vector<unsigned> indices_above(const std::vector<float>& samples, float limit) {
  std::vector<unsigned> hits;
  for (std::size_t i = 0; i < samples.size(); ++i) {
    if (samples[i] > limit) hits.push_back(static_cast<unsigned>(i));
  }
  return hits;
}

std::vector<unsigned> part(const std::vector<unsigned>& v, std::size_t first, std::size_t last) {
  const auto at = [&](std::size_t i) { return v.begin() + static_cast<std::ptrdiff_t>(i); };
  return {at(first), at(last)};
}

/// "samples[7] = 1.5 is not above the limit"
std::string about(unsigned i, const std::vector<float>& samples) {
  const std::string name = "samples[" + std::to_string(i) + "]";
  if (i >= samples.size()) return "there is no " + name;
  return name + " = " + course::number_text(samples[i]) + " is not above the limit";
}

/// Ok if the places from hits[first] on hold each an index of its own out of `expected`: all of
/// them where there are as many places.
course::Verdict filled_with(const std::vector<unsigned>& added, std::size_t first,
                            const std::vector<unsigned>& expected,
                            const std::vector<float>& samples) {
  std::map<unsigned, std::size_t> place_of;
  for (std::size_t k = 0; k < added.size(); ++k) {
    const std::string place = "hits[" + std::to_string(first + k) + "]: ";
    const std::string value = std::to_string(added[k]);
    if (added[k] == kUnwritten) {
      return {false, place + "no index was written to this element"};
    }
    if (!std::binary_search(expected.begin(), expected.end(), added[k])) {
      return {false, place + "found " + value + ", but " + about(added[k], samples)};
    }
    const auto [earlier, is_new] = place_of.emplace(added[k], first + k);
    if (!is_new) {
      return {false, place + "found " + value + ", which is in hits[" +
                         std::to_string(earlier->second) + "] already"};
    }
  }
  return {};
}

/// A list in device memory, and its counter. (nvcc 13.0 never finishes with a REQUIRE in a member
/// function, so the functions that check are free ones.)
struct List {
  explicit List(unsigned places) : hits(places), counter(1), capacity(places) {
    hits.fill_bytes(kUnwritten & 0xFF);
    counter.fill_bytes(0);
  }
  unsigned required() const { return counter.download().front(); }

  course::GuardedBuffer<unsigned> hits, counter;
  unsigned capacity;
};

// ---- launches -----------------------------------------------------------------------------------

/// Launches the kernel, and checks all that it promises.
void append(List& list, const std::vector<float>& values, Launch launch, float limit = kLimit) {
  const unsigned before = list.required();
  const std::vector<unsigned> expected = indices_above(values, limit);
  INFO("limit " << course::number_text(limit) << ", capacity " << list.capacity << ", "
                << course::counted(expected.size(), "hit") << ", required holds " << before
                << " before the launch");
  const std::vector<unsigned> hits_before = list.hits.download();
  // Reports call memory by the launch's arguments: these have the learner's names.
  const course::Placed<float> samples(values, 1);  // never where four samples could be one load
  unsigned* const hits = list.hits.data();
  unsigned* const required = list.counter.data();
  course::launch(append_loud, {launch.grid, launch.block}, samples.data(), values.size(), limit,
                 hits, list.capacity, required);
  const std::vector<unsigned> hits_after = list.hits.download();
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

// Promise: the kernel appends the index of every sample above the limit (in any order: the slots
// are compared as a set).
// Promise: samples is aligned to 4 bytes, no more (MISALIGNED ACCESS in every test case).
TEST_CASE("ticket: the list holds all hits at every size") {
  for (const auto& [n, launch, kind] : course::cases_of(course::kSizes, kKinds)) {
    course::in_launch(launch, [n = n, kind = kind](Launch tried) {
      append_to_new(static_cast<unsigned>(n), kind, n, tried);
    });
  }
}

// Promise: the kernel is right for every one-dimensional grid, also of blocks that are no whole
// warps.
TEST_CASE("ticket: the list holds all hits for every grid") {
  for (const Launch launch : load_checks::all_grids()) {
    course::in_launch(launch, [](Launch tried) { append_to_new(1025, kKinds[some], 1025, tried); });
  }
}

// Promise: *required counts all hits, stored or not.
// Promise: slots below `capacity` that are needed are filled, each once (DATA RACE on a slot that
// two threads write).
// Promise: hits[capacity] and everything after it is not written (OUT OF BOUNDS; on a GPU the
// guard bands show it).
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

// Promise: the kernel appends: *required may count hits of earlier launches, whose slots are not
// written again.
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

// Promise: the limit is any float, and NaN is not above it.
TEST_CASE("ticket: loud is what is above the limit, whatever it is") {
  for (const float limit : {-INFINITY, -1.5f, -0.0f, 0.5f, 2.0f, INFINITY, NAN}) {
    for (const Kind kind : {some, none_loud, specials}) {
      INFO(case_text(33, {2, 32}, kMixedTexts.at(kind)));
      List list(33);
      append(list, kKinds[kind].values(33), {2, 32}, limit);
    }
  }
}

// Promise: *required and `capacity` are any numbers of 32 bits.
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

// Promise: each hit gets a slot of its own when many threads append at the same time.
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

// Promise: each hit gets a slot of its own when all lanes of a warp append in step.
TEST_CASE("ticket: the lanes of a warp go in step") {
  for (const course::DataKind<float>& kind : kKinds) {
    for (const unsigned capacity : {257u, 20u}) {
      course::count([&] { append_to_new(capacity, kind, 257, {3, 96}); });
    }
  }
}

// Promise: the threads share the work.
TEST_CASE("ticket: the threads share the work") {
  course::skip_without_counters();
  constexpr unsigned n = 16'384;
  for (const Launch launch : load_checks::kManyWarps) {
    const auto counters = course::count([&] { append_to_new(n, kKinds[some], n, launch); });
    INFO(case_text(n, launch, kKinds[some].text));
    REQUIRE(load_checks::work_is_shared(*counters, n, "samples"));
  }
  if (course::has_run_before()) return;
  for (const auto& [few, launch, most] : load_checks::kFew) {
    const auto counters = course::count([&, n = few, shape = launch] {
      append_to_new(static_cast<unsigned>(n), kKinds[some], n, shape);
    });
    INFO(case_text(few, launch, kKinds[some].text));
    REQUIRE(course::work_is_shared(*counters, most));
  }
}

// Promise: a grid may have more than 2^32 threads.
TEST_CASE("ticket: the list holds all hits in a grid of more than 2^32 threads") {
  course::in_huge_grids(65, [](Launch grid) { append_to_new(65, kKinds[all_loud], 65, grid); });
}

// Promise: n may be more than 2^31 (its first samples; on a GPU all of them).
TEST_CASE("ticket: the list holds the first hits in 2^32 samples") {
  if (!course::kCpuDevice) SKIP("a GPU runs all blocks, and finds all hits in another test case");
  constexpr std::size_t n = course::kHugeItems - 32;  // so many indices have 32 bits
  std::vector<float> values = kKinds[some].values(1000);
  values.resize(course::kFrontItems, 0.0f);
  const std::vector<unsigned> expected = indices_above(values, kLimit);
  const auto samples = course::DeviceBuffer<float>::from(values);
  List list(1000);
  INFO(case_text(n, course::kHugeGrid, kKinds[some].text) << ", none from samples[1000] on");
  course::at_front_of_huge_grid([&](Launch grid, std::size_t items) {
    course::launch(append_loud, {grid.grid, grid.block}, samples.data(), items - 32, kLimit,
                   list.hits.data(), list.capacity, list.counter.data());
    const auto count = static_cast<unsigned>(expected.size());
    REQUIRE(course::same(list.required(), count, "required"));
    REQUIRE(filled_with(part(list.hits.download(), 0, count), 0, expected, values));
  });
}

// Promise: an index may be more than 2^31 (GPU only).
TEST_CASE("ticket: the list holds all hits in 2^32 samples") {
  constexpr std::size_t n = std::size_t{1} << 32;  // in 32 bits it is 0
  course::skip_without_memory(n * sizeof(float));
  auto samples = course::DeviceBuffer<float>::zeros(n);
  const std::vector<unsigned> loud = {0, 1, 1u << 30, (1u << 31) - 1, 1u << 31, UINT_MAX};
  for (const unsigned i : loud) {
    CUDA_CHECK(cudaMemcpy(samples.data() + i, &kLoud, sizeof kLoud, cudaMemcpyHostToDevice));
  }
  List list(10);
  course::launch(append_loud, {1056, 256}, samples.data(), n, kLimit, list.hits.data(), 10u,
                 list.counter.data());
  INFO("n = 2^32: six are loud; append_loud<<<1056, 256>>>");
  REQUIRE(course::same(list.required(), 6u, "required"));
  REQUIRE(course::same_set(part(list.hits.download(), 0, 6), loud, "hits"));
}

}  // namespace ticket_check
