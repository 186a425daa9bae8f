// Check of the exercise agg_inc_keyed: keys of every mixture, lists that are empty, nearly full and
// overfull, callers in branches and loops, and the number of atomics.
#include "agg_inc_keyed.cuh"

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <climits>
#include <course/check.cuh>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "together.cuh"

namespace agg_inc_keyed_check {

enum class Caller { all, odd, with_a_key, after_return, loop, both_branches };
constexpr Caller kCallers[] = {Caller::all,          Caller::odd,  Caller::with_a_key,
                               Caller::after_return, Caller::loop, Caller::both_branches};

std::string to_string(Caller caller) {
  switch (caller) {
    case Caller::all:
      return "every thread calls it";
    case Caller::odd:
      return "every other thread calls it";
    case Caller::with_a_key:
      return "threads with a key call it";
    case Caller::after_return:
      return "some threads have returned, the others call it";
    case Caller::loop:
      return "each thread calls it 0 to 3 times, in a loop";
    case Caller::both_branches:
      return "if and else call it, for lists of their own";
  }
  return "";
}

constexpr unsigned kCalls = 3;  // that a thread makes at most
constexpr int kKeys = 80;       // in each of the two sets of lists

/// Call k of thread t leaves its answer in places[t * kCalls + k].
__global__ void call_agg_inc_keyed(Caller caller, const int* keys, std::size_t n, unsigned* counts,
                                   unsigned capacity, unsigned* places) {
  const unsigned block = blockDim.x * blockDim.y * blockDim.z;
  const unsigned rank = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
  const std::size_t t = std::size_t{blockIdx.x} * block + rank;
  if (t >= n) return;
  const unsigned together = lanes_with_a_number(block, rank, t, n);
  const int key = keys[t];
  unsigned* const place = places + t * kCalls;
  switch (caller) {
    case Caller::all:
      place[0] = agg_inc_keyed(counts, key, capacity);
      break;
    case Caller::odd:
      if (rank % 2 == 1) place[0] = agg_inc_keyed(counts, key, capacity);
      break;
    case Caller::with_a_key:
      if (key >= 0) place[0] = agg_inc_keyed(counts, key, capacity);
      break;
    case Caller::after_return:
      if (rank % 32 < 5 || rank % 7 == 0) return;
      place[0] = agg_inc_keyed(counts, key, capacity);
      return;
    case Caller::loop:
      for (unsigned k = 0; k < rank % (kCalls + 1); ++k) {
        place[k] = agg_inc_keyed(counts, key, capacity);
      }
      break;
    case Caller::both_branches:
      if (rank % 3 == 0) {
        place[0] = agg_inc_keyed(counts, key, capacity);
      } else {
        place[0] = agg_inc_keyed(counts + kKeys, key, capacity);
      }
      break;
  }
  __syncwarp(together);
}

/// How many calls thread `rank` of a block makes.
unsigned calls_of(Caller caller, unsigned rank, int key) {
  switch (caller) {
    case Caller::odd:
      return rank % 2;
    case Caller::with_a_key:
      return key >= 0 ? 1 : 0;
    case Caller::after_return:
      return rank % 32 < 5 || rank % 7 == 0 ? 0 : 1;
    case Caller::loop:
      return rank % (kCalls + 1);
    default:
      return 1;
  }
}

enum class Kind { one, few, own, half_negative, negative, blocks_of_equals };
constexpr Kind kKinds[] = {Kind::one,           Kind::few,      Kind::own,
                           Kind::half_negative, Kind::negative, Kind::blocks_of_equals};
std::string to_string(Kind kind) {
  switch (kind) {
    case Kind::one:
      return "all have key 5";
    case Kind::few:
      return "keys 0 to 3, in no order";
    case Kind::own:
      return "each lane has a key of its own";
    case Kind::half_negative:
      return "half of the keys are negative, of several kinds; others are 0, 1 and 79";
    case Kind::negative:
      return "all keys are negative";
    case Kind::blocks_of_equals:
      return "eight neighbours have the same key";
  }
  return "";
}

std::vector<int> make_keys(Kind kind, std::size_t n) {
  const std::vector<int> random = course::position_values<int>(n);
  const int some[] = {-1, 0, -7, 79, INT_MIN, 1};
  std::vector<int> keys(n);
  for (std::size_t i = 0; i < n; ++i) {
    switch (kind) {
      case Kind::one:
        keys[i] = 5;
        break;
      case Kind::few:
        keys[i] = random[i] % 4;
        break;
      case Kind::own:
        keys[i] = static_cast<int>(i * 7 % kKeys);
        break;
      case Kind::half_negative:
        keys[i] = some[random[i] % 6];
        break;
      case Kind::negative:
        keys[i] = -1 - random[i] % 60;
        break;
      case Kind::blocks_of_equals:
        keys[i] = static_cast<int>(i / 8 % 9);
        break;
    }
  }
  return keys;
}

struct Lists {
  unsigned capacity, start;  // each list holds `start` + key items already
};

struct Shape {
  unsigned grid;
  dim3 block;
};
unsigned size_of(dim3 block) { return block.x * block.y * block.z; }

std::string describe(Caller caller, Kind kind, std::size_t n, const Shape& shape,
                     const Lists& lists) {
  return to_string(caller) + "; " + to_string(kind) + "; n = " + std::to_string(n) + ", " +
         std::to_string(shape.grid) + " blocks of " + std::to_string(shape.block.x) + " x " +
         std::to_string(shape.block.y) + " x " + std::to_string(shape.block.z) +
         " threads; capacity " + std::to_string(lists.capacity) + ", list k holds " +
         std::to_string(lists.start) + " + k";
}

/// The answers of all calls for one list: all places that were free, and kNoPlace for the others.
course::Verdict places_of(const std::vector<unsigned>& found, std::size_t list, unsigned start,
                          unsigned capacity) {
  std::vector<unsigned> expected;
  for (std::size_t k = 0; k < found.size(); ++k) {
    const std::uint64_t place = std::uint64_t{start} + k;
    expected.push_back(place < capacity ? static_cast<unsigned>(place) : kNoPlace);
  }
  const auto no_place = [](const std::vector<unsigned>& places) {
    return std::count(places.begin(), places.end(), kNoPlace);
  };
  const char* const hint = no_place(found) > no_place(expected)
                               ? "(4294967295 is kNoPlace: a call got it while places were free)"
                           : no_place(expected) > 0 ? "(4294967295 is kNoPlace)"
                                                    : "";
  return course::same_set(found, expected, "places of list " + std::to_string(list), hint);
}

/// Launches, checks all answers, and returns how many atomics are enough.
std::size_t check_calls(Caller caller, const std::vector<int>& keys, const Shape& shape,
                        const Lists& lists) {
  const std::size_t n = keys.size(), all = 2 * kKeys;
  std::vector<unsigned> starts(all);
  for (std::size_t k = 0; k < all; ++k) starts[k] = lists.start + static_cast<unsigned>(k);
  const auto d_keys = course::DeviceBuffer<int>::from(keys);
  course::GuardedBuffer<unsigned> counts(all);
  CUDA_CHECK(cudaMemcpy(counts.data(), starts.data(), counts.bytes(), cudaMemcpyHostToDevice));
  auto d_places =
      course::DeviceBuffer<unsigned>::from(std::vector<unsigned>(n * kCalls + 1, 0xdead'beefu));
  call_agg_inc_keyed<<<shape.grid, shape.block>>>(caller, d_keys.data(), n, counts.data(),
                                                  lists.capacity, d_places.data());
  CUDA_CHECK_LAUNCH();
  const std::vector<unsigned> places = d_places.download();

  std::vector<std::vector<unsigned>> answers(all);
  std::vector<unsigned> expected = starts;
  std::size_t atomics = 0;
  std::set<std::pair<unsigned, std::size_t>> together;  // of a warp: the call's number, the list
  const unsigned block = size_of(shape.block);
  for (std::size_t t = 0; t < n; ++t) {
    const auto rank = static_cast<unsigned>(t % block);
    if (rank % 32 == 0) together.clear();
    for (unsigned k = 0; k < calls_of(caller, rank, keys[t]); ++k) {
      const unsigned place = places[t * kCalls + k];
      if (keys[t] < 0) {
        INFO("thread " << t << " has key " << keys[t]);
        REQUIRE(course::same(place, kNoPlace, "place"));
        continue;
      }
      const bool second = caller == Caller::both_branches && rank % 3 != 0;
      const std::size_t list = static_cast<std::size_t>(keys[t]) + (second ? kKeys : 0);
      answers[list].push_back(place);
      ++expected[list];
      atomics += together.insert({k, list}).second ? 1 : 0;
    }
  }
  REQUIRE(course::same(counts.download(), expected, "counts"));
  for (std::size_t k = 0; k < all; ++k) {
    REQUIRE(places_of(answers[k], k, starts[k], lists.capacity));
  }
  REQUIRE(counts.intact("counts"));
  return atomics;
}

constexpr Lists kRoomy{100'000, 0};

}  // namespace agg_inc_keyed_check

using namespace agg_inc_keyed_check;

TEST_CASE("agg_inc_keyed: one full warp, in which all lanes call it") {
  for (const Kind kind : kKinds) {
    INFO(describe(Caller::all, kind, 32, {1, 32}, kRoomy));
    check_calls(Caller::all, make_keys(kind, 32), {1, 32}, kRoomy);
  }
}

TEST_CASE("agg_inc_keyed: whoever calls it") {
  for (const Caller caller : kCallers) {
    for (const Kind kind : {Kind::few, Kind::half_negative, Kind::blocks_of_equals}) {
      INFO(describe(caller, kind, 288, {3, 96}, kRoomy));
      check_calls(caller, make_keys(kind, 288), {3, 96}, kRoomy);
    }
  }
}

TEST_CASE("agg_inc_keyed: lists that come to their end") {
  for (const Lists& lists :
       {Lists{0, 0}, Lists{1, 0}, Lists{10, 0}, Lists{20, 15}, Lists{40, 40}, Lists{30, 50},
        Lists{0xffff'ffffu, 0}, Lists{0x8000'0010u, 0x7fff'fff0u},
        Lists{0xffff'ffffu, 0xffff'fe00u}}) {
    for (const Kind kind : {Kind::one, Kind::few, Kind::half_negative}) {
      INFO(describe(Caller::all, kind, 128, {2, 64}, lists));
      check_calls(Caller::all, make_keys(kind, 128), {2, 64}, lists);
    }
  }
}

TEST_CASE("agg_inc_keyed: keys that differ in one bit") {
  constexpr std::size_t n = 64, kLists = 1 << 17;
  std::vector<int> keys(n);
  for (std::size_t i = 0; i < n; ++i) {  // 5, and 5 with bit 0, ..., 16 or 31 changed
    keys[i] = i % 3 == 0 ? 5 : i % 18 == 17 ? INT_MIN + 5 : 5 ^ 1 << i % 17;
  }
  const auto d_keys = course::DeviceBuffer<int>::from(keys);
  auto counts = course::DeviceBuffer<unsigned>::zeros(kLists);
  auto d_places =
      course::DeviceBuffer<unsigned>::from(std::vector<unsigned>(n * kCalls, 0xdead'beefu));
  INFO(
      "every thread calls it; keys 5, and those that differ from it in one bit, as 7, 69, 261 and "
      "65541; 2 blocks of 32 threads; all lists are empty");
  call_agg_inc_keyed<<<2, 32>>>(Caller::all, d_keys.data(), n, counts.data(), kRoomy.capacity,
                                d_places.data());
  CUDA_CHECK_LAUNCH();
  const std::vector<unsigned> found = counts.download(), places = d_places.download();
  std::map<int, std::vector<unsigned>> answers;
  for (std::size_t i = 0; i < n; ++i) answers[keys[i]].push_back(places[i * kCalls]);
  for (const auto& [key, of_key] : answers) {
    INFO("key " << key);
    if (key < 0) {
      REQUIRE(course::same(of_key, std::vector<unsigned>(of_key.size(), kNoPlace), "places"));
      continue;
    }
    const auto list = static_cast<std::size_t>(key);
    REQUIRE(course::same(found[list], of_key.size(), "counts[" + std::to_string(key) + "]"));
    REQUIRE(places_of(of_key, list, 0, kRoomy.capacity));
  }
}

TEST_CASE("agg_inc_keyed: warps that are not full, blocks of two and three dimensions") {
  std::size_t turn = 0;
  for (const dim3 block : {dim3(1), dim3(7), dim3(33), dim3(8, 8), dim3(5, 7, 3), dim3(1, 64),
                           dim3(2, 3, 20), dim3(1024)}) {
    for (int k = 0; k < 2; ++k) {
      const Caller caller = kCallers[turn % std::size(kCallers)];
      const Kind kind = kKinds[turn++ % 4];
      const std::size_t n = 2 * size_of(block) - (size_of(block) > 4 ? 3 : 0);
      INFO(describe(caller, kind, n, {2, block}, {25, 2}));
      check_calls(caller, make_keys(kind, n), {2, block}, {25, 2});
    }
  }
}

TEST_CASE("agg_inc_keyed: many threads") {
  constexpr std::size_t n = course::kCpuDevice ? 2001 : course::kBigSize;
  const Shape shape{(n + 255) / 256, 256};
  for (const Kind kind : {Kind::few, Kind::half_negative}) {
    const Lists lists{static_cast<unsigned>(n / 5), 3};
    INFO(describe(Caller::all, kind, n, shape, lists));
    check_calls(Caller::all, make_keys(kind, n), shape, lists);
  }
}

TEST_CASE("agg_inc_keyed: one atomic for each different key") {
  course::skip_without_counters();
  for (const Caller caller : kCallers) {
    for (const Kind kind : kKinds) {
      const Lists lists{12, 0};
      INFO(describe(caller, kind, 128, {1, 128}, lists));
      std::size_t atomics = 0;
      std::optional<course::Counters> counters;
      course::with_seed(0, [&] {  // other seeds split lanes that come together, as a GPU may
        counters = course::count([&] {
          atomics = check_calls(caller, make_keys(kind, 128), {1, 128}, lists);
        });
      });
      REQUIRE(course::same(counters->global_atomic_lanes, atomics, "atomics",
                           "one for each key of the lanes that come together, none for others"));
      REQUIRE(
          course::same(counters->shared_atomics + counters->shared_loads + counters->shared_stores,
                       0, "uses of shared memory", "registers are enough"));
      REQUIRE(course::same(counters->barriers, 0, "barriers of the block"));
    }
  }
}
