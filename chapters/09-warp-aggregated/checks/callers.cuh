// For the checks of agg_add and agg_inc_keyed: which threads call the answer, where, and how often.
#pragma once

#include <cuda_runtime.h>

#include <catch2/catch_test_macros.hpp>
#include <course/check.cuh>
#include <cstddef>
#include <optional>
#include <string>

namespace caller_checks {

/// Which threads call the answer.
enum class Caller { all, odd, some, one_lane, after_return, both_branches, loop, nested };
const char* const kTexts[] = {"every thread calls it",
                              "every other thread calls it",
                              "threads that have an item call it",
                              "one lane of each warp calls it",
                              "some threads have returned, the others call it",
                              "if and else call it, each for counters of its own",
                              "each thread calls it 0 to 3 times, in a loop",
                              "a branch within a branch calls it"};

constexpr unsigned kCalls = 3;  // that a thread makes at most

/// A thread, and what decides how it calls.
struct Thread {
  unsigned rank;       // in its block
  bool has_item;       // Caller::some
  bool in_else;        // Caller::both_branches
  unsigned turns = 0;  // Caller::loop: 0 to kCalls; Caller::nested: 0 skips the inner branch
};

__host__ __device__ inline bool returns_early(Caller caller, unsigned rank) {
  return caller == Caller::after_return && (rank % 32 < 5 || rank % 7 == 0);
}

/// call(number, set) for each call of the thread: the number of the call, and which of two sets of
/// counters it is for. The kernel makes the calls, and the host lists them. Lanes of a warp come
/// together in calls of the same number for the same set.
#ifdef __CUDACC__
#pragma nv_exec_check_disable  // call is the host's in host code, and the device's in a kernel
#endif
template <class Call>
__host__ __device__ void for_each_call(Caller caller, const Thread& me, Call call) {
  switch (caller) {
    case Caller::all:
      call(0u, 0u);
      break;
    case Caller::odd:
      if (me.rank % 2 == 1) call(0u, 0u);
      break;
    case Caller::some:
      if (me.has_item) call(0u, 0u);
      break;
    case Caller::one_lane:
      if (me.rank % 32 == me.rank / 32 % 32) call(0u, 0u);
      break;
    case Caller::after_return:
      if (!returns_early(caller, me.rank)) call(0u, 0u);
      break;
    case Caller::both_branches:
      if (me.in_else) {
        call(0u, 1u);
      } else {
        call(0u, 0u);
      }
      break;
    case Caller::loop:
      for (unsigned k = 0; k < me.turns; ++k) call(k, 0u);
      break;
    case Caller::nested:
      if (me.rank % 3 != 0) {
        if (me.turns > 0) call(0u, 0u);
        call(1u, 1u);
      }
      break;
  }
}

// ---- threads and warps -------------------------------------------------------------------------

struct Shape {
  unsigned grid;
  dim3 block;  // of one, two or three dimensions
  unsigned threads() const { return block.x * block.y * block.z; }
};

inline std::string case_text(Caller caller, const std::string& data, std::size_t n,
                             const Shape& shape) {
  const auto [x, y, z] = shape.block;
  return std::string(kTexts[static_cast<int>(caller)]) + "; " + data +
         "; n = " + std::to_string(n) + ", " + std::to_string(shape.grid) +
         (shape.grid == 1 ? " block of " : " blocks of ") + std::to_string(x) + " x " +
         std::to_string(y) + " x " + std::to_string(z) + " threads";
}

/// Where a thread stands among all threads of the grid, n of which have a number.
struct Place {
  unsigned rank;  // in its block
  std::size_t t;  // in the grid
  /// The lanes of its warp that have a number. Those that do not call wait for the others with
  /// __syncwarp(lanes): an answer that needs them hangs.
  unsigned lanes;
};

__device__ inline Place place_of_thread(std::size_t n) {
  const unsigned block = blockDim.x * blockDim.y * blockDim.z;
  const unsigned rank = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
  const std::size_t t = std::size_t{blockIdx.x} * block + rank;
  if (t >= n) return {rank, t, 0};
  const std::size_t in_block = block - rank / 32 * 32, in_array = n - (t - rank % 32);
  const std::size_t lanes = in_block < in_array ? in_block : in_array;
  return {rank, t, lanes < 32 ? (1u << lanes) - 1 : 0xffff'ffffu};
}

/// The number of thread t's warp, in blocks of this many threads.
inline std::size_t warp_of(std::size_t t, unsigned threads) {
  return t / threads * 32 + t % threads / 32;
}

/// Counts `calls()`, which returns how many atomics it may make: as many are expected, `why` says of what, and neither
/// shared memory nor barriers. `text` says what is called.
template <class Calls>
void check_atomics(Calls calls, const std::string& text, const std::string& why) {
  std::size_t atomics = 0;
  std::optional<course::Counters> c;
  course::with_seed(0, [&] {  // other seeds split lanes that come together, as a GPU may
    c = course::count([&] { atomics = calls(); });
  });
  INFO(text);
  REQUIRE(course::same(c->global_atomic_lanes, atomics, "atomics", why));
  REQUIRE(course::none(c->shared_atomics + c->shared_loads + c->shared_stores,
                       "uses of shared memory", "registers are enough"));
  REQUIRE(course::none(c->barriers, "barriers of the block"));
}

}  // namespace caller_checks
