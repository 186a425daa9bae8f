// Check of the exercise spin_lock: one lock and many, lanes of one warp, warps of one block, several
// blocks; try_lock on a lock that is free, and on one that is taken.
#include "spin_lock.cuh"

#include <catch2/catch_test_macros.hpp>
#include <course/check.cuh>
#include <course/thread_number.cuh>
#include <cstddef>
#include <string>
#include <vector>

namespace spin_lock_check {

/// What a lock protects: ordinary memory that is right only if it changes as a whole.
struct Record {
  unsigned count, sum, last;
};

/// Each thread adds its number to record (thread % locks), `turns` times.
__global__ void add_to_records(unsigned* words, Record* records, unsigned locks, unsigned turns,
                               bool tries) {
  const auto i = static_cast<unsigned>(course::thread_number()), mine = i % locks;
  for (unsigned turn = 0; turn < turns; ++turn) {
    if (tries) {
      while (!try_lock(&words[mine])) __nanosleep(64);
    } else {
      lock(&words[mine]);
    }
    Record& record = records[mine];
    record.count += 1;
    record.sum += i;
    record.last = i;
    unlock(&words[mine]);
  }
}

void check_records(course::LaunchShape launch, unsigned locks, unsigned turns, bool tries) {
  INFO((tries ? "try_lock until it succeeds, " : "lock, ")
       << course::counted(locks, "lock") << ", " << course::counted(turns, "turn")
       << " per thread; " << course::launch_text("add_to_records", launch)
       << "\nrecords[i] is used only between lock(&words[i]) and unlock(&words[i])");
  const unsigned threads = launch.grid * launch.block;
  std::vector<unsigned> counts(locks), sums(locks);
  for (unsigned i = 0; i < threads; ++i) {
    counts[i % locks] += turns;
    sums[i % locks] += turns * i;
  }
  course::GuardedBuffer<unsigned> words(locks);
  course::GuardedBuffer<Record> records(locks);
  words.fill_bytes(0);
  records.fill_bytes(0);
  course::launch(add_to_records, {launch.grid, launch.threads()}, words.data(), records.data(),
                 locks, turns, tries);
  std::vector<unsigned> found_counts, found_sums;
  for (const Record& record : records.download()) {
    found_counts.push_back(record.count);
    found_sums.push_back(record.sum);
  }
  REQUIRE(course::same(found_counts, counts, "count"));
  REQUIRE(course::same(found_sums, sums, "sum"));
  REQUIRE(course::same(words.download(), std::vector<unsigned>(locks, 0), "word"));
  REQUIRE(words.intact("word"));
}

/// One thread: what try_lock returns, step by step.
__global__ void try_alone(unsigned* words, unsigned* results) {
  results[0] = try_lock(&words[1]);  // free
  results[1] = try_lock(&words[1]);  // taken
  results[2] = try_lock(&words[0]);  // another lock
  unlock(&words[1]);
  results[3] = try_lock(&words[1]);  // free again
  unlock(&words[1]);
  unlock(&words[0]);
}

/// One thread: lock() takes words[1], and leaves words[0] as it is.
__global__ void lock_alone(unsigned* words, unsigned* results) {
  lock(&words[1]);
  results[0] = try_lock(&words[1]);  // taken by lock()
  results[1] = try_lock(&words[0]);  // free
  unlock(&words[1]);
  unlock(&words[0]);
}

/// Block 0 has the lock for long; block 1 waits for it, and tells when it has it. *early is 1 if both had it.
__global__ void hold(unsigned* word, unsigned* begun, unsigned* entered, unsigned* early) {
  if (blockIdx.x == 0) {
    lock(word);
    atomicExch(begun, 1u);
    for (int look = 0; look < 3000 && *early == 0; ++look) {
      __nanosleep(64);
      if (atomicAdd(entered, 0u) != 0) *early = 1;
    }
    unlock(word);
  } else {
    while (atomicAdd(begun, 0u) == 0) __nanosleep(64);
    lock(word);
    atomicExch(entered, 1u);
    unlock(word);
  }
}

/// Who has the lock sleeps, so that the others come and wait for it.
__global__ void take_often(unsigned* word, unsigned* count, unsigned turns) {
  for (unsigned turn = 0; turn < turns; ++turn) {
    lock(word);
    *count += 1;
    __nanosleep(64);
    unlock(word);
  }
}

/// Every second thread takes the lock, and the others wait at a barrier of the block.
__global__ void lock_in_halves(unsigned* word, unsigned* count) {
  for (unsigned half = 0; half < 2; ++half) {
    if (threadIdx.x % 2 == half) {
      lock(word);
      *count += 1;
      unlock(word);
    }
    __syncthreads();
  }
}

// Promise: try_lock() returns true if no thread has the lock, and the calling thread then has it;
// false if another one has it.
// Promise: try_lock() does not wait (ENDLESS LOOP).
TEST_CASE("spin_lock: try_lock takes a free lock, and does not wait for one that is taken") {
  auto words = course::DeviceBuffer<unsigned>::zeros(3);
  course::DeviceBuffer<unsigned> results(4);
  course::launch(try_alone, {1, 1}, words.data(), results.data());
  const std::vector<unsigned> found = results.download();
  REQUIRE(course::same(found[0], 1u, "try_lock(&words[1]), which is free"));
  REQUIRE(course::same(found[1], 0u, "try_lock(&words[1]) again, without an unlock between"));
  REQUIRE(course::same(found[2], 1u, "try_lock(&words[0]), another lock, which is free"));
  REQUIRE(course::same(found[3], 1u, "try_lock(&words[1]) after unlock(&words[1])"));
  REQUIRE(course::same(words.download(), {0, 0, 0}, "word"));
}

// Promise: try_lock() does not try again and again (loads and atomics are counted).
TEST_CASE("spin_lock: try_lock looks at the lock, and returns") {
  course::skip_without_counters();
  auto words = course::DeviceBuffer<unsigned>::zeros(3);
  course::DeviceBuffer<unsigned> results(4);
  const auto counters = course::count([&] {
    course::launch(try_alone, {1, 1}, words.data(), results.data());
  });
  REQUIRE(course::at_most(counters->global_load_lanes + counters->global_atomic_lanes, 7 * 4,
                          "loads and atomics in four calls of try_lock() and three of unlock()",
                          "a call that does not wait needs one or two"));
}

// Promise: when no thread has the lock, *word is 0.
TEST_CASE("spin_lock: lock takes one lock, and unlock gives it back") {
  auto words = course::DeviceBuffer<unsigned>::zeros(3);
  course::DeviceBuffer<unsigned> results(2);
  course::launch(lock_alone, {1, 1}, words.data(), results.data());
  const std::vector<unsigned> found = results.download();
  REQUIRE(course::same(found[0], 0u, "try_lock(&words[1]) after lock(&words[1])"));
  REQUIRE(course::same(found[1], 1u, "try_lock(&words[0]), another lock, which is free"));
  REQUIRE(course::same(words.download(), {0, 0, 0}, "word"));
}

// Promise: lock() returns when the calling thread has the lock, and not before.
TEST_CASE("spin_lock: lock waits, however long another thread has the lock") {
  auto words = course::DeviceBuffer<unsigned>::zeros(4);
  unsigned* const word = words.data();
  course::launch(hold, {2, 1}, word, word + 1, word + 2, word + 3);
  REQUIRE(course::same(words.download(), {0, 1, 1, 0}, "word, begun, entered, both at once"));
}

// Promise: lanes of one warp may call it together: each of them gets the lock, one after the other.
TEST_CASE("spin_lock: the lanes of one warp") {
  for (const bool tries : {false, true}) {
    for (const unsigned block : {1u, 2u, 31u, 32u}) check_records({1, block}, 1, 2, tries);
  }
}

// Promise: no two threads of the grid have the lock at the same time, be they in one warp or in
// different blocks (DATA RACE on records).
// Promise: the holder sees, with ordinary loads, all that earlier holders wrote before they called
// unlock(), also after try_lock() (DATA RACE).
TEST_CASE("spin_lock: several warps and blocks, one lock") {
  for (const bool tries : {false, true}) {
    check_records({1, 96}, 1, 1, tries);
    check_records({4, 32}, 1, 2, tries);
    check_records({9, 40}, 1, 1, tries);
  }
}

// Promise: only *word is changed: the words beside it are other locks.
TEST_CASE("spin_lock: many locks side by side") {
  for (const unsigned locks : {2u, 5u, 32u, 100u}) check_records({4, 64}, locks, 2, false);
}

// Promise: any thread may call it, whatever dimensions its block has.
TEST_CASE("spin_lock: blocks of three dimensions") {
  for (const bool tries : {false, true}) check_records({2, 64, true}, 3, 1, tries);
}

// Promise: any lanes of a warp may call it while the others wait for them at a barrier (DEADLOCK).
TEST_CASE("spin_lock: some lanes of a warp call, and the others wait for them") {
  auto words = course::DeviceBuffer<unsigned>::zeros(2);
  course::launch(lock_in_halves, {1, 32}, words.data(), words.data() + 1);
  REQUIRE(course::same(words.download(), {0, 32}, "word, count"));
}

// Promise: the lock is right where the lanes of a warp go in step.
TEST_CASE("spin_lock: the lanes of a warp go in step") {
  course::count([] {
    check_records({2, 32}, 1, 1, false);
    check_records({2, 32}, 7, 1, true);
  });
}

// Promise: the lock may go from thread to thread any number of times while others wait (65,536 and more: 16 bits do not number them).
TEST_CASE("spin_lock: a lock that is wanted all the time, and taken 70,000 times") {
  if (course::has_run_before()) return;
  auto words = course::DeviceBuffer<unsigned>::zeros(2);
  INFO("take_often<<<2, 2>>>: each thread takes the lock 17,500 times, and sleeps while it has it");
  course::launch(take_often, {2, 2}, words.data(), words.data() + 1, 17'500u);
  REQUIRE(course::same(words.download(), {0, 70'000}, "word, count"));
}

#if !COURSE_CPU_DEVICE  // too many turns for it
// Promise: no two of thousands of threads have the lock at the same time (GPU only).
TEST_CASE("spin_lock: thousands of turns") {
  if (course::skip_large()) SKIP("COURSE_SKIP_LARGE is set");
  check_records({64, 32}, 1, 4, false);
  check_records({64, 128}, 64, 16, true);
}
#endif

}  // namespace spin_lock_check
