// Check of the exercise hash_insert: tables of one slot, of no power of two, sparse, full, too small,
// and of 2^31 slots; keys that occur once, often, and always; keys that begin at the same slot, and at
// the last.
#include "hash_insert.cuh"

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <course/check.cuh>
#include <course/thread_number.cuh>
#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace hash_insert_check {

// The check's own: an answer may change what the exercise gives it.
constexpr unsigned kEmpty = 0xFFFF'FFFF;
unsigned begin_of_search(unsigned key, unsigned capacity) {
  return (key * 2'654'435'769u ^ key >> 15) % capacity;
}

__global__ void add_all(const unsigned* input, const unsigned* amounts, unsigned n, unsigned* keys,
                        unsigned* counts, unsigned capacity, unsigned* added) {
  for (std::size_t i = course::thread_number(); i < n; i += course::thread_count()) {
    added[i] = add_count(keys, counts, capacity, input[i], amounts[i]) ? 1 : 0;
  }
}

/// Every third thread calls at a time, and the others wait at a barrier of the block.
__global__ void add_in_thirds(unsigned* keys, unsigned* counts, unsigned capacity,
                              unsigned* added) {
  const unsigned t = threadIdx.x;
  for (unsigned third = 0; third < 3; ++third) {
    if (t % 3 == third) added[t] = add_count(keys, counts, capacity, t % 10, 2) ? 1 : 0;
    __syncthreads();
  }
}

/// Neighbouring threads have tables of their own, and the same keys.
__global__ void add_to_two(unsigned* keys, unsigned* counts, unsigned* other_keys,
                           unsigned* other_counts, unsigned capacity, unsigned* added) {
  const unsigned t = threadIdx.x;
  const bool other = t % 2 == 1;
  added[t] =
      add_count(other ? other_keys : keys, other ? other_counts : counts, capacity, t / 2 % 3, t)
          ? 1
          : 0;
}

/// Ok if a search for each key of the table ends at its slot, and it is there once.
course::Verdict is_searchable(const std::vector<unsigned>& keys) {
  const auto capacity = static_cast<unsigned>(keys.size());
  for (unsigned s = 0; s < capacity; ++s) {
    if (keys[s] == kEmpty) continue;
    unsigned slot = begin_of_search(keys[s], capacity);
    while (slot != s && keys[slot] != kEmpty && keys[slot] != keys[s]) slot = (slot + 1) % capacity;
    if (slot == s) continue;
    const std::string mine = "keys[" + std::to_string(s) + "]";
    const std::string other = "keys[" + std::to_string(slot) + "]";
    const std::string key = std::to_string(keys[s]);
    const std::string begin = "keys[" + std::to_string(begin_of_search(keys[s], capacity)) + "]";
    return {false, (keys[slot] == kEmpty
                        ? mine + " is " + key + ", but a search for it, which begins at " + begin +
                              ", ends at " + other + ", which is empty"
                        : mine + " and " + other + " are the same key, " + key +
                              "; a search for it begins at " + begin) +
                       course::atomics_of(keys, s, mine) + course::atomics_of(keys, slot, other)};
  }
  return {};
}

/// What a slot's count is computed from: "its key 7, which came with 3, 5".
std::string amounts_text(unsigned key, const std::vector<unsigned>& input,
                         const std::vector<unsigned>& amounts) {
  constexpr std::size_t kMost = 6;
  if (key == kEmpty) return "no key: the slot is empty, and has the count 0";
  std::string text = "its key " + std::to_string(key) + ", which came with";
  std::size_t calls = 0;
  for (std::size_t i = 0; i < input.size(); ++i) {
    if (input[i] != key || ++calls > kMost) continue;
    text += (calls > 1 ? ", " : " ") + std::to_string(amounts[i]);
  }
  return text + (calls > kMost ? ", ... (" + course::counted(calls, "call") + ")" : "");
}

void check_table(const std::vector<unsigned>& input, const std::vector<unsigned>& amounts,
                 unsigned capacity, course::LaunchShape launch, const std::string& text) {
  INFO(text << ": " << course::counted(input.size(), "key") << ", "
            << course::counted(capacity, "slot") << "; " << course::launch_text("add_all", launch));
  course::GuardedBuffer<unsigned> keys(capacity), counts(capacity), added(input.size());
  keys.fill_bytes(0xFF);
  counts.fill_bytes(0);
  const auto d_input = course::DeviceBuffer<unsigned>::from(input);
  const auto d_amounts = course::DeviceBuffer<unsigned>::from(amounts);
  course::launch(add_all, {launch.grid, launch.threads()}, d_input.data(), d_amounts.data(),
                 static_cast<unsigned>(input.size()), keys.data(), counts.data(), capacity,
                 added.data());
  const std::vector<unsigned> found = keys.download(), found_counts = counts.download();
  const std::vector<unsigned> returned = added.download();
  REQUIRE(keys.intact("keys"));
  REQUIRE(counts.intact("counts"));
  REQUIRE(is_searchable(found));
  std::map<unsigned, unsigned> all;
  for (std::size_t i = 0; i < input.size(); ++i) all[input[i]] += amounts[i];
  // No key leaves the table, and what had no room once never has.
  const std::set<unsigned> there(found.begin(), found.end());
  std::vector<unsigned> had_room;
  for (const unsigned key : input) had_room.push_back(there.contains(key) ? 1 : 0);
  REQUIRE(course::same(returned, had_room, "returned",
                       "true is 1, and right if the table has the key"));
  std::vector<unsigned> expected_counts;
  std::size_t strange = 0;
  for (const unsigned key : found) {
    strange += key != kEmpty && !all.contains(key) ? 1 : 0;
    expected_counts.push_back(key == kEmpty ? 0 : all[key]);
  }
  REQUIRE(course::same(strange, std::size_t{0}, "keys in the table that no call added"));
  const std::size_t stored = there.size() - there.count(kEmpty);
  REQUIRE(course::same(stored, std::min<std::size_t>(all.size(), capacity),
                       "different keys that were added"));
  REQUIRE(course::same(found_counts, expected_counts, "counts",
                       [&](std::size_t s) { return amounts_text(found[s], input, amounts); }));
}

/// One key, added twice to a table of which only the slots from `first` on have memory: `taken` of
/// them have other keys, and the two after these are empty.
void check_far(unsigned capacity, unsigned first, unsigned key, unsigned taken) {
  INFO("key " << key << ", " << course::counted(capacity, "slot") << "; the search begins at slot "
              << first << ", which and the next " << taken - 1 << " have other keys");
  std::vector<unsigned> expected(taken + 2, key ^ 1), expected_counts(taken + 2, 3);
  expected[taken] = expected[taken + 1] = kEmpty;
  expected_counts[taken] = expected_counts[taken + 1] = 0;
  auto memory = course::DeviceBuffer<unsigned>::from(expected);
  auto count_memory = course::DeviceBuffer<unsigned>::from(expected_counts);
  const auto input = course::DeviceBuffer<unsigned>::from({key, key});
  const auto amounts = course::DeviceBuffer<unsigned>::from({5, 6});
  course::GuardedBuffer<unsigned> added(2);
  unsigned* const keys = memory.data() - first;
  unsigned* const counts = count_memory.data() - first;
  course::launch(add_all, {2, 1}, input.data(), amounts.data(), 2u, keys, counts, capacity,
                 added.data());
  expected[taken] = key;
  expected_counts[taken] = 11;
  const std::string from = " from slot " + std::to_string(first) + " on";
  REQUIRE(course::same(added.download(), {1, 1}, "returned"));
  REQUIRE(course::same(memory.download(), expected, "keys" + from));
  REQUIRE(course::same(count_memory.download(), expected_counts, "counts" + from));
}

/// n keys, `different` of them different: 0 and others without order.
std::vector<unsigned> make_keys(std::size_t n, std::size_t different) {
  std::vector<unsigned> keys(n);
  for (std::size_t i = 0; i < n; ++i) {
    keys[i] = static_cast<unsigned>(i * 7919 % different) * 40'503u;
  }
  return keys;
}

// Promise: `amount` is added to the count of `key`, which is stored first if the table does not
// have it, and the call returns true.
// Promise: each key is stored in one slot: from first_slot() on, the first one that was empty (a
// search for each key must end there).
TEST_CASE("hash_insert: different keys, tables with room") {
  for (const unsigned n : {0u, 1u, 33u, 257u, 600u}) {
    for (const unsigned capacity : {n + 1, n + n / 10 + 1, 3 * n + 2}) {
      check_table(make_keys(n, n + 1), course::position_values<unsigned>(n), capacity, {3, 96},
                  "different keys");
    }
  }
}

// Promise: the call finds the last empty slot, wherever it is.
TEST_CASE("hash_insert: tables that are just full") {
  for (const unsigned n : {1u, 2u, 31u, 64u, 300u}) {
    check_table(make_keys(n, n), course::position_values<unsigned>(n), n, {2, 64}, "all slots");
    check_table(make_keys(2 * n, n), course::position_values<unsigned>(2 * n), n, {2, 64},
                "all slots, each key twice");
  }
}

// Promise: if the table does not have the key, and all slots have other keys, the call returns
// false, and nothing has changed.
TEST_CASE("hash_insert: tables that are too small") {
  for (const unsigned capacity : {1u, 2u, 30u}) {
    std::vector<unsigned> amounts = course::position_values<unsigned>(100);
    for (std::size_t i = 0; i < amounts.size(); i += 3) amounts[i] = 0;
    check_table(make_keys(100, 50), amounts, capacity, {2, 64}, "50 different keys");
  }
}

// Promise: the table has 1 to 2^31 slots (of the largest ones only a few slots are in memory).
// Promise: a search goes over any number of slots.
TEST_CASE("hash_insert: tables of up to 2^31 slots, and a long search") {
  for (const unsigned capacity : {0x8000'0000u, 0x7FFF'FFFFu, 0x6000'0001u}) {
    unsigned key = 0;  // its search begins among the last slots
    while (begin_of_search(key, capacity) < capacity - (1u << 20)) ++key;
    check_far(capacity, begin_of_search(key, capacity), key, 3);
  }
  if (!course::has_run_before()) check_far(70'000, begin_of_search(7, 70'000), 7, 5000);
}

// Promise: any thread of the grid may call it at any time, also with the same key (DATA RACE).
// Promise: counts wrap.
// Promise: an amount may be 0: the key is stored nevertheless.
TEST_CASE("hash_insert: keys that occur often") {
  for (const std::size_t different : {1, 2, 7, 40}) {
    const std::vector<unsigned> amounts = course::position_values<unsigned>(800);
    check_table(make_keys(800, different), amounts, 64, {4, 128}, "few different keys");
    check_table(make_keys(800, different), std::vector<unsigned>(800, 0x4000'0001u), 101, {4, 128},
                "counts that wrap");
  }
  check_table(make_keys(100, 40), std::vector<unsigned>(100, 0), 64, {2, 64}, "amounts of 0");
}

// Promise: any thread of the grid may call it, whatever dimensions its blocks have.
TEST_CASE("hash_insert: blocks of three dimensions") {
  for (const std::size_t different : {7u, 250u}) {
    check_table(make_keys(250, different), course::position_values<unsigned>(250), 300,
                {2, 128, true}, "keys that occur once, or often");
  }
}

// Promise: every number but kEmptyKey may be a key, 0 too.
TEST_CASE("hash_insert: every number but kEmptyKey is a key") {
  std::vector<unsigned> keys;
  for (unsigned k = 0; k < 8; ++k) {
    for (const unsigned key : {k, 0x7FFF'FFFC + k, 0xFFFF'FFF0 + k, kEmpty - 1 - k}) {
      keys.insert(keys.end(), 8, key);  // eight lanes side by side have the same one
    }
  }
  check_table(keys, course::position_values<unsigned>(keys.size()), 41, {4, 64}, "extreme keys");
}

// Promise: after the last slot comes the first one again.
TEST_CASE("hash_insert: keys that begin at the same slot, or at the last one") {
  for (const unsigned wanted : {0u, 99u}) {
    std::vector<unsigned> keys;
    for (unsigned key = 0; keys.size() < 150; ++key) {
      if (begin_of_search(key, 100) == wanted) keys.insert(keys.end(), 3, key);
    }
    check_table(keys, course::position_values<unsigned>(keys.size()), 100, {3, 64},
                "all begin at slot " + std::to_string(wanted));
  }
}

// Promise: any lanes of a warp may call it while the others wait for them at a barrier (DEADLOCK).
TEST_CASE("hash_insert: some lanes of a warp call, and the others wait for them") {
  course::GuardedBuffer<unsigned> keys(40), counts(40), added(64);
  keys.fill_bytes(0xFF);
  counts.fill_bytes(0);
  course::launch(add_in_thirds, {1, 64}, keys.data(), counts.data(), 40u, added.data());
  REQUIRE(course::same(added.download(), std::vector<unsigned>(64, 1), "returned"));
}

// Promise: the lanes of a warp may call it for several tables.
TEST_CASE("hash_insert: neighbouring lanes add the same keys to two tables") {
  constexpr unsigned kThreads = 64, kCapacity = 5;
  INFO(kThreads << " threads: the even ones add to one table, the odd ones to another");
  course::GuardedBuffer<unsigned> keys[2] = {course::GuardedBuffer<unsigned>(kCapacity),
                                             course::GuardedBuffer<unsigned>(kCapacity)},
                                  counts[2] = {course::GuardedBuffer<unsigned>(kCapacity),
                                               course::GuardedBuffer<unsigned>(kCapacity)},
                                  added(kThreads);
  for (int table = 0; table < 2; ++table) {
    keys[table].fill_bytes(0xFF);
    counts[table].fill_bytes(0);
  }
  const auto run = [&] {
    course::launch(add_to_two, {1, kThreads}, keys[0].data(), counts[0].data(), keys[1].data(),
                   counts[1].data(), kCapacity, added.data());
  };
  run();
  course::count(run);  // once more, with the lanes in step
  REQUIRE(course::same(added.download(), std::vector<unsigned>(kThreads, 1), "returned"));
  for (unsigned table = 0; table < 2; ++table) {
    std::map<unsigned, unsigned> expected, sums;
    for (unsigned t = table; t < kThreads; t += 2) expected[t / 2 % 3] += 2 * t;
    const std::vector<unsigned> found = keys[table].download(), sum = counts[table].download();
    for (unsigned s = 0; s < kCapacity; ++s)
      if (found[s] != kEmpty) sums[found[s]] += sum[s];
    for (const auto& [key, count] : expected) {
      INFO("table " << table << ", key " << key);
      REQUIRE(course::same(sums[key], count, "its count"));
    }
    REQUIRE(course::same(sums.size(), expected.size(), "keys of table " + std::to_string(table)));
  }
}

// Promise: the table is right where the lanes of a warp go in step.
TEST_CASE("hash_insert: the lanes of a warp go in step") {
  course::count([] {
    check_table(make_keys(120, 30), course::position_values<unsigned>(120), 40, {2, 64}, "30 keys");
  });
}

#if !COURSE_CPU_DEVICE  // too many keys for it
// Promise: no key and no amount gets lost among a million (GPU only).
TEST_CASE("hash_insert: a million keys") {
  if (course::skip_large()) SKIP("COURSE_SKIP_LARGE is set");
  const std::size_t n = 1'000'003;
  for (const std::size_t different : {1000, 900'000}) {
    check_table(make_keys(n, different), course::position_values<unsigned>(n), 1'000'000,
                {2000, 256}, "many keys");
  }
}
#endif

}  // namespace hash_insert_check
