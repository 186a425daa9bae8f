// Check of the exercise agg_add: who calls it, where, with which numbers, in blocks of every shape;
// no number may be lost, no place be given twice, and the atomics are counted.
#include "agg_add.cuh"

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <course/check.cuh>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "together.cuh"

namespace agg_add_check {

/// Who calls agg_add.
enum class Caller { all, odd, not_zero, one_lane, after_return, both_branches, loop, nested };
constexpr Caller kCallers[] = {Caller::all,      Caller::odd,          Caller::not_zero,
                               Caller::one_lane, Caller::after_return, Caller::both_branches,
                               Caller::loop,     Caller::nested};

std::string to_string(Caller caller) {
  switch (caller) {
    case Caller::all:
      return "every thread calls it";
    case Caller::odd:
      return "every other thread calls it";
    case Caller::not_zero:
      return "threads with something to add call it";
    case Caller::one_lane:
      return "one lane of each warp calls it";
    case Caller::after_return:
      return "some threads have returned, the others call it";
    case Caller::both_branches:
      return "if and else call it, with two counters";
    case Caller::loop:
      return "each thread calls it 0 to 3 times, in a loop";
    case Caller::nested:
      return "a branch within a branch calls it";
  }
  return "";
}

constexpr unsigned kCalls = 3;  // that a thread makes at most
constexpr unsigned kUnset = 0xdead'beefu;

/// Thread t of the grid has number t. Call k of thread t leaves its answer in places[t * kCalls +
/// k].
__global__ void call_agg_add(Caller caller, const unsigned* values, std::size_t n,
                             unsigned* counters, unsigned* places) {
  const unsigned block = blockDim.x * blockDim.y * blockDim.z;
  const unsigned rank = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
  const std::size_t t = std::size_t{blockIdx.x} * block + rank;
  if (t >= n) return;
  const unsigned together = lanes_with_a_number(block, rank, t, n);
  const unsigned value = values[t];
  unsigned* const place = places + t * kCalls;
  switch (caller) {
    case Caller::all:
      place[0] = agg_add(counters, value);
      break;
    case Caller::odd:
      if (rank % 2 == 1) place[0] = agg_add(counters, value);
      break;
    case Caller::not_zero:
      if (value > 0) place[0] = agg_add(counters, value);
      break;
    case Caller::one_lane:
      if (rank % 32 == rank / 32 % 32) place[0] = agg_add(counters, value);
      break;
    case Caller::after_return:
      if (rank % 32 < 5 || rank % 7 == 0) return;
      place[0] = agg_add(counters, value);
      return;
    case Caller::both_branches:
      if (value % 2 == 0) {
        place[0] = agg_add(counters, value);
      } else {
        place[0] = agg_add(counters + 1, value);
      }
      break;
    case Caller::loop:
      for (unsigned k = 0; k < value % (kCalls + 1); ++k) place[k] = agg_add(counters, value + k);
      break;
    case Caller::nested:
      if (rank % 3 != 0) {
        if (value % 4 != 0) place[0] = agg_add(counters, value);
        place[1] = agg_add(counters + 1, 1);
      }
      break;
  }
  __syncwarp(together);
}

/// What thread t does, the same once more on the host.
struct Call {
  unsigned number;  // of this thread's calls
  unsigned site;    // lanes that come to the same site in the same turn come together
  unsigned counter;
  unsigned value;
};

std::vector<Call> calls_of(Caller caller, unsigned rank, unsigned value) {
  switch (caller) {
    case Caller::all:
      return {{0, 0, 0, value}};
    case Caller::odd:
      if (rank % 2 == 1) return {{0, 0, 0, value}};
      return {};
    case Caller::not_zero:
      if (value > 0) return {{0, 0, 0, value}};
      return {};
    case Caller::one_lane:
      if (rank % 32 == rank / 32 % 32) return {{0, 0, 0, value}};
      return {};
    case Caller::after_return:
      if (rank % 32 < 5 || rank % 7 == 0) return {};
      return {{0, 0, 0, value}};
    case Caller::both_branches:
      return {{0, value % 2, value % 2, value}};
    case Caller::loop: {
      std::vector<Call> calls;
      for (unsigned k = 0; k < value % (kCalls + 1); ++k) calls.push_back({k, k, 0, value + k});
      return calls;
    }
    case Caller::nested: {
      std::vector<Call> calls;
      if (rank % 3 == 0) return calls;
      if (value % 4 != 0) calls.push_back({0, 0, 0, value});
      calls.push_back({1, 1, 1, 1});
      return calls;
    }
  }
  return {};
}

struct Shape {
  unsigned grid;
  dim3 block;
};
unsigned size_of(dim3 block) { return block.x * block.y * block.z; }

enum class Kind { small, zeros, ones, some_zero, large };
std::string to_string(Kind kind) {
  switch (kind) {
    case Kind::small:
      return "1 to 1000";
    case Kind::zeros:
      return "all are 0";
    case Kind::ones:
      return "all are 1";
    case Kind::some_zero:
      return "every third is 0";
    case Kind::large:
      return "so large that the counter wraps around";
  }
  return "";
}

std::vector<unsigned> make_values(Kind kind, std::size_t n) {
  std::vector<unsigned> values = course::position_values<unsigned>(n);
  for (std::size_t i = 0; i < n; ++i) {
    if (kind == Kind::zeros) values[i] = 0;
    if (kind == Kind::ones) values[i] = 1;
    if (kind == Kind::some_zero && i % 3 == 1) values[i] = 0;
    if (kind == Kind::large) values[i] += 1u << 20;
  }
  return values;
}

std::string describe(Caller caller, Kind kind, std::size_t n, const Shape& shape) {
  return to_string(caller) + "; values: " + to_string(kind) + "; n = " + std::to_string(n) + ", " +
         std::to_string(shape.grid) + " blocks of " + std::to_string(shape.block.x) + " x " +
         std::to_string(shape.block.y) + " x " + std::to_string(shape.block.z) + " threads";
}

/// Places of the calls with one counter: one behind the other, in some order, from `start` on.
course::Verdict side_by_side(std::vector<std::pair<unsigned, unsigned>> calls, unsigned start,
                             unsigned counter, unsigned end) {
  const std::string name = "counters[" + std::to_string(counter) + "]";
  for (auto& call : calls) call.first -= start;  // modulo 2^32
  std::sort(calls.begin(), calls.end());
  unsigned next = 0;
  for (const auto& [place, value] : calls) {
    if (place != next) {
      const bool below = place < next;
      return {false, name + " held " + std::to_string(start) + ": a call that adds " +
                         std::to_string(value) + " got " + std::to_string(start + place) +
                         (below ? ", which belongs to another call already"
                                : "; nobody got " + std::to_string(start + next))};
    }
    next += value;
  }
  return course::same(end, start + next, name);
}

/// Launches, checks all answers, and returns how many groups of lanes came together.
std::size_t check_calls(Caller caller, const std::vector<unsigned>& values, const Shape& shape,
                        unsigned start = 7, int launches = 1) {
  const std::size_t n = values.size();
  const auto d_values = course::DeviceBuffer<unsigned>::from(values);
  course::GuardedBuffer<unsigned> counters(2);
  const unsigned starts[2] = {start, 1000};
  CUDA_CHECK(cudaMemcpy(counters.data(), starts, sizeof starts, cudaMemcpyHostToDevice));
  std::vector<std::pair<unsigned, unsigned>> calls[2];
  std::size_t groups = 0;
  for (int launch = 0; launch < launches; ++launch) {
    auto d_places =
        course::DeviceBuffer<unsigned>::from(std::vector<unsigned>(n * kCalls + 1, kUnset));
    call_agg_add<<<shape.grid, shape.block>>>(caller, d_values.data(), n, counters.data(),
                                              d_places.data());
    CUDA_CHECK_LAUNCH();
    const std::vector<unsigned> places = d_places.download();
    const unsigned block = size_of(shape.block);
    std::vector<unsigned> sites;  // of the running warp, one bit each
    for (std::size_t t = 0; t < n && t < std::size_t{shape.grid} * block; ++t) {
      const auto rank = static_cast<unsigned>(t % block);
      if (rank % 32 == 0) sites.push_back(0);
      for (const Call& call : calls_of(caller, rank, values[t])) {
        calls[call.counter].emplace_back(places[t * kCalls + call.number], call.value);
        sites.back() |= 1u << call.site;
      }
    }
    for (unsigned warp : sites) {
      for (; warp != 0; warp &= warp - 1) ++groups;
    }
  }
  const std::vector<unsigned> ends = counters.download();
  for (unsigned c = 0; c < 2; ++c) {
    REQUIRE(side_by_side(calls[c], starts[c], c, ends[c]));
  }
  REQUIRE(counters.intact("counters"));
  return groups;
}

}  // namespace agg_add_check

using namespace agg_add_check;

TEST_CASE("agg_add: one full warp, in which all lanes call it") {
  for (const Kind kind : {Kind::ones, Kind::small, Kind::zeros, Kind::some_zero}) {
    const Shape shape{1, 32};
    INFO(describe(Caller::all, kind, 32, shape));
    check_calls(Caller::all, make_values(kind, 32), shape);
  }
}

TEST_CASE("agg_add: whoever calls it") {
  for (const Caller caller : kCallers) {
    for (const Kind kind : {Kind::small, Kind::some_zero}) {
      for (const Shape& shape : {Shape{1, 32}, Shape{3, 96}}) {
        const std::size_t n = shape.grid * size_of(shape.block);
        INFO(describe(caller, kind, n, shape));
        check_calls(caller, make_values(kind, n), shape);
      }
    }
  }
}

TEST_CASE("agg_add: warps that are not full, blocks of two and three dimensions") {
  std::size_t turn = 0;
  for (const dim3 block : {dim3(1), dim3(7), dim3(33), dim3(100), dim3(8, 8), dim3(5, 7, 3),
                           dim3(1, 64), dim3(2, 3, 40), dim3(1024)}) {
    const Shape shape{2, block};
    for (int k = 0; k < 3; ++k) {
      const Caller caller = kCallers[turn++ % std::size(kCallers)];
      const std::size_t n = 2 * size_of(block) - (size_of(block) > 4 ? 3 : 0);
      INFO(describe(caller, Kind::small, n, shape));
      check_calls(caller, make_values(Kind::small, n), shape);
    }
  }
}

TEST_CASE("agg_add: a counter that wraps around") {
  const Shape shape{4, 64};
  for (const unsigned start : {0u, 0xffff'fff0u, 0x8000'0000u}) {
    INFO(describe(Caller::all, Kind::large, 250, shape) << "; the counter holds " << start);
    check_calls(Caller::all, make_values(Kind::large, 250), shape, start);
  }
}

TEST_CASE("agg_add: two launches in a row") {
  const Shape shape{2, 128};
  INFO(describe(Caller::not_zero, Kind::some_zero, 200, shape) << "; two launches");
  check_calls(Caller::not_zero, make_values(Kind::some_zero, 200), shape, 5, 2);
}

TEST_CASE("agg_add: many threads") {
  constexpr std::size_t n = course::kCpuDevice ? 3001 : course::kBigSize;
  const Shape shape{(n + 255) / 256, 256};
  for (const Caller caller : {Caller::all, Caller::loop}) {
    INFO(describe(caller, Kind::small, n, shape));
    check_calls(caller, make_values(Kind::small, n), shape);
  }
}

TEST_CASE("agg_add: one atomic for lanes that come together") {
  course::skip_without_counters();
  for (const Caller caller : kCallers) {
    if (caller == Caller::nested) continue;  // who meets again behind the inner branch is open
    const Shape shape{3, 128};
    const Kind kind = caller == Caller::odd ? Kind::zeros : Kind::small;  // zeros ask as well
    INFO(describe(caller, kind, 384, shape));
    std::size_t groups = 0;
    std::optional<course::Counters> counters;
    course::with_seed(0, [&] {  // other seeds split lanes that come together, as a GPU may
      counters =
          course::count([&] { groups = check_calls(caller, make_values(kind, 384), shape); });
    });
    REQUIRE(course::same(counters->global_atomic_lanes, groups, "atomics",
                         "one for all lanes that come together"));
    REQUIRE(
        course::same(counters->shared_atomics + counters->shared_loads + counters->shared_stores, 0,
                     "uses of shared memory", "registers are enough"));
    REQUIRE(course::same(counters->barriers, 0, "barriers of the block"));
  }
}
