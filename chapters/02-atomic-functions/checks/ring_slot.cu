// Check of the exercise ring_slot: rings of one slot, of no power of two, of billions, and of more
// slots than events; every slot to start at; launches in a row; every number that an event may have,
// also several times; blocks that are no whole warps. Which event is in which slot is free, but
// every event is somewhere, or counted as overwritten, exactly once.
#include "ring_slot.cuh"

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <course/check.cuh>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace ring_slot_check {

using Launch = course::LaunchShape;

// ---- events and rings ---------------------------------------------------------------------------

/// The events of one launch, in no order: every event is another number.
std::vector<unsigned> make_events(unsigned first, std::size_t n) {
  std::vector<unsigned> events(n);
  for (std::size_t i = 0; i < n; ++i) events[i] = first + static_cast<unsigned>(i);
  for (std::size_t i = 1; i < n; ++i) std::swap(events[i], events[i * 7919 % (i + 1)]);
  return events;
}

/// A ring buffer in device memory, of which the elements from `first` on exist. (nvcc 13.0 never
/// finishes with a REQUIRE in a member function, so the functions that check are free ones.)
struct Recorder {
  Recorder(unsigned capacity, unsigned start) : Recorder(capacity, start, 0, capacity) {}
  Recorder(unsigned slots, unsigned start, unsigned first, unsigned capacity)
      : ring(slots), next(1), overwritten(1), first(first), capacity(capacity) {
    ring.fill_bytes(0xFF);  // kNothing
    overwritten.fill_bytes(0);
    CUDA_CHECK(cudaMemcpy(next.data(), &start, sizeof start, cudaMemcpyHostToDevice));
  }
  /// "capacity 100", and which elements of a huge ring a test has memory for.
  std::string text() const {
    const std::string all = "capacity " + std::to_string(capacity);
    if (first == 0) return all;
    return all + " (memory is there for ring[" + std::to_string(first) + "] to ring[" +
           std::to_string(first + ring.size() - 1) + "], which is enough)";
  }
  course::GuardedBuffer<unsigned> ring, next, overwritten;
  unsigned first, capacity;
  unsigned next_event = 1000;  // the number of the next event
};

/// What a launch did to the elements ring[first], ring[first + 1], ... that exist.
struct Change {
  std::vector<unsigned> before, after;
  unsigned first, start, capacity;  // start: the slot of the launch's first event
  std::string name(std::size_t i) const { return "ring[" + std::to_string(first + i) + "]"; }
  /// How many slots before[i] comes after the launch's first event.
  std::size_t turn(std::size_t i) const {
    return static_cast<std::size_t>((std::uint64_t{first} + i + capacity - start) % capacity);
  }
};

constexpr unsigned kNothing = 0xFFFF'FFFF;  // the exercise calls it kEmpty

std::string held(unsigned event) { return event == kNothing ? "nothing" : std::to_string(event); }

/// Ok if the launch's events, and no other, are in the slots that are theirs: each no more often
/// than it came.
course::Verdict holds_events(const Change& change, const std::vector<unsigned>& events) {
  std::map<unsigned, std::size_t> left;
  for (const unsigned event : events) ++left[event];
  for (std::size_t i = 0; i < change.after.size(); ++i) {
    const unsigned found = change.after[i];
    if (change.turn(i) >= events.size()) {  // no event came that far
      if (found == change.before[i]) continue;
      return {false, change.name(i) + ": expected " + held(change.before[i]) +
                         ", which was there before, found " + held(found) +
                         ": no event of this launch belongs there"};
    }
    const auto event = left.find(found);
    const std::string wrong = change.name(i) + " held " + held(change.before[i]) +
                              " before, and holds " + held(found) + " after the launch: ";
    if (event == left.end()) return {false, wrong + "no event of this launch"};
    if (event->second-- == 0) return {false, wrong + "that event is in another slot, too"};
  }
  return {};
}

/// How many events a launch of n events loses: of its own, and of those that were there before.
std::uint64_t losses(const Change& change, std::uint64_t n) {
  std::uint64_t lost = n - std::min<std::uint64_t>(n, change.capacity);
  for (std::size_t i = 0; i < change.before.size(); ++i) {
    if (change.turn(i) < n && change.before[i] != kNothing) ++lost;
  }
  return lost;
}

// ---- launches -----------------------------------------------------------------------------------

/// Launches the kernel with these events, and checks all that it promises.
void record(Recorder& recorder, const std::vector<unsigned>& events, Launch launch,
            const std::string& text) {
  const std::size_t n = events.size();
  const std::vector<unsigned> before = recorder.ring.download();
  const unsigned start = recorder.next.download().front(), capacity = recorder.capacity;
  const unsigned lost_before = recorder.overwritten.download().front();
  INFO(recorder.text() << ", *next is " << start << ", *overwritten is " << lost_before
                       << " before the launch; " << text << "; "
                       << course::launch_text("log_events", launch));
  const auto d_events = course::DeviceBuffer<unsigned>::from(events);
  // Reports call memory by the launch's arguments: these have the learner's names.
  unsigned* const ring = recorder.ring.data() - recorder.first;
  unsigned* const next = recorder.next.data();
  unsigned* const overwritten = recorder.overwritten.data();
  course::launch(log_events, {launch.grid, launch.block}, d_events.data(), n, ring, capacity, next,
                 overwritten);
  REQUIRE(recorder.ring.intact("ring"));
  const auto end = static_cast<unsigned>((std::uint64_t{start} + n) % capacity);
  REQUIRE(course::same(recorder.next.download().front(), end, "*next"));
  const Change change{before, recorder.ring.download(), recorder.first, start, capacity};
  REQUIRE(holds_events(change, events));
  const std::uint64_t lost = losses(change, n);
  REQUIRE(course::same(recorder.overwritten.download().front(),
                       static_cast<unsigned>(lost_before + lost), "*overwritten",
                       "events lost by this launch: " + std::to_string(lost)));
  REQUIRE(recorder.next.intact("next"));
  REQUIRE(recorder.overwritten.intact("overwritten"));
}

/// "1000", "2^32 - 515".
std::string number_text(unsigned event) {
  return event < 1u << 31 ? std::to_string(event) : "2^32 - " + std::to_string(0u - event);
}

/// n new events, numbered from the recorder's next one on.
void record(Recorder& recorder, std::size_t n, Launch launch) {
  const unsigned first_event = recorder.next_event;
  recorder.next_event += static_cast<unsigned>(n);
  record(recorder, make_events(first_event, n), launch,
         course::counted(n, "event") + " from number " + number_text(first_event) + " on");
}

// ---- what the counters say ----------------------------------------------------------------------

/// Ok if the n events were read 32 at a time, and their slots taken by many lanes at once. A thread
/// may read once before each atomic, as a compare-and-swap loop may do in every round.
course::Verdict shared_by_lanes(const course::Counters& counters, std::uint64_t n) {
  const course::Verdict loads =
      course::at_most(counters.global_loads, n / 4 + counters.global_atomics, "loads of all warps",
                      "a warp reads 32 events with one load if its lanes share the work");
  if (!loads.ok) return loads;
  if (2 * counters.global_atomic_lanes < 3 * counters.global_atomics) {
    return {false, "atomics: " + std::to_string(counters.global_atomic_lanes) + " single ones in " +
                       std::to_string(counters.global_atomics) +
                       " requests of warps, so one lane makes them while 31 wait; let each lane "
                       "take a slot for its own event"};
  }
  return {};
}

/// What the busiest warp may load and store: what one turn of a loop needs, and eight times its
/// share. (One that looks before every compare-and-swap may be five times as busy, by bad luck.)
std::uint64_t most_of_one_warp(const course::Counters& counters) {
  return 8 + 8 * (counters.global_loads + counters.global_stores) / counters.warps;
}

// Promise: the kernel writes n events to ring[0..capacity-1] (OUT OF BOUNDS; on a GPU the guard
// bands show it).
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

// Promise: each event takes the slot that it finds in *next, and moves *next on: by one, and from
// the last slot to the first.
// Promise: `capacity` is at least 1.
TEST_CASE("ring_slot: a ring that is just full starts again at 0") {
  for (const unsigned capacity : {1u, 2u, 3u, 31u, 32u, 33u, 100u, 257u}) {
    for (const unsigned start : {0u, capacity / 2, capacity - 1}) {
      Recorder recorder(capacity, start);
      record(recorder, capacity, {2, 96});
      record(recorder, 1, {1, 32});  // which overwrites the first one
    }
  }
}

// Promise: the events of a launch may come in any order: of several in one slot one stays,
// whichever (the slots are compared as a set).
TEST_CASE("ring_slot: more events than slots") {
  for (const unsigned capacity : {1u, 2u, 3u, 7u, 10u, 32u, 100u, 256u}) {
    for (const std::size_t n : {33, 257, 1025}) {
      for (const Launch launch : {Launch{1, 32}, Launch{3, 96}, Launch{9, 128}}) {
        Recorder recorder(capacity, capacity - 1);
        record(recorder, n, launch);
      }
    }
  }
}

// Promise: the kernel is right for every one-dimensional grid.
TEST_CASE("ring_slot: the right events for every grid") {
  for (const Launch launch : course::launch_shapes(1025)) {
    Recorder recorder(1000, 990);
    record(recorder, 1025, launch);
  }
}

// Promise: the kernel is right for block sizes that are not multiples of 32, too.
TEST_CASE("ring_slot: blocks that are no whole warps") {
  for (const Launch launch : {Launch{300, 1}, {2, 31}, {5, 33}, {1, 50}, {3, 100}, {1, 1000}}) {
    Recorder recorder(100, 7);
    record(recorder, 257, launch);
    record(recorder, 257, launch);
  }
}

// Promise: every number but kEmpty may be an event, 0 too (smaller numbers replace larger ones).
TEST_CASE("ring_slot: every number but kEmpty is an event") {
  Recorder recorder(100, 99);
  for (const unsigned first : {kNothing - 2 * 257, 0x7FFF'FF80u, 0u}) {  // larger ones are replaced
    recorder.next_event = first;
    record(recorder, 257, {3, 96});
    record(recorder, 257, {3, 96});
  }
}

// Promise: several events may have the same number: each of them counts.
TEST_CASE("ring_slot: equal events are as many events") {
  for (const unsigned event : {0u, 7u, kNothing - 1}) {
    for (const unsigned capacity : {1u, 40u, 300u}) {
      Recorder recorder(capacity, capacity / 2);
      const std::vector<unsigned> events(257, event);
      const std::string text = "257 events, all of them " + std::to_string(event);
      record(recorder, events, {3, 96}, text);
      record(recorder, events, {3, 96}, text);  // over the same ones
    }
  }
}

// Promise: *overwritten grows by one for every event that is lost (every test case compares it).
// Promise: `capacity`, *next and *overwritten are any numbers of 32 bits.
TEST_CASE("ring_slot: billions of slots, and of events that were lost") {
  for (const unsigned start : {5u, 0x7FFF'FFF0u, 3'999'999'480u}) {
    Recorder recorder(600, start, start, 4'000'000'000u);
    record(recorder, 257, {3, 96});
    record(recorder, 257, {3, 96});
  }
  Recorder recorder(10, 3);
  constexpr unsigned kLost = 0x7FFF'FFF0;
  CUDA_CHECK(cudaMemcpy(recorder.overwritten.data(), &kLost, sizeof kLost, cudaMemcpyHostToDevice));
  record(recorder, 257, {3, 96});
  if (!course::has_run_before()) record(recorder, 70'000, {1, 1});
}

// Promise: the kernel starts with what *next holds, which an earlier launch may have left there.
TEST_CASE("ring_slot: launch after launch goes on where the one before stopped") {
  for (const unsigned capacity : {1u, 5u, 48u, 100u, 1000u}) {
    Recorder recorder(capacity, capacity / 3);
    for (const std::size_t n : {7, 0, 1, 40, 33, 255, 2, 64, 1023}) record(recorder, n, {2, 64});
  }
}

// Promise: each event takes a slot of its own when many threads write at the same time.
TEST_CASE("ring_slot: thousands of events at once") {
  // What goes wrong may not show at once. (On a GPU a lock in every thread takes microseconds each.)
  constexpr int kRepeats = course::kCpuDevice ? 1 : 10;
  const std::size_t n = course::kCpuDevice ? course::kBigSize : 50'003;
  const Launch launch{static_cast<unsigned>((n + 255) / 256), 256};
  for (int repeat = 0; repeat < kRepeats; ++repeat) {
    for (const unsigned capacity : {3u, 1000u, 6000u}) {
      Recorder recorder(capacity, 1);
      record(recorder, n, launch);
    }
  }
}

// Promise: each event takes a slot of its own when all lanes of a warp write in step.
TEST_CASE("ring_slot: the lanes of a warp go in step") {
  for (const unsigned capacity : {1u, 3u, 50u, 300u}) {
    Recorder recorder(capacity, 0);
    course::count([&] { record(recorder, 257, {3, 96}); });
    course::count([&] { record(recorder, 40, {2, 32}); });
  }
}

// Promise: the threads share the work: each lane of a warp writes events of its own.
TEST_CASE("ring_slot: the threads share the work") {
  course::skip_without_counters();
  if (course::has_run_before()) return;
  // Neither one block nor one warp of a block may do most of the work.
  for (const Launch launch : {Launch{32, 64}, Launch{2, 1024}}) {
    Recorder recorder(5000, 0);
    const auto counters = course::count([&] { record(recorder, 4096, launch); });
    INFO("4096 events; " << course::launch_text("log_events", launch));
    REQUIRE(shared_by_lanes(*counters, 4096));
    REQUIRE(course::work_is_shared(*counters, most_of_one_warp(*counters)));
  }
}

// Promise: a grid may have more than 2^32 threads.
TEST_CASE("ring_slot: the right events in a grid of more than 2^32 threads") {
  course::in_huge_grids(65, [](Launch grid) {
    Recorder recorder(100, 90);
    record(recorder, 65, grid);
  });
}

// Promise: n may be more than 2^32 (the last events, for which the CPU device runs the last two blocks).
TEST_CASE("ring_slot: the last of more than 2^32 events") {
  if (!course::kCpuDevice) SKIP("a GPU runs all blocks");
  constexpr std::size_t kThere = course::kLastItems;
  const course::Placed<unsigned> events(make_events(1000, kThere), 1);
  Recorder recorder(100, 90);
  INFO(recorder.text() << ", *next is 90; n = " << course::kHugeItems << "; "
                       << course::launch_text("log_events", course::kHugeGrid));
  course::at_end_of_huge_grid([&](Launch grid, std::size_t items) {
    const unsigned* const first = events.data() - (items - kThere);
    course::launch(log_events, {grid.grid, grid.block}, first, items, recorder.ring.data(),
                   recorder.capacity, recorder.next.data(), recorder.overwritten.data());
    REQUIRE(course::same(recorder.next.download().front(), 54u, "*next"));
    REQUIRE(course::same(recorder.overwritten.download().front(), 0u, "*overwritten"));
    const Change change{std::vector<unsigned>(100, kNothing), recorder.ring.download(), 0, 90, 100};
    REQUIRE(holds_events(change, make_events(1000, kThere)));
  });
}

// Promise: `capacity` may be 2^32 - 1 (GPU only).
TEST_CASE("ring_slot: a ring of almost 2^32 slots starts again at 0") {
  course::skip_without_memory(std::size_t{kNothing} * sizeof(unsigned));
  course::DeviceBuffer<unsigned> ring(kNothing);
  ring.fill_bytes(0xFF);
  const auto events = course::DeviceBuffer<unsigned>::from(std::vector<unsigned>(257, 7u));
  auto next = course::DeviceBuffer<unsigned>::from({kNothing - 100});
  auto overwritten = course::DeviceBuffer<unsigned>::zeros(1);
  course::launch(log_events, {3, 96}, events.data(), 257, ring.data(), kNothing, next.data(),
                 overwritten.data());
  INFO("capacity 4294967295, *next is 4294967195; 257 equal events; log_events<<<3, 96>>>");
  REQUIRE(course::same(next.front(), 157u, "*next"));
  REQUIRE(course::same(overwritten.front(), 0u, "*overwritten"));
}

}  // namespace ring_slot_check
