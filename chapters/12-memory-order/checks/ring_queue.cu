// Check of the exercise ring_queue: full and empty queues, counters that wrap, calls that cannot succeed,
// producers and consumers in one warp and in different blocks, calls that all find what they need.
#include "ring_queue.cuh"

#include <catch2/catch_test_macros.hpp>
#include <course/check.cuh>
#include <course/thread_number.cuh>
#include <type_traits>
#include <vector>

namespace ring_queue_check {

static_assert(std::is_same_v<decltype(Slot::sequence), unsigned> &&
                  std::is_same_v<decltype(Slot::value), unsigned>,
              "the sequence and value of a Slot are unsigned");
static_assert(std::is_same_v<decltype(Queue::slots), Slot*> &&
                  std::is_same_v<decltype(Queue::capacity), unsigned> &&
                  std::is_same_v<decltype(Queue::head), unsigned*> &&
                  std::is_same_v<decltype(Queue::tail), unsigned*>,
              "Queue has Slot* slots, an unsigned capacity, and unsigned* head and tail");

// ---- a queue in device memory ------------------------------------------------------------------

/// A queue in device memory, empty, whose next position is `start`.
struct EmptyQueue {
  EmptyQueue(unsigned slot_count, unsigned start)
      : slots(slot_count), counters(2), capacity(slot_count) {
    std::vector<Slot> fresh(capacity);
    for (unsigned k = 0; k < capacity; ++k) fresh[(start + k) % capacity] = {start + k, 0};
    CUDA_CHECK(
        cudaMemcpy(slots.data(), fresh.data(), capacity * sizeof(Slot), cudaMemcpyHostToDevice));
    set_counters(start, start);
  }
  /// tail > head, and no slot written: producers have taken positions, and have not come further.
  void set_counters(unsigned head, unsigned tail) {
    const unsigned both[2] = {head, tail};
    CUDA_CHECK(cudaMemcpy(counters.data(), both, sizeof both, cudaMemcpyHostToDevice));
  }
  /// Every slot is written; `tail` has to follow.
  void fill() {
    std::vector<Slot> full = slots.download();
    for (Slot& slot : full) slot = {slot.sequence + 1, slot.sequence};
    CUDA_CHECK(
        cudaMemcpy(slots.data(), full.data(), capacity * sizeof(Slot), cudaMemcpyHostToDevice));
  }
  course::GuardedBuffer<Slot> slots;
  course::GuardedBuffer<unsigned> counters;
  unsigned capacity;
};

// ---- one thread --------------------------------------------------------------------------------

constexpr unsigned kNothing = 0xFFFF'FFFF;

/// One thread: pushes until the queue is full, pops until it is empty, `rounds` times; then the
/// same with half of the slots. results: values popped, 1 for a push, and kNothing where a call
/// returned false.
__global__ void fill_and_empty(Slot* slots, unsigned capacity, unsigned* counters, unsigned rounds,
                               unsigned* results) {
  const Queue queue{slots, capacity, counters, counters + 1};
  for (unsigned round = 0, next = 100, r = 0; round < rounds; ++round) {
    const unsigned pushes = round % 2 == 0 ? queue.capacity : (queue.capacity + 1) / 2;
    for (unsigned k = 0; k < pushes; ++k) results[r++] = try_push(queue, next++) ? 1 : kNothing;
    if (round % 2 == 0) results[r++] = try_push(queue, 7) ? 1 : kNothing;
    for (unsigned k = 0; k < pushes + 1; ++k) {
      unsigned value = kNothing;
      results[r++] = try_pop(queue, &value) ? value : kNothing;
    }
  }
}

/// What fill_and_empty() must write.
std::vector<unsigned> results_of(unsigned capacity, unsigned rounds) {
  std::vector<unsigned> expected;
  unsigned next = 100;
  for (unsigned round = 0; round < rounds; ++round) {
    const unsigned pushes = round % 2 == 0 ? capacity : (capacity + 1) / 2;
    expected.insert(expected.end(), pushes, 1);
    if (round % 2 == 0) expected.push_back(kNothing);  // full
    for (unsigned k = 0; k < pushes; ++k) expected.push_back(next++);
    expected.push_back(kNothing);  // empty
  }
  return expected;
}

void check_alone(unsigned capacity, unsigned start, unsigned rounds) {
  INFO("capacity " << capacity << ", the next position is " << start);
  const std::vector<unsigned> expected = results_of(capacity, rounds);
  EmptyQueue memory(capacity, start);
  course::GuardedBuffer<unsigned> results(expected.size());
  course::launch(fill_and_empty, {1, 1}, memory.slots.data(), capacity, memory.counters.data(),
                 rounds, results.data());
  REQUIRE(course::same(results.download(), expected, "results"));
  REQUIRE(results.intact("results"));
}

// ---- many threads ------------------------------------------------------------------------------

/// 0, ..., n-1 pass the queue. Who pushes k has written letters[k] = x[k], and who pops k reads it.
/// `mixed`: even threads push, odd ones pop; else the first half pushes.
__global__ void hand_over(Slot* slots, unsigned capacity, unsigned* counters, const unsigned* x,
                          unsigned n, unsigned* letters, unsigned* popped, bool mixed) {
  const Queue queue{slots, capacity, counters, counters + 1};
  const auto id = static_cast<unsigned>(course::thread_number()),
             half = static_cast<unsigned>(course::thread_count() / 2);
  const bool pushes = mixed ? id % 2 == 0 : id < half;
  for (unsigned i = mixed ? id / 2 : id % half; i < n; i += half) {
    if (pushes) {
      letters[i] = x[i];
      while (!try_push(queue, i)) __nanosleep(64);
    } else {
      unsigned value = 0;
      while (!try_pop(queue, &value)) __nanosleep(64);
      popped[i] = value < n ? letters[value] : kNothing;
    }
  }
}

/// Each thread pushes its value once, or pops once, and tells whether it could.
__global__ void call_once(Slot* slots, unsigned capacity, unsigned* counters, bool pushes,
                          unsigned* values, unsigned* could) {
  const Queue queue{slots, capacity, counters, counters + 1};
  const std::size_t id = course::thread_number();
  could[id] = (pushes ? try_push(queue, values[id]) : try_pop(queue, &values[id])) ? 1 : 0;
}

/// Each thread pushes one value and pops one, again and again. *refused counts pushes that returned false.
__global__ void push_and_pop(Slot* slots, unsigned capacity, unsigned* counters, unsigned turns,
                             unsigned* refused) {
  const Queue queue{slots, capacity, counters, counters + 1};
  for (unsigned turn = 0; turn < turns; ++turn) {
    unsigned value;
    const bool pushed = try_push(queue, turn);
    if (!pushed) atomicAdd(refused, 1u);
    while (pushed && !try_pop(queue, &value)) __nanosleep(64);
  }
}

/// As many pushes as there are slots, and as many pops as there are values.
void check_single_calls(course::LaunchShape launch, unsigned capacity, unsigned start) {
  const unsigned n = launch.grid * launch.block;
  INFO("capacity " << capacity << ", the next position is " << start << "; all " << n
                   << " threads push once, then all pop once; "
                   << course::launch_text("call_once", launch));
  EmptyQueue memory(capacity, start);
  const std::vector<unsigned> x = course::position_values<unsigned>(n), all(n, 1);
  auto pushed = course::DeviceBuffer<unsigned>::from(x);
  course::GuardedBuffer<unsigned> popped(n), could(n);
  for (const bool pushes : {true, false}) {
    course::launch(call_once, {launch.grid, launch.threads()}, memory.slots.data(), capacity,
                   memory.counters.data(), pushes, pushes ? pushed.data() : popped.data(),
                   could.data());
    REQUIRE(course::same(could.download(), all,
                         pushes ? "pushes that returned true" : "pops that returned true"));
  }
  REQUIRE(course::same_set(popped.download(), x, "popped"));
}

void check_exchange(course::LaunchShape launch, unsigned capacity, unsigned n, bool mixed,
                    unsigned start = 0) {
  INFO("capacity " << capacity << ", the next position is " << start << ", n = " << n << "; "
                   << course::launch_text("hand_over", launch) << ", "
                   << (mixed ? "producers and consumers in each warp"
                             : "the first half of the threads produces")
                   << "\nletters[k] is written before k is pushed, and read after k is popped");
  EmptyQueue memory(capacity, start);
  const std::vector<unsigned> x = course::position_values<unsigned>(n);
  const auto d_x = course::DeviceBuffer<unsigned>::from(x);
  course::GuardedBuffer<unsigned> letters(n), popped(n);
  course::launch(hand_over, {launch.grid, launch.threads()}, memory.slots.data(), capacity,
                 memory.counters.data(), d_x.data(), n, letters.data(), popped.data(), mixed);
  const bool in_order = launch.grid * launch.block == 2;
  REQUIRE((in_order ? course::same(popped.download(), x, "popped")
                    : course::same_set(popped.download(), x, "popped")));
  REQUIRE(course::same(memory.counters.download(), {start + n, start + n}, "head and tail"));
  REQUIRE(popped.intact("popped"));
  REQUIRE(memory.slots.intact("slots"));
}

// Promise: try_push() appends a value and returns true; if the slot of the next position has not
// been read, it returns false.
// Promise: try_pop() takes the oldest value and returns true; if no value is at the next
// position, it returns false.
// Promise: counters and sequence numbers may wrap from 2^32 - 1 to 0.
// Promise: the capacity is a power of two, 2 or more (2 to 65,536).
TEST_CASE("ring_queue: one thread fills the queue and empties it, also where counters wrap") {
  for (const unsigned capacity : {2u, 8u, 64u}) {
    for (const unsigned start : {0u, 5u, 0x7FFF'FFF0u, 0xFFFF'FFF0u})
      check_alone(capacity, start, 5);
  }
  if (!course::has_run_before()) check_alone(1 << 16, 0x7FFF'FFF0, 1);
}

// Promise: a call that cannot succeed yet returns false, and has changed nothing
// (ENDLESS LOOP of one that waits).
TEST_CASE("ring_queue: a call that cannot succeed yet returns, and changes nothing") {
  struct Case {
    const char* text;
    bool pushes;
    unsigned head, tail;
  };
  for (const Case& c :
       {Case{"a producer has position 7, and has not written; one pop", false, 7, 8},
        Case{"a consumer has position 7, and has not read; one push", true, 8, 11},
        Case{"the queue is empty; one pop", false, 7, 7}}) {
    INFO("capacity 4, head " << c.head << ", tail " << c.tail << ": " << c.text);
    EmptyQueue memory(4, 7);
    if (c.pushes) memory.fill();
    memory.set_counters(c.head, c.tail);
    auto value = course::DeviceBuffer<unsigned>::from({77});
    course::GuardedBuffer<unsigned> could(1);
    course::launch(call_once, {1, 1}, memory.slots.data(), 4u, memory.counters.data(), c.pushes,
                   value.data(), could.data());
    REQUIRE(course::none(could.download().front(), "calls that returned true"));
    REQUIRE(course::same(memory.counters.download(), {c.head, c.tail}, "head and tail"));
    REQUIRE(course::same(value.front(), 77u, "*value"));
  }
}

// Promise: if one thread pushes and one thread pops, values come in the
// order in which they were pushed.
TEST_CASE("ring_queue: one producer and one consumer keep the order") {
  for (const unsigned capacity : {2u, 4u, 64u}) {
    check_exchange({2, 1}, capacity, 40, false);
    check_exchange({1, 2}, capacity, 40, true);
  }
}

// Promise: try_push() returns true if there is room, whatever other threads push and pop meanwhile.
TEST_CASE("ring_queue: a push has room, whatever others push and pop meanwhile") {
  for (const unsigned start : {0u, 0xFFFF'FFF0u}) {
    INFO("capacity 64, the next position is " << start << "; 4 blocks of 8 threads, 2 turns");
    EmptyQueue memory(64, start);
    auto refused = course::DeviceBuffer<unsigned>::zeros(1);
    course::launch(push_and_pop, {4, 8}, memory.slots.data(), 64u, memory.counters.data(), 2u,
                   refused.data());
    REQUIRE(course::none(refused.download().front(), "pushes that returned false",
                         "64 pushes, 64 slots: none is ever full"));
  }
}

// Promise: any thread of the grid may call both functions at any time; each position is used once.
// Promise: each value is taken once.
// Promise: the value is ordinary memory, and the consumer sees it (DATA RACE on slots), and what the
// producer wrote before (DATA RACE on letters).
TEST_CASE("ring_queue: many producers and consumers in different blocks") {
  for (const unsigned capacity : {2u, 16u, 256u}) check_exchange({4, 32}, capacity, 100, false);
  for (const unsigned start : {0xFFFF'FFC0u, 0x7FFF'FFC0u})
    check_exchange({6, 40}, 8, 130, false, start);
}

// Promise: a call returns true if its slot is ready, also if another call overtakes it.
TEST_CASE("ring_queue: a call that another one overtakes still finds its slot") {
  check_single_calls({4, 32}, 128, 0);
  check_single_calls({8, 8}, 64, 0xFFFF'FFE0u);
  check_single_calls({16, 1}, 32, 0x7FFF'FFFAu);
}

// Promise: producers and consumers may be lanes of one warp.
TEST_CASE("ring_queue: producers and consumers in one warp") {
  for (const unsigned capacity : {2u, 8u, 64u}) check_exchange({2, 32}, capacity, 60, true);
}

// Promise: any thread of the grid may call both functions, whatever dimensions its blocks have.
TEST_CASE("ring_queue: blocks of three dimensions") {
  check_exchange({2, 64, true}, 16, 60, false);
  check_single_calls({2, 64, true}, 128, 0);
}

// Promise: the queue is right where the lanes of a warp go in step.
TEST_CASE("ring_queue: the lanes of a warp go in step") {
  course::count([] {
    check_exchange({2, 32}, 8, 50, false);
    check_single_calls({2, 32}, 64, 7);
  });
}

#if !COURSE_CPU_DEVICE  // too many values for it
// Promise: no value gets lost among thousands, and none is taken twice (GPU only).
TEST_CASE("ring_queue: thousands of values") {
  if (course::skip_large()) SKIP("COURSE_SKIP_LARGE is set");
  check_exchange({32, 64}, 256, 50'000, false);
  check_exchange({16, 64}, 64, 20'000, true);
}
#endif

}  // namespace ring_queue_check
