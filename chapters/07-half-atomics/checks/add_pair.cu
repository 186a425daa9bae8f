// Check of the exercise add_pair: every start, the ends of arrays and of allocations, zeros of both
// signs, many threads at one pair and at pairs that overlap, and the number of atomics.
#include "add_pair.cuh"

#include <catch2/catch_test_macros.hpp>
#include <course/check.cuh>
#include <course/thread_number.cuh>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "half_bits.cuh"

namespace add_pair_check {

using half_checks::Bits;
using half_checks::bits_of;
using half_checks::describe;
using half_checks::float_of;
using half_checks::half_text;
using half_checks::kAwkward;
using half_checks::kMinusZero;
using half_checks::one_chain;
using half_checks::same_bits;
using Launch = course::LaunchShape;

// ---- kernels -----------------------------------------------------------------------------------

/// Pair i begins at x[i * step]: with step 2 each element is in one pair, with step 1 in two, with
/// step 0 all pairs are one. values and returned hold first and second in turn.
__device__ void add_pairs_of_thread(std::size_t thread, std::size_t threads, const Bits* values,
                                    std::size_t n, std::size_t step, __half* x, __half* returned) {
  for (std::size_t i = thread; i < n; i += threads) {
    const __half2 before = add_pair(&x[i * step], __ushort_as_half(values[2 * i]),
                                    __ushort_as_half(values[2 * i + 1]));
    returned[2 * i] = before.x;
    returned[2 * i + 1] = before.y;
  }
}

__global__ void add_pairs(const Bits* values, std::size_t n, std::size_t step, __half* x,
                          __half* returned) {
  add_pair_check::add_pairs_of_thread(course::thread_number(), course::thread_count(), values, n,
                                      step, x, returned);
}

/// The same in shared memory, in one block: `size` elements from x on are there meanwhile.
__global__ void add_pairs_shared(const Bits* values, std::size_t n, std::size_t step,
                                 std::size_t offset, std::size_t size, __half* x,
                                 __half* returned) {
  __shared__ __align__(4) __half s_x[640];
  for (std::size_t k = threadIdx.x; k < size; k += blockDim.x) s_x[k] = x[k];
  __syncthreads();
  add_pair_check::add_pairs_of_thread(threadIdx.x, blockDim.x, values, n, step, s_x + offset,
                                      returned);
  __syncthreads();
  for (std::size_t k = threadIdx.x; k < size; k += blockDim.x) x[k] = s_x[k];
}

// ---- arrays, and what they must hold -----------------------------------------------------------

Bits sum_of(Bits a, Bits b) { return bits_of(float_of(a) + float_of(b)); }

/// n pairs of 0, 1, 2 or 3, in no order: sums below 2048 of them are exact in half.
std::vector<Bits> pairs_of_numbers(std::size_t n) {
  std::vector<Bits> values = course::position_values<Bits>(2 * n);
  for (Bits& value : values) value = bits_of(static_cast<float>(value % 4));
  return values;
}

/// An array for n pairs, with `offset` elements before and one after.
std::vector<Bits> array_for(std::size_t n, std::size_t step, std::size_t offset) {
  std::vector<Bits> start(offset + (n - 1) * step + 2 + 1);
  for (std::size_t at = 0; at < start.size(); ++at) {
    const bool outside = at < offset || at + 1 == start.size();
    start[at] = outside ? (at % 2 == 0 ? kMinusZero : Bits{0x7D01})
                        : bits_of(static_cast<float>(at % 29) - 14.0f);
  }
  return start;
}

/// What each element must hold, if pair i was added to start[offset + i * step] and the next one;
/// and that what its threads found fits together.
course::Verdict judge(const std::vector<Bits>& start, std::size_t offset, std::size_t step,
                      const std::vector<Bits>& values, const std::vector<Bits>& after,
                      const std::vector<Bits>& returned) {
  std::vector<std::vector<std::size_t>> calls(start.size());  // indices of `values`
  for (std::size_t i = 0; i < values.size() / 2; ++i) {
    calls[offset + i * step].push_back(2 * i);
    calls[offset + i * step + 1].push_back(2 * i + 1);
  }
  for (std::size_t at = 0; at < start.size(); ++at) {
    Bits expected = start[at];
    std::vector<Bits> found, left;
    std::string inputs = "\nIt held " + half_text(start[at]) + ", and ";
    inputs += calls[at].empty() ? "no pair contains it." : "these values are added:";
    for (std::size_t j = 0; j < calls[at].size() && j < 6; ++j) {
      inputs += (j > 0 ? ", " : " ") + half_text(values[calls[at][j]]);
    }
    if (calls[at].size() > 6) inputs += ", ... (" + std::to_string(calls[at].size()) + " values)";
    for (const std::size_t k : calls[at]) {
      expected = sum_of(expected, values[k]);
      found.push_back(returned[k]);
      left.push_back(sum_of(returned[k], values[k]));
    }
    if (after[at] != expected) {
      const std::string index = std::to_string(static_cast<long>(at) - static_cast<long>(offset));
      course::Verdict verdict =
          same_bits("x[" + index + "]", after[at], expected, !calls[at].empty());
      verdict.text += inputs;
      if (!verdict) return verdict;
    }
    if (calls[at].size() == 1 && found.front() != start[at]) {
      const std::size_t k = calls[at].front();
      course::Verdict verdict =
          same_bits("returned for pair " + std::to_string(k / 2) + (k % 2 == 0 ? ", .x" : ", .y"),
                    found.front(), start[at]);
      verdict.text += inputs;
      return verdict;
    }
    if (calls[at].size() > 1) {
      const course::Verdict verdict = one_chain(found, left, start[at], after[at]);
      if (!verdict) return verdict;
    }
  }
  return {};
}

// ---- one launch --------------------------------------------------------------------------------

std::string where(std::size_t offset) {
  return "x begins " + std::to_string(2 * offset) + " bytes past a multiple of 256";
}
/// Which elements pair i is.
std::string pairs_text(std::size_t step) {
  if (step == 0) return "every pair is x[0] and x[1]";
  return step == 1 ? "pair i is x[i] and x[i + 1]" : "pair i is x[2 i] and x[2 i + 1]";
}

/// Runs n pairs on an array that `start` describes with what is around it: `offset` elements before,
/// and the rest after. There is no memory at all past the last one. In shared memory: one block.
void check(const std::vector<Bits>& start, std::size_t offset, std::size_t step,
           const std::vector<Bits>& values, Launch launch, bool in_shared_memory = false) {
  const std::size_t n = values.size() / 2;
  course::GuardedBuffer<__half> x(start.size()), returned(2 * n);
  half_checks::set_bits(x.data(), start);
  const auto d_values = course::DeviceBuffer<Bits>::from(values);
  __half* const array = x.data() + offset;  // reports call memory by the launch's arguments
  if (in_shared_memory) {
    add_pairs_shared<<<1, launch.block>>>(d_values.data(), n, step, offset, start.size(), x.data(),
                                          returned.data());
  } else {
    add_pairs<<<launch.grid, launch.threads()>>>(d_values.data(), n, step, array, returned.data());
  }
  CUDA_CHECK_LAUNCH();
  REQUIRE(judge(start, offset, step, values, half_checks::get_bits(x.data(), start.size()),
                half_checks::get_bits(returned.data(), 2 * n)));
  REQUIRE(x.intact("x"));
  REQUIRE(returned.intact("returned"));
}

// Promise: address[0] becomes address[0] + first, and address[1] becomes address[1] + second.
// Promise: `address` is any element of an array but the last.
// Promise: no byte beside address[0] and address[1] is touched, not even by adding a zero (OUT OF
// BOUNDS at the ends of an allocation; neighbours are compared bit for bit).
TEST_CASE("add_pair: one pair, and nothing but the pair") {
  const std::vector<Bits> values = {bits_of(1.5f), bits_of(-0.25f)};
  for (const std::size_t offset : {0u, 1u, 2u, 3u}) {
    for (const std::size_t after : {0u, 1u, 2u}) {
      for (const Bits around : {kMinusZero, Bits{0x7D01}, bits_of(3.0f), Bits{0x8001}}) {
        std::vector<Bits> start(offset + 2 + after, around);
        start[offset] = bits_of(10.0f);
        start[offset + 1] = bits_of(20.0f);
        INFO("one thread adds 1.5 to x[0], which holds 10, and -0.25 to x[1], which holds 20\n"
             << where(offset) << "; elements before: " << offset << ", after: " << after
             << ", all of them " << half_text(around));
        check(start, offset, 2, values, {1, 1});
      }
    }
  }
}

// Promise: the call returns what was there before, address[0] in .x and address[1] in .y, bit for
// bit (where calls overlap, some order of them must explain what all of them returned).
TEST_CASE("add_pair: every value to every value") {
  std::vector<Bits> values, cells;
  for (const Bits cell : kAwkward) {
    for (const Bits value : kAwkward) {
      cells.push_back(cell), values.push_back(value);
      cells.push_back(value), values.push_back(kAwkward[values.size() % kAwkward.size()]);
    }
  }
  for (const std::size_t offset : {0u, 1u}) {
    std::vector<Bits> start(offset, kMinusZero);
    start.insert(start.end(), cells.begin(), cells.end());
    start.push_back(kMinusZero);
    INFO(where(offset) << "; zeros of both signs, infinities, NaN");
    check(start, offset, 2, values, {2, 96});
  }
}

// Promise: zeros are added like all other values: 0.0 turns a -0.0 into
// 0.0, and -0.0 changes nothing.
TEST_CASE("add_pair: zeros of all signs") {
  for (const std::size_t offset : {0u, 1u}) {
    std::vector<Bits> values, cells(offset, kMinusZero);
    for (unsigned signs = 0; signs < 16; ++signs) {
      for (const unsigned bit : {1u, 2u}) cells.push_back(signs & bit ? kMinusZero : 0);
      for (const unsigned bit : {4u, 8u}) values.push_back(signs & bit ? kMinusZero : 0);
    }
    INFO(where(offset) << "; 0.0 and -0.0 are added to 0.0 and -0.0");
    check(cells, offset, 2, values, {1, 32});
  }
}

// Promise: an array may begin at an odd half: it is the address that counts, not
// the index (MISALIGNED ACCESS).
TEST_CASE("add_pair: pairs side by side, at every size and every start") {
  std::size_t turn = 0;  // another grid each time
  for (const std::size_t n : course::kSizes) {
    if (n == 0) continue;
    for (const std::size_t offset : {0u, 1u, 2u, 3u}) {
      if (n > 300 && offset % 2 != turn % 2) continue;
      const std::vector<Launch> launches = course::launch_shapes(n);
      course::in_launch(launches[turn++ % launches.size()], [&](Launch launch) {
        INFO(describe(n, " pairs", launch) << ", side by side; " << where(offset));
        check(array_for(n, 2, offset), offset, 2, pairs_of_numbers(n), launch);
      });
    }
  }
}

// Promise: any number of threads may call it at the same time, for pairs
// that overlap, too (DATA RACE).
TEST_CASE("add_pair: pairs that overlap") {
  for (const std::size_t offset : {0u, 1u}) {
    for (const Launch launch : {Launch{1, 32}, Launch{3, 96}, Launch{5, 33}, Launch{1, 1024}}) {
      INFO(describe(257, " pairs", launch) << "; " << pairs_text(1) << "; " << where(offset));
      check(array_for(257, 1, offset), offset, 1, pairs_of_numbers(257), launch);
    }
  }
}

// Promise: each of the two is added in an atomic step of its own, and no addition gets lost.
TEST_CASE("add_pair: many threads at one pair") {
  for (const std::size_t offset : {0u, 1u}) {
    for (const Launch launch :
         {Launch{1, 32}, Launch{3, 96}, Launch{5, 33}, Launch{2, 128, true}}) {
      INFO(describe(250, " pairs", launch) << "; " << pairs_text(0) << "; " << where(offset));
      check(array_for(250, 0, offset), offset, 0, pairs_of_numbers(250), launch);
    }
  }
}

// Promise: `address` may be in shared memory.
TEST_CASE("add_pair: in shared memory") {
  for (const unsigned block : {32u, 96u, 250u}) {
    for (const std::size_t offset : {0u, 1u}) {
      for (const std::size_t step : {2u, 1u, 0u}) {
        INFO("in shared memory, 200 pairs, a block of "
             << block << " threads; " << pairs_text(step) << "; the address of x[0] is "
             << (offset == 0 ? "a" : "no") << " multiple of 4");
        check(array_for(200, step, offset), offset, step, pairs_of_numbers(200), {1, block}, true);
      }
    }
  }
}

// Promise: no addition gets lost where the lanes of a warp go in step.
TEST_CASE("add_pair: the lanes of a warp go in step") {
  for (const std::size_t offset : {0u, 1u}) {
    for (const std::size_t step : {2u, 1u, 0u}) {
      INFO(describe(130, " pairs", {2, 96}) << "; " << pairs_text(step) << "; " << where(offset));
      course::count([&] {
        check(array_for(130, step, offset), offset, step, pairs_of_numbers(130), {2, 96});
      });
    }
  }
}

// Promise: no addition gets lost if thousands of threads add to one pair.
TEST_CASE("add_pair: thousands of threads at few pairs") {
  constexpr int kRepeats = course::kCpuDevice ? 1 : 20;  // a lost update may not show at once
  const std::size_t n = course::kCpuDevice ? 700 : 2'000;
  for (int repeat = 0; repeat < kRepeats; ++repeat) {
    for (const std::size_t offset : {0u, 1u}) {
      std::vector<Bits> ones(2 * n, bits_of(1.0f));  // counts of up to 2048 are exact in half
      std::vector<Bits> start(offset + 3, bits_of(0.0f));
      INFO(describe(n, " pairs", {8, 256})
           << ", all of them 1 and 1 to x[0] and x[1]; " << where(offset));
      check(start, offset, 0, ones, {8, 256});
    }
  }
}

// ---- how many atomics --------------------------------------------------------------------------

/// Nothing but calls: what they ask of memory can be counted. Pairs begin `step` elements from each other.
__global__ void only_add(__half first, __half second, unsigned step, __half* x) {
  add_pair(&x[step * (blockIdx.x * blockDim.x + threadIdx.x)], first, second);
}

/// The same in shared memory, from an element that is `offset` past a multiple of 4 bytes.
__global__ void only_add_shared(__half first, __half second, unsigned offset) {
  __shared__ __align__(4) __half s_x[2 * 64 + 2];
  for (unsigned k = threadIdx.x; k < 2 * 64 + 2; k += 64) s_x[k] = __float2half(5.5f);
  __syncthreads();
  add_pair(&s_x[2 * threadIdx.x + offset], first, second);
}

constexpr const char* kAtomics =
    "A pair at a multiple of 4 bytes needs one of a __half2, another pair two of a __half.";
constexpr const char* kNoAccess = "atomicAdd returns what was there";

// Promise: where `address` is a multiple of 4 bytes, the call makes one atomicAdd of a __half2, and
// no other access; elsewhere it makes two atomicAdd of a __half.
TEST_CASE("add_pair: one atomic at a multiple of 4, two elsewhere, and nothing else") {
  course::skip_without_counters();
  const float values[][2] = {
      {1.0f, 2.0f}, {1.0f, -0.0f}, {-0.0f, 1.0f}, {0.0f, 0.0f}, {-0.0f, -0.0f}};
  for (const std::size_t offset : {0u, 1u, 2u, 3u, 6u}) {
    for (const auto& [first, second] : values) {
      // No zeros, which an atomicCAS could guess.
      const std::vector<__half> start(offset + 2 * 128, __half(5.5f));
      auto x = course::DeviceBuffer<__half>::from(start);
      __half* const array = x.data() + offset;
      const __half a(first), b(second);
      const auto counters =
          course::count([&] { add_pair_check::only_add<<<2, 64>>>(a, b, 2u, array); });
      INFO("128 pairs side by side, to which " << half_text(bits_of(first)) << " and "
                                               << half_text(bits_of(second)) << " are added; "
                                               << where(offset));
      const std::uint64_t atomics = offset % 2 == 0 ? 128 : 256;
      REQUIRE(course::same(counters->global_atomic_lanes, atomics, "atomics", kAtomics));
      REQUIRE(course::none(counters->global_loads, "loads", kNoAccess));
      REQUIRE(course::none(counters->global_stores, "stores", kNoAccess));
    }
  }
}

// Promise: the same of each lane where the addresses of a warp are of both kinds.
TEST_CASE("add_pair: one atomic or two, lane by lane") {
  course::skip_without_counters();
  for (const std::size_t offset : {0u, 1u}) {
    const std::vector<__half> start(offset + 3 * 128, __half(5.5f));
    auto x = course::DeviceBuffer<__half>::from(start);
    __half* const array = x.data() + offset;
    const __half a(1.0f), b(2.0f);
    const auto counters =
        course::count([&] { add_pair_check::only_add<<<2, 64>>>(a, b, 3u, array); });
    INFO("128 pairs, of which each begins 3 elements after the one before; " << where(offset));
    REQUIRE(course::same(counters->global_atomic_lanes, 64 + 2 * 64, "atomics", kAtomics));
    REQUIRE(course::none(counters->global_loads, "loads", kNoAccess));
  }
}

// Promise: the call makes as many atomics in shared memory as in global memory, and no load.
TEST_CASE("add_pair: one atomic at a multiple of 4, two elsewhere, in shared memory, too") {
  course::skip_without_counters();
  for (const unsigned offset : {0u, 1u}) {
    const __half a(1.0f), b(2.0f);
    const auto counters = course::count([&] { only_add_shared<<<1, 64>>>(a, b, offset); });
    INFO("64 pairs side by side in shared memory; the address of the first one is "
         << (offset == 0 ? "a" : "no") << " multiple of 4");
    REQUIRE(
        course::same(counters->shared_atomic_lanes, offset == 0 ? 64 : 128, "atomics", kAtomics));
    REQUIRE(course::none(counters->shared_loads, "loads", kNoAccess));
  }
}

}  // namespace add_pair_check
