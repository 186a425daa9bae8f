// Check of the exercise agg_add: who calls it, where, with which numbers, in blocks of every shape;
// no number may be lost, no place be given twice, and the atomics are counted.
#include "agg_add.cuh"

#include <algorithm>
#include <array>
#include <catch2/catch_test_macros.hpp>
#include <course/check.cuh>
#include <cstddef>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "checks/callers.cuh"

namespace agg_add_check {

using caller_checks::Caller;
using caller_checks::case_text;
using caller_checks::for_each_call;
using caller_checks::kCalls;
using caller_checks::place_of_thread;
using caller_checks::returns_early;
using caller_checks::Shape;
using caller_checks::Thread;
using caller_checks::warp_of;

constexpr Caller kCallers[] = {Caller::all,      Caller::odd,          Caller::some,
                               Caller::one_lane, Caller::after_return, Caller::both_branches,
                               Caller::loop,     Caller::nested};

__host__ __device__ inline Thread thread_of(unsigned rank, unsigned value) {
  return {rank, value > 0, value % 2 != 0, value % (kCalls + 1)};
}

/// Call k of thread t adds values[t] + k, and leaves its answer in places[t * kCalls + k].
__global__ void call_agg_add(Caller caller, const unsigned* values, std::size_t n,
                             unsigned* counters, unsigned* places) {
  const auto [rank, t, lanes] = place_of_thread(n);
  if (t >= n || returns_early(caller, rank)) return;
  const unsigned value = values[t];
  unsigned* const place = places + t * kCalls;
  for_each_call(caller, thread_of(rank, value), [=](unsigned number, unsigned set) {
    place[number] = agg_add(counters + set, value + number);
  });
  if (caller != Caller::after_return) __syncwarp(lanes);
}

using Kind = course::DataKind<unsigned>;
unsigned one_to_1000(course::Element e) { return static_cast<unsigned>(e.random); }
const Kind kSmall{"values: 1 to 1000", one_to_1000};
const Kind kZeros{"values: all are 0", [](course::Element) { return 0u; }};
const Kind kOnes{"values: all are 1", [](course::Element) { return 1u; }};
const Kind kSomeZero{"values: every third is 0",
                     [](course::Element e) { return e.i % 3 == 1 ? 0u : one_to_1000(e); }};
const Kind kLarge{"values: so large that the counter wraps around",
                  [](course::Element e) { return one_to_1000(e) + (1u << 20); }};
const Kind kHigh{"values: one is 3000000000, the others are 1 to 1000",
                 [](course::Element e) { return e.i == 5 ? 3'000'000'000u : one_to_1000(e); }};

/// Places of the calls with one counter: one after the other, in some order, from `start` on.
course::Verdict side_by_side(std::vector<std::pair<unsigned, unsigned>> calls, unsigned start,
                             unsigned counter, unsigned end) {
  const std::string name = "counters[" + std::to_string(counter) + "]";
  unsigned all = start;
  for (const auto& call : calls) all += call.second;
  for (auto& call : calls) call.first -= start;  // modulo 2^32
  std::sort(calls.begin(), calls.end());
  unsigned next = 0;
  for (const auto& [place, value] : calls) {
    if (place != next) {
      const bool below = place < next;
      return {false, name + " held " + std::to_string(start) + ": a call that adds " +
                         std::to_string(value) + " got " + std::to_string(start + place) +
                         (below ? ", which belongs to another call already"
                                : "; no call got " + std::to_string(start + next)) +
                         "\nAt the end the counter holds " + std::to_string(end) + "; " +
                         std::to_string(start) + " and what all " + std::to_string(calls.size()) +
                         " calls add make " + std::to_string(all)};
    }
    next += value;
  }
  return course::same(end, start + next, name);
}

/// Launches, checks all answers, and returns how many groups of lanes came together.
std::size_t check_calls(Caller caller, const Kind& kind, std::size_t n, const Shape& shape,
                        unsigned start = 7, int launches = 1) {
  INFO(case_text(caller, kind.text, n, shape)
       << (launches > 1 ? "; two launches" : "") << "; the counter holds " << start);
  const std::vector<unsigned> values = kind.values(n);
  const auto d_values = course::DeviceBuffer<unsigned>::from(values);
  course::GuardedBuffer<unsigned> counters(2);
  const unsigned starts[2] = {start, 1000};
  CUDA_CHECK(cudaMemcpy(counters.data(), starts, sizeof starts, cudaMemcpyHostToDevice));
  std::vector<std::pair<unsigned, unsigned>> calls[2];
  std::set<std::array<std::size_t, 3>> groups;  // one call of one warp, for one of the counters
  for (int launch = 0; launch < launches; ++launch) {
    auto d_places =
        course::DeviceBuffer<unsigned>::from(std::vector<unsigned>(n * kCalls + 1, 0xdead'beefu));
    course::launch(call_agg_add, {shape.grid, shape.block}, caller, d_values.data(), n,
                   counters.data(), d_places.data());
    const std::vector<unsigned> places = d_places.download();
    for (std::size_t t = 0; t < n; ++t) {
      const auto rank = static_cast<unsigned>(t % shape.threads());
      for_each_call(caller, thread_of(rank, values[t]), [&](unsigned number, unsigned set) {
        calls[set].emplace_back(places[t * kCalls + number], values[t] + number);
        groups.insert({warp_of(t, shape.threads()), number, set});
      });
    }
  }
  const std::vector<unsigned> ends = counters.download();
  for (unsigned c = 0; c < 2; ++c) {
    REQUIRE(side_by_side(calls[c], starts[c], c, ends[c]));
  }
  REQUIRE(counters.intact("counters"));
  return groups.size();
}

// Promise: each lane gets an old value of its own: the `value` numbers from the returned one on
// belong to it alone (they are side by side, without gaps).
// Promise: lanes may pass 0.
TEST_CASE("agg_add: one full warp, in which all lanes call it") {
  for (const Kind& kind : {kOnes, kSmall, kZeros, kSomeZero}) {
    check_calls(Caller::all, kind, 32, {1, 32});
  }
}

// Promise: any lanes of a warp may call it: all, some, one; in a branch, in both branches of an if,
// in a loop that others have left.
// Promise: lanes that do not call it take no part, and may be waiting elsewhere (DEADLOCK of
// an answer that needs them).
// Promise: the call is atomic among all blocks (DATA RACE, also for a scope that is too small).
TEST_CASE("agg_add: whoever calls it") {
  for (const Caller caller : kCallers) {
    for (const Kind& kind : {kSmall, kSomeZero}) {
      check_calls(caller, kind, 32, {1, 32});
      check_calls(caller, kind, 288, {3, 96});
    }
  }
}

// Promise: blocks have any size and one, two or three dimensions.
TEST_CASE("agg_add: warps that are not full, blocks of two and three dimensions") {
  std::size_t turn = 0;
  for (const dim3 block : {dim3(1), dim3(7), dim3(33), dim3(100), dim3(8, 8), dim3(5, 7, 3),
                           dim3(1, 64), dim3(2, 3, 40), dim3(1024)}) {
    const Shape shape{2, block};
    const std::size_t n = 2 * shape.threads() - (shape.threads() > 4 ? 3 : 0);
    for (int k = 0; k < 3; ++k) {
      check_calls(kCallers[turn++ % std::size(kCallers)], kSmall, n, shape);
    }
  }
}

// Promise: sums are modulo 2^32.
TEST_CASE("agg_add: a counter that wraps around") {
  for (const unsigned start : {0u, 0xffff'fff0u, 0x8000'0000u}) {
    check_calls(Caller::all, kLarge, 250, {4, 64}, start);
  }
}

// Promise: `value` is any number of 32 bits.
TEST_CASE("agg_add: values of 32 bits") {
  for (const unsigned start : {0u, 0xf000'0000u})
    check_calls(Caller::all, kHigh, 32, {1, 32}, start);
}

// Promise: the sum of a warp is modulo 2^32, too.
TEST_CASE("agg_add: the lanes of one warp add more than 2^32") {
  constexpr unsigned kValue = 0x3000'0007u, kStart = 11;
  INFO("32 lanes add " << kValue << " each, modulo 2^32; the counter holds " << kStart);
  const auto values = course::DeviceBuffer<unsigned>::from(std::vector<unsigned>(32, kValue));
  auto counter = course::DeviceBuffer<unsigned>::from({kStart, 0});
  auto places = course::DeviceBuffer<unsigned>::zeros(32 * kCalls);
  course::launch(call_agg_add, {1, 32}, Caller::all, values.data(), 32, counter.data(),
                 places.data());
  const std::vector<unsigned> all = places.download();
  std::vector<unsigned> found, expected;
  for (unsigned t = 0; t < 32; ++t) {
    found.push_back(all[t * kCalls]);
    expected.push_back(kStart + t * kValue);
  }
  REQUIRE(course::same_set(found, expected, "the returned values"));
  REQUIRE(course::same(counter.front(), kStart + 32 * kValue, "counters[0]"));
}

// Promise: what the counter holds stays counted.
TEST_CASE("agg_add: two launches in a row") {
  check_calls(Caller::some, kSomeZero, 200, {2, 128}, 5, 2);
}

// Promise: no number gets lost, and none is given twice, if many blocks call it.
TEST_CASE("agg_add: many threads") {
  constexpr std::size_t n = course::kCpuDevice ? 3001 : course::kBigSize;
  for (const Caller caller : {Caller::all, Caller::loop}) {
    check_calls(caller, kSmall, n, {(n + 255) / 256, 256});
  }
}

// Promise: lanes that call it together make one atomic, even if all of them pass 0.
// Promise: the call needs no shared memory and no barrier of the block.
TEST_CASE("agg_add: one atomic for lanes that come together") {
  course::skip_without_counters();
  for (const Caller caller : kCallers) {
    if (caller == Caller::nested) continue;  // open: which lanes meet after the inner branch
    for (const Kind& kind : {caller == Caller::odd ? kZeros : kSmall, kSomeZero}) {
      caller_checks::check_atomics(
          [&] {
            return check_calls(caller, kind, 384, {3, 128});
          },
          case_text(caller, kind.text, 384, {3, 128}), "one for all lanes that come together");
    }
  }
}

}  // namespace agg_add_check
