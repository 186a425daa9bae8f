// Check of the exercise atomic_sub_half: every element of an array with awkward neighbours, many
// threads at one element and at both halves of one word, in global and in shared memory.
#include "atomic_sub_half.cuh"

#include <catch2/catch_test_macros.hpp>
#include <course/check.cuh>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "checks/one_half.cuh"
#include "half_bits.cuh"

namespace atomic_sub_half_check {

using half_checks::Bits;
using half_checks::bits_of;
using half_checks::describe;
using half_checks::float_of;
using half_checks::half_text;
using half_checks::halves;
using half_checks::kAwkward;
using half_checks::kInfinity;
using half_checks::kMinusZero;
using half_checks::same_bits;
using Launch = course::LaunchShape;
using one_half_checks::Beside;

struct Subtract {
  __device__ __half operator()(__half* address, __half value) const {
    return atomic_sub_half(address, value);
  }
  static Bits result(Bits old, Bits value) { return bits_of(float_of(old) - float_of(value)); }
  /// Ok if `found` is old - value, as halves.
  static course::Verdict right(const std::string& name, Bits old, Bits value, Bits found) {
    course::Verdict verdict = same_bits(name, found, result(old, value), true);
    const float number = float_of(value);
    const bool of_bits = number >= 1 && number < 65536 && found == static_cast<int>(old - number);
    if (!verdict && of_bits) {
      verdict.text += "\nThe bits went down by " + course::number_text(number) +
                      ", as if they were a number. A cast converts a number; __half_as_ushort and\n"
                      "__ushort_as_half leave the bits as they are.";
    }
    return verdict;
  }
};

// ---- one thread per element --------------------------------------------------------------------

/// values[i] goes to x[offset + i * step], and all elements between and around keep their bits.
void check_array(const std::vector<Bits>& start, std::size_t offset, std::size_t step,
                 const std::vector<Bits>& values, Launch launch) {
  const std::size_t n = values.size();
  course::GuardedBuffer<__half> x(start.size()), returned(n);
  half_checks::set_bits(x.data(), start);
  const auto d_values = course::DeviceBuffer<Bits>::from(values);
  __half* const array = x.data() + offset;  // reports call memory by the launch's arguments
  one_half_checks::each_element<<<launch.grid, launch.block>>>(Subtract{}, d_values.data(), n, step,
                                                               array, returned.data());
  CUDA_CHECK_LAUNCH();
  const std::vector<Bits> after = half_checks::get_bits(x.data(), start.size());
  const std::vector<Bits> found = half_checks::get_bits(returned.data(), n);
  std::vector<bool> changed(start.size(), false);
  for (std::size_t i = 0; i < n; ++i) {
    const std::size_t at = offset + i * step;
    const Bits expected = Subtract::result(start[at], values[i]);
    changed[at] = true;
    if (after[at] == expected && found[i] == start[at]) continue;
    INFO("x[" << at << "] held " << half_text(start[at]) << ", the other half of its word "
              << half_text(start[at ^ 1]) << "; the value is " << half_text(values[i]));
    REQUIRE(Subtract::right("x[" + std::to_string(at) + "]", start[at], values[i], after[at]));
    REQUIRE(same_bits("returned[" + std::to_string(i) + "]", found[i], start[at]));
  }
  for (std::size_t at = 0; at < start.size(); ++at) {
    if (changed[at] || after[at] == start[at]) continue;
    const std::string who = at < offset || at >= offset + n * step
                                ? ", outside the array, must keep its bits"
                                : ", a neighbour, must keep its bits";
    REQUIRE(same_bits("x[" + std::to_string(at) + "]" + who, after[at], start[at]));
  }
  REQUIRE(x.intact("x"));
  REQUIRE(returned.intact("returned"));
}

// ---- many threads ------------------------------------------------------------------------------

/// What is left of 1000 after up to 400 of them is exact in half.
const course::DataKind<Bits> kSmall{
    "1 to 4", [](course::Element e) { return bits_of(static_cast<float>(1 + e.random % 4)); }};

const course::DataKind<Bits> kZerosAndOnes{
    "-0 and 1", [](course::Element e) { return e.i % 2 == 0 ? kMinusZero : bits_of(1.0f); }};

/// Many threads at element `place` of two, which holds 1000.
void check_one(const std::vector<Bits>& values, unsigned place, Beside neighbour, Bits beside,
               Launch launch) {
  one_half_checks::check_one<Subtract>(values, place, neighbour, bits_of(1000.0f), beside, launch);
}

/// Blocks whose threads subtract from both halves of a word of shared memory, 1000 and `upper`.
void check_shared(std::size_t n, unsigned block, Bits upper) {
  one_half_checks::check_shared<Subtract>(
      kSmall.values(n), block, {kMinusZero, 0x7D01, bits_of(1000.0f), upper, 0xFE01, kMinusZero});
}

// Promise: `address` is any element of an array: an even or an odd one, the first or the last.
// Promise: the other half of the word keeps its bits, whatever they are: -0.0, a NaN of any kind.
TEST_CASE("atomic_sub_half: one element, the other half of its word stays") {
  for (const std::size_t at : {0u, 1u}) {
    for (const Bits beside : {bits_of(5.0f), kMinusZero, Bits{0x7E00}, Bits{0x7D01}, Bits{0xFFFF},
                              Bits{0x0000}, Bits{0x8001}}) {
      std::vector<Bits> start(2, beside);
      start[at] = bits_of(100.0f);
      INFO("an array of one element, its address " << (at == 0 ? "a" : "no") << " multiple of 4");
      check_array(start, at, 2, {bits_of(32.0f)}, {1, 1});
    }
  }
}

// Promise: *address becomes *address - value, rounded to half (zeros of both signs,
// subnormals, infinities and NaN).
// Promise: infinities and NaN are values like all others: the call returns
// for them, too (ENDLESS LOOP).
TEST_CASE("atomic_sub_half: every value from every value, with every neighbour") {
  std::vector<Bits> start, values;
  for (const Bits old : kAwkward) {
    for (const Bits value : kAwkward) {
      const Bits beside = kAwkward[(values.size() * 7 + 3) % kAwkward.size()];
      start.push_back(old), start.push_back(beside);
      values.push_back(value);
    }
  }
  INFO("even elements; the odd ones must stay");
  check_array(start, 0, 2, values, {3, 96});
  start.insert(start.begin(), kMinusZero), start.push_back(0x7D01);
  INFO("odd elements; the even ones must stay");
  check_array(start, 1, 2, values, {3, 96});
}

// Promise: what a plain or volatile load has read is confirmed by atomicCAS
// (DATA RACE of a plain load).
TEST_CASE("atomic_sub_half: what a volatile load has found is confirmed by atomicCAS") {
  course::skip_without_counters();
  one_half_checks::check_confirmed<Subtract>(kAwkward, kAwkward);
}

// Promise: the call is built from atomicCAS, of 32 bits or of 16.
TEST_CASE("atomic_sub_half: it is built from atomicCAS") {
  course::skip_without_counters();
  const char* const hint =
      "atomicAdd(address, -value) gives the\nright numbers, but leads to no minimum: here build the "
      "loop from atomicCAS";
  for (const unsigned threads : {1u, 256u}) {  // of 256 at one element, many have to swap again
    const auto counters = course::count([&] {
      check_one(kSmall.values(threads), 0, Beside::stays, kMinusZero, {1, threads});
    });
    const std::uint64_t swaps = counters->global_compare_and_swaps, least = threads + threads / 32;
    INFO(describe(threads, " calls", {1, threads})
         << ", all for one element; atomics: " << counters->global_atomic_lanes);
    REQUIRE(course::Verdict{swaps >= least, "calls of atomicCAS: expected at least " +
                                                std::to_string(least) + ", found " +
                                                std::to_string(swaps) + "; " + hint});
  }
}

// Promise: any number of threads may call it at the same time, for both halves of a word.
TEST_CASE("atomic_sub_half: all elements at once, at every size and every start") {
  std::size_t turn = 0;  // another grid and another start each time
  for (const std::size_t n : course::kSizes) {
    for (const std::size_t offset : {0u, 1u, 2u, 3u}) {
      if (n > 300 && offset % 2 != turn % 2) continue;
      const std::vector<Launch> launches = course::launch_shapes(n);
      const Launch launch = launches[turn++ % launches.size()];
      INFO(describe(n, " elements", launch)
           << "; the array begins " << 2 * offset << " bytes past a multiple of 256");
      std::vector<Bits> start((offset + n + 1) / 2 * 2 + 2), values(n);
      for (std::size_t i = 0; i < start.size(); ++i) start[i] = kAwkward[i * 5 % kAwkward.size()];
      for (std::size_t i = 0; i < n; ++i) values[i] = bits_of(static_cast<float>(i % 37) / 4);
      check_array(start, offset, 1, values, launch);
    }
  }
}

// Promise: the call is one atomic step, and no update gets lost.
// Promise: the call returns what was there, bit for bit (some order of the calls must explain
// what all of them returned).
TEST_CASE("atomic_sub_half: many threads at one element") {
  for (const unsigned place : {0u, 1u}) {
    for (const Launch launch :
         {Launch{1, 32}, Launch{3, 96}, Launch{5, 33}, Launch{1, 256}, Launch{2, 128, true}}) {
      for (const Bits beside : {Bits{0x7E00}, kMinusZero, Bits{0x7D01}}) {
        INFO(describe(150, " calls", launch));
        check_one(kSmall.values(150), place, Beside::stays, beside, launch);
      }
    }
  }
}

// Promise: others may change the other half of the word by atomicAdd (it grows, or
// comes back to its old value).
TEST_CASE("atomic_sub_half: others add to the neighbour at the same time") {
  for (const unsigned place : {0u, 1u}) {
    for (const Launch launch : {Launch{1, 64}, Launch{3, 96}, Launch{5, 33}, Launch{2, 256}}) {
      for (const Beside moves : {Beside::grows, Beside::comes_and_goes}) {
        const std::size_t n = moves == Beside::grows ? 600 : 300;
        INFO(describe(n, " calls", launch));
        check_one(kSmall.values(n), place, moves, bits_of(0.0f), launch);
      }
    }
  }
}

// Promise: no update gets lost where the lanes of a warp go in step (0 and -0, equal numbers in other
// bits, are two values of the cell).
TEST_CASE("atomic_sub_half: the lanes of a warp go in step") {
  for (const unsigned place : {0u, 1u}) {
    INFO(describe(200, " calls", {2, 96}));
    const std::vector<Bits> values = kSmall.values(200);
    course::count([&] { check_one(values, place, Beside::stays, kMinusZero, {2, 96}); });
    course::count([&] { check_one(values, place, Beside::grows, bits_of(3.0f), {2, 96}); });
    course::count([&] { check_one(values, place, Beside::comes_and_goes, 0, {2, 96}); });
    // -0 - -0 is 0: an equal number, and other bits.
    const std::vector<Bits> zeros_and_ones = kZerosAndOnes.values(200);
    INFO("the values are -0 and 1 in turn");
    course::count([&] {
      one_half_checks::check_one<Subtract>(zeros_and_ones, place, Beside::stays, kMinusZero, 0,
                                           {2, 96});
    });
  }
}

// Promise: no update gets lost if a call has to repeat atomicCAS hundreds of times.
TEST_CASE("atomic_sub_half: a thread that comes too late again and again") {
  constexpr std::size_t kN = 300;
  INFO(describe(kN, " calls", {2, 150})
       << "; all subtract 1 from one element: some of them have to repeat atomicCAS hundreds of "
          "times");
  course::count([&] {
    check_one(std::vector<Bits>(kN, bits_of(1.0f)), 1, Beside::stays, kMinusZero, {2, 150});
  });
}

// Promise: `address` may be in shared memory.
TEST_CASE("atomic_sub_half: both halves of a word of shared memory") {
  for (const unsigned block : {32u, 96u, 250u}) {
    INFO(describe(300, " calls", {300 / block + 1, block})
         << ", a word of shared memory for each block");
    for (const Bits upper : {bits_of(900.0f), kInfinity, Bits{0x7FFF}}) {  // inf and NaN stay
      INFO("the lower half of the word holds 1000, the upper one " << half_text(upper));
      check_shared(300, block, upper);
      course::count([&] { check_shared(100, block, upper); });
    }
  }
}

// Promise: no update gets lost if thousands of threads call it for few elements.
TEST_CASE("atomic_sub_half: thousands of threads, and a second launch") {
  constexpr int kRepeats = course::kCpuDevice ? 1 : 20;  // a lost update may not show at once
  const std::size_t n = course::kCpuDevice ? 2'000 : 8'192;
  const Launch launch{course::blocks_for(n, 256), 256};
  const std::vector<Bits> ones(n, bits_of(1.0f));
  for (int repeat = 0; repeat < kRepeats; ++repeat) {
    for (const float first : {1000.0f, 1000.0f - static_cast<float>(n / 8)}) {
      INFO(describe(n, " calls", launch) << "; all subtract 1 from one of eight elements");
      one_half_checks::check_few<Subtract>(ones, 8, std::vector<Bits>(8, bits_of(first)), 0,
                                           launch);
    }
  }
}

}  // namespace atomic_sub_half_check
