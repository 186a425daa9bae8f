// Check of the exercise ring_slot: rings of one slot, of no power of two and of more slots than
// events; every slot to start at; launches in a row; every number that an event may have; blocks
// that are no whole warps. Which event is in which slot is free, but every event is somewhere, or
// counted as overwritten, exactly once.
#include "ring_slot.cuh"

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <course/check.cuh>
#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "checks/ring.cuh"

namespace ring_slot_check {

using Launch = course::LaunchShape;

/// A ring buffer in device memory. (nvcc 13.0 never finishes with a REQUIRE in a member function,
/// so the functions that check are free ones.)
struct Recorder {
  Recorder(unsigned places, unsigned start) : ring(places), next(1), overwritten(1) {
    ring.fill_bytes(0xFF);  // kEmpty
    overwritten.fill_bytes(0);
    CUDA_CHECK(cudaMemcpy(next.data(), &start, sizeof start, cudaMemcpyHostToDevice));
  }
  course::GuardedBuffer<unsigned> ring, next, overwritten;
  unsigned next_event = 1000;  // events are numbered through all launches
};

/// Launches the kernel with n new events, and checks all that it promises.
void record(Recorder& recorder, std::size_t n, Launch launch) {
  const std::vector<unsigned> before = recorder.ring.download();
  const unsigned start = recorder.next.download().front();
  const unsigned lost_before = recorder.overwritten.download().front();
  const auto capacity = static_cast<unsigned>(before.size());
  INFO("capacity " << capacity << ", *next is " << start << ", *overwritten is " << lost_before
                   << " before the launch; " << n << " events from number " << recorder.next_event
                   << " on; " << course::launch_text("log_events", launch));
  const unsigned first_event = recorder.next_event;
  const auto last_event = static_cast<unsigned>(first_event + n);  // one past the last
  recorder.next_event = last_event;
  const auto events = course::DeviceBuffer<unsigned>::from(ring::make_events(first_event, n));
  // Reports call memory by the launch's arguments: these have the learner's names.
  unsigned* const ring = recorder.ring.data();
  unsigned* const next = recorder.next.data();
  unsigned* const overwritten = recorder.overwritten.data();
  course::launch(log_events, {launch.grid, launch.block}, events.data(), n, ring, capacity, next,
                 overwritten);
  const std::vector<unsigned> after = recorder.ring.download();
  REQUIRE(recorder.ring.intact("ring"));

  const auto end = static_cast<unsigned>((std::uint64_t{start} + n) % capacity);
  REQUIRE(course::same(recorder.next.download().front(), end, "*next"));
  const std::size_t touched = std::min<std::size_t>(n, capacity);
  std::set<unsigned> kept;
  std::uint64_t lost = n - touched;  // of this launch; and what the slots held before:
  for (std::size_t k = 0; k < capacity; ++k) {
    const std::size_t place = (start + k) % capacity;
    const std::string name = "ring[" + std::to_string(place) + "]";
    if (k >= touched) {  // no event came that far
      REQUIRE(course::same(after[place], before[place], name, "no event belongs there"));
      continue;
    }
    lost += before[place] != kEmpty ? 1 : 0;
    INFO(name << " held " << before[place] << ", and holds " << after[place]);
    const bool is_of_this_launch = after[place] >= first_event && after[place] < last_event;
    REQUIRE((is_of_this_launch
                 ? course::Verdict{}
                 : course::Verdict{false, name + ": no event of this launch was written there"}));
    REQUIRE((kept.insert(after[place]).second
                 ? course::Verdict{}
                 : course::Verdict{false, name + ": this event stands in another place, too"}));
  }
  REQUIRE(course::same(recorder.overwritten.download().front(),
                       static_cast<unsigned>(lost_before + lost), "*overwritten"));
  REQUIRE(recorder.next.intact("next"));
  REQUIRE(recorder.overwritten.intact("overwritten"));
}

}  // namespace ring_slot_check

using namespace ring_slot_check;

TEST_CASE("ring_slot: a ring with room for all events") {
  std::size_t turn = 0;  // another grid each time
  for (const std::size_t n : course::kSizes) {
    const std::vector<Launch> launches = course::launch_shapes(n);
    for (const unsigned more : {1u, 100u}) {
      Recorder recorder(static_cast<unsigned>(n) + more, 0);
      record(recorder, n, launches[turn++ % launches.size()]);
    }
  }
}

TEST_CASE("ring_slot: a ring that is just full starts again at 0") {
  for (const unsigned capacity : {1u, 2u, 3u, 31u, 32u, 33u, 100u, 257u}) {
    for (const unsigned start : {0u, capacity / 2, capacity - 1}) {
      Recorder recorder(capacity, start);
      record(recorder, capacity, {2, 96});
      record(recorder, 1, {1, 32});  // which overwrites the first one
    }
  }
}

TEST_CASE("ring_slot: more events than places") {
  for (const unsigned capacity : {1u, 2u, 3u, 7u, 10u, 32u, 100u, 256u}) {
    for (const std::size_t n : {33, 257, 1025}) {
      for (const Launch launch : {Launch{1, 32}, Launch{3, 96}, Launch{9, 128}}) {
        Recorder recorder(capacity, capacity - 1);
        record(recorder, n, launch);
      }
    }
  }
}

TEST_CASE("ring_slot: the right events for every grid") {
  for (const Launch launch : course::launch_shapes(1025)) {
    Recorder recorder(1000, 990);
    record(recorder, 1025, launch);
  }
}

TEST_CASE("ring_slot: blocks that are no whole warps") {
  for (const Launch launch : {Launch{300, 1}, {2, 31}, {5, 33}, {1, 50}, {3, 100}, {1, 1000}}) {
    Recorder recorder(100, 7);
    record(recorder, 257, launch);
    record(recorder, 257, launch);
  }
}

TEST_CASE("ring_slot: every number but kEmpty is an event") {
  for (const unsigned first : {0u, 0x7FFF'FF80u, kEmpty - 2 * 257}) {
    Recorder recorder(100, 99);
    recorder.next_event = first;
    record(recorder, 257, {3, 96});
    record(recorder, 257, {3, 96});
  }
}

TEST_CASE("ring_slot: launch after launch goes on where the one before stopped") {
  for (const unsigned capacity : {1u, 5u, 48u, 100u, 1000u}) {
    Recorder recorder(capacity, capacity / 3);
    for (const std::size_t n : {7, 0, 1, 40, 33, 255, 2, 64, 1023}) record(recorder, n, {2, 64});
  }
}

TEST_CASE("ring_slot: thousands of events at once") {
  constexpr int kRepeats = course::kCpuDevice ? 1 : 20;  // what goes wrong may not show at once
  const std::size_t n = course::kBigSize;
  const Launch launch{static_cast<unsigned>((n + 255) / 256), 256};
  for (int repeat = 0; repeat < kRepeats; ++repeat) {
    for (const unsigned capacity : {3u, 1000u, 6000u}) {
      Recorder recorder(capacity, 1);
      record(recorder, n, launch);
    }
  }
}

TEST_CASE("ring_slot: the lanes of a warp go in step") {
  for (const unsigned capacity : {1u, 3u, 50u, 300u}) {
    Recorder recorder(capacity, 0);
    course::count([&] { record(recorder, 257, {3, 96}); });
    course::count([&] { record(recorder, 40, {2, 32}); });
  }
}

TEST_CASE("ring_slot: the threads share the work") {
  course::skip_without_counters();
  Recorder recorder(5000, 0);
  const auto counters = course::count([&] { record(recorder, 4096, {32, 128}); });
  REQUIRE(ring::shared_by_lanes(*counters, 4096));
  REQUIRE(course::work_is_shared(*counters, ring::most_of_one_warp(*counters)));
}

TEST_CASE("ring_slot: more than 2^31 events") {
  constexpr std::size_t n = (std::size_t{1} << 31) + 1000;
  course::skip_without_memory(n * sizeof(unsigned));
  constexpr unsigned kPlaces = 1000, kStart = 7, kEvent = 0x0101'0101;
  course::DeviceBuffer<unsigned> events(n);
  events.fill_bytes(1);  // all of them are kEvent
  Recorder recorder(kPlaces, kStart);
  course::launch(log_events, {1056, 256}, events.data(), n, recorder.ring.data(), kPlaces,
                 recorder.next.data(), recorder.overwritten.data());
  INFO("n = 2^31 + 1000 equal events, capacity 1000; log_events<<<1056, 256>>>");
  REQUIRE(course::same(recorder.next.download().front(),
                       static_cast<unsigned>((kStart + n) % kPlaces), "*next"));
  REQUIRE(course::same(recorder.overwritten.download().front(), static_cast<unsigned>(n - kPlaces),
                       "*overwritten"));
  REQUIRE(course::same(recorder.ring.download(), std::vector<unsigned>(kPlaces, kEvent), "ring"));
}
