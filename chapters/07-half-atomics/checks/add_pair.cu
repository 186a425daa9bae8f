// Check of the exercise add_pair: every start, the ends of arrays and of allocations, zeros of both
// signs, many threads at one pair and at pairs that overlap, and the number of atomics.
#include "add_pair.cuh"

#include <catch2/catch_test_macros.hpp>
#include <course/check.cuh>
#include <cstddef>
#include <string>
#include <vector>

#include "half_bits.cuh"

namespace add_pair_check {

using Launch = course::LaunchShape;

// ---- kernels -----------------------------------------------------------------------------------

/// Pair i begins at x[i * step]: with step 2 each element is in one pair, with step 1 in two, with
/// step 0 all pairs are one. values and returned hold first and second in turn.
__global__ void add_pairs(const Bits* values, std::size_t n, std::size_t step, __half* x,
                          __half* returned) {
  const std::size_t stride = std::size_t{gridDim.x} * blockDim.x;
  for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < n; i += stride) {
    const __half2 before = add_pair(&x[i * step], __ushort_as_half(values[2 * i]),
                                    __ushort_as_half(values[2 * i + 1]));
    returned[2 * i] = before.x;
    returned[2 * i + 1] = before.y;
  }
}

/// The same for x in shared memory, in one block.
__global__ void add_pairs_shared(const Bits* values, unsigned n, unsigned step, unsigned offset,
                                 unsigned size, __half* x, __half* returned) {
  __shared__ __align__(4) __half s_x[640];
  for (unsigned k = threadIdx.x; k < size; k += blockDim.x) s_x[k] = x[k];
  __syncthreads();
  for (unsigned i = threadIdx.x; i < n; i += blockDim.x) {
    const __half2 before = add_pair(&s_x[offset + i * step], __ushort_as_half(values[2 * i]),
                                    __ushort_as_half(values[2 * i + 1]));
    returned[2 * i] = before.x;
    returned[2 * i + 1] = before.y;
  }
  __syncthreads();
  for (unsigned k = threadIdx.x; k < size; k += blockDim.x) x[k] = s_x[k];
}

/// Nothing but calls: what they ask of memory can be counted.
__global__ void only_add(__half first, __half second, __half* x) {
  add_pair(&x[2 * (blockIdx.x * blockDim.x + threadIdx.x)], first, second);
}

// ---- values -------------------------------------------------------------------------------------

const std::vector<Bits> kAwkward = {0x0000, 0x8000, 0x0001, 0x8001, 0x3C00, 0xBC00, 0x3C01,
                                    0x7BFF, 0x7C00, 0xFC00, 0x7E00, 0x7D01, 0xFFFF};

Bits sum_of(Bits a, Bits b) { return bits_of(float_of(a) + float_of(b)); }

/// n pairs of 0, 1, 2 or 3, in no order: sums below 2048 of them are exact in half.
std::vector<Bits> pairs_of_numbers(std::size_t n) {
  std::vector<Bits> values = course::position_values<Bits>(2 * n);
  for (Bits& value : values) value = bits_of(static_cast<float>(value % 4));
  return values;
}

// ---- checks -------------------------------------------------------------------------------------

std::string where(std::size_t offset) {
  return "x begins " + std::to_string(2 * offset) + " bytes behind a multiple of 256";
}
std::string describe(std::size_t n, Launch launch) {
  return "n = " + std::to_string(n) + " pairs; " + std::to_string(launch.grid) + " blocks of " +
         std::to_string(launch.block) + " threads";
}

/// What each element must hold, if pair i was added to start[offset + i * step] and the next one;
/// and that what its threads found fits together.
course::Verdict judge(const std::vector<Bits>& start, std::size_t offset, std::size_t step,
                      const std::vector<Bits>& values, const std::vector<Bits>& after,
                      const std::vector<Bits>& returned) {
  std::vector<std::vector<std::size_t>> calls(start.size());  // places in `values`
  for (std::size_t i = 0; i < values.size() / 2; ++i) {
    calls[offset + i * step].push_back(2 * i);
    calls[offset + i * step + 1].push_back(2 * i + 1);
  }
  for (std::size_t at = 0; at < start.size(); ++at) {
    Bits expected = start[at];
    std::vector<Bits> found, left;
    for (const std::size_t k : calls[at]) {
      expected = sum_of(expected, values[k]);
      found.push_back(returned[k]);
      left.push_back(sum_of(returned[k], values[k]));
    }
    if (after[at] != expected) {
      const std::string index = std::to_string(static_cast<long>(at) - static_cast<long>(offset));
      const std::string name =
          "x[" + index + "]" + (calls[at].empty() ? ", which is in no pair" : "");
      const course::Verdict verdict = same_bits(name, after[at], expected, !calls[at].empty());
      if (!verdict) return verdict;
    }
    if (calls[at].size() == 1 && found.front() != start[at]) {
      const std::size_t k = calls[at].front();
      return same_bits("returned by pair " + std::to_string(k / 2) + (k % 2 == 0 ? ", .x" : ", .y"),
                       found.front(), start[at]);
    }
    if (calls[at].size() > 1) {
      const course::Verdict verdict = one_chain(found, left, start[at], after[at]);
      if (!verdict) return verdict;
    }
  }
  return {};
}

/// Runs n pairs on an array that `start` describes with what lies around it: `offset` elements in
/// front, and the rest behind. There is no memory at all behind the last one.
void check(const std::vector<Bits>& start, std::size_t offset, std::size_t step,
           const std::vector<Bits>& values, Launch launch) {
  const std::size_t n = values.size() / 2;
  course::GuardedBuffer<__half> x(start.size()), returned(2 * n);
  set_bits(x.data(), start);
  const auto d_values = course::DeviceBuffer<Bits>::from(values);
  __half* const array = x.data() + offset;  // reports call memory by the launch's arguments
  add_pairs<<<launch.grid, launch.block>>>(d_values.data(), n, step, array, returned.data());
  CUDA_CHECK_LAUNCH();
  REQUIRE(judge(start, offset, step, values, get_bits(x.data(), start.size()),
                get_bits(returned.data(), 2 * n)));
  REQUIRE(x.intact("x"));
  REQUIRE(returned.intact("returned"));
}

void check_shared(const std::vector<Bits>& start, std::size_t offset, std::size_t step,
                  const std::vector<Bits>& values, unsigned block) {
  const std::size_t n = values.size() / 2;
  course::DeviceBuffer<__half> x(start.size()), returned(2 * n);
  set_bits(x.data(), start);
  const auto d_values = course::DeviceBuffer<Bits>::from(values);
  add_pairs_shared<<<1, block>>>(d_values.data(), static_cast<unsigned>(n),
                                 static_cast<unsigned>(step), static_cast<unsigned>(offset),
                                 static_cast<unsigned>(start.size()), x.data(), returned.data());
  CUDA_CHECK_LAUNCH();
  REQUIRE(judge(start, offset, step, values, get_bits(x.data(), start.size()),
                get_bits(returned.data(), 2 * n)));
}

/// An array for n pairs, with `offset` elements in front and one behind.
std::vector<Bits> array_for(std::size_t n, std::size_t step, std::size_t offset) {
  std::vector<Bits> start(offset + (n - 1) * step + 2 + 1);
  for (std::size_t at = 0; at < start.size(); ++at) {
    const bool outside = at < offset || at + 1 == start.size();
    start[at] = outside ? (at % 2 == 0 ? kMinusZero : Bits{0x7D01})
                        : bits_of(static_cast<float>(at % 29) - 14.0f);
  }
  return start;
}

}  // namespace add_pair_check

using namespace add_pair_check;

TEST_CASE("add_pair: one pair, and nothing but the pair") {
  const std::vector<Bits> values = {bits_of(1.5f), bits_of(-0.25f)};
  for (const std::size_t offset : {0u, 1u, 2u, 3u}) {
    for (const std::size_t behind : {0u, 1u, 2u}) {
      for (const Bits around : {kMinusZero, Bits{0x7D01}, bits_of(3.0f), Bits{0x8001}}) {
        std::vector<Bits> start(offset + 2 + behind, around);
        start[offset] = bits_of(10.0f);
        start[offset + 1] = bits_of(20.0f);
        INFO("one thread adds 1.5 to x[0], which holds 10, and -0.25 to x[1], which holds 20\n"
             << where(offset) << "; elements in front: " << offset << ", behind: " << behind
             << ", all of them " << half_text(around));
        check(start, offset, 2, values, {1, 1});
      }
    }
  }
}

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

TEST_CASE("add_pair: pairs side by side, at every size and every start") {
  std::size_t turn = 0;  // another grid each time
  for (const std::size_t n : course::kSizes) {
    if (n == 0) continue;
    for (const std::size_t offset : {0u, 1u, 2u, 3u}) {
      if (n > 300 && offset % 2 != turn % 2) continue;
      const std::vector<Launch> launches = course::launch_shapes(n);
      const Launch launch = launches[turn++ % launches.size()];
      INFO(describe(n, launch) << ", side by side; " << where(offset));
      check(array_for(n, 2, offset), offset, 2, pairs_of_numbers(n), launch);
    }
  }
}

TEST_CASE("add_pair: pairs that overlap") {
  for (const std::size_t offset : {0u, 1u}) {
    for (const Launch launch : {Launch{1, 32}, Launch{3, 96}, Launch{5, 33}, Launch{1, 1024}}) {
      INFO(describe(257, launch) << ", pair i is x[i] and x[i + 1]; " << where(offset));
      check(array_for(257, 1, offset), offset, 1, pairs_of_numbers(257), launch);
    }
  }
}

TEST_CASE("add_pair: many threads at one pair") {
  for (const std::size_t offset : {0u, 1u}) {
    for (const Launch launch : {Launch{1, 32}, Launch{3, 96}, Launch{5, 33}}) {
      INFO(describe(250, launch) << ", all of them x[0] and x[1]; " << where(offset));
      check(array_for(250, 0, offset), offset, 0, pairs_of_numbers(250), launch);
    }
  }
}

TEST_CASE("add_pair: in shared memory") {
  for (const unsigned block : {32u, 96u, 250u}) {
    for (const std::size_t offset : {0u, 1u}) {
      for (const std::size_t step : {2u, 1u, 0u}) {
        INFO("in shared memory, 200 pairs, a block of "
             << block << " threads; pair i begins at x[" << step << " * i]; the address of x[0] is "
             << (offset == 0 ? "a" : "no") << " multiple of 4");
        check_shared(array_for(200, step, offset), offset, step, pairs_of_numbers(200), block);
      }
    }
  }
}

TEST_CASE("add_pair: the lanes of a warp go in step") {
  for (const std::size_t offset : {0u, 1u}) {
    for (const std::size_t step : {2u, 1u, 0u}) {
      INFO(describe(130, {2, 96}) << "; pair i begins at x[" << step << " * i]; " << where(offset));
      course::count([&] {
        check(array_for(130, step, offset), offset, step, pairs_of_numbers(130), {2, 96});
      });
    }
  }
}

TEST_CASE("add_pair: thousands of threads at few pairs") {
  constexpr int kRepeats = course::kCpuDevice ? 1 : 20;  // a lost update may not show at once
  const std::size_t n = course::kCpuDevice ? 700 : 2'000;
  for (int repeat = 0; repeat < kRepeats; ++repeat) {
    for (const std::size_t offset : {0u, 1u}) {
      std::vector<Bits> ones(2 * n, bits_of(1.0f));  // counts of up to 2048 are exact in half
      std::vector<Bits> start(offset + 3, bits_of(0.0f));
      INFO(describe(n, {8, 256}) << ", all of them 1 and 1 to x[0] and x[1]; " << where(offset));
      check(start, offset, 0, ones, {8, 256});
    }
  }
}

TEST_CASE("add_pair: one atomic at a multiple of 4, two elsewhere, and nothing else") {
  course::skip_without_counters();
  const float values[][2] = {{1.0f, 2.0f}, {1.0f, -0.0f}, {-0.0f, 1.0f}, {0.0f, 0.0f}};
  for (const std::size_t offset : {0u, 1u, 2u, 3u, 6u}) {
    for (const auto& [first, second] : values) {
      // No zeros, which an atomicCAS could guess.
      const std::vector<__half> start(offset + 2 * 128, __half(5.5f));
      auto x = course::DeviceBuffer<__half>::from(start);
      __half* const array = x.data() + offset;
      const __half a(first), b(second);
      const auto counters = course::count([&] { only_add<<<2, 64>>>(a, b, array); });
      INFO("128 pairs side by side, to which " << half_text(bits_of(first)) << " and "
                                               << half_text(bits_of(second)) << " are added; "
                                               << where(offset));
      const std::uint64_t most = offset % 2 == 0 ? 128 : 256;
      REQUIRE(course::same(counters->global_atomic_lanes, most, "atomics"));
      REQUIRE(course::same(counters->global_loads, 0u, "loads"));
      REQUIRE(course::same(counters->global_stores, 0u, "stores"));
    }
  }
}
