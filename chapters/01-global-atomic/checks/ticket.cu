// Check of the exercise ticket: lists that are too short, just long enough and too long, a list
// that holds something already, and every kind of grid. The order in the list is free.
#include "ticket.cuh"

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <course/check.cuh>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <string>
#include <vector>

namespace {

using Launch = course::LaunchShape;

enum class Kind { some, all, none, only_last, special };
constexpr Kind kKinds[] = {Kind::some, Kind::all, Kind::none, Kind::only_last, Kind::special};

std::string to_string(Kind kind) {
  switch (kind) {
    case Kind::some:
      return "some are loud";
    case Kind::all:
      return "all are loud";
    case Kind::none:
      return "none is loud";
    case Kind::only_last:
      return "only the last one is loud";
    case Kind::special:
      return "NaN, infinities, and values just at the limit";
  }
  return "";
}

constexpr float kLimit = 1.25f;

std::vector<float> make_samples(Kind kind, std::size_t n) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  const float special[] = {std::numeric_limits<float>::quiet_NaN(),
                           kInfinity,
                           -kInfinity,
                           kLimit,
                           kLimit + 0x1p-23f,
                           kLimit - 0x1p-23f,
                           -2.0f};
  std::vector<float> samples = course::position_values<float>(n);  // 1/8 to 15/8, some at the limit
  for (std::size_t i = 0; i < n; ++i) {
    if (kind == Kind::all) samples[i] += 2.0f;
    if (kind == Kind::none) samples[i] -= 2.0f;
    if (kind == Kind::only_last) samples[i] = i + 1 == n ? 9.0f : 0.0f;
    if (kind == Kind::special) samples[i] = special[i % std::size(special)];
  }
  return samples;
}

std::vector<unsigned> reference(const std::vector<float>& samples) {
  std::vector<unsigned> hits;
  for (std::size_t i = 0; i < samples.size(); ++i) {
    if (samples[i] > kLimit) hits.push_back(static_cast<unsigned>(i));
  }
  return hits;
}

constexpr unsigned kEmpty = 0xFFFF'FFFF;  // what the list holds where nobody wrote

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
  append_loud<<<launch.grid, launch.block>>>(samples.data(), values.size(), kLimit, hits,
                                             list.capacity, required);
  CUDA_CHECK_LAUNCH();
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

/// Ok if the loads of n elements can come from warps that read 32 of them with one load.
course::Verdict shared_by_warps(std::uint64_t loads, std::uint64_t n) {
  if (loads <= n / 4) return {};
  return {false, "loads: expected at most " + std::to_string(n / 4) +
                     " for the whole grid, found " + std::to_string(loads) +
                     "; a warp reads 32 samples with one load if its lanes share the work"};
}

std::string describe(std::size_t n, Launch launch, Kind kind) {
  return "n = " + std::to_string(n) + ": " + to_string(kind) + "; append_loud<<<" +
         std::to_string(launch.grid) + ", " + std::to_string(launch.block) + ">>>";
}

}  // namespace

TEST_CASE("ticket: the list holds all hits at every size") {
  std::size_t turn = 0;  // another grid each time
  for (const std::size_t n : course::kSizes) {
    const std::vector<Launch> launches = course::launch_shapes(n);
    for (const Kind kind : kKinds) {
      const Launch launch = launches[turn++ % launches.size()];
      INFO(describe(n, launch, kind));
      List list(static_cast<unsigned>(n));
      append(list, make_samples(kind, n), launch);
    }
  }
}

TEST_CASE("ticket: the list holds all hits for every grid") {
  const std::vector<float> samples = make_samples(Kind::some, 1025);
  for (const Launch launch : course::launch_shapes(samples.size())) {
    INFO(describe(samples.size(), launch, Kind::some));
    List list(1025);
    append(list, samples, launch);
  }
}

TEST_CASE("ticket: a list that is too short is filled, and required tells how long it should be") {
  for (const Kind kind : {Kind::some, Kind::all}) {
    const std::vector<float> samples = make_samples(kind, 257);
    const auto hits = static_cast<unsigned>(reference(samples).size());
    for (const unsigned capacity : {31u, hits - 1, hits, hits + 1, 1u, 0u}) {
      for (const Launch launch : {Launch{1, 32}, Launch{3, 96}, Launch{9, 32}}) {
        INFO(describe(samples.size(), launch, kind));
        List list(capacity);
        append(list, samples, launch);
      }
    }
  }
}

TEST_CASE("ticket: a second launch appends to the list") {
  const std::vector<float> first = make_samples(Kind::some, 255);
  const std::vector<float> second = make_samples(Kind::special, 1023);
  const auto hits = static_cast<unsigned>(reference(first).size());
  for (const unsigned capacity : {2000u, hits + 10, hits, hits - 10}) {
    List list(capacity);
    {
      INFO(describe(first.size(), {8, 32}, Kind::some));
      append(list, first, {8, 32});
    }
    INFO(describe(second.size(), {5, 96}, Kind::special) << ", after a launch with other samples");
    append(list, second, {5, 96});
  }
}

TEST_CASE("ticket: many hits at once") {
  constexpr int kRepeats = course::kCpuDevice ? 1 : 20;  // what goes wrong may not show at once
  const auto n = static_cast<unsigned>(course::kBigSize);
  const Launch launch{(n + 255) / 256, 256};
  for (int repeat = 0; repeat < kRepeats; ++repeat) {
    for (const Kind kind : {Kind::some, Kind::all}) {
      INFO(describe(n, launch, kind));
      List list(kind == Kind::some ? n : n / 2);
      append(list, make_samples(kind, n), launch);
    }
  }
}

TEST_CASE("ticket: the lanes of a warp go in step") {
  for (const Kind kind : kKinds) {
    INFO(describe(257, {3, 96}, kind));
    for (const unsigned capacity : {257u, 20u}) {
      List list(capacity);
      course::count([&] { append(list, make_samples(kind, 257), {3, 96}); });
    }
  }
}

TEST_CASE("ticket: the threads share the work") {
  course::skip_without_counters();
  List list(4096);
  const auto counters = course::count([&] {
    append(list, make_samples(Kind::some, 4096), {32, 128});
  });
  INFO(describe(4096, {32, 128}, Kind::some));
  REQUIRE(shared_by_warps(counters->global_loads, 4096));
  REQUIRE(course::work_is_shared(*counters, 16));  // one turn of a loop is enough for each warp
}
