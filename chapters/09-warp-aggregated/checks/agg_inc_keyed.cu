// Check of the exercise agg_inc_keyed: keys of every mixture, lists that are empty, nearly full and
// overfull, callers in branches and loops, and the number of atomics.
#include "agg_inc_keyed.cuh"

#include <algorithm>
#include <array>
#include <catch2/catch_test_macros.hpp>
#include <climits>
#include <course/check.cuh>
#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "checks/callers.cuh"

namespace agg_inc_keyed_check {

using caller_checks::Caller;
using caller_checks::case_text;
using caller_checks::for_each_call;
using caller_checks::kCalls;
using caller_checks::place_of_thread;
using caller_checks::returns_early;
using caller_checks::Shape;
using caller_checks::Thread;
using caller_checks::warp_of;
using E = course::Element;
using Kind = course::DataKind<int>;

constexpr int kKeys = 80;                 // in each of the two sets of lists
constexpr unsigned kFull = 0xffff'ffffu;  // kNoPlace, also if an answer changes that

// ---- keys and lists ----------------------------------------------------------------------------

const Kind kOne{"all have key 5", [](E) { return 5; }};
const Kind kFew{"keys 0 to 3, in no order", [](E e) { return e.random % 4; }};
const Kind kOwn{"each lane has a key of its own",
                [](E e) { return static_cast<int>(e.i * 7 % kKeys); }};
const Kind kHalfNegative{"half of the keys are negative, of several kinds; others are 0, 1 and 79",
                         [](E e) { return std::array{-1, 0, -7, 79, INT_MIN, 1}[e.random % 6]; }};
const Kind kNegative{"all keys are negative", [](E e) { return -1 - e.random % 60; }};
const Kind kNeighbors{"eight neighbours have the same key",
                      [](E e) { return static_cast<int>(e.i / 8 % 9); }};
const Kind kKinds[] = {kOne, kFew, kOwn, kHalfNegative, kNegative, kNeighbors};

const Kind kOneBit{"keys 5, and those that differ from it in one bit, as 7, 69, 261 and 65541",
                   [](E e) {  // with bit 0, ..., 16 or 31 changed
                     if (e.i % 3 == 0) return 5;
                     return e.i % 18 == 17 ? INT_MIN + 5 : 5 ^ 1 << e.i % 17;
                   }};

struct Lists {
  unsigned capacity, start;  // list k holds `start` + k items already
  std::size_t number = 2 * kKeys;
};

constexpr Lists kRoomy{100'000, 0};

// ---- the calls, and the places that they must get ----------------------------------------------

constexpr Caller kCallers[] = {Caller::all,     Caller::odd,          Caller::some,
                               Caller::loop,    Caller::after_return, Caller::both_branches,
                               Caller::one_lane};

__host__ __device__ inline Thread thread_of(unsigned rank, int key) {
  return {rank, key >= 0, rank % 3 != 0, rank % (kCalls + 1)};
}

/// Call k of thread t leaves its answer in places[t * kCalls + k].
__global__ void call_agg_inc_keyed(Caller caller, const int* keys, std::size_t n, unsigned* counts,
                                   unsigned capacity, unsigned* places) {
  const auto [rank, t, lanes] = place_of_thread(n);
  if (t >= n || returns_early(caller, rank)) return;
  const int key = keys[t];
  unsigned* const place = places + t * kCalls;
  for_each_call(caller, thread_of(rank, key), [=](unsigned number, unsigned set) {
    place[number] = agg_inc_keyed(counts + set * kKeys, key, capacity);
  });
  if (caller != Caller::after_return) __syncwarp(lanes);
}

/// The answers of all calls for one list: all places that were free, and kFull for the others.
course::Verdict places_of(const std::vector<unsigned>& found, std::size_t list, unsigned start,
                          unsigned capacity) {
  std::vector<unsigned> expected;
  for (std::size_t k = 0; k < found.size(); ++k) {
    const std::uint64_t place = std::uint64_t{start} + k;
    expected.push_back(place < capacity ? static_cast<unsigned>(place) : kFull);
  }
  const auto full = [](const auto& places) { return std::ranges::count(places, kFull); };
  const char* const hint =
      full(found) > full(expected)
          ? "4294967295 is kNoPlace: a call got it although the list had free places."
      : full(expected) > 0 ? "4294967295 is kNoPlace."
                           : "";
  return course::same_set(found, expected, "places of list " + std::to_string(list), hint);
}

std::string list_text(Caller caller, const Kind& kind, std::size_t n, const Shape& shape,
                      const Lists& lists) {
  return case_text(caller, kind.text, n, shape) + "; capacity " + std::to_string(lists.capacity) +
         ", list k holds " + std::to_string(lists.start) + " + k";
}

/// Launches, checks all answers, and returns how many atomics are enough.
std::size_t check_calls(Caller caller, const Kind& kind, std::size_t n, const Shape& shape,
                        const Lists& lists) {
  INFO(list_text(caller, kind, n, shape, lists));
  const std::vector<int> keys = kind.values(n);
  std::vector<unsigned> starts(lists.number);
  for (std::size_t k = 0; k < lists.number; ++k) starts[k] = lists.start + static_cast<unsigned>(k);
  course::GuardedBuffer<unsigned> counts(lists.number);
  CUDA_CHECK(cudaMemcpy(counts.data(), starts.data(), counts.bytes(), cudaMemcpyHostToDevice));
  const auto d_keys = course::DeviceBuffer<int>::from(keys);
  auto d_places =
      course::DeviceBuffer<unsigned>::from(std::vector<unsigned>(n * kCalls + 1, 0xdead'beefu));
  course::launch(call_agg_inc_keyed, {shape.grid, shape.block}, caller, d_keys.data(), n,
                 counts.data(), lists.capacity, d_places.data());
  const std::vector<unsigned> places = d_places.download();
  std::map<std::size_t, std::vector<unsigned>> answers;
  std::vector<unsigned> expected = starts;
  std::set<std::array<std::size_t, 3>> together;  // one call of one warp, for one list
  for (std::size_t t = 0; t < n; ++t) {
    const auto rank = static_cast<unsigned>(t % shape.threads());
    for_each_call(caller, thread_of(rank, keys[t]), [&](unsigned number, unsigned set) {
      const unsigned place = places[t * kCalls + number];
      if (keys[t] < 0) {
        INFO("thread " << t << " has key " << keys[t]);
        REQUIRE(course::same(place, kFull, "place"));
        return;
      }
      const std::size_t list = static_cast<std::size_t>(keys[t]) + set * kKeys;
      answers[list].push_back(place);
      ++expected[list];
      together.insert({warp_of(t, shape.threads()), number, list});
    });
  }
  REQUIRE(course::same(counts.download(), expected, "counts"));
  for (const auto& [list, found] : answers) {
    REQUIRE(places_of(found, list, starts[list], lists.capacity));
  }
  REQUIRE(counts.intact("counts"));
  return together.size();
}

/// One warp, whose lanes have two keys in turns. Only these two lists have memory that is looked
/// at: they are elements `a` and `b` of an array that begins with list `first`.
void check_far_lists(std::size_t first, std::size_t a, std::size_t b) {
  const std::size_t list[] = {a, b};
  const auto key_of = [&](std::size_t t) { return static_cast<int>(first + list[t % 2]); };
  constexpr unsigned kStart[] = {3, 8}, kCapacity = 22;
  INFO("32 lanes have the keys " << key_of(0) << " and " << key_of(1) << " in turns; capacity "
                                 << kCapacity << "; the lists hold " << kStart[0] << " and "
                                 << kStart[1]);
  std::vector<int> keys;
  for (std::size_t t = 0; t < 32; ++t) keys.push_back(key_of(t));
  const auto d_keys = course::DeviceBuffer<int>::from(keys);
  course::DeviceBuffer<unsigned> d_counts(std::max(a, b) + 1);
  auto places = course::DeviceBuffer<unsigned>::zeros(32 * kCalls);
  unsigned* const counts = d_counts.data() - first;
  for (int k = 0; k < 2; ++k) {
    CUDA_CHECK(
        cudaMemcpy(counts + first + list[k], &kStart[k], sizeof(unsigned), cudaMemcpyHostToDevice));
  }
  course::launch(call_agg_inc_keyed, {1, 32}, Caller::all, d_keys.data(), 32, counts, kCapacity,
                 places.data());
  const std::vector<unsigned> all = places.download();
  for (std::size_t k = 0; k < 2; ++k) {
    unsigned count = 0;
    CUDA_CHECK(cudaMemcpy(&count, counts + first + list[k], sizeof count, cudaMemcpyDeviceToHost));
    REQUIRE(course::same(count, kStart[k] + 16, "counts[" + std::to_string(key_of(k)) + "]"));
    std::vector<unsigned> found;
    for (std::size_t t = k; t < 32; t += 2) found.push_back(all[t * kCalls]);
    REQUIRE(places_of(found, first + list[k], kStart[k], kCapacity));
  }
}

// Promise: the call returns a place below `capacity` that no other call gets for this list.
// Promise: a call with a negative key returns kNoPlace, and touches no counter (OUT OF BOUNDS).
TEST_CASE("agg_inc_keyed: one full warp, in which all lanes call it") {
  for (const Kind& kind : kKinds) check_calls(Caller::all, kind, 32, {1, 32}, kRoomy);
}

// Promise: any lanes of a warp may call it: all, some, one; in a branch, in both branches of an if,
// in a loop that others have left.
// Promise: lanes that do not call it take no part, and may be waiting elsewhere (DEADLOCK of
// an answer that needs them).
TEST_CASE("agg_inc_keyed: whoever calls it") {
  for (const Caller caller : kCallers) {
    for (const Kind& kind : {kFew, kHalfNegative, kNeighbors}) {
      check_calls(caller, kind, 288, {3, 96}, kRoomy);
    }
  }
}

// Promise: all places below `capacity` are given before a call gets kNoPlace,
// and then every call gets it.
// Promise: counts[key] grows by 1 with each call with that key, whether
// the call gets a place or not.
// Promise: counts[key] may hold something already: then the first places of the list are taken.
// Promise: counts are right up to 2^32 - 1, which no count exceeds.
TEST_CASE("agg_inc_keyed: lists that come to their end") {
  for (const Lists& lists :
       {Lists{0, 0}, Lists{1, 0}, Lists{10, 0}, Lists{20, 15}, Lists{40, 40}, Lists{30, 50},
        Lists{0xffff'ffffu, 0}, Lists{0x8000'0010u, 0x7fff'fff0u},
        Lists{0xffff'ffffu, 0xffff'fe00u}}) {
    for (const Kind& kind : {kOne, kFew, kHalfNegative}) {
      check_calls(Caller::all, kind, 128, {2, 64}, lists);
    }
  }
}

// Promise: lanes that call it together pass any keys, those that differ in one bit, too.
TEST_CASE("agg_inc_keyed: keys that differ in one bit") {
  check_calls(Caller::all, kOneBit, 64, {2, 32}, {100'000, 0, 1 << 17});
}

// Promise: a key is small or large, up to the largest int.
TEST_CASE("agg_inc_keyed: large keys, and keys that differ in one high bit") {
  check_far_lists(0x7fff'ff00u, 254, 255);  // the largest keys there are
  check_far_lists(0x4000'0000u, 0, 1);
  check_far_lists(0x5500'0000u, 5, 5 | 1 << 21);
  for (const unsigned bit : {17u, 24u}) check_far_lists(0, 5, 5 | 1u << bit);
}

// Promise: two lists may be far apart: all bits of a key count (GPU only).
TEST_CASE("agg_inc_keyed: keys that differ in bit 25, 26, ... or 30") {
  course::skip_without_memory(std::size_t{5} << 30);
  for (unsigned bit = 25; bit <= 30; ++bit) check_far_lists(0, 5, 5 | 1u << bit);
}

// Promise: blocks have any size and one, two or three dimensions.
TEST_CASE("agg_inc_keyed: warps that are not full, blocks of two and three dimensions") {
  std::size_t turn = 0;
  for (const dim3 block : {dim3(1), dim3(7), dim3(33), dim3(8, 8), dim3(5, 7, 3), dim3(1, 64),
                           dim3(2, 3, 20), dim3(1024)}) {
    const Shape shape{2, block};
    const std::size_t n = 2 * shape.threads() - (shape.threads() > 4 ? 3 : 0);
    for (int k = 0; k < 2; ++k) {
      const Caller caller = kCallers[turn % std::size(kCallers)];
      check_calls(caller, kKinds[turn++ % 4], n, shape, {25, 2});
    }
  }
}

// Promise: no place is given twice, and none is left out, if many blocks call it (DATA RACE for
// a scope that is too small).
TEST_CASE("agg_inc_keyed: many threads") {
  constexpr std::size_t n = course::kCpuDevice ? 2001 : course::kBigSize;
  for (const Kind& kind : {kFew, kHalfNegative}) {
    check_calls(Caller::all, kind, n, {(n + 255) / 256, 256}, {static_cast<unsigned>(n / 5), 3});
  }
}

// Promise: lanes that call it together make one atomic for each different key of theirs,
// and none for negative keys.
// Promise: the call needs no shared memory and no barrier of the block.
TEST_CASE("agg_inc_keyed: one atomic for each different key") {
  course::skip_without_counters();
  for (const Caller caller : kCallers) {
    for (const Kind& kind : kKinds) {
      caller_checks::check_atomics(
          [&] {
            return check_calls(caller, kind, 128, {1, 128}, {12, 0});
          },
          list_text(caller, kind, 128, {1, 128}, {12, 0}),
          "one for each key of the lanes that come together, none for others");
    }
  }
}

}  // namespace agg_inc_keyed_check
